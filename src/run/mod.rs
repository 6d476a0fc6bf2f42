//! One run, in the worker: preflight, trees, pools, the measured window, results, clean-up.
//! Floor 6.
//!
//! [`worker::run`] reads as the order of events. The rest is one step a file: [`prepare`] looks at
//! arguments and disks, [`meter`] watches the window, [`outcome`] adds up and checks the sums,
//! [`rows`] and [`notes`] say it. [`sequence`] makes several windows over the same disks, and
//! [`shelf`] of such a sequence a verdict on each disk.

mod ask;
mod clean;
mod conditions;
mod cpus;
mod dbench;
mod descriptors;
mod direct;
mod drain;
mod dry_run;
mod given;
mod hangs;
mod hostfile;
mod level;
mod live;
mod loads;
mod meter;
mod mix;
mod notes;
mod outcome;
mod outlet;
mod patience;
mod phases;
mod pools;
mod prepare;
mod preparing;
mod report;
mod request;
mod rows;
mod sequence;
mod series;
mod setup;
mod shelf;
mod traffic;
mod window;
mod worker;

pub use conditions::{AclCache, Conditions, DirOwner, Dirs, MountAcl};
pub use dbench::Dbench;
pub use request::{DEFAULT_TIME, Preset, RunRequest, default_warmup};
pub(crate) use series::{Common, OneRun, Ready, Series};
pub use series::{Hooks, Idle};
pub use worker::run as run_worker;
pub(crate) use worker::{Job, Worker, in_worker};

/// Why a run ended before it had results, with the exit code for it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct RunError {
    /// Exit code: 1, 2, 3 or 141, as `--help` lists them.
    pub code: u8,
    /// What happened and what to do; may have several lines.
    pub message: String,
}

impl RunError {
    /// Wrong arguments, or a wrong loadfile.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { code: 2, message: message.into() }
    }

    /// It cannot run on this host, or as this user.
    pub(crate) fn cannot(message: impl Into<String>) -> Self {
        Self { code: 3, message: message.into() }
    }

    /// It ran, and something went wrong.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { code: 1, message: message.into() }
    }
}

/// What a disk that did not answer still owes: waits for it, and undoes what it did too late.
struct Straggler(Box<dyn FnOnce() + Send>);

impl std::fmt::Debug for Straggler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Straggler")
    }
}
