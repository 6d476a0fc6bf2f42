//! How the kernel walks to what a thread's clients name, asked by the thread itself before and after
//! the window: with its credentials, and in the form that the load uses.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;

use rustix::io::Errno;

use super::thread::Shared;
use super::{DiskJob, Event};
use crate::client::some_paths;
use crate::engine::Directory;
use crate::host::walk::{Walk, walk_at, walk_now_at};

/// Paths asked about, on a disk of one thread. More threads share them out, at least one each.
const PATHS: usize = 100;

/// Walks asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkCount {
    /// Those that stayed in RCU mode.
    pub rcu: u64,
    /// All of them.
    pub asked: u64,
}

impl WalkCount {
    /// Adds those of another thread, or of another time.
    pub fn add(&mut self, other: Self) {
        self.rcu += other.rcu;
        self.asked += other.asked;
    }

    /// Share that stayed in RCU mode, 0 to 1; `None` where nothing was asked.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        (self.asked > 0).then(|| self.rcu as f64 / self.asked as f64)
    }
}

/// Asks before the window, and tells. Where caches are to stay cold, the twin of the way stands for
/// it.
pub(super) fn tell_before(shared: &Shared, thread: u32, at: Directory) {
    let job = &shared.job;
    let walks = match &job.twin {
        Some(twin) => ask_of(at, twin.as_os_str().as_bytes(), [b"".as_slice()]),
        None => ask(job, thread, at),
    };
    let _ = shared.events.send(Event::Walked { disk: job.disk, walks });
}

/// Asks after the window.
pub(super) fn ask_after(shared: &Shared, thread: u32, at: Directory) -> WalkCount {
    ask(&shared.job, thread, at)
}

/// Asks about the paths of a thread's clients.
fn ask(job: &DiskJob, thread: u32, at: Directory) -> WalkCount {
    let budget = PATHS.div_ceil(job.threads.max(1) as usize);
    let clients = job.clients_of(thread);
    let each = budget.div_ceil(clients.len().max(1));
    let mut paths = BTreeSet::new();
    for client in clients.take(budget) {
        paths.extend(some_paths(job.program(client), client, each));
    }
    ask_of(at, &job.prefix(), paths.iter().map(Vec::as_slice))
}

/// Asks about paths behind a prefix. One that is not there counts by the nearest directory above it
/// that is; each place counts once. One that the thread may not reach does not count.
fn ask_of<'p>(
    at: Directory,
    prefix: &[u8],
    paths: impl IntoIterator<Item = &'p [u8]>,
) -> WalkCount {
    let places = paths.into_iter().filter_map(|path| nearest(at, prefix, path));
    let places: BTreeSet<CString> = places.collect();
    let mut count = WalkCount::default();
    places.iter().for_each(|place| count_walk(at, place, &mut count));
    count
}

/// The path itself, or the nearest directory above that is there; never above the prefix. Looking
/// brings all names, and what the kernel keeps of ACLs, into memory.
fn nearest(at: Directory, prefix: &[u8], path: &[u8]) -> Option<CString> {
    let mut whole = prefix.to_vec();
    whole.extend_from_slice(path);
    loop {
        let place = CString::new(whole.clone()).ok()?;
        match walk_at(at.as_fd(), &place) {
            Ok(()) => return Some(place),
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(_) => return None,
        }
        let slash = whole.iter().rposition(|byte| *byte == b'/')?;
        if slash < prefix.len() {
            return None;
        }
        whole.truncate(slash);
    }
}

fn count_walk(at: Directory, place: &CStr, count: &mut WalkCount) {
    match walk_now_at(at.as_fd(), place) {
        Ok(Walk::Rcu) => count.add(WalkCount { rcu: 1, asked: 1 }),
        Ok(Walk::Left) => count.add(WalkCount { rcu: 0, asked: 1 }),
        // The kernel cannot be asked, or the name has just gone.
        Ok(Walk::Unknown) | Err(_) => {}
    }
}
