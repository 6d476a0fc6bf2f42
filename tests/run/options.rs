//! What options do, seen from outside: files, counts, times.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use flate2::{Compression, write::GzEncoder};

use crate::common::tool::{
    Finished, Running, Table, assert_clean, jbodbench, label, loadfile, run_dir, run_on, temp_disk,
    wait_for, wait_for_load,
};

/// One pass of each client on a fresh directory.
#[track_caller]
fn one_pass(load: &Path, arguments: &str) -> Table {
    let disk = temp_disk();
    let arguments = format!("--passes 1 -l {} {arguments}", load.display());
    let finished = run_on(&arguments, &[disk.path()]).expect(0);
    assert_clean(&[disk.path()]);
    finished.table()
}

/// Runs and keeps the tree; returns the directory and what it holds.
#[track_caller]
fn kept(load: &Path, arguments: &str) -> (tempfile::TempDir, PathBuf) {
    let disk = temp_disk();
    run_on(&format!("--keep -l {} {arguments}", load.display()), &[disk.path()]).expect(0);
    let dir = run_dir(disk.path()).unwrap();
    (disk, dir)
}

fn try_run(arguments: &[&str]) -> Finished {
    Running::start(jbodbench(arguments)).finish()
}

#[test]
fn wrong_arguments_exit_2_and_make_nothing() {
    let disk = temp_disk();
    let path = label(disk.path());
    let before = fs::metadata(path).unwrap();
    for arguments in [
        "--nope",
        "--clients 0",
        "--clients x",
        "--time 0",
        "--time -1",
        "--time 5x",
        "--passes 0",
        "--rate 0",
        "--rate -5",
        "--rate nan",
        "--timestamps fast",
        "--timestamps 0",
        "--load-for x",
        "--load-for /nowhere=x.load",
        "--loadfile /nowhere/x.load",
        "--append",
        "--format xml",
        "--engine warp",
        "--data ones",
        "--path relative",
        "--depth 201",
        "--share everything",
        "--cpus 5-2",
        "--cpus x",
        "--interval 1ns",
        "--progress loud",
    ] {
        let mut all = vec!["run"];
        all.extend(arguments.split_whitespace());
        all.push(path);
        let finished = try_run(&all);
        assert_eq!(finished.code, 2, "{arguments}: {finished}");
        assert_eq!(finished.stdout, "", "{arguments}");
        assert!(!finished.stderr.is_empty(), "{arguments}");
        assert!(!finished.stderr.contains("panicked"), "{arguments}: {finished}");
    }
    let after = fs::metadata(path).unwrap();
    assert_eq!((before.mtime(), before.mtime_nsec()), (after.mtime(), after.mtime_nsec()));
    let out = disk.path().join("out.json");
    let json = ["run", "--append", "--format", "json", "-o", label(&out), path];
    try_run(&json).expect(2).says("CSV only");
    assert_eq!(fs::read_dir(path).unwrap().count(), 0);
    assert_eq!(try_run(&[]).code, 2);
    assert_eq!(try_run(&["fly"]).code, 2);
    assert_eq!(try_run(&["check", "/nowhere"]).code, 2);
}

#[test]
fn short_help_is_short_and_long_help_has_examples() {
    let options = |text: &str| {
        // Wrapped lines stand further right.
        let begins = |line: &&str| line.starts_with("  -") || line.starts_with("      --");
        text.lines().filter(begins).filter(|line| !line.contains("--help")).count()
    };
    let short = try_run(&["run", "-h"]).expect(0);
    let long = try_run(&["run", "--help"]).expect(0);
    assert!(options(&short.stdout) <= 15, "{}", short.stdout);
    assert!(options(&long.stdout) > options(&short.stdout));
    for help in [short, long] {
        assert!(help.stdout.contains("Examples:\n  jbodbench run "), "{}", help.stdout);
        assert_eq!(help.stderr, "");
    }
    let version = try_run(&["--version"]).expect(0);
    assert_eq!(version.stdout.trim(), format!("jbodbench {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_disk_may_have_a_load_of_its_own() {
    let (files, a, b) = (temp_disk(), temp_disk(), temp_disk());
    let common = loadfile(files.path(), "common.load", "QUERY_FS_INFORMATION 1 NT_STATUS_OK");
    let own =
        loadfile(files.path(), "own.load", "QUERY_PATH_INFORMATION \"\\clients\" 1 NT_STATUS_OK");
    let arguments = format!(
        "--passes 3 -c 2 -l {} --load-for {}={}",
        common.display(),
        b.path().display(),
        own.display()
    );
    let table = run_on(&arguments, &[a.path(), b.path()]).expect(0).table();
    let (a, b) = (label(a.path()), label(b.path()));
    let words = |disk| table.summaries(disk).map(|row| row.text("op")).collect::<Vec<_>>();
    assert_eq!(table.summary(a, "QUERY_FS_INFORMATION").int("ops"), 6);
    assert!(!words(a).contains(&"QUERY_PATH_INFORMATION"));
    assert_eq!(table.summary(b, "QUERY_PATH_INFORMATION").int("ops"), 6);
    assert!(!words(b).contains(&"QUERY_FS_INFORMATION"));
    let names = [a, b].map(|disk| table.summary(disk, "all").text("loadfile"));
    assert_eq!(names, ["common.load", "own.load"]);
    let sums = [a, b].map(|disk| table.summary(disk, "all").text("program_sha256"));
    assert!(sums[0] != sums[1] && sums.iter().all(|sum| sum.len() == 64));
}

#[test]
fn several_loads_are_dealt_to_the_clients() {
    let files = temp_disk();
    let first = loadfile(files.path(), "a.load", "QUERY_FS_INFORMATION 1 NT_STATUS_OK");
    let second = loadfile(
        files.path(),
        "b.load",
        "REPEAT 10\nQUERY_PATH_INFORMATION \"\\clients\" 1 NT_STATUS_OK",
    );
    let disk = temp_disk();
    let arguments = format!("--passes 1 -c 5 -l {},{}", first.display(), second.display());
    let table = run_on(&arguments, &[disk.path()]).expect(0).table();
    // Clients 0, 2 and 4 have the first, 1 and 3 the second.
    assert_eq!(table.ops()["QUERY_FS_INFORMATION"], 3);
    assert_eq!(table.ops()["QUERY_PATH_INFORMATION"], 2 * 10);
}

/// A gzip file is one by its first bytes.
#[test]
fn a_compressed_load_is_the_same() {
    let files = temp_disk();
    let plain = loadfile(files.path(), "a.load", "REPEAT 7\nQUERY_FS_INFORMATION 1 NT_STATUS_OK");
    let packed = files.path().join("b.load");
    let mut encoder = GzEncoder::new(fs::File::create(&packed).unwrap(), Compression::best());
    encoder.write_all(&fs::read(&plain).unwrap()).unwrap();
    encoder.finish().unwrap();
    let (plain, packed) = (one_pass(&plain, ""), one_pass(&packed, ""));
    assert_eq!(plain.ops(), packed.ops());
    assert_eq!(packed.ops()["QUERY_FS_INFORMATION"], 4 * 7);
    let hash = |table: &Table| table.of("summary")[0].text("program_sha256").to_owned();
    assert_eq!(hash(&plain), hash(&packed));
}

#[test]
fn lenient_skips_and_counts() {
    let files = temp_disk();
    let load = loadfile(
        files.path(),
        "bad.load",
        "Fly \"\\moon\" NT_STATUS_OK\nQUERY_FS_INFORMATION 1 NT_STATUS_OK\nFlush",
    );
    let disk = temp_disk();
    let arguments = format!("--passes 1 -c 1 -l {}", load.display());
    let finished = run_on(&arguments, &[disk.path()]).expect(2);
    finished.says("bad.load:4:1:");
    finished.says("bad.load:6:");
    let finished = run_on(&format!("--lenient {arguments}"), &[disk.path()]).expect(0);
    finished.says("2 bad lines skipped");
    assert_eq!(finished.table().ops()["QUERY_FS_INFORMATION"], 1);
}

/// Words of later versions are read, and refused.
#[test]
fn reserved_words_are_refused() {
    let files = temp_disk();
    let load = loadfile(files.path(), "p.load", "PHASE one\nQUERY_FS_INFORMATION 1 NT_STATUS_OK");
    let disk = temp_disk();
    let finished = run_on(&format!("-l {}", load.display()), &[disk.path()]).expect(2);
    finished.says("p.load:4: PHASE");
}

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

/// The same seed makes the same choices.
#[test]
fn a_seed_repeats_the_choices() {
    let files = temp_disk();
    let load = loadfile(
        files.path(),
        "random.load",
        "NTCreateX \"\\clients\\client1\\a\" 0x40 2 7 NT_STATUS_OK\nLOOP 20\n\
         WriteX 7 0 *%65536 0 NT_STATUS_OK\nENDLOOP\nClose 7 NT_STATUS_OK",
    );
    let bytes = |seed: u64| {
        let table = one_pass(&load, &format!("-c 2 --seed {seed}"));
        (table.ops(), table.summary("all", "WriteX").int("bytes"))
    };
    let (five, again, six) = (bytes(5), bytes(5), bytes(6));
    assert_eq!(five, again);
    assert_eq!(five.0, six.0);
    assert_ne!(five.1, six.1);
    // 40 numbers below 65536: their mean is near the middle, 10 standard deviations allowed.
    let mean = five.1 as f64 / 40.0;
    assert!((32_768.0 - mean).abs() < 10.0 * 18_918.0 / 40.0_f64.sqrt(), "{mean}");
}

const WRITES: &str = "NTCreateX \"\\clients\\client1\\a\" 0x40 2 7 NT_STATUS_OK\n\
    WriteX 7 0 65536 65536 NT_STATUS_OK\nWriteX 7 65536 65536 65536 NT_STATUS_OK\n\
    Close 7 NT_STATUS_OK";

#[test]
fn written_data_neither_compresses_nor_repeats() {
    let files = temp_disk();
    let load = loadfile(files.path(), "w.load", WRITES);
    let read = |arguments: &str| {
        let (_disk, dir) = kept(&load, &format!("-c 2 {arguments}"));
        [0, 1].map(|client| fs::read(dir.join(format!("clients/client{client}/a"))).unwrap())
    };
    let once = read("--passes 1");
    let twice = read("--passes 2");
    let mut blocks = std::collections::BTreeSet::new();
    for file in once.iter().chain(&twice) {
        assert_eq!(file.len(), 131_072);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(file).unwrap();
        let packed = encoder.finish().unwrap().len();
        assert!(packed * 100 > file.len() * 95, "{packed} of {}", file.len());
        for block in file.chunks(4096) {
            assert!(blocks.insert(block.to_vec()), "a block that was written before");
        }
    }
    // The same seed, the same bytes; another one, others.
    assert!(read("--passes 1") == once);
    assert!(read("--passes 1 --seed 2") != once);

    for file in read("--passes 1 --data zero") {
        assert_eq!(file.len(), 131_072);
        assert!(file.iter().all(|byte| *byte == 0));
    }
}

/// WRITEPATTERN fills with its text and a line end, over and over.
#[test]
fn a_pattern_is_written_as_it_stands() {
    let files = temp_disk();
    let load = loadfile(files.path(), "w.load", &format!("WRITEPATTERN two words\n{WRITES}"));
    let (_disk, dir) = kept(&load, "-c 1 --passes 1");
    let file = fs::read(dir.join("clients/client0/a")).unwrap();
    let pattern = b"two words\n";
    assert!(file[..65_536].iter().zip(pattern.iter().cycle()).all(|(a, b)| a == b));
    assert!(file[..65_536] == file[65_536..]);
}

/// RANDOMSTRING and `+child` in a path: files that the text allows, and no others.
#[test]
fn strings_and_numbers_in_paths() {
    let files = temp_disk();
    let load = loadfile(
        files.path(),
        "s.load",
        "RANDOMSTRING 1 \"n[ab]\"\nNTCreateX \"\\clients\\client1\\$1\" 0x40 2 7 NT_STATUS_OK\n\
         WriteX 7 +child 1 1 NT_STATUS_OK\nClose 7 NT_STATUS_OK",
    );
    let (_disk, dir) = kept(&load, "-c 4 --passes 1");
    for client in 0..4_u64 {
        let dir = dir.join(format!("clients/client{client}"));
        let files: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap()).collect();
        assert_eq!(files.len(), 1);
        assert!(["na", "nb"].contains(&files[0].file_name().to_str().unwrap()));
        assert_eq!(files[0].metadata().unwrap().len(), client + 1);
    }
}

#[test]
fn depth_puts_directories_above_the_clients() {
    let files = temp_disk();
    let load = loadfile(files.path(), "w.load", WRITES);
    for (depth, path) in [(0, "absolute"), (3, "absolute"), (3, "cwd"), (3, "dirfd")] {
        let arguments = format!("-c 1 --passes 1 --depth {depth} --path {path}");
        let (_disk, dir) = kept(&load, &arguments);
        let mut below = dir;
        for _ in 0..depth {
            assert!(!below.join("clients").exists());
            let dirs = fs::read_dir(&below).unwrap().map(|entry| entry.unwrap().path());
            let dirs: Vec<_> = dirs.filter(|path| path.is_dir()).collect();
            assert_eq!(dirs.len(), 1);
            below = dirs[0].clone();
        }
        assert_eq!(fs::metadata(below.join("clients/client0/a")).unwrap().len(), 131_072);
    }
}

/// Client threads have descriptor tables of their own, or one for the disk with `--share fd`.
#[test]
fn a_descriptor_table_can_be_shared() {
    let files = temp_disk();
    let load = loadfile(
        files.path(),
        "open.load",
        "NTCreateX \"\\clients\\client1\\a\" 0x40 2 7 NT_STATUS_OK\nSleep 600000000 NT_STATUS_OK",
    );
    for (share, open) in [("", 1), ("--share fd", 3), ("--share cred,fd,fs", 3)] {
        let disk = temp_disk();
        let mut command = jbodbench(["run", "-c", "3", "-t", "10m", "--warmup", "0"]);
        command
            .args(["--engine", "sync", "-l"])
            .arg(&load)
            .args(share.split_whitespace())
            .arg(disk.path());
        let running = Running::start(command);
        wait_for_load(disk.path());
        let worker = running.worker();
        let open_files = || -> Option<Vec<usize>> {
            let mut counts = Vec::new();
            for task in fs::read_dir(format!("/proc/{worker}/task")).ok()?.flatten() {
                if !fs::read_to_string(task.path().join("comm")).ok()?.starts_with("disk0-t") {
                    continue;
                }
                let links = fs::read_dir(task.path().join("fd")).ok()?.flatten();
                let links = links.filter_map(|file| fs::read_link(file.path()).ok());
                counts.push(links.filter(|path| path.starts_with(disk.path())).count());
            }
            Some(counts)
        };
        wait_for(share, || (open_files()? == vec![open; 3]).then_some(()));
        running.signal(rustix::process::Signal::TERM);
        let finished = running.finish().expect(143);
        let word = if share.is_empty() { "none" } else { &share[8..] };
        assert_eq!(finished.table().summary("all", "all").text("share"), word);
        assert_clean(&[disk.path()]);
    }
}

/// The affinity of client threads is what was asked for.
#[test]
fn clients_stay_on_their_cpus() {
    let disk = temp_disk();
    let mut command = jbodbench(["run", "-t", "10m", "-c", "2", "--cpus", "0"]);
    command.arg(disk.path());
    let running = Running::start(command);
    wait_for_load(disk.path());
    let worker = running.worker();
    let mut clients = 0;
    for task in fs::read_dir(format!("/proc/{worker}/task")).unwrap().flatten() {
        if fs::read_to_string(task.path().join("comm")).unwrap().starts_with("disk0-t") {
            let status = fs::read_to_string(task.path().join("status")).unwrap();
            let cpus = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).unwrap();
            assert_eq!(cpus.trim(), "0");
            clients += 1;
        }
    }
    assert_eq!(clients, 2);
    running.signal(rustix::process::Signal::INT);
    running.finish().expect(130);
}
