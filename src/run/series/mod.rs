//! Runs one after the other, each with fresh trees, into one result: what a matrix is made of.
//!
//! A run of a series is like any other run, but for what stands around it: commands of the user's,
//! the wait for idle devices, and steps that are the same in all runs, so that no step becomes an
//! effect. Trees are gone when a run is over.

mod hooks;
mod idle;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::clean::{self, Left, Removed};
use super::conditions::{Remounts, Resolved};
use super::live::Held;
use super::loads::Programs;
use super::notes;
use super::outlet::Outlet;
use super::pools::Pools;
use super::prepare::{LeftOut, Prepared, prepare};
use super::report::{color_wanted, device_names};
use super::rows::{RowMaker, RunFacts};
use super::setup::{event_channel, make_trees, start_pools};
use super::window::Cut;
use super::worker::{Measured, Worker, boot_time, run_id};
use super::{RunError, RunRequest};
use crate::host::facts::HostFacts;
use crate::host::sample::HostSample;
use crate::output::{Column, Row};
use crate::pool::Gate;
pub use hooks::Hooks;
pub(super) use hooks::{Around, HookEnd, Moment};
pub use idle::Idle;
use idle::{Place, Waited};

/// A cell whose disks, loads and limits were looked at.
pub(crate) struct Ready<'a> {
    request: &'a RunRequest,
    programs: Programs,
    places: Vec<Place>,
    /// The engine that it gets, which may be a fallback, with routes where these are pinned.
    pub(crate) engine: String,
    /// The disks' labels.
    pub(crate) disks: Vec<String>,
    /// Size, threads and conditions in a line.
    pub(crate) text: String,
}

/// What all runs of a series have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Common {
    pub(crate) hooks: Hooks,
    pub(crate) idle: Idle,
    /// Remount in every run, whatever its ACL state, since some of them have to.
    pub(crate) remounts: bool,
    /// Verify conditions in every run, since some of them have some.
    pub(crate) conditions: bool,
}

/// One run of a series.
pub(crate) struct OneRun<'a, 'c> {
    pub(crate) cell: &'c Ready<'a>,
    /// The cell's name.
    pub(crate) name: &'c str,
    pub(crate) block: u64,
    /// Its place in the block, from 0.
    pub(crate) index: u64,
    /// Further variables for commands, as `JB_NAME`.
    pub(crate) env: Vec<(OsString, OsString)>,
}

/// What came of a run.
pub(crate) struct Ran {
    /// Its summary rows, as they were written.
    pub(crate) rows: Vec<Row>,
    /// What is wrong with it, in sentences.
    pub(crate) notes: Vec<String>,
    /// Whether the series cannot go on: conditions no longer hold, or a disk hangs.
    pub(crate) fatal: bool,
}

/// A series under way.
pub(crate) struct Series {
    common: Common,
    outlet: Outlet,
    host: HostFacts,
    experiment_id: String,
    /// Cells that all rows have.
    stamp: Vec<(Column, crate::output::Cell)>,
    /// Names of what this process makes, unlike those of a process that was killed.
    own_id: String,
    runs: u64,
    started: Duration,
    before: HostSample,
    devices: BTreeSet<String>,
    left: Left,
    cut: Option<Cut>,
    code: u8,
}

impl Series {
    /// Whether a signal, or a result that cannot be written, has ended it.
    pub(crate) const fn is_cut(&self) -> bool {
        self.cut.is_some()
    }

    /// Notes an exit code; the gravest counts.
    pub(crate) fn note_code(&mut self, code: u8) {
        self.code = self.code.max(code);
    }

    /// A row of the series: experiment, host, and what all rows have.
    pub(crate) fn row(&self, kind: &str) -> Row {
        let mut row = Row::new();
        let now = humantime::format_rfc3339_millis(std::time::SystemTime::now());
        row.set(Column::Row, kind)
            .set(Column::TsUtc, now.to_string())
            .set(Column::ExperimentId, self.experiment_id.as_str())
            .set(Column::BootId, self.host.boot_id.clone())
            .set(Column::Host, self.host.hostname.clone())
            .set(Column::Kernel, self.host.kernel.release.clone());
        for (column, cell) in &self.stamp {
            row.set(*column, cell.clone());
        }
        row
    }

    /// Writes rows.
    pub(crate) fn write(&mut self, rows: &[Row]) {
        if let Err(error) = self.outlet.write_now(rows)
            && self.cut.is_none()
        {
            self.cut = Some(error.into());
        }
    }
}

impl<'a> Worker<'a, '_> {
    /// Whether messages for people are wanted on a terminal's standard output; says a text there,
    /// or with the messages.
    pub(crate) fn say_result(&mut self, series: &Series, text: impl Fn(bool) -> String) {
        use std::io::Write as _;
        self.progress.finish();
        if series.outlet.table_on_stdout {
            // A reader that went away has seen what it wanted.
            let _ = std::io::stdout().write_all(text(color_wanted()).as_bytes());
        } else {
            self.progress.note(text(false).trim_end());
        }
    }

    /// A message.
    pub(crate) fn note(&mut self, text: &str) {
        self.progress.note(text);
    }

    /// What is shown of the series beside the run at hand.
    pub(crate) fn show_series(&mut self, text: String, share: f64) {
        self.progress.series(text, share);
    }

    /// Looks at everything that a cell names, and makes nothing. A warning that `told` holds is
    /// not said again.
    pub(crate) fn look_at_cell(
        &mut self,
        request: &'a RunRequest,
        told: &mut BTreeSet<String>,
    ) -> Result<Ready<'a>, RunError> {
        let mut warnings = Vec::new();
        let programs = Programs::load(request, &mut warnings)?;
        let prepared = prepare(request, &programs, &mut self.stragglers)?;
        warnings.extend(prepared.warnings.iter().cloned());
        for warning in warnings {
            if told.insert(warning.clone()) {
                self.progress.note(&format!("warning: {warning}"));
            }
        }
        if let Some(out) = prepared.left_out.first() {
            // A run without it would be another experiment.
            return Err(RunError::cannot(notes::left_out(out)));
        }
        let routes = prepared.pools.routes(request).map(|routes| format!(" {routes}"));
        let text = notes::before(request, &prepared);
        let place = |disk: &super::prepare::ReadyDisk| Place {
            path: disk.check.label.clone(),
            device: disk.device.clone(),
        };
        Ok(Ready {
            request,
            places: prepared.disks.iter().map(place).collect(),
            disks: prepared.disks.iter().map(super::prepare::ReadyDisk::label).collect(),
            engine: format!("{}{}", prepared.pools.engine.word(), routes.unwrap_or_default()),
            programs,
            text,
        })
    }

    /// Opens the result. `stamp` are cells that all rows have.
    pub(crate) fn begin_series(
        &mut self,
        common: Common,
        experiment_id: Option<String>,
        stamp: Vec<(Column, crate::output::Cell)>,
    ) -> Result<Series, RunError> {
        let own_id = run_id();
        Ok(Series {
            common,
            outlet: Outlet::open(self.request)?,
            host: HostFacts::read(),
            experiment_id: experiment_id.unwrap_or_else(|| own_id.clone()),
            stamp,
            own_id,
            runs: 0,
            started: boot_time(),
            before: HostSample::now(),
            devices: BTreeSet::new(),
            left: Left::default(),
            cut: None,
            code: 0,
        })
    }

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
        self.around = Around { hooks: series.common.hooks.clone(), env, disks };
        let begun = self.around.run(Moment::Prepare, None, self.link).await;
        let mut ran = match begun {
            Ok(()) => match idle::wait(&run.cell.places, series.common.idle, self.link).await {
                Ok(waited) => self.fresh_run(series, run, waited).await?,
                Err(cut) => Ran::cut(series, cut),
            },
            Err(HookEnd::Cut(cut)) => Ran::cut(series, cut),
            Err(HookEnd::Failed(why)) => Ran { rows: vec![], notes: vec![why], fatal: false },
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
        let flags = if ran.notes.is_empty() { None } else { Some("failed") };
        for row in &mut ran.rows {
            if let (Some(word), crate::output::Cell::Empty) = (flags, row.get(Column::Flags)) {
                row.set(Column::Flags, word);
            }
        }
        let rows = std::mem::take(&mut ran.rows);
        series.write(&rows);
        ran.rows = rows;
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
        let Prepared { disks, mut left_out, mut pools, resolved, .. } =
            prepare(request, &run.cell.programs, &mut self.stragglers)?;
        pools.asks_walk |= series.common.conditions;
        let rows = row_maker(series, run, &pools, waited);
        let tree_id = format!("{}-{}", series.own_id, series.runs);
        let spec = &resolved.tree;
        let made =
            make_trees(request, spec, &tree_id, disks, self.link, &mut self.stragglers).await?;
        left_out.extend(made.left_out);
        let mut trees = made.trees;
        series.devices.extend(device_names(trees.iter().map(|held| &held.ready)));
        pools.caller.clone_from(&resolved.caller);
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
        let Measured { disks, events, cut, drained, .. } = measured;
        series.cut = series.cut.take().or(cut).or(drained.cut);
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
        Ran { rows: all, notes, fatal: !held || hangs }
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

    /// Ends the result; what is left to be removed, and the exit code.
    pub(crate) fn end_series(&mut self, mut series: Series) -> (Left, u8) {
        self.progress.finish();
        let code = match &series.cut {
            Some(Cut::ReaderGone) => 141,
            Some(Cut::Unwritable(error)) => {
                self.progress.note(&error.to_string());
                1
            }
            _ => series.code,
        };
        if !matches!(series.cut, Some(Cut::FrontGone)) {
            let changes = Some(HostSample::now().minus(&series.before));
            let run = RunFacts { changes, ..RunFacts::default() };
            let names: Vec<String> = series.devices.into_iter().collect();
            let id = &series.experiment_id;
            self.write_host(&series.host, id, &names, &run, &mut series.outlet, series.started);
        }
        (series.left, self.finish(&mut series.outlet, code))
    }
}

impl Ran {
    fn cut(series: &mut Series, cut: Cut) -> Self {
        series.cut.get_or_insert(cut);
        Self { rows: Vec::new(), notes: Vec::new(), fatal: false }
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
    RowMaker::new(run.cell.request, &series.host, &id, pools)
        .in_experiment(experiment, run.name, index)
        .stamped(stamp)
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
        .set(Column::Status, crate::output::Status::Skipped.word());
    row
}
