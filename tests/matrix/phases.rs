//! `--preset tiobench`: the table of phases, against the rows.

use crate::common::tool::{Row, assert_clean};
use crate::common::{TmpFs, or_skip, skip};
use crate::{matrix, runs};

/// `1.23k` as a number.
fn number(text: &str) -> f64 {
    match text.strip_suffix('k') {
        Some(thousands) => thousands.parse::<f64>().unwrap() * 1e3,
        None => text.parse().unwrap(),
    }
}

#[test]
fn the_table_of_2005() {
    let disk = or_skip!(TmpFs::new("128m"));
    let arguments = "--preset tiobench --vary clients=1,2 --blocks 2 --idle 0 --interval 0";
    let finished = matrix(arguments, &[&disk.path()]).expect(0);
    let table = finished.table();
    assert_eq!(runs(&table).len(), 4);
    let own = disk.path();
    let run = table.summaries(own.to_str().unwrap()).find(|row| row.text("op") == "all").unwrap();
    let words = ["loadfile", "engine", "share", "data", "passes_limit"].map(|name| run.text(name));
    assert_eq!(words, ["tiobench", "sync", "fd", "zero", "1"]);
    let metric = table.of("effect").iter().map(|row| row.text("metric").to_owned()).next();
    assert_eq!(metric.as_deref(), Some("bytes_per_s:phase=randread"));
    let text = finished.stderr.as_str();
    for phase in ["seqwrite", "randwrite", "seqread", "randread"] {
        for cell in ["clients=1", "clients=2"] {
            let of = |row: &&&Row| {
                ["disk", "phase", "op", "cell"].map(|name| row.text(name))
                    == ["all", phase, "all", cell]
            };
            let rows = table.of("phase");
            let rates: Vec<f64> =
                rows.iter().filter(of).map(|row| row.float("bytes_per_s") / 1e6).collect();
            let [a, b] = rates[..] else { panic!("{phase} {cell}: {rates:?}") };
            // Of two numbers the standard deviation is their distance by the root of 2.
            let (mean, sd) = ((a + b) / 2.0, (a - b).abs() / 2.0_f64.sqrt());
            let below = text.split_once(&format!("\n{phase}")).expect(text).1;
            let line = below.lines().find(|line| line.trim_start().starts_with(cell)).expect(below);
            let cells: Vec<&str> = line.split_whitespace().collect();
            let near = |text: &str, value: f64| (number(text) - value).abs() <= 0.01 * value + 0.01;
            assert!(near(cells[1], mean) && near(cells[2], sd), "{phase}: {mean} {sd}: {line}");
            let op = if phase.ends_with("write") { "WriteX" } else { "ReadX" };
            assert_eq!(cells[5..7], ["2", op], "{line}");
        }
    }
    assert_clean(&[&disk.path()]);
}
