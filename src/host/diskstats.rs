//! What reached a block device: its counters in sysfs and the difference of two readings.

use std::ops::Add;
use std::time::Duration;

use serde::Serialize;

use super::device::{DeviceFacts, Sysfs};
use super::procfs;

/// The kernel counts in units of 512 bytes, whatever the device's own sector.
const SECTOR: u64 = 512;

/// Counters of one device since it appeared, or the growth between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeviceCounters {
    /// Read requests completed.
    pub reads: u64,
    /// Reads that were merged into another request.
    pub read_merges: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Time reads took, summed over requests.
    pub read_ms: u64,
    /// Write requests completed.
    pub writes: u64,
    /// Writes that were merged into another request.
    pub write_merges: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Time writes took, summed over requests.
    pub write_ms: u64,
    /// Requests in flight at the (later) reading.
    pub in_flight: u64,
    /// Time during which at least one request was in flight.
    pub busy_ms: u64,
    /// Time of all requests, weighted by how many there were.
    pub queue_ms: u64,
    /// Discard requests completed; `None` before Linux 4.18.
    pub discards: Option<u64>,
    /// Bytes discarded.
    pub discard_bytes: Option<u64>,
    /// Flush requests completed; `None` before Linux 5.5, and always 0 for a partition.
    pub flushes: Option<u64>,
    /// Time flushes took.
    pub flush_ms: Option<u64>,
}

impl DeviceCounters {
    /// Parses a sysfs `stat` file; `None` if it has fewer fields than any kernel prints.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let fields: Option<Vec<u64>> =
            text.split_whitespace().map(|word| word.parse().ok()).collect();
        let fields = fields.filter(|fields| fields.len() >= 11)?;
        let at = |index: usize| fields.get(index).copied();
        let bytes = |sectors: u64| sectors.wrapping_mul(SECTOR);
        Some(Self {
            reads: fields[0],
            read_merges: fields[1],
            read_bytes: bytes(fields[2]),
            read_ms: fields[3],
            writes: fields[4],
            write_merges: fields[5],
            write_bytes: bytes(fields[6]),
            write_ms: fields[7],
            in_flight: fields[8],
            busy_ms: fields[9],
            queue_ms: fields[10],
            discards: at(11),
            discard_bytes: at(13).map(bytes),
            flushes: at(15),
            flush_ms: at(16),
        })
    }

    /// The growth since an earlier reading.
    #[must_use]
    pub fn delta(&self, earlier: &Self) -> Self {
        let both = |now: Option<u64>, then: Option<u64>| {
            now.zip(then).map(|(now, then)| now.saturating_sub(then))
        };
        Self {
            reads: self.reads.saturating_sub(earlier.reads),
            read_merges: self.read_merges.saturating_sub(earlier.read_merges),
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            read_ms: ms_since(self.read_ms, earlier.read_ms),
            writes: self.writes.saturating_sub(earlier.writes),
            write_merges: self.write_merges.saturating_sub(earlier.write_merges),
            write_bytes: self.write_bytes.saturating_sub(earlier.write_bytes),
            write_ms: ms_since(self.write_ms, earlier.write_ms),
            in_flight: self.in_flight,
            busy_ms: ms_since(self.busy_ms, earlier.busy_ms),
            queue_ms: ms_since(self.queue_ms, earlier.queue_ms),
            discards: both(self.discards, earlier.discards),
            discard_bytes: both(self.discard_bytes, earlier.discard_bytes),
            flushes: both(self.flushes, earlier.flushes),
            flush_ms: self.flush_ms.zip(earlier.flush_ms).map(|(now, then)| ms_since(now, then)),
        }
    }

    /// The share of a time span, from 0 to 1, in which a device had something to do: the mean of
    /// `devices`, whose sum this is. For a difference; `None` for an empty span.
    #[must_use]
    pub fn utilisation(&self, span: Duration, devices: usize) -> Option<f64> {
        // All are far below 2^53 for any real run.
        #[allow(clippy::cast_precision_loss)]
        let busy = self.busy_ms as f64 / 1000.0 / devices.max(1) as f64;
        (!span.is_zero()).then(|| (busy / span.as_secs_f64()).min(1.0))
    }
}

/// The kernel prints milliseconds as a 32-bit number, which starts again after 49 days.
fn ms_since(now: u64, then: u64) -> u64 {
    let wraps = now < then && then <= u64::from(u32::MAX);
    (if wraps { now + (1 << 32) } else { now }).saturating_sub(then)
}

impl Add for DeviceCounters {
    type Output = Self;

    /// The sum over devices; what one of them does not know, the sum does not know. `busy_ms` is
    /// summed too, so a utilisation of a sum must be divided by the number of devices.
    fn add(self, other: Self) -> Self {
        let both = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a + b);
        Self {
            reads: self.reads + other.reads,
            read_merges: self.read_merges + other.read_merges,
            read_bytes: self.read_bytes + other.read_bytes,
            read_ms: self.read_ms + other.read_ms,
            writes: self.writes + other.writes,
            write_merges: self.write_merges + other.write_merges,
            write_bytes: self.write_bytes + other.write_bytes,
            write_ms: self.write_ms + other.write_ms,
            in_flight: self.in_flight + other.in_flight,
            busy_ms: self.busy_ms + other.busy_ms,
            queue_ms: self.queue_ms + other.queue_ms,
            discards: both(self.discards, other.discards),
            discard_bytes: both(self.discard_bytes, other.discard_bytes),
            flushes: both(self.flushes, other.flushes),
            flush_ms: both(self.flush_ms, other.flush_ms),
        }
    }
}

impl Sysfs {
    /// The counters of a device number.
    #[must_use]
    pub fn counters(&self, major: u32, minor: u32) -> Option<DeviceCounters> {
        DeviceCounters::parse(&procfs::raw(self.number_dir(major, minor).join("stat"))?)
    }

    /// The counters of the devices that hold a file system, one each: the device itself, or every
    /// device of a btrfs that has several.
    #[must_use]
    pub fn counters_below(&self, device: &DeviceFacts) -> Option<Vec<DeviceCounters>> {
        let own = std::slice::from_ref(device);
        let devices = if device.spans_members { device.members.as_slice() } else { own };
        devices.iter().map(|one| self.counters(one.major, one.minor)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = " 29045 6415 3695266 18801 5963 16948 1838816 6238 3 9968 25748 4046 46 \
                       188288 622 969 86\n";

    #[test]
    fn fields_of_new_and_old_kernels() {
        let new = DeviceCounters::parse(NEW).unwrap();
        assert_eq!(new.read_bytes, 3_695_266 * 512);
        assert_eq!((new.writes, new.write_ms, new.in_flight), (5963, 6238, 3));
        assert_eq!((new.busy_ms, new.queue_ms), (9968, 25748));
        assert_eq!(new.discard_bytes, Some(188_288 * 512));
        assert_eq!((new.flushes, new.flush_ms), (Some(969), Some(86)));
        let old = DeviceCounters::parse("1 2 3 4 5 6 7 8 9 10 11").unwrap();
        assert_eq!((old.busy_ms, old.discards, old.flushes), (10, None, None));
        assert_eq!(DeviceCounters::parse("1 2 3"), None);
        assert_eq!(DeviceCounters::parse("1 2 3 4 5 6 7 8 9 10 x"), None);
    }

    #[test]
    fn growth_wrap_and_utilisation() {
        let then = DeviceCounters::parse("1 0 8 0 2 0 16 0 0 4294967000 0").unwrap();
        let now = DeviceCounters::parse("5 0 10 0 9 0 48 0 2 204 0").unwrap();
        let grown = now.delta(&then);
        assert_eq!((grown.reads, grown.read_bytes), (4, 1024));
        assert_eq!((grown.writes, grown.write_bytes), (7, 16384));
        assert_eq!((grown.busy_ms, grown.in_flight, grown.flushes), (500, 2, None));
        assert_eq!(grown.utilisation(Duration::from_secs(1), 1), Some(0.5));
        assert_eq!(grown.utilisation(Duration::from_millis(100), 1), Some(1.0));
        // Two devices that were busy for 400 ms of 500 each.
        let both = DeviceCounters { busy_ms: 800, ..grown };
        assert_eq!(both.utilisation(Duration::from_millis(500), 2), Some(0.8));
        assert_eq!(grown.utilisation(Duration::ZERO, 1), None);
    }

    #[test]
    fn a_sum_knows_only_what_all_know() {
        let new = DeviceCounters::parse(NEW).unwrap();
        let old = DeviceCounters::parse("1 2 3 4 5 6 7 8 9 10 11").unwrap();
        assert_eq!((new + old).reads, 29046);
        assert_eq!((new + old).flushes, None);
        assert_eq!((new + new).flushes, Some(1938));
    }
}
