//! How long to wait for a disk: as long as its device does something.

use std::time::{Duration, Instant};

use crate::host::device::{DeviceFacts, Sysfs};
use crate::host::diskstats::DeviceCounters;

/// Where no device shows progress, waiting ends after this, or the grace if it is longer.
const BLIND: Duration = Duration::from_secs(120);

/// The wait for one disk.
#[derive(Debug)]
pub(super) struct Patience {
    device: Option<DeviceFacts>,
    seen: Option<DeviceCounters>,
    since: Instant,
    limit: Duration,
}

impl Patience {
    /// Starts waiting; a device that does nothing for `grace` does not answer.
    pub(super) fn new(device: Option<DeviceFacts>, grace: Duration) -> Self {
        let seen = device.as_ref().and_then(counters);
        let limit = if seen.is_some() { grace } else { grace.max(BLIND) };
        Self { device, seen, since: Instant::now(), limit }
    }

    /// Something else than the device shows that the disk answers.
    pub(super) fn go_on(&mut self) {
        self.since = Instant::now();
    }

    /// Whether the disk has done nothing for too long. To be asked now and then.
    pub(super) fn is_over(&mut self) -> bool {
        let now = self.device.as_ref().and_then(counters);
        if now != self.seen {
            self.seen = now;
            self.since = Instant::now();
        }
        self.since.elapsed() > self.limit
    }
}

/// Counters of a device, added up where a file system has several.
pub(super) fn counters(device: &DeviceFacts) -> Option<DeviceCounters> {
    let mut all = Sysfs::default().counters_below(device)?.into_iter();
    let first = all.next()?;
    Some(all.fold(first, std::ops::Add::add))
}
