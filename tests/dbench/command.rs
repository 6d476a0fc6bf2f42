//! The command: its name, its options, its end.

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use crate::common::tool::{
    BINARY, Running, assert_clean, jbodbench, label, run_dirs, temp_disk, wait_for, wait_for_load,
};
use crate::common::{LoopFs, or_skip, skip};
use crate::{case, on, ours, start};

#[test]
fn a_link_of_that_name_is_dbench() {
    let (disk, bin) = (temp_disk(), temp_disk());
    let link = bin.path().join("dbench");
    symlink(BINARY, &link).unwrap();
    let mut command = Command::new(&link);
    command.args(["-S", "-t", "1", "2"]);
    let finished = Running::start(on(command, disk.path(), &case("slow4.load"))).finish().expect(0);
    assert!(finished.stdout.starts_with("dbench version 4.00"), "{finished}");
    let last = finished.stdout.lines().last().unwrap();
    assert!(last.contains(" MB/sec (sync dirs)  2 clients  2 procs  max_latency="), "{last}");
    // Words of ours are none of dbench's.
    let mut command = Command::new(&link);
    command.args(["run", "/tmp"]);
    Running::start(command).finish().expect(2).says("NPROCS");
    assert_clean(&[disk.path()]);
}

/// dbench calls all of these a success.
#[test]
fn failures_have_an_exit_code() {
    let disk = temp_disk();
    let failed = ours("-t 1 1", disk.path(), &case("errs.load")).expect(1);
    failed.says("line 6: NTCreateX");
    failed.says("ENOENT");
    assert!(failed.stdout.lines().last().unwrap().starts_with("Throughput "), "{failed}");
    let refused = |words: &str, code: i32, text: &str| {
        let finished = ours(words, disk.path(), &case("slow4.load")).expect(code);
        finished.says(text);
        assert_eq!(finished.stdout, "", "{words}");
    };
    refused("-B iscsi --iscsi=iscsi://h/t/1 1", 2, "--backend iscsi: ");
    refused("--nosuch 1", 2, "--nosuch");
    refused("0", 2, "NPROCS");
    refused("abc", 2, "abc");
    ours("-t 1 1", disk.path(), "nofile.load".as_ref()).expect(2).says("nofile.load");
    let missing = disk.path().join("missing");
    ours("-t 1 1", &missing, &case("slow4.load")).expect(3).says("missing");
    assert_clean(&[disk.path()]);
}

#[test]
fn a_signal_ends_it_with_its_figures() {
    let disk = temp_disk();
    let running = start("-t 600 --warmup 0 2", disk.path(), &case("slow4.load"));
    wait_for_load(disk.path());
    std::thread::sleep(Duration::from_millis(300)); // until it has figures
    running.signal(Signal::INT);
    let finished = running.finish().expect(130);
    assert!(finished.stdout.contains("\n   2  cleanup "), "{finished}");
    let last = finished.stdout.lines().last().unwrap();
    assert!(last.starts_with("Throughput "), "{finished}");
    assert!(finished.stdout.contains("\n WriteX "), "{finished}");
    assert_clean(&[disk.path()]);
}

#[test]
fn a_reader_that_goes_away_ends_it() {
    let disk = temp_disk();
    let mut command = jbodbench(["dbench", "-t", "600", "2"]);
    command.stdout(Stdio::null());
    let (reader, writer) = std::io::pipe().unwrap();
    let command = on(command, disk.path(), &case("slow4.load"));
    let running = Running::start_with(command, writer.into());
    wait_for_load(disk.path());
    drop(reader);
    running.finish().expect(141);
    assert_clean(&[disk.path()]);
}

#[test]
fn what_is_kept_is_named() {
    let disk = temp_disk();
    let finished = ours("-t 1 1 --skip-cleanup", disk.path(), &case("slow4.load")).expect(0);
    let kept = run_dirs(disk.path());
    assert_eq!(kept.len(), 1);
    finished.says(label(&kept[0]));
    assert!(kept[0].join("clients/client0/a").is_file());
}

/// A disk that stands still shows in the latencies of the seconds, not only when it answers.
#[test]
fn a_hang_is_seen_while_it_lasts() {
    let disk = or_skip!(LoopFs::in_memory("ext4", 64));
    let load = case("all4.load");
    let running = start("-t 6 --warmup 0 2", &disk.path(), &load);
    wait_for_load(&disk.path());
    let frozen = disk.freeze().unwrap();
    std::thread::sleep(Duration::from_secs(4));
    drop(frozen);
    let finished = running.finish().expect(0);
    let latencies = finished.stdout.lines().filter(|line| line.contains(" execute "));
    let latencies: Vec<f64> = latencies
        .map(|line| line.split_whitespace().nth_back(1).unwrap().parse().unwrap())
        .collect();
    let slow = |ms: f64| latencies.iter().any(|latency| *latency > ms);
    assert!(slow(1000.0) && slow(2000.0), "{latencies:?}");
    wait_for("the clean-up", || run_dirs(&disk.path()).is_empty().then_some(()));
}
