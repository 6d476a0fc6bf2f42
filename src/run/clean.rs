//! Removes the run directories.

use tokio::sync::oneshot;

use super::live::LiveDisk;
use crate::front::{FromWorker, Link, MadeTree, removal_text};
use crate::host::tree::RunTree;

/// A removal under way.
pub(super) struct Removal {
    made: MadeTree,
    done: oneshot::Receiver<Option<String>>,
}

/// Starts the removal of a tree in a thread of its own: another disk's may hang.
pub(super) fn start(tree: RunTree, made: MadeTree) -> Removal {
    let (sender, done) = oneshot::channel();
    let remove = move || {
        let _ = sender.send(removal_text(&tree.remove()));
    };
    // Without a thread the sender is dropped, and the front process removes the tree.
    let _ = std::thread::Builder::new().spawn(remove);
    Removal { made, done }
}

/// Waits for removals; returns what could not be removed.
pub(super) async fn wait(removals: Vec<Removal>, link: &mut Link) -> Vec<String> {
    let mut left = Vec::new();
    for Removal { made, done } in removals {
        match done.await {
            Ok(None) => link.send(&FromWorker::Removed(made)).await,
            Ok(Some(text)) => left.push(text),
            Err(_) => {}
        }
    }
    left
}

/// Takes apart the disks whose threads have all ended from those with stuck ones.
pub(super) fn split(disks: Vec<LiveDisk>) -> (Vec<LiveDisk>, Vec<LiveDisk>) {
    disks.into_iter().partition(|disk| disk.running() == 0)
}
