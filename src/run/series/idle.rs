//! Between two runs: what the last one left is stored, and the devices have come to rest.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::front::{Link, ToWorker};
use crate::host::device::DeviceFacts;
use crate::host::diskstats::DeviceCounters;
use crate::run::patience::counters;
use crate::run::window::Cut;

/// How often counters are read.
const LOOK: Duration = Duration::from_millis(50);

/// When a device counts as idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// It has done nothing for this long.
    pub quiet: Duration,
    /// Nobody waits longer than this.
    pub limit: Duration,
}

impl Default for Idle {
    /// 2 s: longer than the pauses that journals and drives make in their own work. A minute: what
    /// is still busy then is busy with something else.
    fn default() -> Self {
        Self { quiet: Duration::from_secs(2), limit: Duration::from_secs(60) }
    }
}

/// A disk that is waited for.
#[derive(Clone, Debug)]
pub(in crate::run) struct Place {
    pub(in crate::run) path: PathBuf,
    /// `None` for what has no device, as tmpfs.
    pub(in crate::run) device: Option<DeviceFacts>,
}

/// What waiting took.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::run) struct Waited {
    pub(in crate::run) seconds: f64,
    /// Whether a device was busy to the end.
    pub(in crate::run) busy: bool,
}

/// Stores what is dirty on the disks, and waits until their devices are idle.
pub(in crate::run) async fn wait(
    places: &[Place],
    rule: Idle,
    link: &mut Link,
) -> Result<Waited, Cut> {
    let start = Instant::now();
    if places.iter().all(|place| place.device.is_none()) {
        return Ok(Waited::default());
    }
    let mut syncs: Vec<_> = places.iter().map(sync).collect();
    let mut watched: Vec<_> = places.iter().filter_map(Watched::new).collect();
    loop {
        tokio::select! {
            biased;
            message = link.receive::<ToWorker>() => return Err(Cut::of(message.as_ref())),
            () = tokio::time::sleep(LOOK) => {}
        }
        syncs
            .retain_mut(|sync| matches!(sync.try_recv(), Err(oneshot::error::TryRecvError::Empty)));
        let idle = watched.iter_mut().map(|device| device.idle_for()).min();
        let seconds = start.elapsed().as_secs_f64();
        if syncs.is_empty() && idle.is_none_or(|idle| idle >= rule.quiet) {
            return Ok(Waited { seconds, busy: false });
        }
        if start.elapsed() >= rule.limit {
            return Ok(Waited { seconds, busy: true });
        }
    }
}

/// In a thread of its own: a disk may hang.
fn sync(place: &Place) -> oneshot::Receiver<()> {
    let (sender, done) = oneshot::channel();
    let path = place.path.clone();
    let sync = move || {
        if let Ok(dir) = std::fs::File::open(&path) {
            let _ = rustix::fs::syncfs(dir);
        }
        let _ = sender.send(());
    };
    // Without a thread the sender is dropped, and nobody waits.
    let _ = std::thread::Builder::new().spawn(sync);
    done
}

struct Watched<'a> {
    device: &'a DeviceFacts,
    seen: Option<DeviceCounters>,
    since: Instant,
}

impl<'a> Watched<'a> {
    fn new(place: &'a Place) -> Option<Self> {
        let device = place.device.as_ref()?;
        Some(Self { device, seen: counters(device), since: Instant::now() })
    }

    /// How long the device has done nothing.
    fn idle_for(&mut self) -> Duration {
        let now = counters(self.device);
        if now != self.seen || now.is_some_and(|now| now.in_flight > 0) {
            (self.seen, self.since) = (now, Instant::now());
        }
        self.since.elapsed()
    }
}
