//! What a page is made from: runs put into groups, with their figures.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::page::Table;
use crate::output::Column;

/// Numbers of summary rows that a page shows.
pub(super) const KEPT: [Column; 16] = [
    Column::OpsPerS,
    Column::BytesPerS,
    Column::Ops,
    Column::Errors,
    Column::Passes,
    Column::PassMeanS,
    Column::LatMeanUs,
    Column::LatP50Us,
    Column::LatP90Us,
    Column::LatP95Us,
    Column::LatP99Us,
    Column::LatP999Us,
    Column::LatMaxUs,
    Column::SysUsPerOp,
    Column::StalledS,
    Column::DevUtil,
];

/// Numbers of a summary row; NaN where one is unknown.
pub(super) type Figures = [f64; KEPT.len()];

/// A run of a group.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    pub(super) id: String,
    pub(super) ended: String,
    pub(super) status: String,
    /// What a matrix says to be careful about.
    pub(super) flags: String,
}

impl Run {
    /// Whether its figures are of something else than those of whole runs.
    pub(super) fn spoilt(&self) -> bool {
        matches!(self.status.as_str(), "interrupted" | "stopped" | "too_short")
            || self.flags.split(' ').any(|flag| matches!(flag, "failed" | "interrupted"))
    }
}

/// What a disk did in a stretch of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    pub(super) run: usize,
    pub(super) start_s: f64,
    pub(super) length_s: f64,
    pub(super) ops_per_s: f64,
}

/// Values of columns that are no measures.
pub(super) type Values = BTreeMap<Column, BTreeSet<String>>;

/// Runs of one kind: of a file, a cell and one set of options.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    pub(super) file: String,
    pub(super) cell: String,
    pub(super) run_label: String,
    /// How the page calls it.
    pub(super) label: String,
    pub(super) runs: Vec<Run>,
    /// In the order of the file.
    pub(super) disks: Vec<String>,
    pub(super) values: Values,
    pub(super) disk_values: HashMap<String, Values>,
    pub(super) disk_status: HashMap<String, BTreeSet<String>>,
    /// By disk and operation, with the index of the run.
    pub(super) figures: HashMap<(String, String), Vec<(usize, Figures)>>,
    pub(super) intervals: HashMap<String, Vec<Interval>>,
    /// By disk, operation and name of the error.
    pub(super) errors: BTreeMap<(String, String, String), u64>,
}

impl Group {
    /// Whether the figures of a run count: spoilt ones only where there are no others.
    pub(super) fn counts(&self, run: usize) -> bool {
        !self.runs[run].spoilt() || self.runs.iter().all(Run::spoilt)
    }

    /// Number of runs that count.
    pub(super) fn counted(&self) -> usize {
        (0..self.runs.len()).filter(|run| self.counts(*run)).count()
    }

    /// A number over all runs that count: the sum of counts, the largest maximum, else the
    /// geometric mean.
    pub(super) fn value(&self, disk: &str, op: &str, column: Column) -> Option<f64> {
        let slot = KEPT.iter().position(|kept| *kept == column)?;
        let rows = self.figures.get(&(disk.to_owned(), op.to_owned()))?;
        let values: Vec<f64> = rows
            .iter()
            .filter(|(run, figures)| self.counts(*run) && !figures[slot].is_nan())
            .map(|(_, figures)| figures[slot])
            .collect();
        together(column, &values)
    }

    /// Operations of the whole load, the most frequent first.
    pub(super) fn ops(&self) -> Vec<String> {
        let mut ops: Vec<(&str, f64)> = self
            .figures
            .keys()
            .filter(|(disk, op)| disk == "all" && op != "all")
            .map(|(_, op)| (op.as_str(), self.value("all", op, Column::Ops).unwrap_or(0.0)))
            .collect();
        ops.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        ops.into_iter().map(|(op, _)| op.to_owned()).collect()
    }
}

/// Numbers of several runs as one.
fn together(column: Column, values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    Some(match column {
        Column::Ops | Column::Errors | Column::Passes | Column::StalledS => values.iter().sum(),
        Column::LatMaxUs => values.iter().copied().fold(0.0, f64::max),
        _ if values.iter().all(|value| *value > 0.0) => {
            (values.iter().map(|value| value.ln()).sum::<f64>() / n).exp()
        }
        _ => values.iter().sum::<f64>() / n,
    })
}

/// Each once, in the order in which they first come.
pub(super) fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut out = Vec::new();
    for one in all {
        if !out.contains(&one) {
            out.push(one);
        }
    }
    out
}

/// An effect, as a matrix has found it.
#[derive(Clone, Debug, Default)]
pub(super) struct Effect {
    pub(super) file: String,
    pub(super) experiment: String,
    /// main, simple or interaction.
    pub(super) kind: String,
    pub(super) factor: String,
    pub(super) level_a: String,
    pub(super) level_b: String,
    pub(super) held: String,
    pub(super) metric: String,
    pub(super) exploratory: bool,
    pub(super) n: Option<f64>,
    pub(super) change: Option<f64>,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
    pub(super) confidence: Option<f64>,
    pub(super) half_width: Option<f64>,
    pub(super) p_adjusted: Option<f64>,
    pub(super) verdict: String,
    pub(super) needed: Option<f64>,
    pub(super) margin: Option<f64>,
    pub(super) speed_up: Option<f64>,
    pub(super) efficiency: Option<f64>,
}

impl Effect {
    /// Whether it answers the same question as another one: a file that grew has it twice.
    pub(super) fn same_question(&self, other: &Self) -> bool {
        self.question() == other.question()
    }

    fn question(&self) -> [&str; 8] {
        [
            &self.file,
            &self.experiment,
            &self.kind,
            &self.factor,
            &self.level_a,
            &self.level_b,
            &self.held,
            &self.metric,
        ]
    }
}

/// All that was read.
#[derive(Debug, Default)]
pub(super) struct Material {
    pub(super) files: Vec<String>,
    pub(super) groups: Vec<Group>,
    pub(super) effects: Vec<Effect>,
}

impl Material {
    /// A table without its column of groups, where there is only one.
    pub(super) fn tell_apart(&self, table: Table, column: usize) -> Table {
        if self.groups.len() == 1 { table.without(column) } else { table }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_runs_as_one() {
        // Geometric mean of 2 and 8 is 4; sums and maxima are what they are.
        assert!((together(Column::OpsPerS, &[2.0, 8.0]).unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(together(Column::OpsPerS, &[0.0, 8.0]), Some(4.0));
        assert_eq!(together(Column::Errors, &[2.0, 8.0]), Some(10.0));
        assert_eq!(together(Column::LatMaxUs, &[2.0, 8.0]), Some(8.0));
        assert_eq!(together(Column::OpsPerS, &[]), None);
    }

    #[test]
    fn a_failed_run_counts_where_there_is_no_other() {
        let run = |flags: &str| Run { flags: flags.to_owned(), ..Run::default() };
        let mut group = Group { runs: vec![run("busy_device failed")], ..Group::default() };
        assert!(group.counts(0));
        group.runs.push(run("busy_device"));
        assert!(!group.counts(0) && group.counts(1) && group.counted() == 1);
    }
}
