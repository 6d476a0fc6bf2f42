//! Removes the run directories.

use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

use super::live::{Held, LiveDisk};
use super::patience::Patience;
use super::window::Cut;
use crate::front::{FromWorker, Link, MadeTree, ToWorker, removal_text};
use crate::host::tree::RunTree;
use crate::pool::Event;

/// How often a removal is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// A removal under way.
pub(super) struct Removal {
    path: String,
    made: MadeTree,
    patience: Patience,
    done: oneshot::Receiver<Option<String>>,
}

/// What a run has made and not yet removed.
#[derive(Default)]
pub(crate) struct Left {
    /// Disks on which nothing runs any more.
    pub(super) free: Vec<Held>,
    /// Disks with threads that did not come back.
    pub(super) stuck: Vec<Stuck>,
    /// Removals that have begun and that a disk holds up.
    pub(super) unfinished: Vec<Removal>,
}

/// Disks of one window whose threads did not all come back, and what these will tell.
pub(super) struct Stuck {
    pub(super) disks: Vec<LiveDisk>,
    pub(super) events: UnboundedReceiver<Event>,
}

impl Stuck {
    /// Waits until all threads have come back.
    async fn until_free(mut self) -> Vec<Held> {
        while self.disks.iter().any(|disk| disk.running() > 0) {
            let Some(event) = self.events.recv().await else { break };
            let number = event.disk();
            if let Some(disk) = self.disks.iter_mut().find(|disk| disk.number == number) {
                disk.take(event);
            }
        }
        self.disks.into_iter().map(LiveDisk::into_held).collect()
    }
}

impl Left {
    /// Takes the disks of a window that is over.
    pub(super) fn take(&mut self, disks: Vec<LiveDisk>, events: UnboundedReceiver<Event>) {
        let (free, stuck): (Vec<_>, Vec<_>) =
            disks.into_iter().partition(|disk| disk.running() == 0);
        self.free.extend(free.into_iter().map(LiveDisk::into_held));
        if !stuck.is_empty() {
            self.stuck.push(Stuck { disks: stuck, events });
        }
    }

    /// The run directories, for a run that keeps them.
    pub(super) fn roots(&self) -> impl Iterator<Item = &std::path::Path> {
        let stuck = self.stuck.iter().flat_map(|stuck| &stuck.disks).map(|disk| &disk.tree);
        self.free.iter().map(|disk| &disk.tree).chain(stuck).map(RunTree::root_path)
    }
}

/// Removes, to the end, what is on disks whose threads do not come back yet.
pub(super) async fn when_free(stuck: Vec<Stuck>, grace: Duration) {
    for one in stuck {
        let removals = one.until_free().await.into_iter().map(|disk| start(disk, grace)).collect();
        wait_for_ever(removals).await;
    }
}

/// Starts the removal of a disk's tree in a thread of its own: another disk may hang.
pub(super) fn start(disk: Held, grace: Duration) -> Removal {
    let (sender, done) = oneshot::channel();
    let path = disk.tree.disk_path().join(disk.tree.name()).display().to_string();
    let tree = disk.tree;
    let remove = move || {
        let _ = sender.send(removal_text(&tree.remove()));
    };
    // Without a thread the sender is dropped, which `wait` tells.
    let _ = std::thread::Builder::new().spawn(remove);
    Removal { path, made: disk.made, patience: Patience::new(disk.ready.device, grace), done }
}

/// What came of removals.
#[derive(Default)]
pub(super) struct Removed {
    /// What there is to tell.
    pub(super) complaints: Vec<String>,
    /// Removals that a disk holds up.
    pub(super) unfinished: Vec<Removal>,
    /// Why they were not waited for.
    pub(super) cut: Option<Cut>,
}

/// Waits for removals, but not for a disk that does nothing, nor after another signal.
pub(super) async fn wait(removals: Vec<Removal>, link: &mut Link) -> Removed {
    let mut removed = Removed::default();
    for mut removal in removals {
        let finished = loop {
            tokio::select! {
                biased;
                result = &mut removal.done => break Some(result.unwrap_or_else(|_| {
                    Some(format!("{} is left: nothing could remove it", removal.path))
                })),
                message = link.receive::<ToWorker>(), if removed.cut.is_none() => {
                    removed.cut = Some(Cut::of(message.as_ref()));
                }
                () = tokio::time::sleep(LOOK) => {
                    let leave = matches!(removed.cut, Some(Cut::Signal(_)));
                    if leave || removal.patience.is_over() {
                        break None;
                    }
                }
            }
        };
        match finished {
            Some(None) => link.send(&FromWorker::Removed(removal.made)).await,
            Some(Some(text)) => removed.complaints.push(text),
            None => {
                let line = format!("{} is removed when its disk answers", removal.path);
                removed.complaints.push(line);
                removed.unfinished.push(removal);
            }
        }
    }
    removed
}

/// Waits for removals to the end.
pub(super) async fn wait_for_ever(removals: Vec<Removal>) {
    for removal in removals {
        let _ = removal.done.await;
    }
}
