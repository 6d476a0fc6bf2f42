//! Where the clients of all disks of a run meet: at every PHASE, and at the end of a pass that has
//! phases.
//!
//! Whoever comes takes the lock, which is no part of any operation; the last one takes out what the
//! round has counted while nobody counts, and turns the turnstile. A disk that is *out* is waited for
//! no more, and its clients wait for nobody: it hangs, has failed, was stopped, or is done.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::{Turnstile, now_ns};
use crate::loadfile::Program;
use crate::metrics::{PhaseOps, PhaseShard, PhaseTotals, Round, Tally};

/// A disk's part in the run.
#[derive(Clone, Copy, Debug)]
pub struct Share<'a> {
    /// Its loadfiles, with the same phases in the same order.
    pub programs: &'a [Arc<Program>],
    /// Its clients.
    pub clients: u32,
    /// Its shards, and whether several threads count in each.
    pub shards: (u32, bool),
}

/// Counters of a disk, by shard and phase.
type DiskShards = Box<[Box<[PhaseShard]>]>;

/// The barrier of a run.
#[derive(Debug)]
pub struct Barrier {
    names: Box<[Box<str>]>,
    /// Counters, by disk.
    shards: Box<[DiskShards]>,
    turnstile: Turnstile,
    /// When it turned last; the clients' common start.
    start_ns: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// How often it has turned.
    turns: i64,
    /// Which rounds count: those that begin and end in here, in nanoseconds of the run's clock.
    window: (u64, u64),
    /// The phase that ends now, as those say who have come.
    ended: Option<u16>,
    disks: Vec<Part>,
    /// Of all disks together: times and rates.
    all: Vec<PhaseTotals>,
}

#[derive(Debug)]
struct Part {
    clients: u32,
    arrived: u32,
    /// Sum of the times from the common start to each arrival, in nanoseconds.
    arrivals_ns: u64,
    last_ns: u64,
    out: Option<Out>,
    totals: Vec<PhaseTotals>,
}

/// Why a disk is not waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Out {
    /// A client of it has ended.
    Left,
    /// It gave errors that only a disk gives that is gone, full or read-only, or a pass mostly failed.
    Failed,
    /// It does nothing, and others wait for it.
    Hangs,
}

/// What an arrival means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// All are there.
    Last,
    /// Wait until the turnstile has turned so often.
    Wait(i64),
    /// The disk is out: go on.
    Alone,
}

impl Barrier {
    /// A barrier for these disks, by number; `None` where their loads have no phases.
    #[must_use]
    pub fn new(disks: &[Share<'_>], turnstile: Turnstile) -> Option<Self> {
        let first = &disks.first()?.programs.first()?.phases;
        let ops: Vec<Arc<PhaseOps>> =
            (0..first.len()).map(|phase| Arc::new(ops_of(disks, phase))).collect();
        let totals = || ops.iter().map(|ops| PhaseTotals::new(ops)).collect::<Vec<_>>();
        let shard =
            |shared| ops.iter().map(|ops| PhaseShard::new(Arc::clone(ops), shared)).collect();
        let shards =
            |share: &Share<'_>| (0..share.shards.0).map(|_| shard(share.shards.1)).collect();
        let part = |share: &Share<'_>| Part {
            clients: share.clients,
            arrived: 0,
            arrivals_ns: 0,
            last_ns: 0,
            out: None,
            totals: totals(),
        };
        (!first.is_empty()).then(|| Self {
            names: first.iter().map(|phase| phase.name.clone()).collect(),
            shards: disks.iter().map(shards).collect(),
            turnstile,
            start_ns: AtomicU64::new(0),
            state: Mutex::new(State {
                turns: 0,
                window: (u64::MAX, u64::MAX),
                ended: None,
                disks: disks.iter().map(part).collect(),
                all: totals(),
            }),
        })
    }

    /// Names of the phases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// The turnstile that it turns.
    #[must_use]
    pub fn turnstile(&self) -> &Turnstile {
        &self.turnstile
    }

    /// The counters of a shard of a disk, by phase.
    #[must_use]
    pub fn shard(&self, disk: u32, shard: usize) -> &[PhaseShard] {
        &self.shards[disk as usize][shard]
    }

    /// The run begins now: clients' first pass. Rounds count that lie within the window; all in
    /// nanoseconds of the run's clock.
    pub fn open(&self, now_ns: u64, window: (u64, u64)) {
        self.lock().window = window;
        self.start_ns.store(now_ns, SeqCst);
    }

    /// No round that ends from now on counts.
    pub fn close(&self, now_ns: u64) {
        let window = &mut self.lock().window;
        window.1 = window.1.min(now_ns);
    }

    /// When clients were let go last.
    pub(super) fn start_ns(&self) -> u64 {
        self.start_ns.load(SeqCst)
    }

    /// A client has come to where a phase (or what is none) ends.
    pub(super) fn arrive(&self, disk: u32, ended: Option<u16>) -> Arrival {
        let now = now_ns();
        let mut state = self.lock();
        let part = &mut state.disks[disk as usize];
        if part.out.is_some() {
            return Arrival::Alone;
        }
        part.arrived += 1;
        part.arrivals_ns += now.saturating_sub(self.start_ns());
        part.last_ns = part.last_ns.max(now);
        state.ended = ended;
        let wait = Arrival::Wait(state.turns + 1);
        if self.turn_if_all(&mut state) { Arrival::Last } else { wait }
    }

    /// From here on a disk is not waited for; `false` where it was not before.
    pub fn dismiss(&self, disk: u32, why: Out) -> bool {
        let mut state = self.lock();
        let part = &mut state.disks[disk as usize];
        if part.out.is_some() {
            return false;
        }
        part.out = Some(why);
        self.turn_if_all(&mut state);
        true
    }

    /// Why a disk is out, if it is.
    #[must_use]
    pub fn out(&self, disk: u32) -> Option<Out> {
        self.lock().disks[disk as usize].out
    }

    /// Whether each disk keeps those waiting who have come: some have, and not all of this one.
    #[must_use]
    pub fn keeps_waiting(&self) -> Vec<bool> {
        let state = self.lock();
        let some_wait = state.disks.iter().any(|part| part.arrived > 0);
        let missing = |part: &Part| part.out.is_none() && part.arrived < part.clients;
        state.disks.iter().map(|part| some_wait && missing(part)).collect()
    }

    /// What the phases of a disk came to.
    #[must_use]
    pub fn totals(&self, disk: u32) -> Vec<PhaseTotals> {
        self.lock().disks[disk as usize].totals.clone()
    }

    /// The same of all disks together.
    #[must_use]
    pub fn totals_of_all(&self) -> Vec<PhaseTotals> {
        let state = self.lock();
        let mut all = state.all.clone();
        for (index, total) in all.iter_mut().enumerate() {
            state.disks.iter().for_each(|part| total.merge_counts(&part.totals[index]));
        }
        all
    }

    /// Lets all go if nobody is missing.
    fn turn_if_all(&self, state: &mut State) -> bool {
        let here = |part: &Part| part.out.is_some() || part.arrived >= part.clients;
        if !state.disks.iter().all(here) {
            return false;
        }
        if let Some(phase) = state.ended.take() {
            self.end_round(state, usize::from(phase));
        }
        for part in &mut state.disks {
            (part.arrived, part.arrivals_ns, part.last_ns) = (0, 0, 0);
        }
        state.turns += 1;
        self.start_ns.store(now_ns(), SeqCst);
        self.turnstile.turn(state.turns);
        true
    }

    /// Takes out what was counted in a round of a phase, and keeps it if the round counts.
    fn end_round(&self, state: &mut State, phase: usize) {
        let start_ns = self.start_ns();
        let State { window, disks, all, .. } = state;
        let counts = start_ns >= window.0 && now_ns() <= window.1;
        let there = |part: &&Part| part.out.is_none();
        let end_ns = disks.iter().filter(there).map(|part| part.last_ns).max().unwrap_or(0);
        let time_ns = end_ns.saturating_sub(start_ns);
        let mut sums = vec![Tally::default(); all[phase].ops.len()];
        let mut wait_ns = 0;
        for (part, shards) in disks.iter_mut().zip(&self.shards).filter(|(p, _)| p.out.is_none()) {
            let mut tallies = vec![Tally::default(); sums.len()];
            if !counts {
                // Thrown away, so that the next round starts from nothing.
                let mut nowhere = part.totals[phase].clone();
                shards.iter().for_each(|shard| nowhere.take(&shard[phase], &mut tallies));
                continue;
            }
            let totals = &mut part.totals[phase];
            shards.iter().for_each(|shard| totals.take(&shard[phase], &mut tallies));
            let waited = u64::from(part.arrived) * time_ns;
            let waited = waited.saturating_sub(part.arrivals_ns);
            let own_ns = part.last_ns.saturating_sub(start_ns);
            totals.add(Round { start_ns, time_ns: own_ns, wait_ns: waited }, &tallies);
            wait_ns += waited;
            sums.iter_mut().zip(&tallies).for_each(|(sum, tally)| *sum += *tally);
        }
        if counts && time_ns > 0 {
            all[phase].add(Round { start_ns, time_ns, wait_ns }, &sums);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The operations of a phase in all loads of all disks.
fn ops_of(disks: &[Share<'_>], phase: usize) -> PhaseOps {
    let programs = disks.iter().flat_map(|share| share.programs);
    PhaseOps::new(programs.flat_map(|program| {
        let insts = program.phases.get(phase).map(|phase| &program.insts[phase.insts()]);
        insts.into_iter().flatten().filter_map(|inst| inst.op)
    }))
}
