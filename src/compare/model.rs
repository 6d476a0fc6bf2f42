//! A run as it is compared: who it is, what it ran under, and its numbers.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::metric::{Metric, is_measure};
use crate::output::{Column, Role};

/// The measured numbers of a row.
#[derive(Clone, Debug)]
pub(super) struct Measures(Box<[f64]>);

impl Measures {
    /// All unknown.
    pub(super) fn new() -> Self {
        Self(vec![f64::NAN; Self::columns().count()].into())
    }

    /// Each measured column with its place here.
    pub(super) fn columns() -> impl Iterator<Item = (usize, Column)> {
        Column::ALL.iter().copied().filter(|column| is_measure(*column)).enumerate()
    }

    pub(super) fn set(&mut self, slot: usize, value: f64) {
        self.0[slot] = value;
    }

    fn get(&self, column: Column) -> Option<f64> {
        let (slot, _) = Self::columns().find(|(_, known)| *known == column)?;
        Some(self.0[slot]).filter(|value| !value.is_nan())
    }
}

/// One measured window on all its disks: the unit of all statistics.
#[derive(Clone, Debug, Default)]
pub(super) struct Run {
    /// Its file, as given.
    pub(super) file: String,
    pub(super) id: String,
    pub(super) experiment: String,
    pub(super) boot: String,
    pub(super) host: String,
    pub(super) kernel: String,
    pub(super) host_sha256: String,
    pub(super) cell: String,
    pub(super) block: Option<u64>,
    /// Blocks that were planned when it was run, where a matrix says so.
    pub(super) planned: Option<u64>,
    /// What a matrix says to be careful about: `failed`, `busy_device`.
    pub(super) flags: String,
    /// When it ended: RFC 3339 in UTC, so that texts sort as times.
    pub(super) ended: String,
    /// Whether its rate was level, where that is known.
    pub(super) steady: Option<bool>,
    /// Status of each disk, and of `all`.
    pub(super) status: BTreeMap<String, String>,
    /// Values of each column that is a key, condition or fact; absent for a column that the file
    /// does not have. Empty text is a value: "not set".
    pub(super) values: BTreeMap<Column, BTreeSet<String>>,
    pub(super) rows: HashMap<(String, String), Measures>,
    /// Rows of phases, by phase, disk and operation.
    pub(super) phases: HashMap<[String; 3], Measures>,
}

impl Run {
    pub(super) fn note_status(&mut self, disk: &str, status: &str) {
        self.status.insert(disk.to_owned(), status.to_owned());
    }

    /// Takes a value of the row of a disk, or of all.
    pub(super) fn note_condition(&mut self, column: Column, value: &str) {
        if column.role() == Role::Measure {
            return;
        }
        let values = self.values.entry(column).or_default();
        // The row of all disks together has no file system of its own.
        if !value.is_empty() {
            values.insert(value.to_owned());
        }
    }

    pub(super) fn insert(&mut self, disk: &str, op: &str, measures: Measures) {
        self.rows.insert((disk.to_owned(), op.to_owned()), measures);
    }

    /// The number that a metric names.
    pub(super) fn value(&self, metric: &Metric) -> Option<f64> {
        let (disk, op) = (metric.disk.clone(), metric.op.clone());
        if !metric.phase.is_empty() {
            return self.phases.get(&[metric.phase.clone(), disk, op])?.get(metric.column);
        }
        self.rows.get(&(disk, op))?.get(metric.column)
    }

    /// Its logarithm, where it has one.
    pub(super) fn log(&self, metric: &Metric) -> Option<f64> {
        self.value(metric).filter(|value| *value > 0.0).map(f64::ln)
    }

    /// The values of a column in one text; `None` where the file does not have the column.
    pub(super) fn text(&self, column: Column) -> Option<String> {
        let values = self.values.get(&column)?;
        Some(values.iter().map(String::as_str).collect::<Vec<_>>().join(" and "))
    }

    /// Labels of its disks.
    pub(super) fn disks(&self) -> BTreeSet<&str> {
        self.rows.keys().map(|(disk, _)| disk.as_str()).filter(|disk| *disk != "all").collect()
    }

    /// Words of its operations.
    pub(super) fn ops(&self) -> BTreeSet<&str> {
        self.rows.keys().map(|(_, op)| op.as_str()).filter(|op| *op != "all").collect()
    }

    /// Status of the whole run.
    pub(super) fn status(&self) -> &str {
        self.status.get("all").map_or("", String::as_str)
    }

    /// Number of disks that took part.
    pub(super) fn took_part(&self) -> usize {
        let left_out = |status: &str| matches!(status, "skipped" | "readonly");
        self.status.iter().filter(|(disk, s)| *disk != "all" && !left_out(s)).count()
    }

    /// Why its numbers are of something else than the other runs': it was ended before its window
    /// closed, or a command around it failed.
    pub(super) fn spoilt(&self) -> Option<&'static str> {
        let flagged = |word: &str| self.flags.split(' ').any(|flag| flag == word);
        if matches!(self.status(), "interrupted" | "stopped" | "too_short")
            || flagged("interrupted")
        {
            Some("it was ended before its window closed")
        } else if flagged("failed") {
            Some("the matrix calls it failed")
        } else {
            None
        }
    }

    /// How messages call it.
    pub(super) fn name(&self) -> String {
        let block = self.block.map(|block| format!(", block {block}")).unwrap_or_default();
        let cell = if self.cell.is_empty() { String::new() } else { format!(", {}", self.cell) };
        format!("{}: run {}{block}{cell}", self.file, self.id)
    }
}
