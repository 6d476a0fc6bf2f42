//! What the kernel has counted of a disk's errors and timeouts.

use std::collections::BTreeMap;

use super::device::{DeviceFacts, Sysfs};
use super::procfs;

/// Counters of the SCSI layer, below `device` of a disk; hexadecimal.
const SCSI: [&str; 2] = ["ioerr_cnt", "iotmo_cnt"];
/// Counters of a PCI device, the last line of each being their total.
const PCI: [(&str, &str); 3] = [
    ("aer_dev_correctable", "TOTAL_ERR_COR"),
    ("aer_dev_nonfatal", "TOTAL_ERR_NONFATAL"),
    ("aer_dev_fatal", "TOTAL_ERR_FATAL"),
];

/// Counts by device and name, as `sda ioerr_cnt`.
pub type FaultCounts = BTreeMap<String, u64>;

impl Sysfs {
    /// Errors and timeouts of a device and of those below it, since they appeared. SCSI disks count
    /// both; for an NVMe disk the errors of its PCI link are read. Empty where the kernel counts
    /// nothing.
    #[must_use]
    pub fn fault_counts(&self, device: &DeviceFacts) -> FaultCounts {
        let mut counts = FaultCounts::new();
        if let Some(whole) = self.whole_disk(device) {
            let mut add = |name: &str, count: Option<u64>| {
                if let Some(count) = count {
                    counts.insert(format!("{} {name}", device.disk), count);
                }
            };
            for name in SCSI {
                add(name, procfs::text(whole.join("device").join(name)).and_then(|t| hex(&t)));
            }
            for (file, total) in PCI {
                let text = procfs::raw(whole.join("device/device").join(file));
                add(file, text.and_then(|text| procfs::value_after(&text, total)));
            }
        }
        for member in &device.members {
            counts.extend(self.fault_counts(member));
        }
        counts
    }
}

/// What grew between two readings, and by how much.
#[must_use]
pub fn grown(before: &FaultCounts, after: &FaultCounts) -> FaultCounts {
    let growth = |(name, count): (&String, &u64)| {
        let more = count.saturating_sub(*before.get(name)?);
        (more > 0).then(|| (name.clone(), more))
    };
    after.iter().filter_map(growth).collect()
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn counts_of_scsi_and_pci_and_their_growth() {
        let dir = tempfile::tempdir().unwrap();
        let disk = dir.path().join("devices/sda");
        fs::create_dir_all(disk.join("device/device")).unwrap();
        fs::create_dir_all(dir.path().join("dev/block")).unwrap();
        symlink(&disk, dir.path().join("dev/block/8:0")).unwrap();
        fs::write(disk.join("device/ioerr_cnt"), "0x1a\n").unwrap();
        let aer = "RxErr 3\nBadTLP 1\nTOTAL_ERR_COR 4\n";
        fs::write(disk.join("device/device/aer_dev_correctable"), aer).unwrap();
        let sysfs = Sysfs { root: dir.path().to_owned(), dev: dir.path().to_owned() };
        let device =
            DeviceFacts { major: 8, minor: 0, disk: "sda".into(), ..DeviceFacts::default() };
        let before = sysfs.fault_counts(&device);
        let wanted = [("sda aer_dev_correctable".into(), 4), ("sda ioerr_cnt".into(), 26)];
        assert_eq!(before, FaultCounts::from(wanted));
        fs::write(disk.join("device/ioerr_cnt"), "0x1c\n").unwrap();
        let after = sysfs.fault_counts(&device);
        assert_eq!(grown(&before, &after), FaultCounts::from([("sda ioerr_cnt".into(), 2)]));
        assert!(grown(&FaultCounts::new(), &after).is_empty(), "unknown before is no growth");
        let none = DeviceFacts { minor: 1, ..device };
        assert!(sysfs.fault_counts(&none).is_empty());
    }
}
