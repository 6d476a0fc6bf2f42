//! Once a second: what all clients did, in a line.

use super::Dbench;
use crate::metrics::{Counts, Shard};
use crate::op::OpKind;
use crate::output::dbench::{DbenchOp, Tick, TickPhase, completed, prepared};
use crate::plan::Timing;
use crate::run::RunRequest;
use crate::run::live::LiveDisk;
use crate::run::window::Window;

const SECOND_NS: u64 = 1_000_000_000;

/// The lines of a run, and what the last ones are made of.
#[derive(Debug)]
pub(in crate::run) struct Ticker {
    pub(super) dbench: Dbench,
    clients: u32,
    /// Clients wait for times of their own: that nothing ends is no latency.
    paced: bool,
    made_ns: u64,
    /// When the clients were released.
    started_ns: u64,
    phase: TickPhase,
    /// Since when it is in that phase; in the cleanup, since when it had been measured.
    since_ns: u64,
    next_ns: u64,
    pub(super) shards: Vec<Seen>,
    /// Slowest of what was measured, in nanoseconds.
    pub(super) worst_ns: u64,
    /// Bytes that were moved in the measured part.
    pub(super) bytes: u64,
}

/// What is known of a shard.
#[derive(Debug)]
pub(super) struct Seen {
    /// When the measured part began.
    base: Vec<Counts>,
    /// At the last look.
    last: Vec<Counts>,
    /// Longest latencies since then, in nanoseconds.
    max_ns: Vec<u64>,
    /// When its counters were last seen to change.
    changed_ns: u64,
}

impl Seen {
    fn new() -> Self {
        let none = vec![Counts::default(); OpKind::COUNT];
        Self { base: none.clone(), last: none, max_ns: vec![0; OpKind::COUNT], changed_ns: 0 }
    }

    /// What was measured, by operation.
    pub(super) fn ops(&self) -> Vec<DbenchOp> {
        let measured = self.last.iter().zip(&self.base).map(|(last, base)| last.since(*base));
        let of = |(counts, max_ns): (Counts, &u64)| DbenchOp {
            count: counts.ops,
            sum_ns: counts.sum_ns,
            max_ns: *max_ns,
        };
        measured.zip(&self.max_ns).map(of).collect()
    }

    /// Operations from the start on.
    pub(super) fn lines(&self) -> u64 {
        self.last.iter().map(|counts| counts.ops + counts.skipped).sum()
    }

    /// Bytes that were measured.
    pub(super) fn bytes(&self) -> u64 {
        self.last.iter().zip(&self.base).map(|(last, base)| last.since(*base).bytes).sum()
    }

    /// Reads the shard's counters; the slowest operation since the last look, in nanoseconds.
    fn look(&mut self, shard: &Shard, now: u64) -> u64 {
        let (before, mut slowest) = (self.lines(), 0);
        for kind in OpKind::ALL {
            self.last[kind.index()] = shard.counts(*kind);
            let max_ns = shard.take_max_ns(*kind);
            let known = &mut self.max_ns[kind.index()];
            *known = max_ns.max(*known);
            slowest = slowest.max(max_ns);
        }
        if self.lines() != before {
            self.changed_ns = now;
        }
        slowest
    }
}

impl Ticker {
    pub(in crate::run) fn new(request: &RunRequest, disks: &[LiveDisk], now: u64) -> Option<Self> {
        let dbench = request.dbench.clone()?;
        let timed = disks.iter().flat_map(|d| &d.ready.programs).any(|p| p.times.is_some());
        let shards = disks.iter().flat_map(|disk| disk.state.shards.iter());
        Some(Self {
            clients: request.clients,
            paced: request.load.rate.is_some() || (timed && request.load.timing != Timing::Ignore),
            made_ns: now,
            started_ns: now,
            phase: if dbench.warmup.is_zero() { TickPhase::Execute } else { TickPhase::WarmUp },
            since_ns: now,
            next_ns: u64::MAX,
            shards: shards.map(|_| Seen::new()).collect(),
            worst_ns: 0,
            bytes: 0,
            dbench,
        })
    }

    /// When the next line is due, in nanoseconds of the run's clock.
    pub(in crate::run) const fn next_ns(&self) -> u64 {
        self.next_ns
    }

    /// The clients are about to be released.
    pub(in crate::run) fn release(&mut self, disks: &[LiveDisk], now: u64) -> String {
        let at_gate: u32 = disks.iter().map(|disk| disk.at_gate).sum();
        let ready = at_gate / self.dbench.clients_per_process.max(1);
        let waited = now.saturating_sub(self.made_ns) as f64 / 1e9;
        (self.started_ns, self.since_ns, self.next_ns) = (now, now, now + SECOND_NS);
        self.shards.iter_mut().for_each(|seen| seen.changed_ns = now);
        prepared(ready, self.dbench.processes, waited) + "releasing clients\n"
    }

    /// The line that is due, if one is.
    pub(in crate::run) fn on_time(
        &mut self,
        disks: &[LiveDisk],
        window: Window,
        now: u64,
    ) -> Option<String> {
        if now < self.next_ns {
            return None;
        }
        let latency_ns = self.look(disks, now);
        let warmup_ns = self.dbench.warmup.as_nanos() as u64;
        if self.phase != TickPhase::Cleanup && now >= window.end_ns {
            return Some(self.time_is_up(now, latency_ns));
        }
        if self.phase == TickPhase::WarmUp && now >= self.started_ns + warmup_ns {
            self.begin(now);
            return None;
        }
        self.next_ns = self.since_ns + ((now - self.since_ns) / SECOND_NS + 1) * SECOND_NS;
        Some(self.line(disks, now, latency_ns))
    }

    /// The last lines of a second, and those of passes.
    pub(in crate::run) fn finish(
        &mut self,
        disks: &[LiveDisk],
        window: Window,
        timed_out: bool,
        now: u64,
    ) -> String {
        let latency_ns = self.look(disks, now);
        let mut text = String::new();
        if self.phase != TickPhase::Cleanup && timed_out {
            text.push_str(&self.time_is_up(now, latency_ns));
        }
        if self.dbench.show_passes {
            text.push_str(&self.passes(disks));
        }
        if self.phase == TickPhase::Cleanup || window.end_ns >= self.since_ns + SECOND_NS {
            text.push_str(&self.line(disks, now, latency_ns));
        }
        self.next_ns = u64::MAX;
        text
    }

    /// Seconds that were measured, up to the end of the window.
    pub(super) fn measured_s(&self, window: Window) -> f64 {
        window.end_ns.saturating_sub(self.since_ns) as f64 / 1e9
    }

    /// The measured part begins.
    fn begin(&mut self, now: u64) {
        (self.phase, self.since_ns, self.next_ns) = (TickPhase::Execute, now, now + SECOND_NS);
        (self.worst_ns, self.bytes) = (0, 0);
        for seen in &mut self.shards {
            seen.base.clone_from(&seen.last);
            seen.max_ns.fill(0);
        }
    }

    /// All clients are to stop.
    fn time_is_up(&mut self, now: u64, latency_ns: u64) -> String {
        self.phase = TickPhase::Cleanup;
        self.next_ns = now + SECOND_NS;
        self.line_of(self.clients, now, latency_ns)
    }

    /// Who has ended is told only when time is up, as by dbench.
    fn line(&self, disks: &[LiveDisk], now: u64, latency_ns: u64) -> String {
        let clients = match self.phase {
            TickPhase::Cleanup => disks.iter().map(LiveDisk::running).sum(),
            TickPhase::WarmUp | TickPhase::Execute => self.clients,
        };
        self.line_of(clients, now, latency_ns)
    }

    fn line_of(&self, clients: u32, now: u64, latency_ns: u64) -> String {
        let seconds = (now.saturating_sub(self.since_ns) as f64 / 1e9).max(1e-9);
        let lines: u64 = self.shards.iter().map(Seen::lines).sum();
        self.dbench.format.tick(&Tick {
            phase: self.phase,
            clients,
            lines: lines / u64::from(self.clients.max(1)),
            mb_per_s: self.bytes as f64 / 1e6 / seconds,
            seconds,
            latency_ms: latency_ns as f64 / 1e6,
        })
    }

    /// Reads all counters; the slowest operation since the last time, in nanoseconds. One that does not
    /// end is as slow as nothing has ended: a disk that hangs shows.
    fn look(&mut self, disks: &[LiveDisk], now: u64) -> u64 {
        let nobody_left = disks.iter().all(|disk| disk.reports.is_empty() && disk.lost == 0);
        let shards = disks.iter().flat_map(|disk| disk.state.shards.iter());
        let mut slowest = 0;
        for (shard, seen) in shards.zip(&mut self.shards) {
            slowest = slowest.max(seen.look(shard, now));
            if nobody_left && !self.paced {
                slowest = slowest.max(now.saturating_sub(seen.changed_ns));
            }
        }
        self.worst_ns = self.worst_ns.max(slowest);
        self.bytes = self.shards.iter().map(Seen::bytes).sum();
        slowest
    }

    /// The passes of each client.
    fn passes(&self, disks: &[LiveDisk]) -> String {
        let mut reports: Vec<_> = disks.iter().flat_map(|disk| &disk.reports).collect();
        reports.sort_by_key(|report| report.client);
        let ms = |ns: u64| ns / 1_000_000;
        let mut text = String::new();
        for report in reports {
            for &(start_ns, took_ns) in &report.passes.each {
                let at_ns = (start_ns + took_ns).saturating_sub(self.started_ns);
                text.push_str(&completed(report.client, ms(took_ns), ms(at_ns)));
            }
        }
        text
    }
}
