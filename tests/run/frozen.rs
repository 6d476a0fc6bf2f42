//! A disk that does not answer: it holds up neither the other disks nor the shell.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::common::tool::{
    BINARY, Finished, Running, Table, assert_clean, children, jbodbench, label, loadfile, run_dirs,
    runs, temp_disk, wait_for, wait_for_load,
};
use crate::common::{Frozen, LoopFs, TmpFs, or_skip, skip};

/// What a loaded machine may add to a time that is asked for.
const SLACK: Duration = Duration::from_secs(3);

fn disks() -> Result<(LoopFs, TmpFs), String> {
    Ok((LoopFs::in_memory("ext4", 64)?, TmpFs::new("64m")?))
}

/// The table of a run whose second disk went on while the first one hung.
#[track_caller]
fn assert_one_hung(finished: &Finished, hung: &Path, good: &Path) -> Table {
    let table = finished.table();
    assert_eq!(table.summary(label(hung), "all").text("status"), "hung");
    let row = table.summary(label(good), "all");
    assert_eq!((row.text("status"), row.int("errors")), ("ok", 0));
    assert!(row.int("ops") > 0 && row.float("ops_per_s") > 0.0);
    assert!(table.summaries(label(good)).count() > 5);
    finished.says(&format!("{} hangs", hung.display()));
    assert_clean(&[good]);
    table
}

/// Thaws; then the worker ends by itself, and nothing of the run is left.
#[track_caller]
fn assert_gone_after_thaw(frozen: Frozen, worker: i32, disks: &[&Path]) {
    drop(frozen);
    wait_for("the end of the worker", || (!runs(worker)).then_some(()));
    assert_clean(disks);
}

#[test]
fn a_frozen_disk_holds_up_nobody() {
    let (frozen_fs, good_fs) = or_skip!(disks());
    let (hung, good) = (frozen_fs.path(), good_fs.path());
    let mut command = jbodbench(["run", "-t", "2s", "--grace", "2s", "--warmup", "0"]);
    command.args(["--interval", "500ms"]).args([&hung, &good]);
    let running = Running::start(command);
    wait_for_load(&hung);
    let worker = running.worker();
    let frozen = frozen_fs.freeze().unwrap();
    let started = running.started();
    let finished = running.finish().expect(1);
    assert!(started.elapsed() < Duration::from_secs(4) + SLACK, "{:?}", started.elapsed());
    assert!(started.elapsed() >= Duration::from_secs(4), "the grace was given");
    let table = assert_one_hung(&finished, &hung, &good);
    assert!(table.summary(label(&good), "all").float("duration_s") >= 2.0);
    assert!(runs(worker), "the worker waits for its disk");
    assert_eq!(run_dirs(&hung).len(), 1);
    assert_gone_after_thaw(frozen, worker, &[&hung, &good]);
}

/// Through a pipe the reader must see the end, although the worker is still there.
#[test]
fn a_reader_of_a_pipe_sees_the_end() {
    let (frozen_fs, good_fs) = or_skip!(disks());
    let (hung, good) = (frozen_fs.path(), good_fs.path());
    let shell = format!(
        "{BINARY} run -t 2s --grace 1s --warmup 0 {} {} 2>&1 >&3 3>&- | cat >&2",
        hung.display(),
        good.display()
    );
    // Both outputs go through a cat of their own, which ends when nobody can write any more.
    let shell =
        format!("{{ {shell}; exit ${{PIPESTATUS[0]}}; }} 3>&1 | cat; exit ${{PIPESTATUS[0]}}");
    let mut command = Command::new("bash");
    command.args(["-c", &shell]);
    let running = Running::start(command);
    wait_for_load(&hung);
    let worker = wait_for("the worker", || worker_below(running.pid()));
    let frozen = frozen_fs.freeze().unwrap();
    let started = running.started();
    let finished = running.finish().expect(1);
    assert!(started.elapsed() < Duration::from_secs(3) + SLACK, "{:?}", started.elapsed());
    assert_one_hung(&finished, &hung, &good);
    assert!(runs(worker));
    assert_gone_after_thaw(frozen, worker, &[&hung, &good]);
}

/// The process below a shell that is a child of another one of this program.
fn worker_below(shell: i32) -> Option<i32> {
    let name = |pid: &i32| {
        let path = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        path == Path::new(BINARY)
    };
    let mut layer = vec![shell];
    while !layer.is_empty() {
        let below: Vec<i32> = layer.iter().flat_map(|pid| children(*pid)).collect();
        let mut workers = layer.iter().filter(|pid| name(pid)).flat_map(|pid| children(*pid));
        if let Some(worker) = workers.find(name) {
            return Some(worker);
        }
        layer = below;
    }
    None
}

/// The first Ctrl-C waits for the grace, the second one for nothing.
#[test]
fn a_second_signal_leaves_at_once() {
    let (frozen_fs, good_fs) = or_skip!(disks());
    let (hung, good) = (frozen_fs.path(), good_fs.path());
    let mut command = jbodbench(["run", "-t", "10m", "--grace", "10m", "--warmup", "0"]);
    command.args(["--interval", "200ms"]).args([&hung, &good]);
    let running = Running::start(command);
    wait_for_load(&hung);
    let worker = running.worker();
    let frozen = frozen_fs.freeze().unwrap();
    running.signal_group(Signal::INT);
    std::thread::sleep(Duration::from_millis(700));
    assert!(runs(running.pid()), "the grace of the first signal");
    let second = Instant::now();
    running.signal_group(Signal::INT);
    let finished = running.finish().expect(130);
    // 2 s is what the worker has to hand over its results.
    assert!(second.elapsed() < Duration::from_secs(2) + SLACK, "{:?}", second.elapsed());
    let table = finished.table();
    assert_eq!(table.summary(label(&hung), "all").text("status"), "hung");
    assert_eq!(table.summary(label(&good), "all").text("status"), "interrupted");
    assert_gone_after_thaw(frozen, worker, &[&hung, &good]);
}

/// A disk that hangs before the run is left out after a while; and whatever was asked of it must
/// leave nothing when it answers at last.
#[test]
fn a_disk_frozen_from_the_start_is_left_out() {
    let (frozen_fs, good_fs) = or_skip!(disks());
    let (hung, good) = (frozen_fs.path(), good_fs.path());
    let frozen = frozen_fs.freeze().unwrap();
    let mut command = jbodbench(["run", "-t", "500ms", "--warmup", "0"]);
    command.args([&hung, &good]);
    let running = Running::start(command);
    let worker = running.worker();
    let finished = running.finish_within(Duration::from_secs(30)).expect(1);
    finished.says(&format!("{} is left out", hung.display()));
    let table = finished.table();
    assert_eq!(table.summary(label(&hung), "all").text("status"), "hung");
    assert_eq!(table.summary(label(&good), "all").text("status"), "ok");
    assert_gone_after_thaw(frozen, worker, &[&hung, &good]);
}

/// Without a disk that can be used there is no run, but who waits for a disk that hangs is the same.
/// A dry run does not touch the disk, so it finds nothing amiss.
#[test]
fn all_disks_frozen_from_the_start() {
    let (frozen_fs, _) = or_skip!(disks());
    let hung = frozen_fs.path();
    for (option, code) in [("--progress=none", 3), ("--dry-run", 0)] {
        let frozen = frozen_fs.freeze().unwrap();
        let mut command = jbodbench(["run", "-t", "500ms", "--warmup", "0", option]);
        command.arg(&hung);
        let running = Running::start(command);
        let worker = running.worker();
        // Both outputs are pipes, so this is the end of the worker's ends of them, too.
        let finished = running.finish_within(Duration::from_secs(20)).expect(code);
        if code == 3 {
            finished.says("does not answer within 10 s");
        }
        assert_gone_after_thaw(frozen, worker, &[&hung]);
    }
}

/// Killing the front does not kill what a stuck disk will leave behind: the worker cleans.
#[test]
fn a_killed_front_with_a_stuck_disk() {
    let (frozen_fs, good_fs) = or_skip!(disks());
    let (hung, good): (PathBuf, PathBuf) = (frozen_fs.path(), good_fs.path());
    let out = temp_disk();
    let mut command = jbodbench(["run", "-t", "10m", "--grace", "1s", "--warmup", "0", "-o"]);
    command.arg(out.path().join("out.csv")).args([&hung, &good]);
    let running = Running::start(command);
    wait_for_load(&hung);
    let worker = running.worker();
    let frozen = frozen_fs.freeze().unwrap();
    running.signal(Signal::KILL);
    wait_for("the good disk", || run_dirs(&good).is_empty().then_some(()));
    assert!(runs(worker));
    assert_gone_after_thaw(frozen, worker, &[&hung, &good]);
    running.finish().expect(-9);
}

/// A load that a frozen disk does not hold up, since it only looks: what hangs is the removal.
fn harmless(dir: &Path) -> PathBuf {
    loadfile(dir, "look.load", "LOOP 1000000000\nQUERY_FS_INFORMATION 1 NT_STATUS_OK\nENDLOOP")
}

#[test]
fn a_removal_that_hangs_holds_up_nobody() {
    let (frozen_fs, good_fs) = or_skip!(disks());
    let (hung, good) = (frozen_fs.path(), good_fs.path());
    let files = temp_disk();
    let load = harmless(files.path());
    let mut command = jbodbench(["run", "-t", "1500ms", "--grace", "1s", "--warmup", "0", "-l"]);
    command.arg(load).args([&hung, &good]);
    let running = Running::start(command);
    wait_for("all clients", || all_clients(&hung));
    let worker = running.worker();
    let frozen = frozen_fs.freeze().unwrap();
    let finished = running.finish_within(Duration::from_secs(20)).expect(1);
    finished.says("is removed when its disk answers");
    let table = finished.table();
    assert_eq!(table.summary(label(&hung), "all").text("status"), "ok");
    assert_clean(&[&good]);
    assert!(runs(worker));
    assert_gone_after_thaw(frozen, worker, &[&hung, &good]);
}

/// Whether all four clients have their directory, made by the last line that writes.
fn all_clients(disk: &Path) -> Option<()> {
    let clients = run_dirs(disk).pop()?.join("clients");
    (0..4).all(|client| clients.join(format!("client{client}")).is_dir()).then_some(())
}

/// Without its front, too, the worker waits in peace: it takes no CPU time.
#[test]
fn waiting_without_a_front_takes_no_cpu_time() {
    let (frozen_fs, good_fs) = or_skip!(disks());
    let (hung, good) = (frozen_fs.path(), good_fs.path());
    let files = temp_disk();
    let load = harmless(files.path());
    let mut command = jbodbench(["run", "-t", "10m", "--grace", "1m", "--warmup", "0", "-l"]);
    command.arg(load).args([&hung, &good]);
    let running = Running::start(command);
    wait_for("all clients", || all_clients(&hung));
    let worker = running.worker();
    let frozen = frozen_fs.freeze().unwrap();
    running.signal(Signal::KILL);
    wait_for("the good disk", || run_dirs(&good).is_empty().then_some(()));
    std::thread::sleep(Duration::from_millis(500));
    let before = cpu_ticks(worker);
    std::thread::sleep(Duration::from_secs(2));
    let spent = cpu_ticks(worker) - before;
    assert!(spent < 50, "{spent} hundredths of a second in two seconds");
    assert_gone_after_thaw(frozen, worker, &[&hung, &good]);
    running.finish().expect(-9);
}

/// CPU time of a process, in hundredths of a second.
fn cpu_ticks(pid: i32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit_once(')').unwrap().1.split_whitespace();
    // Fields 14 and 15 of the line, of which two are gone.
    fields.skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum()
}

/// While it hangs: by client, operation, path and line. When the disk is back, that too.
#[test]
fn a_disk_that_hangs_is_named_with_what_waits() {
    let (frozen_fs, good_fs) = or_skip!(disks());
    let (hung, good) = (frozen_fs.path(), good_fs.path());
    let loads = temp_disk();
    let lines = "NTCreateX \"/clients/client1/log\" 0x40 0x2 7 NT_STATUS_OK
REPEAT 100000
\
                 WriteX 7 0 4096 4096 NT_STATUS_OK
Close 7 NT_STATUS_OK";
    let load = loadfile(loads.path(), "log.load", lines);
    let mut command =
        jbodbench(["run", "-t", "7s", "--warmup", "0", "--hang-after", "1s", "-c", "2"]);
    command.arg("-l").arg(&load).args([&hung, &good]);
    let running = Running::start(command);
    wait_for("the load", || {
        run_dirs(&hung).first()?.join("clients/client0/log").exists().then_some(())
    });
    let frozen = frozen_fs.freeze().unwrap();
    std::thread::sleep(Duration::from_millis(3000));
    drop(frozen);
    let finished = running.finish().expect(0);
    let says = |text: &str| finished.stderr.lines().filter(|line| line.contains(text)).count();
    let label = hung.display();
    let line = format!("{label} hangs: client ");
    assert_eq!((says(&line), says(&format!("{label}: answers again"))), (1, 1), "{finished}");
    assert_eq!(says(&format!("{} hangs", good.display())), 0, "{finished}");
    let said = finished.stderr.lines().find(|text| text.contains(&line)).unwrap();
    let client = said.split("client ").nth(1).unwrap().split(' ').next().unwrap();
    let of = format!(
        " for WriteX of /clients/client{client}/log (line 6 of {}), 1 more wait as well",
        load.display()
    );
    assert!(said.ends_with(&of), "{said}");
}
