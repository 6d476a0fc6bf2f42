//! What a client leaves behind.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::fault::Fault;
use crate::metrics::Tally;
use crate::op::OpKind;

/// Sums of one client, one for each operation by [`OpKind::index`].
pub type Tallies = [Tally; OpKind::COUNT];

/// What a client has done when it ended.
#[derive(Clone, Debug)]
pub struct ClientReport {
    /// Its number within its disk.
    pub client: u32,
    /// Operations that started in the measured window.
    pub tallies: Box<Tallies>,
    /// The same until the first client of the disk was done, if one was before this one.
    pub while_all_active: Option<Box<Tallies>>,
    /// Operations of the warm-up that missed their expected status.
    pub warmup_errors: u64,
    /// Operations that started later than their schedule by more than a whole period, or, with
    /// timestamps, by more than 1 ms.
    pub late_ops: u64,
    /// Its passes.
    pub passes: PassTimes,
    /// When it ended, in nanoseconds of the run's clock.
    pub ended_ns: u64,
    /// Why it ended.
    pub ended: Ended,
    /// What it waited for when it ended.
    pub waiting: Option<Waiting>,
}

/// Why a client ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It did all its passes.
    Passes,
    /// Time was up, or the run was stopped.
    Stopped,
}

/// A WAITSP that had not come true when the client ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Line of the loadfile.
    pub line: u32,
    /// Client that was waited for.
    pub for_client: i64,
    /// Value that was waited for.
    pub value: i64,
    /// Since when, in nanoseconds of the run's clock.
    pub since_ns: u64,
}

/// Whole passes within the measured window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassTimes {
    /// How many.
    pub count: u64,
    /// Sum of their durations, in nanoseconds.
    pub sum_ns: u64,
    /// Shortest, in nanoseconds.
    pub min_ns: Option<u64>,
    /// Longest, in nanoseconds.
    pub max_ns: Option<u64>,
    /// Start and duration of each, in nanoseconds, when they are asked for.
    pub each: Vec<(u64, u64)>,
}

impl PassTimes {
    /// Adds a pass.
    pub fn add(&mut self, start_ns: u64, duration_ns: u64, keep: bool) {
        self.count += 1;
        self.sum_ns += duration_ns;
        self.min_ns = Some(self.min_ns.map_or(duration_ns, |min| min.min(duration_ns)));
        self.max_ns = self.max_ns.max(Some(duration_ns));
        if keep {
            self.each.push((start_ns, duration_ns));
        }
    }

    /// Adds another client's.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.min_ns = [self.min_ns, other.min_ns].into_iter().flatten().min();
        self.max_ns = self.max_ns.max(other.max_ns);
        self.each.extend_from_slice(&other.each);
    }
}

/// One unexpected outcome, in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorSample {
    /// When it ended, in nanoseconds of the run's clock.
    pub at_ns: u64,
    /// The client.
    pub client: u32,
    /// Line of the loadfile.
    pub line: u32,
    /// The operation.
    pub op: OpKind,
    /// The path, or the one that the handle was opened by.
    pub path: String,
    /// What went wrong.
    pub fault: Fault,
}

/// The first unexpected outcomes of a disk. Only a failing operation comes here.
#[derive(Debug, Default)]
pub struct ErrorLog {
    seen: AtomicU64,
    kept: Mutex<Vec<ErrorSample>>,
}

impl ErrorLog {
    /// How many are kept in full.
    pub const KEPT: usize = 10;

    /// Counts one and keeps it if it is among the first.
    #[cold]
    pub fn add(&self, sample: impl FnOnce() -> ErrorSample) {
        if self.seen.fetch_add(1, Relaxed) < Self::KEPT as u64
            && let Ok(mut kept) = self.kept.lock()
        {
            kept.push(sample());
        }
    }

    /// How many there were, warm-up included.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.seen.load(Relaxed)
    }

    /// The first ones, by time.
    #[must_use]
    pub fn first(&self) -> Vec<ErrorSample> {
        let mut kept = self.kept.lock().map(|kept| kept.clone()).unwrap_or_default();
        kept.sort_by_key(|sample| sample.at_ns);
        kept
    }
}
