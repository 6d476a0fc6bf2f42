//! Runs one after the other, each with fresh trees, into one result: what a matrix is made of.
//!
//! A run of a series is like any other run, but for what stands around it: commands of the user's,
//! the wait for idle devices, and steps that are the same in all runs, so that no step becomes an
//! effect. Trees are gone when a run is over.

mod hooks;
mod idle;
mod one;
mod perf;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::clean::Left;
use super::loads::Programs;
use super::notes;
use super::outlet::Outlet;
use super::prepare::{ReadyDisk, prepare};
use super::report::color_wanted;
use super::rows::RunFacts;
use super::window::Cut;
use super::worker::{Worker, boot_time, run_id};
use super::{RunError, RunRequest};
use crate::host::facts::HostFacts;
use crate::host::sample::HostSample;
use crate::output::{Cell, Column, Row};
use crate::profile::Recording;
pub use hooks::Hooks;
pub(super) use hooks::{Around, HookEnd, Moment};
pub use idle::Idle;
use idle::Place;

/// A cell whose disks, loads and limits were looked at.
pub(crate) struct Ready<'a> {
    request: &'a RunRequest,
    programs: Programs,
    places: Vec<Place>,
    /// The engine that it gets, which may be a fallback, with routes where these are pinned.
    pub(crate) engine: String,
    /// The disks' labels.
    pub(crate) disks: Vec<String>,
    /// Size, load and length in a line.
    pub(crate) text: String,
    /// What makes another run the same one: engine, threads, compiled loads.
    pub(crate) identity: String,
}

/// What all runs of a series have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Common {
    pub(crate) hooks: Hooks,
    pub(crate) idle: Idle,
    /// Remount in every run, whatever its ACL state, since some of them have to.
    pub(crate) remounts: bool,
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
    /// Whether it runs under perf, and its figures are for nobody: it writes no rows.
    pub(crate) profiled: bool,
}

/// What came of a run.
#[derive(Default)]
pub(crate) struct Ran {
    /// Its summary rows, as they were written.
    pub(crate) rows: Vec<Row>,
    /// What is wrong with it, in sentences.
    pub(crate) notes: Vec<String>,
    /// Whether the series cannot go on: conditions no longer hold, or a disk hangs.
    pub(crate) fatal: bool,
    /// What perf saw, or why it saw nothing.
    pub(crate) profile: Option<Result<Recording, String>>,
}

/// A series under way.
pub(crate) struct Series {
    common: Common,
    outlet: Outlet,
    host: HostFacts,
    experiment_id: String,
    /// Cells that all rows have.
    stamp: Vec<(Column, Cell)>,
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

    /// The result file, where the result is a file that others can lie beside.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.outlet.file.as_deref().filter(|file| file.is_file())
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
    /// Says a text on standard output where the table alone goes there, else with the messages;
    /// `text` is told whether it may have colours.
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
        let place = |disk: &ReadyDisk| Place {
            path: disk.check.label.clone(),
            device: disk.device.clone(),
        };
        let engine = format!("{}{}", prepared.pools.engine.word(), routes.unwrap_or_default());
        let sums = prepared.disks.iter().flat_map(|disk| &disk.programs);
        let sums: BTreeSet<&str> = sums.map(|program| program.sha256.as_str()).collect();
        let sums = sums.into_iter().collect::<Vec<_>>().join(",");
        Ok(Ready {
            identity: format!("{engine} threads={} loads={sums}", prepared.pools.threads),
            request,
            places: prepared.disks.iter().map(place).collect(),
            disks: prepared.disks.iter().map(ReadyDisk::label).collect(),
            engine,
            programs,
            text,
        })
    }

    /// Opens the result. `host` is the one that rows are of, `stamp` are cells that all rows have.
    pub(crate) fn begin_series(
        &mut self,
        common: Common,
        host: HostFacts,
        experiment_id: Option<String>,
        stamp: Vec<(Column, Cell)>,
    ) -> Result<Series, RunError> {
        let own_id = run_id();
        Ok(Series {
            common,
            outlet: Outlet::open(self.request)?,
            host,
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
