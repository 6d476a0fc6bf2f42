//! The measured window: opens the gate, watches time, signals and threads, writes intervals.

use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

use super::dbench::Ticker;
use super::hangs::Hangs;
use super::level::Readings;
use super::live::LiveDisk;
use super::outlet::Outlet;
use super::phases::Laggards;
use super::preparing::Preparing;
use super::rows::RowMaker;
use super::window::{Cut, Window};
use super::{RunError, RunRequest};
use crate::engine::now_ns;
use crate::front::{Link, ToWorker};
use crate::host::process::since_start;
use crate::host::sample::{HostSample, dirty_bytes};
use crate::metrics::{DiskTotals, OpSummary};
use crate::output::{Frame, FrameDisk, FrameTotal, Goal, Phase, Progress};
use crate::pool::{Event, Gate};

/// How often the display changes.
const FRAME: Duration = Duration::from_millis(500);
/// A disk that is not ready after this long is named.
const SLOW_START: Duration = Duration::from_secs(10);

/// Everything that the window needs.
pub(super) struct Meter<'a> {
    pub(super) request: &'a RunRequest,
    pub(super) disks: &'a mut Vec<LiveDisk>,
    pub(super) events: &'a mut UnboundedReceiver<Event>,
    pub(super) link: &'a mut Link,
    pub(super) outlet: &'a mut Outlet,
    pub(super) progress: &'a mut Progress,
    pub(super) rows: &'a RowMaker,
    pub(super) window: Window,
    pub(super) cut: Option<Cut>,
    pub(super) before: Option<HostSample>,
    pub(super) after: Option<HostSample>,
    pub(super) dirty_bytes: Option<u64>,
    /// From the start of the program to the opening of the gate.
    pub(super) start_up: Option<Duration>,
    /// Whether the rate of all disks was level.
    pub(super) steady: Option<bool>,
    /// Lines as dbench's.
    pub(super) ticker: Option<Ticker>,
    readings: Readings,
    /// Where phases end, and who keeps others waiting there.
    laggards: Option<Laggards>,
    /// Whose operations do not come back.
    hangs: Hangs,
    next_interval_ns: u64,
    last_interval_ns: u64,
    next_frame_ns: u64,
    last_frame_ns: u64,
    /// A second signal: wait for nothing more.
    leave: bool,
}

impl<'a> Meter<'a> {
    pub(super) fn new(
        request: &'a RunRequest,
        disks: &'a mut Vec<LiveDisk>,
        events: &'a mut UnboundedReceiver<Event>,
        link: &'a mut Link,
        outlet: &'a mut Outlet,
        progress: &'a mut Progress,
        rows: &'a RowMaker,
    ) -> Self {
        let laggards = Laggards::new(disks, request.grace);
        let hangs = Hangs::new(request.hang_after, disks.len());
        let ticker = Ticker::new(request, disks, now_ns());
        Self {
            request,
            disks,
            events,
            link,
            outlet,
            progress,
            rows,
            window: Window::default(),
            cut: None,
            before: None,
            after: None,
            dirty_bytes: None,
            start_up: None,
            steady: None,
            ticker,
            readings: Readings::default(),
            laggards,
            hangs,
            next_interval_ns: u64::MAX,
            last_interval_ns: 0,
            next_frame_ns: 0,
            last_frame_ns: 0,
            leave: false,
        }
    }

    /// Waits until every client that can start is at the gate.
    pub(super) async fn wait_for_clients(&mut self) -> Result<(), RunError> {
        let slow = Instant::now() + SLOW_START;
        let mut told = false;
        let mut preparing = Preparing::new(self.disks, self.request.grace);
        while !self.disks.iter().all(LiveDisk::all_at_gate) && self.cut.is_none() {
            tokio::select! {
                () = tokio::time::sleep(FRAME), if preparing.is_some() => {
                    let standing = preparing.as_mut().and_then(|p| p.standing(self.disks));
                    if let Some(lines) = standing {
                        lines.iter().for_each(|line| self.progress.note(line));
                        break;
                    }
                }
                event = self.events.recv() => self.take(event),
                message = self.link.receive() => self.heed(message),
                () = tokio::time::sleep_until(slow), if !told => {
                    told = true;
                    for disk in self.disks.iter().filter(|disk| !disk.all_at_gate()) {
                        let at_gate = disk.at_gate;
                        let line = format!(
                            "{}: {at_gate} of {} clients are ready after {} s",
                            disk.ready.label(), disk.clients, SLOW_START.as_secs()
                        );
                        self.progress.note(&line);
                    }
                }
            }
        }
        if self.disks.iter().all(|disk| disk.lost == disk.clients) {
            let all: Vec<_> = self.disks.iter().flat_map(|disk| disk.failures.clone()).collect();
            return Err(RunError::cannot(all.join("\n")));
        }
        Ok(())
    }

    /// Opens the gate for all disks at once.
    pub(super) fn open(&mut self, gate: &Gate) {
        if self.request.warmup.is_zero() {
            self.begin(); // before the clients do anything
        }
        let start_ns = now_ns() + nanos(self.request.warmup);
        let end_ns = self.request.time.map_or(u64::MAX, |time| start_ns + nanos(time));
        self.window = Window { start_ns, end_ns };
        for disk in self.disks.iter() {
            disk.state.control.set_window(start_ns, end_ns);
            if self.cut.is_some() {
                disk.state.control.stop();
            }
        }
        if let Some(laggards) = &mut self.laggards {
            laggards.begin(start_ns - nanos(self.request.warmup), (start_ns, end_ns), self.disks);
        }
        self.last_interval_ns = start_ns;
        self.readings.begin(start_ns, self.request.time.map(nanos), self.disks);
        if let Some(interval) = self.request.interval {
            self.next_interval_ns = start_ns + nanos(interval);
        }
        (self.last_frame_ns, self.next_frame_ns) = (now_ns(), now_ns() + nanos(FRAME));
        self.start_up = since_start();
        let lines = self.ticker.as_mut().map(|ticker| ticker.release(self.disks, now_ns()));
        self.tell(lines);
        gate.open();
        self.disks.iter().for_each(|disk| disk.state.control.start());
    }

    /// Watches the window until all clients have ended, or time and grace are over.
    pub(super) async fn watch(&mut self) {
        loop {
            self.on_time();
            if self.disks.iter().all(|disk| disk.running() == 0) {
                break;
            }
            let give_up = self.window.end_ns.saturating_add(nanos(self.request.grace));
            if self.leave || now_ns() >= give_up {
                break;
            }
            let wake = self.next_wake(give_up);
            tokio::select! {
                event = self.events.recv() => self.take(event),
                message = self.link.receive() => self.heed(message),
                () = tokio::time::sleep_until(wake) => {}
            }
        }
        let timed_out = now_ns() >= self.window.end_ns;
        self.window.end_ns = self.window.end_ns.min(now_ns());
        self.close();
        let ticker = self.ticker.as_mut();
        let lines = ticker.map(|t| t.finish(self.disks, self.window, timed_out, now_ns()));
        self.tell(lines);
    }

    /// Ends a run that cannot go on: waits, for the grace, until all clients have left.
    pub(super) async fn stop_and_wait(&mut self) {
        self.stop(Cut::FrontGone);
        self.watch().await;
    }

    fn next_wake(&self, give_up: u64) -> Instant {
        let mut next = self.next_frame_ns.min(self.next_interval_ns).min(give_up);
        next = next.min(self.readings.next_ns());
        next = next.min(self.ticker.as_ref().map_or(u64::MAX, Ticker::next_ns));
        for edge in [self.window.start_ns, self.window.end_ns] {
            if edge > now_ns() {
                next = next.min(edge);
            }
        }
        let left = next.saturating_sub(now_ns()).min(3_600_000_000_000);
        Instant::now() + Duration::from_nanos(left)
    }

    /// Does what is due.
    fn on_time(&mut self) {
        let now = now_ns();
        if self.before.is_none() && now >= self.window.start_ns {
            self.begin();
        }
        if now < self.window.end_ns {
            self.readings.take(now, self.disks);
        }
        if now >= self.window.end_ns {
            self.close();
        } else if now >= self.next_interval_ns {
            self.interval(now);
        }
        let lines = self.ticker.as_mut().and_then(|t| t.on_time(self.disks, self.window, now));
        self.tell(lines);
        if now >= self.next_frame_ns {
            self.frame(now);
            self.next_frame_ns = now + nanos(FRAME);
            let gone = self.laggards.as_mut().map(|laggards| laggards.dismiss(self.disks));
            gone.iter().flatten().for_each(|line| self.progress.note(line));
            let hang = self.hangs.look(self.disks, now);
            hang.iter().for_each(|line| self.progress.note(line));
            if self.outlet.reader_is_gone() {
                self.stop(Cut::ReaderGone);
            }
        }
    }

    /// What is read when the window opens, once.
    fn begin(&mut self) {
        self.before = Some(HostSample::now());
        for disk in self.disks.iter_mut() {
            disk.device_before = disk.device_counters();
        }
    }

    /// What is read when the window closes, once.
    fn close(&mut self) {
        if self.before.is_none() || self.after.is_some() {
            return;
        }
        self.after = Some(HostSample::now());
        self.dirty_bytes = dirty_bytes();
        for disk in self.disks.iter_mut() {
            disk.device_after = disk.device_counters();
        }
        let now = now_ns();
        self.steady = self.readings.end(now.min(self.window.end_ns), self.disks);
        // A last piece of less than half an interval says nothing: its operations are in the
        // summary.
        let half = nanos(self.request.interval.unwrap_or_default()) / 2;
        if self.next_interval_ns != u64::MAX && now.saturating_sub(self.last_interval_ns) > half {
            self.interval(now);
        }
        self.next_interval_ns = u64::MAX;
    }

    fn interval(&mut self, now: u64) {
        let (from, to) = (self.last_interval_ns, now);
        let mut all = DiskTotals::default();
        let mut rows = Vec::new();
        for disk in self.disks.iter_mut() {
            let totals = DiskTotals::read(&disk.state.shards);
            let piece = totals.since(&disk.last_interval);
            disk.last_interval = totals;
            rows.extend(self.rows.interval(Some(&disk.ready), &piece, self.window, from, to));
            all.merge(&piece);
        }
        rows.extend(self.rows.interval(None, &all, self.window, from, to));
        self.last_interval_ns = now;
        // The next edge of the grid; those that were missed are left out.
        let step = nanos(self.request.interval.unwrap_or(FRAME)).max(1);
        let missed = now.saturating_sub(self.next_interval_ns) / step;
        self.next_interval_ns = self.next_interval_ns.saturating_add(step * (missed + 1));
        if let Err(error) = self.outlet.write_now(&rows) {
            self.stop(error.into());
        }
    }

    fn frame(&mut self, now: u64) {
        if !self.progress.is_shown() {
            return;
        }
        let span = (now - self.last_frame_ns).max(1) as f64 / 1e9;
        self.last_frame_ns = now;
        let mut all = OpSummary::default();
        let mut disks = Vec::new();
        for (place, disk) in self.disks.iter_mut().enumerate() {
            let totals = OpSummary::read(&disk.state.shards);
            let piece = totals.since(&disk.last_frame);
            let state = match self.hangs.hangs(place) {
                true => "hung",
                false => state_word(disk, &piece, now >= self.window.start_ns),
            };
            disks.push(FrameDisk {
                label: disk.ready.label(),
                ops_per_s: piece.tally.ops as f64 / span,
                bytes_per_s: piece.tally.bytes as f64 / span,
                errors: totals.tally.errors,
                state: state.into(),
            });
            disk.last_frame = totals;
            all.merge(&piece);
        }
        let frame = self.frame_of(now, span, disks, &all);
        self.progress.tick(&frame);
    }

    fn frame_of(&self, now: u64, span: f64, disks: Vec<FrameDisk>, all: &OpSummary) -> Frame {
        let Window { start_ns, end_ns } = self.window;
        let warming = now < start_ns;
        let since = if warming { start_ns - nanos(self.request.warmup) } else { start_ns };
        let goal = match (warming, end_ns) {
            (true, _) => Goal::Time(self.request.warmup),
            (false, u64::MAX) => Goal::Open,
            (false, end) => Goal::Time(Duration::from_nanos(end.saturating_sub(start_ns).max(1))),
        };
        Frame {
            elapsed: Duration::from_nanos(now.saturating_sub(since)),
            phase: if warming { Phase::WarmUp } else { Phase::Measure },
            goal,
            total: FrameTotal {
                ops_per_s: all.tally.ops as f64 / span,
                bytes_per_s: all.tally.bytes as f64 / span,
                p99_us: all.percentile_ns(0.99).map(|ns| ns / 1000.0),
                errors: disks.iter().map(|disk| disk.errors).sum(),
            },
            disks,
        }
    }

    fn take(&mut self, event: Option<Event>) {
        let Some(event) = event else { return };
        if let Some(disk) = self.disks.get_mut(event.disk() as usize) {
            disk.take(event);
        }
    }

    fn heed(&mut self, message: Option<ToWorker>) {
        match message {
            Some(ToWorker::Signal { number }) => self.stop(Cut::Signal(number)),
            Some(ToWorker::Leave) => self.leave = true,
            None => self.stop(Cut::FrontGone),
        }
    }

    /// Writes lines to stdout.
    fn tell(&mut self, lines: Option<String>) {
        let written = lines.map_or(Ok(()), |lines| self.outlet.write_text(&lines));
        if let Err(error) = written {
            self.stop(error.into());
        }
    }

    /// Ends the window now.
    fn stop(&mut self, cut: Cut) {
        self.laggards.iter().for_each(|laggards| laggards.close(now_ns()));
        for disk in self.disks.iter() {
            disk.state.control.stop();
        }
        self.window.end_ns = self.window.end_ns.min(now_ns());
        if self.cut.is_none() {
            self.cut = Some(cut);
        }
    }
}

fn state_word(disk: &LiveDisk, piece: &OpSummary, measuring: bool) -> &'static str {
    if disk.running() == 0 {
        "done"
    } else if measuring && piece.tally.ops == 0 {
        "stalled"
    } else {
        ""
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 4).min(u64::MAX / 4)
}
