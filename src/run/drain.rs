//! After the window: how long the disks need to store what they were given.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::live::LiveDisk;
use super::patience::{Patience, counters};
use super::window::Cut;
use crate::front::{Link, ToWorker};

/// How often a sync under way is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// What syncing a disk took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drain {
    pub(super) seconds: f64,
    /// Bytes that the device wrote meanwhile.
    pub(super) bytes: Option<u64>,
}

/// A sync under way.
struct Sync {
    patience: Patience,
    done: oneshot::Receiver<Option<Drain>>,
}

/// What syncing all disks took, and whether that was cut short.
#[derive(Default)]
pub(super) struct Drained {
    pub(super) each: Vec<Option<Drain>>,
    /// Why it was not waited for.
    pub(super) cut: Option<Cut>,
}

/// Syncs all disks that have no stuck thread, at once; `None` for those, for a disk that does
/// nothing, and for all that are not done when another signal comes.
pub(super) async fn drain(disks: &[LiveDisk], grace: Duration, link: &mut Link) -> Drained {
    let syncs: Vec<_> = disks
        .iter()
        .map(|disk| if disk.running() == 0 { start(disk, grace) } else { None })
        .collect();
    let mut drained = Drained::default();
    for sync in syncs {
        let Some(mut sync) = sync else {
            drained.each.push(None);
            continue;
        };
        let took = loop {
            tokio::select! {
                biased;
                result = &mut sync.done => break result.ok().flatten(),
                message = link.receive::<ToWorker>(), if drained.cut.is_none() => {
                    drained.cut = Some(Cut::of(message.as_ref()));
                }
                () = tokio::time::sleep(LOOK) => {}
            }
            if drained.cut.is_some() || sync.patience.is_over() {
                break None;
            }
        };
        drained.each.push(took);
    }
    drained
}

fn start(disk: &LiveDisk, grace: Duration) -> Option<Sync> {
    let root: OwnedFd = disk.tree.root_fd().try_clone_to_owned().ok()?;
    let patience = Patience::new(disk.ready.device.clone(), grace);
    let (sender, done) = oneshot::channel();
    let device = disk.ready.device.clone();
    let sync = move || {
        let before = device.as_ref().and_then(counters);
        let start = Instant::now();
        let synced = rustix::fs::syncfs(root.as_fd()).ok().map(|()| start.elapsed());
        // At once: other disks may take longer, and this one go on with other work.
        let after = device.as_ref().and_then(counters);
        drop(root);
        let _ = sender.send(synced.map(|took| Drain {
            seconds: took.as_secs_f64(),
            bytes: before.zip(after).map(|(before, after)| after.delta(&before).write_bytes),
        }));
    };
    std::thread::Builder::new().spawn(sync).ok()?;
    Some(Sync { patience, done })
}
