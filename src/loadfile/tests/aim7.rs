//! The loads after AIM7's shared mix, against what its tests do when they are counted by hand.

use std::collections::BTreeMap;

use super::super::check::{Report, check};
use super::super::parameters::apply;
use super::super::{builtin, load_applied};
use super::*;

fn report(name: &str, set: &[(&str, &str)]) -> Report {
    let given: Vec<_> = set.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let source = builtin::builtin(name).unwrap().source().unwrap();
    let loaded = load_applied(apply(&source, &given).unwrap(), &Options::default()).unwrap();
    check(&loaded.program)
}

fn counts(report: &Report) -> BTreeMap<&'static str, u64> {
    report.ops.iter().map(|op| (op.op, op.count)).collect()
}

/// Tests of one user with N KiB: disk_rr writes N and reads N, disk_rw writes 2N, disk_rd writes and
/// reads N, disk_wrt writes N, disk_cp reads and writes N, each three times: 18 N and 9 N.
/// disk_src looks at 57 names and makes and unlinks 43; link_test makes 7 + 9 x 7 links and unlinks
/// 9 x 7 + 8 names; creat_clo opens one file 1,000 times.
#[test]
fn a_pass_of_the_shared_mix() {
    for n in [4u64, 42, 1034] {
        let report = report("aim7-shared", &[("blocks", &n.to_string())]);
        let counts = counts(&report);
        let expected = [
            ("WriteX", 18 * n),
            // disk_src reads its list by 4 reads; 10 rounds over 3 small files.
            ("ReadX", 9 * n + 3 * 4 + 10 * 3),
            ("link", 70),
            // One each of 15 files, a second one of the copies, then disk_src, link_test, creat_clo.
            ("unlinkat", 15 + 3 + 3 * 43 + 71 + 1),
            ("stat", 3 * 57),
            ("lstat", 8 + 1),
            // 15 own files, 3 x (rr, rd, rw, cp) another time, disk_src, creat_clo and what has one.
            ("open", 15 + 12 + 3 * (1 + 43) + 1000 + 1 + 1 + 30),
            ("Close", 15 + 12 + 3 * (1 + 43) + 1000 + 1 + 1 + 30),
            ("getdents", 28),
            ("lseek", 9),
            ("fstat", 3 + 60),
        ];
        assert_eq!(counts, BTreeMap::from(expected), "{n} KiB");
        assert_eq!(report.total_ops, expected.iter().map(|(_, count)| count).sum::<u64>());
        assert_eq!(report.expected_failures, 3 + 9);
        assert_eq!(report.write_bytes, 18 * n * 1024);
        assert_eq!(report.read_bytes, 9 * n * 1024 + 3 * 4 * 4096 + 30 * 4096);
        // A file of each client, and the common one with the list and the small files.
        assert_eq!(report.own_bytes_max, n * 1024);
        assert_eq!(report.shared_bytes_max, n * 1024 + 10_700 + 1500 + 800 + 500);
        assert_eq!((report.open_handles_max, report.open_handles_end), (2, 0));
        assert!(!report.counts_are_means);
    }
    assert_eq!(
        report("aim7-shared", &[]).total_ops,
        report("aim7-shared", &[("blocks", "42")]).total_ops
    );
}

/// 72 waits, in place of what is no file test: 72 x 1 ms.
#[test]
fn a_think_time_for_what_is_left_out() {
    let pauses = report("aim7-shared", &[("think", "1000")]).pause_seconds;
    assert!((pauses - 0.072).abs() < 1e-9, "{pauses}");
    assert_eq!(report("aim7-shared", &[]).pause_seconds, 0.0);
}

/// The prepared tree: 321 files and 23 directories below its top, by their depths.
#[test]
fn the_tree_of_disk_src() {
    let text = String::from_utf8(builtin::builtin("aim7-shared").unwrap().text.to_vec()).unwrap();
    let prepared = text.split("\nEND\n").next().unwrap();
    let depths = |word: &str| {
        let path = |line: &str| line.split('"').nth(1).map(str::to_owned);
        let lines = prepared.lines().filter(|line| line.starts_with(word)).filter_map(path);
        let inside =
            lines.filter_map(|path| path.strip_prefix("/SHARED/aim7/fakeh/").map(str::to_owned));
        inside.fold(BTreeMap::new(), |mut all: BTreeMap<usize, u32>, path| {
            *all.entry(path.split('/').count()).or_insert(0) += 1;
            all
        })
    };
    assert_eq!(
        depths("open "),
        BTreeMap::from([(1, 41), (2, 40), (3, 40), (5, 40), (6, 120), (7, 40)])
    );
    assert_eq!(depths("Mkdir "), BTreeMap::from([(1, 2), (2, 6), (3, 5), (4, 5), (5, 4), (6, 1)]));
    let looks = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!(looks("stat "), 57);
}

/// rw N/2 + N/2 x synced, wrt and cp N/2 synced; cp reads N/2.
#[test]
fn a_pass_of_the_synced_tests() {
    for n in [4u64, 42] {
        let report = report("aim7-sync", &[("blocks", &n.to_string())]);
        let expected =
            [("WriteX", 2 * n), ("ReadX", n / 2), ("open", 5), ("Close", 5), ("unlinkat", 3)];
        assert_eq!(counts(&report), BTreeMap::from(expected));
        assert_eq!(report.write_bytes, 2 * n * 1024);
        assert_eq!((report.own_bytes_max, report.shared_bytes_max), (n / 2 * 1024, n * 1024));
    }
}
