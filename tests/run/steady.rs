//! `steady`: whether the rate was level, of loads whose rate is known.

use std::fmt::Write as _;
use std::fs;

use crate::common::tool::{label, run_on, temp_disk};

const LINE: &str = "QUERY_FS_INFORMATION 1 NT_STATUS_OK";

/// The column in the rows of the disk and of all, after a run of this load.
fn steady(text: &str, arguments: &str) -> [String; 2] {
    let (disk, dir) = (temp_disk(), temp_disk());
    let load = dir.path().join("x.load");
    fs::write(&load, text).unwrap();
    let arguments = format!("-l {} -c 1 --warmup 0 --interval 0 {arguments}", load.display());
    let table = run_on(&arguments, &[disk.path()]).expect(0).table();
    let of = |disk: &str| table.summary(disk, "all").text("steady").to_owned();
    let all = [of(label(disk.path())), of("all")];
    assert!(
        table.summaries("all").all(|row| row.text("op") == "all" || row.text("steady").is_empty())
    );
    all
}

/// 500 operations a second throughout, which a machine that stands still may miss; not three times.
#[test]
fn a_rate_that_is_kept_is_level() {
    let level = (0..3).any(|_| steady(&format!("{LINE}\n"), "--rate 500 -t 2s") == ["1", "1"]);
    assert!(level, "500 operations a second are level");
}

/// 500 a second, then 100: of windows of 0.5 s the first two have 250 operations, the others 50.
#[test]
fn a_rate_that_falls_is_not() {
    let mut text = String::new();
    let times = (0..500).map(|n| n as f64 / 500.0).chain((0..200).map(|n| 1.0 + n as f64 / 100.0));
    for time in times {
        writeln!(text, "{time:.3} {LINE}").unwrap();
    }
    assert_eq!(steady(&text, "--timestamps honour -t 2500ms"), ["0", "0"]);
    // By passes, whose length is not known before.
    assert_eq!(steady(&text, "--timestamps honour --passes 1"), ["0", "0"]);
}

#[test]
fn too_little_tells_nothing() {
    assert_eq!(steady(&format!("{LINE}\n"), "-t 500ms"), ["", ""], "half a second");
    assert_eq!(steady(&format!("{LINE}\n"), "--rate 100 -t 1200ms"), ["", ""], "120 operations");
}
