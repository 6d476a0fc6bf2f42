//! What is shown while a load runs: plain data, and its wording for bars and plain lines.

use std::time::Duration;

use super::text::shorten;
use crate::units::{format_count, format_duration, format_ns, format_rate};

/// What the run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Running, not measured yet.
    WarmUp,
    /// Running and measured.
    Measure,
    /// Waiting for the disks to store what they were given.
    Drain,
    /// Removing what the run made.
    Clean,
}

impl Phase {
    /// The word that is shown.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::WarmUp => "warm-up",
            Self::Measure => "measure",
            Self::Drain => "drain",
            Self::Clean => "clean",
        }
    }
}

/// Where the phase ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    /// After this time.
    Time(Duration),
    /// After so many passes; `done` of them are behind us.
    Passes {
        /// Passes that are done, by the client that has the fewest.
        done: u64,
        /// Passes that are wanted.
        wanted: u64,
    },
    /// Nobody knows.
    Open,
}

/// The state of things at one moment.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Time since the phase began.
    pub elapsed: Duration,
    /// The phase.
    pub phase: Phase,
    /// Where it ends.
    pub goal: Goal,
    /// The disks, the same ones in the same order in every frame.
    pub disks: Vec<FrameDisk>,
    /// All disks together.
    pub total: FrameTotal,
}

/// A disk at one moment.
#[derive(Clone, Debug)]
pub struct FrameDisk {
    /// The disk's label.
    pub label: String,
    /// Operations per second since the last frame.
    pub ops_per_s: f64,
    /// Bytes per second since the last frame.
    pub bytes_per_s: f64,
    /// Errors so far.
    pub errors: u64,
    /// A word when something is the matter (`stalled`, `hung`, `full`), else empty.
    pub state: String,
}

/// All disks at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameTotal {
    /// Operations per second since the last frame.
    pub ops_per_s: f64,
    /// Bytes per second since the last frame.
    pub bytes_per_s: f64,
    /// 99th percentile of latency in microseconds, when there are samples enough.
    pub p99_us: Option<f64>,
    /// Errors so far.
    pub errors: u64,
}

impl Frame {
    /// Share of the phase that is done, 0 to 1.
    pub(super) fn share(&self) -> f64 {
        let share = match self.goal {
            Goal::Time(total) => self.elapsed.as_secs_f64() / total.as_secs_f64(),
            Goal::Passes { done, wanted } => done as f64 / wanted as f64,
            Goal::Open => 0.0,
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// `4s of 10s`.
    pub(super) fn progress(&self) -> String {
        let elapsed = whole(self.elapsed);
        match self.goal {
            Goal::Time(total) => format!("{elapsed} of {}", whole(total)),
            Goal::Passes { done, wanted } => format!("{elapsed}, pass {done} of {wanted}"),
            Goal::Open => elapsed,
        }
    }

    /// The one line that `--progress plain` writes.
    pub(super) fn plain_line(&self) -> String {
        let (word, progress) = (self.phase.word(), self.progress());
        let mut line = format!("{word} {progress}: {}", self.total.numbers());
        let odd = self.disks.iter().filter(|disk| !disk.state.is_empty());
        for disk in odd {
            line.push_str(&format!("; {} {}", shorten(&disk.label, 40), disk.state));
        }
        line
    }
}

/// Whole seconds, as soon as there are some.
fn whole(time: Duration) -> String {
    match time.as_secs() {
        0 => format_duration(time),
        seconds @ 1..60 => format!("{seconds}s"),
        seconds => format_duration(Duration::from_secs(seconds)),
    }
}

impl FrameDisk {
    /// What stands behind a disk's bar.
    pub(super) fn numbers(&self) -> String {
        let (ops, rate) = (format_count(self.ops_per_s), format_rate(self.bytes_per_s));
        let mut text = format!("{ops:>5} ops/s {rate:>10}");
        if self.errors > 0 {
            text.push_str(&format!("  errors {}", format_count(self.errors as f64)));
        }
        if !self.state.is_empty() {
            text.push_str("  ");
            text.push_str(&self.state);
        }
        text
    }
}

impl FrameTotal {
    /// Rates, p99 and errors.
    pub(super) fn numbers(&self) -> String {
        let (ops, rate) = (format_count(self.ops_per_s), format_rate(self.bytes_per_s));
        let p99 = self.p99_us.map_or_else(|| "-".into(), |us| format_ns(us * 1e3));
        let errors = format_count(self.errors as f64);
        format!("{ops:>5} ops/s {rate:>10}  p99 {p99}  errors {errors}")
    }
}
