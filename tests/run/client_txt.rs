//! The load that everybody has: client.txt of Debian's package dbench, on real file systems.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::common::tool::{Table, assert_clean, label, run_on, temp_disk};
use crate::common::{LoopFs, TmpFs, or_skip, skip};

const CLIENT_TXT: &str = "/usr/share/dbench/client.txt";

/// Bytes that a loop device has written since it is there, by its own counters.
fn written(device: &str) -> u64 {
    let name = device.rsplit('/').next().unwrap();
    let stat = fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    // Documentation/block/stat.rst: the seventh number counts sectors of 512 bytes.
    stat.split_whitespace().nth(6).unwrap().parse::<u64>().unwrap() * 512
}

/// Lines of it that a pass on each engine has time for here; `scripts/prove-scale` takes all.
/// Every word of the file occurs among the first 20,000.
const LINES: usize = 50_000;

/// Why it cannot be replayed here.
fn need_client_txt() -> Result<(), String> {
    match Path::new(CLIENT_TXT).exists() {
        true => Ok(()),
        false => Err(format!("{CLIENT_TXT} is not there: install Debian's package dbench")),
    }
}

/// A pass is the same work on every engine: each line once per client, each as it is expected.
#[test]
fn client_txt_is_the_same_on_three_engines() {
    or_skip!(need_client_txt());
    or_skip!(jbodbench::engine::rings_are_usable(2, 1).map_err(|why| why.to_string()));
    let memory = or_skip!(TmpFs::new("300m"));
    let device = or_skip!(LoopFs::new("ext4", 400));
    let (files, disks) = (temp_disk(), [memory.path(), device.path()]);
    let disks = disks.each_ref().map(std::path::PathBuf::as_path);
    let text = fs::read_to_string(CLIENT_TXT).unwrap();
    let lines: Vec<&str> = text.lines().take(LINES).collect();
    let load = files.path().join("first-lines.load");
    fs::write(&load, lines.join("\n")).unwrap();
    let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
    for word in lines.iter().filter_map(|line| line.split_whitespace().next()) {
        *expected.entry(word).or_default() += 2; // clients
    }
    assert_eq!(expected.values().sum::<u64>(), 2 * LINES as u64);

    for engine in ["sync", "hybrid --threads-per-disk 1", "uring --threads-per-disk 1"] {
        let arguments = format!("-c 2 --passes 1 -l {} --engine {engine}", load.display());
        let finished = run_on(&arguments, &disks).expect(0);
        let table = finished.table();
        assert_eq!(table.errors(), BTreeMap::new(), "{engine}");
        for disk in disks.map(label) {
            let all = table.summary(disk, "all");
            assert_eq!(all.text("engine"), engine.split(' ').next().unwrap());
            assert_eq!((all.text("status"), all.int("passes")), ("ok", 2), "{engine} {disk}");
            assert_eq!((all.int("errors"), all.int("skipped")), (0, 0), "{engine} {disk}");
            assert_eq!(ops_of(&table, disk), expected, "{engine} {disk}");
        }
        assert_clean(&disks);
    }
}

/// Operations of a disk by word.
fn ops_of<'t>(table: &'t Table, disk: &str) -> BTreeMap<&'t str, u64> {
    let named = table.summaries(disk).filter(|row| row.text("op") != "all");
    named.map(|row| (row.text("op"), row.int("ops"))).collect()
}

#[test]
fn client_txt_on_four_file_systems_at_once() {
    or_skip!(need_client_txt());
    let loops = [
        or_skip!(LoopFs::in_memory("ext4", 400)),
        or_skip!(LoopFs::in_memory("xfs", 400)),
        or_skip!(LoopFs::in_memory("btrfs", 400)),
    ];
    let memory = or_skip!(TmpFs::new("200m"));
    let mut disks: Vec<_> = loops.iter().map(LoopFs::path).collect();
    disks.push(memory.path());
    let disks: Vec<&Path> = disks.iter().map(std::path::PathBuf::as_path).collect();
    let before = loops.each_ref().map(|fs| written(fs.device()));
    let arguments = format!("-c 2 -t 5s --warmup 500ms -l {CLIENT_TXT}");
    let finished = run_on(&arguments, &disks).expect(0);
    let after = loops.each_ref().map(|fs| written(fs.device()));
    let table = finished.table();

    assert!(table.errors().is_empty(), "{:?}", table.errors());
    let text = fs::read_to_string(CLIENT_TXT).unwrap();
    let words: BTreeSet<&str> = text.lines().filter_map(|l| l.split_whitespace().next()).collect();
    let expected = ["ext4", "xfs", "btrfs", "tmpfs"];
    for (disk, fstype) in disks.iter().zip(expected) {
        let all = table.summary(label(disk), "all");
        assert_eq!((all.text("status"), all.text("fstype")), ("ok", fstype));
        assert_eq!((all.int("errors"), all.int("skipped")), (0, 0));
        assert_eq!(all.text("is_mount_point"), "1");
        assert!(all.int("bytes") > 0 && all.float("bytes_per_s") > 0.0);
        // Every operation that was reached in the time has its row, and no other has.
        let rows: Vec<_> = table.summaries(label(disk)).map(|row| row.text("op")).collect();
        assert!(rows.iter().all(|op| *op == "all" || words.contains(op)), "{rows:?}");
        for op in ["NTCreateX", "Close", "WriteX", "ReadX", "QUERY_PATH_INFORMATION"] {
            assert!(table.summary(label(disk), op).int("ops") > 0, "{op}");
        }
    }
    for ((fs, disk), (before, after)) in loops.iter().zip(&disks).zip(before.iter().zip(after)) {
        let row = table.summary(label(disk), "all");
        let device = fs.device().rsplit('/').next().unwrap();
        assert_eq!(row.text("device"), device);
        let (window, total) = (row.int("dev_write_bytes"), after - before);
        // Before and after the window are warm-up, sync and removal.
        let drain = row.int("drain_bytes");
        assert!(window + drain <= total, "{device}: {window} + {drain} of {total}");
        assert!(total > 0 && row.float("drain_s") >= 0.0, "{device}");
    }
    let row = table.summary(label(disks[3]), "all");
    assert_eq!(row.text("dev_write_bytes"), "", "memory is no device");
    assert_clean(&disks);
}
