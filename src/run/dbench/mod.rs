//! A run that speaks as dbench does: what it is asked for beyond a run, and its lines on stdout.
//!
//! The clients' window is that of any run, without a warm-up: counters go on from the start, and
//! [`ticker`] notes what they hold when dbench's warm-up is over, as dbench does. So the lines of the
//! warm-up have figures, too.

mod report;
mod ticker;

use std::time::Duration;

pub(super) use ticker::Ticker;

use crate::output::dbench::{DbenchFormat, running_for};

/// Said before every such run.
pub(super) const REBASELINE: &str = "these figures are not comparable with those of dbench itself: \
                                     measure your baseline again (docs/dbench.md)";

/// What stands where dbench says who it is.
const VERSION: &str = concat!(
    "dbench version 4.00 - its command line and output, by jbodbench ",
    env!("CARGO_PKG_VERSION")
);

/// What `jbodbench dbench` asks for beyond a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dbench {
    /// The number on the command line.
    pub processes: u32,
    /// Clients of each of them.
    pub clients_per_process: u32,
    /// Time before the measured part.
    pub warmup: Duration,
    /// The measured part.
    pub limit: Duration,
    /// The loadfile, as it was named.
    pub load: String,
    /// A table for each client.
    pub per_client: bool,
    /// A line for each pass.
    pub show_passes: bool,
    /// Which lines.
    pub format: DbenchFormat,
}

impl Dbench {
    /// The lines before anything starts.
    pub(super) fn head(&self) -> String {
        running_for(VERSION, self.limit.as_secs(), &self.load, self.warmup.as_secs())
    }
}
