//! How a run ends before its time: signals, readers that go away, disks for results that are full.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use crate::common::tool::{
    BINARY, Finished, Running, Table, assert_clean, jbodbench, label, run_dir, runs, temp_disk,
    wait_for, wait_for_load,
};
use crate::common::{TmpFs, or_skip, skip};

/// Much more than a run needs to stop; much less than the run would last.
const SOON: Duration = Duration::from_secs(30);

/// A run of ten minutes on these disks whose load has begun, with its result in a file.
fn long_run(disks: &[&Path], out: &Path) -> Running {
    let mut command = jbodbench(["run", "-t", "10m", "--warmup", "0", "--interval", "200ms", "-o"]);
    command.arg(out).args(disks);
    let running = Running::start(command);
    disks.iter().for_each(|disk| drop(wait_for_load(disk)));
    // A row of an interval shows that the window is open.
    wait_for("an interval", || {
        let text = fs::read_to_string(out).ok()?;
        (text.lines().count() > 1).then_some(())
    });
    running
}

fn assert_interrupted(finished: &Finished, out: &Path, disks: &[&Path]) {
    assert!(!finished.stderr.contains("panicked"), "{finished}");
    assert!(!finished.stderr.contains("leaving"), "{finished}");
    let table = Table::read(out);
    for disk in disks {
        let row = table.summary(label(disk), "all");
        assert_eq!(row.text("status"), "interrupted");
        assert!(row.int("ops") > 0 && row.float("ops_per_s") > 0.0);
        assert!(row.float("duration_s") < 600.0);
        assert!(table.summaries(label(disk)).count() > 2, "rows of operations");
    }
    assert_eq!(table.summary("all", "all").text("status"), "interrupted");
    assert_clean(disks);
}

#[test]
fn a_signal_ends_the_run_with_its_result() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let (a, b, results) = (temp_disk(), temp_disk(), temp_disk());
        let (disks, out) = ([a.path(), b.path()], results.path().join("out.csv"));
        let running = long_run(&disks, &out);
        running.signal(signal);
        let finished = running.finish_within(SOON).expect(code);
        assert_interrupted(&finished, &out, &disks);
    }
}

/// A terminal sends its Ctrl-C to front and worker: that is one signal, not two.
#[test]
fn a_signal_to_both_processes_counts_once() {
    let (disk, results) = (temp_disk(), temp_disk());
    let out = results.path().join("out.csv");
    let running = long_run(&[disk.path()], &out);
    running.signal_group(Signal::INT);
    let finished = running.finish_within(SOON).expect(130);
    assert_interrupted(&finished, &out, &[disk.path()]);
}

/// In the warm-up there is nothing to report yet, but the run ends and cleans all the same.
#[test]
fn a_signal_in_the_warm_up() {
    let disk = temp_disk();
    let mut command = jbodbench(["run", "-t", "10m", "--warmup", "10m"]);
    command.arg(disk.path());
    let running = Running::start(command);
    wait_for_load(disk.path());
    running.signal(Signal::INT);
    let finished = running.finish_within(SOON).expect(130);
    let table = finished.table();
    assert_eq!(table.summary(label(disk.path()), "all").text("status"), "interrupted");
    assert_eq!(table.summary(label(disk.path()), "all").int("ops"), 0);
    assert_clean(&[disk.path()]);
}

#[test]
fn a_killed_worker_is_cleaned_up_after() {
    let (a, b, results) = (temp_disk(), temp_disk(), temp_disk());
    let disks = [a.path(), b.path()];
    let running = long_run(&disks, &results.path().join("out.csv"));
    let worker = rustix::process::Pid::from_raw(running.worker()).unwrap();
    rustix::process::kill_process(worker, Signal::KILL).unwrap();
    let finished = running.finish_within(SOON).expect(1);
    finished.says("signal 9");
    assert_clean(&disks);
}

#[test]
fn without_its_front_the_worker_stops_and_cleans() {
    let (a, b, results) = (temp_disk(), temp_disk(), temp_disk());
    let disks = [a.path(), b.path()];
    let running = long_run(&disks, &results.path().join("out.csv"));
    let worker = running.worker();
    running.signal(Signal::KILL);
    // Its outputs end when the worker does.
    running.finish_within(SOON).expect(-9);
    wait_for("the end of the worker", || (!runs(worker)).then_some(()));
    assert_clean(&disks);
}

fn three_disks() -> (tempfile::TempDir, Vec<PathBuf>) {
    let parent = temp_disk();
    let disks: Vec<_> = ["a", "b", "c"].iter().map(|name| parent.path().join(name)).collect();
    disks.iter().for_each(|disk| fs::create_dir(disk).unwrap());
    (parent, disks)
}

#[test]
fn a_pipe_to_head() {
    let (_parent, disks) = three_disks();
    let shell = format!(
        "{BINARY} run --clients 4 {} {} {} --time 10m | head -1; exit ${{PIPESTATUS[0]}}",
        disks[0].display(),
        disks[1].display(),
        disks[2].display()
    );
    let mut command = Command::new("bash");
    command.args(["-c", &shell]);
    let finished = Running::start(command).finish_within(SOON).expect(141);
    assert_eq!(finished.stdout.lines().count(), 1);
    assert!(finished.stdout.starts_with("schema,"));
    assert!(!finished.stderr.to_lowercase().contains("panic"), "{finished}");
    for disk in &disks {
        assert_clean(&[disk]);
    }
}

/// The reader leaves in the middle of the rows, and the form is JSON.
#[test]
fn a_reader_that_leaves_later() {
    let disk = temp_disk();
    let mut command = jbodbench(["run", "-t", "10m", "--warmup", "0", "--interval", "100ms"]);
    command.args(["--format", "json"]).arg(disk.path());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..3 {
        lines.next().unwrap().unwrap();
    }
    drop(lines);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(141));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panic"));
    assert_clean(&[disk.path()]);
}

#[test]
fn a_result_that_cannot_be_written_from_the_start() {
    let disk = temp_disk();
    for (arguments, stdout) in [("", "/dev/full"), ("-o /dev/full", "/dev/null")] {
        let mut command = jbodbench(["run", "-t", "10m"]);
        command.args(arguments.split_whitespace()).arg(disk.path());
        let stdout = File::options().write(true).open(stdout).unwrap();
        let finished = Running::start_with(command, stdout.into()).finish_within(SOON).expect(1);
        finished.says("No space left on device");
        assert!(!finished.stderr.contains("panicked"), "{finished}");
        assert_clean(&[disk.path()]);
    }
}

/// The result's file system runs full while the load runs.
#[test]
fn a_result_that_cannot_be_written_any_more() {
    let results = or_skip!(TmpFs::new("16k"));
    let disk = temp_disk();
    let out = results.path().join("out.csv");
    let mut command = jbodbench(["run", "-t", "10m", "--warmup", "0", "--interval", "20ms", "-o"]);
    command.arg(&out).arg(disk.path());
    let finished = Running::start(command).finish_within(SOON).expect(1);
    finished.says("out.csv: No space left on device");
    assert!(Path::new(&out).exists());
    assert_clean(&[disk.path()]);
    assert!(run_dir(disk.path()).is_none());
}

/// `nohup` starts a program that ignores the end of its session; a script lets what it starts in the
/// background ignore SIGINT, and means it when it sends one.
#[test]
fn a_hangup_that_was_ignored_before_stays_so() {
    let disk = temp_disk();
    let mut command = Command::new("sh");
    let shell = "trap '' HUP INT; exec \"$@\"";
    command.args(["-c", shell, "sh", BINARY, "run", "-t", "10m", "--warmup", "0"]).arg(disk.path());
    let running = Running::start(command);
    wait_for_load(disk.path());
    let worker = running.worker();
    running.signal_group(Signal::HUP);
    std::thread::sleep(Duration::from_millis(300));
    assert!(runs(running.pid()) && runs(worker));
    running.signal(Signal::INT);
    running.finish_within(SOON).expect(130);
    assert_clean(&[disk.path()]);
}

/// Who reads the messages may leave, too: the exit code stays.
#[test]
fn nobody_reads_the_messages() {
    for arguments in [&["run", "--cpus", "x"][..], &["check", "/nowhere/x.load"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = jbodbench(arguments);
        let status = command.stdout(Stdio::null()).stderr(writer).status().unwrap();
        assert_eq!(status.code(), Some(2), "{arguments:?}");
    }
}
