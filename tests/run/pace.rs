//! When operations start: a rate, and timestamps.

use std::fs;

use crate::common::tool::{label, one_pass, run_on, temp_disk};

/// An open loop: as many operations as asked for, whatever each of them takes.
#[test]
fn a_rate_is_kept() {
    let files = temp_disk();
    let load = files.path().join("fs.load");
    fs::write(&load, "QUERY_FS_INFORMATION 1 NT_STATUS_OK\n").unwrap();
    let disk = temp_disk();
    let load = load.display();
    // A machine that stands still at the very end starts fewer; not three times.
    let arguments = format!("--rate 500 -c 4 -t 2s --warmup 0 -l {load}");
    let kept = (0..3).map(|_| run_on(&arguments, &[disk.path()]).expect(0).table()).find(|table| {
        let rate = table.summary(label(disk.path()), "all").float("ops_per_s");
        (475.0..=525.0).contains(&rate)
    });
    let table = kept.expect("500 operations a second, within 5 %");
    let row = table.summary(label(disk.path()), "all");
    assert_eq!(row.float("rate_ops"), 500.0);
    assert!(row.int("late_ops") <= row.int("ops"));

    // More than anybody can do: nearly all are late, and latency counts the wait.
    let finished = run_on(&format!("--rate 1e9 -c 1 -t 1s --warmup 0 -l {load}"), &[disk.path()]);
    let table = finished.expect(0).table();
    let row = table.summary(label(disk.path()), "all");
    assert!(row.float("ops_per_s") < 1e9);
    assert!(row.int("late_ops") > row.int("ops") / 2, "{}", row.int("late_ops"));
    // The last one waited nearly the whole second, the first not at all: half on average.
    assert!(row.float("lat_mean_us") > 250_000.0, "{}", row.float("lat_mean_us"));
}

#[test]
fn timestamps_are_honoured_scaled_or_ignored() {
    let files = temp_disk();
    let load = files.path().join("times.load");
    let line = "QUERY_FS_INFORMATION 1 NT_STATUS_OK";
    fs::write(&load, format!("0 {line}\n0.6 {line}\n1.2 {line}\n")).unwrap();
    let length = |how: &str| {
        let table = one_pass(&load, &format!("-c 1 --timestamps {how}"));
        assert_eq!(table.ops()["QUERY_FS_INFORMATION"], 3);
        table.summary("all", "all").float("last_done_s")
    };
    let (honoured, scaled, ignored) = (length("honour"), length("2"), length("ignore"));
    // Never before its time; how late is the machine's affair, but not as late as the next case.
    assert!(honoured >= 1.2, "{honoured}");
    assert!((0.6..1.2).contains(&scaled), "{scaled}");
    assert!(ignored < 0.6, "{ignored}");
}
