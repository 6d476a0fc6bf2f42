//! A comparison as tables and sentences for people. Pure functions.

use super::comparison::{CompareRow, CompareSide, Comparison, Question};
use super::row::escape;
use super::text::{Grid, shorten};
use crate::units::{format_count, format_ns, format_rate};

/// Width of a name in the tables.
const NAME: usize = 44;

/// The whole text; with `all`, exploratory rows in which nothing is found as well.
#[must_use]
pub fn compare_text(comparison: &Comparison, all: bool, color: bool) -> String {
    let mut out = String::new();
    for (letter, side) in ('A'..).zip(&comparison.sides) {
        out.push_str(&side_line(letter, side));
    }
    let of = |question| comparison.rows.iter().filter(move |row| row.question == question);
    out.push('\n');
    out.push_str(&table(comparison, &of(Question::Headline).collect::<Vec<_>>(), color));
    let effects: Vec<_> = of(Question::Effect).collect();
    if !effects.is_empty() {
        out.push_str("\nwhat the change does in combination (the change is B over A):\n");
        out.push_str(&table(comparison, &effects, color));
    }
    explore(comparison, all, color, &mut out);
    let mut notes = Vec::new();
    notes.extend(comparison.outlier_disks.iter().map(|text| format!("outlier: {text}")));
    notes.extend(comparison.broken_limits.iter().map(|text| format!("limit broken: {text}")));
    notes.extend(comparison.notes.iter().map(|text| format!("note: {text}")));
    if !notes.is_empty() {
        out.push('\n');
    }
    for note in notes {
        out.push_str(&escape(&note));
        out.push('\n');
    }
    out
}

fn side_line(letter: char, side: &CompareSide) -> String {
    let count = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
    let boots =
        if side.boots > 0 { format!(", {}", count(side.boots, "boot")) } else { String::new() };
    let kernels = match side.kernels.as_slice() {
        [] => String::new(),
        kernels => format!(", kernel {}", kernels.join(" and ")),
    };
    let files: Vec<String> = side.files.iter().map(|file| file.display().to_string()).collect();
    let files = files.join(" ");
    let name = if files == side.name {
        escape(&files).into_owned()
    } else {
        format!("{} ({})", escape(&side.name), escape(&files))
    };
    format!("{letter}: {name}: {}{boots}{kernels}\n", count(side.runs, "run"))
}

/// Exploratory rows: those with a finding, and how many there are besides.
fn explore(comparison: &Comparison, all: bool, color: bool, out: &mut String) {
    let rows = || comparison.rows.iter().filter(|row| row.question == Question::Exploratory);
    let found = |row: &&CompareRow| all || matches!(row.verdict, "regression" | "improvement");
    let shown: Vec<_> = rows().filter(found).collect();
    let rest = rows().count() - shown.len();
    if !shown.is_empty() {
        out.push_str("\nexploratory: places to look (intervals widened for the number of them)\n");
        out.push_str(&table(comparison, &shown, color));
    }
    if rest > 0 {
        let more = if shown.is_empty() { "exploratory rows" } else { "more" };
        let same = rows().filter(|row| row.verdict == "same").count();
        out.push_str(&format!(
            "\n{rest} {more} without a finding ({same} of them the same); --all shows them\n"
        ));
    }
}

fn table(comparison: &Comparison, rows: &[&CompareRow], color: bool) -> String {
    let several = comparison.sides.len() > 2;
    let cells = rows.iter().any(|row| !row.cell.is_empty());
    let effects = rows.iter().any(|row| !row.effect.is_empty());
    let mut head = Vec::new();
    if several {
        head.push("B");
    }
    if cells {
        head.push("cell");
    }
    head.push(if effects { "effect" } else { "metric" });
    let left = head.len();
    if !effects {
        head.extend(["A", "B"]);
    }
    // The level of each row may differ; the note says so where it does.
    head.extend(["change", "interval", "n", "verdict"]);
    let mut grid = Grid::new(left, &head).with_words_last();
    for row in rows {
        let mut line = Vec::new();
        if several {
            line.push(shorten(&row.b, NAME));
        }
        if cells {
            line.push(shorten(&row.cell, NAME));
        }
        line.push(if effects { row.effect.clone() } else { name(row) });
        if !effects {
            line.extend([row.a_value, row.b_value].map(|value| figure(&row.metric, value)));
        }
        line.extend([percent(row.change_percent), interval(row), count(row), verdict(row)]);
        grid.push(line);
    }
    grid.render(color, false)
}

/// `lat_p99_us Flush`, and the disk where it is one.
fn name(row: &CompareRow) -> String {
    let mut text = row.metric.clone();
    if row.op != "all" {
        text.push_str(&format!(" {}", row.op));
    }
    match row.disk.as_str() {
        "all" => {}
        "mean" => text.push_str(", mean of the disks' ratios"),
        disk => text.push_str(&format!(" {}", shorten(disk, NAME))),
    }
    text
}

/// A value in the unit that the column's name ends with.
fn figure(metric: &str, value: Option<f64>) -> String {
    let Some(value) = value else { return "-".to_owned() };
    match metric {
        "bytes_per_s" => format_rate(value),
        name if name.ends_with("_per_s") => format_count(value),
        name if name.ends_with("_us") || name == "sys_us_per_op" => format_ns(value * 1e3),
        name if name.ends_with("_s") => format_ns(value * 1e9),
        _ => format_count(value),
    }
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{} %", signed(value)))
}

fn interval(row: &CompareRow) -> String {
    match (row.low_percent, row.high_percent) {
        (Some(low), Some(high)) => format!("{} .. {} %", signed(low), signed(high)),
        _ => "-".to_owned(),
    }
}

/// One decimal where it counts: `-3.1`, `+0.04`, `+120`.
fn signed(value: f64) -> String {
    let text = match value.abs() {
        v if v >= 99.5 => format!("{value:+.0}"),
        v if v >= 0.95 => format!("{value:+.1}"),
        _ => format!("{value:+.2}"),
    };
    if text == "-0.00" { "+0.00".to_owned() } else { text }
}

/// `10`, `10+12`, `3+3 boots`.
fn count(row: &CompareRow) -> String {
    let (a, b) = (row.n_a, row.n_b);
    match row.unit {
        "block" => a.to_string(),
        "boot" => format!("{a}+{b} boots"),
        _ => format!("{a}+{b}"),
    }
}

fn verdict(row: &CompareRow) -> String {
    if row.why.is_empty() {
        row.verdict.to_owned()
    } else {
        format!("{} ({})", row.verdict, row.why)
    }
}
