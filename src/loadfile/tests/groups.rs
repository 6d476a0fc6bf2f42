//! CHOOSE and SHUFFLE: what belongs together, and what is refused.

use super::super::check::check;
use super::super::program::Kind;
use super::super::{Source, parse_tree};
use super::*;

const TWO: &str = "CHOOSE 3\nFlush 1 *\nEND\n\n# another\nCHOOSE 1\nClose 1 *\nClose 2 *\nEND\n";

/// A group: its kind, its blocks (start, end, weight), what comes behind.
type Shape = (Kind, Vec<(u32, u32, u32)>, u32);

fn shape(program: &Program) -> Vec<Shape> {
    let block = |b: &super::super::program::Block| (b.start.0, b.end.0, b.weight);
    let group =
        |g: &super::super::program::Group| (g.kind, g.blocks.iter().map(block).collect(), g.end.0);
    program.groups.iter().map(group).collect()
}

#[test]
fn adjacent_blocks_are_one_group() {
    let program = good(TWO);
    assert_eq!(words(&program), ["<", "Flush", ">", "Close", "Close", ">"]);
    assert_eq!(shape(&program), [(Kind::Choose, vec![(1, 2, 3), (3, 5, 1)], 6)]);
    let group = &program.groups[0];
    let starts: Vec<_> = (0..group.sum()).map(|n| group.at(n).start.0).collect();
    assert_eq!(starts, [1, 1, 1, 3]);
    // Whatever says something parts groups, and so does the other word.
    let parted = good(&TWO.replace("# another", "SLEEP 1"));
    assert_eq!(parted.groups.len(), 2);
    assert_eq!(good(&TWO.replace("CHOOSE 1", "SHUFFLE 1")).groups.len(), 2);
    assert_eq!(good(&TWO.replace("# another", "LOOP 1\nENDLOOP")).groups.len(), 2);
}

#[test]
fn groups_nest_with_each_other_and_loops() {
    let program = good(
        "PREPARE\nSHUFFLE 2\nMkdir /a *\nEND\nEND\nLOOP 5\nSHUFFLE 4\nLOOP 2\nCHOOSE 1\nFlush 1 *\nEND\n\
         CHOOSE 9\nEND\nENDLOOP\nEND\nSHUFFLE 1\nClose 1 *\nEND\nENDLOOP\n",
    );
    let all = "< Mkdir > LOOP < LOOP < Flush > > ENDLOOP > Close > ENDLOOP";
    assert_eq!(words(&program).join(" "), all);
    assert_eq!(program.start.0, 3);
    let expected = [
        (Kind::Shuffle, vec![(1, 2, 2)], 3),
        (Kind::Shuffle, vec![(5, 11, 4), (12, 13, 1)], 14),
        (Kind::Choose, vec![(7, 8, 1), (9, 9, 9)], 10),
    ];
    assert_eq!(shape(&program), expected);
    // Orders stand side by side, also where a group goes on behind the one within it: 5 and 2 runs.
    let within = "SHUFFLE 4\nSHUFFLE 2\nFlush 1 *\nEND\nEND\nSHUFFLE 1\nEND\n";
    let first: Vec<_> = good(within).groups.iter().map(|group| group.first_run).collect();
    assert_eq!(first, [0, 5]);
}

#[test]
fn they_print_as_they_were() {
    let text = "CHOOSE 3\nFlush 1 *\nEND\nCHOOSE 1\nEND\nSHUFFLE 7\nClose 1 *\nEND\n";
    let source = Source { name: "t".into(), bytes: text.as_bytes().to_vec(), gzip: false };
    assert_eq!(parse_tree(&source, &Options::default()).unwrap().to_string(), text);
    assert_eq!(good(&text.replace("END\n", "END\n# x\n\n")).sha256, good(text).sha256);
}

#[test]
fn mistakes_have_their_place() {
    for (text, line, column) in [
        ("CHOOSE 0\nFlush 1 *\n", 1, 8),
        ("CHOOSE 1000001\nFlush 1 *\n", 1, 8),
        ("CHOOSE\nFlush 1 *\n", 1, 7),
        ("SHUFFLE 10001\nFlush 1 *\n", 1, 9),
        ("CHOOSE 1\nFlush 1 *\n", 1, 1),
        ("SHUFFLE 1\nFlush 1 *\nENDLOOP\nEND\n", 3, 1),
        ("LOOP 2\nCHOOSE 1\nFlush 1 *\nENDLOOP\nEND\nENDLOOP\n", 4, 1),
        ("CHOOSE 1\n0.5 Flush 1 *\nFlush 1 *\nEND\n", 2, 1),
        ("SHUFFLE 1\nLOOP 2\n1 SLEEP 5\nENDLOOP\nFlush 1 *\nEND\n", 3, 1),
        ("0.5 CHOOSE 1\nFlush 1 *\n", 1, 1),
        ("CHOOSE 1\nREPEAT 2\nEND\nFlush 1 *\n", 3, 1),
        ("REPEAT 2\nSHUFFLE 2\nFlush 1 *\nEND\n", 2, 1),
        ("SHUFFLE 6000\nFlush 1 *\nEND\nSHUFFLE 4001\nEND\n", 4, 1),
    ] {
        let first = &bad(text)[0];
        assert_eq!((first.line, first.column), (line, column), "{text}: {}", first.message);
    }
    let blocks = |n: usize| "CHOOSE 1\nEND\n".repeat(n) + "Flush 1 *\n";
    assert_eq!(good(&blocks(1000)).groups[0].blocks.len(), 1000);
    let many = &bad(&blocks(1001))[0];
    assert_eq!((many.line, many.text.as_str()), (2001, "CHOOSE 1"));
    assert!(bad("CHOOSE 1\nEND\n")[0].message.contains("no operation"));
}

/// 10 x (3/4 x 1 + 1/4 x 2) = 12.5 of the group, that is 7.5 Flush and 5 Close, and one more.
#[test]
fn counts_of_choose_are_means_between_least_and_most() {
    let report = check(&good(&format!("LOOP 10\n{TWO}ENDLOOP\nstat /a *\n")));
    let counts: Vec<_> = report.ops.iter().map(|op| (op.op, op.count)).collect();
    assert_eq!(counts, [("Close", 5), ("Flush", 8), ("stat", 1)]);
    assert!(report.counts_are_means && report.estimated);
    assert_eq!((report.total_ops, report.least_ops, report.most_ops), (14, 11, 21));
    let text = report.to_string();
    assert!(text.contains("14 in the mean of many passes") && text.contains("11 to 21 in one"));
    // Bytes: 100 x 1/5 + 1000 x 4/5. A block with nothing in it is one of those that are drawn.
    let report = check(&good(
        "CHOOSE 1\nReadX 1 0 100 100 *\nEND\nCHOOSE 4\nReadX 1 0 1000 1000 *\nEND\nSLEEP 0\nCHOOSE 1\n\
         Flush 1 *\nFlush 1 *\nEND\nCHOOSE 1\nEND\n",
    ));
    assert_eq!((report.read_bytes, report.least_ops, report.most_ops), (820, 1, 3));
    // What is always drawn is exact.
    let report = check(&good("CHOOSE 7\nFlush 1 *\nEND\n"));
    assert_eq!((report.counts_are_means, report.total_ops), (false, 1));
}

/// 3 x (2 x Flush + 5 ms) + 1 x Close, four times; the pause of the CHOOSE is at least 1 ms.
#[test]
fn counts_of_shuffle_are_exact() {
    let report = check(&good(
        "LOOP 4\nSHUFFLE 3\nREPEAT 2\nFlush 1 *\nSLEEP 5000\nEND\nSHUFFLE 1\nClose 1 *\nEND\nENDLOOP\n\
         CHOOSE 1\nSLEEP 1000\nEND\nCHOOSE 1\nSLEEP 9000\nEND\n",
    ));
    assert_eq!((report.total_ops, report.least_ops, report.most_ops), (28, 28, 28));
    assert!((report.pause_seconds - 0.061).abs() < 1e-9, "{}", report.pause_seconds);
    assert!((report.implied_seconds - 0.061).abs() < 1e-9);
    assert_eq!(report.features, ["loops", "nested loops", "CHOOSE", "SHUFFLE", "pauses", "fsync"]);
}

#[test]
fn sizes_are_those_of_the_largest_block() {
    let file = |size: u32| {
        format!(
            "NTCreateX /f 0 5 1 *\nWriteX 1 0 {size} {size} *\nClose 1 *\nUnlink /f 0 NT_STATUS_OK\n"
        )
    };
    let text = format!("CHOOSE 1\n{}END\nCHOOSE 1\n{}END\n", file(5000), file(300));
    let report = check(&good(&text));
    assert_eq!((report.live_bytes_max, report.live_bytes_end), (5000, 0));
    assert!(report.to_string().contains("5000 B (5.00 kB) (estimate)"));
}

/// 3 of 4 passes close, 1 of 4 flushes: what is less than a half is told as well.
#[test]
fn rare_blocks_are_counted_by_their_share() {
    let text = "Flush 9 *\nCHOOSE 3\nClose 1 *\nEND\nCHOOSE 1\nFlush 1 *\nLockX 1 0 1 *\nEND\n";
    let report = check(&good(text));
    let counts: Vec<_> = report.ops.iter().map(|op| (op.op, op.mean)).collect();
    assert_eq!(counts, [("Close", Some(0.75)), ("Flush", Some(1.25)), ("LockX", Some(0.25))]);
    let shown = report.to_string();
    assert!(shown.lines().any(|line| line.trim().starts_with("LockX") && line.contains("0.25")));
}
