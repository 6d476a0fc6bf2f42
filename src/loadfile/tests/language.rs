//! What the language means, beyond the repairs.

use super::super::program::{Action, Expect, HandleRef, Wild};
use super::super::{Source, parse_tree};
use super::*;

fn printed(text: &str) -> String {
    let source = Source::from_bytes("t.load", text.as_bytes().to_vec(), 1 << 20).unwrap();
    parse_tree(&source, &Options::default()).unwrap().to_string()
}

#[test]
fn the_canonical_text_has_one_spelling() {
    let one = "# c\r\n\r\nntcreatex  \\clients\\\\client1/a/\t0x40 0x2 010 SUCCESS\r\nSLEEP 5\r\n\
               Unlink \"x\" 0 ERROR";
    let text = "NTCreateX \"/clients/client1/a\" 64 2 8 NT_STATUS_OK\nSleep 5 NT_STATUS_OK\n\
                Unlink \"/x\" 0 NT_STATUS_UNSUCCESSFUL\n";
    assert_eq!(printed(one), text);
    assert_eq!(printed(text), text);
    assert_eq!(good(one).sha256, good(text).sha256);
    assert_ne!(good(one).sha256, good("Flush 1 *\n").sha256);
}

/// The hash by another tool: `printf 'Flush 1 *\n' | sha256sum`.
#[test]
fn the_hash_is_the_sha_256_of_the_canonical_text() {
    assert_eq!(good("flush\t1 *").sha256, SHA_OF_FLUSH);
}
const SHA_OF_FLUSH: &str = "8d3d20d2aaf600a88f97d2648f1da8799fc29dfc6a04579a975ebae500d9655f";

#[test]
fn everything_prints_as_it_was() {
    let text = "PREPARE\nFlush 1 *\nEND\nRANDOMSTRING 3 \"a[bc]d\"\n0.5 LOOP 2\n1.000000001 WriteX 5 *%4096/512+1 *%1024 0 *\n\
                ENDLOOP\nREPEAT 7\nReadX +child +8 $3 +num_children ENOENT\nSETSP 1\n\
                WAITSP 0 *%3\nWRITEPATTERN  a \"b\nCHOOSE 3\nMkdir \"/SHARED/$3\" *\nEND\n\
                PHASE one\n";
    let text = text.replace("$3 +num", "7 +num");
    assert_eq!(printed(&text), text);
}

#[test]
fn paths_are_shared_and_dense() {
    let program = good("Mkdir /a/b *\nMkdir \"\\a\\b\" *\nMkdir a//b/ *\nRename /a/b /c *\n");
    assert_eq!(program.paths.len(), 2);
    let Action::Rename { old, new } = program.insts[3].action else { panic!() };
    assert_eq!((old.0, new.0), (0, 1));
    let program = good("FIND_FIRST \"/clients/client1/*.doc\" 1 10 1 *\nMkdir /plain *\n");
    assert_eq!((program.paths[0].wild, program.paths[1].wild), (Wild::Yes, Wild::No));
    assert_eq!(program.paths[0].count, 3);
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    for path in ["..", "/a/../b", "/a/.", "\"\"", "\"/a\\..\"", "/", "/a\0b"] {
        assert_eq!(place(&format!("Mkdir {path} *\n")), (1, 7), "{path}");
    }
    assert_eq!(place("Mkdir *\n"), (1, 7));
    assert_eq!(path(&good("QUERY_PATH_INFORMATION \"\\\" 1 *\n"), 0), "/");
    let long = format!("Mkdir {} *\n", "/abcdefghi".repeat(301));
    assert_eq!(place(&long), (1, 7));
    assert_eq!(place("RANDOMSTRING 1 \"[.x]\"\nMkdir /a/.$1/b *\n"), (2, 7));
    assert_eq!(place("RANDOMSTRING 1 \"x\"\nMkdir /$1 *\nRANDOMSTRING 1 \"../b\"\n"), (2, 7));
}

#[test]
fn handles_become_slots_in_order() {
    let program = good("Flush 300 *\nFlush -2 *\nFlush 7 *\nFlush *%4 *\nFlush 300 *\n");
    assert_eq!(*program.handles, [-2, 7, 300]);
    let slots: Vec<_> = program
        .insts
        .iter()
        .map(|inst| match inst.action {
            Action::Flush { handle: HandleRef::Slot(slot) } => i64::from(slot),
            _ => -1,
        })
        .collect();
    assert_eq!(slots, [2, 0, 1, -1, 2]);
}

#[test]
fn lengths_are_bounded() {
    let program =
        good("WriteX 1 *%100 *%1000+24 0 *\nReadX 1 0 1073741824 0 *\nWriteX 1 0 +0 0 *\n");
    assert_eq!((program.max_write, program.max_read), (1023, 1 << 30));
    let digits = good("RANDOMSTRING 2 \"[1234]0\"\nReadX 1 0 $200 0 *\n");
    assert_eq!(digits.max_read, 4000);
    for (length, column) in
        [("*", 12), ("1073741825", 12), ("-1", 12), ("+1", 12), ("*%2000000000", 12)]
    {
        assert_eq!(place(&format!("WriteX 7 0  {length} 0 *\n")), (1, column + 1), "{length}");
    }
    assert_eq!(place("WriteX 7 -1 1 1 *\n"), (1, 10));
    assert_eq!(place("RANDOMSTRING 2 \"[1x]\"\nReadX 1 0 $2 0 *\n"), (2, 11));
    assert_eq!(place("NTCreateX /a 0 6 1 *\n"), (1, 16));
    assert_eq!(place("NTCreateX /a 0 * 1 *\n"), (1, 16));
}

#[test]
fn sleeping_is_not_an_operation() {
    let program = good("Sleep 100 NT_STATUS_OK\nREPEAT 2\nsleep 5 *\nFlush 1 *\n");
    assert_eq!(words(&program), ["Sleep", "LOOP", "Sleep", "ENDLOOP", "Flush"]);
    assert_eq!(place("Sleep 100\nFlush 1 *\n"), (1, 10));
    assert_eq!(place("Sleep +5 *\nFlush 1 *\n"), (1, 7));
    assert!(bad("Sleep 5 *\n")[0].message.contains("no operation"));
}

#[test]
fn blocks_must_match() {
    assert_eq!(place("LOOP 2\nFlush 1 *\n"), (1, 1));
    assert_eq!(place("Flush 1 *\n  ENDLOOP\n"), (2, 3));
    assert_eq!(place("Flush 1 *\nEND\n"), (2, 1));
    assert_eq!(bad("PREPARE\nFlush 1 *\nENDLOOP\n")[0].line, 3);
    let deep = |n: usize| format!("{}Flush 1 *\n{}", "LOOP 2\n".repeat(n), "ENDLOOP\n".repeat(n));
    assert_eq!(good(&deep(64)).loop_depth, 64);
    assert_eq!(bad(&deep(65))[0].line, 65);
    assert_eq!(words(&good("LOOP 9\nLOOP 9\n# nothing\nENDLOOP\nENDLOOP\nFlush 1 *\n")), ["Flush"]);
}

#[test]
fn prepare_is_no_part_of_a_pass() {
    let program = good(
        "SET a=b\n# first\nPREPARE\nMkdir /d *\nLOOP 3\nFlush 1 *\nENDLOOP\nEND\nREPEAT 2\nClose 1 *\n",
    );
    let all = ["Mkdir", "LOOP", "Flush", "ENDLOOP", "LOOP", "Close", "ENDLOOP"];
    assert_eq!(words(&program), all);
    assert_eq!((program.preparation(), program.pass()), (0..4, 4..7));
    let Action::LoopEnd { start } = program.insts[6].action else { panic!() };
    assert_eq!(start.0, 4);
    assert_eq!(good("Flush 1 *\n").pass(), 0..1);
    assert_eq!(good("PREPARE\nEND\nFlush 1 *\n").pass(), 0..1);

    let first = |text: &str| (bad(text)[0].line, bad(text)[0].column);
    assert_eq!(first("Flush 1 *\n  PREPARE\nEND\n"), (2, 3));
    assert_eq!(first("PREPARE\nFlush 1 *\nEND\nPREPARE\nEND\nFlush 1 *\n"), (4, 1));
    assert_eq!(place("PREPARE\n0.5 Flush 1 *\nEND\nFlush 1 *\n"), (2, 1));
    assert_eq!(place("PREPARE\nREPEAT 2\nEND\nFlush 1 *\n"), (3, 1));
    assert_eq!(place("PREPARE\nFlush 1 *\n"), (1, 1));
    assert_eq!(bad("PREPARE 1\nFlush 1 *\nEND\n")[0].line, 1);
    // What is only prepared would be run for ever without ever doing anything.
    assert!(bad("PREPARE\nFlush 1 *\nEND\n")[0].message.contains("no operation"));
}

#[test]
fn other_dialects_are_named_once() {
    for (line, name) in [
        ("SMBwrite REQUEST fid 7", "dbench 1"),
        ("NTCreateX \\clients\\client1 0x1 0x2 12115", "dbench 2"),
        ("Close 12115", "dbench 2"),
        ("GETATTR3 \"/\" 0x00000000", "nfs"),
        ("0.5 READ3 \"/a\" 0 10 *", "nfs"),
        ("OPEN \"/a\" 0x1 SUCCESS", "smb"),
        ("READDIR \"/\" SUCCESS", "smb"),
        ("TESTUNITREADY 0x00", "scsi"),
        ("READ10 0 8 0 0 0x00", "scsi"),
        ("READ 0 512 0x00", "block"),
        // With a status it would be a line of ours.
        ("FDATASYNC 0", "block"),
    ] {
        let faults = bad(&format!("{line}\n").repeat(30));
        assert_eq!(faults.len(), 1, "{line}");
        assert!(faults[0].message.contains(name), "{}", faults[0].message);
        let remedy = match name {
            "dbench 1" | "dbench 2" => "jbodbench import nbench FILE",
            "nfs" => "jbodbench import nfs FILE",
            _ => "",
        };
        assert!(faults[0].expected.contains(remedy), "{}", faults[0].expected);
        let skipping = Options { lenient: true };
        assert!(parse_bytes("t", line.as_bytes(), &skipping).is_err(), "{line}");
    }
    // A file that is ours otherwise: the line is wrong, not the dialect.
    assert!(bad("Flush 1 *\nClose 12115\n")[0].message.contains("status"));
    assert!(bad("Flush 1 *\nChkpath \"/a\" *\n")[0].expected.contains("--lenient"));
    assert!(bad("loop 5\nFlush 1 *\n")[0].expected.contains("capitals"));
}

#[test]
fn twenty_faults_are_told_and_the_rest_counted() {
    let text = "Flush 1 *\n".to_owned() + &"Flosh 1 *\n".repeat(33);
    let error = parse_bytes("dir/x.load", text.as_bytes(), &Options::default()).unwrap_err();
    let shown = error.to_string();
    assert!(shown.starts_with("dir/x.load:2:1: unknown operation `Flosh`\n    Flosh 1 *\n    ^ "));
    assert_eq!(shown.matches("dir/x.load:").count(), 20);
    assert!(shown.ends_with("and 13 more"), "{shown}");
}

#[test]
fn lenient_skips_and_counts() {
    let loaded = lenient(
        "Flush 1 *\nFlosh 1 *\nREPEAT 5\nFlosh 1 *\nFlush 2 *\nLOOP 0\nFlush 3 *\nENDLOOP\n\
         REPEAT 2\nLOOP 3\nFlush 4 *\nENDLOOP\nLOOP 4\nFlush 5 *\n",
    );
    // Lines 2, 4, 6, 8 (its LOOP is gone), 10 (REPEAT before LOOP) and 13 (not closed).
    assert_eq!(loaded.skipped_lines, 6);
    assert_eq!(executed(&loaded.program).len(), 1 + 1 + 1 + 3 + 1);
    assert!(parse_bytes("t", b"Flosh 1 *\n", &Options { lenient: true }).is_err());
}

#[test]
fn an_empty_file_is_a_fault() {
    for text in ["", "\n\n", "# nothing\n", "WRITEPATTERN x\n"] {
        assert!(bad(text)[0].message.contains("no operation"), "{text:?}");
    }
}

#[test]
fn any_bytes_may_be_in_a_name() {
    let loaded = parse_bytes("t", b"Mkdir \"/\xff\x01\" EEXIST\n", &Options::default()).unwrap();
    assert_eq!(&*loaded.program.bytes, b"/\xff\x01");
    assert_eq!(loaded.program.insts[0].expect, Expect::Errno(17));
}

#[test]
fn every_word_is_found_in_any_case() {
    use crate::op::OpKind;
    for &kind in crate::op::OpKind::ALL {
        assert_eq!(OpKind::from_bytes(kind.word().as_bytes()), Some(kind));
        assert_eq!(OpKind::from_bytes(kind.word().to_ascii_uppercase().as_bytes()), Some(kind));
    }
    assert_eq!(OpKind::from_bytes(b"Readx_"), None);
}
