//! What pool threads write: per operation a count, sums, extremes and a histogram.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::histogram::{LiveHistogram, bump};
use crate::fault::Fault;
use crate::op::OpKind;

/// An operation that takes longer than this is time stalled, in nanoseconds.
pub(super) const STALL_NS: u64 = 1_000_000_000;

/// One finished operation.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// What it was.
    pub op: OpKind,
    /// Issue to completion as the client sees it, in nanoseconds.
    pub latency_ns: u64,
    /// Bytes that were moved.
    pub bytes: u64,
    /// How it missed the expected status, if it did.
    pub fault: Option<Fault>,
}

/// Counters of one operation in one shard.
#[derive(Debug)]
pub struct OpCell {
    pub(super) ops: AtomicU64,
    pub(super) errors: AtomicU64,
    pub(super) skipped: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) sum_ns: AtomicU64,
    pub(super) min_ns: AtomicU64,
    pub(super) max_ns: AtomicU64,
    pub(super) stalled_ns: AtomicU64,
    pub(super) histogram: LiveHistogram,
    pub(super) faults: OnceLock<Box<[AtomicU64; Fault::COUNT]>>,
}

impl Default for OpCell {
    fn default() -> Self {
        Self {
            ops: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            sum_ns: AtomicU64::new(0),
            min_ns: AtomicU64::new(u64::MAX),
            max_ns: AtomicU64::new(0),
            stalled_ns: AtomicU64::new(0),
            histogram: LiveHistogram::default(),
            faults: OnceLock::new(),
        }
    }
}

/// The counters that one pool thread, or a group of them, writes to.
#[derive(Debug)]
#[repr(align(128))] // two cache lines: neighbours are prefetched in pairs
pub struct Shard {
    shared: bool,
    cells: Box<[OpCell]>,
}

impl Shard {
    /// A shard for several threads (`shared`) or for one.
    #[must_use]
    pub fn new(shared: bool) -> Self {
        Self { shared, cells: (0..OpKind::COUNT).map(|_| OpCell::default()).collect() }
    }

    /// Counters of an operation.
    #[inline]
    #[must_use]
    pub fn cell(&self, op: OpKind) -> &OpCell {
        &self.cells[op.index()]
    }

    /// Counts a finished operation.
    #[inline]
    pub fn record(&self, sample: Sample) {
        self.cell(sample.op).record(sample, self.shared);
    }

    /// Counts an operation that could not be tried because its handle is not open.
    #[inline]
    pub fn skip(&self, op: OpKind) {
        self.cell(op).skip(self.shared);
    }
}

impl OpCell {
    /// Counts a finished operation; `shared` says that other threads count here too.
    #[inline]
    pub(super) fn record(&self, sample: Sample, shared: bool) {
        let ns = sample.latency_ns;
        bump(&self.ops, 1, shared);
        bump(&self.bytes, sample.bytes, shared);
        bump(&self.sum_ns, ns, shared);
        self.histogram.record(ns, shared);
        if ns < self.min_ns.load(Relaxed) {
            self.min_ns.fetch_min(ns, Relaxed);
        }
        if ns > self.max_ns.load(Relaxed) {
            self.max_ns.fetch_max(ns, Relaxed);
        }
        if ns > STALL_NS {
            self.stalled_ns.fetch_add(ns, Relaxed);
        }
        if let Some(fault) = sample.fault {
            self.count_fault(fault, shared);
        }
    }

    /// Counts one that could not be tried.
    #[inline]
    pub(super) fn skip(&self, shared: bool) {
        bump(&self.skipped, 1, shared);
    }

    #[cold]
    fn count_fault(&self, fault: Fault, shared: bool) {
        bump(&self.errors, 1, shared);
        let table =
            self.faults.get_or_init(|| Box::new([const { AtomicU64::new(0) }; Fault::COUNT]));
        bump(&table[fault.index()], 1, shared);
    }
}
/// Operations that were counted so far by all shards of a disk: cheaper than a whole summary.
#[must_use]
pub fn ops_so_far(shards: &[Shard]) -> u64 {
    let cells = shards.iter().flat_map(|shard| &shard.cells);
    cells.map(|cell| cell.ops.load(Relaxed)).sum()
}
