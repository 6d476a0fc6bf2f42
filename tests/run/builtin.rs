//! Built-in loads by their names, and PREPARE.

use std::fs;
use std::process::Command;

use crate::common::tool::{Finished, Running, assert_clean, jbodbench, label, run_on, temp_disk};
use crate::common::{LoopFs, TmpFs, or_skip, skip};

/// Runs in a directory, and on a disk.
fn run_in(cwd: &std::path::Path, arguments: &str, disk: &std::path::Path) -> Finished {
    let mut command = jbodbench(["run"]);
    command.args(arguments.split_whitespace()).arg(disk).current_dir(cwd);
    Running::start(command).finish()
}

#[test]
fn a_built_in_load_is_found_by_its_name() {
    let (cwd, disk) = (temp_disk(), or_skip!(TmpFs::new("256m")));
    let arguments = "-l randread -c 2 --passes 1";
    for engine in ["sync", "hybrid", "uring"] {
        let arguments = format!("{arguments} --engine {engine} --threads-per-disk 1");
        let arguments = arguments.replace("--engine sync --threads-per-disk 1", "--engine sync");
        let table = run_in(cwd.path(), &arguments, &disk.path()).expect(0).table();
        let all = table.summary(label(&disk.path()), "all");
        assert_eq!((all.text("loadfile"), all.text("status")), ("randread", "ok"));
        // What was prepared is in no row: two clients open, read 10,000 times, and close.
        let ops: Vec<_> = table.ops().into_iter().collect();
        let expected = [("Close", 2), ("NTCreateX", 2), ("ReadX", 20_000)];
        assert_eq!(ops, expected.map(|(op, n)| (op.to_owned(), n)));
        assert_eq!(all.int("bytes"), 20_000 * 4096);
    }
    assert_clean(&[&disk.path()]);
}

/// The figures are those of scripts/import-mix, which counts a recording with a reader of its own.
#[test]
fn the_kernel_build_does_what_was_recorded() {
    let load = concat!(env!("CARGO_MANIFEST_DIR"), "/loadfiles/kbuild.load.gz");
    assert!(fs::metadata(load).unwrap().len() <= 2_000_000);
    let (cwd, disk) = (temp_disk(), or_skip!(TmpFs::new("256m")));
    let table = run_in(cwd.path(), "-l kbuild -c 1 --passes 1", &disk.path()).expect(0).table();
    let all = table.summary(label(&disk.path()), "all");
    assert_eq!((all.text("loadfile"), all.text("status"), all.int("errors")), ("kbuild", "ok", 0));
    let ops = table.ops();
    for (op, recorded) in [
        // And two that make again what a pass before took.
        ("open", 181_095 + 2),
        ("ReadX", 120_392),
        ("fstat", 101_081),
        ("readlink", 2412),
        ("lstat", 1293),
        ("getdents", 373),
    ] {
        assert_eq!(ops[op], recorded, "{op}");
    }
    assert_clean(&[&disk.path()]);
}

#[test]
fn a_file_here_is_meant_before_a_built_in_load() {
    let (cwd, disk) = (temp_disk(), temp_disk());
    fs::write(cwd.path().join("small"), "QUERY_FS_INFORMATION 1 NT_STATUS_OK\n").unwrap();
    let table = run_in(cwd.path(), "-l small -c 1 --passes 3", disk.path()).expect(0).table();
    assert_eq!(table.ops().into_iter().collect::<Vec<_>>(), [("QUERY_FS_INFORMATION".into(), 3)]);
    // Without a name nothing that lies here is taken.
    fs::write(cwd.path().join("default"), "no loadfile").unwrap();
    run_in(cwd.path(), "-c 1 --passes 1", disk.path()).expect(0);
}

#[test]
fn an_unknown_name_lists_those_that_exist() {
    let (cwd, disk) = (temp_disk(), temp_disk());
    let finished = run_in(cwd.path(), "-l randraed", disk.path()).expect(2);
    finished.says("randraed");
    finished.says("default, small, randread, randwrite, seqread, seqwrite, pathwalk");
    let mut check = jbodbench(["check", "randwrite"]);
    check.current_dir(cwd.path());
    let finished = Running::start(check).finish().expect(0);
    assert!(finished.stdout.contains("WriteX"), "{finished}");
    let listed = Running::start(jbodbench(["check", "--list"])).finish().expect(0).stdout;
    let names: Vec<&str> =
        listed.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    let known: Vec<&str> =
        jbodbench::loadfile::builtin::BUILTINS.iter().map(|load| load.name).collect();
    assert_eq!(names, known);
    let help = Running::start(jbodbench(["run", "--help"])).finish().expect(0).stdout;
    // Help breaks lines where it likes.
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("`jbodbench check --list` shows"), "{words}");
}

/// What `check` counts for a pass is what two clients do in two, on every engine, for anybody.
#[test]
fn aim7_does_what_it_says() {
    let (cwd, disk) = (temp_disk(), or_skip!(TmpFs::new("64m")));
    for (load, expected) in [
        (
            "aim7-shared",
            [("WriteX", 18 * 4), ("ReadX", 9 * 4 + 42), ("link", 70), ("unlinkat", 219)],
        ),
        ("aim7-sync", [("WriteX", 2 * 4), ("ReadX", 2), ("open", 5), ("unlinkat", 3)]),
    ] {
        for options in ["--engine sync --as nobody", "--engine hybrid", "--engine uring"] {
            let arguments = format!("-l {load} --set blocks=4 -c 2 --passes 2 {options}");
            let table = run_in(cwd.path(), &arguments, &disk.path()).expect(0).table();
            let ops = table.ops();
            for (op, count) in expected {
                assert_eq!(ops[op], 2 * 2 * count, "{load} {options} {op}");
            }
        }
    }
    assert_clean(&[&disk.path()]);
}

/// The header says that Debian's dbench plays it as it is.
#[test]
fn dbench_plays_the_small_load() {
    if Command::new("dbench").arg("--help").output().is_err() {
        skip!("there is no dbench");
    }
    let disk = temp_disk();
    let load = concat!(env!("CARGO_MANIFEST_DIR"), "/loadfiles/small.load");
    let output = Command::new("dbench")
        .args(["-t", "2", "-c", load, "-D", label(disk.path()), "3"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}");
    for bad in ["Badly formed", "Unknown operation", "failed", "ERROR", "not found"] {
        assert!(!said.contains(bad), "{said}");
    }
    // Every operation of a pass was played: the words that its table has for them.
    for word in [
        "NTCreateX",
        "Close",
        "Rename",
        "Unlink",
        "Rmdir",
        "Mkdir",
        "Qpathinfo",
        "Qfileinfo",
        "Find",
        "WriteX",
        "ReadX",
    ] {
        assert!(said.contains(word), "{word} is missing: {said}");
    }
}

/// A preparation that fails is told, and the run goes on with what there is.
#[test]
fn a_failing_preparation_is_an_error() {
    let (files, disk) = (temp_disk(), temp_disk());
    let load = files.path().join("p.load");
    fs::write(
        &load,
        "PREPARE\nMkdir \"/none/x\" NT_STATUS_OK\nEND\nQUERY_FS_INFORMATION 1 NT_STATUS_OK\n",
    )
    .unwrap();
    let finished =
        run_on(&format!("-l {} -c 2 --passes 3", load.display()), &[disk.path()]).expect(1);
    let table = finished.table();
    assert_eq!(table.ops().into_iter().collect::<Vec<_>>(), [("QUERY_FS_INFORMATION".into(), 6)]);
    let row = table.of("error").into_iter().find(|row| row.text("status") == "sample").unwrap();
    assert_eq!((row.text("op"), row.text("errno"), row.text("line")), ("Mkdir", "ENOENT", "2"));
    assert!(row.float("t_start_s") < 0.0, "before the window");
    finished.says("2 in the warm-up");
}

/// A disk that stops answering during its preparation does not keep the others from starting.
#[test]
fn a_disk_that_hangs_in_its_preparation_is_left_behind() {
    let (good, bad) =
        (or_skip!(LoopFs::in_memory("ext4", 64)), or_skip!(LoopFs::in_memory("ext4", 64)));
    let files = temp_disk();
    let load = files.path().join("p.load");
    // The loop that follows is long enough for the freeze.
    fs::write(
        &load,
        "PREPARE\nMkdir \"/clients\" *\nNTCreateX \"/clients/client1\" 0x40 2 1 *\nLOOP 400\n\
                      WriteX 1 0 4096 4096 *\nFlush 1 *\nSLEEP 5000\nENDLOOP\nEND\n\
                      QUERY_FS_INFORMATION 1 NT_STATUS_OK\n",
    )
    .unwrap();
    let mut command =
        jbodbench(["run", "-c", "1", "-t", "1s", "--warmup", "0", "--grace", "2s", "-l"]);
    command.arg(&load).args([good.path(), bad.path()]);
    let running = Running::start(command);
    crate::common::tool::wait_for_load(&bad.path());
    let frozen = bad.freeze().unwrap();
    let finished = running.finish().expect(1);
    let table = finished.table();
    finished.says("no client goes on with its PREPARE");
    assert_eq!(table.summary(label(&bad.path()), "all").text("status"), "hung");
    let row = table.summary(label(&good.path()), "all");
    assert_eq!(row.text("status"), "ok");
    assert!(row.int("ops") > 0);
    drop(frozen);
    crate::common::tool::wait_for("the run directory to go", || {
        crate::common::tool::run_dir(&bad.path()).is_none().then_some(())
    });
}
