//! Commands around runs: when they come, what they know, what happens when they fail.

use std::collections::BTreeSet;
use std::fs;

use rustix::process::Signal;

use crate::common::tool::{Running, assert_clean, temp_disk, wait_for};
use crate::{command, runs};

const SHORT: &str = "-l small -t 50ms --warmup 0 --interval 0 -c 1 --idle 0";

#[test]
fn they_come_in_order_and_know_where_they_are() {
    let (disk, other, dir) = (temp_disk(), temp_disk(), temp_disk());
    let log = dir.path().join("log");
    let mut matrix =
        command(&format!("--vary fs=a,b --blocks 2 {SHORT}"), &[disk.path(), other.path()]);
    let line = |word: &str| {
        format!(
            "echo {word} $JB_BLOCK $JB_CELL $JB_FS $JB_NUMBER $JB_DISK \
             $(ls \"$JB_DIR\" | wc -w) >> {}; echo spoken",
            log.display()
        )
    };
    let words = ["prepare", "at-start", "at-stop", "conclude"];
    for word in words {
        // Before and after the run the directory is not known.
        let command = match word {
            "prepare" | "conclude" => format!("test -z \"$JB_DIR\" && JB_DIR=/ && {}", line(word)),
            _ => format!("test -d \"$JB_DIR\" && {}", line(word)),
        };
        matrix.arg(format!("--{word}")).arg(command);
    }
    let finished = Running::start(matrix).finish().expect(0);
    // What a command says is not among the data.
    finished.says("spoken");
    let table = finished.table();
    let text = fs::read_to_string(&log).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split(' ').collect()).collect();
    assert_eq!(lines.len(), 4 * 2 * 4, "{text}");
    for (index, run) in runs(&table).iter().enumerate() {
        for (step, word) in words.iter().enumerate() {
            for (number, path) in [disk.path(), other.path()].iter().enumerate() {
                let line = &lines[index * 8 + step * 2 + number];
                let (cell, fs) = (run.text("cell"), &run.text("cell")[3..]);
                assert_eq!(line[..4], [*word, run.text("block"), cell, fs], "{text}");
                assert_eq!(line[4], (number + 1).to_string());
                assert_eq!(line[5], path.to_str().unwrap());
            }
            // Nothing is there before the clients start; they have made something at the end.
            let made = lines[index * 8 + step * 2][6];
            match *word {
                "at-start" => assert_eq!(made, "0"),
                "at-stop" => assert_ne!(made, "0"),
                _ => {}
            }
        }
        assert!(run.text("hooks").starts_with("prepare=test -z"));
    }
    assert_clean(&[disk.path(), other.path()]);
}

/// A failing command fails its run, wherever it stands, and no other.
#[test]
fn a_failing_one_fails_its_run() {
    for word in ["prepare", "at-start", "at-stop", "conclude"] {
        let disk = temp_disk();
        let mut matrix = command(&format!("--vary x=a,b --blocks 2 {SHORT}"), &[disk.path()]);
        matrix.arg(format!("--{word}")).arg("test $JB_X$JB_BLOCK != b2");
        let finished = Running::start(matrix).finish().expect(1);
        finished.says(&format!("--{word}, {}: `test", disk.path().display()));
        let table = finished.table();
        let failed: BTreeSet<(String, String)> = runs(&table)
            .iter()
            .filter(|run| run.text("flags") == "failed")
            .map(|run| (run.text("block").to_owned(), run.text("cell").to_owned()))
            .collect();
        let expected = BTreeSet::from([("2".to_owned(), "x=b".to_owned())]);
        assert_eq!(failed, expected, "{word}");
        assert_eq!(runs(&table).len(), 4, "{word}");
        assert_clean(&[disk.path()]);
    }
}

/// A command that does not end is ended with the matrix.
#[test]
fn a_signal_ends_a_command() {
    let (disk, dir) = (temp_disk(), temp_disk());
    let mark = dir.path().join("mark");
    let mut matrix = command(&format!("--vary x=a,b --blocks 2 {SHORT}"), &[disk.path()]);
    matrix.arg("--at-start").arg(format!("touch {}; sleep 1000; true", mark.display()));
    let running = Running::start(matrix);
    wait_for("the command", || mark.exists().then_some(()));
    running.signal(Signal::INT);
    running.finish().expect(130);
    assert_clean(&[disk.path()]);
}
