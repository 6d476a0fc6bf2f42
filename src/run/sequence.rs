//! Several measured windows over the same disks: one process, one result, trees that stay.
//!
//! A [`Step`] says what one window runs, on which disks and how; its rows are those of any run, with
//! the experiment, the cell and the place in the order besides. A disk that hangs in one window is
//! missing from the later ones; a signal ends the window at hand and all that would follow.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;

use super::clean::{Left, Stuck};
use super::live::{Held, LiveDisk};
use super::notes;
use super::outcome::Outcome;
use super::outlet::Outlet;
use super::pools::Pools;
use super::rows::RowMaker;
use super::setup::{event_channel, start_pools};
use super::window::Cut;
use super::worker::Worker;
use super::{RunError, RunRequest};
use crate::front::{Link, ToWorker};
use crate::host::diskstats::DeviceCounters;
use crate::host::facts::HostFacts;
use crate::loadfile::Program;
use crate::pool::{Event, Gate};

/// One window of a sequence.
pub(super) struct Step<'a> {
    /// Clients, engine, options and length.
    pub(super) request: &'a RunRequest,
    /// What the clients replay.
    pub(super) programs: &'a [Arc<Program>],
    /// Open files that one client may have.
    pub(super) handles: u64,
    /// Its name in the column `cell`.
    pub(super) cell: String,
    /// The disks, by number.
    pub(super) disks: Vec<usize>,
}

/// What a window showed of a disk.
pub(super) struct DiskResult {
    /// Its number.
    pub(super) disk: usize,
    pub(super) outcome: Outcome,
    /// What its device did within the window, others' work included.
    pub(super) device: Option<DeviceCounters>,
    /// What there is to tell of it.
    pub(super) notes: Vec<String>,
}

/// The disks of a sequence and how far it has come.
pub(super) struct Sequence {
    /// Disks by number; empty where one hangs or was given up.
    pub(super) slots: Vec<Option<Held>>,
    stuck: Vec<Stuck>,
    pub(super) experiment_id: String,
    pub(super) host: HostFacts,
    windows: u64,
    /// Warnings that need not be said again.
    pub(super) told: BTreeSet<String>,
    /// Why it ended early.
    pub(super) cut: Option<Cut>,
    /// The gravest exit code of a window.
    pub(super) code: u8,
    /// Whether trees were lost by a window that could not start: the front must remove them.
    pub(super) lost: bool,
}

impl Sequence {
    pub(super) fn new(disks: Vec<Held>, experiment_id: String, host: HostFacts) -> Self {
        Self {
            slots: disks.into_iter().map(Some).collect(),
            stuck: Vec::new(),
            experiment_id,
            host,
            windows: 0,
            told: BTreeSet::new(),
            cut: None,
            code: 0,
            lost: false,
        }
    }

    /// What there is to be removed.
    pub(super) fn into_left(self) -> Left {
        Left {
            free: self.slots.into_iter().flatten().collect(),
            stuck: self.stuck,
            unfinished: Vec::new(),
        }
    }

    /// Those of these disks that can still be used.
    pub(super) fn usable(&self, disks: &[usize]) -> Vec<usize> {
        disks.iter().copied().filter(|disk| self.slots[*disk].is_some()).collect()
    }

    fn take(&mut self, disks: &[usize], programs: &[Arc<Program>]) -> Vec<Held> {
        let mut taken = Vec::new();
        for disk in disks {
            if let Some(mut held) = self.slots[*disk].take() {
                held.ready.programs = programs.to_vec();
                taken.push(held);
            }
        }
        taken
    }

    fn put_back(
        &mut self,
        numbers: &[usize],
        disks: Vec<LiveDisk>,
        events: UnboundedReceiver<Event>,
    ) {
        let mut hung = Vec::new();
        for (number, disk) in numbers.iter().zip(disks) {
            if disk.running() == 0 {
                self.slots[*number] = Some(disk.into_held());
            } else {
                hung.push(disk);
            }
        }
        if !hung.is_empty() {
            self.stuck.push(Stuck { disks: hung, events });
        }
    }
}

impl Worker<'_, '_> {
    /// Runs a window, writes its rows, and says what it showed of each disk: nothing where the
    /// sequence has ended, or none of the disks can be used.
    ///
    /// # Errors
    /// When the clients cannot be started.
    pub(super) async fn window(
        &mut self,
        sequence: &mut Sequence,
        step: &Step<'_>,
        outlet: &mut Outlet,
    ) -> Result<Vec<DiskResult>, RunError> {
        if sequence.cut.is_none() {
            sequence.cut = pending(self.link).await;
        }
        let numbers = sequence.usable(&step.disks);
        if sequence.cut.is_some() || numbers.is_empty() {
            return Ok(Vec::new());
        }
        let mut warnings = Vec::new();
        let pools = Pools::choose(step.request, numbers.len(), step.handles, &mut warnings)?;
        for warning in warnings {
            if sequence.told.insert(warning.clone()) {
                self.progress.note(&format!("warning: {warning}"));
            }
        }
        sequence.windows += 1;
        let (experiment, index) = (&sequence.experiment_id, sequence.windows - 1);
        let run_id = format!("{experiment}.{index}");
        let rows = RowMaker::new(step.request, &sequence.host, &run_id, &pools)
            .in_experiment(experiment, &step.cell, index);
        let gate = Arc::new(Gate::default());
        let (sender, events) = event_channel()?;
        let trees = sequence.take(&numbers, step.programs);
        sequence.lost = true;
        let disks = start_pools(step.request, &pools, trees, &gate, &sender)?;
        sequence.lost = false;
        drop(sender);
        let measured = match self.measure(step.request, disks, events, &gate, outlet, &rows).await {
            Ok(measured) => measured,
            Err((error, disks, events)) => {
                sequence.put_back(&numbers, disks, events);
                return Err(error);
            }
        };
        let outcomes = measured.outcomes();
        let (code, failure) = self.write_rows(&measured, &outcomes, &[], outlet, &rows);
        self.progress.finish();
        sequence.code = sequence.code.max(code);
        let window = measured.run.window;
        let results = numbers.iter().zip(&measured.disks).zip(outcomes);
        let results = results.map(|((number, disk), outcome)| {
            let notes = notes::disk_notes(disk, &outcome, window);
            DiskResult { disk: *number, outcome, device: disk.device_moved(), notes }
        });
        let results = results.collect();
        sequence.cut = measured.cut.or(measured.drained.cut).or(failure.map(Cut::from));
        sequence.put_back(&numbers, measured.disks, measured.events);
        Ok(results)
    }
}

/// A message of the front that came between two windows.
async fn pending(link: &mut Link) -> Option<Cut> {
    tokio::select! {
        biased;
        message = link.receive::<ToWorker>() => Some(Cut::of(message.as_ref())),
        () = tokio::time::sleep(Duration::from_millis(1)) => None,
    }
}
