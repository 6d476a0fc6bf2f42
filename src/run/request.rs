//! What a run is asked to do: typed, but nothing of it was looked at yet.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::conditions::Conditions;
use super::dbench::Dbench;
use crate::output::{Format, Mode};
use crate::plan::{Data, EngineKind, Load, Timing};
use crate::units::format_duration;

/// The request of one `run` command.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// DISK arguments as typed; none means the current directory.
    pub disks: Vec<OsString>,
    /// Loadfiles for all disks; none means the built-in load.
    pub loadfiles: Vec<PathBuf>,
    /// Weights by which they are dealt to a disk's clients, one for each; none to deal in turn.
    pub mix: Vec<u32>,
    /// Values for what loadfiles SET, by name and in the order of names.
    pub set: Vec<(String, String)>,
    /// Loadfiles for single disks, by the DISK argument.
    pub load_for: Vec<(OsString, PathBuf)>,
    /// Clients per disk.
    pub clients: u32,
    /// How their calls reach the kernel.
    pub engine: EngineKind,
    /// Threads per disk; `None` for what fits the machine.
    pub threads_per_disk: Option<u32>,
    /// What they do.
    pub load: Load,
    /// Measured time; `None` with passes alone.
    pub time: Option<Duration>,
    /// Time before the measured part.
    pub warmup: Duration,
    /// How long to wait for operations under way when time is up.
    pub grace: Duration,
    /// Operations under way for longer are told while the run goes on; zero for none.
    pub hang_after: Duration,
    /// Length of an interval; `None` for no interval rows.
    pub interval: Option<Duration>,
    /// Interval rows for every operation.
    pub interval_ops: bool,
    /// Rows for every pass.
    pub pass_rows: bool,
    /// Histograms in the result.
    pub hist: bool,
    /// Result file.
    pub out: Option<PathBuf>,
    /// Add to it.
    pub append: bool,
    /// Its form, when one was asked for.
    pub format: Option<Format>,
    /// A name for the run.
    pub label: Option<String>,
    /// What is shown meanwhile.
    pub progress: Mode,
    /// Directories between the run directory and the clients'.
    pub depth: u32,
    /// Whose credentials, which ACLs.
    pub conditions: Conditions,
    /// Skip bad lines of loadfiles.
    pub lenient: bool,
    /// Say what would be done, and do nothing.
    pub dry_run: bool,
    /// Refuse disks that are no mount points.
    pub require_mounts: bool,
    /// Leave the run directories.
    pub keep: bool,
    /// A series of tests instead of a load.
    pub preset: Option<Preset>,
    /// Lines as dbench's on stdout instead of a result; `time` then holds its warm-up, too.
    pub dbench: Option<Dbench>,
}

/// `--preset disks`: which tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// All disks at once.
    pub together: bool,
    /// One disk after the other.
    pub alone: bool,
    /// Size of the file on each disk, in bytes, if one was asked for.
    pub file_bytes: Option<u64>,
}

/// Measured time when nothing is said.
pub const DEFAULT_TIME: Duration = Duration::from_secs(10);

/// Warm-up when nothing is said: a fifth of the measured time, at most 30 s.
#[must_use]
pub fn default_warmup(time: Option<Duration>) -> Duration {
    time.map_or(Duration::ZERO, |time| (time / 5).min(Duration::from_secs(30)))
}

impl RunRequest {
    /// Every option that changes the work, always in this order and spelling.
    #[must_use]
    pub fn options_text(&self) -> String {
        let load = &self.load;
        let limit = |time: Option<Duration>| time.map_or("none".into(), format_duration);
        let flags = [
            ("sync-open", load.sync_open),
            ("sync-dir", load.sync_dir),
            ("fsync", load.fsync),
            ("fdatasync", load.datasync),
            ("xattr", load.xattr),
            ("no-resolve", !load.resolve),
            ("fake-io", load.fake_io),
            ("direct", load.direct),
        ];
        let mut text = format!(
            "clients={} time={} passes={} warmup={} data={} timestamps={} rate={} path={} depth={} \
             share={} cpus={}",
            self.clients,
            limit(self.time),
            load.passes.map_or("none".into(), |n| n.to_string()),
            format_duration(self.warmup),
            data_word(load.data),
            timing_text(load.timing),
            load.rate.map_or("none".into(), |rate| rate.to_string()),
            load.path.word(),
            self.depth,
            self.share_text(),
            if load.cpus.is_empty() { "all".into() } else { cpus_text(&load.cpus) },
        );
        for (word, _) in flags.iter().filter(|(_, set)| *set) {
            text.push(' ');
            text.push_str(word);
        }
        if !self.mix.is_empty() {
            let weights: Vec<_> = self.mix.iter().map(ToString::to_string).collect();
            text.push_str(&format!(" mix={}", weights.join(":")));
        }
        if !self.set.is_empty() {
            text.push_str(&format!(" set={}", set_text(&self.set)));
        }
        if load.spin_ns > 0 {
            text.push_str(&format!(" spin={}ns", load.spin_ns));
        }
        if self.conditions != Conditions::default() {
            text.push(' ');
            text.push_str(&self.conditions.text());
        }
        text
    }

    /// What is shared, as it is typed.
    #[must_use]
    pub fn share_text(&self) -> String {
        let share = self.load.share;
        let words = [("cred", share.cred), ("fd", share.fd), ("fs", share.fs)];
        let words: Vec<_> = words.iter().filter(|(_, set)| *set).map(|(word, _)| *word).collect();
        if words.is_empty() { "none".into() } else { words.join(",") }
    }
}

/// `random` or `zero`.
#[must_use]
pub(super) const fn data_word(data: Data) -> &'static str {
    match data {
        Data::Random => "random",
        Data::Zero => "zero",
    }
}

/// `honour`, `ignore` or a speed.
#[must_use]
pub(super) fn timing_text(timing: Timing) -> String {
    match timing {
        Timing::Ignore => "ignore".into(),
        Timing::Honour { speed: 1.0 } => "honour".into(),
        Timing::Honour { speed } => speed.to_string(),
    }
}

/// `blocks=42,size=4m`; what separates is spelled `%2c` within a value.
fn set_text(set: &[(String, String)]) -> String {
    let spell = |c: char| match c {
        '%' | ',' | ' ' => format!("%{:02x}", u32::from(c)),
        c => c.to_string(),
    };
    let one = |(name, value): &(String, String)| {
        format!("{name}={}", value.chars().map(spell).collect::<String>())
    };
    set.iter().map(one).collect::<Vec<_>>().join(",")
}

/// `0,2,3`.
#[must_use]
pub(super) fn cpus_text(cpus: &[usize]) -> String {
    cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_parameters_are_one_word() {
        let set = [("a", "4k"), ("text", "50% of, it")].map(|(n, v)| (n.into(), v.into()));
        assert_eq!(set_text(&set), "a=4k,text=50%25%20of%2c%20it");
    }

    #[test]
    fn warm_up_is_a_fifth_and_at_most_half_a_minute() {
        let seconds = Duration::from_secs;
        assert_eq!(default_warmup(Some(seconds(10))), seconds(2));
        assert_eq!(default_warmup(Some(seconds(600))), seconds(30));
        assert_eq!(default_warmup(None), Duration::ZERO);
    }
}
