//! A matrix that was killed goes on where it was.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;

use crate::common::tool::{Finished, Running, Table, assert_clean, run_dirs, temp_disk, wait_for};
use crate::common::{TmpFs, or_skip, skip};
use crate::{cells_by_block, command, matrix, runs};

const ARGUMENTS: &str = "--vary depth=0,1 --blocks 10 --seed 2010 -l small -t 100ms --warmup 20ms --interval 50ms -c 2 --idle 0";
/// `scripts/matrix-order 2010 2 10`.
const ORDER: [[usize; 2]; 10] =
    [[1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1], [0, 1], [1, 0], [1, 0], [0, 1]];

/// Rows of a file that may be torn, whole lines only.
fn whole_lines(file: &Path) -> Option<Table> {
    let text = fs::read_to_string(file).ok()?;
    let end = text.rfind('\n')?;
    Some(Table::parse(&text[..=end]))
}

/// A command that waits, once, before the second run of block 7.
fn wait_in_block_seven(mark: &Path) -> String {
    let mark = mark.display();
    format!(
        "[ $JB_BLOCK$JB_CELL != 7depth=1 ] || [ -e {mark} ] || \
         {{ touch {mark}; exec sleep 10 >/dev/null 2>&1; }}"
    )
}

/// The matrix, with a command of which nothing is seen but that it waits.
fn tried(disk: &Path, file: &Path) -> std::process::Command {
    let mut command = command(ARGUMENTS, &[disk]);
    command.arg("--prepare").arg(wait_in_block_seven(&file.with_extension("mark")));
    command
}

/// Starts one, and waits until it is in block 7, of which one run is done.
fn in_block_seven(disk: &Path, file: &Path) -> Running {
    let mut command = tried(disk, file);
    command.arg("-o").arg(file);
    let running = Running::start(command);
    wait_for("block 7", || file.with_extension("mark").exists().then_some(()));
    let table = whole_lines(file).unwrap();
    assert_eq!(runs(&table).len(), 13);
    running
}

fn go_on(disk: &Path, file: &Path) -> Finished {
    let mut command = tried(disk, file);
    command.arg("--resume").arg(file);
    Running::start(command).finish()
}

fn resume(arguments: &str, disk: &Path, file: &Path) -> Finished {
    matrix(&format!("{arguments} --resume {}", file.display()), &[disk])
}

/// Ten blocks, every cell once in each, in the order of the seed; nothing twice.
fn assert_whole(table: &Table) {
    let names = ["depth=0", "depth=1"];
    let expected: Vec<Vec<&str>> =
        ORDER.iter().map(|block| block.iter().map(|cell| names[*cell]).collect()).collect();
    assert_eq!(cells_by_block(table), expected);
    let mut keys: Vec<_> = table
        .rows
        .iter()
        .filter(|row| row.text("row") != "effect")
        .map(|row| {
            let keys =
                ["row", "run_id", "disk", "op", "t_start_s", "client", "line", "errno", "status"];
            keys.map(|key| row.text(key).to_owned())
        })
        .collect();
    let all = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), all, "rows are there twice");
    let ids: Vec<_> = table.rows.iter().map(|row| row.text("experiment_id")).collect();
    assert!(ids.iter().all(|id| *id == ids[0]));
    let effects = table.of("effect");
    let headline: Vec<_> = effects.iter().filter(|row| row.text("exploratory") == "0").collect();
    assert_eq!(headline.len(), 1);
    assert_eq!(headline[0].int("n"), usable(table, 10));
}

/// Of the first blocks those in which both cells did something: a run as short as these may be
/// over before it had a CPU.
fn usable(table: &Table, blocks: u64) -> u64 {
    let did = |block: u64| {
        let all = runs(table);
        let runs: Vec<_> = all.iter().filter(|run| run.int("block") == block).collect();
        runs.len() == 2 && runs.iter().all(|run| run.int("ops") > 0)
    };
    (1..=blocks).filter(|block| did(*block)).count() as u64
}

#[test]
fn a_killed_matrix_has_its_whole_blocks_and_goes_on() {
    let disk = or_skip!(TmpFs::new("64m"));
    let (disk, dir) = (disk.path(), temp_disk());
    let file = dir.path().join("r.csv");
    let running = in_block_seven(&disk, &file);
    running.signal_group(Signal::KILL);
    running.finish().expect(-9);
    let blocks = cells_by_block(&whole_lines(&file).unwrap());
    assert!(blocks.len() >= 6 && blocks[..6].iter().all(|cells| cells.len() == 2), "{blocks:?}");
    let killed = fs::read(&file).unwrap();
    // Where the kill did not tear a line, one is torn here.
    let mut torn = fs::OpenOptions::new().append(true).open(&file).unwrap();
    torn.write_all(b"1,0.1.0,torn \"").unwrap();
    let finished = go_on(&disk, &file).expect(0);
    finished.says("goes on after 6 whole blocks");
    let table = Table::read(&file);
    assert_whole(&table);
    // What was whole is as it was.
    let now = fs::read(&file).unwrap();
    let same = killed.iter().zip(&now).take_while(|(a, b)| a == b).count();
    let kept = Table::parse(String::from_utf8_lossy(&now[..same]).rsplit_once('\n').unwrap().0);
    assert_eq!(runs(&kept).iter().filter(|run| run.int("block") <= 6).count(), 12);
    // Of the killed processes' directories nobody else knows; this try has left none of its own.
    assert!(run_dirs(&disk).len() <= 1);
}

/// The worker alone is killed: the front process removes what it left, and says so.
#[test]
fn a_killed_worker_leaves_no_directory() {
    let (disk, dir) = (temp_disk(), temp_disk());
    let file = dir.path().join("r.csv");
    let running = in_block_seven(disk.path(), &file);
    let worker = rustix::process::Pid::from_raw(running.worker()).unwrap();
    rustix::process::kill_process(worker, Signal::KILL).unwrap();
    running.finish().expect(1).says("died of signal 9");
    assert_clean(&[disk.path()]);
    go_on(disk.path(), &file).expect(0);
    assert_whole(&Table::read(&file));
    assert_clean(&[disk.path()]);
}

/// One interruption ends it cleanly, with the effects of what is whole; it can be gone on with.
#[test]
fn an_interruption_is_an_end_and_not_a_loss() {
    let (disk, dir) = (temp_disk(), temp_disk());
    let file = dir.path().join("r.csv");
    let running = in_block_seven(disk.path(), &file);
    running.signal_group(Signal::INT);
    let finished = running.finish_within(Duration::from_secs(20)).expect(130);
    assert_clean(&[disk.path()]);
    let table = Table::read(&file);
    let effects = table.of("effect");
    let headline = effects.iter().find(|row| row.text("exploratory") == "0").unwrap();
    assert_eq!(headline.int("n"), usable(&table, 6), "{finished}");
    go_on(disk.path(), &file).expect(0);
    assert_whole(&Table::read(&file));
}

/// One that is ended in its window has rows, and is yet to be run.
#[test]
fn a_run_that_was_interrupted_is_run_again() {
    let (disk, dir) = (temp_disk(), temp_disk());
    let file = dir.path().join("r.csv");
    let base = "--vary depth=0,1 --blocks 2 -l small --warmup 0 --interval 50ms -c 1 --idle 0";
    // In the last run of all; the time is as long as the test waits, and what is done is the same.
    let load = dir.path().join("twice.load");
    fs::write(&load, "Mkdir \"\\d\" NT_STATUS_OK\nRmdir \"\\d\" NT_STATUS_OK\n").unwrap();
    let arguments = format!("{base} -t 1500ms").replace("small", &load.display().to_string());
    let mut first = command(&arguments, &[disk.path()]);
    first.arg("-o").arg(&file);
    let running = Running::start(first);
    wait_for("the window of the last run", || {
        let table = whole_lines(&file)?;
        let last = table.rows.last()?;
        (runs(&table).len() == 3 && last.text("row") == "interval").then_some(())
    });
    running.signal(Signal::INT);
    running.finish_within(Duration::from_secs(20)).expect(130);
    let table = Table::read(&file);
    let last = runs(&table).pop().unwrap();
    assert_eq!((last.text("status"), last.text("flags")), ("interrupted", "interrupted"));
    resume(&arguments, disk.path(), &file).expect(0).says("goes on after 1 whole blocks");
    let table = Table::read(&file);
    assert_eq!(runs(&table).len(), 4);
    assert!(runs(&table).iter().all(|run| run.text("flags").is_empty()));
    assert_clean(&[disk.path()]);
}

#[test]
fn another_experiment_is_not_gone_on_with() {
    let (disk, dir) = (temp_disk(), temp_disk());
    let file = dir.path().join("r.csv");
    let base = "--vary depth=0,1 --blocks 2 -l small -t 50ms --warmup 0 --interval 0 --idle 0";
    matrix(&format!("{base} -c 1 -o {}", file.display()), &[disk.path()]).expect(0);
    let text = fs::read_to_string(&file).unwrap();
    let other = temp_disk();
    for (arguments, on, what) in [
        (format!("{base} -c 2"), disk.path(), "these differ: options"),
        (format!("{base} -c 1 --seed 3"), disk.path(), "these differ: seed"),
        (format!("{base} -c 1 --prepare true"), disk.path(), "these differ: hooks"),
        (format!("{base} -c 1"), other.path(), "these differ: disk"),
        (format!("{base} -c 1 --metric lat_p99_us"), disk.path(), "metric or idle rule"),
        (base.replace("depth=0,1", "depth=0,2") + " -c 1", disk.path(), "these differ: cell"),
    ] {
        resume(&arguments, on, &file).expect(2).says(what);
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "{arguments}");
    }
    // Another host, another kernel: in the file they are names.
    let table = Table::parse(&text);
    for (column, says) in
        [("host", "measured on the host elsewhere"), ("kernel", "under the kernel elsewhere")]
    {
        let here = table.rows[0].text(column);
        let moved = text.replace(&format!(",{here},"), ",elsewhere,");
        assert_ne!(moved, text);
        fs::write(&file, &moved).unwrap();
        resume(&format!("{base} -c 1"), disk.path(), &file).expect(2).says(says);
    }
    // More blocks than planned: a second look, with wider intervals.
    fs::write(&file, &text).unwrap();
    let more = base.replace("--blocks 2", "--blocks 4") + " -c 1";
    resume(&more, disk.path(), &file).expect(0).says("wider for the second look");
    let table = Table::read(&file);
    assert_eq!(runs(&table).len(), 8);
    assert!(table.of("effect").iter().all(|row| row.float("confidence") == 0.975));
    assert_clean(&[disk.path()]);
}
