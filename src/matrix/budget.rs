//! What fits into the time that somebody has.

use std::time::Duration;

use crate::run::{Idle, default_warmup};
use crate::stats::spend;

/// Measured seconds of a run: shorter ones are mostly start, longer ones are better spent on more
/// blocks.
const RUN_S: (f64, f64) = (2.0, 60.0);
/// Seconds that making and removing trees takes around a run; a guess for small loads.
const AROUND_S: f64 = 1.0;

/// How a time is spent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// Blocks.
    pub blocks: u64,
    /// Measured time of each run.
    pub time: Duration,
    /// Warm-up of each run.
    pub warmup: Duration,
}

/// Spends `budget` on blocks of `cells` runs. `warmup` is the warm-up that was asked for. `None`
/// where six blocks of the shortest runs do not fit.
#[must_use]
pub fn fit(budget: Duration, cells: usize, idle: Idle, warmup: Option<Duration>) -> Option<Fit> {
    let around = AROUND_S + idle.quiet.as_secs_f64();
    // Without a word about it the warm-up is a fifth of the measured time.
    let (share, fixed) = match warmup {
        None => (1.2, around),
        Some(warmup) => (1.0, around + warmup.as_secs_f64()),
    };
    let limits = (RUN_S.0 * share, RUN_S.1 * share);
    let spent = spend(budget.as_secs_f64(), cells, fixed, limits)?;
    // Whole tenths of a second: nobody wants to read more.
    let time = Duration::from_millis((spent.run_s / share * 10.0).floor() as u64 * 100);
    let warmup = warmup.unwrap_or_else(|| default_warmup(Some(time)));
    Some(Fit { blocks: spent.blocks as u64, time, warmup })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let (s, idle) = (Duration::from_secs, Idle::default());
        // 20 min over 10 blocks of 4 are 30 s a run, 3 of them around it: 27 / 1.2 = 22.5.
        let fit = |budget, cells, warmup| super::fit(s(budget), cells, idle, warmup);
        let found = fit(1200, 4, None).unwrap();
        assert_eq!((found.blocks, found.time), (10, Duration::from_millis(22_500)));
        assert_eq!(found.warmup, Duration::from_millis(4_500));
        // With 5 s of warm-up: 30 - 3 - 5.
        assert_eq!(fit(1200, 4, Some(s(5))).unwrap().time, s(22));
        // Six blocks of two, each run 2.4 + 3 s, are 64.8 s.
        assert_eq!(fit(65, 2, None).unwrap().blocks, 6);
        assert_eq!(fit(64, 2, None), None);
    }
}
