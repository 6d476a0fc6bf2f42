//! What a shard's counters hold right now, without their histograms: cheap enough for once a second
//! and client.

use std::sync::atomic::Ordering::Relaxed;

use super::shard::Shard;
use crate::op::OpKind;

/// Counters of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Operations that were tried.
    pub ops: u64,
    /// Operations that could not be tried.
    pub skipped: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Sum of the latencies, in nanoseconds.
    pub sum_ns: u64,
}

impl Counts {
    /// What came since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            ops: self.ops.saturating_sub(earlier.ops),
            skipped: self.skipped.saturating_sub(earlier.skipped),
            bytes: self.bytes.saturating_sub(earlier.bytes),
            sum_ns: self.sum_ns.saturating_sub(earlier.sum_ns),
        }
    }
}

impl Shard {
    /// Counters of an operation.
    #[must_use]
    pub fn counts(&self, op: OpKind) -> Counts {
        let cell = self.cell(op);
        Counts {
            ops: cell.ops.load(Relaxed),
            skipped: cell.skipped.load(Relaxed),
            bytes: cell.bytes.load(Relaxed),
            sum_ns: cell.sum_ns.load(Relaxed),
        }
    }

    /// Longest latency in nanoseconds since this was last asked. Summaries that are read later know only
    /// what came after: who asks keeps what it is told.
    #[must_use]
    pub fn take_max_ns(&self, op: OpKind) -> u64 {
        self.cell(op).max_ns.swap(0, Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Sample;

    #[test]
    fn counts_and_maxima_by_hand() {
        let shard = Shard::new(false);
        let op = OpKind::ReadX;
        for latency_ns in [5, 9, 7] {
            shard.record(Sample { op, latency_ns, bytes: 10, fault: None });
        }
        shard.skip(op);
        let first = shard.counts(op);
        assert_eq!(first, Counts { ops: 3, skipped: 1, bytes: 30, sum_ns: 21 });
        assert_eq!((shard.take_max_ns(op), shard.take_max_ns(op)), (9, 0));
        shard.record(Sample { op, latency_ns: 4, bytes: 1, fault: None });
        assert_eq!(shard.take_max_ns(op), 4);
        let since = shard.counts(op).since(first);
        assert_eq!(since, Counts { ops: 1, skipped: 0, bytes: 1, sum_ns: 4 });
    }
}
