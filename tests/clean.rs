//! `jbodbench clean`: what killed runs leave goes, and nothing else does.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal, kill_process};

use common::tool::{
    Finished, Running, assert_clean, jbodbench, label, run_dir, runs, temp_disk, wait_for,
    wait_for_load,
};
use common::{LoopFs, TmpFs, need_root, or_skip, run, skip};

fn clean(arguments: &str, disks: &[&Path]) -> Finished {
    let mut command = jbodbench(["clean"]);
    command.args(arguments.split_whitespace()).args(disks).stdin(Stdio::null());
    Running::start(command).finish()
}

fn long_run(disk: &Path) -> Running {
    let mut command = jbodbench(["run", "-t", "10m", "--warmup", "0", "-c", "2"]);
    command.arg(disk);
    let running = Running::start(command);
    wait_for_load(disk);
    running
}

/// A run on this disk that was killed, front and worker at once, and its directory.
fn killed(disk: &Path) -> PathBuf {
    let running = long_run(disk);
    let worker = running.worker();
    // The front could clean up only after the worker, so it goes first; the worker could stop then.
    let kill = |pid| kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    kill_process(Pid::from_raw(worker).unwrap(), Signal::STOP).unwrap();
    kill(running.pid());
    kill(worker);
    running.finish();
    wait_for("the end of the worker", || (!runs(worker)).then_some(()));
    run_dir(disk).expect("what a killed run leaves")
}

#[test]
fn what_a_killed_run_leaves_goes_when_it_is_told_to() {
    let (a, b) = (temp_disk(), temp_disk());
    let left = killed(a.path());
    // Somebody's own, with a name like ours: one without a marker, and one with another run's.
    let foreign = [".jbodbench-mine", ".jbodbench-other"].map(|name| b.path().join(name));
    foreign.iter().for_each(|dir| fs::create_dir(dir).unwrap());
    fs::copy(left.join(".jbodbench-run"), foreign[1].join(".jbodbench-run")).unwrap();
    let asked = clean("", &[a.path(), b.path()]).expect(1);
    asked.says("--yes removes this directory");
    assert!(asked.stdout.contains(&format!("{}: made 20", left.display())), "{asked}");
    assert!(asked.stdout.contains("has ended"), "{asked}");
    assert_eq!(asked.stdout.matches("left alone, without a marker of this run").count(), 2);
    assert!(left.exists());
    let done = clean("--yes", &[a.path(), b.path()]).expect(0);
    assert!(done.stdout.contains(&format!("removed {}", left.display())), "{done}");
    assert_clean(&[a.path()]);
    assert!(foreign.iter().all(|dir| dir.exists()));
    assert_eq!(clean("", &[a.path()]).expect(0).stdout, "nothing to clean\n");
}

#[test]
fn a_run_that_lives_keeps_its_directory() {
    let disk = temp_disk();
    let running = long_run(disk.path());
    let dir = run_dir(disk.path()).unwrap();
    let asked = clean("--yes --force", &[disk.path()]).expect(0);
    let alive = format!("left alone, process {} of its run removes it", running.worker());
    assert!(asked.stdout.contains(&alive) && dir.join("clients").exists(), "{asked}");
    running.signal(Signal::INT);
    running.finish().expect(130);
    assert_clean(&[disk.path()]);
}

/// chattr of e2fsprogs makes what even root cannot remove.
#[test]
fn what_cannot_go_is_named() {
    let disk = or_skip!(LoopFs::new("ext4", 64));
    let left = killed(&disk.path());
    for (flag, what) in [("+i", "it is immutable"), ("+a", "it is append-only")] {
        let file = left.join("clients/stays");
        fs::write(&file, "x").unwrap();
        or_skip!(run("chattr", &[flag, label(&file)]));
        let refused = clean("--yes", &[&disk.path()]).expect(1);
        refused.says(&format!("cannot remove {}: EPERM", file.display()));
        refused.says(what);
        assert!(left.join(".jbodbench-run").exists(), "the marker goes last");
        run("chattr", &[&flag.replace('+', "-"), label(&file)]).unwrap();
    }
    clean("--yes", &[&disk.path()]).expect(0);
    assert_clean(&[&disk.path()]);
}

/// The marker of a run of another boot, or of another host.
fn elsewhere(left: &Path, host: &str) {
    let marker = left.join(".jbodbench-run");
    let text = fs::read_to_string(&marker).unwrap();
    let line = |line: &str| match line.split_once('=') {
        Some(("boot_id", _)) => "boot_id=11111111-2222-3333-4444-555555555555\n".to_owned(),
        Some(("host", _)) => format!("host={host}\n"),
        _ => format!("{line}\n"),
    };
    let text: String = text.lines().map(line).collect();
    // In place: the owner and the mode stay.
    fs::write(&marker, text).unwrap();
}

/// Nobody can run on a local disk from elsewhere; on a file system that hosts share (bindfs is one of
/// FUSE, which may be anything) somebody can, and shows it by touching the marker.
#[test]
fn what_another_host_may_use_stays_while_that_shows_life() {
    or_skip!(need_root());
    or_skip!(run("bindfs", &["--version"]));
    let below = or_skip!(TmpFs::new("64m"));
    let left = killed(&below.path());
    elsewhere(&left, "away");
    let point = temp_disk();
    or_skip!(run("bindfs", &[label(&below.path()), label(point.path())]));
    let asked = clean("--yes", &[point.path()]);
    let marker = fs::File::open(left.join(".jbodbench-run")).unwrap();
    marker.set_modified(SystemTime::now() - Duration::from_secs(590)).unwrap();
    let still = clean("--yes", &[point.path()]);
    marker.set_modified(SystemTime::now() - Duration::from_secs(620)).unwrap();
    let shown = clean("", &[point.path()]);
    drop(marker);
    run("umount", &[label(point.path())]).unwrap();
    for finished in [asked, still] {
        let finished = finished.expect(0);
        assert!(finished.stdout.contains("on away: left alone, seen "), "{finished}");
        assert!(finished.stdout.contains("--force if its run is over"), "{finished}");
    }
    assert!(shown.expect(1).stdout.contains("on away, process "));
    // Seen without bindfs it is local.
    clean("--yes", &[&below.path()]).expect(0);
    assert_clean(&[&below.path()]);
}
