//! Whether the rate was level over the window: counts of operations, read while it is open.

use super::live::LiveDisk;
use crate::metrics::ops_so_far;
use crate::stats::{WINDOWS, five_rates, level};

/// Counts are read this often where nobody knows how long the window will be.
const FIRST_STEP_NS: u64 = 50_000_000;
/// Readings that are kept: when there are more, every second one goes, and they come half as often.
const MOST: usize = 256;
/// Shorter windows are over before a machine has settled: what they show is chance.
const LEAST_NS: u64 = 1_000_000_000;
/// Fewer operations in a fifth of the window vary by more than a fifth by chance alone.
const LEAST_OPS: u64 = 100 * WINDOWS as u64;

/// Readings of all disks' counts.
#[derive(Debug, Default)]
pub(super) struct Readings {
    start_ns: u64,
    step_ns: u64,
    /// When the next one is due; `None` while there is no window.
    next_ns: Option<u64>,
    /// When, and how many operations each disk had done.
    taken: Vec<(u64, Vec<u64>)>,
}

impl Readings {
    /// Begins with a window, whose length may be known.
    pub(super) fn begin(&mut self, start_ns: u64, length_ns: Option<u64>, disks: &[LiveDisk]) {
        // On the edges of the five windows, where these are known.
        self.step_ns = length_ns.map_or(FIRST_STEP_NS, |length| length / WINDOWS as u64).max(1);
        self.start_ns = start_ns;
        self.next_ns = Some(start_ns + self.step_ns);
        self.taken = vec![(start_ns, vec![0; disks.len()])];
    }

    /// When the next reading is due.
    pub(super) fn next_ns(&self) -> u64 {
        self.next_ns.unwrap_or(u64::MAX)
    }

    /// Takes one, if it is due.
    pub(super) fn take(&mut self, now: u64, disks: &[LiveDisk]) {
        if self.next_ns.is_none_or(|next| now < next) {
            return;
        }
        self.push(now, disks);
        if self.taken.len() > MOST {
            let mut index = 0;
            self.taken.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.step_ns *= 2;
        }
        self.next_ns = Some(now + self.step_ns - (now - self.start_ns) % self.step_ns);
    }

    fn push(&mut self, now: u64, disks: &[LiveDisk]) {
        let counts = disks.iter().map(|disk| ops_so_far(&disk.state.shards)).collect();
        self.taken.push((now, counts));
    }

    /// Ends with the window: whether each disk's rate was level, and that of all together. None of a
    /// window that is too short, or had too few operations, to tell.
    pub(super) fn end(&mut self, now: u64, disks: &mut [LiveDisk]) -> Option<bool> {
        self.next_ns.take()?;
        self.push(now, disks);
        // A disk's rate is that of all its clients: until the first of them has nothing more to do.
        let ends: Vec<u64> =
            disks.iter().map(|disk| now.min(disk.state.control.first_done_ns())).collect();
        for (number, disk) in disks.iter_mut().enumerate() {
            disk.steady = self.steady(ends[number], |counts| counts[number]);
        }
        // While all disks were at work.
        self.steady(ends.into_iter().min()?, |counts| counts.iter().sum())
    }

    fn steady(&self, end_ns: u64, count: impl Fn(&[u64]) -> u64) -> Option<bool> {
        let length_ns = end_ns.saturating_sub(self.start_ns);
        let seconds = |ns: u64| ns as f64 / 1e9;
        let stretches: Vec<(f64, f64, f64)> = self
            .taken
            .windows(2)
            .filter(|pair| pair[1].0 > pair[0].0)
            .map(|pair| {
                let ((from, before), (to, after)) = (&pair[0], &pair[1]);
                let ops = count(after).saturating_sub(count(before));
                (seconds(from - self.start_ns), seconds(to - from), ops as f64)
            })
            .collect();
        let ops = count(&self.taken.last()?.1);
        if length_ns < LEAST_NS || ops < LEAST_OPS {
            return None;
        }
        level(&five_rates(&stretches, seconds(length_ns))?).map(|level| level.is_steady())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(taken: &[(u64, u64)]) -> Readings {
        let taken = taken.iter().map(|(ms, ops)| (ms * 1_000_000, vec![*ops])).collect();
        Readings { taken, ..Readings::default() }
    }

    /// By hand, in windows of 400 ms.
    #[test]
    fn five_windows() {
        let steady = |taken: &[(u64, u64)], ms: u64| {
            readings(taken).steady(ms * 1_000_000, |counts| counts[0])
        };
        let even = [(0, 0), (400, 200), (800, 400), (1200, 610), (1600, 800), (2000, 1000)];
        assert_eq!(steady(&even, 2000), Some(true));
        // Half as fast from the middle on.
        let falls = [(0, 0), (1000, 1000), (2000, 1500)];
        assert_eq!(steady(&falls, 2000), Some(false));
        // All of it within the first second, as far as that went.
        assert_eq!(steady(&falls, 1000), Some(true));
        assert_eq!(steady(&even, 999), None, "too short");
        assert_eq!(steady(&[(0, 0), (2000, 499)], 2000), None, "too few");
    }
}
