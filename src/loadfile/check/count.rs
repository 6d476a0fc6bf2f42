//! What can be counted by arithmetic: operations, bytes, time.
//!
//! A loop multiplies, and so does SHUFFLE. Of CHOOSE the mean over many passes is counted, each
//! block by its share of the weights, and beside it the fewest and the most operations of a pass.

use std::ops::Range;

use super::{Maxima, OpCount, Report};
use crate::loadfile::program::{Action, Expect, Inst, Kind, Operand, Program};
use crate::op::OpKind;

/// A loop or block that is open, and what its body adds up to.
struct Frame {
    rounds: u64,
    /// Rounds of this loop and all around it, multiplied.
    times: u64,
    /// The part of all times that the blocks around it are drawn; 1 outside of CHOOSE.
    share: f64,
    body: Body,
}

/// What one round does.
#[derive(Clone, Copy, Default)]
struct Body {
    /// Fewest and most operations.
    least: u64,
    most: u64,
    /// Pauses in nanoseconds, at least.
    pause: u64,
}

impl Body {
    fn add(&mut self, other: Self, times: u64) {
        self.least = self.least.saturating_add(other.least.saturating_mul(times));
        self.most = self.most.saturating_add(other.most.saturating_mul(times));
        self.pause = self.pause.saturating_add(other.pause.saturating_mul(times));
    }
}

/// A group that is open: its number, the block at hand, and the blocks before.
struct OpenGroup {
    index: usize,
    block: usize,
    so_far: Option<Body>,
    /// The time when it began.
    began: u64,
}

/// A count: exact where nothing is drawn, and the mean of the rest.
#[derive(Clone, Copy, Default)]
struct Sum {
    exact: u64,
    mean: f64,
}

impl Sum {
    fn add(&mut self, each: u64, frame: &Frame) {
        let sum = each.saturating_mul(frame.times);
        if frame.share < 1.0 {
            self.mean += sum as f64 * frame.share;
        } else {
            self.exact = self.exact.saturating_add(sum);
        }
    }

    fn exact_or_mean(self) -> f64 {
        self.exact as f64 + self.mean
    }

    fn total(self) -> u64 {
        self.exact.saturating_add(self.mean.round() as u64)
    }
}

/// Counts some of a program's instructions into `report`.
pub(super) fn count(program: &Program, range: Range<usize>, maxima: &Maxima, report: &mut Report) {
    let mut counter = Counter::new(program, maxima);
    for pc in range {
        counter.inst(pc);
    }
    counter.tell(report);
}

struct Counter<'a> {
    program: &'a Program,
    maxima: &'a Maxima,
    /// The outermost one is the pass.
    frames: Vec<Frame>,
    groups: Vec<OpenGroup>,
    now: u64,
    ops: [(Sum, Sum); OpKind::COUNT],
    read: Sum,
    written: Sum,
    dispositions: [Sum; 6],
    draws: bool,
}

impl<'a> Counter<'a> {
    fn new(program: &'a Program, maxima: &'a Maxima) -> Self {
        let pass = Frame { rounds: 1, times: 1, share: 1.0, body: Body::default() };
        Self {
            program,
            maxima,
            frames: vec![pass],
            groups: Vec::new(),
            now: 0,
            ops: [(Sum::default(), Sum::default()); OpKind::COUNT],
            read: Sum::default(),
            written: Sum::default(),
            dispositions: [Sum::default(); 6],
            draws: false,
        }
    }

    fn inst(&mut self, pc: usize) {
        let program = self.program;
        let inst = &program.insts[pc];
        if let Some(times) = &program.times
            && times[pc] != Program::NO_TIME
        {
            self.now = self.now.max(times[pc]);
        }
        match inst.action {
            Action::LoopStart { count, .. } => {
                let rounds = u64::from(count);
                self.open(rounds, rounds, 1.0);
            }
            Action::LoopEnd { .. } => {
                if let Some(done) = self.frames.pop() {
                    // Timestamps lie in the past from the second round on: only pauses add up.
                    let more = done.body.pause.saturating_mul(done.rounds - 1);
                    self.now = self.now.saturating_add(more);
                    self.top().body.add(done.body, done.rounds);
                }
            }
            Action::Enter { group } => {
                let index = group as usize;
                let group = &program.groups[index];
                self.draws |= group.kind == Kind::Choose && group.blocks.len() > 1;
                self.groups.push(OpenGroup { index, block: 0, so_far: None, began: self.now });
                self.open_block();
            }
            Action::Leave { .. } => self.leave(),
            Action::Pause { micros } => {
                let nanos = unsigned(self.maxima.of_operand(micros)).saturating_mul(1000);
                self.now = self.now.saturating_add(nanos);
                self.top().body.add(Body { pause: nanos, ..Body::default() }, 1);
            }
            _ => {}
        }
        if let Some(kind) = inst.op {
            self.op(kind, inst);
        }
    }

    fn top(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn open(&mut self, rounds: u64, times: u64, share: f64) {
        let around = self.top();
        let (times, share) = (around.times.saturating_mul(times), around.share * share);
        self.frames.push(Frame { rounds, times, share, body: Body::default() });
    }

    /// The block at hand of the group that was entered last.
    fn open_block(&mut self) {
        let Some(open) = self.groups.last() else { return };
        let group = &self.program.groups[open.index];
        let weight = u64::from(group.blocks[open.block].weight);
        match group.kind {
            Kind::Choose => self.open(1, 1, weight as f64 / group.sum() as f64),
            Kind::Shuffle => self.open(weight, weight, 1.0),
        }
    }

    fn leave(&mut self) {
        let (Some(done), Some(mut open)) = (self.frames.pop(), self.groups.pop()) else { return };
        let group = &self.program.groups[open.index];
        let so_far = match (group.kind, open.so_far) {
            (Kind::Choose, None) => done.body,
            (Kind::Choose, Some(other)) => Body {
                least: other.least.min(done.body.least),
                most: other.most.max(done.body.most),
                pause: other.pause.min(done.body.pause),
            },
            (Kind::Shuffle, other) => {
                let mut all = other.unwrap_or_default();
                all.add(done.body, done.rounds);
                all
            }
        };
        open.block += 1;
        if open.block == group.blocks.len() {
            self.now = open.began.saturating_add(so_far.pause);
            self.top().body.add(so_far, 1);
            return;
        }
        open.so_far = Some(so_far);
        self.groups.push(open);
        self.open_block();
    }

    fn op(&mut self, kind: OpKind, inst: &Inst) {
        self.top().body.add(Body { least: 1, most: 1, pause: 0 }, 1);
        let Some(frame) = self.frames.last() else { return };
        let (count, failures) = &mut self.ops[kind.index()];
        count.add(1, frame);
        if kind.row().can_expect_failure && expects_failure(inst) {
            failures.add(1, frame);
        }
        let bytes = |len| unsigned(self.maxima.of_operand(len));
        match inst.action {
            Action::Read { len, .. } => self.read.add(bytes(len), frame),
            Action::Write { len, .. } => self.written.add(bytes(len), frame),
            Action::OnHandle { numbers, .. } => {
                let (reads, writes) = lengths(inst, numbers);
                self.read.add(reads.map_or(0, bytes), frame);
                self.written.add(writes.map_or(0, bytes), frame);
            }
            Action::Create { disposition, .. } => {
                let value = self.maxima.of_operand(disposition);
                let index = usize::try_from(value).unwrap_or(usize::MAX);
                if let Some(entry) = self.dispositions.get_mut(index) {
                    entry.add(1, frame);
                }
            }
            _ => {}
        }
    }

    fn tell(&self, report: &mut Report) {
        let pass = self.frames[0].body;
        report.implied_seconds = self.now as f64 / 1e9;
        report.pause_seconds = pass.pause as f64 / 1e9;
        report.counts_are_means = self.draws;
        (report.least_ops, report.most_ops) = (pass.least, pass.most);
        (report.read_bytes, report.write_bytes) = (self.read.total(), self.written.total());
        report.dispositions = self.dispositions.map(Sum::total);
        for (&kind, (count, failures)) in OpKind::ALL.iter().zip(self.ops) {
            let mean = (count.mean > 0.0).then(|| count.exact_or_mean());
            let (count, failures) = (count.total(), failures.total());
            report.total_ops = report.total_ops.saturating_add(count);
            report.expected_failures = report.expected_failures.saturating_add(failures);
            if count > 0 || mean.is_some() {
                let op = kind.word();
                report.ops.push(OpCount { op, count, mean, expected_failures: failures });
            }
        }
    }
}

/// Whether the line's status says that it must fail.
fn expects_failure(inst: &Inst) -> bool {
    matches!(inst.expect, Expect::Failure | Expect::Errno(_))
}

/// What a word with a handle and lengths reads and writes.
fn lengths(inst: &Inst, numbers: [Operand; 3]) -> (Option<Operand>, Option<Operand>) {
    match inst.op {
        Some(OpKind::Read) => (Some(numbers[0]), None),
        Some(OpKind::MmapRead) => (Some(numbers[1]), None),
        Some(OpKind::Write) => (None, Some(numbers[0])),
        // Read here, written there.
        Some(OpKind::CopyRange | OpKind::Sendfile) => (Some(numbers[1]), Some(numbers[1])),
        _ => (None, None),
    }
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}
