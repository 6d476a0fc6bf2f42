//! What a matrix is asked to do: factors, cells, blocks.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use super::{Kernels, Metric};
use crate::run::{Hooks, Idle, RunRequest};
use crate::stats::Design;
use crate::units::format_duration;

/// Something that is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// Its name: that of an option of `run` without the dashes, or a free one.
    pub name: String,
    /// Its values as typed; the first one is what the others are compared with.
    pub levels: Vec<String>,
    /// Whether it is no option, and only commands know what it means.
    pub free: bool,
    /// How many of something each level stands for, where that is so: CPUs, clients, threads.
    pub counts: Option<Vec<f64>>,
}

/// The levels in a list of values.
///
/// # Errors
///
/// When one is empty or there twice.
pub fn levels(values: &str, separator: char) -> Result<Vec<String>, String> {
    let levels: Vec<String> =
        values.split(separator).map(|level| level.trim().to_owned()).collect();
    if levels.iter().any(String::is_empty) {
        return Err("a value is empty".into());
    }
    let mut seen = BTreeSet::new();
    match levels.iter().find(|level| !seen.insert(level.as_str())) {
        Some(again) => Err(format!("{again} is there twice")),
        None => Ok(levels),
    }
}

/// One combination of conditions.
#[derive(Clone, Debug)]
pub struct Cell {
    /// `as=nobody;mount-acl=off`.
    pub name: String,
    /// What its runs are asked to do.
    pub request: RunRequest,
}

/// The request of one `matrix` command.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// What is varied; of the cells' order the last one changes fastest.
    pub factors: Vec<Factor>,
    /// Every combination, as [`Design`] numbers them.
    pub cells: Vec<Cell>,
    /// How often every cell is run.
    pub blocks: u64,
    /// What decides the order.
    pub seed: u64,
    /// Commands around the runs.
    pub hooks: Hooks,
    /// When a device counts as idle between runs.
    pub idle: Idle,
    /// What was declared to be looked at first.
    pub metric: Metric,
    /// Changes below this share are none: 0.03 for 3 %.
    pub margin: f64,
    /// The kernels of an experiment over several boots.
    pub kernels: Option<Kernels>,
    /// Whether each cell is run once more under perf.
    pub profile: bool,
    /// The result file to go on with.
    pub resume: Option<PathBuf>,
    /// Remarks about the plan itself.
    pub remarks: Vec<String>,
}

impl Matrix {
    /// The factors' numbers of levels.
    #[must_use]
    pub fn design(&self) -> Design {
        Design::new(&self.factors.iter().map(|factor| factor.levels.len()).collect::<Vec<_>>())
    }

    /// Level texts of a cell, one per factor.
    pub(super) fn levels_of(&self, cell: usize) -> Vec<&str> {
        let at = self.design().at(cell);
        self.factors.iter().zip(at).map(|(factor, level)| factor.levels[level].as_str()).collect()
    }

    /// Runs in all; with several kernels, of this boot.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.blocks * self.cells.len() as u64
    }

    /// Warm-up and measured time of one run; `None` where only passes end it.
    pub(super) fn run_time(&self) -> Option<Duration> {
        // The slowest counts: time may be varied, too.
        let each = self.cells.iter().map(|cell| Some(cell.request.time? + cell.request.warmup));
        each.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// Whether some runs have to remount the disks, so that all do.
    pub(super) fn remounts(&self) -> bool {
        self.cells.iter().any(|cell| cell.request.conditions.mount_acl.is_a_change())
    }

    /// Factors with their levels: `as (root, nobody) x mount-acl (on, off)`.
    pub(super) fn factors_text(&self) -> String {
        let one = |factor: &Factor| format!("{} ({})", factor.name, factor.levels.join(", "));
        let mut all: Vec<String> = self.factors.iter().map(one).collect();
        all.extend(self.kernels.iter().map(|kernels| {
            format!("kernel ({}; {} boots of each)", kernels.levels.join(", "), kernels.boots)
        }));
        all.join(" x ")
    }

    /// Everything that makes two tries the same experiment, but for the number of blocks: lines of
    /// `key value`, always in this order. `cells` adds what was found out about each of them.
    pub(super) fn canonical_text(&self, disks: &[String], cells: &[String]) -> String {
        let mut text = String::new();
        for factor in &self.factors {
            let _ = writeln!(text, "factor {} {}", factor.name, factor.levels.join(" "));
        }
        if let Some(kernels) = &self.kernels {
            let _ = writeln!(text, "kernels {}", kernels.text());
        }
        for (cell, found) in self.cells.iter().zip(cells) {
            let _ = writeln!(text, "cell {} {} {found}", cell.name, cell.request.options_text());
        }
        for disk in disks {
            let _ = writeln!(text, "disk {disk}");
        }
        let idle =
            format!("{} {}", format_duration(self.idle.quiet), format_duration(self.idle.limit));
        let (seed, metric, hooks) = (self.seed, &self.metric, self.hooks.text());
        let _ = writeln!(text, "seed {seed}\nidle {idle}\nmetric {metric}\nhooks {hooks}");
        text
    }
}
