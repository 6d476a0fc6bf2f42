//! One run of a series, from its first command to its last.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use super::hooks::{Around, HookEnd, Moment};
use super::idle::{self, Waited};
use super::perf::Perf;
use super::{OneRun, Ran, Series};
use crate::output::{Cell, Column, Row, Status};
use crate::pool::Gate;
use crate::run::clean::{self, Removed};
use crate::run::conditions::{Remounts, Resolved};
use crate::run::live::Held;
use crate::run::notes;
use crate::run::pools::Pools;
use crate::run::prepare::{LeftOut, Prepared, prepare};
use crate::run::report::device_names;
use crate::run::rows::{RowMaker, RunFacts};
use crate::run::setup::{event_channel, make_trees, start_pools};
use crate::run::window::Cut;
use crate::run::worker::{Measured, Worker};
use crate::run::{RunError, RunRequest};

impl<'a> Worker<'a, '_> {
    /// One run, from its first command to its last, its rows written.
    pub(crate) async fn one_run(
        &mut self,
        series: &mut Series,
        run: &OneRun<'a, '_>,
    ) -> Result<Ran, RunError> {
        self.request = run.cell.request;
        series.runs += 1;
        let mut env: Vec<(OsString, OsString)> = vec![
            ("JB_CELL".into(), run.name.into()),
            ("JB_BLOCK".into(), run.block.to_string().into()),
        ];
        env.extend(run.env.iter().cloned());
        let disks: Vec<PathBuf> = run.cell.places.iter().map(|place| place.path.clone()).collect();
        let perf = run.profiled.then(|| Perf::new(run.cell.request));
        self.around = Around { hooks: series.common.hooks.clone(), env, disks, perf };
        let begun = self.around.run(Moment::Prepare, None, self.link).await;
        let mut ran = match begun {
            Ok(()) => match idle::wait(&run.cell.places, series.common.idle, self.link).await {
                Ok(waited) => self.fresh_run(series, run, waited).await?,
                Err(cut) => Ran::cut(series, cut),
            },
            Err(HookEnd::Cut(cut)) => Ran::cut(series, cut),
            Err(HookEnd::Failed(why)) => Ran { notes: vec![why], ..Ran::default() },
        };
        match self.around.run(Moment::Conclude, None, self.link).await {
            Ok(()) => {}
            Err(HookEnd::Cut(cut)) => drop(series.cut.get_or_insert(cut)),
            Err(HookEnd::Failed(why)) => ran.notes.push(why),
        }
        self.around = Around::default();
        if !ran.notes.is_empty() {
            series.note_code(1);
        }
        if ran.rows.is_empty() && !series.is_cut() {
            ran.rows.push(not_made(series, run));
        }
        if series.is_cut() {
            flag(&mut ran.rows, "interrupted");
        } else if !ran.notes.is_empty() {
            flag(&mut ran.rows, "failed");
        }
        if !run.profiled {
            series.write(&ran.rows);
        }
        Ok(ran)
    }

    /// Trees, conditions, window, removal.
    async fn fresh_run(
        &mut self,
        series: &mut Series,
        run: &OneRun<'a, '_>,
        waited: Waited,
    ) -> Result<Ran, RunError> {
        let request = run.cell.request;
        let Prepared { disks, mut left_out, pools, resolved, .. } =
            prepare(request, &run.cell.programs, &mut self.stragglers)?;
        let rows = row_maker(series, run, &pools, waited);
        let tree_id = format!("{}-{}", series.own_id, series.runs);
        let spec = &resolved.tree;
        let made =
            make_trees(request, spec, &tree_id, disks, self.link, &mut self.stragglers).await?;
        left_out.extend(made.left_out);
        let mut trees = made.trees;
        series.devices.extend(device_names(trees.iter().map(|held| &held.ready)));
        let mut remounts = Remounts::default();
        let always = (&mut remounts, series.common.remounts);
        let set_up = self.set_up(&resolved, &pools, &mut trees, &tree_id, always).await;
        if let Err(error) = set_up {
            self.set_back(remounts).await;
            series.left.free.extend(trees);
            return Err(error);
        }
        let measured = self.replay_on(series, request, &pools, trees, &rows).await?;
        let mut ran = self.rows_of(series, &rows, &measured, &resolved, &left_out);
        let Measured { disks, events, cut, drained, run: RunFacts { window, .. }, .. } = measured;
        series.cut = series.cut.take().or(cut).or(drained.cut);
        if let Some(perf) = self.around.perf.take().filter(|_| series.cut.is_none()) {
            match perf.read(window, self.link).await {
                Ok(profile) => ran.profile = Some(profile),
                Err(cut) => series.cut = Some(cut),
            }
        }
        series.left.take(disks, events);
        if !self.set_back(remounts).await {
            series.note_code(1);
            ran.fatal = true;
        }
        if !request.keep {
            ran.fatal |= self.remove_free(series).await;
        }
        Ok(ran)
    }

    async fn replay_on(
        &mut self,
        series: &mut Series,
        request: &RunRequest,
        pools: &Pools,
        trees: Vec<Held>,
        rows: &RowMaker,
    ) -> Result<Measured, RunError> {
        let gate = Arc::new(Gate::default());
        let (sender, events) = event_channel()?;
        let disks = start_pools(request, pools, trees, &gate, &sender)?;
        drop(sender);
        match self.measure(request, disks, events, &gate, &mut series.outlet, rows).await {
            Ok(measured) => Ok(measured),
            Err((error, disks, events)) => {
                series.left.take(disks, events);
                Err(error)
            }
        }
    }

    fn rows_of(
        &mut self,
        series: &mut Series,
        rows: &RowMaker,
        measured: &Measured,
        resolved: &Resolved,
        left_out: &[LeftOut],
    ) -> Ran {
        let outcomes = measured.outcomes();
        let (code, all) = self.window_rows(measured, &outcomes, left_out, rows);
        series.note_code(code);
        let mut notes: Vec<String> = measured.hook_failure.iter().cloned().collect();
        notes.extend(left_out.iter().map(notes::left_out));
        let mut said = Vec::new();
        for (disk, outcome) in measured.disks.iter().zip(&outcomes) {
            said.extend(notes::disk_notes(disk, outcome, measured.run.window));
        }
        said.iter().take(8).for_each(|line| self.progress.note(line));
        let held = self.still_holds(resolved, &measured.disks);
        if !held {
            series.note_code(3);
            notes.push("conditions did not hold to the end".into());
        }
        let hangs = measured.disks.iter().any(|disk| disk.running() > 0) && measured.cut.is_none();
        Ran { rows: all, notes, fatal: !held || hangs, profile: None }
    }

    /// Removes the trees; whether one of them stays.
    async fn remove_free(&mut self, series: &mut Series) -> bool {
        let grace = self.request.grace;
        let free = std::mem::take(&mut series.left.free);
        let removals = free.into_iter().map(|disk| clean::start(disk, grace)).collect();
        let Removed { complaints, unfinished, cut } = clean::wait(removals, self.link).await;
        complaints.iter().for_each(|line| self.progress.note(line));
        let failed = !complaints.is_empty() && cut.is_none();
        if failed {
            series.note_code(1);
        }
        series.left.unfinished.extend(unfinished);
        if let Some(cut) = cut {
            series.cut.get_or_insert(cut);
        }
        failed
    }
}

impl Ran {
    fn cut(series: &mut Series, cut: Cut) -> Self {
        series.cut.get_or_insert(cut);
        Self::default()
    }
}

fn row_maker(series: &Series, run: &OneRun<'_, '_>, pools: &Pools, waited: Waited) -> RowMaker {
    let (experiment, index) = (series.experiment_id.as_str(), run.index);
    let id = format!("{experiment}.{}.{index}", run.block);
    let mut stamp = series.stamp.clone();
    stamp.push((Column::Block, run.block.into()));
    stamp.push((Column::IdleWaitS, waited.seconds.into()));
    if waited.busy {
        stamp.push((Column::Flags, "busy_device".into()));
    }
    let rows = RowMaker::new(run.cell.request, &series.host, &id, pools)
        .in_experiment(experiment, run.name, index)
        .stamped(stamp);
    if run.profiled { rows.without_intervals() } else { rows }
}

/// Adds a word to the flags of all rows.
fn flag(rows: &mut [Row], word: &str) {
    for row in rows {
        let flags = match row.get(Column::Flags) {
            Cell::Empty => word.to_owned(),
            others => format!("{} {word}", others.csv()),
        };
        row.set(Column::Flags, flags);
    }
}

/// The row of a run that was not made, so that its block counts as done.
fn not_made(series: &Series, run: &OneRun<'_, '_>) -> Row {
    let mut row = series.row("summary");
    row.set(Column::RunId, format!("{}.{}.{}", series.experiment_id, run.block, run.index))
        .set(Column::Cell, run.name)
        .set(Column::Block, run.block)
        .set(Column::OrderIndex, run.index)
        .set(Column::Disk, "all")
        .set(Column::Op, "all")
        .set(Column::Status, Status::Skipped.word());
    row
}
