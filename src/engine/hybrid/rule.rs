//! The rule for calls that may or may not wait, of one kind: in the thread itself while what they
//! wait is measured to be less than a hand-over to another thread costs, by the ring when it is not.
//! What a call works does not count: that takes as long in another thread.

/// What handing a call to a kernel worker costs, in nanoseconds. Measured: 10 to 100 us, most of
/// it the two switches. A call that waits less than that is better made at once.
const HAND_OVER_NS: u64 = 50_000;
/// One measurement counts for at most this much: a thread that lost its CPU for a while did not
/// wait for the disk.
const MOST_NS: u64 = 2_000_000;
/// Every so many calls one is timed: that takes about half a microsecond.
const EVERY: u32 = 32;
/// So many calls are timed in a row after one that was dear.
const WATCH: u32 = 8;
/// The mean is over about this many measurements.
const WEIGHT: u64 = 256;
/// Calls by the ring between two that are tried at once: to begin with, and at most.
const FIRST_GAP: u32 = 16;
const LAST_GAP: u32 = 1024;
/// So many tries in a row have to be cheap before the ring is left.
const CHEAP_TRIES: u32 = 4;

/// What to do with the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// Make it at once.
    Inline,
    /// Make it at once and tell how long it waited.
    Timed,
    /// Hand it over.
    Ring,
}

/// State of the rule for one kind of call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    ring: bool,
    /// Mean wait of a call made at once, times [`WEIGHT`].
    sum_ns: u64,
    /// Calls until the next one that is timed.
    left: u32,
    /// Further calls to be timed without a pause.
    watch: u32,
    /// Calls by the ring between two tries.
    gap: u32,
    /// What `gap` starts from when the ring is chosen again.
    first_gap: u32,
    /// Tries in a row that were cheap.
    cheap: u32,
}

impl Rule {
    /// Begins on the ring, or not.
    pub(super) fn new(ring: bool) -> Self {
        Self {
            ring,
            sum_ns: 0,
            left: if ring { FIRST_GAP } else { EVERY },
            watch: 0,
            gap: FIRST_GAP,
            first_gap: FIRST_GAP,
            cheap: 0,
        }
    }

    /// The way of the next call.
    #[inline]
    pub(super) fn next(&mut self) -> Plan {
        self.left = self.left.saturating_sub(1);
        match (self.left, self.ring) {
            (0, _) => Plan::Timed,
            (_, false) => Plan::Inline,
            (_, true) => Plan::Ring,
        }
    }

    /// Takes in how long a timed call waited.
    pub(super) fn waited(&mut self, ns: u64) {
        if self.ring { self.tried(ns) } else { self.measured(ns) }
    }

    fn measured(&mut self, ns: u64) {
        self.sum_ns = self.sum_ns - self.sum_ns / WEIGHT + ns.min(MOST_NS);
        if ns > HAND_OVER_NS {
            self.watch = WATCH;
        }
        self.watch = self.watch.saturating_sub(1);
        self.left = if self.watch > 0 { 1 } else { EVERY };
        if self.sum_ns / WEIGHT > HAND_OVER_NS {
            self.ring = true;
            self.gap = self.first_gap;
            // Who changes his mind again and again does so ever more slowly.
            self.first_gap = (2 * self.first_gap).min(LAST_GAP);
            (self.left, self.cheap) = (self.gap, 0);
        }
    }

    /// One call while the kind is on the ring.
    fn tried(&mut self, ns: u64) {
        if ns > HAND_OVER_NS {
            self.cheap = 0;
            self.gap = (2 * self.gap).min(LAST_GAP);
        } else {
            self.cheap += 1;
        }
        self.left = self.gap;
        if self.cheap == CHEAP_TRIES {
            self.ring = false;
            self.sum_ns = HAND_OVER_NS / 2 * WEIGHT;
            (self.left, self.watch) = (EVERY, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes calls that wait for `ns(i)` each; how many of them went by the ring.
    fn drive(rule: &mut Rule, calls: u64, ns: impl Fn(u64) -> u64) -> u64 {
        let mut ring = 0;
        for i in 0..calls {
            match rule.next() {
                Plan::Inline => {}
                Plan::Timed => rule.waited(ns(i)),
                Plan::Ring => ring += 1,
            }
        }
        ring
    }

    #[test]
    fn cheap_calls_stay_and_dear_ones_leave() {
        let mut rule = Rule::new(false);
        assert_eq!(drive(&mut rule, 100_000, |_| 3_000), 0);
        // 10 ms each: at most 2 ms of that counts, so it takes 8 of them to pass 50 us. One in
        // 32 calls is timed until the first was dear.
        let ring = drive(&mut rule, 1_000, |_| 10_000_000);
        assert!(ring > 950, "{ring}");
    }

    #[test]
    fn a_block_device_whose_calls_are_cheap_is_left_soon() {
        let mut rule = Rule::new(true);
        // Four tries, 16 calls apart, of which the tries themselves are made at once.
        assert_eq!(drive(&mut rule, 10_000, |_| 3_000), 4 * 15);
    }

    #[test]
    fn a_slow_disk_is_tried_ever_more_seldom() {
        let mut rule = Rule::new(true);
        let ring = drive(&mut rule, 100_000, |_| 20_000_000);
        // 16, 32, ... 1024 calls apart, then every 1024.
        assert!((99_800..100_000).contains(&ring), "{ring}");
    }

    #[test]
    fn a_lost_time_slice_is_no_slow_disk() {
        let mut rule = Rule::new(false);
        let ring = drive(&mut rule, 1_000_000, |i| if i % 4000 == 7 { 30_000_000 } else { 2_000 });
        assert_eq!(ring, 0);
    }
}
