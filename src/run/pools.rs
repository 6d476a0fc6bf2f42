//! Engine and threads of the disks' pools, and whether the machine's limits have room for them.

use super::descriptors::Descriptors;
use super::{RunError, RunRequest};
use crate::engine::rings_are_usable;
use crate::host::caller::Caller;
use crate::host::limits;
use crate::plan::{EngineKind, Routes, threads_per_disk};
use crate::units::format_bytes;

/// What all disks' pools have in common.
#[derive(Clone, Debug)]
pub(super) struct Pools {
    /// How calls reach the kernel.
    pub(super) engine: EngineKind,
    /// Why it is not the engine that was asked for.
    pub(super) fallback: Option<String>,
    /// Threads per disk.
    pub(super) threads: u32,
    /// Whom the threads become.
    pub(super) caller: Option<Caller>,
}

impl Pools {
    /// Chooses an engine that works here, and the number of threads. A client of the loadfile has
    /// up to `handles` open files.
    pub(super) fn choose(
        request: &RunRequest,
        disks: usize,
        handles: u64,
        warnings: &mut Vec<String>,
    ) -> Result<Self, RunError> {
        let clients = request.clients;
        let files = Descriptors::check(request, disks as u64, handles)?;
        let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        let default = threads_per_disk(clients, cpus, disks as u32, files.fit());
        let threads = request.threads_per_disk.unwrap_or(default).min(clients);
        let per_thread = clients.div_ceil(threads);
        files.check_thread(per_thread, default)?;
        let (engine, fallback, caller) = (request.engine, None, None);
        let mut pools = Self { engine, fallback, threads, caller };
        pools.check_rings(per_thread, threads.saturating_mul(disks as u32), warnings)?;
        if pools.engine == EngineKind::Sync {
            pools.threads = clients;
        }
        Ok(pools)
    }

    /// What was said of the ways of calls, where the engine has a choice.
    pub(super) fn routes<'r>(&self, request: &'r RunRequest) -> Option<&'r Routes> {
        (self.engine == EngineKind::Hybrid).then_some(&request.load.routes)
    }

    /// Whether there is something that the threads must not be able to open.
    pub(super) fn drops_root(&self) -> bool {
        self.caller.as_ref().is_some_and(|caller| caller.uid != 0)
    }

    /// Whether threads may have a second one that stands in for them.
    pub(super) fn has_stand_ins(&self, clients: u32) -> bool {
        self.engine == EngineKind::Hybrid && self.threads < clients
    }

    /// Without a ring to be had, hybrid becomes sync, on all disks alike.
    fn check_rings(
        &mut self,
        clients: u32,
        rings: u32,
        warnings: &mut Vec<String>,
    ) -> Result<(), RunError> {
        let needs_ring = match self.engine {
            EngineKind::Sync => false,
            EngineKind::Hybrid => clients > 1,
            EngineKind::Uring => true,
        };
        if !needs_ring {
            return Ok(());
        }
        match rings_are_usable(clients, rings) {
            Err(why) if self.engine == EngineKind::Uring => {
                Err(RunError::cannot(format!("--engine uring: {why}")))
            }
            Err(why) => {
                warnings.push(format!("--engine hybrid: {why}; this run uses sync"));
                self.engine = EngineKind::Sync;
                self.fallback = Some(format!("{}: {}", why.errno, why.reason));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Threads and memory, before anything is made.
    pub(super) fn check_limits(
        &self,
        request: &RunRequest,
        disks: usize,
        buffers: u64,
        warnings: &mut Vec<String>,
    ) -> Result<(), RunError> {
        let each = if self.has_stand_ins(request.clients) { 2 } else { 1 };
        let threads = disks as u64 * (u64::from(self.threads) * each + 1) + 8;
        if let Some(limit) = limits::max_threads().filter(|limit| limit.value < threads) {
            return Err(RunError::cannot(format!(
                "{disks} disks x {} clients need {threads} threads, {} allows {}",
                request.clients, limit.set_by, limit.value
            )));
        }
        if let Some(free) = limits::memory_available().filter(|free| free.value < buffers) {
            warnings.push(format!(
                "the clients' buffers need {}, but only {} are free",
                format_bytes(buffers),
                format_bytes(free.value)
            ));
        }
        Ok(())
    }
}
