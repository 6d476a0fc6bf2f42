//! What the whole host did during a run: readings at its start and end, and their difference.

use std::collections::BTreeMap;

use serde::Serialize;

use super::procfs;

/// A reading of the host's counters and gauges. What the kernel does not have is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostSample {
    /// Time that some or all tasks stalled, by `cpu some`, `io full` and so on, in microseconds.
    pub pressure_us: BTreeMap<String, u64>,
    /// `pgscan_*` and `pgsteal_*` of /proc/vmstat by name: the same pages counted in several ways.
    pub reclaim_pages: BTreeMap<String, u64>,
    /// Time the hypervisor gave to others, summed over CPUs.
    pub steal_s: Option<f64>,
    /// Dirty pages and pages being written back.
    pub dirty_bytes: Option<u64>,
    /// Directory entries in memory.
    pub dentries: Option<u64>,
    /// Of these the unused ones.
    pub dentries_unused: Option<u64>,
    /// Of these the ones for names that do not exist; `None` before Linux 5.0.
    pub dentries_negative: Option<u64>,
    /// Inodes in memory.
    pub inodes: Option<u64>,
    /// Of these the unused ones.
    pub inodes_unused: Option<u64>,
    /// Load averages over 1, 5 and 15 minutes.
    pub load: Option<[f64; 3]>,
}

/// The difference of two readings. Counters grow; gauges may go down.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostDelta {
    /// Growth of stall times, in seconds.
    pub pressure_s: BTreeMap<String, f64>,
    /// Pages scanned and reclaimed.
    pub reclaim_pages: BTreeMap<String, u64>,
    /// Time the hypervisor gave to others.
    pub steal_s: Option<f64>,
    /// Change of dirty bytes.
    pub dirty_bytes: Option<i64>,
    /// Change of directory entries.
    pub dentries: Option<i64>,
    /// Change of unused ones.
    pub dentries_unused: Option<i64>,
    /// Change of negative ones.
    pub dentries_negative: Option<i64>,
    /// Change of inodes.
    pub inodes: Option<i64>,
    /// Change of unused ones.
    pub inodes_unused: Option<i64>,
}

impl HostSample {
    /// Reads them now.
    #[must_use]
    pub fn now() -> Self {
        let vmstat = procfs::raw("/proc/vmstat").unwrap_or_default();
        let dentries = numbers(&procfs::text("/proc/sys/fs/dentry-state").unwrap_or_default());
        let inodes = numbers(&procfs::text("/proc/sys/fs/inode-state").unwrap_or_default());
        let ticks = rustix::param::clock_ticks_per_second();
        Self {
            pressure_us: pressure(),
            reclaim_pages: reclaim(&vmstat),
            steal_s: steal_ticks(&procfs::raw("/proc/stat").unwrap_or_default())
                .map(|steal| per(steal, ticks)),
            dirty_bytes: dirty_pages(&vmstat)
                .map(|pages| pages * u64::try_from(rustix::param::page_size()).unwrap_or(4096)),
            dentries: dentries.first().copied(),
            dentries_unused: dentries.get(1).copied(),
            // The fifth field was a dummy 0 before 5.0, and is never 0 on a running system since.
            dentries_negative: dentries.get(4).copied().filter(|&count| count > 0),
            inodes: inodes.first().copied(),
            inodes_unused: inodes.get(1).copied(),
            load: procfs::text("/proc/loadavg").as_deref().and_then(load),
        }
    }

    /// The difference to an earlier reading.
    #[must_use]
    pub fn minus(&self, earlier: &Self) -> HostDelta {
        let change = |now: Option<u64>, then: Option<u64>| {
            now.zip(then).map(|(now, then)| now.wrapping_sub(then).cast_signed())
        };
        let pressure = growth(&self.pressure_us, &earlier.pressure_us);
        HostDelta {
            pressure_s: pressure.into_iter().map(|(key, us)| (key, per(us, 1_000_000))).collect(),
            reclaim_pages: growth(&self.reclaim_pages, &earlier.reclaim_pages),
            steal_s: self.steal_s.zip(earlier.steal_s).map(|(now, then)| (now - then).max(0.0)),
            dirty_bytes: change(self.dirty_bytes, earlier.dirty_bytes),
            dentries: change(self.dentries, earlier.dentries),
            dentries_unused: change(self.dentries_unused, earlier.dentries_unused),
            dentries_negative: change(self.dentries_negative, earlier.dentries_negative),
            inodes: change(self.inodes, earlier.inodes),
            inodes_unused: change(self.inodes_unused, earlier.inodes_unused),
        }
    }
}

/// Bytes of pages that are dirty or being written back now, on the whole host.
#[must_use]
pub fn dirty_bytes() -> Option<u64> {
    let pages = dirty_pages(&procfs::raw("/proc/vmstat")?)?;
    Some(pages * u64::try_from(rustix::param::page_size()).ok()?)
}

// Counts of ticks and microseconds stay far below 2^53.
#[allow(clippy::cast_precision_loss)]
fn per(count: u64, unit: u64) -> f64 {
    count as f64 / unit as f64
}

fn growth(now: &BTreeMap<String, u64>, then: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    now.iter()
        .filter_map(|(key, now)| Some((key.clone(), now.saturating_sub(*then.get(key)?))))
        .collect()
}

fn numbers(text: &str) -> Vec<u64> {
    text.split_whitespace().map_while(|word| word.parse().ok()).collect()
}

fn pressure() -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for resource in ["cpu", "io", "memory"] {
        let text = procfs::raw(format!("/proc/pressure/{resource}")).unwrap_or_default();
        all.extend(pressure_totals(&text).map(|(kind, us)| (format!("{resource} {kind}"), us)));
    }
    all
}

/// `some avg10=0.00 ... total=123` and the same for `full`.
fn pressure_totals(text: &str) -> impl Iterator<Item = (&str, u64)> {
    text.lines().filter_map(|line| {
        let kind = line.split_whitespace().next()?;
        let total = line.rsplit_once("total=")?.1.trim().parse().ok()?;
        Some((kind, total))
    })
}

fn reclaim(vmstat: &str) -> BTreeMap<String, u64> {
    let wanted = |name: &str| name.starts_with("pgscan_") || name.starts_with("pgsteal_");
    vmstat
        .lines()
        .filter_map(|line| line.split_once(' '))
        .filter(|(name, _)| wanted(name))
        .filter_map(|(name, value)| Some((name.to_owned(), value.trim().parse().ok()?)))
        .collect()
}

fn dirty_pages(vmstat: &str) -> Option<u64> {
    let dirty = procfs::value_after(vmstat, "nr_dirty")?;
    Some(dirty + procfs::value_after(vmstat, "nr_writeback")?)
}

/// The eighth number of the line for all CPUs.
fn steal_ticks(stat: &str) -> Option<u64> {
    let all = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    numbers(all).get(7).copied()
}

fn load(text: &str) -> Option<[f64; 3]> {
    let mut words = text.split_whitespace().map_while(|word| word.parse().ok());
    Some([words.next()?, words.next()?, words.next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_kernel() {
        let text = "some avg10=1.00 avg60=0.84 total=1044\nfull avg10=0.00 total=7\n";
        assert_eq!(pressure_totals(text).collect::<Vec<_>>(), [("some", 1044), ("full", 7)]);
        assert_eq!(steal_ticks("cpu  1 2 3 4 5 6 7 88 9 10\ncpu0 1 2\n"), Some(88));
        assert_eq!(steal_ticks("cpu  1 2 3\n"), None);
        let vmstat = "nr_dirty 3\nnr_writeback 4\nnr_writeback_temp 9\npgscan_kswapd 5\npgpgin 1\n";
        assert_eq!(dirty_pages(vmstat), Some(7));
        assert_eq!(reclaim(vmstat).into_iter().collect::<Vec<_>>(), [("pgscan_kswapd".into(), 5)]);
        assert_eq!(load("0.5 0.25 0.1 1/2 3"), Some([0.5, 0.25, 0.1]));
        assert_eq!(load("x"), None);
    }

    #[test]
    fn gauges_may_fall_and_unknown_stays_unknown() {
        let one = |count| BTreeMap::from([("io some".to_owned(), count)]);
        let then = HostSample {
            inodes: Some(10),
            pressure_us: one(1_000_000),
            steal_s: Some(1.0),
            ..HostSample::default()
        };
        let now = HostSample {
            inodes: Some(4),
            pressure_us: one(3_500_000),
            steal_s: Some(1.5),
            dentries: Some(1),
            ..HostSample::default()
        };
        let delta = now.minus(&then);
        assert_eq!((delta.inodes, delta.dentries, delta.steal_s), (Some(-6), None, Some(0.5)));
        assert_eq!(delta.pressure_s["io some"].to_bits(), 2.5_f64.to_bits());
    }

    #[test]
    fn this_host() {
        let sample = HostSample::now();
        assert!(sample.dentries.is_some() && sample.inodes.is_some() && sample.load.is_some());
        assert!(sample.dirty_bytes.is_some() && sample.steal_s.is_some());
        assert!(dirty_bytes().is_some());
    }
}
