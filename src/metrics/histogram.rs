//! Latency histograms with a relative error of at most 1/128 (0.8 %) from 1 ns to 73 minutes.
//!
//! The bucket layout is that of an HdrHistogram with lowest value 1 and two significant digits
//! (Gil Tene, hdrhistogram.org): single nanoseconds below 256 ns, then 128 buckets an octave.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Buckets of an octave, and of a page of a live histogram.
const PAGE: usize = 128;
/// Pages: two linear ones below 256 ns, then one an octave up to 2^42 ns.
const PAGES: usize = 36;
/// Largest value kept apart, in nanoseconds; longer ones land in the last bucket.
const MAX_NS: u64 = (1 << 42) - 1;

/// Bucket of a value in nanoseconds.
#[inline]
const fn bucket(ns: u64) -> usize {
    let ns = if ns > MAX_NS { MAX_NS } else { ns };
    let octave = (63 - (ns | 0xff).leading_zeros() as usize) - 7;
    octave * PAGE + (ns >> octave) as usize
}

/// Smallest and largest value of a bucket, in nanoseconds.
const fn bounds(bucket: usize) -> (u64, u64) {
    if bucket < 2 * PAGE {
        return (bucket as u64, bucket as u64);
    }
    let octave = bucket / PAGE - 1;
    let low = ((bucket - octave * PAGE) as u64) << octave;
    (low, low + (1 << octave) - 1)
}

/// Adds without a locked instruction where the caller is the only writer.
#[inline]
pub(super) fn bump(counter: &AtomicU64, by: u64, shared: bool) {
    if shared {
        counter.fetch_add(by, Relaxed);
    } else {
        counter.store(counter.load(Relaxed).wrapping_add(by), Relaxed);
    }
}

type Page = Box<[AtomicU64; PAGE]>;

/// A histogram that is recorded into while others read it.
///
/// Memory follows the octaves that occur (1 KiB each, made when the octave is first seen, which
/// is in the warm-up as a rule), so that a histogram per operation and thread is affordable.
#[derive(Debug)]
pub struct LiveHistogram {
    pages: [OnceLock<Page>; PAGES],
}

impl Default for LiveHistogram {
    fn default() -> Self {
        Self { pages: [const { OnceLock::new() }; PAGES] }
    }
}

impl LiveHistogram {
    /// Counts one value in nanoseconds. `shared` says that other threads record here too.
    #[inline]
    pub fn record(&self, ns: u64, shared: bool) {
        let bucket = bucket(ns);
        let page = self.pages[bucket / PAGE].get_or_init(new_page);
        bump(&page[bucket % PAGE], 1, shared);
    }
}

#[cold]
fn new_page() -> Page {
    Box::new([const { AtomicU64::new(0) }; PAGE])
}

/// A histogram at rest: to merge, subtract and read quantiles from.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Histogram {
    /// Empty, or one count per bucket.
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    /// Adds what a live histogram holds now.
    pub fn add_live(&mut self, live: &LiveHistogram) {
        for (index, page) in live.pages.iter().enumerate() {
            if let Some(page) = page.get() {
                let first = self.page_start(index);
                for (offset, count) in page.iter().enumerate() {
                    let count = count.load(Relaxed);
                    self.counts[first + offset] += count;
                    self.total += count;
                }
            }
        }
    }

    /// Adds what a live histogram holds, and empties it. Nobody may record meanwhile.
    pub fn take_live(&mut self, live: &LiveHistogram) {
        for (index, page) in live.pages.iter().enumerate() {
            let Some(page) = page.get() else { continue };
            let first = self.page_start(index);
            for (offset, count) in page.iter().enumerate().filter(|(_, c)| c.load(Relaxed) > 0) {
                let count = count.swap(0, Relaxed);
                self.counts[first + offset] += count;
                self.total += count;
            }
        }
    }

    /// Adds `count` values of `ns` nanoseconds.
    pub fn record(&mut self, ns: u64, count: u64) {
        let bucket = bucket(ns);
        self.page_start(bucket / PAGE);
        self.counts[bucket] += count;
        self.total += count;
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.total += other.total;
    }

    /// What came since `earlier`, an earlier reading of the same source.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut counts = self.counts.clone();
        for (mine, theirs) in counts.iter_mut().zip(&earlier.counts) {
            *mine = mine.saturating_sub(*theirs);
        }
        let total = counts.iter().sum();
        Self { counts, total }
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.total
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The value in nanoseconds that a share of `p` (0 to 1) of the values does not exceed: the
    /// middle of its bucket. `None` when there are no values.
    #[must_use]
    pub fn quantile(&self, p: f64) -> Option<f64> {
        if self.total == 0 {
            return None;
        }
        let rank = ((p * self.total as f64).ceil() as u64).clamp(1, self.total);
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                let (low, high) = bounds(bucket);
                return Some((low as f64 + high as f64) / 2.0);
            }
        }
        None
    }

    /// Buckets with values: smallest value, largest value (both in ns) and count, ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(bucket, count)| {
            let (low, high) = bounds(bucket);
            (low, high, *count)
        })
    }

    /// Makes room for a page and returns its first bucket.
    fn page_start(&mut self, page: usize) -> usize {
        let end = (page + 1) * PAGE;
        if self.counts.len() < end {
            self.counts.resize(end, 0);
        }
        page * PAGE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_gapless_and_at_most_one_128th_wide() {
        let mut expected_low = 0;
        for index in 0..PAGES * PAGE {
            let (low, high) = bounds(index);
            assert_eq!(low, expected_low, "bucket {index}");
            assert_eq!((bucket(low), bucket(high)), (index, index));
            assert!((high - low) as f64 <= low as f64 / 128.0);
            expected_low = high + 1;
        }
        assert_eq!(expected_low, MAX_NS + 1);
        assert_eq!(bucket(u64::MAX), PAGES * PAGE - 1);
    }

    #[test]
    fn quantiles_of_a_known_series() {
        // 1..=1000 microseconds once each: the 50 % value is 500 us, the 99 % value 990 us.
        let live = LiveHistogram::default();
        for us in 1..=1000 {
            live.record(us * 1000, us % 2 == 0);
        }
        let mut histogram = Histogram::default();
        histogram.add_live(&live);
        assert_eq!(histogram.len(), 1000);
        for (p, us) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0), (0.0, 1.0)] {
            let value = histogram.quantile(p).unwrap() / 1000.0;
            assert!((value / us - 1.0).abs() <= 1.0 / 128.0, "p{p}: {value} us");
        }
    }

    #[test]
    fn merging_and_subtracting_undo_each_other() {
        let (mut a, mut b) = (Histogram::default(), Histogram::default());
        a.record(5, 3);
        b.record(5, 1);
        b.record(1_000_000, 2);
        let mut both = a.clone();
        both.merge(&b);
        assert_eq!(both.len(), 6);
        assert_eq!(both.since(&a).buckets().collect::<Vec<_>>(), b.buckets().collect::<Vec<_>>());
    }
}
