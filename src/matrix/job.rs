//! The order of a matrix, in the worker.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::time::{Duration, Instant};

use super::boots::Boot;
use super::effects::{Effect, effects};
use super::figures::Figures;
use super::order::orders;
use super::plan::Matrix;
use super::resume::{self, Earlier, Expected};
use super::{rows, text};
use crate::host::facts::HostFacts;
use crate::host::kernel::sha256_hex;
use crate::output::{Cell, Column};
use crate::run::{Common, Job, OneRun, Ready, RunError, Series, Worker, in_worker};

/// Runs in the worker process: every block, then the effects.
///
/// # Errors
///
/// What ended it before it had results.
pub fn run_worker(matrix: &Matrix) -> Result<(), RunError> {
    let Some(first) = matrix.cells.first() else { return Ok(()) };
    in_worker(&first.request, async |worker| run(worker, matrix).await)
}

async fn run<'a>(worker: &mut Worker<'a, '_>, matrix: &'a Matrix) -> Job {
    let mut told = BTreeSet::new();
    let mut ready = Vec::new();
    for cell in &matrix.cells {
        ready.push(worker.look_at_cell(&cell.request, &mut told).map_err(|error| {
            let message = format!("cell {}: {}", cell.name, error.message);
            RunError { message, ..error }
        })?);
    }
    refuse_other_engines(matrix, &ready)?;
    let disks = ready[0].disks.clone();
    let found: Vec<String> = ready.iter().map(|cell| cell.identity.clone()).collect();
    let plan_sha256 = sha256_hex(matrix.canonical_text(&disks, &found).as_bytes());
    let host = HostFacts::read();
    let expected = Expected { matrix, plan_sha256: &plan_sha256, disks: &disks, host: &host };
    let earlier = matrix.resume.as_ref().map(|path| resume::read(path, &expected)).transpose()?;
    let done = earlier.as_ref().map_or(0, |earlier| earlier.blocks - earlier.before);
    refuse_boot(matrix, earlier.as_ref(), &host)?;
    worker.note(&ready[0].text);
    for line in text::plan_lines(matrix, done) {
        worker.note(&line);
    }
    if matrix.cells[0].request.dry_run {
        for cell in &matrix.cells {
            worker.note(&format!("would run the cell {}", cell.name));
        }
        return Ok(None);
    }
    if let (Some(path), Some(earlier)) = (&matrix.resume, &earlier) {
        worker.note(&resumed_text(earlier, matrix));
        resume::cut(path, earlier.keep)?;
    }
    let common =
        Common { hooks: matrix.hooks.clone(), idle: matrix.idle, remounts: matrix.remounts() };
    let stamp = stamp(matrix, &plan_sha256);
    let id = earlier.as_ref().map(|earlier| earlier.experiment_id.clone());
    let here = Boot {
        id: host.boot_id.clone().unwrap_or_default(),
        kernel: host.kernel.release.clone().unwrap_or_default(),
        blocks: matrix.blocks,
    };
    let mut series = worker.begin_series(common, host, id, stamp)?;
    let mut boots = earlier.as_ref().map(|earlier| earlier.boots.clone()).unwrap_or_default();
    let mut experiment = Experiment::new(matrix, ready, earlier);
    let whole = experiment.blocks(worker, &mut series).await;
    experiment.report(worker, &mut series);
    if whole && matrix.profile {
        experiment.profile(worker, &mut series).await;
    }
    if let (Some(kernels), true) = (&matrix.kernels, whole) {
        boots.retain(|boot| boot.id != here.id);
        boots.push(here);
        worker.note(&kernels.missing(&boots));
    }
    Ok(Some(worker.end_series(series)))
}

/// What all rows have.
fn stamp(matrix: &Matrix, plan_sha256: &str) -> Vec<(Column, Cell)> {
    vec![
        (Column::PlanSha256, plan_sha256.into()),
        (Column::BlocksPlanned, matrix.blocks.into()),
        (Column::Hooks, matrix.hooks.text().into()),
        (Column::Seed, matrix.seed.into()),
    ]
}

/// Refuses a kernel that is none of those that vary, or has been booted often enough.
fn refuse_boot(
    matrix: &Matrix,
    earlier: Option<&Earlier>,
    host: &HostFacts,
) -> Result<(), RunError> {
    let Some(kernels) = &matrix.kernels else { return Ok(()) };
    let level = kernels.here(host.kernel.release.as_deref().unwrap_or_default())?;
    let others = |boot: &&Boot| Some(boot.id.as_str()) != host.boot_id.as_deref();
    let boots = earlier.map(|earlier| earlier.boots.as_slice()).unwrap_or_default();
    let before: Vec<Boot> = boots.iter().filter(others).cloned().collect();
    kernels.refuse_more(level, &before)
}

/// Cells that reach the kernel in different ways compare the ways.
fn refuse_other_engines(matrix: &Matrix, ready: &[Ready<'_>]) -> Result<(), RunError> {
    let varied = |name: &str| matrix.factors.iter().any(|factor| factor.name == name);
    if varied("engine") || varied("route") {
        return Ok(());
    }
    match ready.iter().find(|cell| cell.engine != ready[0].engine) {
        None => Ok(()),
        Some(other) => Err(RunError::cannot(format!(
            "cells would run on different engines ({} and {}), whose difference would pass for \
             theirs: choose one with --engine",
            ready[0].engine, other.engine
        ))),
    }
}

fn resumed_text(earlier: &Earlier, matrix: &Matrix) -> String {
    let Earlier { blocks, cut_rows, .. } = earlier;
    let more = match earlier.planned.iter().any(|planned| *planned != matrix.blocks) {
        true => "; other blocks were planned before: intervals are made wider for the second look",
        false => "",
    };
    let end = match cut_rows {
        0 => String::new(),
        rows => format!("; {rows} rows of an unfinished one, or of the end, are cut"),
    };
    format!("goes on after {blocks} whole blocks{end}{more}")
}

/// A matrix under way.
pub(super) struct Experiment<'a> {
    pub(super) matrix: &'a Matrix,
    pub(super) ready: Vec<Ready<'a>>,
    figures: Figures,
    /// Blocks that are behind us.
    done: u64,
    /// Those of them that other boots had.
    before: u64,
    /// How often a number of blocks was decided on: each decision after the first may have been
    /// made after a look at the result.
    looks: usize,
    /// Runs of this try and the time they took, for the time that is left.
    spent: (u32, Duration),
}

impl<'a> Experiment<'a> {
    fn new(matrix: &'a Matrix, ready: Vec<Ready<'a>>, earlier: Option<Earlier>) -> Self {
        let mut planned = BTreeSet::from([matrix.blocks]);
        planned.extend(earlier.iter().flat_map(|earlier| earlier.planned.iter().copied()));
        let done = earlier.as_ref().map_or(0, |earlier| earlier.blocks);
        let before = earlier.as_ref().map_or(0, |earlier| earlier.before);
        let looks = planned.len();
        let figures = earlier.map_or_else(|| Figures::new(ready.len()), |earlier| earlier.figures);
        Self { matrix, ready, figures, done, before, looks, spent: (0, Duration::ZERO) }
    }

    /// All blocks that are not done, until something ends them; whether all are done.
    async fn blocks(&mut self, worker: &mut Worker<'a, '_>, series: &mut Series) -> bool {
        let last = self.before + self.matrix.blocks;
        let orders = orders(self.matrix.seed, self.ready.len(), last);
        for (block, order) in (1..).zip(orders).skip(self.done as usize) {
            for (index, cell) in (0..).zip(order) {
                let go_on = self.one(worker, series, (block, index), cell).await;
                if !go_on {
                    return false;
                }
            }
        }
        true
    }

    /// A run of a cell, as it stands in its block.
    pub(super) fn run_of(&self, cell: usize, block: u64, index: u64) -> OneRun<'a, '_> {
        let name = &self.matrix.cells[cell].name;
        let env = self.env(cell);
        OneRun { cell: &self.ready[cell], name, block, index, env, profiled: false }
    }

    /// One run; whether there may be another one.
    async fn one(
        &mut self,
        worker: &mut Worker<'a, '_>,
        series: &mut Series,
        (block, index): (u64, u64),
        cell: usize,
    ) -> bool {
        let name = &self.matrix.cells[cell].name;
        let number = block - self.before;
        let behind = (number - 1) * self.ready.len() as u64 + index;
        let share = behind as f64 / self.matrix.runs() as f64;
        let place = text::place(self.matrix, (number, index), name, self.left(behind));
        worker.show_series(place, share);
        let start = Instant::now();
        let run = self.run_of(cell, block, index);
        let ran = match worker.one_run(series, &run).await {
            Ok(ran) => ran,
            Err(error) => {
                worker.note(&format!("jbodbench: cell {name}, block {block}: {error}"));
                series.note_code(error.code);
                return false;
            }
        };
        for note in &ran.notes {
            worker.note(&format!("cell {name}, block {block}: {note}"));
        }
        if series.is_cut() {
            return false;
        }
        self.spent = (self.spent.0 + 1, self.spent.1 + start.elapsed());
        self.figures.take_rows(block, cell, &ran.rows);
        !ran.fatal
    }

    /// Time that is left, by what runs took so far.
    fn left(&self, behind: u64) -> Option<Duration> {
        let (runs, time) = self.spent;
        let ahead = u32::try_from(self.matrix.runs() - behind).ok()?;
        match runs {
            0 => Some(self.matrix.run_time()? * ahead),
            runs => Some(time / runs * ahead),
        }
    }

    /// Free factors as commands see them: `JB_NAME`.
    fn env(&self, cell: usize) -> Vec<(OsString, OsString)> {
        let levels = self.matrix.levels_of(cell);
        let free = self.matrix.factors.iter().zip(levels).filter(|(factor, _)| factor.free);
        let name = |name: &str| format!("JB_{}", name.to_uppercase().replace('-', "_"));
        free.map(|(factor, level)| (name(&factor.name).into(), level.into())).collect()
    }

    /// Writes effects as rows and says them.
    fn report(&self, worker: &mut Worker<'a, '_>, series: &mut Series) {
        let effects: Vec<Effect> = effects(self.matrix, &self.figures, self.looks);
        let made: Vec<_> = effects
            .iter()
            .map(|effect| rows::fill(series.row("effect"), effect, self.matrix))
            .collect();
        series.write(&made);
        worker.say_result(series, |color| {
            text::end_text(self.matrix, &self.figures, &effects, color)
        });
    }
}
