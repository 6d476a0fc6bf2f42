//! What a pool thread does: it makes its clients and their engine, waits at the gate, and runs them.

use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::ThreadId;

use super::crew::{Crew, Dismiss};
use super::thread::{STACK, Shared};
use super::{CLOSED_FILE, DiskJob, Event, ThreadReport, run_clients, walks};
use crate::client::{Client, ClientReport, ClientSetup, max_path_len};
use crate::engine::{
    Backing, Call, Control, Directory, Engine, Errno, HybridEngine, NoRing, PathSlot, SlotLayout,
    Step, SyncEngine, Turn, UringEngine,
};
use crate::host::cost::ThreadCost;
use crate::plan::EngineKind;

/// From the clients' directory to the file that only root may open.
const TO_CLOSED_FILE: &[u8] = b"/../";

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
    prove_drop_beside(job, control)?;
    if !job.prepares() {
        walks::tell_before(shared, thread, directory);
    }
    let of = Of { shared, thread, directory, left };
    match (job.engine, layouts.as_slice()) {
        // One client holds nobody up: the plain calls are the cheapest ones.
        (EngineKind::Sync | EngineKind::Hybrid, [layout]) => {
            let engine = SyncEngine::new(layout, control);
            prove_drop(&engine, job)?;
            run(of, &engine);
        }
        (EngineKind::Uring, layouts) => {
            let engine = UringEngine::new(layouts, control).map_err(no_ring)?;
            prove_drop(&engine, job)?;
            run(of, &engine.with_fixed_buffers(job.load.direct && !job.in_memory));
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
                    run_with_stand_in(of, &engine)?;
                }
                _ => run(of, &engine),
            }
        }
    }
    Ok(())
}

/// Makes sure that the engine's calls are made with the thread's credentials, those at once and those
/// by the ring: what only root may open stays closed to them. An open that would make a file goes
/// another way than one that would not.
fn prove_drop<E: Engine>(engine: &E, job: &DiskJob) -> Result<(), String> {
    if job.has_closed_file && job.twin.is_none() { stays_closed(engine) } else { Ok(()) }
}

/// The same where the way to the clients' directory is not to be walked yet: proved on its twin, by
/// engines that are made for that and go again.
fn prove_drop_beside(job: &DiskJob, control: &Control) -> Result<(), String> {
    let Some(twin) = job.twin.as_ref().filter(|_| job.has_closed_file) else { return Ok(()) };
    let layout = SlotLayout {
        prefix: twin.as_os_str().as_bytes().to_vec(),
        max_path: TO_CLOSED_FILE.len() + CLOSED_FILE.len(),
        ..SlotLayout::default()
    };
    stays_closed(&SyncEngine::new(&layout, control))?;
    if job.engine == EngineKind::Sync {
        return Ok(());
    }
    let ring = UringEngine::new(&[layout], control);
    stays_closed(&ring.map_err(|error| NoRing::of(&error).to_string())?)
}

fn stays_closed<E: Engine>(engine: &E) -> Result<(), String> {
    for flags in [libc::O_RDONLY, libc::O_WRONLY | libc::O_CREAT] {
        let mut slot = engine.slot(0);
        slot.first.reset();
        slot.first.push(TO_CLOSED_FILE);
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
        prefix: job.prefix(),
        max_path: max_path_len(program).max(TO_CLOSED_FILE.len() + CLOSED_FILE.len()),
        max_read: program.max_read as usize,
        max_write: program.max_write as usize,
        max_text: program.texts.iter().map(|text| text.len()).max().unwrap_or(0),
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

/// Which thread it is, of which disk.
#[derive(Clone, Copy)]
struct Of<'a> {
    shared: &'a Shared,
    thread: u32,
    directory: Directory,
    /// Clients that have not ended.
    left: &'a AtomicU32,
}

/// What a thread tells of its clients.
struct Account<'a, E> {
    of: Of<'a>,
    engine: &'a E,
    start: &'a Start,
}

/// The clients of a thread until all have made their PREPARE.
struct Unprepared<'a> {
    of: Of<'a>,
    left: AtomicU32,
}

impl<'a> Unprepared<'a> {
    fn new(of: Of<'a>) -> Self {
        Self { of, left: AtomicU32::new(of.left.load(SeqCst)) }
    }

    /// A client has made its own; when all have, what the load names is there to be walked to.
    fn one_less(&self) {
        let Of { shared, thread, directory, .. } = self.of;
        if self.left.fetch_sub(1, SeqCst) == 1 {
            walks::tell_before(shared, thread, directory);
        }
        ready(shared);
    }
}

impl<E: Engine> Account<'_, E> {
    fn setup<'s>(
        &'s self,
        at_window: &'s (dyn Fn() + Sync),
        prepared: &'s (dyn Fn() + Sync),
        client: u32,
    ) -> ClientSetup<'s> {
        let Shared { job, state, .. } = self.of.shared;
        let shard = self.of.thread as usize % state.shards.len();
        let barrier = state.barrier.as_deref();
        ClientSetup {
            program: job.program(client),
            load: &job.load,
            control: &state.control,
            shard: &state.shards[shard],
            errors: &state.errors,
            doing: &state.doing[client as usize],
            at_window,
            prepared: job.prepares().then_some(prepared),
            barrier,
            phase_shards: barrier.map(|barrier| barrier.shard(job.disk, shard)),
            disk: job.disk,
            client,
            clients: job.clients,
            keep_passes: job.keep_passes,
        }
    }

    /// A client of the thread has ended.
    fn done(&self, report: ClientReport) {
        let Of { shared, thread, directory, left } = self.of;
        let last = left.fetch_sub(1, SeqCst) == 1;
        let thread = last.then(|| {
            let traffic = self.engine.traffic();
            let workers = traffic.as_ref().is_some_and(|traffic| traffic.enters > 0);
            let now = || self.start.used(self.start.workers || workers);
            let cost = self.start.cost.get().and_then(|then| Some(now()?.minus(then)));
            let walks = walks::ask_after(shared, thread, directory);
            Box::new(ThreadReport { cost, traffic, walks })
        });
        let (disk, report) = (shared.job.disk, Box::new(report));
        let _ = shared.events.send(Event::Done { disk, report, thread });
    }

    /// Says that the clients are ready, and waits for the others. Clients that have something to
    /// prepare do that each for itself.
    fn wait_at_gate(&self) {
        let Of { shared, left, .. } = self.of;
        if !shared.job.prepares() {
            (0..left.load(SeqCst)).for_each(|_| ready(shared));
            shared.gate.wait();
        }
    }
}

/// Runs a thread's clients over an engine, and tells of each as it ends.
fn run<E: Engine>(of: Of<'_>, engine: &E) {
    let Of { shared, thread, .. } = of;
    let start = Start::new(&shared.job);
    let at_window = || start.at_window();
    let account = Account { of, engine, start: &start };
    let unprepared = Unprepared::new(of);
    let prepared = || unprepared.one_less();
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
fn run_with_stand_in(of: Of<'_>, engine: &HybridEngine<'_>) -> Result<(), String> {
    let Of { shared, thread, .. } = of;
    let start = Start::new(&shared.job);
    let at_window = || start.at_window();
    let account = Account { of, engine, start: &start };
    let unprepared = Unprepared::new(of);
    let prepared = || unprepared.one_less();
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
