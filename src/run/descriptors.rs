//! Whether the limit of open files has room for a run. It counts per descriptor table: the worker
//! has one, and so has every pool thread, or all threads of a disk with `--share fd`.

use super::{RunError, RunRequest};
use crate::host::limits;

/// Descriptors of a pool thread beside those of its clients: the run directory, two files below
/// /proc and a ring, one of each for its stand-in, too, and the directories of a Deltree.
const THREAD: u64 = 11;
/// Of a client beside its handles: a directory that is searched, or a file whose handle number is
/// about to be used again.
const CLIENT: u64 = 1;
/// Of the worker for each disk: its directory, the run directory, and one that is looked into.
const DISK: u64 = 3;
/// Of the worker for the result, host.json, and what is read below /proc and /sys.
const FILES: u64 = 4;

/// The limit, and what a run needs of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Descriptors {
    limit: u64,
    /// What one client needs, its handles included.
    client: u64,
    /// Clients whose files one table has to hold at least.
    together: u64,
    /// Whether more threads make more tables.
    own_tables: bool,
}

impl Descriptors {
    /// Raises the soft limit to the hard one, and makes sure that the worker's table has room for
    /// so many disks and that of a thread for one client, who has up to `handles` open files.
    pub(super) fn check(request: &RunRequest, disks: u64, handles: u64) -> Result<Self, RunError> {
        let nofile = limits::raise_nofile().map_err(|error| RunError::cannot(error.to_string()))?;
        let limit = nofile.soft.unwrap_or(u64::MAX);
        let shared = request.load.share.fd;
        let found = Self {
            limit,
            client: handles.saturating_add(CLIENT),
            together: if shared { u64::from(request.clients) } else { 1 },
            own_tables: !shared,
        };
        let worker = limits::open_files().unwrap_or(FILES) + DISK * disks + FILES;
        let need = found.of_thread(found.together).max(worker);
        if need > limit {
            return Err(RunError::cannot(format!(
                "the limit of open files is {limit}, but {disks} {} with clients that have up to \
                 {handles} files open {} {need}; raise it with `ulimit -n {need}`, which takes root \
                 above the hard limit",
                if disks == 1 { "disk" } else { "disks" },
                if disks == 1 { "needs" } else { "need" },
            )));
        }
        Ok(found)
    }

    /// Clients whose files one table can hold.
    pub(super) fn fit(&self) -> u64 {
        if self.own_tables { (self.limit - THREAD) / self.client } else { self.together }
    }

    /// Refuses more clients of a thread than fit; `enough` threads per disk would do.
    pub(super) fn check_thread(&self, clients: u32, enough: u32) -> Result<(), RunError> {
        if u64::from(clients) <= self.fit() {
            return Ok(());
        }
        let need = self.of_thread(u64::from(clients));
        Err(RunError::cannot(format!(
            "{clients} clients of a thread need {need} open files, the limit is {}; use \
             --threads-per-disk {enough} or more, or raise it with `ulimit -n {need}`",
            self.limit
        )))
    }

    /// What a thread needs that serves so many clients.
    fn of_thread(&self, clients: u64) -> u64 {
        clients.saturating_mul(self.client).saturating_add(THREAD)
    }
}
