//! The worker: one run from beginning to end.

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::net::UnixStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::UnboundedReceiver;

use super::clean;
use super::drain::{Drain, drain};
use super::hostfile;
use super::live::{Cost, LiveDisk};
use super::meter::{Cut, Meter, Window};
use super::notes;
use super::outcome::{Outcome, check_sums};
use super::outlet::{Outlet, sink_failed};
use super::prepare::{LeftOut, Prepared, prepare};
use super::rows::{RowMaker, RunFacts};
use super::setup::{event_channel, make_trees, start_pools};
use super::{RunError, RunRequest};
use crate::client::PassTimes;
use crate::engine::{Engine, SyncEngine};
use crate::front::{FromWorker, Link};
use crate::host::facts::HostFacts;
use crate::host::kmsg::kernel_lines_naming;
use crate::metrics::DiskTotals;
use crate::output::{DiskLine, Progress, Report, Status, end_text};
use crate::pool::{Event, Gate};

/// Runs in the worker process, whose stdin is the socket to the front. Tells the front the exit
/// code when all results are written; returns when nothing of the run is left.
///
/// # Errors
///
/// What ended the run before it had results; the front has been told the code.
pub fn run(request: &RunRequest) -> Result<(), RunError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| RunError::failed(format!("cannot start: {error}")))?;
    let result = runtime.block_on(async {
        let _ignored = ignore_signals().map_err(|error| RunError::failed(error.to_string()))?;
        let mut link = link_to_front().map_err(|error| RunError::failed(error.to_string()))?;
        Worker { request, link: &mut link, progress: Progress::new(request.progress) }.run().await
    });
    runtime.shutdown_background();
    result
}

/// A signal from the terminal reaches this process too, but the front decides what it means.
fn ignore_signals() -> std::io::Result<[tokio::signal::unix::Signal; 3]> {
    Ok([
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
        signal(SignalKind::hangup())?,
    ])
}

fn link_to_front() -> std::io::Result<Link> {
    let socket = StdUnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    socket.set_nonblocking(true)?;
    Ok(Link::new(UnixStream::from_std(socket)?))
}

struct Worker<'a> {
    request: &'a RunRequest,
    link: &'a mut Link,
    progress: Progress,
}

/// What the measured part leaves.
struct Measured {
    disks: Vec<LiveDisk>,
    events: UnboundedReceiver<Event>,
    cut: Option<Cut>,
    run: RunFacts,
    drains: Vec<Option<Drain>>,
}

impl Worker<'_> {
    async fn run(mut self) -> Result<(), RunError> {
        let prepared = prepare(self.request)?;
        for warning in &prepared.warnings {
            self.progress.note(&format!("warning: {warning}"));
        }
        self.progress.note(&notes::before(self.request, &prepared));
        if self.request.dry_run {
            self.say_dry_run(&prepared);
            self.done(0, false).await;
            return Ok(());
        }
        let mut outlet = Outlet::open(self.request)?;
        let host = HostFacts::read();
        let run_id = run_id();
        let rows = RowMaker::new(self.request, &host, &run_id, SyncEngine::NAME);
        let started = boot_time();
        let Prepared { disks, mut left_out, .. } = prepared;
        let (trees, late) = make_trees(self.request, &run_id, disks, self.link).await?;
        left_out.extend(late);
        for disk in &left_out {
            self.progress.note(&notes::left_out(disk));
        }
        if trees.is_empty() {
            return Err(RunError::cannot("no disk can be used"));
        }
        let gate = Arc::new(Gate::default());
        let (sender, events) = event_channel()?;
        let disks = start_pools(self.request, trees, &gate, &sender)?;
        drop(sender);
        let measured = self.measure(disks, events, &gate, &mut outlet, &rows).await;
        let (code, measured) = match measured {
            Err((error, disks, events)) => {
                self.tell(&error);
                let cut = Some(Cut::FrontGone);
                let run = RunFacts::default();
                (error.code, Measured { disks, events, cut, run, drains: Vec::new() })
            }
            Ok(measured) => {
                let code = self.report(&measured, &left_out, &mut outlet, &rows);
                self.write_host(&host, &run_id, &measured, &mut outlet, started);
                (self.finish(&mut outlet, code), measured)
            }
        };
        self.clean(measured, code).await;
        Ok(())
    }

    async fn measure(
        &mut self,
        mut disks: Vec<LiveDisk>,
        mut events: UnboundedReceiver<Event>,
        gate: &Gate,
        outlet: &mut Outlet,
        rows: &RowMaker,
    ) -> Result<Measured, (RunError, Vec<LiveDisk>, UnboundedReceiver<Event>)> {
        let mut meter = Meter::new(
            self.request,
            &mut disks,
            &mut events,
            self.link,
            outlet,
            &mut self.progress,
            rows,
        );
        let ready = meter.wait_for_clients().await;
        meter.open(gate);
        if let Err(error) = ready {
            meter.stop_and_wait().await;
            return Err((error, disks, events));
        }
        meter.watch().await;
        let (window, cut) = (meter.window, meter.cut.take());
        let changes = meter.after.as_ref().zip(meter.before.as_ref()).map(|(a, b)| a.minus(b));
        let dirty_bytes = meter.dirty_bytes;
        drop(meter);
        let drains = match cut {
            None => drain(&disks, self.link).await,
            Some(_) => disks.iter().map(|_| None).collect(),
        };
        let run = RunFacts { window, changes, dirty_bytes };
        Ok(Measured { disks, events, cut, run, drains })
    }

    /// Writes rows and table; returns the exit code.
    fn report(
        &mut self,
        measured: &Measured,
        left_out: &[LeftOut],
        outlet: &mut Outlet,
        rows: &RowMaker,
    ) -> u8 {
        let Measured { disks, cut, run, drains, .. } = measured;
        let outcomes: Vec<Outcome> = disks
            .iter()
            .zip(drains)
            .map(|(disk, drain)| Outcome::of(disk, run.window, cut.as_ref(), *drain))
            .collect();
        let mut code = exit_code(&outcomes, disks, left_out);
        for (disk, outcome) in disks.iter().zip(&outcomes) {
            if let Err(defect) = check_sums(disk, &outcome.totals) {
                self.progress.note(&defect);
                code = 1;
            }
        }
        let mut all_rows = Vec::new();
        for (disk, outcome) in disks.iter().zip(&outcomes) {
            all_rows.extend(rows.summary(disk, outcome, run));
            all_rows.extend(rows.errors(disk, outcome, run.window));
            all_rows.extend(rows.passes(disk, run.window));
        }
        all_rows.extend(left_out.iter().map(|disk| rows.left_out(disk)));
        let mut cost = Cost::default();
        disks.iter().for_each(|disk| cost.merge(&disk.cost));
        all_rows.extend(rows.summary_of_all(&of_all(&outcomes, run.window), &cost, run));
        match cut {
            Some(Cut::ReaderGone) => code = 141,
            Some(Cut::Unwritable(error)) => {
                self.progress.note(&error.to_string());
                code = 1;
            }
            Some(Cut::FrontGone) => {}
            Some(Cut::Signal(_)) | None => {
                if let Err(error) = outlet.write_now(&all_rows) {
                    let error = sink_failed(&error);
                    self.progress.note(&error.message);
                    code = error.code;
                }
            }
        }
        self.progress.finish();
        self.say_table(measured, &outcomes, left_out, outlet);
        code
    }

    fn say_table(
        &mut self,
        measured: &Measured,
        outcomes: &[Outcome],
        left_out: &[LeftOut],
        outlet: &Outlet,
    ) {
        let Measured { disks, cut, run, .. } = measured;
        if matches!(cut, Some(Cut::ReaderGone | Cut::FrontGone)) {
            return;
        }
        let mut lines: Vec<DiskLine> =
            disks.iter().zip(outcomes).map(|(d, o)| notes::disk_line(d, o)).collect();
        lines.extend(left_out.iter().map(|out| DiskLine {
            label: out.label.clone(),
            status: out.status,
            load: String::new(),
            window_s: 0.0,
            totals: DiskTotals::default(),
            passes: 0,
            pass_mean_s: None,
        }));
        let mut notes = notes::after(self.request, disks, outcomes, run.window, cut.as_ref());
        if let Some(file) = &outlet.file {
            notes.push(format!("result: {}", file.display()));
        } else if outlet.table_on_stdout {
            notes.push("for the same as CSV, pipe it or add --out FILE".into());
        }
        let window_s = of_all(outcomes, run.window).window_s;
        let text = |color| end_text(&Report { disks: lines, window_s, notes }, color);
        if outlet.table_on_stdout {
            // A reader that went away has seen what it wanted.
            let _ = std::io::stdout().write_all(text(color_wanted()).as_bytes());
        } else {
            self.progress.note(text(false).trim_end());
        }
    }

    fn write_host(
        &mut self,
        host: &HostFacts,
        run_id: &str,
        measured: &Measured,
        outlet: &mut Outlet,
        started: Duration,
    ) {
        let names: Vec<String> = measured
            .disks
            .iter()
            .filter_map(|disk| disk.ready.device.as_ref())
            .flat_map(crate::host::device::DeviceFacts::all_names)
            .collect();
        let lines: Vec<String> =
            kernel_lines_naming(&names, started).into_iter().map(|line| line.text).collect();
        for line in lines.iter().take(10) {
            self.progress.note(&format!("kernel: {line}"));
        }
        let document = hostfile::document(host, run_id, measured.run.changes.as_ref(), &lines);
        if let Some(file) = &outlet.file
            && std::fs::metadata(file).is_ok_and(|meta| meta.is_file())
        {
            let path = hostfile::path_beside(file);
            if let Err(error) = hostfile::write(&path, &document) {
                self.progress.note(&format!("cannot write {}: {error}", path.display()));
            }
        }
        outlet.set_host(document);
    }

    fn finish(&mut self, outlet: &mut Outlet, code: u8) -> u8 {
        match outlet.finish() {
            Ok(()) => code,
            Err(_) if code == 141 => code,
            Err(error) => {
                let error = sink_failed(&error);
                if error.code != 141 {
                    self.progress.note(&error.message);
                }
                error.code
            }
        }
    }

    /// Removes what the run made. A disk with stuck threads does not hold up the others, nor the
    /// front: it is cleaned when it answers, by this process alone.
    async fn clean(mut self, measured: Measured, code: u8) {
        let Measured { disks, mut events, .. } = measured;
        let (free, mut stuck) = clean::split(disks);
        if self.request.keep {
            for disk in free.iter().chain(&stuck) {
                let root = disk.tree.root_path().display();
                self.progress.note(&format!("kept: {root}"));
            }
            self.done(code, !stuck.is_empty()).await;
            return;
        }
        let removals = free.into_iter().map(|disk| clean::start(disk.tree, disk.made)).collect();
        let left = clean::wait(removals, self.link).await;
        for line in &left {
            self.progress.note(line);
        }
        let code = if left.is_empty() { code } else { code.max(1) };
        self.done(code, !stuck.is_empty()).await;
        if stuck.is_empty() {
            return;
        }
        detach();
        while stuck.iter().any(|disk| disk.running() > 0) {
            let Some(event) = events.recv().await else { break };
            let number = event.disk();
            if let Some(disk) = stuck.iter_mut().find(|disk| disk.number == number) {
                disk.take(event);
            }
        }
        let removals = stuck.into_iter().map(|disk| clean::start(disk.tree, disk.made)).collect();
        clean::wait(removals, self.link).await;
    }

    fn say_dry_run(&mut self, prepared: &Prepared) {
        for disk in &prepared.disks {
            let mount = disk.check.mount.as_ref();
            let what = mount.map_or("unknown", |mount| mount.fstype.as_str());
            self.progress.note(&format!("would use {} ({what})", disk.label()));
        }
        for disk in &prepared.left_out {
            self.progress.note(&notes::left_out(disk));
        }
        self.progress.note(&format!("each client has up to {} open handles", prepared.handles));
    }

    fn tell(&mut self, error: &RunError) {
        self.progress.note(&format!("jbodbench: {error}"));
    }

    async fn done(&mut self, code: u8, stays: bool) {
        self.progress.finish();
        self.link.send(&FromWorker::Done { code, stays }).await;
    }
}

/// All disks as one: sums, the window that fits all of them.
fn of_all(outcomes: &[Outcome], window: Window) -> Outcome {
    let mut totals = DiskTotals::default();
    let mut passes = PassTimes::default();
    for outcome in outcomes {
        totals.merge(&outcome.totals);
        passes.merge(&outcome.passes);
    }
    let ends = || outcomes.iter().filter_map(|outcome| outcome.last_done_s);
    let last_done_s = ends().max_by(f64::total_cmp);
    let firsts = outcomes.iter().filter_map(|outcome| outcome.first_done_s);
    let by_passes = outcomes.iter().any(|outcome| outcome.while_all_active.is_some());
    let worst = outcomes.iter().find(|o| o.status != Status::Ok).map_or(Status::Ok, |o| o.status);
    Outcome {
        totals,
        // Disks that end at different times have no common window but the whole.
        window_s: last_done_s.filter(|_| by_passes).unwrap_or(window.seconds()),
        while_all_active: None,
        first_done_s: firsts.min_by(f64::total_cmp),
        last_done_s,
        passes,
        warmup_errors: 0,
        late_ops: outcomes.iter().map(|outcome| outcome.late_ops).sum(),
        status: worst,
        drain: None,
    }
}

fn exit_code(outcomes: &[Outcome], disks: &[LiveDisk], left_out: &[LeftOut]) -> u8 {
    let bad = outcomes.iter().any(|outcome| outcome.missed() > 0 || outcome.status == Status::Hung);
    let lost = disks.iter().any(|disk| disk.lost > 0);
    u8::from(bad || lost || !left_out.is_empty())
}

/// Unique on this host and legal in a file name.
fn run_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", now.as_millis(), std::process::id())
}

fn boot_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

fn color_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Lets go of stdout and stderr, so that who reads them sees the end although this process stays.
fn detach() {
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}
