//! What a disk did, added up, and whether the sums agree.

use std::collections::BTreeMap;

use super::drain::Drain;
use super::live::LiveDisk;
use super::window::{Cut, Window};
use crate::client::PassTimes;
use crate::fault::Fault;
use crate::metrics::{DiskTotals, Tally};
use crate::op::OpKind;
use crate::output::Status;

/// The result of one disk.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) totals: DiskTotals,
    /// Seconds that rates are taken over: while all clients were active.
    pub(super) window_s: f64,
    /// Sums of that time by operation, where it is shorter than the measured window.
    pub(super) while_all_active: Option<Box<[Tally; OpKind::COUNT]>>,
    pub(super) first_done_s: Option<f64>,
    pub(super) last_done_s: Option<f64>,
    pub(super) passes: PassTimes,
    pub(super) warmup_errors: u64,
    /// Operations that were skipped and might have failed as well.
    pub(super) allowed_skips: u64,
    pub(super) late_ops: u64,
    pub(super) status: Status,
    pub(super) drain: Option<Drain>,
}

impl Outcome {
    pub(super) fn of(
        disk: &LiveDisk,
        window: Window,
        cut: Option<&Cut>,
        drain: Option<Drain>,
    ) -> Self {
        let totals = DiskTotals::read(&disk.state.shards);
        let after = |ns: u64| ns.saturating_sub(window.start_ns) as f64 / 1e9;
        let ends = || disk.reports.iter().map(|report| report.ended_ns);
        let first_done = disk.state.control.first_done_ns();
        let mut passes = PassTimes::default();
        disk.reports.iter().for_each(|report| passes.merge(&report.passes));
        let by_passes = first_done != u64::MAX && disk.running() == 0;
        Self {
            window_s: if by_passes { after(first_done) } else { window.seconds() },
            while_all_active: by_passes.then(|| active_sums(disk)),
            first_done_s: ends().min().map(after),
            last_done_s: ends().max().map(after),
            passes,
            allowed_skips: disk.state.errors.allowed_skips(),
            warmup_errors: disk.reports.iter().map(|report| report.warmup_errors).sum(),
            late_ops: disk.reports.iter().map(|report| report.late_ops).sum(),
            status: status(disk, &totals, cut),
            totals,
            drain,
        }
    }

    /// Rates of an operation, or of all, while all clients were active: operations and bytes per
    /// second.
    pub(super) fn rates(&self, op: Option<OpKind>) -> Option<(f64, f64)> {
        let sum = match (&self.while_all_active, op) {
            (Some(sums), Some(op)) => sums[op.index()],
            (Some(sums), None) => sums.iter().fold(Tally::default(), |mut all, one| {
                all += *one;
                all
            }),
            (None, Some(op)) => self.totals.get(op).map(|of| of.tally).unwrap_or_default(),
            (None, None) => self.totals.all().tally,
        };
        (self.window_s > 0.0)
            .then(|| (sum.ops as f64 / self.window_s, sum.bytes as f64 / self.window_s))
    }

    /// Operations that missed their expected status, and such that could not be tried although they
    /// should have succeeded.
    pub(super) fn missed(&self) -> u64 {
        let all = self.totals.all().tally;
        all.errors + all.skipped.saturating_sub(self.allowed_skips) + self.warmup_errors
    }
}

fn active_sums(disk: &LiveDisk) -> Box<[Tally; OpKind::COUNT]> {
    let mut sums = Box::new([Tally::default(); OpKind::COUNT]);
    for report in &disk.reports {
        let tallies = report.while_all_active.as_ref().unwrap_or(&report.tallies);
        for (sum, tally) in sums.iter_mut().zip(tallies.iter()) {
            *sum += *tally;
        }
    }
    sums
}

/// The one word for how a disk came out: the gravest that is true.
fn status(disk: &LiveDisk, totals: &DiskTotals, cut: Option<&Cut>) -> Status {
    let all = totals.all();
    let mut faults: BTreeMap<Fault, u64> = all.faults;
    for sample in disk.state.errors.first() {
        *faults.entry(sample.fault).or_default() += 1; // those of the warm-up are only here
    }
    let seen = |errnos: &[i32]| {
        errnos.iter().any(|errno| faults.contains_key(&Fault::Errno(*errno as u16)))
    };
    if disk.running() > 0 {
        Status::Hung
    } else if seen(&[libc::EIO, libc::ENODEV, libc::ENXIO, libc::ESTALE, libc::ESHUTDOWN]) {
        Status::Gone
    } else if seen(&[libc::EROFS]) {
        Status::ReadOnly
    } else if seen(&[libc::ENOSPC, libc::EDQUOT]) {
        Status::NoSpace
    } else if !faults.is_empty()
        || all.tally.skipped > disk.state.errors.allowed_skips()
        || disk.lost > 0
    {
        Status::Errors
    } else if cut.is_some() {
        Status::Interrupted
    } else {
        Status::Ok
    }
}

/// Whether what the clients counted for themselves is what the disk's counters hold. A difference
/// is a defect of this program, and no figure of such a run is to be trusted.
pub(super) fn check_sums(disk: &LiveDisk, totals: &DiskTotals) -> Result<(), String> {
    if disk.running() > 0 || disk.lost > 0 {
        return Ok(()); // threads that did not report have counted, too
    }
    for kind in OpKind::ALL {
        let mut clients = Tally::default();
        disk.reports.iter().for_each(|report| clients += report.tallies[kind.index()]);
        let counted = totals.get(*kind).map(|summary| summary.tally).unwrap_or_default();
        if clients != counted {
            return Err(format!(
                "internal error: {}: {kind}: the clients counted {clients:?}, the disk {counted:?}",
                disk.ready.label()
            ));
        }
        let samples = totals.get(*kind).map_or(0, |summary| summary.histogram.len());
        if samples != counted.ops {
            return Err(format!(
                "internal error: {}: {kind}: {} operations, {samples} latencies",
                disk.ready.label(),
                counted.ops
            ));
        }
    }
    Ok(())
}
