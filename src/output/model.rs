//! What the text at the end is made from: plain data, filled by whoever ran the load.

use crate::metrics::{DiskTotals, PhaseTotals};

/// How a disk, or a whole run, came out: the words of the column `status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Everything as expected.
    Ok,
    /// Some operations missed their expected status.
    Errors,
    /// The file system, or a quota, ran full.
    NoSpace,
    /// The device gave I/O errors or went away while the load ran.
    Gone,
    /// An operation did not come back in time.
    Hung,
    /// Stopped by `--on-error` before the window closed.
    Stopped,
    /// Stopped by a signal before the window closed.
    Interrupted,
    /// The window was too short for a rate.
    TooShort,
    /// Read-only: left out, or turned so while the load ran.
    ReadOnly,
    /// Left out for another reason; the column `errno` has it.
    Skipped,
    /// A row that counts all errors of one kind.
    Total,
    /// A row about a single error, one of the first ten of its disk.
    Sample,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 12] = [
        Self::Ok,
        Self::Errors,
        Self::NoSpace,
        Self::Gone,
        Self::Hung,
        Self::Stopped,
        Self::Interrupted,
        Self::TooShort,
        Self::ReadOnly,
        Self::Skipped,
        Self::Total,
        Self::Sample,
    ];

    /// The word in the result file.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Errors => "errors",
            Self::NoSpace => "enospc",
            Self::Gone => "gone",
            Self::Hung => "hung",
            Self::Stopped => "stopped",
            Self::Interrupted => "interrupted",
            Self::TooShort => "too_short",
            Self::ReadOnly => "readonly",
            Self::Skipped => "skipped",
            Self::Total => "total",
            Self::Sample => "sample",
        }
    }

    /// Whether the disk was left out from the start.
    #[must_use]
    pub const fn is_left_out(self) -> bool {
        matches!(self, Self::ReadOnly | Self::Skipped)
    }
}

/// A disk in the text at the end.
#[derive(Clone, Debug)]
pub struct DiskLine {
    /// The disk's label.
    pub label: String,
    /// How it came out.
    pub status: Status,
    /// Name of the load it ran: only disks under one load are compared with each other.
    pub load: String,
    /// Operations and bytes per second while all its clients were active; `None` when there was no
    /// such time. Not to be had from `totals`, which hold what came later, too.
    pub rates: Option<(f64, f64)>,
    /// What was counted.
    pub totals: DiskTotals,
    /// Whole passes, all its clients together.
    pub passes: u64,
    /// Mean time of a pass, when there was one.
    pub pass_mean_s: Option<f64>,
}

/// A phase of the load in the text at the end, over all disks.
#[derive(Clone, Debug)]
pub struct PhaseLine {
    /// Its name.
    pub name: String,
    /// What was counted in it.
    pub totals: PhaseTotals,
}

/// The whole run in the text at the end.
#[derive(Clone, Debug)]
pub struct Report {
    /// The disks in the order they were given.
    pub disks: Vec<DiskLine>,
    /// The load's phases in their order; empty where it has none.
    pub phases: Vec<PhaseLine>,
    /// Seconds that the rates of all disks together are taken over.
    pub window_s: f64,
    /// Sentences that follow the tables.
    pub notes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_explains_every_status() {
        let page = include_str!("../../docs/output.md");
        for status in Status::ALL {
            let entry = format!("\n| `{}` |", status.word());
            assert!(page.contains(&entry), "docs/output.md does not explain {}", status.word());
        }
    }
}
