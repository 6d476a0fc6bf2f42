//! The files against the first of them, or the cells of a file that has no effects of its own.

use super::Part;
use super::figures::{change, interval, number};
use crate::compare::{CompareError, Metric, Request as Question, compare};
use crate::output::{Column, CompareRow, Comparison, Question as Kind};
use crate::report::Request;
use crate::report::model::Material;
use crate::report::page::{Section, Svg, Table};
use crate::report::plot::{ForestPlot, ForestRow, Mark};

/// Exploratory rows that are shown, of those in which something is found.
const EXPLORED: usize = 40;

pub(super) fn section(request: &Request, material: &Material) -> Part {
    let cells = material.groups.iter().filter(|group| !group.cell.is_empty()).count();
    let single = material.files.len() < 2;
    if single && (cells < 2 || !material.effects.is_empty()) {
        return Ok(None);
    }
    let mut section = Section::new("Comparison");
    match compare(&question(request)) {
        Ok(comparison) => compared(&mut section, &comparison)?,
        Err(CompareError::Conditions { differences, .. }) => {
            section.text(
                "Not compared: these results are not of the same conditions. What is meant to \
                 differ is named with `jbodbench compare --by NAME`.",
            );
            let mut table = Table::new("What differs", 1, &["condition"]);
            differences.into_iter().for_each(|line| table.push(vec![line]));
            section.table(table);
        }
        Err(error) => section.text(format!("Not compared: {error}.")),
    }
    Ok(Some(section))
}

/// What `jbodbench compare` asks when nothing else is said.
fn question(request: &Request) -> Question {
    Question {
        files: request.files.clone(),
        with: Vec::new(),
        by: Vec::new(),
        base: None,
        metrics: vec![Metric::all(Column::OpsPerS)],
        better: None,
        margin_percent: 3.0,
        alpha: 0.05,
        force: false,
        limits: Vec::new(),
    }
}

fn compared(
    section: &mut Section,
    comparison: &Comparison,
) -> Result<(), crate::report::plot::PlotError> {
    let of = |kind: Kind| comparison.rows.iter().filter(move |row| row.question == kind);
    let asked: Vec<&CompareRow> = of(Kind::Headline).chain(of(Kind::Effect)).collect();
    let found = |row: &&CompareRow| !matches!(row.verdict, "same" | "inconclusive");
    let mut explored: Vec<&CompareRow> = of(Kind::Exploratory).filter(found).collect();
    let cut = match explored.len() {
        many if many > EXPLORED => format!(" The first {EXPLORED} of {many}."),
        _ => String::new(),
    };
    explored.truncate(EXPLORED);
    let exploratory =
        format!("Exploratory: other figures in which something is found. A place to look.{cut}");
    let level = asked.first().map_or(95.0, |row| row.level_percent);
    let caption = format!(
        "Change of ops/s from {} to the others, with intervals of {} % or more. Disc: improvement \
         or regression. Square: same, the whole interval lies within the margin (shaded). Ring: \
         inconclusive.",
        comparison.sides.first().map_or("the first", |side| side.name.as_str()),
        number(Some(level))
    );
    for (caption, rows) in [(caption.as_str(), &asked), (exploratory.as_str(), &explored)] {
        if rows.is_empty() {
            continue;
        }
        let plot = ForestPlot {
            rows: forest(rows),
            margin_percent: Some(comparison.margin_percent),
            axis: "change in percent; equal ratios at equal distances".to_owned(),
        };
        section.plot(caption, Svg(plot.svg()?));
        section.table(table(rows));
    }
    let notes = comparison.outlier_disks.iter().map(|text| format!("Outlier: {text}."));
    notes.chain(comparison.notes.iter().map(|text| format!("Note: {text}."))).for_each(|text| {
        section.text(text);
    });
    Ok(())
}

fn forest(rows: &[&CompareRow]) -> Vec<ForestRow> {
    let mut out = Vec::new();
    let mut last = String::new();
    for row in rows {
        let Some(percent) = row.change_percent else { continue };
        let heading = format!("{} → {}", row.a, row.b);
        if heading != last {
            out.push(ForestRow::Heading(heading.clone()));
            last = heading;
        }
        let mark = match row.verdict {
            "improvement" => Mark::Better,
            "regression" => Mark::Worse,
            "effect" => Mark::Change,
            "same" => Mark::Same,
            _ => Mark::Open,
        };
        out.push(ForestRow::Change {
            label: name(row),
            change: percent,
            interval: row.low_percent.zip(row.high_percent),
            mark,
            figures: [
                change(Some(percent)),
                interval(row.low_percent, row.high_percent),
                row.verdict.to_owned(),
            ],
        });
    }
    out
}

/// What a row is about, in few words.
fn name(row: &CompareRow) -> String {
    let mut parts = vec![row.metric.as_str()];
    parts.extend([row.op.as_str(), row.disk.as_str()].iter().filter(|part| **part != "all"));
    parts.extend([row.cell.as_str(), row.effect.as_str()].iter().filter(|part| !part.is_empty()));
    parts.join(" ")
}

fn table(rows: &[&CompareRow]) -> Table {
    let head = ["from", "to", "figure", "A", "B", "change", "interval", "n", "of", "verdict"];
    let mut table = Table::new("The same in figures", 3, &head).with_words_last();
    for row in rows {
        let n = if row.n_a == row.n_b {
            row.n_a.to_string()
        } else {
            format!("{}, {}", row.n_a, row.n_b)
        };
        let why = if row.why.is_empty() { String::new() } else { format!(": {}", row.why) };
        table.push(vec![
            row.a.clone(),
            row.b.clone(),
            name(row),
            number(row.a_value),
            number(row.b_value),
            change(row.change_percent),
            interval(row.low_percent, row.high_percent),
            n,
            format!("{}s", row.unit),
            format!("{}{why}", row.verdict),
        ]);
    }
    table
}
