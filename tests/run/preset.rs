//! `run --preset disks`: which disk of a shelf is slow.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;

use crate::common::tool::{
    BINARY, Finished, Running, assert_clean, jbodbench, label, run_dir, run_on, runs, temp_disk,
    wait_for,
};
use crate::common::{LoopFs, RamFs, TmpFs, need_root, or_skip, run, skip};

const QUICK: &str = "--preset disks -t 200ms --warmup 0 --file-size 16m";
/// A search has many windows.
const LONG: Duration = Duration::from_secs(180);
const TESTS: [&str; 4] = ["sequential-read", "sequential-write", "random-read", "append-sync"];

/// A limit on what a device may do, by cgroup v1 in the root group: lifted when it goes.
struct Throttle {
    number: String,
}

const BLKIO: &str = "/sys/fs/cgroup/blkio/blkio.throttle";

impl Throttle {
    fn new(device: &str, bytes: u64, requests: u64) -> Result<Self, String> {
        let stat = fs::metadata(device).map_err(|error| format!("{device}: {error}"))?;
        let (major, minor) = (rustix::fs::major(stat.rdev()), rustix::fs::minor(stat.rdev()));
        let throttle = Self { number: format!("{major}:{minor}") };
        throttle.set(bytes, requests).map_err(|error| format!("no blkio of cgroup v1: {error}"))?;
        Ok(throttle)
    }

    fn set(&self, bytes: u64, requests: u64) -> std::io::Result<()> {
        for way in ["read", "write"] {
            fs::write(format!("{BLKIO}.{way}_bps_device"), format!("{} {bytes}", self.number))?;
            fs::write(format!("{BLKIO}.{way}_iops_device"), format!("{} {requests}", self.number))?;
        }
        Ok(())
    }
}

impl Drop for Throttle {
    fn drop(&mut self) {
        let _ = self.set(0, 0);
    }
}

fn search(arguments: &str, disks: &[PathBuf]) -> Running {
    let mut command = jbodbench(["run"]);
    command.args(arguments.split_whitespace()).args(disks);
    Running::start(command)
}

/// Verdicts, that is lines with an arrow.
fn named(finished: &Finished) -> Vec<&str> {
    finished.stderr.lines().filter(|line| line.contains(" -> ")).collect()
}

#[test]
fn a_throttled_disk_is_named() {
    or_skip!(need_root());
    let mut shelf = Vec::new();
    for number in 0..5 {
        let disk = or_skip!(LoopFs::new("ext4", 64));
        // The last one has a quarter of what the others have.
        let share = if number == 4 { 4 } else { 1 };
        let throttle = or_skip!(Throttle::new(disk.device(), 60_000_000 / share, 1200 / share));
        shelf.push((throttle, disk));
    }
    let disks: Vec<PathBuf> = shelf.iter().map(|(_, disk)| disk.path()).collect();
    let finished = search("--preset disks -t 400ms --warmup 100ms --file-size 16m", &disks);
    let finished = finished.finish_within(LONG).expect(1);
    let named = named(&finished);
    let device = shelf[4].1.device().trim_start_matches("/dev/");
    let wanted = format!("{} ({device}) is slow alone -> the disk", disks[4].display());
    assert_eq!(named, [wanted], "{finished}");
    finished.says("below its 4 peers");
    let table = finished.table();
    let cells: BTreeSet<&str> = table.rows.iter().map(|row| row.text("cell")).collect();
    for test in TESTS {
        for way in ["together", "alone"] {
            assert!(cells.contains(&*format!("{test}/{way}")), "{cells:?}");
        }
    }
    // A throttle that is known: 15 MB/s, and what a disk may do at once at first.
    let slow = table.rows.iter().find(|row| {
        let is = |column: &str, text: &str| row.text(column) == text;
        is("cell", "sequential-read/alone") && is("disk", label(&disks[4])) && is("op", "ReadX")
    });
    let rate = slow.unwrap().float("bytes_per_s");
    assert!((5e6..40e6).contains(&rate), "{rate}");
    let all: Vec<&Path> = disks.iter().map(PathBuf::as_path).collect();
    assert_clean(&all);
}

#[test]
fn two_disks_are_too_few_and_every_window_has_rows() {
    let (a, b) = (or_skip!(TmpFs::new("64m")), or_skip!(TmpFs::new("64m")));
    let (a, b) = (a.path(), b.path());
    let finished = run_on(&format!("{QUICK} --label shelf"), &[&a, &b]).expect(0);
    finished.says("too few of one model, size and file system");
    assert!(!finished.stderr.contains("no disk stands out"), "nobody can tell");
    finished.says("about 2.40s"); // 4 tests x (1 + 2 disks) x 200 ms
    let table = finished.table();
    let summaries = table.rows.iter().filter(|row| row.text("row") == "summary");
    let of_all: Vec<_> = summaries.filter(|row| row.text("op") == "all").collect();
    for test in TESTS {
        let rows = |way: &str, disk: &Path| {
            let cell = format!("{test}/{way}");
            let of = of_all.iter().filter(|row| row.text("cell") == cell);
            of.filter(|row| row.text("disk") == label(disk)).count()
        };
        let (together, alone) = ("together", "alone");
        assert_eq!([rows(together, &a), rows(together, &b)], [1, 1], "{test}");
        assert_eq!([rows(alone, &a), rows(alone, &b)], [1, 1], "{test}");
    }
    let runs: BTreeSet<_> = table.rows.iter().map(|row| row.text("run_id")).collect();
    let order: BTreeSet<_> = table.rows.iter().map(|row| row.text("order_index")).collect();
    let experiments: BTreeSet<_> = table.rows.iter().map(|row| row.text("experiment_id")).collect();
    assert_eq!((runs.len(), order.len(), experiments.len()), (12, 12, 1));
    assert!(table.rows.iter().all(|row| row.text("run_label") == "shelf"));
    let of = |op: &str| table.rows.iter().filter(|row| row.text("op") == op).collect::<Vec<_>>();
    assert!(of("ReadX").iter().all(|row| row.text("direct") == "1"));
    assert!(of("Flush").iter().all(|row| row.text("direct") == "0"));
    assert_clean(&[&a, &b]);
}

#[test]
fn a_dry_run_says_how_long_and_makes_nothing() {
    let (a, b) = (temp_disk(), temp_disk());
    let finished = run_on("--preset disks --dry-run", &[a.path(), b.path()]).expect(0);
    // 4 tests x (1 + 2 disks) x (1 s + 10 s).
    finished.says("each 10.0s after 1.00s of warm-up: about 2m12s");
    assert_eq!(finished.stdout, "");
    assert_clean(&[a.path(), b.path()]);
    let finished = run_on("--preset disks --dry-run --alone -t 3s", &[a.path()]).expect(0);
    finished.says("about 14.4s"); // 4 x (0.6 s + 3 s)
}

#[test]
fn what_the_preset_sets_itself_is_refused() {
    let disk = temp_disk();
    for extra in ["-c 4", "-l x.load", "--passes 2", "--engine uring", "--fsync"] {
        let finished = run_on(&format!("--preset disks {extra}"), &[disk.path()]).expect(2);
        finished.says("cannot be used with");
    }
    run_on("--preset disks --file-size 1m", &[disk.path()]).expect(2).says("--file-size");
}

#[test]
fn no_room_and_no_direct_io_are_said() {
    let small = or_skip!(TmpFs::new("20m"));
    let finished = run_on("--preset disks -t 1s", &[&small.path()]).expect(3);
    finished.says("a file of 16.0 MiB or more");
    let finished = run_on("--preset disks --file-size 64m", &[&small.path()]).expect(3);
    finished.says("more than half of what");
    let ram = or_skip!(RamFs::new());
    let finished = run_on(QUICK, &[&ram.path()]).expect(3);
    finished.says(&format!("{}: its file system has no O_DIRECT", ram.path().display()));
    assert_clean(&[&small.path(), &ram.path()]);
}

#[test]
fn a_signal_ends_the_whole_search() {
    let (a, b) = (or_skip!(TmpFs::new("64m")), or_skip!(TmpFs::new("64m")));
    let disks = [a.path(), b.path()];
    let running = search("--preset disks -t 20s --file-size 16m", &disks);
    wait_for("the first window", || {
        let appended = run_dir(&disks[0])?.join("testfile");
        fs::metadata(appended).ok().filter(|file| file.len() >= 16 << 20)
    });
    std::thread::sleep(Duration::from_millis(500));
    running.signal(Signal::INT);
    let finished = running.finish().expect(130);
    finished.says("interrupted: what was measured until then");
    let table = finished.table();
    assert!(table.rows.iter().all(|row| row.text("cell") == "sequential-read/together"));
    assert_eq!(table.summary(label(&disks[0]), "all").text("status"), "interrupted");
    assert_clean(&[&disks[0], &disks[1]]);
}

#[test]
fn a_reader_that_goes_away_ends_the_search() {
    let disk = or_skip!(TmpFs::new("64m"));
    let shell =
        format!("{BINARY} run {QUICK} {} | head -1; exit ${{PIPESTATUS[0]}}", label(&disk.path()));
    let mut command = std::process::Command::new("bash");
    command.args(["-c", &shell]);
    let finished = Running::start(command).finish().expect(141);
    assert!(!finished.stderr.contains("one by one; about"), "{finished}");
    assert_clean(&[&disk.path()]);
}

/// A device that becomes smaller answers with EIO behind its end.
#[test]
fn a_disk_with_errors_is_named_and_the_others_go_on() {
    let bad = or_skip!(LoopFs::in_memory("ext4", 64));
    let good = or_skip!(TmpFs::new("64m"));
    let disks = [bad.path(), good.path()];
    let running = search("--preset disks --together -t 1s --file-size 16m", &disks);
    wait_for("the file", || {
        let file = run_dir(&disks[0])?.join("testfile");
        fs::metadata(file).ok().filter(|file| file.len() >= 16 << 20)
    });
    std::thread::sleep(Duration::from_millis(300)); // it is stored, and the first test has begun
    fs::OpenOptions::new().write(true).open(bad.image()).unwrap().set_len(1 << 20).unwrap();
    run("losetup", &["--set-capacity", bad.device()]).unwrap();
    let finished = running.finish_within(LONG).expect(1);
    finished.says(&format!("{} (loop", disks[0].display()));
    finished.says(" failed in sequential ");
    finished.says("EIO");
    let table = finished.table();
    let status = |disk: &Path, cell: &str| {
        let rows = table.rows.iter().filter(|row| row.text("op") == "all");
        let row = rows.filter(|row| row.text("row") == "summary" && row.text("cell") == cell);
        row.filter(|row| row.text("disk") == label(disk)).map(|row| row.text("status")).next()
    };
    let gone = ["sequential-read", "sequential-write"]
        .map(|test| status(&disks[0], &format!("{test}/together")) == Some("gone"));
    assert!(gone.contains(&true), "{finished}");
    assert_eq!(status(&disks[0], "append-sync/together"), None, "it is out");
    assert_eq!(status(&disks[1], "append-sync/together"), Some("ok"));
    assert_clean(&[&disks[1]]);
}

#[test]
fn a_disk_that_hangs_is_named_and_the_others_go_on() {
    let frozen_fs = or_skip!(LoopFs::in_memory("ext4", 64));
    let (a, b) = (or_skip!(TmpFs::new("64m")), or_skip!(TmpFs::new("64m")));
    let disks = [frozen_fs.path(), a.path(), b.path()];
    let running = search("--preset disks --together -t 1s --grace 1s --file-size 16m", &disks);
    wait_for("the file", || {
        let file = run_dir(&disks[0])?.join("testfile");
        fs::metadata(file).ok().filter(|file| file.len() >= 16 << 20)
    });
    let worker = running.worker();
    let frozen = frozen_fs.freeze().unwrap();
    let finished = running.finish_within(LONG).expect(1);
    assert!(finished.stderr.contains("hang"), "{finished}");
    let table = finished.table();
    let appended = table.rows.iter().filter(|row| row.text("cell") == "append-sync/together");
    let fine: BTreeSet<_> = appended
        .filter(|row| row.text("op") == "Flush" && row.text("status") == "ok")
        .map(|row| row.text("disk").to_owned())
        .collect();
    assert!(fine.contains(label(&disks[1])) && fine.contains(label(&disks[2])), "{finished}");
    assert_clean(&[&disks[1], &disks[2]]);
    drop(frozen);
    wait_for("the end of the worker", || (!runs(worker)).then_some(()));
    assert_clean(&[&disks[0]]);
}
