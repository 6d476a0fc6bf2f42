//! What was measured, by block and cell: from the rows of this try, or from those of an earlier one.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::Metric;
use super::metric::{PHASE, Values, in_phase};
use crate::output::{Column, Row};

/// Figures of runs.
#[derive(Debug, Default)]
pub(super) struct Figures {
    cells: usize,
    /// By block, from 1, and cell.
    runs: BTreeMap<(u64, usize), Run>,
    /// Phases of the load, in its order.
    phases: Vec<String>,
    /// How callers stood to directories, by cell.
    relations: BTreeMap<usize, BTreeSet<String>>,
}

#[derive(Debug, Default)]
struct Run {
    /// By disk, and by operation: the worker keeps all runs of a shelf while it measures.
    values: BTreeMap<String, BTreeMap<String, Values>>,
    /// Of all disks together, by phase and operation.
    phases: BTreeMap<(String, String), Values>,
    failed: bool,
}

impl Run {
    fn value(&self, disk: &str, metric: &Metric) -> Option<f64> {
        metric.value(self.values.get(disk)?.get(metric.op())?)
    }
}

impl Figures {
    pub(super) fn new(cells: usize) -> Self {
        Self { cells, ..Self::default() }
    }

    /// Takes a summary row of a run, or that of a phase, by its cells' texts.
    pub(super) fn take<'t>(
        &mut self,
        block: u64,
        cell: usize,
        text: impl Fn(Column) -> Cow<'t, str>,
    ) {
        let run = self.runs.entry((block, cell)).or_default();
        let flags = text(Column::Flags);
        run.failed |= flags.split(' ').any(|flag| matches!(flag, "failed" | "interrupted"));
        let (disk, op, phase) = (text(Column::Disk), text(Column::Op), text(Column::Phase));
        if disk == "all" {
            if !phase.is_empty() {
                if !self.phases.iter().any(|known| *known == phase) {
                    self.phases.push(phase.clone().into_owned());
                }
                let key = (phase.into_owned(), op.into_owned());
                run.phases.insert(key, Metric::values(&text));
            }
            return;
        }
        let op = if phase.is_empty() { op.into_owned() } else { in_phase(&op, &phase) };
        let relation = text(Column::Relation);
        // Where nobody asked for a user or an owner it explains nothing.
        let asked = !text(Column::Cred).is_empty() || !text(Column::DirOwner).is_empty();
        if asked && !relation.is_empty() {
            self.relations.entry(cell).or_default().insert(relation.into_owned());
        }
        let values = Metric::values(text);
        if values.iter().any(|value| !value.is_nan()) {
            run.values.entry(disk.into_owned()).or_default().insert(op, values);
        }
    }

    /// The same from a row of this try.
    pub(super) fn take_rows(&mut self, block: u64, cell: usize, rows: &[Row]) {
        for row in rows {
            if is_taken(&row.get(Column::Row).csv()) {
                self.take(block, cell, |column| row.get(column).csv());
            }
        }
    }

    /// Blocks in which every cell was run, whatever came of it.
    pub(super) fn whole_blocks(&self) -> Vec<u64> {
        let blocks: BTreeSet<u64> = self.runs.keys().map(|(block, _)| *block).collect();
        let whole =
            |block: &u64| (0..self.cells).all(|cell| self.runs.contains_key(&(*block, cell)));
        blocks.into_iter().filter(whole).collect()
    }

    /// Disks that were there in every run that is usable.
    fn disks(&self) -> Vec<&str> {
        let mut common: Option<BTreeSet<&str>> = None;
        for run in self.runs.values().filter(|run| !run.failed) {
            let disks: BTreeSet<&str> = run.values.keys().map(String::as_str).collect();
            common = Some(match common {
                None => disks,
                Some(known) => known.intersection(&disks).copied().collect(),
            });
        }
        common.unwrap_or_default().into_iter().collect()
    }

    /// The logarithm of a metric in every whole block, one per cell: the mean over disks, each of
    /// which is thereby its own control. Not a number where a run failed or has no such figure.
    pub(super) fn logs(&self, metric: &Metric) -> Vec<Vec<f64>> {
        let disks = self.disks();
        let log = |block, cell| {
            let run = self.runs.get(&(block, cell)).filter(|run| !run.failed)?;
            let mut sum = 0.0;
            for disk in &disks {
                sum += run.value(disk, metric)?.ln();
            }
            (!disks.is_empty()).then_some(sum / disks.len() as f64)
        };
        let blocks = self.whole_blocks().into_iter();
        blocks
            .map(|block| (0..self.cells).map(|cell| log(block, cell).unwrap_or(f64::NAN)).collect())
            .collect()
    }

    /// Geometric mean of a metric over all usable runs, by disk.
    pub(super) fn disk_means(&self, metric: &Metric) -> Vec<(&str, f64)> {
        let mean = |disk: &str| {
            let runs = self.runs.values().filter(|run| !run.failed);
            let logs: Vec<f64> =
                runs.filter_map(|run| Some(run.value(disk, metric)?.ln())).collect();
            (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
        };
        self.disks().into_iter().filter_map(|disk| Some((disk, mean(disk)?))).collect()
    }

    /// Phases of the load, in its order.
    pub(super) fn phases(&self) -> &[String] {
        &self.phases
    }

    /// What an operation (or `all`) in a phase came to in each usable run of a cell, all disks
    /// together.
    pub(super) fn of_phase(&self, cell: usize, phase: &str, op: &str) -> Vec<&Values> {
        let key = (phase.to_owned(), op.to_owned());
        let runs = self.runs.iter().filter(|((_, of), run)| *of == cell && !run.failed);
        runs.filter_map(|(_, run)| run.phases.get(&key)).collect()
    }

    /// The operations of a phase.
    pub(super) fn ops_of_phase(&self, phase: &str) -> BTreeSet<&str> {
        let keys = self.runs.values().flat_map(|run| run.phases.keys());
        let ops = keys.filter(|(of, op)| of == phase && op != "all");
        ops.map(|(_, op)| op.as_str()).collect()
    }

    /// Number of disks whose figures count.
    pub(super) fn disk_count(&self) -> usize {
        self.disks().len()
    }

    /// Operations that were measured anywhere.
    pub(super) fn ops(&self) -> BTreeSet<&str> {
        let disks = self.runs.values().flat_map(|run| run.values.values());
        let ops = disks.flat_map(BTreeMap::keys).map(String::as_str);
        ops.filter(|op| *op != "all" && !op.contains(PHASE)).collect()
    }

    /// How the caller stood to the directories in a cell, if that was looked at: `other`.
    pub(super) fn relation(&self, cell: usize) -> Option<String> {
        let words: Vec<&str> = self.relations.get(&cell)?.iter().map(String::as_str).collect();
        Some(words.join("/"))
    }
}

/// Kinds of rows that hold figures of a run.
pub(super) fn is_taken(kind: &str) -> bool {
    matches!(kind, "summary" | "phase")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(disk: &str, ops_per_s: f64, flags: &str) -> Row {
        let mut row = Row::new();
        row.set(Column::Row, "summary").set(Column::Disk, disk).set(Column::Op, "all");
        row.set(Column::OpsPerS, ops_per_s).set(Column::Flags, flags);
        row
    }

    /// Blocks of two cells on two disks; logarithms to base e of powers of it.
    #[test]
    fn a_run_is_the_mean_over_its_disks() {
        let e = |x: f64| x.exp();
        let mut figures = Figures::new(2);
        figures.take_rows(
            1,
            0,
            &[row("/a", e(1.0), ""), row("/b", e(3.0), ""), row("all", 9.0, "")],
        );
        figures.take_rows(1, 1, &[row("/a", e(2.0), ""), row("/b", e(5.0), "busy_device")]);
        figures.take_rows(2, 0, &[row("/a", e(1.0), "failed"), row("/b", e(3.0), "failed")]);
        figures.take_rows(2, 1, &[row("/a", e(2.0), ""), row("/b", e(4.0), "")]);
        figures.take_rows(3, 0, &[row("/a", e(2.0), ""), row("/b", e(4.0), "")]);
        assert_eq!(figures.whole_blocks(), [1, 2], "the third lacks a cell");
        let logs = figures.logs(&Metric::ops_per_s());
        assert!((logs[0][0] - 2.0).abs() < 1e-5 && (logs[0][1] - 3.5).abs() < 1e-5, "{logs:?}");
        assert!(logs[1][0].is_nan() && (logs[1][1] - 3.0).abs() < 1e-5, "{logs:?}");
        assert_eq!(figures.disk_count(), 2);
        // /a: 1, 2, 2, 2; the failed run does not count.
        assert!((figures.disk_means(&Metric::ops_per_s())[0].1.ln() - 1.75).abs() < 1e-5);
    }
}
