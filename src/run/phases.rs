//! Phases of loads: the barrier of a run, disks that keep it shut, rows and lines of the result.

use std::sync::Arc;
use std::time::Duration;

use super::RunError;
use super::live::{Held, LiveDisk};
use super::patience::Patience;
use super::prepare::ReadyDisk;
use super::rows::RowMaker;
use super::window::Window;
use crate::client::{Barrier, Out, Share};
use crate::engine::Turnstile;
use crate::loadfile::Program;
use crate::metrics::{OpSummary, PhaseTotals, Rates, ops_so_far};
use crate::output::{Column, PhaseLine, Row, fill_hist, fill_op};
use crate::pool::shard_count;

/// Clients that meet at the end of each phase must have the same phases.
pub(super) fn refuse_other_phases<'p>(
    programs: impl Iterator<Item = &'p Arc<Program>>,
) -> Result<(), RunError> {
    let names = |program: &'p Program| program.phases.iter().map(|phase| &*phase.name);
    let text = |program: &'p Program| match names(program).collect::<Vec<_>>() {
        none if none.is_empty() => "no PHASE".to_owned(),
        names => names.join(", "),
    };
    let mut first = None;
    for program in programs {
        let first: &Program = first.get_or_insert(program);
        if !names(first).eq(names(program)) {
            return Err(RunError::usage(format!(
                "the loads of a run meet at the end of each phase, and must have the same ones in the \
                 same order: {} has {}, {} has {}",
                first.name,
                text(first),
                program.name,
                text(program)
            )));
        }
    }
    Ok(())
}

/// The barrier of a run on these disks; `None` where their loads have no phases.
pub(super) fn barrier(disks: &[Held], clients: u32, threads: u32) -> Option<Barrier> {
    let shards = shard_count(threads);
    let share = |held: &'_ Held| (held.ready.programs.clone(), clients);
    let shares: Vec<_> = disks.iter().map(share).collect();
    let shares: Vec<Share<'_>> = shares
        .iter()
        .map(|(programs, clients)| Share {
            programs,
            clients: *clients,
            shards: (shards, shards < threads),
        })
        .collect();
    Barrier::new(&shares, Turnstile::default())
}

/// Disks that keep others waiting at the end of a phase: one that does nothing for the grace is
/// waited for no more.
#[derive(Debug)]
pub(super) struct Laggards {
    barrier: Arc<Barrier>,
    /// Of each disk: what it had done when it was looked at last.
    disks: Vec<(u64, Patience)>,
}

impl Laggards {
    /// Watches the disks of a run, if their loads have phases.
    pub(super) fn new(disks: &[LiveDisk], grace: Duration) -> Option<Self> {
        let barrier = barrier_of(disks)?;
        let watch = |disk: &LiveDisk| (0, Patience::new(disk.ready.device.clone(), grace));
        Some(Self { barrier: Arc::clone(barrier), disks: disks.iter().map(watch).collect() })
    }

    /// The clients begin their first pass, and the window is known; in nanoseconds of the run's clock.
    pub(super) fn begin(&mut self, now_ns: u64, window: (u64, u64), disks: &[LiveDisk]) {
        self.barrier.open(now_ns, window);
        // Whoever still prepares is not waited for here either.
        for disk in disks.iter().filter(|disk| !disk.all_at_gate() || disk.lost > 0) {
            self.barrier.dismiss(disk.number, Out::Hangs);
        }
    }

    /// The run ends now.
    pub(super) fn close(&self, now_ns: u64) {
        self.barrier.close(now_ns);
    }

    /// A line for each disk that is waited for no more from now on. To be asked now and then.
    pub(super) fn dismiss(&mut self, disks: &[LiveDisk]) -> Vec<String> {
        let waited_for = self.barrier.keeps_waiting();
        let mut lines = Vec::new();
        for ((disk, (known, patience)), waited_for) in
            disks.iter().zip(&mut self.disks).zip(waited_for)
        {
            if disk.lost > 0 {
                self.barrier.dismiss(disk.number, Out::Left); // its failure is told elsewhere
            }
            let control = &disk.state.control;
            let done = ops_so_far(&disk.state.shards) + control.preparation();
            if !waited_for || done != *known || control.rests() {
                *known = done;
                patience.go_on();
            } else if patience.is_over() && self.barrier.dismiss(disk.number, Out::Hangs) {
                lines.push(format!(
                    "{}: no client goes on with its phase: the others do not wait for it any more",
                    disk.ready.label()
                ));
            }
        }
        lines
    }
}

fn barrier_of(disks: &[LiveDisk]) -> Option<&Arc<Barrier>> {
    disks.first()?.state.barrier.as_ref()
}

/// The phases over all disks, for the table.
pub(super) fn lines(disks: &[LiveDisk]) -> Vec<PhaseLine> {
    let Some(barrier) = barrier_of(disks) else { return Vec::new() };
    let totals = barrier.totals_of_all().into_iter();
    barrier
        .names()
        .zip(totals)
        .map(|(name, totals)| PhaseLine { name: name.into(), totals })
        .collect()
}

/// What there is to say about phases.
pub(super) fn notes(disks: &[LiveDisk]) -> Vec<String> {
    let Some(barrier) = barrier_of(disks) else { return Vec::new() };
    let all = barrier.totals_of_all();
    let never = barrier.names().zip(&all).filter(|(_, totals)| totals.rounds == 0);
    let never: Vec<&str> = never.map(|(name, _)| name).collect();
    let mut notes = Vec::new();
    if !never.is_empty() {
        notes.push(format!(
            "never run whole within the window: phase {}; use a longer --time, or --passes",
            never.join(", ")
        ));
    }
    for disk in disks.iter().filter(|disk| barrier.out(disk.number) == Some(Out::Failed)) {
        notes.push(format!(
            "{}: since it failed the other disks did not wait for it at the end of phases, and its \
             later ones do not count",
            disk.ready.label()
        ));
    }
    notes
}

impl RowMaker {
    /// Rows of the phases of a disk: one an operation, then one for all, for each phase.
    pub(super) fn phases(&self, disk: &LiveDisk, window: Window) -> Vec<Row> {
        let Some(barrier) = &disk.state.barrier else { return Vec::new() };
        self.phase_rows(Some(&disk.ready), barrier, &barrier.totals(disk.number), window)
    }

    /// The same of all disks together.
    pub(super) fn phases_of_all(&self, disks: &[LiveDisk], window: Window) -> Vec<Row> {
        let Some(barrier) = barrier_of(disks) else { return Vec::new() };
        self.phase_rows(None, barrier, &barrier.totals_of_all(), window)
    }

    fn phase_rows(
        &self,
        disk: Option<&ReadyDisk>,
        barrier: &Barrier,
        totals: &[PhaseTotals],
        window: Window,
    ) -> Vec<Row> {
        let mut rows = Vec::new();
        for (name, totals) in barrier.names().zip(totals) {
            let ops =
                totals.ops.iter().filter(|op| op.summary.tally.ops + op.summary.tally.skipped > 0);
            for op in ops {
                let word = op.kind.word();
                rows.push(self.phase_row(
                    disk,
                    name,
                    word,
                    totals,
                    (&op.summary, &op.rates),
                    window,
                ));
            }
            let mut row =
                self.phase_row(disk, name, "all", totals, (&totals.all(), &totals.rates), window);
            row.set(Column::BarrierWaitS, totals.wait_ns as f64 / 1e9);
            rows.push(row);
        }
        rows
    }

    fn phase_row(
        &self,
        disk: Option<&ReadyDisk>,
        name: &str,
        op: &str,
        totals: &PhaseTotals,
        (summary, rates): (&OpSummary, &Rates),
        window: Window,
    ) -> Row {
        let mut row = self.row("phase", disk);
        let seconds = totals.time_ns as f64 / 1e9;
        let start = |ns: u64| ns.saturating_sub(window.start_ns) as f64 / 1e9;
        row.set(Column::Phase, name)
            .set(Column::TStartS, totals.first_start_ns.map(start))
            .set(Column::DurationS, seconds);
        fill_op(&mut row, op, summary, seconds);
        row.set(Column::Repeats, totals.rounds)
            .set(Column::OpsPerSMean, rates.ops_per_s.mean())
            .set(Column::OpsPerSSd, rates.ops_per_s.deviation())
            .set(Column::BytesPerSMean, rates.bytes_per_s.mean())
            .set(Column::BytesPerSSd, rates.bytes_per_s.deviation());
        if self.hist {
            fill_hist(&mut row, summary);
        }
        row
    }
}
