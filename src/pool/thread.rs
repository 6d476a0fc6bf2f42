//! The threads: what they shed before they start, and what they do.

use std::any::Any;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, IntoRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::mpsc::Sender;

use rustix::fs::{Mode, OFlags};

use super::serve::replay;
use super::{DiskJob, DiskState, Event, Gate};
use crate::engine::{Directory, Watch};
use crate::host::caller::{Held, make_dumpable};
use crate::host::sys;
use crate::plan::{PathMode, Timing};

/// Stack of a pool thread: its futures live on the heap, its deepest call is a Deltree.
pub(super) const STACK: usize = 256 * 1024;

/// What every thread of a disk needs.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) job: Arc<DiskJob>,
    pub(super) state: Arc<DiskState>,
    pub(super) gate: Arc<Gate>,
    pub(super) watch: Option<Arc<Watch>>,
    pub(super) events: Sender<Event>,
}

impl Shared {
    fn failed(&self, client: Option<u32>, lost: u32, reason: String) {
        // Nobody listens only when the run is over.
        let _ = self.events.send(Event::Failed { disk: self.job.disk, client, lost, reason });
    }
}

pub(super) fn start_leader(
    job: Arc<DiskJob>,
    state: Arc<DiskState>,
    gate: Arc<Gate>,
    watch: Option<Arc<Watch>>,
    events: Sender<Event>,
) -> std::io::Result<()> {
    let shared = Shared { job, state, gate, watch, events };
    let name = format!("disk{}", shared.job.disk);
    std::thread::Builder::new().name(name).stack_size(STACK).spawn(move || lead(&shared))?;
    Ok(())
}

/// Makes this thread a stranger to the process, then starts the others, which inherit that.
fn lead(shared: &Shared) {
    let clients = shared.job.clients;
    let directory = match catch_unwind(AssertUnwindSafe(|| prepare_leader(&shared.job))) {
        Ok(Ok(directory)) => directory,
        Ok(Err(reason)) => return shared.failed(None, clients, reason),
        Err(panic) => return shared.failed(None, clients, panic_text(&*panic)),
    };
    let job = &shared.job;
    for number in 0..job.threads {
        let thread = std::thread::Builder::new()
            .name(format!("disk{}-t{number}", job.disk))
            .stack_size(STACK);
        let mine = shared.clone();
        if let Err(error) = thread.spawn(move || serve(&mine, number, directory)) {
            let lost = (number..job.threads).map(|number| job.clients_of(number).len() as u32);
            let reason = format!("cannot start thread {number}: {error}");
            return shared.failed(Some(number), lost.sum(), reason);
        }
    }
}

/// What the disk's threads have in common: signals blocked, CPUs, an empty descriptor table, the
/// run directory as working directory or as the only open file, and shared credentials.
fn prepare_leader(job: &DiskJob) -> Result<Directory, String> {
    let failed = |what: &str, error: rustix::io::Errno| format!("{what}: {error}");
    sys::block_all_signals_in_this_thread().map_err(|e| failed("block signals", e))?;
    if !job.load.cpus.is_empty() {
        sys::set_affinity(&job.load.cpus).map_err(|e| failed("set the CPUs", e))?;
    }
    let paced = job.load.rate.is_some() || matches!(job.load.timing, Timing::Honour { .. });
    if paced {
        // Sleeps of a schedule end on time; the default lets them end 50 us late.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    }
    sys::unshare_files_and_close_all().map_err(|e| failed("leave the descriptor table", e))?;
    sys::unshare_fs().map_err(|e| failed("leave the shared working directory", e))?;
    let directory = go_to_root(job)?;
    if job.load.share.cred {
        // The disk's, not that of the process. Who changes his groups gets another one, so one thread
        // does that for all.
        sys::own_credentials().map_err(|e| failed("get a credentials object of its own", e))?;
        if let Some(caller) = &job.caller {
            caller.take().map_err(|error| error.to_string())?;
            make_dumpable();
        }
    }
    Ok(directory)
}

/// Where relative paths start, as far as that is shared.
fn go_to_root(job: &DiskJob) -> Result<Directory, String> {
    match job.load.path {
        PathMode::Absolute => Ok(Directory::Cwd),
        PathMode::Cwd => {
            let root = open_root(job)?;
            rustix::process::fchdir(root.as_fd()).map_err(|error| format!("fchdir: {error}"))?;
            Ok(Directory::Cwd)
        }
        PathMode::Dirfd if job.load.share.fd => Ok(Directory::Fd(open_root(job)?.into_raw_fd())),
        PathMode::Dirfd => Ok(Directory::Cwd), // every thread opens its own
    }
}

/// Opens the run directory, and makes sure that it is the one that the run made.
fn open_root(job: &DiskJob) -> Result<OwnedFd, String> {
    let path = job.root.display();
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let root = rustix::fs::open(&job.root, flags, Mode::empty())
        .map_err(|error| format!("open {path}: {error}"))?;
    let stat = rustix::fs::fstat(&root).map_err(|error| format!("fstat {path}: {error}"))?;
    if (stat.st_dev, stat.st_ino) != job.root_id {
        return Err(format!("{path} is no longer the directory that this run made"));
    }
    Ok(root)
}

/// The life of a pool thread. Client i of a disk belongs to thread i modulo their number, so the
/// number of a thread is that of its first client.
fn serve(shared: &Shared, thread: u32, directory: Directory) {
    let left = AtomicU32::new(shared.job.clients_of(thread).len() as u32);
    let run = || -> Result<(), String> {
        let directory = prepare_thread(&shared.job, directory)?;
        act(shared)?;
        replay(shared, thread, directory, &left)
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(())) => {}
        Ok(Err(reason)) => shared.failed(Some(thread), left.load(SeqCst), reason),
        Err(panic) => shared.failed(Some(thread), left.load(SeqCst), panic_text(&*panic)),
    }
}

/// Leaves what the load does not ask to share with the disk's other threads.
fn prepare_thread(job: &DiskJob, directory: Directory) -> Result<Directory, String> {
    let share = job.load.share;
    if !share.fd {
        sys::unshare_files_and_close_all()
            .map_err(|e| format!("leave the descriptor table: {e}"))?;
    }
    if !share.fs {
        sys::unshare_fs().map_err(|e| format!("leave the shared working directory: {e}"))?;
    }
    if !share.cred {
        sys::own_credentials().map_err(|e| format!("get a credentials object of its own: {e}"))?;
    }
    if job.load.path == PathMode::Dirfd && !share.fd {
        return Ok(Directory::Fd(open_root(job)?.into_raw_fd()));
    }
    Ok(directory)
}

/// Becomes whom the run asks for, before there is a ring, and tells what the kernel makes of it.
fn act(shared: &Shared) -> Result<(), String> {
    let job = &shared.job;
    let held = match &job.caller {
        Some(caller) => {
            let held = caller.take().map_err(|error| error.to_string())?;
            make_dumpable(); // the last thread to change leaves it so
            held
        }
        None => match Held::of_this_thread() {
            Some(held) => held,
            None => return Ok(()), // nothing was asked for, and without /proc nothing tells
        },
    };
    if job.caller.is_some() {
        // Where caches are to stay cold, the way itself is not walked yet.
        let place = job.twin.as_ref().unwrap_or(&job.root);
        rustix::fs::stat(place).map_err(|errno| {
            format!(
                "uid {} cannot reach {}: {}; a directory above is closed to it",
                held.uids[3],
                place.display(),
                crate::host::errno::describe(errno)
            )
        })?;
    }
    let _ = shared.events.send(Event::Acts { disk: job.disk, held: Box::new(held) });
    Ok(())
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("no message"))
}
