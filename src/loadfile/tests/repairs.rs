//! One test for each fault of dbench's reader that this one repairs; P-numbers are the rows of
//! docs/loadfile.md, "Where we differ from dbench, and why".

use super::super::program::{Action, Expect, Expr, OperandKind, Wild};
use super::*;
use crate::op::OpKind;

const QFS: &str = "QUERY_FS_INFORMATION 1 NT_STATUS_OK\n";

/// P1: the line after ENDLOOP is not lost.
#[test]
fn p1_the_line_after_endloop_stays() {
    let program = good(&format!("LOOP 2\n{QFS}ENDLOOP\nFlush 7 NT_STATUS_OK\n"));
    assert_eq!(words(&program), ["LOOP", "QUERY_FS_INFORMATION", "ENDLOOP", "Flush"]);
}

/// P2: ENDLOOP may be the last line, and the loop still ends.
#[test]
fn p2_endloop_may_be_last() {
    let program = good(&format!("LOOP 2\n{QFS}ENDLOOP"));
    assert_eq!(executed(&program).len(), 2);
}

/// P3: a loop within a loop multiplies.
#[test]
fn p3_loops_nest() {
    let program = good(&format!("LOOP 2\nLOOP 3\n{QFS}ENDLOOP\nENDLOOP\n"));
    assert_eq!(executed(&program).len(), 6);
    assert_eq!(program.loop_depth, 2);
}

/// P4: a compressed file is inflated once, whatever it loops over, and means the same.
#[test]
fn p4_gzip_means_the_same() {
    use std::io::Write;
    let text = format!("LOOP 1000\n{QFS}ENDLOOP\n");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let loaded = parse_bytes("t.load", &gzip.finish().unwrap(), &Options::default()).unwrap();
    assert_eq!(loaded.program, good(&text));
    assert!(loaded.text.gzip);
}

/// P5: REPEAT is for the next operation; comments and blank lines between do not use it up, and
/// a directive after it is a fault, as is the end of the file.
#[test]
fn p5_repeat_finds_its_operation() {
    let program = good(&format!("REPEAT 3\n# comment\n\n{QFS}Flush 1 NT_STATUS_OK\n"));
    assert_eq!(executed(&program), [&["QUERY_FS_INFORMATION"; 3][..], &["Flush"]].concat());
    assert_eq!(place(&format!("{QFS}REPEAT 2\nLOOP 2\n{QFS}ENDLOOP\n")), (3, 1));
    assert_eq!(place(&format!("{QFS}REPEAT 2\nSLEEP 1\n")), (3, 1));
    assert_eq!(place(&format!("{QFS}REPEAT 2\n")), (2, 1));
}

/// P6: directives do not move the time base: timestamps stay seconds of the pass.
#[test]
fn p6_timestamps_count_from_the_start_of_the_pass() {
    let program = good("0.1 Flush 1 *\nSLEEP 1000\nSETSP 1\nWRITEPATTERN x\n0.3 Flush 1 *\n");
    let times = program.times.unwrap();
    assert_eq!(times[0], 100_000_000);
    assert_eq!(times[4], 300_000_000);
    assert!(times[1..4].iter().all(|&time| time == Program::NO_TIME));
}

/// P7: WAITSP has two numbers and neither may be negative.
#[test]
fn p7_waitsp_is_checked() {
    assert_eq!(words(&good(&format!("{QFS}WAITSP 0 1\n")))[1], "WAITSP");
    assert_eq!(place(&format!("{QFS}WAITSP -1 1\n")), (2, 8));
    assert_eq!(place(&format!("{QFS}WAITSP 1\n")), (2, 9));
}

/// P8: WRITEPATTERN needs a text.
#[test]
fn p8_a_pattern_is_not_empty() {
    assert_eq!(place(&format!("{QFS}WRITEPATTERN\n")), (2, 13));
    assert_eq!(place(&format!("{QFS}WRITEPATTERN  \n")), (2, 15));
    let program = good(&format!("WRITEPATTERN it's \"so\n{QFS}"));
    assert_eq!(*program.patterns, [(*b"it's \"so\n").into()]);
}

/// P9: a set is closed and not empty, a string has a limit.
#[test]
fn p9_random_strings_are_checked() {
    assert_eq!(place(&format!("{QFS}RANDOMSTRING 1 \"x[ab\"\n")), (2, 18));
    assert_eq!(place(&format!("{QFS}RANDOMSTRING 1 \"x[]\"\n")), (2, 18));
    assert_eq!(place(&format!("{QFS}RANDOMSTRING 10 \"x\"\n")), (2, 14));
    assert_eq!(place(&format!("{QFS}RANDOMSTRING -1 \"x\"\n")), (2, 14));
    assert_eq!(place(&format!("{QFS}RANDOMSTRING 1 {}\n", "x".repeat(256))), (2, 16));
}

/// P10: `$` is text unless a string of that number exists; a string in a string is text.
#[test]
fn p10_dollars_are_text_unless_defined() {
    let program = good(
        "Unlink \"/~$CHAP10.DOC\" 0 *\nUnlink \"/$1\" 0 *\nRANDOMSTRING 1 \"a$1[xy]\"\n\
         Unlink \"/$1\" 0 *\nUnlink \"/~$CHAP10.DOC\" 0 *\nUnlink \"/$2$\" 0 *\n",
    );
    let paths: Vec<_> = (0..program.paths.len()).map(|i| path(&program, i)).collect();
    assert_eq!(paths, ["/~$CHAP10.DOC", "/$1", "/<1>", "/$2$"]);
    assert_eq!(program.paths[2].wild, Wild::Ask);
}

/// P11: the last line needs no line end.
#[test]
fn p11_no_final_newline() {
    let program = good("Unlink \"/a\" 0 NT_STATUS_OK");
    assert_eq!(program.insts[0].expect, Expect::Success);
}

/// P12: CR before LF is part of the line end.
#[test]
fn p12_crlf_is_a_line_end() {
    let crlf = good("Unlink \"/a\" 0 NT_STATUS_OK\r\nLOOP 2\r\nFlush 1 *\r\nENDLOOP\r\n");
    assert_eq!(crlf, good("Unlink \"/a\" 0 NT_STATUS_OK\nLOOP 2\nFlush 1 *\nENDLOOP\n"));
}

/// P13: tabs separate.
#[test]
fn p13_tabs_separate() {
    assert_eq!(good("Unlink\t\"/a\"\t0\tNT_STATUS_OK\n"), good("Unlink \"/a\" 0 NT_STATUS_OK\n"));
}

/// P14: a line that is too short, has a bad status or an unknown word is a fault.
#[test]
fn p14_nothing_is_skipped_in_silence() {
    assert_eq!(place(&format!("{QFS}Flush\n")), (2, 6));
    assert_eq!(place(&format!("{QFS}Flush 7\n")), (2, 7));
    assert_eq!(place(&format!("{QFS}Flush 7 NT_STATUS_Ok\n")), (2, 9));
    assert_eq!(place(&format!("{QFS}Flosh 7 NT_STATUS_OK\n")), (2, 1));
    assert_eq!(place("Flush NT_STATUS_OK\n"), (1, 7));
    assert_eq!(place("Flush 1 2 NT_STATUS_OK\n"), (1, 9));
}

/// P15: a fault has its own line number.
#[test]
fn p15_line_numbers_are_right() {
    let faults = bad(&format!("{QFS}# c\n\nFlush 7 OK\n{QFS}Close x *\n"));
    assert_eq!(faults.iter().map(|f| f.line).collect::<Vec<_>>(), [4, 6]);
    assert_eq!(faults[0].text, "Flush 7 OK");
}

/// P16: a slash after a blank stays, quoted or not.
#[test]
fn p16_absolute_paths_need_no_quotes() {
    let program = good("Unlink /clients/client1/zz 0x16 *\nUnlink \"/a /b\" 0 *\n");
    assert_eq!(path(&program, 0), "/clients/<c>/zz");
    assert_eq!(path(&program, 1), "/a /b");
}

/// P17: `client1` is the client's directory as a whole component only.
#[test]
fn p17_client1_is_a_whole_component() {
    let program = good(
        "Mkdir \"\\clients\\client1\" *\nMkdir \"/client10\" *\nMkdir \"/myclient1x\" *\n\
         Mkdir \"/CLIENT1\" *\nMkdir \"client1/client1\" *\n",
    );
    let paths: Vec<_> = (0..program.paths.len()).map(|i| path(&program, i)).collect();
    assert_eq!(paths, ["/clients/<c>", "/client10", "/myclient1x", "/CLIENT1", "/<c>/<c>"]);
}

/// P18: `+n` adds to the value of the same position of the same operation.
#[test]
fn p18_previous_values_are_the_operations_own() {
    let program =
        good("WriteX 7 8192 10 10 *\nFlush 7 *\nReadX 7 5 5 5 *\nWriteX 7 +8192 10 10 *\n");
    assert_eq!(program.registers.len(), 1);
    assert_eq!((program.registers[0].op, program.registers[0].position), (OpKind::WriteX, 1));
    let records: Vec<_> = program.insts.iter().map(|inst| inst.records).collect();
    assert_eq!(records, [true, false, false, true]);
    assert_eq!(*program.exprs, [Expr::Previous { register: 0, add: 8192 }]);
}

/// P19: a number that is missing is a fault, not what an earlier line left behind.
#[test]
fn p19_missing_numbers_are_not_made_up() {
    let faults = bad("WriteX 7 0 65536 65536 *\nWriteX 7 0 65536 *\n");
    assert_eq!((faults[0].line, faults[0].column), (2, 18));
    assert!(faults[0].message.contains("ret_size"), "{}", faults[0].message);
}

/// P20: `.5` is a timestamp, a negative one a fault, and directives may have one.
#[test]
fn p20_timestamps() {
    let program = good(".5 Flush 1 *\n0.75 SLEEP 10\n1.25 LOOP 2\nFlush 1 *\nENDLOOP\n");
    let times = program.times.unwrap();
    assert_eq!(times[..3], [500_000_000, 750_000_000, 1_250_000_000]);
    assert_eq!(place("Flush 1 *\n-1 Flush 1 *\n"), (2, 1));
}

/// P21: long tokens are no danger.
#[test]
fn p21_long_tokens() {
    let name = "x".repeat(200);
    assert_eq!(path(&good(&format!("Unlink \"/{name}\" 0 *\n")), 0), format!("/{name}"));
    assert_eq!(place(&format!("Unlink \"/{}\" 0 *\n", "x".repeat(256))), (1, 8));
    assert_eq!(place(&format!("Flush 1 *\n{}\n", "x".repeat(70_000))), (2, 65_537));
}

/// P22: counts are 1 or more.
#[test]
fn p22_counts_are_positive() {
    for count in ["0", "-1", "x", "4294967296", ""] {
        assert_eq!(bad(&format!("LOOP {count}\n{QFS}ENDLOOP\n"))[0].line, 1);
        assert_eq!(bad(&format!("REPEAT {count}\n{QFS}"))[0].line, 1);
    }
    let program = good(&format!("LOOP 4294967295\n{QFS}ENDLOOP\n"));
    assert!(matches!(program.insts[0].action, Action::LoopStart { count: u32::MAX, .. }));
}

/// Not numbered: dbench reads what is no number as 0.
#[test]
fn numbers_must_be_numbers() {
    assert_eq!(place("Close seven NT_STATUS_OK\nFlush 1 *\n"), (1, 7));
    let program = good("LockX 0x10 010 10 *\n");
    let Action::Lock { handle: _, offset, len } = program.insts[0].action else {
        panic!();
    };
    assert_eq!(*program.handles, [16]);
    assert_eq!(offset.kind(), OperandKind::Literal(8));
    assert_eq!(len.kind(), OperandKind::Literal(10));
}
