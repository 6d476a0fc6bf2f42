//! Small loadfiles that break dbench, through the real binary: what `tests/cases` holds must come
//! out as it ought to. Numbers in comments are those of docs/loadfile.md.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::tool::{
    BINARY, Finished, Running, Table, assert_clean, jbodbench, label, run_dir, run_on, temp_disk,
    wait_for, wait_for_load,
};
use common::{TmpFs, or_skip, skip};

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(format!("{name}.load"))
}

/// Runs a case on an empty directory, which must be empty again afterwards.
#[track_caller]
fn play(name: &str, arguments: &str) -> Finished {
    let disk = temp_disk();
    let finished = run_on(&format!("-l {} {arguments}", case(name).display()), &[disk.path()]);
    assert!(!finished.stderr.contains("panicked"), "{finished}");
    assert_clean(&[disk.path()]);
    finished
}

/// One pass of one client, which must go well.
#[track_caller]
fn one_pass(name: &str) -> Table {
    let table = play(name, "--passes 1 -c 1").expect(0).table();
    assert_eq!(table.errors(), BTreeMap::new());
    assert_eq!(table.summary("all", "all").text("status"), "ok");
    table
}

/// Operations of a file that has neither loops nor anything else but operations.
fn lines_by_word(name: &str) -> BTreeMap<String, u64> {
    let mut words = BTreeMap::new();
    for line in fs::read_to_string(case(name)).unwrap().lines() {
        if let Some(word) = line.split_whitespace().next().filter(|word| *word != "Sleep") {
            *words.entry(word.to_owned()).or_default() += 1;
        }
    }
    words
}

#[test]
fn every_operation_runs() {
    for name in ["all4", "all5"] {
        let table = one_pass(name);
        assert_eq!(table.ops(), lines_by_word(name), "{name}");
        assert_eq!(table.ops().len(), 17, "every operation is in {name}");
    }
}

#[test]
fn crlf_and_a_missing_last_line_end_change_nothing() {
    for name in ["crlf", "nonl"] {
        assert_eq!(one_pass(name).ops(), lines_by_word(name), "{name}");
    }
}

/// F20: a run of less than a second has a rate.
#[test]
fn a_short_run_has_a_rate() {
    let table = one_pass("one");
    let write = table.summary("all", "WriteX");
    assert_eq!((write.int("ops"), write.int("bytes")), (1, 65536));
    for row in table.summaries("all") {
        assert!(row.float("ops_per_s") > 0.0, "{}", row.text("op"));
    }
    assert!(write.float("bytes_per_s") > 0.0);
}

/// F21: a load without bytes ends.
#[test]
fn a_load_without_bytes_ends() {
    let table = play("meta4", "-t 300ms --warmup 0").expect(0).table();
    let all = table.summary("all", "all");
    assert!(all.float("ops_per_s") > 0.0);
    assert_eq!(all.int("bytes"), 0);
}

/// Pauses end with the run, and are latency of no operation.
#[test]
fn a_pause_ends_with_the_run() {
    for name in ["slow", "slow4"] {
        let table = play(name, "-t 500ms --warmup 0 -c 1").expect(0).table();
        let write = table.summary("all", "WriteX");
        // A pass has a pause of 50 ms: 10 fit, and one more may have begun.
        assert!((1..=11).contains(&write.int("ops")), "{write:?}");
        assert!(write.float("lat_mean_us") < 50_000.0, "{write:?}");
        assert!(table.summary("all", "all").float("duration_s") >= 0.5);
    }
    let dir = temp_disk();
    for pause in ["SLEEP 600000000", "Sleep 600000000 NT_STATUS_OK"] {
        let load = common::tool::loadfile(dir.path(), "long.load", pause);
        // The deadline of the helper is a minute, the pause takes ten.
        let disk = temp_disk();
        let arguments = format!("-t 300ms --warmup 0 -l {}", load.display());
        run_on(&arguments, &[disk.path()]).expect(0);
    }
}

/// P1, P2: two rounds, and the line after them.
#[test]
fn loops_end_and_keep_the_next_line() {
    let ops = one_pass("endloop").ops();
    assert_eq!((ops["QUERY_FS_INFORMATION"], ops["NTCreateX"], ops["Close"]), (2, 2, 2));
    assert_eq!(one_pass("endloop2").ops()["QUERY_FS_INFORMATION"], 2);
}

/// P3.
#[test]
fn loops_nest() {
    assert_eq!(one_pass("nested").ops()["QUERY_FS_INFORMATION"], 6);
}

/// P5.
#[test]
fn repeat_applies_to_the_next_operation() {
    assert_eq!(one_pass("rep1").ops()["QUERY_FS_INFORMATION"], 3);
}

/// P5, P8, P9 and old dialects: mistakes are found before the run.
#[test]
fn mistakes_have_a_place_and_make_nothing() {
    for (name, place) in [
        ("rep2", ":5:1:"),
        ("wpempty", ":4:13:"),
        // The bracket stands in column 18: RANDOMSTRING 1 "x[
        ("rsunb", ":4:18:"),
        ("rsempty", ":4:18:"),
        ("v1", ":1:1:"),
    ] {
        let disk = temp_disk();
        let before = fs::metadata(disk.path()).unwrap().mtime_nsec();
        let arguments = format!("-l {} -t 300ms", case(name).display());
        let finished = run_on(&arguments, &[disk.path()]).expect(2);
        finished.says(&format!("{name}.load{place}"));
        assert_eq!(finished.stdout, "", "{name}");
        assert_eq!(fs::metadata(disk.path()).unwrap().mtime_nsec(), before, "{name}");
    }
    play("v1", "").expect(2).says("dbench 1");
}

/// P7.
#[test]
fn a_wait_that_never_comes_true_ends_in_time_and_is_told() {
    let finished = play("waitsp", "-t 500ms --warmup 0 -c 2").expect(0);
    for client in 0..2 {
        finished.says(&format!("client {client} waited"));
    }
    finished.says("line 4 (WAITSP), for client 0 to reach 1");
}

/// P16: an unquoted path is what it says.
#[test]
fn an_unquoted_path_keeps_its_slashes() {
    let table = play("unq", "--passes 1 -c 1").expect(1).table();
    assert_eq!(table.errors(), BTreeMap::from([(("Unlink".into(), "ENOENT".into()), 1)]));
    let errors = table.of("error");
    let sample = errors.iter().find(|row| row.text("status") == "sample").unwrap();
    assert!(sample.text("path").ends_with("/clients/client0/zz"), "{sample:?}");
    assert_eq!((sample.int("line"), sample.int("client")), (4, 0));
}

/// F3: offsets have 64 bits. The files are sparse.
#[test]
fn offsets_beyond_two_and_four_gibibytes() {
    for (name, size) in [("big", (2_u64 << 30) + 1), ("big4", (4_u64 << 30) + 1)] {
        let disk = temp_disk();
        let arguments = format!("--keep --passes 1 -c 1 -l {}", case(name).display());
        run_on(&arguments, &[disk.path()]).expect(0);
        let file = run_dir(disk.path()).unwrap().join("clients/client0/a");
        let meta = fs::metadata(file).unwrap();
        assert_eq!(meta.len(), size);
        assert!(meta.blocks() * 512 < 1 << 20, "{} is not sparse", meta.blocks());
    }
}

/// Whether a file is one of max.load's: f1 to f201.
fn is_numbered(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.strip_prefix('f').is_some_and(|number| number.parse::<u32>().is_ok())
}

/// F11: as many files as the loadfile wants, closed at the end of each pass.
#[test]
fn two_hundred_files_are_open_at_once() {
    let disk = temp_disk();
    let mut text = fs::read_to_string(case("max")).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains("\\f")).count(), 201);
    text.push_str("\nSleep 600000000 NT_STATUS_OK\n");
    let load = disk.path().join("max-then-sleep.load");
    fs::write(&load, text).unwrap();
    let mut command = jbodbench(["run", "-c", "1", "-t", "10m", "--warmup", "0", "-l"]);
    command.arg(&load).arg(disk.path());
    let running = Running::start(command);
    wait_for_load(disk.path());
    let worker = running.worker();
    wait_for("201 open files", || {
        let tasks = fs::read_dir(format!("/proc/{worker}/task")).ok()?;
        let open = |task: fs::DirEntry| {
            let files = fs::read_dir(task.path().join("fd")).ok()?.flatten();
            let links = files.filter_map(|file| fs::read_link(file.path()).ok());
            Some(links.filter(|link| is_numbered(link)).count())
        };
        (tasks.flatten().filter_map(open).max() == Some(201)).then_some(())
    });
    running.signal(rustix::process::Signal::INT);
    running.finish().expect(130);

    // Three passes with room for 201 files and few more.
    let shell = format!(
        "ulimit -n 250; exec {BINARY} run -c 2 --passes 3 -l {} {}",
        case("max").display(),
        disk.path().display()
    );
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &shell]);
    let table = Running::start(command).finish().expect(0).table();
    // By 2 clients in 3 passes: 201 files and the directory.
    assert_eq!(table.ops()["NTCreateX"], 2 * 3 * 202);
    assert_clean(&[disk.path()]);
}

/// F7, F8: what misses its status is counted by what was wrong, and the rest runs.
#[test]
fn errors_are_counted_by_what_was_wrong() {
    let finished = play("errs", "--passes 1 -c 1").expect(1);
    let table = finished.table();
    let count = |op: &str, errno: &str| ((op.to_owned(), errno.to_owned()), 1);
    let expected = BTreeMap::from([
        count("ReadX", "SHORT"),
        count("NTCreateX", "ENOENT"),
        count("NTCreateX", "SUCCEEDED"),
    ]);
    assert_eq!(table.errors(), expected);
    assert_eq!(table.ops(), lines_by_word("errs"));
    let all = table.summary("all", "all");
    assert_eq!((all.int("errors"), all.int("skipped"), all.int("bytes")), (3, 0, 0));
    let samples: Vec<u64> = table
        .of("error")
        .iter()
        .filter(|row| row.text("status") == "sample")
        .map(|row| row.int("line"))
        .collect();
    assert_eq!(samples, [5, 6, 7]);
}

/// F6: a full disk ends neither the run nor the other disk.
#[test]
fn a_full_disk_is_told_before_and_counted_after() {
    let full = or_skip!(TmpFs::new("1m"));
    let roomy = or_skip!(TmpFs::new("64m"));
    let (full, roomy) = (full.path(), roomy.path());
    let arguments = format!("-c 2 -t 500ms --warmup 0 -l {}", case("nospc").display());
    let finished = run_on(&arguments, &[&full, &roomy]).expect(1);
    let warning = finished.stderr.find(&format!("warning: {}", full.display()));
    let start = finished.stderr.find("2 disks, 2 clients each");
    assert!(warning.unwrap() < start.unwrap(), "{finished}");
    assert!(!finished.stderr.contains(&format!("warning: {}", roomy.display())), "{finished}");

    let table = finished.table();
    let (bad, good) = (table.summary(label(&full), "all"), table.summary(label(&roomy), "all"));
    assert_eq!((bad.text("status"), good.text("status")), ("enospc", "ok"));
    assert_eq!((good.int("errors"), good.int("skipped")), (0, 0));
    assert!(good.int("ops") > 0);
    let errors = table.errors();
    let keys: Vec<_> = errors.keys().map(|(op, errno)| (op.as_str(), errno.as_str())).collect();
    // A write that fills the last free pages is short, the next finds none.
    assert!(keys.contains(&("WriteX", "ENOSPC")), "{errors:?}");
    assert!(keys.iter().all(|(op, _)| *op == "WriteX"), "{errors:?}");
    assert_eq!(errors.values().sum::<u64>(), bad.int("errors"));
    for disk in [label(&full), label(&roomy), "all"] {
        let words: Vec<_> = table.summaries(disk).map(|row| row.text("op").to_owned()).collect();
        for word in lines_by_word("nospc").keys() {
            assert!(words.contains(word), "{disk} has no row for {word}");
        }
    }
    for word in ["enospc", "ENOSPC", "WriteX"] {
        finished.says(word);
    }
    assert_clean(&[&full, &roomy]);
}

/// F1, F2: Deltree stays within its tree and removes all of it. What it finds is put there while
/// it runs, since a loadfile cannot make links.
#[test]
fn deltree_removes_links_and_directories_and_nothing_else() {
    for name in ["del", "del4"] {
        let (disk, elsewhere) = (temp_disk(), temp_disk());
        let kept = elsewhere.path().join("kept");
        fs::write(&kept, "precious").unwrap();
        let mut command = jbodbench(["run", "-c", "1", "-t", "10m", "--warmup", "0", "-l"]);
        command.arg(case(name)).arg(disk.path());
        let running = Running::start(command);
        let root = wait_for("the run directory", || {
            run_dir(disk.path()).filter(|dir| dir.join(".jbodbench-run").exists())
        });
        let client = root.join("clients/client0");
        // Deltree may come in between, so a tree is made aside and moved to its place.
        let tree = root.join("prepared");
        fs::create_dir_all(tree.join("a/b/c")).unwrap();
        fs::write(tree.join("a/b/file"), "x").unwrap();
        symlink(elsewhere.path(), tree.join("x")).unwrap();
        symlink(&kept, tree.join("a/y")).unwrap();
        symlink("..", tree.join("a/b/up")).unwrap();
        fs::create_dir_all(root.join("clients")).unwrap();
        fs::rename(&tree, &client).unwrap();
        wait_for("Deltree", || (!client.exists()).then_some(()));
        assert!(fs::symlink_metadata(&client).is_err());
        assert_eq!(fs::read_to_string(&kept).unwrap(), "precious");

        // The clean-up of the run itself: links in places that no Deltree visits.
        symlink(elsewhere.path(), root.join("clients/x")).unwrap();
        symlink(elsewhere.path(), root.join("x")).unwrap();
        running.signal(rustix::process::Signal::INT);
        let finished = running.finish_within(Duration::from_secs(30)).expect(130);
        assert_eq!(finished.table().errors(), BTreeMap::new());
        assert_clean(&[disk.path()]);
        assert_eq!(fs::read_to_string(&kept).unwrap(), "precious");
    }
}
