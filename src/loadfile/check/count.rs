//! What can be counted by arithmetic: operations, bytes, time.

use std::ops::Range;

use super::{Maxima, OpCount, Report};
use crate::loadfile::program::{Action, Expect, Inst, Program};
use crate::op::OpKind;

/// A loop that is open, and what its body adds up to.
struct Frame {
    rounds: u64,
    /// Rounds of this loop and all around it, multiplied.
    times: u64,
    /// Pauses of one round in nanoseconds.
    pause: u64,
}

/// Counts some of a program's instructions into `report`.
pub(super) fn count(program: &Program, range: Range<usize>, maxima: &Maxima, report: &mut Report) {
    let mut ops = [(0u64, 0u64); OpKind::COUNT];
    // The outermost frame is the pass.
    let mut frames = vec![Frame { rounds: 1, times: 1, pause: 0 }];
    let mut now: u64 = 0;
    for pc in range {
        let inst = &program.insts[pc];
        if let Some(times) = &program.times
            && times[pc] != Program::NO_TIME
        {
            now = now.max(times[pc]);
        }
        let times = frames.last().map_or(1, |frame| frame.times);
        match inst.action {
            Action::LoopStart { count, .. } => {
                let rounds = u64::from(count);
                frames.push(Frame { rounds, times: times.saturating_mul(rounds), pause: 0 });
            }
            Action::LoopEnd { .. } => {
                if let Some(done) = frames.pop() {
                    // Timestamps lie in the past from the second round on: only pauses add up.
                    now = now.saturating_add(done.pause.saturating_mul(done.rounds - 1));
                    add_pause(&mut frames, done.pause.saturating_mul(done.rounds));
                }
            }
            Action::Pause { micros } => {
                let nanos = unsigned(maxima.of_operand(micros)).saturating_mul(1000);
                now = now.saturating_add(nanos);
                add_pause(&mut frames, nanos);
            }
            _ => {}
        }
        if let Some(kind) = inst.op {
            let entry = &mut ops[kind.index()];
            entry.0 = entry.0.saturating_add(times);
            if kind.row().can_expect_failure && expects_failure(inst) {
                entry.1 = entry.1.saturating_add(times);
            }
            bytes(inst, times, maxima, report);
        }
    }
    report.implied_seconds = now as f64 / 1e9;
    report.pause_seconds = frames.first().map_or(0, |pass| pass.pause) as f64 / 1e9;
    for (&kind, (count, failures)) in OpKind::ALL.iter().zip(ops) {
        report.total_ops = report.total_ops.saturating_add(count);
        report.expected_failures = report.expected_failures.saturating_add(failures);
        if count > 0 {
            report.ops.push(OpCount { op: kind.word(), count, expected_failures: failures });
        }
    }
}

fn add_pause(frames: &mut [Frame], nanos: u64) {
    if let Some(frame) = frames.last_mut() {
        frame.pause = frame.pause.saturating_add(nanos);
    }
}

/// Whether the line's status says that it must fail.
fn expects_failure(inst: &Inst) -> bool {
    matches!(inst.expect, Expect::Failure | Expect::Errno(_))
}

fn bytes(inst: &Inst, times: u64, maxima: &Maxima, report: &mut Report) {
    match inst.action {
        Action::Read { len, .. } => {
            let sum = unsigned(maxima.of_operand(len)).saturating_mul(times);
            report.read_bytes = report.read_bytes.saturating_add(sum);
        }
        Action::Write { len, .. } => {
            let sum = unsigned(maxima.of_operand(len)).saturating_mul(times);
            report.write_bytes = report.write_bytes.saturating_add(sum);
        }
        Action::OnHandle { numbers, .. } => {
            let (reads, writes) = match inst.op {
                Some(OpKind::Read) => (Some(numbers[0]), None),
                Some(OpKind::MmapRead) => (Some(numbers[1]), None),
                Some(OpKind::Write) => (None, Some(numbers[0])),
                // Read here, written there.
                Some(OpKind::CopyRange | OpKind::Sendfile) => (Some(numbers[1]), Some(numbers[1])),
                _ => (None, None),
            };
            let sum = |len: Option<_>| {
                len.map_or(0, |len| unsigned(maxima.of_operand(len)).saturating_mul(times))
            };
            report.read_bytes = report.read_bytes.saturating_add(sum(reads));
            report.write_bytes = report.write_bytes.saturating_add(sum(writes));
        }
        Action::Create { disposition, .. } => {
            let index = usize::try_from(maxima.of_operand(disposition)).unwrap_or(usize::MAX);
            if let Some(entry) = report.dispositions.get_mut(index) {
                *entry = entry.saturating_add(times);
            }
        }
        _ => {}
    }
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}
