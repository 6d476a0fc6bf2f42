//! Loads that hold many descriptors, and those of public reports: each runs, and tables grow.

use std::fs;
use std::process::Command;

use jbodbench::loadfile::builtin::BUILTINS;
use rustix::process::{Resource, Signal, getrlimit};

use crate::common::tool::{
    BINARY, Running, assert_clean, jbodbench, label, run_on, temp_disk, wait_for,
};
use crate::common::{LoopFs, TmpFs, need_root, or_skip, skip};

/// Whether so many files may be open in one table.
fn need_files(count: u64) -> Result<(), String> {
    match getrlimit(Resource::Nofile).maximum {
        Some(most) if most < count => Err(format!("{most} open files at most, {count} needed")),
        _ => Ok(()),
    }
}

/// The largest descriptor table among a process's threads, as the kernel states it.
fn largest_table(process: i32) -> Option<u64> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).ok()?.flatten();
    let states = tasks.filter_map(|task| fs::read_to_string(task.path().join("status")).ok());
    let size = |state: String| -> Option<u64> {
        state.lines().find_map(|line| line.strip_prefix("FDSize:"))?.trim().parse().ok()
    };
    states.filter_map(size).max()
}

/// 8,200 descriptors need a table of 16,384; those of two clients together one of 32,768.
#[test]
fn descriptor_tables_grow_by_powers_of_two() {
    or_skip!(need_files(16_413));
    for (share, expected) in [("", 16_384), ("--share fd", 32_768)] {
        let disk = or_skip!(TmpFs::new("64m"));
        let mut command = jbodbench(["run", "-l", "fdtable", "-c", "2", "-t", "5m"]);
        command.args(["--warmup", "0", "--engine", "sync"]).args(share.split_whitespace());
        let running = Running::start({
            command.arg(disk.path());
            command
        });
        let seen = wait_for("the table to grow", || {
            largest_table(running.worker()).filter(|size| *size >= expected)
        });
        assert_eq!(seen, expected, "{share}");
        running.signal(Signal::INT);
        let table = running.finish().expect(130).table();
        assert_eq!(table.errors().len(), 0, "{share}: {:?}", table.errors());
        assert_clean(&[&disk.path()]);
    }
}

/// A step of a shared table waits for a grace period of RCU, which takes milliseconds.
#[test]
fn a_shared_table_waits_when_it_grows() {
    or_skip!(need_files(16_413));
    let disk = or_skip!(TmpFs::new("64m"));
    let arguments = "-l fdtable -c 2 --passes 1 --warmup 0 --engine sync --share fd";
    let table = run_on(arguments, &[&disk.path()]).expect(0).table();
    let open = table.summary(label(&disk.path()), "open");
    assert_eq!((open.int("ops"), open.int("errors")), (2 * 8200, 0));
    let step_us = open.float("lat_max_us");
    assert!(step_us > 1000.0, "{step_us}");
    assert!(step_us > 100.0 * open.float("lat_p50_us"), "{step_us}");
}

/// Without room for the table nothing starts, and it is said what to set.
#[test]
fn a_limit_that_is_too_low_is_refused_with_the_remedy() {
    let disk = temp_disk();
    for (load, remedy) in
        [("fdtable", "ulimit -n 8212"), ("fdtable --set n=100000", "ulimit -n 100012")]
    {
        let line = format!(
            "ulimit -n 4096; exec {BINARY} run -l {load} -c 1 --engine sync {}",
            label(disk.path())
        );
        let mut command = Command::new("bash");
        command.args(["-c", &line]);
        let finished = Running::start(command).finish().expect(3);
        finished.says(remedy);
        assert_clean(&[disk.path()]);
    }
}

fn others() -> impl Iterator<Item = &'static str> {
    let names = BUILTINS.iter().map(|load| load.name);
    names.filter(|name| {
        name.starts_with("public/") || name.starts_with("pagecache") || *name == "fdtable"
    })
}

/// Each once, small, by every engine.
#[test]
fn each_runs_by_every_engine() {
    or_skip!(need_files(9000));
    for load in others() {
        for engine in ["sync", "hybrid", "uring"] {
            let disk = or_skip!(TmpFs::new("128m"));
            let arguments = format!("-l {load} -c 2 --passes 1 --warmup 0 --engine {engine}");
            let table = run_on(&arguments, &[&disk.path()]).expect(0).table();
            let all = table.summary(label(&disk.path()), "all");
            let state = (all.text("status"), all.text("loadfile"), all.int("errors"));
            // Results name a load by the last part of its name.
            let name = load.trim_start_matches("public/");
            assert_eq!(state, ("ok", name, 0), "{load} {engine}");
            assert_clean(&[&disk.path()]);
        }
    }
}

/// Each once, small, on file systems with a device, as another user.
#[test]
fn each_runs_on_devices_as_nobody() {
    or_skip!(need_root());
    or_skip!(need_files(9000));
    let ext4 = or_skip!(LoopFs::in_memory("ext4", 200));
    let xfs = or_skip!(LoopFs::in_memory("xfs", 400));
    let btrfs = or_skip!(LoopFs::in_memory("btrfs", 300));
    let disks = [&ext4, &xfs, &btrfs].map(LoopFs::path);
    for load in others() {
        let arguments = format!("-l {load} -c 2 --passes 1 --warmup 0 --as nobody");
        let finished = run_on(&arguments, &[&disks[0], &disks[1], &disks[2]]).expect(0);
        let table = finished.table();
        assert_eq!(table.errors().len(), 0, "{load}: {:?}", table.errors());
        for disk in &disks {
            assert_eq!(table.summary(label(disk), "all").text("status"), "ok", "{load}");
        }
        assert_clean(&[&disks[0], &disks[1], &disks[2]]);
    }
}
