//! Removes the run directories.

use std::time::Duration;

use tokio::sync::oneshot;

use super::live::LiveDisk;
use super::patience::Patience;
use crate::front::{FromWorker, Link, MadeTree, ToWorker, removal_text};

/// How often a removal is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// A removal under way.
pub(super) struct Removal {
    path: String,
    made: MadeTree,
    patience: Patience,
    done: oneshot::Receiver<Option<String>>,
}

/// Starts the removal of a disk's tree in a thread of its own: another disk may hang.
pub(super) fn start(disk: LiveDisk, grace: Duration) -> Removal {
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
}

/// Waits for removals, but not for a disk that does nothing, nor after another signal.
pub(super) async fn wait(removals: Vec<Removal>, link: &mut Link) -> Removed {
    let mut removed = Removed::default();
    let mut leave = false;
    for mut removal in removals {
        let finished = loop {
            tokio::select! {
                biased;
                result = &mut removal.done => break Some(result.unwrap_or_else(|_| {
                    Some(format!("{} is left: nothing could remove it", removal.path))
                })),
                message = link.receive::<ToWorker>(), if !leave => leave = message.is_some(),
                () = tokio::time::sleep(LOOK) => {
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

/// Takes apart the disks whose threads have all ended from those with stuck ones.
pub(super) fn split(disks: Vec<LiveDisk>) -> (Vec<LiveDisk>, Vec<LiveDisk>) {
    disks.into_iter().partition(|disk| disk.running() == 0)
}
