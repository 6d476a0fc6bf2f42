//! What there is to say about a run, in sentences.

use std::time::Duration;

use super::dbench::REBASELINE;
use super::live::{Cost, LiveDisk};
use super::outcome::Outcome;
use super::prepare::{LeftOut, Prepared};
use super::rows::RunFacts;
use super::window::{Cut, Window};
use super::{RunRequest, hangs};
use crate::client::Waiting;
use crate::engine::now_ns;
use crate::op::OpKind;
use crate::output::DiskLine;
use crate::units::{format_bytes, format_duration};

/// A run on a block device that is shorter shows the cache, in seconds.
const SHORT_S: f64 = 60.0;
/// A larger share of the clients' time that they wait for their thread is told.
const POOL_WAIT: f64 = 0.01;
/// A start that took longer is told.
const SLOW_START: Duration = Duration::from_secs(1);
/// A wait for another client that lasted longer than this at the end is told, in nanoseconds.
const LONG_WAIT_NS: u64 = 1_000_000_000;

/// What will be done, before it is done.
pub(super) fn before(request: &RunRequest, prepared: &Prepared) -> String {
    if request.dbench.is_some() {
        return REBASELINE.into();
    }
    let length = match (request.time, request.load.passes) {
        (Some(time), None) => format!("{} measured", format_duration(time)),
        (None, Some(passes)) => counted(passes, "pass", "passes"),
        (Some(time), Some(passes)) => {
            let passes = counted(passes, "pass", "passes");
            format!("{passes}, at most {}", format_duration(time))
        }
        (None, None) => "no limit".into(),
    };
    let warmup = match request.warmup.is_zero() {
        true => String::new(),
        false => format!(" after {} of warm-up", format_duration(request.warmup)),
    };
    let mut loads: Vec<String> =
        prepared.disks.iter().map(super::prepare::ReadyDisk::load_names).collect();
    loads.dedup();
    format!(
        "{}, {} each, load {}, {length}{warmup}, data {}, seed {}",
        counted(prepared.disks.len() as u64, "disk", "disks"),
        counted(u64::from(request.clients), "client", "clients"),
        loads.join("; "),
        super::request::data_word(request.load.data),
        request.load.seed,
    )
}

fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

pub(super) fn left_out(disk: &LeftOut) -> String {
    format!("{} is left out: {}", disk.label, disk.reason)
}

/// What stands below the tables.
pub(super) fn after(
    request: &RunRequest,
    disks: &[LiveDisk],
    outcomes: &[Outcome],
    run: &RunFacts,
    cut: Option<&Cut>,
) -> Vec<String> {
    let window = run.window;
    let mut notes = Vec::new();
    notes.extend(cut.and_then(cut_note));
    notes.extend(run.start_up.filter(|time| *time > SLOW_START).map(|time| {
        format!("the first call came {:.1} s after the start of the program", time.as_secs_f64())
    }));
    for (disk, outcome) in disks.iter().zip(outcomes) {
        notes.extend(disk_notes(disk, outcome, window));
    }
    notes.extend(device_note(disks, outcomes));
    let on_device = disks.iter().any(|disk| disk.ready.device.is_some());
    if on_device && request.load.passes.is_none() && window.seconds() < SHORT_S {
        notes.push(format!(
            "{} s on a block device show its cache and journal, not the device: use --time 60s or \
             more",
            window.seconds().round()
        ));
    }
    let mut cost = Cost::default();
    disks.iter().for_each(|disk| cost.merge(&disk.cost));
    notes.extend(cost_note(&cost, outcomes));
    if let Some(traffic) = LiveDisk::traffic_of(disks) {
        notes.extend(super::traffic::notes(&traffic));
        let clients = f64::from(request.clients) * disks.len() as f64;
        let all_s = clients * (window.seconds() + request.warmup.as_secs_f64());
        notes.extend(pool_wait_note(traffic.waited_ns as f64 / 1e9, all_s));
    }
    notes.extend(memory_note(request.clients as usize * disks.len()));
    notes
}

pub(super) fn cut_note(cut: &Cut) -> Option<String> {
    match cut {
        Cut::Signal(2) => Some("interrupted: the figures are of the time until then".into()),
        Cut::Signal(n) => {
            Some(format!("ended by signal {n}: the figures are of the time until then"))
        }
        Cut::ReaderGone | Cut::Unwritable(_) | Cut::FrontGone => None,
    }
}

pub(super) fn disk_notes(disk: &LiveDisk, outcome: &Outcome, window: Window) -> Vec<String> {
    let label = disk.ready.label();
    let mut notes = disk.failures.clone();
    if disk.running() > 0 {
        notes.push(format!(
            "{label} hangs: {} of {} clients did not come back; what it made is removed when it \
             answers",
            disk.running(),
            disk.clients
        ));
        notes.extend(hangs::longest(disk, now_ns()));
    }
    let all = outcome.totals.all().tally;
    if all.errors + outcome.warmup_errors > 0 {
        notes.push(format!(
            "{label}: {} operations missed their expected status{}; the first of each kind:",
            all.errors,
            match outcome.warmup_errors {
                0 => String::new(),
                n => format!(", and {n} in the warm-up"),
            }
        ));
        for sample in disk.state.errors.first() {
            let at = (sample.at_ns as f64 - window.start_ns as f64) / 1e9;
            notes.push(format!(
                "  {at:.3} s, client {}, line {}: {} {}: {}",
                sample.client, sample.line, sample.op, sample.path, sample.fault
            ));
        }
    }
    if all.skipped > 0 {
        notes.push(format!(
            "{label}: {} operations were skipped: their handle was not open, or their pool had no \
             such name",
            all.skipped
        ));
    }
    notes.extend(waiting_notes(disk, window));
    notes
}

fn waiting_notes(disk: &LiveDisk, window: Window) -> Vec<String> {
    let long = |waiting: &Waiting| {
        window.end_ns.saturating_sub(waiting.since_ns) > LONG_WAIT_NS.min(window.length_ns() / 2)
    };
    let waits = || {
        disk.reports
            .iter()
            .filter_map(|report| Some((report.client, report.waiting?)))
            .filter(|(_, waiting)| long(waiting))
    };
    let mut notes: Vec<String> = waits()
        .take(3)
        .map(|(client, Waiting { line, for_client, value, .. })| {
            format!(
                "{}: client {client} waited to the end, at line {line} (WAITSP), for client \
                 {for_client} to reach {value}",
                disk.ready.label()
            )
        })
        .collect();
    if let Some(more) = waits().count().checked_sub(3).filter(|more| *more > 0) {
        notes.push(format!("{}: {more} more clients waited to the end", disk.ready.label()));
    }
    notes
}

/// How much of what was written reached the devices within the window.
fn device_note(disks: &[LiveDisk], outcomes: &[Outcome]) -> Option<String> {
    let reached = super::rows::device_sums(disks)?.write_bytes;
    let on_device = disks.iter().zip(outcomes).filter(|(disk, _)| disk.device_before.is_some());
    let written: u64 = on_device
        .filter_map(|(_, outcome)| outcome.totals.get(OpKind::WriteX))
        .map(|summary| summary.tally.bytes)
        .sum();
    (written > 0).then(|| {
        format!(
            "{:.0} % of the written bytes reached the devices ({} of {})",
            100.0 * reached as f64 / written as f64,
            format_bytes(reached),
            format_bytes(written)
        )
    })
}

fn cost_note(cost: &Cost, outcomes: &[Outcome]) -> Option<String> {
    let total = (cost.user + cost.system).as_secs_f64();
    let ops: u64 = outcomes.iter().map(|outcome| outcome.totals.all().tally.ops).sum();
    (total > 0.0 && ops > 0).then(|| {
        format!(
            "CPU of the clients: {total:.2} s, {:.1} % of it in user mode; {:.2} us of kernel time \
             an operation",
            100.0 * cost.user.as_secs_f64() / total,
            cost.system.as_secs_f64() * 1e6 / ops as f64
        )
    })
}

/// Clients that waited for their thread; `all_s` is the time of all clients, warm-up included.
fn pool_wait_note(waited_s: f64, all_s: f64) -> Option<String> {
    (all_s > 0.0 && waited_s > POOL_WAIT * all_s).then(|| {
        format!(
            "pool wait: {:.1} % of the clients' time they were ready, but their thread served \
             others; where CPUs are idle, use more --threads-per-disk, or --engine sync",
            100.0 * (waited_s / all_s).min(1.0)
        )
    })
}

/// Peak memory of this process, from `VmHWM`.
fn memory_note(clients: usize) -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let bytes = kib * 1024;
    Some(format!(
        "peak memory {}, {} a client",
        format_bytes(bytes),
        format_bytes(bytes / clients.max(1) as u64)
    ))
}

/// The line of a disk in the table.
pub(super) fn disk_line(disk: &LiveDisk, outcome: &Outcome) -> DiskLine {
    let passes = &outcome.passes;
    DiskLine {
        label: disk.ready.label(),
        status: outcome.status,
        load: disk.ready.load_names(),
        rates: outcome.rates(None),
        totals: outcome.totals.clone(),
        passes: passes.count,
        pass_mean_s: (passes.count > 0).then(|| passes.sum_ns as f64 / passes.count as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_for_the_thread_are_told_above_one_percent() {
        // 4 clients for 10 s: 40 s, of which 0.4 s are 1 %.
        assert_eq!(pool_wait_note(0.4, 40.0), None);
        let note = pool_wait_note(10.0, 40.0).unwrap();
        assert!(note.contains("25.0 %") && note.contains("--threads-per-disk"), "{note}");
        assert_eq!(pool_wait_note(0.0, 0.0), None);
    }
}
