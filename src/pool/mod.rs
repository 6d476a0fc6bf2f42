//! Pools: the threads that serve a disk's clients. Floor 5.
//!
//! Every disk has a leader thread, which sheds what the process shares (descriptors, working
//! directory, signals) and then starts the threads that serve one or more clients each, so that
//! they have nothing in common with the rest of the process from their first instruction on. All
//! threads of all disks wait at one [`Gate`]. A thread that a disk holds up can neither keep a file of the process open nor be
//! waited for by accident: nobody joins a pool thread, they send events.

mod crew;
mod exec;
mod gate;
mod serve;
mod thread;
mod walks;

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;

pub use exec::run_clients;
pub use gate::Gate;
pub use walks::WalkCount;

use crate::client::{Barrier, ClientReport, Doing, ErrorLog};
use crate::engine::{Control, Traffic, Watch};
use crate::host::caller::{Caller, Held};
use crate::host::cost::ThreadCost;
use crate::loadfile::Program;
use crate::metrics::Shard;
use crate::plan::{EngineKind, Load, PathMode};

/// A file that only root may open, in the directory above the clients'.
pub const CLOSED_FILE: &str = ".root-only";

/// One disk's work.
#[derive(Clone, Debug)]
pub struct DiskJob {
    /// Number of the disk in the run.
    pub disk: u32,
    /// The directory that clients work in, absolute.
    pub root: PathBuf,
    /// Device and inode number of that directory: a thread refuses to start anywhere else.
    pub root_id: (u64, u64),
    /// Loadfiles; client i replays number i modulo their count.
    pub programs: Vec<Arc<Program>>,
    /// Number of clients.
    pub clients: u32,
    /// Number of threads that serve them; as many as clients on [`EngineKind::Sync`].
    pub threads: u32,
    /// How calls reach the kernel.
    pub engine: EngineKind,
    /// Whether the file system lives in memory: no call waits for a device.
    pub in_memory: bool,
    /// Whom its threads act as; `None` for whom this process is.
    pub caller: Option<Caller>,
    /// With caches that are to stay cold: a directory like `root`, on a way of its own that is like
    /// the way there. What is asked before the window is asked of this.
    pub twin: Option<PathBuf>,
    /// Whether beside `root` lies a file called [`CLOSED_FILE`], which the caller must not be able to
    /// open.
    pub has_closed_file: bool,
    /// What they do with it.
    pub load: Arc<Load>,
    /// Whether to keep the time of each pass.
    pub keep_passes: bool,
    /// Where the run's clients meet at the end of each phase, if their loads have phases.
    pub barrier: Option<Arc<Barrier>>,
    /// Whether each thread has counters of its own, however many there are.
    pub own_counters: bool,
}

impl DiskJob {
    /// The clients that a thread serves.
    fn clients_of(&self, thread: u32) -> impl ExactSizeIterator<Item = u32> + use<> {
        (thread..self.clients).step_by(self.threads.max(1) as usize)
    }

    /// What the paths of its clients begin with.
    fn prefix(&self) -> Vec<u8> {
        match self.load.path {
            PathMode::Absolute => self.root.as_os_str().as_bytes().to_vec(),
            PathMode::Cwd | PathMode::Dirfd => b".".to_vec(),
        }
    }

    /// Whether clients have something to do before the gate.
    #[must_use]
    pub fn prepares(&self) -> bool {
        self.programs.iter().any(|program| !program.preparation().is_empty())
    }

    /// What a client replays.
    fn program(&self, client: u32) -> &Program {
        &self.programs[client as usize % self.programs.len()]
    }
}

/// What a thread tells when its last client has ended.
#[derive(Clone, Debug)]
pub struct ThreadReport {
    /// What it used from the start of the window on, if it got that far.
    pub cost: Option<ThreadCost>,
    /// What its engine did, warm-up included, if it counts that.
    pub traffic: Option<Traffic>,
    /// How the kernel walked after the window.
    pub walks: WalkCount,
}

/// What the threads of a disk share with whoever watches them.
#[derive(Debug)]
pub struct DiskState {
    /// Window, stop and synchronisation points.
    pub control: Control,
    /// Counters; see [`crate::metrics`].
    pub shards: Box<[Shard]>,
    /// The first unexpected outcomes.
    pub errors: ErrorLog,
    /// What each client is at.
    pub doing: Box<[Doing]>,
    /// Where phases end, if the loads have any.
    pub barrier: Option<Arc<Barrier>>,
}

/// What pool threads tell. A thread sends [`Event::Acts`] and [`Event::Walked`] first. Each client
/// sends [`Event::Ready`], then one of the other two; or, when it could not be started, only
/// [`Event::Failed`].
#[derive(Debug)]
pub enum Event {
    /// Whom a thread acts as.
    Acts {
        /// Its disk.
        disk: u32,
        /// Whom the kernel takes it for.
        held: Box<Held>,
    },
    /// How the kernel walks to what a thread's clients will name, before the window.
    Walked {
        /// Its disk.
        disk: u32,
        /// How many walks, and how.
        walks: WalkCount,
    },
    /// A client waits at the gate.
    Ready {
        /// Its disk.
        disk: u32,
    },
    /// A client has ended.
    Done {
        /// Its disk.
        disk: u32,
        /// What it did.
        report: Box<ClientReport>,
        /// If it was the last client of its thread: what that says of itself.
        thread: Option<Box<ThreadReport>>,
    },
    /// A thread could not start, or panicked.
    Failed {
        /// Its disk.
        disk: u32,
        /// Its first client; `None` when the leader could not start any.
        client: Option<u32>,
        /// How many clients will send nothing more.
        lost: u32,
        /// Why.
        reason: String,
    },
}

impl Event {
    /// The disk that the event is about.
    #[must_use]
    pub fn disk(&self) -> u32 {
        match self {
            Self::Acts { disk, .. }
            | Self::Walked { disk, .. }
            | Self::Ready { disk }
            | Self::Done { disk, .. }
            | Self::Failed { disk, .. } => *disk,
        }
    }
}

/// Shards of a disk: one a thread, up to enough that running threads hardly ever share one.
#[must_use]
pub fn shard_count(threads: u32) -> u32 {
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    threads.min(8.max(2 * cpus))
}

/// Starts a disk's threads; they send events and wait at the gate.
///
/// The channel is the standard library's, which wakes its reader by a futex: a pool thread has no
/// descriptor through which it could wake an event loop. A hybrid engine's threads need a `watch` to
/// have stand-ins.
///
/// # Errors
///
/// When the leader thread cannot be created.
pub fn start(
    job: DiskJob,
    gate: Arc<Gate>,
    watch: Option<Arc<Watch>>,
    events: Sender<Event>,
) -> std::io::Result<Arc<DiskState>> {
    let turnstile = job.barrier.as_ref().map(|barrier| barrier.turnstile().clone());
    let shards = if job.own_counters { job.threads } else { shard_count(job.threads) };
    let state = Arc::new(DiskState {
        control: Control::with_turnstile(job.clients, turnstile.unwrap_or_default()),
        shards: (0..shards).map(|_| Shard::new(shards < job.threads)).collect(),
        errors: ErrorLog::default(),
        doing: (0..job.clients).map(|_| Doing::default()).collect(),
        barrier: job.barrier.clone(),
    });
    thread::start_leader(Arc::new(job), Arc::clone(&state), gate, watch, events)?;
    Ok(state)
}
