//! Engine hybrid: who is held up by whom, and which way calls go.

use std::process::Command;
use std::time::Duration;

use crate::common::tool::{
    BINARY, Running, Table, assert_clean, jbodbench, label, loadfile, run_on, temp_disk,
    wait_for_load,
};
use crate::common::{LoopFs, TmpFs, or_skip, run, skip};

/// Cached opens, reads and stats for ever.
const READER: &str = r#"
Mkdir "/clients" *
Mkdir "/clients/client1" *
NTCreateX "/clients/client1/r" 0x44 5 1 NT_STATUS_OK
WriteX 1 0 65536 65536 NT_STATUS_OK
Close 1 NT_STATUS_OK
LOOP 1000000000
NTCreateX "/clients/client1/r" 0x44 1 1 NT_STATUS_OK
ReadX 1 4096 4096 4096 NT_STATUS_OK
QUERY_PATH_INFORMATION "/clients/client1/r" 1004 NT_STATUS_OK
Close 1 NT_STATUS_OK
ENDLOOP
"#;

/// A buffered write every millisecond.
const WRITER: &str = r#"
Mkdir "/clients" *
Mkdir "/clients/client1" *
NTCreateX "/clients/client1/w" 0x44 5 1 NT_STATUS_OK
LOOP 1000000000
WriteX 1 0 4096 4096 NT_STATUS_OK
SLEEP 1000
ENDLOOP
"#;

/// Operations of a disk within intervals that lie in a part of the window, a second each.
fn ops_between(table: &Table, disk: &str, from: f64, to: f64) -> f64 {
    let rows = table.of("interval").into_iter().filter(|row| row.text("disk") == disk);
    let inside = rows.filter(|row| {
        let start = row.float("t_start_s");
        start >= from && start + row.float("duration_s") <= to
    });
    let rates: Vec<f64> =
        inside.map(|row| row.int("ops") as f64 / row.float("duration_s")).collect();
    assert!(!rates.is_empty(), "{disk}: no interval between {from} and {to}");
    rates.iter().sum::<f64>() / rates.len() as f64
}

/// While a client's write waits for a frozen disk, the other clients of its only thread go on; and
/// so do other disks. dbench's shape would need a thread for each for that.
#[test]
fn a_write_that_waits_holds_up_no_other_client() {
    let ext4 = || LoopFs::in_memory("ext4", 64);
    let (frozen, second, third) = (or_skip!(ext4()), or_skip!(ext4()), or_skip!(ext4()));
    let dir = temp_disk();
    let reader = loadfile(dir.path(), "reader.load", READER);
    let writer = loadfile(dir.path(), "writer.load", WRITER);
    let load = format!("{0},{0},{0},{1}", reader.display(), writer.display());
    let mut command = jbodbench(["run", "--engine", "hybrid", "--threads-per-disk", "1"]);
    command.args(["-l", &load, "-c", "4", "-t", "7s", "--warmup", "1s", "--interval", "250ms"]);
    command.args([frozen.path(), second.path(), third.path()]);
    let running = Running::start(command);
    wait_for_load(&frozen.path());
    // The window opens a second later: frozen from about 2.5 to 5.5.
    std::thread::sleep(Duration::from_millis(3500));
    let freeze = frozen.freeze().unwrap();
    std::thread::sleep(Duration::from_secs(3));
    drop(freeze);
    let table = running.finish().expect(0).table();
    // The disks share the CPUs, with whatever else runs here: what counts is a disk's part.
    let part = |from: f64, to: f64| {
        let ops = |disk: &LoopFs| ops_between(&table, label(&disk.path()), from, to);
        let [frozen, others] = [ops(&frozen), ops(&second) + ops(&third)];
        assert!(others > 0.0);
        frozen / others
    };
    let (before, during) = (part(0.5, 2.0), part(3.2, 5.0));
    // On a quiet machine they are the same within 10 %.
    assert!(during > 0.6 * before, "{before} and {during}");
    // The write itself waited.
    let write = table.summary(label(&frozen.path()), "WriteX");
    assert!(write.float("lat_max_us") > 2e6, "{}", write.float("lat_max_us"));
    assert_clean(&[&frozen.path(), &second.path(), &third.path()]);
}

/// The ways of a kind of call: at once, tried, by the ring, beside a stand-in.
fn ways(table: &Table, kind: &str) -> [u64; 4] {
    let calls = table.of("call").into_iter().find(|row| row.text("op") == kind);
    let calls = calls.unwrap_or_else(|| panic!("no calls of kind {kind}"));
    let ways = ["calls_inline", "calls_tried", "calls_ring", "calls_aside"];
    let ways = ways.map(|column| calls.int(column));
    assert_eq!(ways.iter().sum::<u64>(), calls.int("ops"), "{kind}");
    ways
}

/// What strace counts of a system call in a run of the built-in load.
fn straced(disk: &LoopFs, routes: &str) -> Result<(Table, impl Fn(&str) -> u64), String> {
    run("strace", &["-V"])?;
    let report = tempfile::NamedTempFile::new().unwrap();
    let mut command = Command::new("strace");
    command.args(["-f", "-c", "-o"]).arg(report.path());
    command.args([BINARY, "run", "--engine", "hybrid", "--threads-per-disk", "1", "-c", "3"]);
    command.args(["--passes", "1", "--route", routes]).arg(disk.path());
    let table = Running::start(command).finish().expect(0).table();
    let report = std::fs::read_to_string(report.path()).unwrap();
    let count = move |call: &str| {
        let line = report.lines().find(|line| line.ends_with(&format!(" {call}")));
        line.map_or(0, |line| line.split_whitespace().nth(3).unwrap().parse().unwrap())
    };
    Ok((table, count))
}

#[test]
fn pinned_routes_are_what_strace_sees() {
    let disk = or_skip!(LoopFs::new("ext4", 256));
    let (table, count) = or_skip!(straced(&disk, "inline"));
    assert_eq!(table.summary("all", "all").text("route"), "inline");
    for kind in ["rename", "unlink", "fsync", "statfs"] {
        let [inline, tried, ring, aside] = ways(&table, kind);
        assert_eq!((tried, ring, aside), (0, 0, 0), "{kind}");
        let own = count(kind) - own_calls(kind);
        assert_eq!(inline, own, "{kind}");
    }
    assert_eq!(ways(&table, "read")[1..], [0, 0, 0]);

    let (table, count) = or_skip!(straced(&disk, "ring"));
    for kind in ["rename", "unlink", "fsync"] {
        let [inline, tried, ring, aside] = ways(&table, kind);
        assert_eq!((inline, tried, aside), (0, 0, 0), "{kind}");
        assert!(ring > 0 && count(kind) == own_calls(kind), "{kind}");
    }
    // io_uring has no operation for this one.
    assert_eq!(ways(&table, "statfs")[2], 0);
}

/// Calls that jbodbench makes for itself, not for a client: of the kinds looked at none but the
/// `statfs` that finds out what is free.
fn own_calls(kind: &str) -> u64 {
    u64::from(kind == "statfs")
}

#[test]
fn a_route_file_pins_kinds_of_calls() {
    let disk = or_skip!(TmpFs::new("64m"));
    let dir = temp_disk();
    let written = |name: &str, text: &str| {
        let file = dir.path().join(name);
        std::fs::write(&file, text).unwrap();
        file
    };
    let file = written("routes", "create ring # slow here\nstat inline\n");
    let route =
        format!("--engine hybrid --threads-per-disk 1 -c 3 --passes 1 --route {}", file.display());
    let table = run_on(&route, &[&disk.path()]).expect(0).table();
    assert_eq!(table.summary("all", "all").text("route"), "stat=inline,create=ring");
    let [inline, _, ring, _] = ways(&table, "create");
    assert!(ring > 0 && inline == 0);
    assert_eq!(ways(&table, "stat")[2], 0);

    let bad = written("bad", "stat inline\nstatt ring\n");
    let refused = run_on(&format!("--engine hybrid --route {}", bad.display()), &[&disk.path()]);
    refused.expect(2).says(":2: statt is no kind of call");
    run_on("--engine hybrid --route sideways", &[&disk.path()]).expect(2).says("expected auto");
    run_on("--engine sync --route ring", &[&disk.path()]).expect(2).says("only --engine hybrid");
}
