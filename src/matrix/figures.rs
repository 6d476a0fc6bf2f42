//! What was measured, by block and cell: from the rows of this try, or from those of an earlier one.

use std::collections::{BTreeMap, BTreeSet};

use super::Metric;
use crate::output::{Column, Row};

/// A figure's place in a run: disk, operation, column.
type Place = (String, String, Column);

/// Figures of runs.
#[derive(Debug, Default)]
pub(super) struct Figures {
    cells: usize,
    /// By block, from 1, and cell.
    runs: BTreeMap<(u64, usize), Run>,
    /// How callers stood to directories, by cell.
    relations: BTreeMap<usize, BTreeSet<String>>,
}

#[derive(Debug, Default)]
struct Run {
    values: BTreeMap<Place, f64>,
    failed: bool,
}

impl Figures {
    pub(super) fn new(cells: usize) -> Self {
        Self { cells, ..Self::default() }
    }

    /// Takes a summary row of a run, by its cells' texts.
    pub(super) fn take(&mut self, block: u64, cell: usize, text: impl Fn(Column) -> String) {
        let run = self.runs.entry((block, cell)).or_default();
        let flags = text(Column::Flags);
        run.failed |= flags.split(' ').any(|flag| matches!(flag, "failed" | "interrupted"));
        let (disk, op) = (text(Column::Disk), text(Column::Op));
        if disk == "all" {
            return;
        }
        let relation = text(Column::Relation);
        if !relation.is_empty() {
            self.relations.entry(cell).or_default().insert(relation);
        }
        for column in Metric::columns() {
            if let Ok(value) = text(column).parse() {
                run.values.insert((disk.clone(), op.clone(), column), value);
            }
        }
    }

    /// The same from a row of this try.
    pub(super) fn take_rows(&mut self, block: u64, cell: usize, rows: &[Row]) {
        for row in rows {
            if row.get(Column::Row).csv() == "summary" {
                self.take(block, cell, |column| row.get(column).csv().into_owned());
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
            let disks: BTreeSet<&str> =
                run.values.keys().map(|(disk, _, _)| disk.as_str()).collect();
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
                let place = ((*disk).to_owned(), metric.op().to_owned(), metric.column());
                sum += run.values.get(&place)?.ln();
            }
            (!disks.is_empty()).then_some(sum / disks.len() as f64)
        };
        let blocks = self.whole_blocks().into_iter();
        blocks
            .map(|block| (0..self.cells).map(|cell| log(block, cell).unwrap_or(f64::NAN)).collect())
            .collect()
    }

    /// Number of disks whose figures count.
    pub(super) fn disk_count(&self) -> usize {
        self.disks().len()
    }

    /// Operations that were measured anywhere.
    pub(super) fn ops(&self) -> BTreeSet<&str> {
        let places = self.runs.values().flat_map(|run| run.values.keys());
        places.map(|(_, op, _)| op.as_str()).filter(|op| *op != "all").collect()
    }

    /// How the caller stood to the directories in a cell, if that was looked at: `other`.
    pub(super) fn relation(&self, cell: usize) -> Option<String> {
        let words: Vec<&str> = self.relations.get(&cell)?.iter().map(String::as_str).collect();
        Some(words.join("/"))
    }
}
