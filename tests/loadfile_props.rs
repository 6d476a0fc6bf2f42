//! Properties of the loadfile reader: it never panics, printing and reading again changes
//! nothing, and compiled counts are those of a naive expansion of the text.

#![allow(clippy::unwrap_used, reason = "a test may end with a panic")]

mod common;

use std::collections::BTreeMap;

use jbodbench::loadfile::check::check;
use jbodbench::loadfile::{Options, Program, Source, load_source, parse_bytes, parse_tree};
use proptest::prelude::*;

const STRICT: Options = Options { lenient: false };
const LENIENT: Options = Options { lenient: true };

/// Every construct of the language, as a start for mutations.
const ALL: &str = concat!(
    "SET a=4k\nSET \"b=x ${a/2+1}\"\nPOOL f_1 300 /p/client1/a\nPOOL d 7 \"\\x y\" rotate\nPREPARE\nMkdir /p *\n",
    "Mkdir {d+} *\nEND\n",
    include_str!("cases/all4.load"),
    "RANDOMSTRING 1 \"a[xyz]b\"\n0.5 LOOP 3\nWriteX 7 *%4096/512+1 *%100 5 *\nENDLOOP\n",
    "REPEAT 4\nReadX +child +8 10 +num_children ENOENT\nSETSP 1\nWAITSP 0 1\nSLEEP 5\n",
    "WRITEPATTERN some \"text\nMkdir \"/d/$1/~$x\" 0xC0000034\nPHASE a\n",
    "unlink {f_1-} 0 *\nrename {d-} \\{d+} *\nFIND_FIRST \"{d}/$1*\" 1 2 3 *\nstat {f_1=}.tmp *\n",
    "open /SHARED/f O_RDWR|O_SYNC|O_CREAT 0644 3 *\naccess /a R_OK|X_OK EACCES\nchmod /a 0 *\n",
    "unlinkat /a AT_REMOVEDIR *\nrenameat2 /a /b 0 *\nsymlink /a /b *\nchown /a -1 7 *\nfallocate 3 0 1 2 *\n",
    "CHOOSE 3\nMkdir /SHARED/a SUCCESS\nEND\nFlush ${a} *\n# end\n",
);

fn source(bytes: &[u8]) -> Source {
    Source { name: "t".to_owned(), bytes: bytes.to_vec(), gzip: false }
}

/// A program without line numbers: comments are gone after printing, so lines move.
fn without_lines(mut program: Program) -> Program {
    for inst in &mut program.insts {
        inst.line = 0;
    }
    for phase in &mut program.phases {
        phase.line = 0;
    }
    program
}

/// Prints what can be read and reads it again.
fn assert_round_trip(bytes: &[u8]) -> bool {
    let source = source(bytes);
    let Ok(tree) = parse_tree(&source, &STRICT) else {
        return false;
    };
    let first = load_source(&source, &STRICT).unwrap().program;
    let text = tree.to_bytes();
    let again = parse_bytes("t", &text, &STRICT);
    let again = again.unwrap_or_else(|e| panic!("{e}\n{}", String::from_utf8_lossy(&text)));
    assert_eq!(without_lines(first), without_lines(again.program));
    true
}

/// A word of the language or something near it.
fn token() -> impl Strategy<Value = String> {
    let words = "NTCreateX Close WriteX ReadX Flush Unlink Rename Mkdir Rmdir Deltree LockX UnlockX \
                 FIND_FIRST QUERY_PATH_INFORMATION QUERY_FILE_INFORMATION QUERY_FS_INFORMATION \
                 SET_FILE_INFORMATION stat lstat access open fstat fdatasync chmod fchmod truncate \
                 ftruncate fallocate getdents mkdirat unlinkat renameat2 link symlink readlink utimes \
                 chown -1 AT_REMOVEDIR RENAME_NOREPLACE FALLOC_FL_KEEP_SIZE \
                 O_RDWR|O_CREAT O_RDONLY R_OK|W_OK F_OK 0644 Sleep LOOP ENDLOOP REPEAT SLEEP SETSP WAITSP WRITEPATTERN \
                 RANDOMSTRING PREPARE END PHASE CHOOSE SHUFFLE SET a=b ${a} ${(a+1)*2} ${ NT_STATUS_OK * ERROR ENOENT 0x0 \
                 POOL f {f} {f+} {f-}x {f=}/$1 POOL~f~9~/a/f POOL~f~10~/a~rotate rotate \
                 /a /a/$1 \"/client1/b\" /SHARED 0 1 7 0x40 010 -1 *%8 */4%64+1 +4 +child $1 1$1 \
                 \"a[xy]\" 0.5 .25 # \" \\ .. ";
    let words: Vec<String> = words.split_whitespace().map(|word| word.replace('~', " ")).collect();
    prop_oneof![8 => proptest::sample::select(words), 1 => "[ -~]{0,6}"]
}

fn near_text() -> impl Strategy<Value = String> {
    let line = proptest::collection::vec(token(), 0..7).prop_map(|tokens| tokens.join(" "));
    proptest::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

/// An operation's line that is right.
fn op_line() -> impl Strategy<Value = String> {
    let name =
        proptest::sample::select(vec!["/a", "\"\\b c\"", "d/client1/e", "/clients//f/", "/*"]);
    let number = prop_oneof![
        (0u32..100_000).prop_map(|n| n.to_string()),
        (0u32..100_000).prop_map(|n| format!("{n:#x}")),
        (1u32..9999, 1u32..9999).prop_map(|(a, b)| format!("*%{a}+{b}")),
        Just("+child".to_owned()),
    ];
    let status =
        proptest::sample::select(vec!["NT_STATUS_OK", "*", "0xC0000034", "ENOENT", "ERROR"]);
    (0usize..12, name.clone(), name, number.clone(), number, status).prop_map(
        |(kind, path, new, a, b, status)| match kind {
            0 => format!("Mkdir {path} {status}"),
            1 => format!("rename\t{path} {new} {status}"),
            2 => format!("WriteX {a} {b} 77 77 {status}"),
            3 => format!("ReadX {a} +8 {b} 5 {status}"),
            4 => format!("NTCreateX {path} {a} 0x2 {b} {status}"),
            5 => format!("FIND_FIRST {path} 1 {a} {b} {status}"),
            6 => format!("Flush {a} {status}"),
            7 => format!("unlink {path} 0x16 {status}"),
            8 => format!("open {path} O_CREAT|O_DSYNC|O_RDWR 00640 {b} {status}"),
            9 => format!("access {path} X_OK|R_OK {status}"),
            10 => format!("truncate {path} {b} {status}"),
            _ => format!("1.5 QUERY_FS_INFORMATION {a} {status}"),
        },
    )
}

/// Loops, repeats and operations, nested.
fn program_text() -> impl Strategy<Value = Vec<String>> {
    let leaf = prop_oneof![
        4 => op_line().prop_map(|line| vec![line]),
        1 => (1u32..5, op_line()).prop_map(|(n, op)| {
            vec![format!("REPEAT {n}"), "# between".to_owned(), op]
        }),
        1 => Just(vec![String::new(), "  # comment".to_owned()]),
        1 => (0u32..50).prop_map(|n| vec![format!("SLEEP {n}")]),
    ];
    let block = leaf.prop_recursive(4, 24, 6, |inner| {
        let body = proptest::collection::vec(inner, 0..6);
        (1u32..6, any::<bool>(), body).prop_map(|(n, shuffles, body)| {
            let (start, end) = if shuffles { ("SHUFFLE", "END") } else { ("LOOP", "ENDLOOP") };
            let mut lines = vec![format!("{start} {n}")];
            // No time belongs to what comes in any order.
            let untimed = |line: String| match shuffles {
                true => line.trim_start_matches("1.5 ").to_owned(),
                false => line,
            };
            lines.extend(body.concat().into_iter().map(untimed));
            lines.push(end.to_owned());
            lines
        })
    });
    proptest::collection::vec(block, 0..5).prop_map(|blocks| {
        let mut lines = blocks.concat();
        lines.push("Close 1 NT_STATUS_OK".to_owned());
        lines
    })
}

/// Expands loops by copying lines, and counts words: as plain as can be.
fn naive_counts(lines: &[String]) -> BTreeMap<String, u64> {
    fn expand(lines: &[String], at: &mut usize, out: &mut Vec<String>) {
        while *at < lines.len() {
            let words: Vec<&str> = lines[*at].split_whitespace().collect();
            *at += 1;
            match words.as_slice() {
                [] | ["#", ..] | ["SLEEP", ..] => {}
                ["LOOP" | "SHUFFLE", rounds] => {
                    let mut body = Vec::new();
                    expand(lines, at, &mut body);
                    for _ in 0..rounds.parse::<u32>().unwrap() {
                        out.extend_from_slice(&body);
                    }
                }
                ["ENDLOOP" | "END"] => return,
                ["REPEAT", rounds] => {
                    // The generator puts a comment between.
                    let op = lines[*at + 1].clone();
                    *at += 2;
                    out.extend(std::iter::repeat_n(op, rounds.parse().unwrap()));
                }
                _ => out.push(lines[*at - 1].clone()),
            }
        }
    }
    let mut all = Vec::new();
    expand(lines, &mut 0, &mut all);
    let mut counts = BTreeMap::new();
    for line in all {
        let words: Vec<&str> = line.split_whitespace().collect();
        let word = if words[0] == "1.5" { words[1] } else { words[0] };
        *counts.entry(word.to_lowercase()).or_insert(0) += 1;
    }
    counts
}

proptest! {
    #![proptest_config(common::props::config(400))]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let _ = parse_bytes("t", &bytes, &STRICT);
        let _ = parse_bytes("t", &bytes, &LENIENT);
    }

    #[test]
    fn texts_near_the_language_never_panic(text in near_text()) {
        let strict = parse_bytes("t", text.as_bytes(), &STRICT);
        if let Err(error) = strict {
            prop_assert!(!error.to_string().is_empty());
        }
        if let Ok(loaded) = parse_bytes("t", text.as_bytes(), &LENIENT) {
            let _ = check(&loaded.program).to_string();
        }
        assert_round_trip(text.as_bytes());
    }

    #[test]
    fn mutated_files_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 1..8),
    ) {
        let mut bytes = ALL.as_bytes().to_vec();
        for (at, byte, how) in changes {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => { bytes.remove(at); }
            }
        }
        let _ = parse_bytes("t", &bytes, &STRICT);
        if let Ok(loaded) = parse_bytes("t", &bytes, &LENIENT) {
            let _ = check(&loaded.program).to_string();
        }
        assert_round_trip(&bytes);
    }

    #[test]
    fn printing_and_reading_again_changes_nothing(lines in program_text()) {
        prop_assert!(assert_round_trip(lines.join("\n").as_bytes()));
        prop_assert!(assert_round_trip(lines.join("\r\n").as_bytes()));
    }

    /// CHOOSE instead of SHUFFLE: another draw, the same text otherwise.
    #[test]
    fn printing_groups_and_reading_again_changes_nothing(lines in program_text()) {
        let text = lines.join("\n").replace("SHUFFLE", "CHOOSE");
        prop_assert!(assert_round_trip(text.as_bytes()));
        let program = parse_bytes("t", text.as_bytes(), &STRICT).unwrap().program;
        let report = check(&program);
        prop_assert!(report.least_ops <= report.most_ops);
        if !report.counts_are_means {
            prop_assert_eq!(report.least_ops, report.most_ops);
            prop_assert_eq!(report.least_ops, report.total_ops);
        }
    }

    #[test]
    fn counts_are_those_of_a_naive_expansion(lines in program_text()) {
        let text = lines.join("\n");
        let program = parse_bytes("t", text.as_bytes(), &STRICT).unwrap().program;
        let counts: BTreeMap<String, u64> =
            check(&program).ops.iter().map(|op| (op.op.to_lowercase(), op.count)).collect();
        prop_assert_eq!(counts, naive_counts(&lines));
    }
}

#[test]
fn the_file_with_everything_is_good() {
    assert!(assert_round_trip(ALL.as_bytes()));
}
