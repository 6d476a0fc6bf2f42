//! What a pool thread does: it makes its clients and their engine, waits at the gate, and runs them.

use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::ThreadId;

use super::crew::{Crew, Dismiss};
use super::thread::{STACK, Shared};
use super::{CLOSED_FILE, DiskJob, Event, ThreadReport, run_clients};
use crate::client::{Client, ClientReport, ClientSetup, max_path_len};
use crate::engine::{
    Backing, Call, Directory, Engine, Errno, HybridEngine, NoRing, PathSlot, SlotLayout, Step,
    SyncEngine, Turn, UringEngine,
};
use crate::host::cost::ThreadCost;
use crate::host::walk::walk_rcu;
use crate::plan::{EngineKind, PathMode};

/// Replays the loadfiles of a thread's clients; `left` counts those that have not ended.
pub(super) fn replay(
    shared: &Shared,
    thread: u32,
    directory: Directory,
    left: &AtomicU32,
) -> Result<(), String> {
    let (job, control) = (&shared.job, &shared.state.control);
    let layouts: Vec<SlotLayout> =
        job.clients_of(thread).map(|client| layout(job, client, directory)).collect();
    let no_ring = |error: std::io::Error| NoRing::of(&error).to_string();
    match (job.engine, layouts.as_slice()) {
        // One client holds nobody up: the plain calls are the cheapest ones.
        (EngineKind::Sync | EngineKind::Hybrid, [layout]) => {
            let engine = SyncEngine::new(layout, control);
            prove_drop(&engine, job)?;
            run(shared, thread, &engine, left);
        }
        (EngineKind::Uring, layouts) => {
            let engine = UringEngine::new(layouts, control).map_err(no_ring)?;
            run(
                shared,
                thread,
                &engine.with_fixed_buffers(job.load.direct && !job.in_memory),
                left,
            );
        }
        (EngineKind::Sync, _) => return Err("sync serves one client a thread".into()),
        (EngineKind::Hybrid, layouts) => {
            let backing = Backing {
                device: !job.in_memory,
                direct: job.load.direct,
                sync_writes: job.load.sync_open,
            };
            // Nothing in memory holds a thread up for long.
            let turn = backing.device.then(Arc::<Turn>::default);
            let routes = &job.load.routes;
            let engine = HybridEngine::new(layouts, control, backing, routes, turn.clone())
                .map_err(no_ring)?;
            prove_drop(&engine, job)?;
            match (turn, &shared.watch) {
                (Some(turn), Some(watch)) => {
                    watch.add(&turn);
                    run_with_stand_in(shared, thread, &engine, left)?;
                }
                _ => run(shared, thread, &engine, left),
            }
        }
    }
    Ok(())
}

/// Makes sure that the engine's calls are made with the thread's credentials, those at once and those
/// by the ring: what only root may open stays closed to them. An open that would make a file goes
/// another way than one that would not.
fn prove_drop<E: Engine>(engine: &E, job: &DiskJob) -> Result<(), String> {
    if !job.has_closed_file {
        return Ok(());
    }
    for flags in [libc::O_RDONLY, libc::O_WRONLY | libc::O_CREAT] {
        let mut slot = engine.slot(0);
        slot.first.reset();
        slot.first.push(b"/../");
        slot.first.push(CLOSED_FILE.as_bytes());
        drop(slot);
        let open = Call::Open { path: PathSlot::First, flags, mode: 0o600 };
        let (mut ready, mut step) = (Vec::new(), engine.start(0, open));
        let result = loop {
            match step {
                Step::Done(result) => break result,
                Step::Pending => engine.reap(&mut ready),
            }
            step = engine.take(0).map_or(Step::Pending, Step::Done);
        };
        match result {
            Err(Errno(errno)) if i32::from(errno) == libc::EACCES => {}
            other => {
                return Err(format!("a file that only root may open gave {other:?}, not EACCES"));
            }
        }
    }
    Ok(())
}

fn layout(job: &DiskJob, client: u32, directory: Directory) -> SlotLayout {
    let program = job.program(client);
    SlotLayout {
        prefix: match job.load.path {
            PathMode::Absolute => job.root.as_os_str().as_bytes().to_vec(),
            PathMode::Cwd | PathMode::Dirfd => b".".to_vec(),
        },
        max_path: max_path_len(program).max("/../".len() + CLOSED_FILE.len()),
        max_read: program.max_read as usize,
        max_write: program.max_write as usize,
        directory,
    }
}

/// What a thread used up to the start of the measured window.
struct Start {
    thread: ThreadId,
    cost: OnceLock<ThreadCost>,
    /// Whether kernel threads work for it.
    workers: bool,
    /// Costs of the stand-in, up to when it last had nothing to do.
    stand_in: Mutex<ThreadCost>,
}

impl Start {
    fn new(job: &DiskJob) -> Self {
        let workers = match job.engine {
            EngineKind::Sync => false,
            EngineKind::Hybrid => !job.in_memory,
            EngineKind::Uring => true,
        };
        let thread = std::thread::current().id();
        Self { thread, cost: OnceLock::new(), workers, stand_in: Mutex::default() }
    }

    fn used(&self, workers: bool) -> Option<ThreadCost> {
        let helped = self.stand_in.lock().unwrap_or_else(PoisonError::into_inner);
        let own = if workers { ThreadCost::now_with_workers() } else { ThreadCost::now() };
        Some(own.ok()?.plus(&helped))
    }

    /// The measured window has begun, as a client has just seen.
    fn at_window(&self) {
        // A client that a stand-in serves leaves that to one of the pool thread's.
        if self.cost.get().is_none()
            && std::thread::current().id() == self.thread
            && let Some(used) = self.used(self.workers)
        {
            let _ = self.cost.set(used);
        }
    }

    /// The stand-in has nothing to do.
    fn stand_in_rests(&self) {
        let mut cost = self.stand_in.lock().unwrap_or_else(PoisonError::into_inner);
        *cost = ThreadCost::now_with_workers().unwrap_or(*cost);
    }
}

/// A client is ready.
fn ready(shared: &Shared) {
    let _ = shared.events.send(Event::Ready { disk: shared.job.disk });
}

/// What a thread tells of its clients.
struct Account<'a, E> {
    shared: &'a Shared,
    thread: u32,
    engine: &'a E,
    left: &'a AtomicU32,
    start: &'a Start,
}

impl<E: Engine> Account<'_, E> {
    fn setup<'s>(
        &'s self,
        at_window: &'s (dyn Fn() + Sync),
        prepared: &'s (dyn Fn() + Sync),
        client: u32,
    ) -> ClientSetup<'s> {
        let Shared { job, state, .. } = self.shared;
        ClientSetup {
            program: job.program(client),
            load: &job.load,
            control: &state.control,
            shard: &state.shards[self.thread as usize % state.shards.len()],
            errors: &state.errors,
            at_window,
            prepared: job.prepares().then_some(prepared),
            disk: job.disk,
            client,
            clients: job.clients,
            keep_passes: job.keep_passes,
        }
    }

    /// A client of the thread has ended.
    fn done(&self, report: ClientReport) {
        let last = self.left.fetch_sub(1, SeqCst) == 1;
        let thread = last.then(|| {
            let traffic = self.engine.traffic();
            let workers = traffic.as_ref().is_some_and(|traffic| traffic.enters > 0);
            let now = || self.start.used(self.start.workers || workers);
            let cost = self.start.cost.get().and_then(|then| Some(now()?.minus(then)));
            let job = &self.shared.job;
            let walk = job.asks_walk.then(|| walk_rcu(&job.root).ok()).flatten();
            Box::new(ThreadReport { cost, traffic, walk })
        });
        let (disk, report) = (self.shared.job.disk, Box::new(report));
        let _ = self.shared.events.send(Event::Done { disk, report, thread });
    }

    /// Says that the clients are ready, and waits for the others. Clients that have something to
    /// prepare do that each for itself.
    fn wait_at_gate(&self) {
        if !self.shared.job.prepares() {
            (0..self.left.load(SeqCst)).for_each(|_| ready(self.shared));
            self.shared.gate.wait();
        }
    }
}

/// Runs a thread's clients over an engine, and tells of each as it ends.
fn run<E: Engine>(shared: &Shared, thread: u32, engine: &E, left: &AtomicU32) {
    let start = Start::new(&shared.job);
    let at_window = || start.at_window();
    let account = Account { shared, thread, engine, left, start: &start };
    let prepared = || ready(shared);
    let clients: Vec<_> = (0..)
        .zip(shared.job.clients_of(thread))
        .map(|(index, client)| {
            Client::new(engine, index, account.setup(&at_window, &prepared, client)).run()
        })
        .collect();
    account.wait_at_gate();
    run_clients(engine, clients, |_, report| account.done(report));
}

/// The same with a second thread, which shares this one's descriptors and working directory.
fn run_with_stand_in(
    shared: &Shared,
    thread: u32,
    engine: &HybridEngine<'_>,
    left: &AtomicU32,
) -> Result<(), String> {
    let start = Start::new(&shared.job);
    let at_window = || start.at_window();
    let account = Account { shared, thread, engine, left, start: &start };
    let prepared = || ready(shared);
    let clients = (0..).zip(shared.job.clients_of(thread)).map(|(index, client)| {
        Client::new(engine, index, account.setup(&at_window, &prepared, client)).run()
    });
    let crew = Crew::new(engine, clients, |_, report| account.done(report));
    std::thread::scope(|scope| {
        let _end = Dismiss(engine);
        let name = format!("disk{}-t{thread}s", shared.job.disk);
        let stand_in = std::thread::Builder::new().name(name).stack_size(STACK);
        stand_in
            .spawn_scoped(scope, || {
                if !shared.job.load.share.cred {
                    // Else two threads count references on one object, as no two clients do.
                    let _ = crate::host::sys::own_credentials();
                }
                crew.stand_in(|| start.stand_in_rests());
            })
            .map_err(|error| format!("cannot start the stand-in of thread {thread}: {error}"))?;
        account.wait_at_gate();
        crew.run();
        Ok(())
    })
}
