//! After the window: how long the disks need to store what they were given.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::live::LiveDisk;
use super::patience::Patience;
use crate::front::{Link, ToWorker};
use crate::host::diskstats::DeviceCounters;

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
    before: Option<DeviceCounters>,
    patience: Patience,
    done: oneshot::Receiver<Option<Duration>>,
}

/// Syncs all disks that have no stuck thread, at once; `None` for those, for a disk that does
/// nothing, and for all that are not done when another signal comes.
pub(super) async fn drain(
    disks: &[LiveDisk],
    grace: Duration,
    link: &mut Link,
) -> Vec<Option<Drain>> {
    let syncs: Vec<_> = disks
        .iter()
        .map(|disk| if disk.running() == 0 { start(disk, grace) } else { None })
        .collect();
    let mut drains = Vec::new();
    let mut leave = false;
    for (disk, sync) in disks.iter().zip(syncs) {
        let Some(mut sync) = sync else {
            drains.push(None);
            continue;
        };
        let took = loop {
            tokio::select! {
                biased;
                result = &mut sync.done => break result.ok().flatten(),
                _ = link.receive::<ToWorker>(), if !leave => leave = true,
                () = tokio::time::sleep(LOOK) => {}
            }
            if leave || sync.patience.is_over() {
                break None;
            }
        };
        let after = disk.device_counters();
        drains.push(took.map(|took| Drain {
            seconds: took.as_secs_f64(),
            bytes: sync.before.zip(after).map(|(before, after)| after.delta(&before).write_bytes),
        }));
    }
    drains
}

fn start(disk: &LiveDisk, grace: Duration) -> Option<Sync> {
    let root: OwnedFd = disk.tree.root_fd().try_clone_to_owned().ok()?;
    let before = disk.device_counters();
    let patience = Patience::new(disk.ready.device.clone(), grace);
    let (sender, done) = oneshot::channel();
    let sync = move || {
        let start = Instant::now();
        let synced = rustix::fs::syncfs(root.as_fd()).ok().map(|()| start.elapsed());
        drop(root);
        let _ = sender.send(synced);
    };
    std::thread::Builder::new().spawn(sync).ok()?;
    Some(Sync { before, patience, done })
}
