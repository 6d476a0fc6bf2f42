//! Results as rows.

use std::time::Duration;

use crate::client::ErrorSample;
use crate::host::diskstats::DeviceCounters;
use crate::host::facts::HostFacts;
use crate::host::sample::HostDelta;
use crate::metrics::{DiskTotals, OpSummary};
use crate::op::OpKind;
use crate::output::{Cell, Column, Row, Status, fill_hist, fill_op};

use super::RunRequest;
use super::given;
use super::live::{Cost, LiveDisk};
use super::outcome::Outcome;
use super::pools::Pools;
use super::prepare::{LeftOut, ReadyDisk};
use super::traffic;
use super::window::Window;

/// Makes rows: knows what all rows of a run have in common.
pub(super) struct RowMaker {
    base: Row,
    pub(super) hist: bool,
    intervals: bool,
    interval_ops: bool,
}

/// What is measured of the whole run, not of a disk.
#[derive(Debug, Default)]
pub(super) struct RunFacts {
    pub(super) window: Window,
    pub(super) changes: Option<HostDelta>,
    pub(super) dirty_bytes: Option<u64>,
    /// From the start of the program to the first call of a client.
    pub(super) start_up: Option<Duration>,
    /// Whether the rate of all disks together was level.
    pub(super) steady: Option<bool>,
}

impl RowMaker {
    pub(super) fn new(request: &RunRequest, host: &HostFacts, run_id: &str, pools: &Pools) -> Self {
        let mut base = Row::new();
        let sha256 = host.sha256();
        let own = || (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let (uid, gid) = pools.caller.as_ref().map_or_else(own, |caller| (caller.uid, caller.gid));
        base.set(Column::RunId, run_id)
            .set(Column::ExperimentId, run_id)
            .set(Column::BootId, host.boot_id.clone())
            .set(Column::RunLabel, request.label.clone())
            .set(Column::Host, host.hostname.clone())
            .set(Column::Kernel, host.kernel.release.clone())
            .set(Column::HostState, &sha256[..12.min(sha256.len())])
            .set(Column::HostSha256, sha256.as_str())
            .set(Column::Cred, request.conditions.act_as.clone())
            .set(Column::Uid, uid)
            .set(Column::Gid, gid)
            .set(Column::Engine, pools.engine.word())
            .set(Column::EngineFallback, pools.fallback.clone())
            .set(Column::Route, pools.routes(request).map(|routes| routes.to_string()))
            .set(Column::Clients, request.clients)
            .set(Column::Threads, pools.threads)
            .set(Column::Seed, request.load.seed);
        given::set(&mut base, request, &host.kernel);
        Self { base, hist: request.hist, intervals: true, interval_ops: request.interval_ops }
    }

    /// The same for a run that is one of several: the experiment, the run's cell and its place.
    pub(super) fn in_experiment(mut self, experiment_id: &str, cell: &str, index: u64) -> Self {
        self.base
            .set(Column::ExperimentId, experiment_id)
            .set(Column::Cell, cell)
            .set(Column::OrderIndex, index);
        self
    }

    /// The same with further cells in all rows.
    pub(super) fn stamped(mut self, cells: Vec<(Column, Cell)>) -> Self {
        for (column, cell) in cells {
            self.base.set(column, cell);
        }
        self
    }

    /// The same for a window of which nobody wants to read while it is open.
    pub(super) fn without_intervals(mut self) -> Self {
        self.intervals = false;
        self
    }

    /// A row of a kind, of a disk or of all.
    pub(super) fn row(&self, kind: &str, disk: Option<&ReadyDisk>) -> Row {
        let mut row = self.base.clone();
        let now = humantime::format_rfc3339_millis(std::time::SystemTime::now());
        row.set(Column::Row, kind).set(Column::TsUtc, now.to_string());
        match disk {
            None => drop(row.set(Column::Disk, "all")),
            Some(disk) => set_disk(&mut row, disk),
        }
        row
    }

    /// Rows of one interval of a disk, or of all; times in nanoseconds of the run's clock.
    pub(super) fn interval(
        &self,
        disk: Option<&ReadyDisk>,
        piece: &DiskTotals,
        window: Window,
        from_ns: u64,
        to_ns: u64,
    ) -> Vec<Row> {
        if !self.intervals {
            return Vec::new();
        }
        let seconds = to_ns.saturating_sub(from_ns) as f64 / 1e9;
        let make = |op: &str, summary: &OpSummary| {
            let mut row = self.row("interval", disk);
            let start = from_ns.saturating_sub(window.start_ns) as f64 / 1e9;
            row.set(Column::TStartS, start).set(Column::DurationS, seconds);
            fill_op(&mut row, op, summary, seconds);
            row
        };
        let mut rows = vec![make("all", &piece.all())];
        if self.interval_ops {
            rows.extend(piece.iter().map(|(kind, summary)| make(kind.word(), summary)));
        }
        rows
    }

    /// Summary rows of a disk: one an operation, then one for all.
    pub(super) fn summary(&self, disk: &LiveDisk, outcome: &Outcome, run: &RunFacts) -> Vec<Row> {
        let mut rows = Vec::new();
        for (kind, summary) in outcome.totals.iter() {
            let mut row = self.summary_row(Some(&disk.ready), kind.word(), summary, outcome, run);
            set_caller(&mut row, disk);
            set_rates(&mut row, outcome.rates(Some(kind)));
            rows.push(row);
        }
        let all = outcome.totals.all();
        let mut row = self.summary_row(Some(&disk.ready), "all", &all, outcome, run);
        set_caller(&mut row, disk);
        set_rates(&mut row, outcome.rates(None));
        set_cost(&mut row, &disk.cost, all.tally.ops);
        traffic::set(&mut row, disk.traffic.as_ref());
        set_device(&mut row, disk, run);
        row.set(Column::Steady, disk.steady);
        if let Some(drain) = &outcome.drain {
            row.set(Column::DrainS, drain.seconds).set(Column::DrainBytes, drain.bytes);
        }
        rows.push(row);
        rows
    }

    /// Summary rows of all disks together.
    pub(super) fn summary_of_all(
        &self,
        all: &Outcome,
        disks: &[LiveDisk],
        run: &RunFacts,
    ) -> Vec<Row> {
        let mut cost = Cost::default();
        disks.iter().for_each(|disk| cost.merge(&disk.cost));
        let mut rows: Vec<Row> = all
            .totals
            .iter()
            .map(|(kind, summary)| self.summary_row(None, kind.word(), summary, all, run))
            .collect();
        let total = all.totals.all();
        let mut row = self.summary_row(None, "all", &total, all, run);
        set_cost(&mut row, &cost, total.tally.ops);
        traffic::set(&mut row, LiveDisk::traffic_of(disks).as_ref());
        if let Some(moved) = device_sums(disks) {
            row.set(Column::DevReadBytes, moved.read_bytes)
                .set(Column::DevWriteBytes, moved.write_bytes)
                .set(Column::DevFlushes, moved.flushes);
        }
        row.set(Column::DirtyBytes, run.dirty_bytes).set(Column::Steady, run.steady);
        row.set(Column::StealS, run.changes.as_ref().and_then(|changes| changes.steal_s));
        rows.push(row);
        rows
    }

    fn summary_row(
        &self,
        disk: Option<&ReadyDisk>,
        op: &str,
        summary: &OpSummary,
        outcome: &Outcome,
        run: &RunFacts,
    ) -> Row {
        let mut row = self.row("summary", disk);
        row.set(Column::TStartS, 0.0)
            .set(Column::DurationS, run.window.seconds())
            .set(Column::Status, outcome.status.word());
        fill_op(&mut row, op, summary, outcome.window_s);
        if self.hist {
            fill_hist(&mut row, summary);
        }
        if op == "all" {
            let seconds = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e9);
            let passes = &outcome.passes;
            let mean = (passes.count > 0).then(|| passes.sum_ns as f64 / passes.count as f64 / 1e9);
            row.set(Column::FirstDoneS, outcome.first_done_s)
                .set(Column::LastDoneS, outcome.last_done_s)
                .set(Column::Passes, passes.count)
                .set(Column::PassMeanS, mean)
                .set(Column::PassMinS, seconds(passes.min_ns))
                .set(Column::PassMaxS, seconds(passes.max_ns))
                .set(Column::LateOps, outcome.late_ops);
        }
        row
    }

    /// Error rows of a disk: the counts by operation and error, then the first ones in full.
    pub(super) fn errors(&self, disk: &LiveDisk, outcome: &Outcome, window: Window) -> Vec<Row> {
        let mut rows = Vec::new();
        for (kind, summary) in outcome.totals.iter() {
            for (fault, count) in &summary.faults {
                let mut row = self.error_row(disk, kind, &fault.to_string(), Status::Total);
                row.set(Column::Errors, *count);
                rows.push(row);
            }
        }
        for sample in disk.state.errors.first() {
            let ErrorSample { at_ns, client, line, op, path, fault } = sample;
            let mut row = self.error_row(disk, op, &fault.to_string(), Status::Sample);
            // Before the window opened the time is negative.
            let at = (at_ns as f64 - window.start_ns as f64) / 1e9;
            row.set(Column::TStartS, at)
                .set(Column::Errors, 1_u64)
                .set(Column::Client, client)
                .set(Column::Line, line)
                .set(Column::Path, path);
            rows.push(row);
        }
        rows
    }

    fn error_row(&self, disk: &LiveDisk, op: OpKind, errno: &str, status: Status) -> Row {
        let mut row = self.row("error", Some(&disk.ready));
        row.set(Column::Op, op.word()).set(Column::Errno, errno).set(Column::Status, status.word());
        row
    }

    /// A row for every pass that was kept.
    pub(super) fn passes(&self, disk: &LiveDisk, window: Window) -> Vec<Row> {
        let mut rows = Vec::new();
        for report in &disk.reports {
            for (start_ns, duration_ns) in &report.passes.each {
                let mut row = self.row("pass", Some(&disk.ready));
                row.set(Column::Client, report.client)
                    .set(Column::TStartS, start_ns.saturating_sub(window.start_ns) as f64 / 1e9)
                    .set(Column::DurationS, *duration_ns as f64 / 1e9)
                    .set(Column::Op, "all");
                rows.push(row);
            }
        }
        rows
    }

    /// A row for every kind of call of a disk whose engine had a choice.
    pub(super) fn calls(&self, disk: &LiveDisk) -> Vec<Row> {
        let Some(traffic) = &disk.traffic else { return Vec::new() };
        traffic::rows(traffic, || self.row("call", Some(&disk.ready)))
    }

    /// The row of a disk that was left out.
    pub(super) fn left_out(&self, disk: &LeftOut) -> Row {
        let mut row = self.row("summary", None);
        row.set(Column::Disk, disk.label.as_str())
            .set(Column::Op, "all")
            .set(Column::Status, disk.status.word())
            .set(Column::Errno, disk.errno.clone());
        row
    }
}

/// What the threads of a disk were found to be.
fn set_caller(row: &mut Row, disk: &LiveDisk) {
    if let Some((uid, gid)) = disk.held {
        row.set(Column::Uid, uid).set(Column::Gid, gid);
    }
    row.set(Column::WalkRcu, disk.walks.share());
}

fn set_disk(row: &mut Row, disk: &ReadyDisk) {
    row.set(Column::AclEffective, disk.found.acl_effective)
        .set(Column::AclEntries, disk.found.acl_entries)
        .set(Column::Relation, disk.found.relation);
    row.set(Column::Disk, disk.label())
        .set(Column::Loadfile, disk.load_names())
        .set(Column::ProgramSha256, disk.load_sums())
        .set(Column::SameFs, disk.same_fs)
        .set(Column::DioAlign, disk.direct.map(|direct| direct.align));
    if let Some(mount) = &disk.check.mount {
        // Of the mount, then those of the file system that are not among them.
        let mut options: Vec<&str> = mount.mount_options.split(',').collect();
        for option in mount.super_options.split(',') {
            if !options.contains(&option) {
                options.push(option);
            }
        }
        let options = options.join(",");
        row.set(Column::MountPoint, mount.mount_point.display().to_string())
            .set(Column::Fstype, mount.fstype.as_str())
            .set(Column::MountOptions, options)
            .set(Column::Device, mount.source.as_str())
            .set(Column::IsMountPoint, mount.is_mount_point);
    }
    if let Some(device) = &disk.device {
        let members = device.members.iter().map(|member| member.name.as_str());
        row.set(Column::Device, device.name.as_str())
            .set(Column::Model, device.model.clone())
            .set(Column::Serial, device.serial.clone())
            .set(Column::Rotational, device.rotational)
            .set(Column::Slot, device.by_path.clone())
            .set(Column::WriteCache, device.write_cache.clone())
            .set(Column::Scheduler, device.scheduler.clone())
            .set(Column::Members, members.collect::<Vec<_>>().join(" "));
    }
}

fn set_rates(row: &mut Row, rates: Option<(f64, f64)>) {
    if let Some((ops, bytes)) = rates {
        row.set(Column::OpsPerS, ops).set(Column::BytesPerS, bytes);
    }
}

fn set_cost(row: &mut Row, cost: &Cost, ops: u64) {
    if cost.threads == 0 {
        return; // nobody told: unknown, not 0
    }
    let per_op = (ops > 0).then(|| cost.system.as_secs_f64() * 1e6 / ops as f64);
    row.set(Column::CpuUserS, cost.user.as_secs_f64())
        .set(Column::CpuSysS, cost.system.as_secs_f64())
        .set(Column::SysUsPerOp, per_op)
        .set(Column::RunDelayS, cost.run_delay.map(|delay| delay.as_secs_f64()))
        .set(Column::CtxVoluntary, cost.voluntary)
        .set(Column::CtxInvoluntary, cost.involuntary);
}

/// What all devices did in the window, each counted once.
pub(super) fn device_sums(disks: &[LiveDisk]) -> Option<DeviceCounters> {
    let mut seen = Vec::new();
    let mut sum: Option<DeviceCounters> = None;
    for disk in disks {
        let (Some(before), Some(after)) = (&disk.device_before, &disk.device_after) else {
            continue;
        };
        let name = disk.ready.device.as_ref().map(|device| device.name.as_str());
        if !seen.contains(&name) {
            seen.push(name);
            let moved = after.delta(before);
            sum = Some(sum.map_or(moved, |sum| sum + moved));
        }
    }
    sum
}

fn set_device(row: &mut Row, disk: &LiveDisk, run: &RunFacts) {
    if let (Some(before), Some(after)) = (&disk.device_before, &disk.device_after) {
        let moved = after.delta(before);
        let span = std::time::Duration::from_secs_f64(run.window.seconds());
        let devices =
            disk.ready.device.as_ref().map_or(1, |device| {
                if device.spans_members { device.members.len().max(1) } else { 1 }
            });
        row.set(Column::DevReadBytes, moved.read_bytes)
            .set(Column::DevWriteBytes, moved.write_bytes)
            .set(Column::DevFlushes, moved.flushes)
            .set(Column::DevUtil, moved.utilisation(span, devices));
    }
}
