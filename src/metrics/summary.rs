//! Counters at rest: what a report is made from.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

use super::histogram::Histogram;
use super::shard::{OpCell, Shard};
use crate::fault::Fault;
use crate::op::OpKind;

/// Plain sums that clients, disks and the whole run must agree on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Operations that were tried.
    pub ops: u64,
    /// Operations that missed their expected status.
    pub errors: u64,
    /// Operations that could not be tried.
    pub skipped: u64,
    /// Bytes moved.
    pub bytes: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.ops += other.ops;
        self.errors += other.errors;
        self.skipped += other.skipped;
        self.bytes += other.bytes;
    }
}

/// All that is known of one operation, or of all together, over some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpSummary {
    /// The sums.
    pub tally: Tally,
    /// Sum of the latencies, in nanoseconds.
    pub sum_ns: u64,
    /// Shortest latency in nanoseconds, exact; `u64::MAX` when there is none.
    pub min_ns: u64,
    /// Longest latency in nanoseconds, exact.
    pub max_ns: u64,
    /// Time in operations of more than a second, in nanoseconds.
    pub stalled_ns: u64,
    /// Latencies.
    pub histogram: Histogram,
    /// How often each fault was seen.
    pub faults: BTreeMap<Fault, u64>,
}

impl Default for OpSummary {
    fn default() -> Self {
        Self {
            tally: Tally::default(),
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            stalled_ns: 0,
            histogram: Histogram::default(),
            faults: BTreeMap::new(),
        }
    }
}

impl OpSummary {
    /// All operations of all shards of a disk together.
    #[must_use]
    pub fn read(shards: &[Shard]) -> Self {
        let mut all = Self::default();
        for shard in shards {
            for kind in OpKind::ALL {
                all.add_cell(shard.cell(*kind));
            }
        }
        all
    }

    /// Adds what a cell holds now.
    pub fn add_cell(&mut self, cell: &OpCell) {
        self.tally += Tally {
            ops: cell.ops.load(Relaxed),
            errors: cell.errors.load(Relaxed),
            skipped: cell.skipped.load(Relaxed),
            bytes: cell.bytes.load(Relaxed),
        };
        self.sum_ns += cell.sum_ns.load(Relaxed);
        self.min_ns = self.min_ns.min(cell.min_ns.load(Relaxed));
        self.max_ns = self.max_ns.max(cell.max_ns.load(Relaxed));
        self.stalled_ns += cell.stalled_ns.load(Relaxed);
        self.histogram.add_live(&cell.histogram);
        for (index, count) in cell.faults.get().into_iter().flat_map(|t| t.iter().enumerate()) {
            let count = count.load(Relaxed);
            if count > 0 {
                *self.faults.entry(Fault::from_index(index)).or_default() += count;
            }
        }
    }

    /// Adds what a cell holds, and empties it; says what that was. Nobody may count meanwhile.
    pub fn take_cell(&mut self, cell: &OpCell) -> Tally {
        let taken = Tally {
            ops: cell.ops.swap(0, Relaxed),
            errors: cell.errors.swap(0, Relaxed),
            skipped: cell.skipped.swap(0, Relaxed),
            bytes: cell.bytes.swap(0, Relaxed),
        };
        self.tally += taken;
        self.sum_ns += cell.sum_ns.swap(0, Relaxed);
        self.min_ns = self.min_ns.min(cell.min_ns.swap(u64::MAX, Relaxed));
        self.max_ns = self.max_ns.max(cell.max_ns.swap(0, Relaxed));
        self.stalled_ns += cell.stalled_ns.swap(0, Relaxed);
        self.histogram.take_live(&cell.histogram);
        for (index, count) in cell.faults.get().into_iter().flat_map(|t| t.iter().enumerate()) {
            let count = count.swap(0, Relaxed);
            if count > 0 {
                *self.faults.entry(Fault::from_index(index)).or_default() += count;
            }
        }
        taken
    }

    /// Adds another summary.
    pub fn merge(&mut self, other: &Self) {
        self.tally += other.tally;
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.stalled_ns += other.stalled_ns;
        self.histogram.merge(&other.histogram);
        for (fault, count) in &other.faults {
            *self.faults.entry(*fault).or_default() += count;
        }
    }

    /// What came since `earlier`. The extremes are those of the buckets, since exact ones of an
    /// interval are not kept.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let histogram = self.histogram.since(&earlier.histogram);
        let (mut min_ns, mut max_ns) = (u64::MAX, 0);
        for (low, high, _) in histogram.buckets() {
            min_ns = min_ns.min(low);
            max_ns = high;
        }
        Self {
            tally: Tally {
                ops: self.tally.ops.saturating_sub(earlier.tally.ops),
                errors: self.tally.errors.saturating_sub(earlier.tally.errors),
                skipped: self.tally.skipped.saturating_sub(earlier.tally.skipped),
                bytes: self.tally.bytes.saturating_sub(earlier.tally.bytes),
            },
            sum_ns: self.sum_ns.saturating_sub(earlier.sum_ns),
            // The run's own extremes bound those of any interval.
            min_ns: min_ns.max(self.min_ns),
            max_ns: max_ns.min(self.max_ns),
            stalled_ns: self.stalled_ns.saturating_sub(earlier.stalled_ns),
            histogram,
            faults: BTreeMap::new(),
        }
    }

    /// Mean latency in nanoseconds.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.tally.ops > 0).then(|| self.sum_ns as f64 / self.tally.ops as f64)
    }

    /// Latency in nanoseconds at share `p`, never outside the exact extremes; `None` with fewer
    /// than 10 / (1 - p) samples, where the tail is a matter of chance.
    #[must_use]
    pub fn percentile_ns(&self, p: f64) -> Option<f64> {
        if (self.histogram.len() as f64) * (1.0 - p) < 10.0 - 1e-9 {
            return None;
        }
        let value = self.histogram.quantile(p)?;
        Some(value.max(self.min_ns as f64).min(self.max_ns as f64))
    }
}

/// The operations of a disk, or of all disks, over some time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskTotals {
    /// One summary for each operation, indexed by [`OpKind::index`]; empty when nothing was added.
    ops: Vec<OpSummary>,
}

impl DiskTotals {
    /// Reads all shards of a disk.
    #[must_use]
    pub fn read(shards: &[Shard]) -> Self {
        let mut ops = vec![OpSummary::default(); OpKind::COUNT];
        for shard in shards {
            for kind in OpKind::ALL {
                ops[kind.index()].add_cell(shard.cell(*kind));
            }
        }
        Self { ops }
    }

    /// One operation; `None` when nothing was added.
    #[must_use]
    pub fn get(&self, kind: OpKind) -> Option<&OpSummary> {
        self.ops.get(kind.index())
    }

    /// Operations that were tried or skipped, in the order of [`OpKind::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (OpKind, &OpSummary)> {
        OpKind::ALL
            .iter()
            .copied()
            .zip(&self.ops)
            .filter(|(_, summary)| summary.tally.ops + summary.tally.skipped > 0)
    }

    /// All operations together.
    #[must_use]
    pub fn all(&self) -> OpSummary {
        let mut all = OpSummary::default();
        for summary in &self.ops {
            all.merge(summary);
        }
        all
    }

    /// Adds another disk's.
    pub fn merge(&mut self, other: &Self) {
        self.ops.resize_with(OpKind::COUNT.max(self.ops.len()), OpSummary::default);
        for (mine, theirs) in self.ops.iter_mut().zip(&other.ops) {
            mine.merge(theirs);
        }
    }

    /// What came since `earlier`, an earlier reading of the same shards.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        if earlier.ops.is_empty() {
            return self.clone();
        }
        Self { ops: self.ops.iter().zip(&earlier.ops).map(|(now, then)| now.since(then)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Sample;

    fn sample(latency_ns: u64, fault: Option<Fault>) -> Sample {
        Sample { op: OpKind::ReadX, latency_ns, bytes: 10, fault }
    }

    #[test]
    fn shards_add_up() {
        let shards = [Shard::new(false), Shard::new(true)];
        shards[0].record(sample(100, None));
        shards[1].record(sample(300, Some(Fault::Short)));
        shards[1].skip(OpKind::Close);
        let totals = DiskTotals::read(&shards);
        let all = totals.all();
        assert_eq!(all.tally, Tally { ops: 2, errors: 1, skipped: 1, bytes: 20 });
        assert_eq!((all.min_ns, all.max_ns, all.mean_ns()), (100, 300, Some(200.0)));
        assert_eq!(all.faults, BTreeMap::from([(Fault::Short, 1)]));
        assert_eq!(
            totals.iter().map(|(kind, _)| kind).collect::<Vec<_>>(),
            [OpKind::Close, OpKind::ReadX]
        );
    }

    #[test]
    fn a_percentile_needs_ten_samples_beyond_it() {
        let mut summary = OpSummary::default();
        let shard = Shard::new(false);
        for _ in 0..99 {
            shard.record(sample(1000, None));
        }
        summary.add_cell(shard.cell(OpKind::ReadX));
        assert_eq!((summary.percentile_ns(0.5), summary.percentile_ns(0.9)), (Some(1000.0), None));
        shard.record(sample(1000, None));
        let mut summary = OpSummary::default();
        summary.add_cell(shard.cell(OpKind::ReadX));
        assert_eq!((summary.percentile_ns(0.9), summary.percentile_ns(0.99)), (Some(1000.0), None));
    }

    #[test]
    fn stalls_are_operations_of_more_than_a_second() {
        let shard = Shard::new(false);
        shard.record(sample(STALL, None));
        shard.record(sample(3 * STALL, None));
        let totals = DiskTotals::read(&[shard]);
        assert_eq!(totals.all().stalled_ns, 3 * STALL);
    }
    const STALL: u64 = 1_000_000_000;
}
