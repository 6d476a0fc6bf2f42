//! Counters of phases: a set for each phase and shard, of the operations that the phase contains.
//!
//! They hold one round of a phase at a time. When it is over and all clients wait, the round is
//! taken out, into [`PhaseTotals`] if it counts: so a phase that was cut short leaves no trace.

use std::sync::Arc;

use super::shard::{OpCell, Sample};
use super::spread::Spread;
use super::summary::{OpSummary, Tally};
use crate::op::OpKind;

/// The operations that a phase contains, and the place of each.
#[derive(Debug)]
pub struct PhaseOps {
    kinds: Vec<OpKind>,
    /// By [`OpKind::index`].
    places: [u16; OpKind::COUNT],
}

impl PhaseOps {
    /// Of a phase with these operations.
    #[must_use]
    pub fn new(of: impl IntoIterator<Item = OpKind>) -> Self {
        let mut kinds: Vec<OpKind> = of.into_iter().collect();
        kinds.sort_unstable_by_key(|kind| kind.index());
        kinds.dedup();
        let mut places = [u16::MAX; OpKind::COUNT];
        for (place, kind) in kinds.iter().enumerate() {
            places[kind.index()] = place as u16;
        }
        Self { kinds, places }
    }
}

/// Counters of a phase in a shard.
#[derive(Debug)]
pub struct PhaseShard {
    shared: bool,
    ops: Arc<PhaseOps>,
    cells: Box<[OpCell]>,
}

impl PhaseShard {
    /// For several threads (`shared`) or for one.
    #[must_use]
    pub fn new(ops: Arc<PhaseOps>, shared: bool) -> Self {
        let cells = ops.kinds.iter().map(|_| OpCell::default()).collect();
        Self { shared, ops, cells }
    }

    /// Counts a finished operation.
    #[inline]
    pub fn record(&self, sample: Sample) {
        if let Some(cell) = self.cell(sample.op) {
            cell.record(sample, self.shared);
        }
    }

    /// Counts an operation that could not be tried because its handle is not open.
    #[inline]
    pub fn skip(&self, op: OpKind) {
        if let Some(cell) = self.cell(op) {
            cell.skip(self.shared);
        }
    }

    #[inline]
    fn cell(&self, op: OpKind) -> Option<&OpCell> {
        self.cells.get(usize::from(self.ops.places[op.index()]))
    }
}

/// When a round of a phase was, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// When all clients were let go, of the run's clock.
    pub start_ns: u64,
    /// How long it took until the last one had come back.
    pub time_ns: u64,
    /// How long clients that had come back waited for the last one of the run, added up.
    pub wait_ns: u64,
}

/// A phase over all its rounds, of a disk or of all disks.
#[derive(Clone, Debug)]
pub struct PhaseTotals {
    /// Rounds that count.
    pub rounds: u64,
    /// When the first of them began, in nanoseconds of the run's clock.
    pub first_start_ns: Option<u64>,
    /// Times of all rounds, in nanoseconds.
    pub time_ns: u64,
    /// What clients waited at the end of the rounds, in nanoseconds.
    pub wait_ns: u64,
    /// All operations together; the counts of each are in `ops`.
    pub rates: Rates,
    /// Each operation that the phase contains.
    pub ops: Vec<PhaseOp>,
}

/// An operation of a phase.
#[derive(Clone, Debug)]
pub struct PhaseOp {
    /// Which one.
    pub kind: OpKind,
    /// Its counts.
    pub summary: OpSummary,
    /// Its rates.
    pub rates: Rates,
}

/// Rates of single rounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rates {
    /// Operations per second.
    pub ops_per_s: Spread,
    /// Bytes per second.
    pub bytes_per_s: Spread,
}

impl Rates {
    fn add(&mut self, tally: Tally, time_ns: u64) {
        let seconds = time_ns as f64 / 1e9;
        if seconds > 0.0 {
            self.ops_per_s.add(tally.ops as f64 / seconds);
            self.bytes_per_s.add(tally.bytes as f64 / seconds);
        }
    }
}

impl PhaseTotals {
    /// None so far.
    #[must_use]
    pub fn new(ops: &PhaseOps) -> Self {
        let (summary, rates) = (OpSummary::default(), Rates::default());
        let op = |kind: &OpKind| PhaseOp { kind: *kind, summary: summary.clone(), rates };
        Self {
            rounds: 0,
            first_start_ns: None,
            time_ns: 0,
            wait_ns: 0,
            rates,
            ops: ops.kinds.iter().map(op).collect(),
        }
    }

    /// Takes what a shard has counted in a round; `tallies` has the round's own sums, one for each
    /// operation. Nobody may count meanwhile.
    pub fn take(&mut self, shard: &PhaseShard, tallies: &mut [Tally]) {
        for ((op, cell), tally) in self.ops.iter_mut().zip(&shard.cells).zip(tallies) {
            *tally += op.summary.take_cell(cell);
        }
    }

    /// Adds the time of a round, with its sums.
    pub fn add(&mut self, round: Round, tallies: &[Tally]) {
        self.rounds += 1;
        self.first_start_ns.get_or_insert(round.start_ns);
        self.time_ns += round.time_ns;
        self.wait_ns += round.wait_ns;
        let mut all = Tally::default();
        for (op, tally) in self.ops.iter_mut().zip(tallies) {
            op.rates.add(*tally, round.time_ns);
            all += *tally;
        }
        self.rates.add(all, round.time_ns);
    }

    /// Adds the counts of a disk, not its times.
    pub fn merge_counts(&mut self, disk: &Self) {
        for (op, other) in self.ops.iter_mut().zip(&disk.ops) {
            op.summary.merge(&other.summary);
        }
    }

    /// All operations together.
    #[must_use]
    pub fn all(&self) -> OpSummary {
        let mut all = OpSummary::default();
        self.ops.iter().for_each(|op| all.merge(&op.summary));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(latency_ns: u64) -> Sample {
        Sample { op: OpKind::WriteX, latency_ns, bytes: 1000, fault: None }
    }

    /// Two rounds by hand: 3 and 1 writes of 1000 bytes, in 1 s and in 0.5 s.
    #[test]
    fn rounds_add_up() {
        let ops = Arc::new(PhaseOps::new([OpKind::WriteX, OpKind::Close, OpKind::WriteX]));
        let shards = [false, true].map(|shared| PhaseShard::new(Arc::clone(&ops), shared));
        let mut totals = PhaseTotals::new(&ops);
        let round = |start_ns, time_ns| Round { start_ns, time_ns, wait_ns: 10 };
        let mut end = |shards: &[PhaseShard], round: Round| {
            let mut tallies = vec![Tally::default(); totals.ops.len()];
            shards.iter().for_each(|shard| totals.take(shard, &mut tallies));
            totals.add(round, &tallies);
        };
        [&shards[0], &shards[0], &shards[1]].iter().for_each(|shard| shard.record(write(5000)));
        shards[0].skip(OpKind::Close);
        shards[0].record(Sample { op: OpKind::ReadX, ..write(1) }); // not of this phase
        end(&shards, round(7, 1_000_000_000));
        shards[1].record(write(90_000));
        end(&shards, round(3_000_000_000, 500_000_000));
        assert_eq!((totals.rounds, totals.first_start_ns), (2, Some(7)));
        assert_eq!((totals.time_ns, totals.wait_ns), (1_500_000_000, 20));
        let all = totals.all();
        assert_eq!((all.tally.ops, all.tally.bytes, all.tally.skipped), (4, 4000, 1));
        assert_eq!((all.min_ns, all.max_ns, all.sum_ns), (5000, 90_000, 105_000));
        assert_eq!(all.histogram.len(), 4);
        // 3/s and 2/s: their mean is 2.5, their standard deviation the root of 0.5.
        assert_eq!(totals.rates.ops_per_s.mean(), Some(2.5));
        assert!((totals.rates.ops_per_s.deviation().unwrap() - 0.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(totals.ops[1].rates.bytes_per_s.mean(), Some(2500.0));
    }
}
