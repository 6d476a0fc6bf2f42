//! The threads: what they shed before they start, and what they do.

use std::any::Any;
use std::cell::Cell;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use rustix::fs::{Mode, OFlags};

use super::{DiskJob, DiskState, Event, Gate, run_clients};
use crate::client::{Client, ClientSetup, max_path_len};
use crate::engine::{Directory, SlotLayout, SyncEngine};
use crate::host::cost::ThreadCost;
use crate::host::sys;
use crate::plan::{PathMode, Timing};

/// Stack of a client thread: its futures live on the heap, its deepest call is a Deltree.
const STACK: usize = 256 * 1024;

/// What every thread of a disk needs.
#[derive(Clone)]
struct Shared {
    job: Arc<DiskJob>,
    state: Arc<DiskState>,
    gate: Arc<Gate>,
    events: Sender<Event>,
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
    events: Sender<Event>,
) -> std::io::Result<()> {
    let shared = Shared { job, state, gate, events };
    let name = format!("disk{}", shared.job.disk);
    std::thread::Builder::new().name(name).stack_size(STACK).spawn(move || lead(&shared))?;
    Ok(())
}

/// Makes this thread a stranger to the process, then starts the clients, which inherit that.
fn lead(shared: &Shared) {
    let clients = shared.job.clients;
    let directory = match catch_unwind(AssertUnwindSafe(|| prepare_leader(&shared.job))) {
        Ok(Ok(directory)) => directory,
        Ok(Err(reason)) => return shared.failed(None, clients, reason),
        Err(panic) => return shared.failed(None, clients, panic_text(&*panic)),
    };
    for client in 0..clients {
        let thread = std::thread::Builder::new()
            .name(format!("disk{}-c{client}", shared.job.disk))
            .stack_size(STACK);
        let mine = shared.clone();
        if let Err(error) = thread.spawn(move || serve(&mine, client, directory)) {
            let reason = format!("cannot start a thread for client {client}: {error}");
            return shared.failed(Some(client), clients - client, reason);
        }
    }
}

/// What the disk's threads have in common: signals blocked, CPUs, an empty descriptor table, the
/// run directory as working directory or as the only open file.
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
    match job.load.path {
        PathMode::Absolute => Ok(Directory::Cwd),
        PathMode::Cwd => {
            let root = open_root(job)?;
            rustix::process::fchdir(root.as_fd()).map_err(|e| failed("fchdir", e))?;
            Ok(Directory::Cwd)
        }
        PathMode::Dirfd if job.load.share.fd => Ok(Directory::Fd(open_root(job)?.into_raw_fd())),
        PathMode::Dirfd => Ok(Directory::Cwd), // every client opens its own
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

/// The life of a client thread.
fn serve(shared: &Shared, client: u32, directory: Directory) {
    let run = || -> Result<Event, String> {
        let directory = prepare_client(&shared.job, directory)?;
        Ok(replay(shared, client, directory))
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(event)) => {
            let _ = shared.events.send(event);
        }
        Ok(Err(reason)) => shared.failed(Some(client), 1, reason),
        Err(panic) => shared.failed(Some(client), 1, panic_text(&*panic)),
    }
}

/// Leaves what the load does not ask to share with the disk's other clients.
fn prepare_client(job: &DiskJob, directory: Directory) -> Result<Directory, String> {
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

/// Waits at the gate, replays the loadfile, tells what happened.
fn replay(shared: &Shared, client: u32, directory: Directory) -> Event {
    let Shared { job, state, .. } = shared;
    let program = &job.programs[client as usize % job.programs.len()];
    let prefix = match job.load.path {
        PathMode::Absolute => job.root.as_os_str().as_bytes().to_vec(),
        PathMode::Cwd | PathMode::Dirfd => b".".to_vec(),
    };
    let layout = SlotLayout {
        prefix,
        max_path: max_path_len(program),
        max_read: program.max_read as usize,
        max_write: program.max_write as usize,
        directory,
    };
    let engine = SyncEngine::new(&layout, &state.control);
    let at_start = Cell::new(None);
    let setup = ClientSetup {
        program,
        load: &job.load,
        control: &state.control,
        shard: &state.shards[client as usize % state.shards.len()],
        errors: &state.errors,
        at_window: &|| at_start.set(ThreadCost::now().ok()),
        disk: job.disk,
        client,
        clients: job.clients,
        keep_passes: job.keep_passes,
    };
    let replay = Client::new(&engine, 0, setup).run();
    let _ = shared.events.send(Event::Ready { disk: job.disk });
    shared.gate.wait();
    let mut reports = run_clients(&engine, vec![replay]);
    let cost =
        at_start.get().and_then(|then: ThreadCost| Some(ThreadCost::now().ok()?.minus(&then)));
    match reports.pop() {
        Some(report) => Event::Done { disk: job.disk, report: Box::new(report), cost },
        None => Event::Failed {
            disk: job.disk,
            client: Some(client),
            lost: 1,
            reason: "the client ended without a report".into(),
        },
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("no message"))
}
