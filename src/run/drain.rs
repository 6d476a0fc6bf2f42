//! After the window: how long the disks need to store what they were given.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::live::LiveDisk;
use crate::front::{Link, ToWorker};

/// What syncing a disk took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drain {
    pub(super) seconds: f64,
    /// Bytes that the device wrote meanwhile.
    pub(super) bytes: Option<u64>,
}

/// Syncs all disks that have no stuck thread, at once; `None` for those, and for all that are not
/// done when a signal says to leave.
pub(super) async fn drain(disks: &[LiveDisk], link: &mut Link) -> Vec<Option<Drain>> {
    let syncs: Vec<_> =
        disks.iter().map(|disk| if disk.running() == 0 { start(disk) } else { None }).collect();
    let mut drains = Vec::new();
    let mut leave = false;
    for (disk, sync) in disks.iter().zip(syncs) {
        let Some((before, mut done)) = sync else {
            drains.push(None);
            continue;
        };
        let mut took = None;
        while !leave {
            tokio::select! {
                result = &mut done => {
                    took = result.ok().flatten();
                    break;
                }
                message = link.receive::<ToWorker>() => {
                    leave = matches!(message, None | Some(_));
                }
            }
        }
        let after = disk.device_counters();
        drains.push(took.map(|took| Drain {
            seconds: took.as_secs_f64(),
            bytes: before.zip(after).map(|(before, after)| after.delta(&before).write_bytes),
        }));
    }
    drains
}

type Sync = oneshot::Receiver<Option<Duration>>;

fn start(disk: &LiveDisk) -> Option<(Option<crate::host::diskstats::DeviceCounters>, Sync)> {
    let root: OwnedFd = disk.tree.root_fd().try_clone_to_owned().ok()?;
    let before = disk.device_counters();
    let (sender, done) = oneshot::channel();
    let sync = move || {
        let start = Instant::now();
        let synced = rustix::fs::syncfs(root.as_fd()).ok().map(|()| start.elapsed());
        drop(root);
        let _ = sender.send(synced);
    };
    std::thread::Builder::new().spawn(sync).ok()?;
    Some((before, done))
}
