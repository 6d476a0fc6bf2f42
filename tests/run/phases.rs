//! PHASE: a barrier of all clients of all disks, and rows of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::calls::need_strace;
use crate::common::tool::{
    BINARY, Row, Running, Table, assert_clean, jbodbench, label, loadfile, run_on, temp_disk,
    wait_for_load,
};
use crate::common::{LoopFs, TmpFs, or_skip, skip};

/// The row of a phase, of a disk (or `all`) and an operation (or `all`).
#[track_caller]
fn phase<'t>(table: &'t Table, disk: &str, name: &str, op: &str) -> &'t Row {
    let is =
        |row: &&&Row| (row.text("disk"), row.text("phase"), row.text("op")) == (disk, name, op);
    let rows = table.of("phase");
    let rows: Vec<_> = rows.iter().filter(is).collect();
    assert_eq!(rows.len(), 1, "rows of phase {name} of {disk} {op}");
    rows[0]
}

/// Two loads with the phases one and two: the clients of the first one sleep in phase one.
fn slow_and_fast(dir: &Path, sleep_us: u64) -> String {
    let one = "access \"/clients/client1/one\" F_OK ENOENT\nPHASE two\nREPEAT 10\n\
               stat \"/clients/client1/two\" ENOENT";
    let slow = loadfile(dir, "slow.load", &format!("PHASE one\nSLEEP {sleep_us}\n{one}"));
    let fast = loadfile(dir, "fast.load", &format!("PHASE one\n{one}"));
    format!("{},{}", slow.display(), fast.display())
}

/// 2 clients a disk, 3 passes; in each the slow one does nothing for 100 ms.
#[test]
fn phases_have_rows_of_their_own() {
    let (files, disks) = (temp_disk(), [temp_disk(), temp_disk()]);
    let loads = slow_and_fast(files.path(), 100_000);
    for engine in ["sync", "hybrid --threads-per-disk 1", "uring --threads-per-disk 1"] {
        let arguments = format!("-l {loads} -c 2 --passes 3 --engine {engine}");
        let paths = disks.each_ref().map(|disk| disk.path());
        let finished = run_on(&arguments, &paths).expect(0);
        let table = finished.table();
        for (disk, clients) in [(label(paths[0]), 2), (label(paths[1]), 2), ("all", 4)] {
            let (one, two) = (phase(&table, disk, "one", "all"), phase(&table, disk, "two", "all"));
            let counts = |row: &Row| (row.int("repeats"), row.int("ops"), row.int("errors"));
            assert_eq!(counts(one), (3, 3 * clients, 0), "{engine} {disk}");
            assert_eq!(counts(two), (3, 30 * clients, 0), "{engine} {disk}");
            assert_eq!(phase(&table, disk, "two", "stat").int("ops"), 30 * clients);
            for row in [one, two] {
                let (time, rate) = (row.float("window_s"), row.float("ops_per_s"));
                assert!((rate * time / row.float("ops") - 1.0).abs() < 1e-4, "{engine} {disk}");
                assert!(row.float("ops_per_s_sd") >= 0.0 && row.float("lat_mean_us") > 0.0);
            }
            // The mean of three rates of 1 / (100 ms and a little) a client.
            assert!(one.float("window_s") >= 0.3, "{engine} {disk}: {}", one.float("window_s"));
            assert!(one.float("ops_per_s_mean") <= 10.0 * clients as f64);
            // The other half of the clients waited for most of that.
            let waited = one.float("barrier_wait_s");
            let most = one.float("window_s") * clients as f64 / 2.0;
            assert!(waited > 0.1 && waited < most * 1.05 + 0.1, "{engine} {disk}: {waited}");
        }
        // Three lines above the first PHASE are in no phase: Mkdir, NTCreateX, Close.
        let all = table.summary("all", "all");
        assert_eq!((all.int("ops"), all.int("passes")), (4 * 3 * (3 + 1 + 10), 12));
        assert!(
            !table.rows.iter().any(|row| row.text("row") == "phase" && row.text("op") == "Mkdir")
        );
        finished.says("phase  repeats");
        assert_clean(&paths);
    }
}

/// As strace sees it: no call of phase two before the last one of phase one, on any disk.
#[test]
fn nobody_is_ahead() {
    or_skip!(need_strace());
    let (files, disks) = (temp_disk(), [temp_disk(), temp_disk()]);
    let loads = slow_and_fast(files.path(), 100_000);
    for engine in ["sync", "hybrid", "uring"] {
        let log = files.path().join("log");
        let mut command = Command::new("strace");
        // The ring's calls are not seen by strace: there these few are made at once, all the same.
        command.args(["-f", "-ttt", "-qq", "-o"]).arg(&log);
        command.args(["-e", "trace=access,faccessat,stat,newfstatat,statx"]);
        command.args([BINARY, "run", "-c", "2", "--passes", "1", "--engine", engine, "-l", &loads]);
        command.args(disks.each_ref().map(|disk| disk.path()));
        Running::start(command).finish().expect(0);
        let text = fs::read_to_string(&log).unwrap();
        let times = |name: &str| -> Vec<f64> {
            let ours = text.lines().filter(|line| line.contains(name));
            ours.map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap()).collect()
        };
        // R of NTCreateX and the like names neither.
        let (one, two) = (times("/one\""), times("/two\""));
        let last_of_one = one.iter().copied().fold(0.0, f64::max);
        let first_of_one = one.iter().copied().fold(f64::MAX, f64::min);
        assert_eq!(one.len(), 4, "{engine}: {text}");
        assert!(last_of_one - first_of_one >= 0.09, "{engine}: the slow ones slept");
        if engine != "uring" {
            assert_eq!(two.len(), 40, "{engine}");
        }
        assert!(two.iter().all(|time| *time > last_of_one), "{engine}: {text}");
    }
}

/// What does not end within the window does not count; and the window ends a wait.
#[test]
fn the_time_limit_ends_a_phase() {
    let (files, disk) = (temp_disk(), temp_disk());
    let loads = slow_and_fast(files.path(), 600_000_000);
    for engine in ["sync", "hybrid --threads-per-disk 1", "uring --threads-per-disk 1"] {
        let started = Instant::now();
        let arguments = format!("-l {loads} -c 2 -t 500ms --warmup 0 --engine {engine}");
        let finished = run_on(&arguments, &[disk.path()]).expect(0);
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
        let table = finished.table();
        // The fast client's one operation was made, but the phase was not over.
        assert_eq!(table.ops()["access"], 1);
        let row = phase(&table, "all", "one", "all");
        assert_eq!((row.int("repeats"), row.int("ops"), row.text("ops_per_s")), (0, 0, ""));
        finished.says("never run whole within the window: phase one, two");
    }
}

/// Passes of the warm-up count for nothing, and all clients agree on which ones these are.
#[test]
fn clients_agree_on_their_passes() {
    let (files, disk) = (temp_disk(), temp_disk());
    let loads = slow_and_fast(files.path(), 2_000);
    for engine in ["sync", "hybrid --threads-per-disk 1"] {
        let arguments = format!("-l {loads} -c 4 --passes 5 --warmup 200ms --engine {engine}");
        let table = run_on(&arguments, &[disk.path()]).expect(0).table();
        let all = table.summary("all", "all");
        assert_eq!(all.int("passes"), 4 * 5);
        // The pass that the window opened in may have had phases in it.
        let repeats = ["one", "two"].map(|name| phase(&table, "all", name, "all").int("repeats"));
        assert!(repeats.iter().all(|n| (5..=6).contains(n)), "{engine}: {repeats:?}");
    }
}

/// Writes a file anew in each phase, and stores it.
fn writing(dir: &Path, bytes: u64) -> PathBuf {
    let write = format!(
        "NTCreateX \"/clients/client1/f\" 0x40 5 1 NT_STATUS_OK\nREPEAT 16\n\
         WriteX 1 +{0} {0} {0} NT_STATUS_OK\nFlush 1 NT_STATUS_OK\nClose 1 NT_STATUS_OK",
        bytes / 16
    );
    loadfile(dir, "w.load", &format!("PHASE first\n{write}\nPHASE second\nSLEEP 1000\n{write}"))
}

#[test]
fn a_frozen_disk_is_not_waited_for() {
    let frozen_fs = or_skip!(LoopFs::in_memory("ext4", 64));
    let good_fs = or_skip!(TmpFs::new("64m"));
    let (hung, good) = (frozen_fs.path(), good_fs.path());
    let files = temp_disk();
    for engine in ["sync", "hybrid"] {
        let mut command =
            jbodbench(["run", "-c", "2", "-t", "6s", "--grace", "1s", "--warmup", "0"]);
        command.args(["--engine", engine, "-l"]).arg(writing(files.path(), 65_536));
        command.args([&hung, &good]);
        let running = Running::start(command);
        wait_for_load(&hung);
        std::thread::sleep(Duration::from_millis(300));
        let frozen = frozen_fs.freeze().unwrap();
        let finished = running.finish().expect(1);
        drop(frozen);
        finished.says("the others do not wait for it any more");
        let table = finished.table();
        let status = |disk: &Path| table.summary(label(disk), "all").text("status").to_owned();
        assert_eq!((status(&hung), status(&good)), ("hung".into(), "ok".into()), "{engine}");
        let repeats = |disk: &Path| phase(&table, label(disk), "first", "all").int("repeats");
        assert!(repeats(&good) > repeats(&hung), "{engine}: {} {}", repeats(&good), repeats(&hung));
        let row = phase(&table, label(&good), "first", "WriteX");
        assert_eq!(row.int("bytes"), 2 * 65_536 * row.int("repeats"), "{engine}");
        crate::common::tool::wait_for("the run directory to go", || {
            crate::common::tool::run_dir(&hung).is_none().then_some(())
        });
    }
}

/// Nor is one that is full; what the other one counts is whole.
#[test]
fn a_full_disk_is_not_waited_for() {
    let (full_fs, good_fs) = (or_skip!(TmpFs::new("128k")), or_skip!(TmpFs::new("64m")));
    let (full, good) = (full_fs.path(), good_fs.path());
    let load = temp_disk();
    let arguments = format!("-l {} -c 2 --passes 20", writing(load.path(), 1 << 20).display());
    let finished = run_on(&arguments, &[&full, &good]).expect(1);
    let table = finished.table();
    assert_eq!(table.summary(label(&full), "all").text("status"), "enospc");
    let row = phase(&table, label(&good), "second", "WriteX");
    assert_eq!((row.int("repeats"), row.int("bytes")), (20, 20 * 2 * (1 << 20)));
    assert_eq!(phase(&table, label(&full), "second", "all").int("repeats"), 0);
    finished.says("since it failed the other disks did not wait for it");
    assert_clean(&[&full, &good]);
}

#[test]
fn loads_of_a_run_have_the_same_phases() {
    let (files, disk) = (temp_disk(), temp_disk());
    let look = "QUERY_FS_INFORMATION 1 NT_STATUS_OK";
    let ab = loadfile(files.path(), "ab.load", &format!("PHASE a\n{look}\nPHASE b\n{look}"));
    let ba = loadfile(files.path(), "ba.load", &format!("PHASE b\n{look}\nPHASE a\n{look}"));
    let none = loadfile(files.path(), "none.load", look);
    let refused = |loads: [&PathBuf; 2], says: [&str; 2]| {
        let loads = loads.map(|load| load.display().to_string()).join(",");
        let finished = run_on(&format!("-c 2 --passes 1 -l {loads}"), &[disk.path()]).expect(2);
        says.iter().for_each(|text| finished.says(text));
        assert_clean(&[disk.path()]);
    };
    refused([&ab, &ba], ["ab.load has a, b", "ba.load has b, a"]);
    refused([&none, &ab], ["none.load has no PHASE", "ab.load has a, b"]);
    let arguments = format!("-c 2 --passes 1 -l {},{}", ab.display(), ab.display());
    run_on(&arguments, &[disk.path()]).expect(0);
}

/// What tiotest does, by its options: 16 MiB in blocks of 4 KiB, 1000 random blocks, and in each phase
/// one open, ftruncate, fsync and close.
#[test]
fn tiobench_has_its_four_phases() {
    let disk = or_skip!(TmpFs::new("128m"));
    for engine in ["sync --share fd", "hybrid --threads-per-disk 1", "uring --threads-per-disk 1"] {
        let arguments = format!("-l tiobench --data zero -c 2 --passes 2 --engine {engine}");
        let table = run_on(&arguments, &[&disk.path()]).expect(0).table();
        for (name, op, blocks) in [
            ("seqwrite", "WriteX", 4096),
            ("randwrite", "WriteX", 1000),
            ("seqread", "ReadX", 4096),
            ("randread", "ReadX", 1000),
        ] {
            let row = phase(&table, "all", name, op);
            assert_eq!(
                (row.int("repeats"), row.int("ops")),
                (2, 2 * 2 * blocks),
                "{engine} {name}"
            );
            assert_eq!(row.int("bytes"), 2 * 2 * blocks * 4096, "{engine} {name}");
            let all = phase(&table, "all", name, "all");
            assert_eq!(all.int("ops"), 2 * 2 * (blocks + 4), "{engine} {name}");
            assert!(all.float("bytes_per_s_mean") > 0.0 && all.float("bytes_per_s_sd") >= 0.0);
        }
        assert_eq!(table.summary("all", "all").int("skipped"), 0);
    }
    assert_clean(&[&disk.path()]);
}

/// Other commands read results with such rows.
#[test]
fn a_phase_can_be_compared() {
    let (files, disk) = (temp_disk(), temp_disk());
    let loads = slow_and_fast(files.path(), 1000);
    let files = ["a.csv", "b.csv"].map(|name| files.path().join(name));
    for file in &files {
        let out = format!("-l {loads} -c 2 --passes 3 -o {}", file.display());
        run_on(&out, &[disk.path()]).expect(0);
    }
    let compare = |metric: &str| {
        let mut command = jbodbench(["compare", "--format", "csv", "--metric", metric]);
        command.args(&files);
        Running::start(command).finish()
    };
    let finished = compare("ops_per_s:phase=one");
    assert!(![2, 3].contains(&finished.code), "{finished}");
    let rates = files
        .each_ref()
        .map(|file| phase(&Table::read(file), "all", "one", "all").float("ops_per_s"));
    let mut rows = csv::Reader::from_reader(finished.stdout.as_bytes());
    let header = rows.headers().unwrap().clone();
    let row = rows.records().next().unwrap().unwrap();
    let cell = |name: &str| &row[header.iter().position(|column| column == name).unwrap()];
    assert_eq!(cell("metric"), "ops_per_s:phase=one");
    for (name, rate) in ["a_value", "b_value"].into_iter().zip(rates) {
        assert!((cell(name).parse::<f64>().unwrap() / rate - 1.0).abs() < 1e-4, "{finished}");
    }
    compare("ops_per_s:phase=none").expect(2).says("phase=none");
    let mut report = jbodbench(["report"]);
    report.arg(&files[0]).arg("-o").arg(files[0].with_extension("html"));
    Running::start(report).finish().expect(0);
}
