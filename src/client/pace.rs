//! When an operation is meant to start.

use crate::plan::{Load, Timing};

/// The schedule of a client.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pace {
    /// As soon as the one before is done.
    Closed,
    /// At its timestamp after the start of the pass, divided by a speed.
    Timestamps {
        /// 2 is twice as fast.
        speed: f64,
    },
    /// One every period: operations wait for their time, not for each other.
    Rate {
        /// Nanoseconds between two operations.
        period_ns: f64,
        /// When the next one is meant to start.
        next_ns: f64,
    },
}

/// More than this behind a timestamp is late, in nanoseconds.
const LATE_NS: u64 = 1_000_000;

impl Pace {
    /// The schedule of client `client` of `clients`, from `start_ns` on. A rate is shared evenly
    /// by a disk's clients, their starts staggered.
    pub(super) fn new(
        load: &Load,
        has_times: bool,
        client: u32,
        clients: u32,
        start_ns: u64,
    ) -> Self {
        if let Some(rate) = load.rate {
            let period_ns = 1e9 * f64::from(clients) / rate;
            let offset = period_ns * f64::from(client) / f64::from(clients);
            return Self::Rate { period_ns, next_ns: start_ns as f64 + offset };
        }
        match load.timing {
            Timing::Honour { speed } if has_times => Self::Timestamps { speed },
            _ => Self::Closed,
        }
    }

    /// When the next operation is meant to start; `timestamp_ns` is the line's own, if it has one.
    #[inline]
    pub(super) fn intended(
        &mut self,
        pass_start_ns: u64,
        timestamp_ns: Option<u64>,
    ) -> Option<u64> {
        match self {
            Self::Rate { period_ns, next_ns } => {
                let at = *next_ns as u64;
                *next_ns += *period_ns;
                Some(at)
            }
            _ => self.intended_control(pass_start_ns, timestamp_ns),
        }
    }

    /// When a control instruction is meant to be executed: only a timestamp of its own says so.
    pub(super) fn intended_control(
        &self,
        pass_start_ns: u64,
        timestamp_ns: Option<u64>,
    ) -> Option<u64> {
        match self {
            Self::Timestamps { speed } => {
                timestamp_ns.map(|at| pass_start_ns + (at as f64 / *speed) as u64)
            }
            Self::Closed | Self::Rate { .. } => None,
        }
    }

    /// A wait for other clients is over: it put nothing off.
    pub(super) fn resume(&mut self, now_ns: u64) {
        if let Self::Rate { next_ns, .. } = self {
            *next_ns = next_ns.max(now_ns as f64);
        }
    }

    /// Whether an operation that starts `delay_ns` after its time is late.
    pub(super) fn is_late(&self, delay_ns: u64) -> bool {
        match self {
            Self::Closed => false,
            Self::Timestamps { .. } => delay_ns > LATE_NS,
            Self::Rate { period_ns, .. } => delay_ns as f64 > *period_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_shared_and_staggered() {
        // 100 operations a second by 4 clients: each one every 40 ms, 10 ms apart.
        let load = Load { rate: Some(100.0), ..Load::default() };
        let mut pace = Pace::new(&load, false, 1, 4, 1000);
        assert_eq!(pace.intended(0, None), Some(10_001_000));
        assert_eq!(pace.intended(0, None), Some(50_001_000));
        assert!(!pace.is_late(40_000_000) && pace.is_late(40_000_001));
    }

    #[test]
    fn timestamps_are_scaled() {
        let load = Load { timing: Timing::Honour { speed: 2.0 }, ..Load::default() };
        let mut pace = Pace::new(&load, true, 0, 1, 0);
        assert_eq!(pace.intended(500, Some(1_000_000)), Some(500_500));
        assert_eq!(pace.intended(500, None), None);
    }
}
