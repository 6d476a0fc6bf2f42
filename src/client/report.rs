//! What a client leaves behind.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

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

/// The unexpected outcomes of a disk, the first of each kind: operation, fault and line. Only a
/// failing operation comes here.
#[derive(Debug)]
pub struct ErrorLog {
    /// Kinds that are kept, each at a place that follows from it: a disk that answers every call with
    /// the same error does not make its clients wait for a lock.
    known: [AtomicU64; 64],
    full: AtomicBool,
    kept: Mutex<Vec<ErrorSample>>,
    allowed_skips: AtomicU64,
}

impl Default for ErrorLog {
    fn default() -> Self {
        Self {
            known: std::array::from_fn(|_| AtomicU64::new(0)),
            full: AtomicBool::new(false),
            kept: Mutex::default(),
            allowed_skips: AtomicU64::new(0),
        }
    }
}

impl ErrorLog {
    /// How many are kept in full.
    pub const KEPT: usize = 10;

    /// Keeps one if it is the first of its kind and there is room.
    #[cold]
    pub fn add(&self, op: OpKind, fault: Fault, line: u32, sample: impl FnOnce() -> ErrorSample) {
        if self.full.load(Relaxed) {
            return;
        }
        // Lines count from 1: no kind is 0.
        let kind = (op.index() as u64) << 48 | (fault.index() as u64) << 32 | u64::from(line);
        let place = &self.known[(kind ^ kind >> 29 ^ kind >> 45) as usize % self.known.len()];
        if place.load(Relaxed) == kind {
            return;
        }
        let Ok(mut kept) = self.kept.lock() else { return };
        let same = |kept: &ErrorSample| (kept.op, kept.fault, kept.line) == (op, fault, line);
        if kept.len() < Self::KEPT && !kept.iter().any(same) {
            kept.push(sample());
            self.full.store(kept.len() == Self::KEPT, Relaxed);
        }
        place.store(kind, Relaxed);
    }

    /// An operation of the window was skipped whose line says that it may fail.
    pub(super) fn allow_skip(&self) {
        self.allowed_skips.fetch_add(1, Relaxed);
    }

    /// How many operations were skipped that might have failed as well: they are no error.
    #[must_use]
    pub fn allowed_skips(&self) -> u64 {
        self.allowed_skips.load(Relaxed)
    }

    /// Those that were kept, by time.
    #[must_use]
    pub fn first(&self) -> Vec<ErrorSample> {
        let mut kept = self.kept.lock().map(|kept| kept.clone()).unwrap_or_default();
        kept.sort_by_key(|sample| sample.at_ns);
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_each_kind_is_kept() {
        let log = ErrorLog::default();
        let add = |line, errno, client| {
            let (op, fault) = (OpKind::ReadX, Fault::Errno(errno));
            let path = String::new();
            log.add(op, fault, line, || ErrorSample { at_ns: 0, client, line, op, path, fault });
        };
        for client in 0..1000 {
            add(7, 5, client);
        }
        add(7, 28, 1);
        add(8, 5, 2);
        let kept: Vec<_> = log.first().iter().map(|s| (s.line, s.client, s.fault)).collect();
        let (eio, enospc) = (Fault::Errno(5), Fault::Errno(28));
        assert_eq!(kept, [(7, 0, eio), (7, 1, enospc), (8, 2, eio)]);
        for line in 1..1000 {
            add(line, 5, 0);
        }
        assert_eq!(log.first().len(), ErrorLog::KEPT);
    }
}
