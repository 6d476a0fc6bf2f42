//! What a pool thread does: it makes its clients and their engine, waits at the gate, and runs them.

use std::cell::Cell;
use std::os::unix::ffi::OsStrExt;

use super::thread::Shared;
use super::{DiskJob, Event, ThreadReport, run_clients};
use crate::client::{Client, ClientSetup, max_path_len};
use crate::engine::{
    Backing, Directory, Engine, HybridEngine, SlotLayout, SyncEngine, UringEngine,
};
use crate::host::cost::ThreadCost;
use crate::plan::{EngineKind, PathMode};

/// Replays the loadfiles of a thread's clients; `left` counts those that have not ended.
pub(super) fn replay(
    shared: &Shared,
    thread: u32,
    directory: Directory,
    left: &Cell<u32>,
) -> Result<(), String> {
    let (job, control) = (&shared.job, &shared.state.control);
    let layouts: Vec<SlotLayout> =
        job.clients_of(thread).map(|client| layout(job, client, directory)).collect();
    let no_ring = |error: std::io::Error| format!("cannot set a ring up: {error}");
    match (job.engine, layouts.as_slice()) {
        // One client holds nobody up: the plain calls are the cheapest ones.
        (EngineKind::Sync | EngineKind::Hybrid, [layout]) => {
            run(shared, thread, &SyncEngine::new(layout, control), left);
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
            let engine = HybridEngine::new(layouts, control, backing).map_err(no_ring)?;
            run(shared, thread, &engine, left);
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
        max_path: max_path_len(program),
        max_read: program.max_read as usize,
        max_write: program.max_write as usize,
        directory,
    }
}

/// What this thread has used so far, and what works for it in the kernel.
fn used<E: Engine>(engine: &E) -> Option<ThreadCost> {
    let has_workers = engine.traffic().is_some_and(|traffic| traffic.enters > 0);
    if has_workers { ThreadCost::now_with_workers() } else { ThreadCost::now() }.ok()
}

/// Runs a thread's clients over an engine, and tells of each as it ends.
fn run<E: Engine>(shared: &Shared, thread: u32, engine: &E, left: &Cell<u32>) {
    let Shared { job, state, .. } = shared;
    let at_start = Cell::new(None);
    let at_window = || {
        if at_start.get().is_none() {
            at_start.set(used(engine));
        }
    };
    let setup = |client| ClientSetup {
        program: job.program(client),
        load: &job.load,
        control: &state.control,
        shard: &state.shards[thread as usize % state.shards.len()],
        errors: &state.errors,
        at_window: &at_window,
        disk: job.disk,
        client,
        clients: job.clients,
        keep_passes: job.keep_passes,
    };
    let mut clients: Vec<_> = (0..)
        .zip(job.clients_of(thread))
        .map(|(index, client)| Client::new(engine, index, setup(client)))
        .collect();
    if job.prepares() {
        run_clients(engine, clients.iter_mut().map(Client::prepare), |_, ()| {});
    }
    for _ in &clients {
        let _ = shared.events.send(Event::Ready { disk: job.disk });
    }
    shared.gate.wait();
    run_clients(engine, clients.into_iter().map(Client::run), |_, report| {
        left.set(left.get() - 1);
        let thread = (left.get() == 0).then(|| {
            let cost = at_start.get().and_then(|then| Some(used(engine)?.minus(&then)));
            Box::new(ThreadReport { cost, traffic: engine.traffic() })
        });
        let report = Box::new(report);
        let _ = shared.events.send(Event::Done { disk: job.disk, report, thread });
    });
}
