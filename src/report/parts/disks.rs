//! Disk against disk: which one is unlike the others.

use std::collections::BTreeSet;

use super::Part;
use super::figures::{count, megabytes, micros, number};
use super::names::Names;
use crate::output::Column;
use crate::report::gather::natural;
use crate::report::model::{Group, Material, distinct};
use crate::report::page::{Section, Svg, Table};
use crate::report::plot::{Cell, DIVERGING, HeatPlot, LINES_MAX};

/// Disks in a heat map.
const DISKS: usize = 128;
/// Groups that are columns of a heat map.
const GROUPS: usize = 12;
/// Operations that are columns of a heat map.
const OPS: usize = 8;

/// Ratios to the median disk that are steps of the scale.
const STEPS: [f64; 3] = [1.1, 1.25, 2.0];

pub(super) fn section(material: &Material) -> Part {
    let mut section = Section::new("Disks");
    let mut disks = distinct(material.groups.iter().flat_map(|group| &group.disks));
    disks.sort_by(|a, b| natural(a, b));
    let names = Names::new(disks.iter().copied());
    if disks.len() > LINES_MAX {
        let columns = columns(material);
        let ratios = Ratios::new(&disks, &columns);
        section.plot(ratios.caption(&names, material), Svg(ratios.plot(&names).svg()?));
    }
    section.table(material.tell_apart(table(material, &disks, &names), 1));
    Ok(Some(section))
}

/// A column of the heat map: a figure of a group.
struct Figure<'m> {
    name: String,
    group: &'m Group,
    op: String,
    column: Column,
}

/// Rates of several groups, or several figures of one.
fn columns(material: &Material) -> Vec<Figure<'_>> {
    let figure =
        |name: String, group, op: &str, column| Figure { name, group, op: op.to_owned(), column };
    if let [group] = material.groups.as_slice() {
        let whole = [
            ("ops/s", Column::OpsPerS),
            ("p50 latency", Column::LatP50Us),
            ("p99 latency", Column::LatP99Us),
            ("max latency", Column::LatMaxUs),
        ];
        let whole = whole.map(|(name, column)| figure(name.to_owned(), group, "all", column));
        let each = group.ops().into_iter().take(OPS);
        let each = each.map(|op| figure(format!("mean {op}"), group, &op, Column::LatMeanUs));
        return whole.into_iter().chain(each).collect();
    }
    let of = |group| figure(String::new(), group, "all", Column::OpsPerS);
    let mut all: Vec<Figure<'_>> = material.groups.iter().take(GROUPS).map(of).collect();
    for column in &mut all {
        column.name = crate::output::shorten(&column.group.label, 30);
    }
    all
}

/// How each disk compares with the median disk: logarithms, above 0 where it is better.
struct Ratios {
    columns: Vec<String>,
    rows: Vec<(String, Vec<Option<f64>>)>,
    /// Disks that there are.
    disks: usize,
}

impl Ratios {
    fn new(disks: &[&String], figures: &[Figure<'_>]) -> Self {
        let mut rows: Vec<(String, Vec<Option<f64>>)> =
            disks.iter().map(|disk| ((*disk).clone(), Vec::new())).collect();
        for figure in figures {
            let value = |disk: &&String| {
                figure.group.value(disk, &figure.op, figure.column).filter(|value| *value > 0.0)
            };
            let logs: Vec<f64> = disks.iter().filter_map(value).map(f64::ln).collect();
            let median = crate::stats::median(&logs);
            let sign = if figure.column == Column::OpsPerS { 1.0 } else { -1.0 };
            for (disk, row) in disks.iter().zip(&mut rows) {
                row.1.push(value(disk).zip(median).map(|(value, m)| sign * (value.ln() - m)));
            }
        }
        let mut ratios = Self {
            columns: figures.iter().map(|figure| figure.name.clone()).collect(),
            rows,
            disks: disks.len(),
        };
        ratios.keep_the_worst();
        ratios
    }

    /// Of too many disks, those that are worst in the first column.
    fn keep_the_worst(&mut self) {
        let first = |row: &(String, Vec<Option<f64>>)| {
            row.1.first().copied().flatten().unwrap_or(f64::NEG_INFINITY)
        };
        if self.rows.len() > DISKS {
            self.rows.sort_by(|a, b| first(a).total_cmp(&first(b)));
            self.rows.truncate(DISKS);
            self.rows.sort_by(|a, b| natural(&a.0, &b.0));
        }
    }

    fn caption(&self, names: &Names, material: &Material) -> String {
        let (what, ops) = match material.groups.as_slice() {
            [group] => ("Each disk", group.ops().len()),
            _ => ("Operations per second of each disk", 0),
        };
        let mut text = format!(
            "{what} against the median disk of the column; the number is how many times better or \
             worse it is, where that is 1.25 or more."
        );
        if ops > OPS {
            text += &format!(" The {OPS} most frequent of {ops} operations.");
        }
        if self.disks > self.rows.len() {
            text += &format!(" The {DISKS} slowest of {} disks.", self.disks);
        }
        if material.groups.len() > GROUPS {
            text += &format!(" The first {GROUPS} of {} kinds of run.", material.groups.len());
        }
        text + &names.note()
    }

    fn plot(&self, names: &Names) -> HeatPlot {
        let cell = |log: &Option<f64>| log.map(cell);
        let row = |(disk, logs): &(String, Vec<Option<f64>>)| {
            (names.short(disk).to_owned(), logs.iter().map(cell).collect())
        };
        let legend = [
            "worse: 2x or more",
            "1.25x to 2x",
            "1.1x to 1.25x",
            "like the median",
            "better: 1.1x to 1.25x",
            "1.25x to 2x",
            "2x or more",
        ];
        HeatPlot {
            columns: self.columns.clone(),
            named: true,
            axis: String::new(),
            rows: self.rows.iter().map(row).collect(),
            scale: DIVERGING,
            legend: legend.map(str::to_owned),
        }
    }
}

/// The step of a logarithm, and the ratio in words where it is far from 1.
fn cell(log: f64) -> Cell {
    let passed = STEPS.iter().filter(|step| log.abs() >= step.ln()).count();
    let step = if log < 0.0 { 3 - passed } else { 3 + passed };
    let ratio = log.abs().exp();
    let text = match passed {
        0 | 1 => String::new(),
        _ if ratio >= 99.5 => ">99x".to_owned(),
        _ if ratio >= 9.95 => format!("{ratio:.0}x"),
        _ => format!("{ratio:.1}x"),
    };
    Cell { step, text }
}

/// Facts of disks that are shown, where any disk has them.
const FACTS: [(&str, Column); 5] = [
    ("device", Column::Device),
    ("file system", Column::Fstype),
    ("model", Column::Model),
    ("serial", Column::Serial),
    ("slot", Column::Slot),
];

fn table(material: &Material, disks: &[&String], names: &Names) -> Table {
    let text = |group: &Group, disk: &str, column: Column| {
        let values = group.disk_values.get(disk).and_then(|values| values.get(&column));
        values.map(|v| v.iter().cloned().collect::<Vec<_>>().join(", ")).unwrap_or_default()
    };
    let known = |column: Column| {
        let any = |group: &Group| disks.iter().any(|disk| !text(group, disk, column).is_empty());
        material.groups.iter().any(any)
    };
    let facts: Vec<_> = FACTS.into_iter().filter(|(_, column)| known(*column)).collect();
    let mut head = vec!["disk", "runs of", "status"];
    head.extend(facts.iter().map(|(name, _)| *name));
    let words = head.len();
    head.extend(["ops/s", "MB/s", "p50", "p99", "max", "errors", "stalled s", "device busy"]);
    let mut table = Table::new("Each disk", words, &head);
    for disk in disks {
        for group in material.groups.iter().filter(|group| group.disks.contains(disk)) {
            let value = |column| group.value(disk, "all", column);
            let none = BTreeSet::new();
            let status = group.disk_status.get(*disk).unwrap_or(&none);
            let status: Vec<&str> = status.iter().map(String::as_str).collect();
            let mut row =
                vec![names.short(disk).to_owned(), group.label.clone(), status.join(", ")];
            row.extend(facts.iter().map(|(_, column)| text(group, disk, *column)));
            row.extend([
                count(value(Column::OpsPerS)),
                megabytes(value(Column::BytesPerS)),
                micros(value(Column::LatP50Us)),
                micros(value(Column::LatP99Us)),
                micros(value(Column::LatMaxUs)),
                count(value(Column::Errors)),
                number(value(Column::StalledS)),
                value(Column::DevUtil)
                    .map_or_else(|| "-".into(), |u| format!("{:.0} %", 100.0 * u)),
            ]);
            table.push(row);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::cell;

    /// ln 2 = 0.693, ln 1.25 = 0.223, ln 1.1 = 0.095.
    #[test]
    fn steps_by_hand() {
        let of = |log| (cell(log).step, cell(log).text);
        assert_eq!(of(0.0), (3, String::new()));
        assert_eq!(of(-0.1), (2, String::new()));
        assert_eq!(of(0.3), (5, "1.3x".to_owned()));
        assert_eq!(of(-0.7), (0, "2.0x".to_owned()));
        assert_eq!(of(3.0), (6, "20x".to_owned()));
    }
}
