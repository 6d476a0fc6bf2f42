//! The worker: one run from beginning to end.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::net::UnixStream;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

use super::clean::{self, Left, Removed};
use super::conditions::Remounts;
use super::dbench::Ticker;
use super::direct;
use super::drain::{Drained, drain};
use super::dry_run;
use super::live::LiveDisk;
use super::loads::Programs;
use super::meter::Meter;
use super::notes;
use super::outlet::Outlet;
use super::prepare::{Prepared, prepare};
use super::report::device_names;
use super::rows::{RowMaker, RunFacts};
use super::series::{Around, HookEnd, Moment};
use super::setup::{event_channel, make_trees, start_pools};
use super::window::Cut;
use super::{RunError, RunRequest, Straggler};
use crate::front::{FromWorker, Link};
use crate::host::facts::HostFacts;
use crate::host::signals::stays_ignored;
use crate::output::Progress;
use crate::pool::{Event, Gate};

/// Runs in the worker process, whose stdin is the socket to the front. Tells the front the exit
/// code when all results are written; returns when nothing of the run is left.
///
/// # Errors
///
/// What ended the run before it had results; the front has been told the code.
pub fn run(request: &RunRequest) -> Result<(), RunError> {
    in_worker(request, async |worker| match request.preset {
        None => worker.replay().await,
        Some(preset) => worker.search_shelf(preset).await,
    })
}

/// What a worker's job leaves to be removed, and the exit code; nothing for a dry run.
pub(crate) type Job = Result<Option<(Left, u8)>, RunError>;

/// Runs a job in the worker process, and removes what it leaves.
///
/// # Errors
///
/// What ended it before it had results; the front has been told the code.
pub(crate) fn in_worker<'a>(
    request: &'a RunRequest,
    job: impl AsyncFnOnce(&mut Worker<'a, '_>) -> Job,
) -> Result<(), RunError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| RunError::failed(format!("cannot start: {error}")))?;
    let result = runtime.block_on(async {
        let _ignored = ignore_signals().map_err(|error| RunError::failed(error.to_string()))?;
        let mut link = link_to_front().map_err(|error| RunError::failed(error.to_string()))?;
        let progress = Progress::new(request.progress);
        let mut worker = Worker {
            request,
            link: &mut link,
            progress,
            stragglers: Vec::new(),
            around: Around::default(),
        };
        let done = job(&mut worker).await;
        worker.end(done).await
    });
    runtime.shutdown_background();
    result
}

/// A signal from the terminal reaches this process too, but the front decides what it means.
/// What is ignored since before (`nohup`) stays so to the end.
fn ignore_signals() -> std::io::Result<Vec<Signal>> {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let wanted = kinds.into_iter().filter(|kind| !stays_ignored(kind.as_raw_value()));
    wanted.map(signal).collect()
}

fn link_to_front() -> std::io::Result<Link> {
    let socket = StdUnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    socket.set_nonblocking(true)?;
    Ok(Link::new(UnixStream::from_std(socket)?))
}

/// The worker process at work.
pub(crate) struct Worker<'a, 'l> {
    pub(super) request: &'a RunRequest,
    pub(super) link: &'l mut Link,
    pub(super) progress: Progress,
    /// Disks that did not answer before the load.
    pub(super) stragglers: Vec<Straggler>,
    /// Commands around the next window.
    pub(super) around: Around,
}

/// A signal so soon after the front has left was meant for both.
const SETTLE: Duration = Duration::from_secs(1);

/// What the measured part leaves.
pub(super) struct Measured {
    pub(super) disks: Vec<LiveDisk>,
    pub(super) events: UnboundedReceiver<Event>,
    pub(super) cut: Option<Cut>,
    pub(super) run: RunFacts,
    pub(super) drained: Drained,
    /// What went wrong with the command after the window.
    pub(super) hook_failure: Option<String>,
    /// What is to be told as dbench tells it.
    pub(super) ticker: Option<Ticker>,
}

/// A window that could not be opened, with the disks it was for.
pub(super) type NotMeasured = (RunError, Vec<LiveDisk>, UnboundedReceiver<Event>);

impl Worker<'_, '_> {
    /// Cleans up, tells the front, and waits for disks that do not answer.
    async fn end(mut self, done: Job) -> Result<(), RunError> {
        match done {
            Ok(Some((left, code))) => self.clean(left, code).await,
            Ok(None) if self.stragglers.is_empty() => self.done(0, false).await,
            Err(error) if self.stragglers.is_empty() => return Err(error),
            ended => {
                let code = ended.err().map_or(0, |error| {
                    self.tell(&error);
                    error.code
                });
                self.done(code, true).await;
                stay(wait_for_stragglers(self.stragglers)).await;
            }
        }
        Ok(())
    }

    /// All but the clean-up; what has to be cleaned and the exit code, or nothing for a dry run.
    async fn replay(&mut self) -> Result<Option<(Left, u8)>, RunError> {
        let mut warnings = Vec::new();
        let programs = Programs::load(self.request, &mut warnings)?;
        let mut prepared = prepare(self.request, &programs, &mut self.stragglers)?;
        prepared.warnings.splice(0..0, warnings);
        for warning in &prepared.warnings {
            self.progress.note(&format!("warning: {warning}"));
        }
        self.progress.note(&notes::before(self.request, &prepared));
        if self.request.dry_run {
            self.say_dry_run(&prepared);
            return Ok(None);
        }
        let outlet = Outlet::open(self.request)?;
        self.run_prepared(prepared, outlet).await.map(Some)
    }

    async fn run_prepared(
        &mut self,
        prepared: Prepared,
        mut outlet: Outlet,
    ) -> Result<(Left, u8), RunError> {
        let (host, run_id, started) = (HostFacts::read(), run_id(), boot_time());
        let rows = RowMaker::new(self.request, &host, &run_id, &prepared.pools);
        let Prepared { disks, mut left_out, pools, resolved, .. } = prepared;
        let (stragglers, spec) = (&mut self.stragglers, &resolved.tree);
        let made = make_trees(self.request, spec, &run_id, disks, self.link, stragglers).await;
        let made = made.inspect_err(|_| outlet.discard(self.request))?;
        left_out.extend(made.left_out);
        let mut trees = made.trees;
        for warning in direct::warnings(trees.iter().map(|held| &held.ready)) {
            self.progress.note(&format!("warning: {warning}"));
        }
        for disk in &left_out {
            self.progress.note(&notes::left_out(disk));
        }
        if trees.is_empty() {
            outlet.discard(self.request);
            return Err(RunError::cannot("no disk can be used"));
        }
        let mut remounts = Remounts::default();
        let set_up =
            self.set_up(&resolved, &pools, &mut trees, &run_id, (&mut remounts, false)).await;
        if let Err(error) = set_up {
            // Only with ACLs as they were can what has ACLs be removed as it was made.
            self.set_back(remounts).await;
            self.remove(trees).await;
            outlet.discard(self.request);
            return Err(error);
        }
        let gate = Arc::new(Gate::default());
        let (sender, events) = event_channel()?;
        let disks = start_pools(self.request, &pools, trees, &gate, &sender)?;
        drop(sender);
        let measured = self.measure(self.request, disks, events, &gate, &mut outlet, &rows).await;
        let mut left = Left::default();
        let code = match measured {
            Err((error, disks, events)) => {
                self.tell(&error);
                left.take(disks, events);
                error.code
            }
            Ok(measured) => {
                let held = self.still_holds(&resolved, &measured.disks);
                let code = self.report(&measured, &left_out, &mut outlet, &rows);
                let names = device_names(measured.disks.iter().map(|disk| &disk.ready));
                self.write_host(&host, &run_id, &names, &measured.run, &mut outlet, started);
                left.take(measured.disks, measured.events);
                let code = self.finish(&mut outlet, code);
                if held { code } else { 3 }
            }
        };
        let code = if self.set_back(remounts).await { code } else { code.max(1) };
        Ok((left, code))
    }

    /// One measured window on disks whose threads wait at the gate.
    pub(super) async fn measure(
        &mut self,
        request: &RunRequest,
        mut disks: Vec<LiveDisk>,
        mut events: UnboundedReceiver<Event>,
        gate: &Gate,
        outlet: &mut Outlet,
        rows: &RowMaker,
    ) -> Result<Measured, NotMeasured> {
        let mut meter = Meter::new(
            request,
            &mut disks,
            &mut events,
            self.link,
            outlet,
            &mut self.progress,
            rows,
        );
        let ready = meter.wait_for_clients().await;
        let mut hook_failure = None;
        if ready.is_ok() && meter.cut.is_none() {
            let dirs = dirs(meter.disks);
            match self.around.run(Moment::AtStart, Some(&dirs), meter.link).await {
                Ok(()) => {}
                Err(HookEnd::Failed(why)) => hook_failure = Some(why),
                Err(HookEnd::Cut(cut)) => meter.cut = Some(cut),
            }
        }
        meter.open(gate);
        if hook_failure.is_some() {
            meter.disks.iter().for_each(|disk| disk.state.control.stop());
        }
        if let Err(error) = ready {
            meter.stop_and_wait().await;
            return Err((error, disks, events));
        }
        meter.watch().await;
        let (window, mut cut) = (meter.window, meter.cut.take());
        let ticker = meter.ticker.take();
        let changes = meter.after.as_ref().zip(meter.before.as_ref()).map(|(a, b)| a.minus(b));
        let (dirty_bytes, start_up, steady) = (meter.dirty_bytes, meter.start_up, meter.steady);
        drop(meter);
        match self.around.run(Moment::AtStop, Some(&dirs(&disks)), self.link).await {
            Ok(()) => {}
            Err(HookEnd::Cut(end)) => drop(cut.get_or_insert(end)),
            Err(HookEnd::Failed(why)) => drop(hook_failure.get_or_insert(why)),
        }
        let drained = match cut {
            // dbench leaves what it has written to the kernel.
            None if request.dbench.is_none() => drain(&disks, request.grace, self.link).await,
            _ => Drained { each: disks.iter().map(|_| None).collect(), cut: None },
        };
        let run = RunFacts { window, changes, dirty_bytes, start_up, steady };
        Ok(Measured { disks, events, cut, run, drained, hook_failure, ticker })
    }

    /// Removes what the run made. A disk that does not answer holds up neither the others nor the
    /// front: it is cleaned when it does, by this process alone.
    async fn clean(mut self, left: Left, code: u8) {
        let grace = self.request.grace;
        if self.request.keep {
            for root in left.roots() {
                self.progress.note(&format!("kept: {}", root.display()));
            }
            self.done(code, !left.stuck.is_empty() || !self.stragglers.is_empty()).await;
            return;
        }
        let Left { free, stuck, unfinished } = left;
        let begun = free.into_iter().map(|disk| clean::start(disk, grace));
        let removals = unfinished.into_iter().chain(begun).collect();
        let Removed { complaints, unfinished, .. } = clean::wait(removals, self.link).await;
        for line in &complaints {
            self.progress.note(line);
        }
        let code = if complaints.is_empty() { code } else { code.max(1) };
        let stays = !(stuck.is_empty() && unfinished.is_empty() && self.stragglers.is_empty());
        self.done(code, stays).await;
        if !stays {
            return;
        }
        stay(async {
            clean::wait_for_ever(unfinished).await;
            clean::when_free(stuck, grace).await;
            wait_for_stragglers(self.stragglers).await;
        })
        .await;
    }

    pub(super) fn say_dry_run(&mut self, prepared: &Prepared) {
        for line in dry_run::lines(self.request, prepared) {
            self.progress.note(&line);
        }
    }

    pub(super) fn tell(&mut self, error: &RunError) {
        self.progress.note(&format!("jbodbench: {error}"));
    }

    async fn done(&mut self, code: u8, stays: bool) {
        self.progress.finish();
        self.link.send(&FromWorker::Done { code, stays }).await;
    }
}

/// The run directories of disks.
fn dirs(disks: &[LiveDisk]) -> Vec<(PathBuf, PathBuf)> {
    let dirs = |disk: &LiveDisk| (disk.tree.disk_path().into(), disk.tree.root_path().into());
    disks.iter().map(dirs).collect()
}

async fn wait_for_stragglers(stragglers: Vec<Straggler>) {
    let (sender, done) = oneshot::channel();
    let wait = move || {
        stragglers.into_iter().for_each(|Straggler(wait)| wait());
        let _ = sender.send(());
    };
    if std::thread::Builder::new().spawn(wait).is_ok() {
        let _ = done.await;
    }
}

/// Stays behind, unseen, for disks that do not answer; the front has left.
async fn stay(rest: impl Future<Output = ()>) {
    detach();
    // Nobody forwards signals any more: one that comes now is meant for this process.
    tokio::select! {
        () = rest => {}
        () = any_signal() => {}
    }
}

/// Waits for a signal that comes from now on.
async fn any_signal() {
    // The Ctrl-C that made the front leave may reach this process only now.
    tokio::time::sleep(SETTLE).await;
    let mut signals = ignore_signals().unwrap_or_default();
    std::future::poll_fn(|context| {
        let mut ready = signals.iter_mut().map(|signal| signal.poll_recv(context).is_ready());
        if ready.any(|ready| ready) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Unique on this host and legal in a file name.
pub(super) fn run_id() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", now.as_millis(), std::process::id())
}

pub(super) fn boot_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

/// Lets go of stdout and stderr, so that who reads them sees the end although this process stays.
fn detach() {
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}
