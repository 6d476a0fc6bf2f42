//! What was measured, by test, way and disk.

use super::super::outcome::Outcome;
use super::load::{TESTS, Test};
use crate::host::diskstats::DeviceCounters;
use crate::metrics::{DiskTotals, OpSummary};
use crate::output::Status;
use crate::stats::{LEAST_PEERS, Standing, median, standings};

/// How the disks of a test ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// All at once.
    Together,
    /// One after the other.
    Alone,
}

impl Way {
    pub(super) const BOTH: [Self; 2] = [Self::Together, Self::Alone];

    /// The word in the column `cell` and in sentences.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Together => "together",
            Self::Alone => "alone",
        }
    }
}

/// What a disk did in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figure {
    /// Operations per second.
    pub(super) ops_per_s: f64,
    /// 99th percentile of the latency of what is counted, where there are samples enough.
    pub(super) p99_ns: Option<f64>,
    /// Write requests of the device an operation, where the file system decides on their number.
    pub(super) writes_per_op: Option<f64>,
}

/// A disk is credited with twice its rate at most.
const MOST_CREDIT: f64 = 2.0;

impl Figure {
    /// Of a disk that came out well; what went wrong otherwise is no rate.
    pub(super) fn of(
        test: &Test,
        outcome: &Outcome,
        device: Option<&DeviceCounters>,
    ) -> Option<Self> {
        (outcome.status == Status::Ok).then(|| Self::of_totals(test, &outcome.totals, device))
    }

    /// Rates are operations over the time that they took: an operation that outlasts the window
    /// counts with all its time, and the opening of a file not at all.
    fn of_totals(test: &Test, totals: &DiskTotals, device: Option<&DeviceCounters>) -> Self {
        let of = |op: &crate::op::OpKind| totals.get(*op);
        let busy_ns: u64 = test.timed.iter().filter_map(of).map(|summary| summary.sum_ns).sum();
        let counted: Option<&OpSummary> = test.timed.last().and_then(of);
        let count = counted.map_or(0, |summary| summary.tally.ops) as f64;
        Self {
            ops_per_s: match busy_ns {
                0 => 0.0,
                ns => count * f64::from(test.clients()) * 1e9 / ns as f64,
            },
            p99_ns: counted.and_then(|summary| summary.percentile_ns(0.99)),
            writes_per_op: device
                .filter(|_| !test.direct && count > 0.0)
                .map(|moved| (moved.writes + moved.write_merges) as f64 / count),
        }
    }

    /// The rate that a disk is judged by. One that had to make more requests for an operation than
    /// is `usual` among its peers, because of the file system on it, is credited with them; one
    /// that made fewer is not charged.
    pub(super) fn judged(&self, usual: Option<f64>) -> f64 {
        let more = self.writes_per_op.zip(usual).filter(|(_, usual)| *usual > 0.0);
        let credit = more.map_or(1.0, |(own, usual)| (own / usual).clamp(1.0, MOST_CREDIT));
        self.ops_per_s * credit
    }
}

/// Figures of all disks in one window of all, or in one window each.
pub(super) type Column = Vec<Option<Figure>>;

/// All figures; a test and way that did not run has none.
#[derive(Debug)]
pub(super) struct Figures {
    columns: [[Column; 2]; TESTS.len()],
}

impl Figures {
    pub(super) fn new(disks: usize) -> Self {
        Self { columns: [(); TESTS.len()].map(|()| [(); 2].map(|()| vec![None; disks])) }
    }

    pub(super) fn column(&self, test: usize, way: Way) -> &Column {
        &self.columns[test][way as usize]
    }

    pub(super) fn set(&mut self, test: usize, way: Way, disk: usize, figure: Option<Figure>) {
        self.columns[test][way as usize][disk] = figure;
    }
}

/// Write requests an operation that are usual in a group, where all of it is known.
pub(super) fn usual_writes(group: &[usize], column: &Column) -> Option<f64> {
    let measured = group.iter().filter_map(|disk| column[*disk]);
    let writes: Option<Vec<f64>> = measured.map(|figure| figure.writes_per_op).collect();
    median(&writes?)
}

/// Where the disks of a group stand among each other; nothing where they are too few.
pub(super) fn standings_in(group: &[usize], column: &Column) -> Vec<(usize, Standing)> {
    let usual = usual_writes(group, column);
    let measured: Vec<(usize, f64)> =
        group.iter().filter_map(|disk| Some((*disk, column[*disk]?.judged(usual)))).collect();
    if measured.len() < LEAST_PEERS {
        return Vec::new();
    }
    let rates: Vec<f64> = measured.iter().map(|(_, rate)| *rate).collect();
    measured.iter().map(|(disk, _)| *disk).zip(standings(&rates)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Sample, Shard};
    use crate::op::OpKind;

    #[test]
    fn a_rate_is_of_the_time_that_the_operations_took() {
        let shard = Shard::new(false);
        let record = |op, latency_ns, bytes| {
            shard.record(Sample { op, latency_ns, bytes, fault: None });
        };
        record(OpKind::NtCreateX, 5_000_000_000, 0); // does not count
        for _ in 0..10 {
            record(OpKind::WriteX, 1_000_000, 4096);
            record(OpKind::Flush, 9_000_000, 0);
        }
        let totals = DiskTotals::read(&[shard]);
        // 10 pairs in 100 ms, of 6 requests each and 1 merged.
        let device = DeviceCounters { writes: 60, write_merges: 10, ..DeviceCounters::default() };
        let append = Figure::of_totals(&TESTS[3], &totals, Some(&device));
        assert_eq!(append.ops_per_s, 100.0);
        assert_eq!(append.p99_ns, None, "too few samples");
        assert_eq!(append.writes_per_op, Some(7.0));
        let judged = [Some(5.6), Some(14.0), Some(2.0), None].map(|usual| append.judged(usual));
        assert_eq!(judged, [125.0, 100.0, 200.0, 100.0]);
        // The same operations by 16 clients at once: 10 reads of 1.6 ms are 10,000 a second.
        let shard = Shard::new(false);
        for _ in 0..10 {
            let read =
                Sample { op: OpKind::ReadX, latency_ns: 1_600_000, bytes: 4096, fault: None };
            shard.record(read);
        }
        let random = Figure::of_totals(&TESTS[2], &DiskTotals::read(&[shard]), None);
        assert!((random.ops_per_s - 10_000.0).abs() < 1e-6);
        let idle = Figure::of_totals(&TESTS[0], &DiskTotals::default(), None);
        assert_eq!(idle.ops_per_s, 0.0);
    }

    #[test]
    fn three_disks_are_too_few() {
        let figure = |rate| Some(Figure { ops_per_s: rate, p99_ns: None, writes_per_op: None });
        let column = vec![figure(10.0), figure(10.0), None, figure(1.0), figure(10.0)];
        assert!(standings_in(&[0, 1, 2, 3], &column).is_empty());
        let all = standings_in(&[0, 1, 2, 3, 4], &column);
        let slow: Vec<usize> = all.iter().filter(|(_, s)| s.is_slow()).map(|(d, _)| *d).collect();
        assert_eq!(slow, [3]);
    }
}
