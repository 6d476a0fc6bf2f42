//! Interval rows of one run or several on a common clock.

use crate::report::model::{Group, Interval};

/// A share of a stretch that must be covered for its rate to count.
const COVERED: f64 = 0.2;

/// Rates per stretch of time and disk.
pub(super) struct Bins {
    /// Length of a stretch in seconds.
    pub(super) width_s: f64,
    /// Disk by disk: operations per second in each stretch, NaN where nothing is known.
    pub(super) rates: Vec<(String, Vec<f64>)>,
}

impl Bins {
    /// Those of a group: at most `most` stretches, each as long as the usual interval or several
    /// times as long. Several runs are averaged.
    pub(super) fn of(group: &Group, most: usize) -> Option<Self> {
        let counted = |disk: &str| -> Vec<Interval> {
            let all = group.intervals.get(disk).map(Vec::as_slice).unwrap_or_default();
            all.iter().filter(|interval| group.counts(interval.run)).copied().collect()
        };
        let rows: Vec<(String, Vec<Interval>)> =
            group.disks.iter().map(|disk| (disk.clone(), counted(disk))).collect();
        let all = || rows.iter().flat_map(|(_, intervals)| intervals);
        let mut lengths: Vec<f64> = all().map(|interval| interval.length_s).collect();
        if lengths.is_empty() {
            return None;
        }
        lengths.sort_by(f64::total_cmp);
        let usual = lengths[(lengths.len() - 1) / 2].max(1e-3);
        let end = all().map(|interval| interval.start_s + interval.length_s).fold(0.0, f64::max);
        let wanted = (end / usual).round().max(1.0);
        let width_s = usual * (wanted / most as f64).ceil().max(1.0);
        let count = ((end / width_s).round() as usize).max(1);
        let rates = rows
            .into_iter()
            .map(|(disk, intervals)| (disk, means(&intervals, width_s, count)))
            .collect();
        Some(Self { width_s, rates })
    }

    /// Number of stretches.
    pub(super) fn count(&self) -> usize {
        self.rates.first().map_or(0, |(_, rates)| rates.len())
    }

    /// The middle of a stretch in seconds.
    pub(super) fn middle(&self, index: usize) -> f64 {
        (index as f64 + 0.5) * self.width_s
    }

    /// The highest rate.
    pub(super) fn highest(&self) -> f64 {
        let all = self.rates.iter().flat_map(|(_, rates)| rates);
        all.copied().filter(|rate| !rate.is_nan()).fold(0.0, f64::max)
    }

    /// The known rates of a stretch, sorted.
    pub(super) fn sorted(&self, index: usize) -> Vec<f64> {
        let all = self.rates.iter().map(|(_, rates)| rates[index]);
        let mut known: Vec<f64> = all.filter(|rate| !rate.is_nan()).collect();
        known.sort_by(f64::total_cmp);
        known
    }
}

/// The rate in each stretch, by the time that intervals share with it.
fn means(intervals: &[Interval], width_s: f64, count: usize) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); count];
    for interval in intervals {
        let end = interval.start_s + interval.length_s;
        let first = (interval.start_s.max(0.0) / width_s) as usize;
        for (index, sum) in sums.iter_mut().enumerate().skip(first) {
            let (from, to) = (index as f64 * width_s, (index + 1) as f64 * width_s);
            if from >= end {
                break;
            }
            // Rounded, the first stretch may end where the interval begins.
            let shared = (end.min(to) - interval.start_s.max(from)).max(0.0);
            sum.0 += interval.ops_per_s * shared;
            sum.1 += shared;
        }
    }
    let rate = |(work, time): (f64, f64)| {
        if time >= COVERED * width_s { work / time } else { f64::NAN }
    };
    sums.into_iter().map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(start_s: f64, length_s: f64, ops_per_s: f64) -> Interval {
        Interval { run: 0, start_s, length_s, ops_per_s }
    }

    /// By hand: the second stretch is half 10 and half 20, the fourth has nothing.
    #[test]
    fn rates_go_where_their_time_was() {
        let of = [interval(0.0, 1.5, 10.0), interval(1.5, 1.5, 20.0), interval(4.0, 1.0, 7.0)];
        let means = means(&of, 1.0, 5);
        assert_eq!(means[..3], [10.0, 15.0, 20.0]);
        assert!(means[3].is_nan() && (means[4] - 7.0).abs() < 1e-12);
    }

    /// 219 x 0.84 over 0.84 is a little less than 219 in floating point.
    #[test]
    fn rounding_loses_no_interval() {
        let means = means(&[interval(219.0 * 0.84, 0.84, 10.0)], 0.84, 220);
        assert!((means[219] - 10.0).abs() < 1e-9, "{means:?}");
    }

    #[test]
    fn long_runs_have_longer_stretches() {
        let mut group = Group { runs: vec![Default::default()], ..Group::default() };
        group.disks.push("/d".into());
        let of = (0..100).map(|n| interval(f64::from(n), 1.0, f64::from(n))).collect();
        group.intervals.insert("/d".into(), of);
        let bins = Bins::of(&group, 30).unwrap();
        // 100 seconds in at most 30 stretches are 25 of 4 s; the first is the mean of 0, 1, 2, 3.
        assert_eq!((bins.count(), bins.width_s), (25, 4.0));
        assert!((bins.rates[0].1[0] - 1.5).abs() < 1e-12);
    }
}
