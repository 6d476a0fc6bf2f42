//! `run --preset disks`: which disk of a shelf is slow, and whether it is the disk or its path.
//!
//! Four tests ([`load`]) run on all disks together, then on one after the other ([`search`]). A disk
//! that stands out among its peers is measured again before it is named ([`judge`]).

mod facts;
mod figures;
mod fill;
mod judge;
mod load;
mod plan;
mod search;
mod text;

use std::io::Write;
use std::time::Duration;

use super::clean::Left;
use super::loads::Programs;
use super::outlet::Outlet;
use super::prepare::{Prepared, prepare};
use super::report::{color_wanted, device_names};
use super::rows::{RowMaker, RunFacts};
use super::sequence::Sequence;
use super::setup::make_trees;
use super::window::Cut;
use super::worker::{Worker, boot_time, run_id};
use super::{Preset, RunError, RunRequest, notes};
use crate::host::facts::HostFacts;
use crate::host::sample::HostSample;
use crate::host::tree::TreeSpec;
use crate::output::Progress;
use crate::plan::EngineKind;
use facts::ShelfDisk;
use load::{MOST_CLIENTS, TESTS};
use plan::Plan;
use search::Search;

impl Worker<'_, '_> {
    /// All but the clean-up; what has to be cleaned and the exit code, or nothing for a dry run.
    pub(super) async fn search_shelf(
        &mut self,
        preset: Preset,
    ) -> Result<Option<(Left, u8)>, RunError> {
        let widest = RunRequest {
            clients: MOST_CLIENTS,
            engine: EngineKind::Hybrid,
            ..self.request.clone()
        };
        let sample: Result<Vec<_>, _> =
            TESTS.iter().map(|test| test.program(load::FILE_BYTES)).collect();
        let prepared = prepare(&widest, &Programs::ready(&sample?), &mut self.stragglers)?;
        for warning in &prepared.warnings {
            self.progress.note(&format!("warning: {warning}"));
        }
        let (bytes, note) = fill::file_bytes(preset.file_bytes, &prepared.disks)?;
        if let Some(note) = note {
            self.progress.note(&note);
        }
        let plan = Plan::new(self.request, preset, prepared.disks.len());
        self.progress.note(&plan.text(bytes));
        if self.request.dry_run {
            self.say_dry_run(&prepared);
            return Ok(None);
        }
        let outlet = Outlet::open(self.request)?;
        self.search_disks(prepared, plan, bytes, outlet).await.map(Some)
    }

    async fn search_disks(
        &mut self,
        prepared: Prepared,
        plan: Plan,
        bytes: u64,
        mut outlet: Outlet,
    ) -> Result<(Left, u8), RunError> {
        let (host, started, before) = (HostFacts::read(), boot_time(), HostSample::now());
        let experiment_id = run_id();
        let rows = RowMaker::new(self.request, &host, &experiment_id, &prepared.pools);
        let mut left_out = prepared.left_out;
        let (disks, stragglers) = (prepared.disks, &mut self.stragglers);
        let made = make_trees(
            self.request,
            &TreeSpec::default(),
            &experiment_id,
            disks,
            self.link,
            stragglers,
        )
        .await;
        let made = made.inspect_err(|_| outlet.discard(self.request))?;
        left_out.extend(made.left_out);
        for disk in &left_out {
            self.progress.note(&notes::left_out(disk));
        }
        let rows: Vec<_> = left_out.iter().map(|disk| rows.left_out(disk)).collect();
        let unwritable = outlet.write_now(&rows).err().map(Cut::from);
        let disks = made.trees.iter().map(|held| ShelfDisk::of(&held.ready)).collect();
        let names = device_names(made.trees.iter().map(|held| &held.ready));
        let mut sequence = Sequence::new(made.trees, experiment_id, host);
        sequence.cut = unwritable;
        sequence.told.extend(prepared.warnings);
        let mut search = Search::new(self, sequence, &mut outlet, disks, plan, bytes)?;
        search.left_out = !left_out.is_empty();
        let (sequence, code) = search.run().await?;
        if !matches!(sequence.cut, Some(Cut::FrontGone)) {
            let changes = Some(HostSample::now().minus(&before));
            let run = RunFacts { changes, ..RunFacts::default() };
            let (host, id) = (&sequence.host, &sequence.experiment_id);
            self.write_host(host, id, &names, &run, &mut outlet, started);
        }
        let code = self.finish(&mut outlet, code);
        Ok((sequence.into_left(), code))
    }
}

/// Tables and sentences: to stdout where they are the result.
fn say(progress: &mut Progress, outlet: &Outlet, text: impl Fn(bool) -> String) {
    if outlet.table_on_stdout {
        // A reader that went away has seen what it wanted.
        let _ = std::io::stdout().write_all(text(color_wanted()).as_bytes());
    } else {
        progress.note(text(false).trim_end());
    }
}

/// The grace of the request, at least a second: a device may be slow to show that it works.
fn patience(request: &RunRequest) -> Duration {
    request.grace.max(Duration::from_secs(1))
}
