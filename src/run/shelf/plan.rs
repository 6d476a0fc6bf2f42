//! What will be done and how long it takes.

use std::time::Duration;

use super::super::{Preset, RunRequest};
use super::figures::Way;
use super::judge::{AGAIN_ALONE, AGAIN_TOGETHER};
use super::load::TESTS;
use crate::units::{format_bytes, format_duration};

/// The windows of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    disks: u32,
    preset: Preset,
    /// Warm-up and measured time of a window.
    window: Duration,
    time: Duration,
}

impl Plan {
    pub(super) fn new(request: &RunRequest, preset: Preset, disks: usize) -> Self {
        let time = request.time.unwrap_or_default();
        Self { disks: disks as u32, preset, window: request.warmup + time, time }
    }

    /// The ways that were asked for.
    pub(super) fn ways(&self) -> impl Iterator<Item = Way> + use<> {
        let Preset { together, alone, .. } = self.preset;
        Way::BOTH.into_iter().filter(move |way| match way {
            Way::Together => together,
            Way::Alone => alone,
        })
    }

    /// Windows of a test.
    const fn windows(&self, way: Way) -> u32 {
        match way {
            Way::Together => 1,
            Way::Alone => self.disks,
        }
    }

    /// All windows, but for those that check a disk again.
    pub(super) fn total(&self) -> Duration {
        self.ways().map(|way| self.window * self.windows(way)).sum::<Duration>()
            * TESTS.len() as u32
    }

    /// How long a number of disks that stood out alone take, or of tests in which one did
    /// together.
    pub(super) fn checks(&self, way: Way, count: usize) -> Duration {
        let windows = match way {
            Way::Alone => 2 * AGAIN_ALONE,
            Way::Together => AGAIN_TOGETHER,
        };
        self.window * (windows * count) as u32
    }

    /// Before it is done.
    pub(super) fn text(&self, file_bytes: u64) -> String {
        let parts = self.ways().map(|way| match way {
            Way::Together => "all together",
            Way::Alone => "one by one",
        });
        let parts: Vec<&str> = parts.collect();
        let tests: Vec<&str> = TESTS.iter().map(|test| test.name).collect();
        format!(
            "{} disk{}: {}\n{}; each {} after {} of warm-up: about {} in all\nbefore that {} are \
             written to each disk; what stands out is measured again, up to {} for a disk and test",
            self.disks,
            if self.disks == 1 { "" } else { "s" },
            tests.join(", "),
            parts.join(", then "),
            format_duration(self.time),
            format_duration(self.window - self.time),
            format_duration(self.total()),
            format_bytes(file_bytes),
            format_duration(self.ways().map(|way| self.checks(way, 1)).max().unwrap_or_default())
        )
    }

    /// As a test begins; `done` is the time of the windows before it.
    pub(super) fn begins(&self, test: usize, way: Way, done: Duration) -> (String, Duration) {
        let name = TESTS[test].name;
        let left = format_duration(self.total().saturating_sub(done));
        let text = match way {
            Way::Together => format!("{name}, all together; about {left} left"),
            Way::Alone => format!("{name}, one by one; about {left} left"),
        };
        (text, done + self.window * self.windows(way))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_by_hand() {
        let preset = Preset { together: true, alone: true, file_bytes: None };
        let second = Duration::from_secs(1);
        let plan = Plan { disks: 12, preset, window: 11 * second, time: 10 * second };
        assert_eq!(plan.total(), 4 * 13 * 11 * second);
        assert_eq!(plan.checks(Way::Alone, 2), 20 * 11 * second);
        let text = plan.text(1 << 30);
        assert!(text.contains("about 9m32s") && text.contains("10.0s after 1.00s"), "{text}");
        assert!(text.contains("up to 1m50s"), "{text}");
        let (text, done) = plan.begins(0, Way::Alone, Duration::ZERO);
        assert_eq!(text, "sequential read, one by one; about 9m32s left");
        assert_eq!(done, 132 * second);
        let alone = Plan { preset: Preset { together: false, ..preset }, ..plan };
        assert_eq!((alone.ways().count(), alone.total()), (1, 4 * 12 * 11 * second));
    }
}
