//! A disk while its clients run.

use std::sync::Arc;
use std::time::Duration;

use super::prepare::ReadyDisk;
use crate::client::ClientReport;
use crate::engine::Traffic;
use crate::front::MadeTree;
use crate::host::cost::ThreadCost;
use crate::host::diskstats::DeviceCounters;
use crate::host::tree::RunTree;
use crate::metrics::{DiskTotals, OpSummary};
use crate::pool::{DiskState, Event, WalkCount};

/// A user and a group.
type HeldIds = (u32, u32);

/// A disk with its tree, on which nothing runs.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) ready: ReadyDisk,
    pub(super) tree: RunTree,
    pub(super) made: MadeTree,
}

/// A disk with its tree, its threads, and what they have told so far.
#[derive(Debug)]
pub(super) struct LiveDisk {
    /// Its number among the run's disks.
    pub(super) number: u32,
    pub(super) ready: ReadyDisk,
    pub(super) tree: RunTree,
    pub(super) made: MadeTree,
    pub(super) state: Arc<DiskState>,
    pub(super) clients: u32,
    /// Clients that wait at the gate, or did.
    pub(super) at_gate: u32,
    /// Clients that will tell nothing more without having reported.
    pub(super) lost: u32,
    /// Why they were lost.
    pub(super) failures: Vec<String>,
    pub(super) reports: Vec<ClientReport>,
    pub(super) cost: Cost,
    /// What the threads' engines did, where they count that.
    pub(super) traffic: Option<Traffic>,
    /// Whom the kernel takes the threads for, where that was asked.
    pub(super) held: Option<HeldIds>,
    /// How the kernel walks, before and after the window.
    pub(super) walks: WalkCount,
    pub(super) device_before: Option<DeviceCounters>,
    pub(super) device_after: Option<DeviceCounters>,
    /// Whether its rate was level over the window, where that can be told.
    pub(super) steady: Option<bool>,
    /// Counters when the last interval ended.
    pub(super) last_interval: DiskTotals,
    /// Counters when the last frame was shown.
    pub(super) last_frame: OpSummary,
}

/// What the threads of a disk used, added up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) user: Duration,
    pub(super) system: Duration,
    pub(super) voluntary: u64,
    pub(super) involuntary: u64,
    pub(super) run_delay: Option<Duration>,
    /// Threads that told what they used.
    pub(super) threads: u32,
}

impl Cost {
    fn add(&mut self, thread: &ThreadCost) {
        self.user += thread.user;
        self.system += thread.system;
        self.voluntary += thread.voluntary_switches;
        self.involuntary += thread.involuntary_switches;
        if let Some(delay) = thread.run_delay {
            *self.run_delay.get_or_insert_default() += delay;
        }
        self.threads += 1;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.user += other.user;
        self.system += other.system;
        self.voluntary += other.voluntary;
        self.involuntary += other.involuntary;
        if let Some(delay) = other.run_delay {
            *self.run_delay.get_or_insert_default() += delay;
        }
        self.threads += other.threads;
    }
}

impl LiveDisk {
    pub(super) fn new(number: u32, held: Held, state: Arc<DiskState>, clients: u32) -> Self {
        let Held { ready, tree, made } = held;
        Self {
            number,
            ready,
            tree,
            made,
            state,
            clients,
            at_gate: 0,
            lost: 0,
            failures: Vec::new(),
            reports: Vec::new(),
            cost: Cost::default(),
            traffic: None,
            held: None,
            walks: WalkCount::default(),
            device_before: None,
            device_after: None,
            steady: None,
            last_interval: DiskTotals::default(),
            last_frame: OpSummary::default(),
        }
    }

    /// The disk without its threads: they must have ended.
    pub(super) fn into_held(self) -> Held {
        Held { ready: self.ready, tree: self.tree, made: self.made }
    }

    /// Takes what one of the disk's threads tells.
    pub(super) fn take(&mut self, event: Event) {
        match event {
            Event::Acts { held, .. } => self.held = Some((held.uids[3], held.gids[3])),
            Event::Walked { walks, .. } => self.walks.add(walks),
            Event::Ready { .. } => self.at_gate += 1,
            Event::Done { report, thread, .. } => {
                self.reports.push(*report);
                let Some(thread) = thread else { return };
                if let Some(cost) = thread.cost {
                    self.cost.add(&cost);
                }
                self.walks.add(thread.walks);
                if let Some(traffic) = thread.traffic {
                    self.traffic.get_or_insert_default().merge(&traffic);
                }
            }
            Event::Failed { client, lost, reason, .. } => {
                self.lost += lost;
                let who = match (client, lost) {
                    (None, _) => "all clients".into(),
                    (Some(client), 1) => format!("client {client}"),
                    (Some(client), lost) => format!("client {client} and {} more", lost - 1),
                };
                self.failures.push(format!("{}: {who}: {reason}", self.ready.label()));
            }
        }
    }

    /// What the engines of all disks did.
    pub(super) fn traffic_of(disks: &[Self]) -> Option<Traffic> {
        disks.iter().filter_map(|disk| disk.traffic.as_ref()).fold(None, |sum, traffic| {
            let mut sum: Traffic = sum.unwrap_or_default();
            sum.merge(traffic);
            Some(sum)
        })
    }

    /// Whether no client of the disk is still on its way to the gate.
    pub(super) fn all_at_gate(&self) -> bool {
        self.at_gate + self.lost >= self.clients
    }

    /// Clients that have neither reported nor were lost.
    pub(super) fn running(&self) -> u32 {
        self.clients.saturating_sub(self.reports.len() as u32 + self.lost)
    }

    /// What the device did within the window.
    pub(super) fn device_moved(&self) -> Option<DeviceCounters> {
        Some(self.device_after?.delta(self.device_before.as_ref()?))
    }

    /// The device's counters now.
    pub(super) fn device_counters(&self) -> Option<DeviceCounters> {
        super::patience::counters(self.ready.device.as_ref()?)
    }
}
