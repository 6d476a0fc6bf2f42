//! The loop of a client: passes, control instructions, timing, counting.

use std::ops::Range;

use crate::engine::{Call, CallResult, ClientIndex, Control, Engine, now_ns};
use crate::fault::Fault;
use crate::loadfile::Program;
use crate::loadfile::program::{Action, Inst, PathId};
use crate::metrics::{PhaseShard, Sample, Shard, Tally};
use crate::op::OpKind;
use crate::plan::{Data, Load};

use super::barrier::Barrier;
use super::doing::Doing;
use super::groups::Orders;
use super::handles::Handles;
use super::judge::{Miss, judge};
use super::pace::Pace;
use super::pools::Pools;
use super::report::{ClientReport, Ended, ErrorLog, ErrorSample, PassTimes, Tallies, Waiting};
use super::values::{SplitMix64, Values};

/// Instructions of a client after which others get a chance, although it may have made no call:
/// with `fake_io`, without a handle, or in a loop of control instructions. The engine decides.
const TURN: u32 = 64;

/// What a client needs to know; shared by the clients of a disk but for the numbers.
#[derive(Clone, Copy)]
pub struct ClientSetup<'a> {
    /// What it replays.
    pub program: &'a Program,
    /// How it does so.
    pub load: &'a Load,
    /// Window and stop of its disk.
    pub control: &'a Control,
    /// Where it counts.
    pub shard: &'a Shard,
    /// Where it tells of unexpected outcomes.
    pub errors: &'a ErrorLog,
    /// Where it says what it is at.
    pub doing: &'a Doing,
    /// Called once, before its first operation of the measured window.
    pub at_window: &'a (dyn Fn() + Sync),
    /// For disks with a PREPARE: called when the client has made its own. Then it waits for
    /// [`Control::start`].
    pub prepared: Option<&'a (dyn Fn() + Sync)>,
    /// Where phases end, if the loads have any.
    pub barrier: Option<&'a Barrier>,
    /// Where it counts what it does in a phase, by phase.
    pub phase_shards: Option<&'a [PhaseShard]>,
    /// Number of the disk.
    pub disk: u32,
    /// Number of the client within the disk.
    pub client: u32,
    /// Clients of the disk.
    pub clients: u32,
    /// Whether to keep the time of each pass.
    pub keep_passes: bool,
}

/// A client: its state between two operations.
pub struct Client<'a, E: Engine> {
    pub(super) engine: &'a E,
    pub(super) index: ClientIndex,
    pub(super) setup: ClientSetup<'a>,
    pub(super) name: Box<[u8]>,
    pub(super) handles: Handles,
    pub(super) values: Values,
    pub(super) pools: Pools,
    pub(super) max_read: usize,
    pub(super) max_write: usize,
    /// Bytes moved by the operation at hand.
    pub(super) moved: u64,
    /// Path that the operation's handle was opened by, and the number of the name that it drew.
    pub(super) error_path: Option<(PathId, u32)>,
    /// Whether written blocks are made to differ, and the last mark.
    pub(super) stamps: bool,
    pub(super) stamp: u64,
    pub(super) loops: Vec<u32>,
    pub(super) orders: Orders,
    /// Instructions left of its turn.
    turn: u32,
    pub(super) now: u64,
    measuring: bool,
    /// Whether it executes its PREPARE: whatever the time, nothing of that is measured.
    pub(super) preparing: bool,
    pub(super) pass_start: u64,
    /// When all clients began the pass at hand, if they began it together.
    pub(super) origin_ns: Option<u64>,
    /// The phase at hand, and where its operations count.
    pub(super) phase: Option<u16>,
    pub(super) counts: Option<&'a PhaseShard>,
    /// Whether it waits for nobody at the end of a phase.
    pub(super) alone: bool,
    /// Operations of the pass at hand, and those that missed their status or were skipped.
    pub(super) pass_ops: u64,
    pub(super) pass_missed: u64,
    tallies: Box<Tallies>,
    while_all_active: Option<Box<Tallies>>,
    warmup_errors: u64,
    late_ops: u64,
    pub(super) passes: PassTimes,
    pub(super) waiting: Option<Waiting>,
}

impl<'a, E: Engine> Client<'a, E> {
    /// A client at slot `index` of its engine. Fills its write buffer.
    pub fn new(engine: &'a E, index: ClientIndex, setup: ClientSetup<'a>) -> Self {
        let mut random = SplitMix64::new(setup.load.seed, setup.disk, setup.client);
        let mut slot = engine.slot(index);
        if setup.load.data == Data::Random {
            random.fill(&mut slot.write);
        }
        let (max_read, max_write) = (slot.read.len(), slot.write.len());
        drop(slot);
        Self {
            engine,
            index,
            setup,
            name: format!("client{}", setup.client).into_bytes().into(),
            handles: Handles::new(&setup.program.handles),
            stamp: random.next_u64(),
            values: Values::new(setup.program, setup.client, setup.clients, random),
            pools: Pools::new(setup.program, setup.load.seed, setup.disk, setup.client),
            max_read,
            max_write,
            moved: 0,
            error_path: None,
            stamps: setup.load.data == Data::Random,
            loops: Vec::with_capacity(setup.program.loop_depth),
            orders: Orders::new(setup.program),
            turn: TURN,
            now: 0,
            measuring: false,
            preparing: false,
            pass_start: 0,
            origin_ns: None,
            phase: None,
            counts: None,
            alone: false,
            pass_ops: 0,
            pass_missed: 0,
            tallies: Box::new([Tally::default(); OpKind::COUNT]),
            while_all_active: None,
            warmup_errors: 0,
            late_ops: 0,
            passes: PassTimes::default(),
            waiting: None,
        }
    }

    /// Replays the loadfile until its passes are done, time is up, or the disk is stopped.
    pub async fn run(mut self) -> ClientReport {
        if let Some(prepared) = self.setup.prepared {
            self.prepare(prepared).await;
        }
        self.now = now_ns();
        self.origin_ns = self.setup.barrier.map(Barrier::start_ns);
        let has_times = self.setup.program.times.is_some();
        let ClientSetup { load, client, clients, .. } = self.setup;
        let mut pace = Pace::new(load, has_times, client, clients, self.now);
        let mut left = load.passes.unwrap_or(u64::MAX);
        let mut ended = Ended::Stopped;
        while self.play(self.setup.program.pass(), &mut pace).await {
            self.close_all().await;
            if self.end_pass() {
                left -= 1; // passes of the warm-up are not among them
            }
            if self.setup.barrier.is_some() {
                self.come_to(None).await;
                pace.resume(self.now);
            }
            if left == 0 {
                ended = Ended::Passes;
                self.setup.control.client_done(self.now);
                break;
            }
            self.back_off().await;
        }
        self.close_all().await;
        self.leave();
        self.report(ended)
    }

    #[inline]
    pub(super) fn call(&self, call: Call) -> impl Future<Output = CallResult> + use<'a, E> {
        crate::engine::call(self.engine, self.index, call)
    }

    /// One trip through a part of the loadfile; `false` when it was cut short.
    pub(super) async fn play(&mut self, part: Range<usize>, pace: &mut Pace) -> bool {
        let whole = self.trip(part, pace).await;
        self.setup.doing.rest();
        whole
    }

    async fn trip(&mut self, part: Range<usize>, pace: &mut Pace) -> bool {
        let program = self.setup.program;
        self.pass_start = self.origin_ns.take().unwrap_or(self.now);
        (self.pass_ops, self.pass_missed) = (0, 0);
        self.loops.clear();
        let insts = &program.insts[..part.end];
        let mut at = part.start;
        while let Some(inst) = insts.get(at) {
            at += 1;
            let timestamp = timestamp(program, at - 1);
            match inst.op {
                Some(op) => {
                    let intended = pace.intended(self.pass_start, timestamp);
                    let start = self.wait_for_start(intended, pace).await;
                    self.setup.doing.begin(at, self.now);
                    self.operation(op, inst, start).await;
                }
                None => {
                    self.setup.doing.rest();
                    let intended = pace.intended_control(self.pass_start, timestamp);
                    if let Some(until_ns) = intended.filter(|at| *at > self.now) {
                        self.sleep(until_ns).await;
                    }
                    at = self.control_step(inst, at).await;
                    if let Action::Phase { .. } = inst.action {
                        pace.resume(self.now);
                    }
                }
            }
            if self.must_end() {
                return false;
            }
            self.turn -= 1;
            if self.turn == 0 {
                self.turn = TURN;
                self.call(Call::Sleep { until_ns: 0 }).await.ok();
            }
        }
        true
    }

    /// Waits until an operation is meant to start; says from when its latency counts.
    #[inline]
    async fn wait_for_start(&mut self, intended: Option<u64>, pace: &Pace) -> u64 {
        let Some(intended) = intended else { return self.now };
        if intended > self.now {
            self.setup.doing.rest();
            self.sleep(intended).await;
        }
        if self.measuring && pace.is_late(self.now.saturating_sub(intended)) {
            self.late_ops += 1;
        }
        // An end of the run during the wait comes before the intended start.
        intended.min(self.now)
    }

    #[inline]
    async fn operation(&mut self, op: OpKind, inst: &Inst, start: u64) {
        if self.must_end() {
            return;
        }
        if !self.measuring {
            if self.preparing {
                self.setup.control.count_preparation();
            } else if self.now >= self.setup.control.window().0 {
                self.measuring = true;
                (self.setup.at_window)();
            } else if self.setup.barrier.is_some() {
                self.setup.control.count_preparation();
            }
        }
        self.moved = 0;
        let outcome = match self.draw_names(inst) {
            Ok(()) => self.perform(inst).await,
            Err(miss) => Err(miss),
        };
        self.settle_names(op, outcome.is_ok());
        self.now = now_ns();
        if self.setup.load.spin_ns > 0 {
            self.spin();
        }
        let fault = judge(op, inst.expect, outcome);
        let skipped = outcome.is_err_and(Miss::is_skip);
        self.pass_ops += 1;
        self.pass_missed += u64::from(fault.is_some() || skipped);
        if let Some(fault) = fault {
            self.tell(op, inst, fault);
        }
        if !self.measuring {
            self.warmup_errors += u64::from(fault.is_some());
            return;
        }
        let tally = &mut self.tallies[op.index()];
        if skipped {
            tally.skipped += 1;
            self.skip(op, inst);
            if let Some(counts) = self.counts {
                counts.skip(op);
            }
            return;
        }
        tally.ops += 1;
        tally.bytes += self.moved;
        tally.errors += u64::from(fault.is_some());
        let latency_ns = self.now.saturating_sub(start);
        let sample = Sample { op, latency_ns, bytes: self.moved, fault };
        self.setup.shard.record(sample);
        if let Some(counts) = self.counts {
            counts.record(sample);
        }
    }

    /// Makes the operation longer, by work that no one can hide.
    #[cold]
    fn spin(&mut self) {
        let until = self.now + self.setup.load.spin_ns;
        while self.now < until {
            std::hint::spin_loop();
            self.now = now_ns();
        }
    }

    /// Whether time is up or the disk was stopped. Also notes, once, that another client of the
    /// disk is done.
    #[inline]
    fn must_end(&mut self) -> bool {
        let word = self.setup.control.word();
        if word != 0 {
            if Control::stopped(word) {
                return true;
            }
            if self.while_all_active.is_none() {
                self.while_all_active = Some(self.tallies.clone());
            }
        }
        self.now >= self.setup.control.window().1
    }

    #[cold]
    fn tell(&mut self, op: OpKind, inst: &Inst, fault: Fault) {
        self.mind(fault);
        if let Some((path, number)) = self.error_path.take_if(|_| !op.names_a_path()) {
            self.pools.set_number(number);
            self.render(path, crate::engine::PathSlot::First);
        }
        let (slot, at_ns) = (self.engine.slot(self.index), self.now);
        let path = if op == OpKind::QueryFs { &slot.root } else { &slot.first };
        self.setup.errors.add(op, fault, inst.line, || ErrorSample {
            at_ns,
            client: self.setup.client,
            line: inst.line,
            op,
            path: String::from_utf8_lossy(path.as_bytes()).into_owned(),
            fault,
        });
    }

    fn report(self, ended: Ended) -> ClientReport {
        ClientReport {
            client: self.setup.client,
            tallies: self.tallies,
            while_all_active: self.while_all_active,
            warmup_errors: self.warmup_errors,
            late_ops: self.late_ops,
            passes: self.passes,
            ended_ns: self.now,
            ended,
            waiting: self.waiting,
        }
    }
}

#[inline]
fn timestamp(program: &Program, at: usize) -> Option<u64> {
    let times = program.times.as_ref()?;
    Some(times[at]).filter(|time| *time != Program::NO_TIME)
}
