//! What is known of the disks before anything is measured: who their peers are, what they hang on.

use std::collections::BTreeMap;

use super::super::prepare::ReadyDisk;
use crate::host::device::{DeviceFacts, Sysfs};
use crate::host::faults::{FaultCounts, grown};

/// A disk of the shelf.
#[derive(Debug)]
pub(super) struct ShelfDisk {
    pub(super) label: String,
    device: Option<DeviceFacts>,
    /// What it hangs on, the nearest first.
    pub(super) places: Vec<String>,
    faults: FaultCounts,
    /// Equal for disks that can be measured by each other: model, size and file system.
    kind: (Option<String>, Option<u64>, Option<String>),
}

impl ShelfDisk {
    pub(super) fn of(disk: &ReadyDisk) -> Self {
        let sysfs = Sysfs::default();
        let device = disk.device.clone();
        let model = device.as_ref().and_then(|device| device.model.clone());
        let of_device = device.as_ref().and_then(|device| sysfs.size_bytes(device));
        let of_fs = disk.check.space.map(|space| space.total_bytes);
        let fstype = disk.check.mount.as_ref().map(|mount| mount.fstype.clone());
        Self {
            label: disk.label(),
            places: device.as_ref().map(|device| sysfs.places(device)).unwrap_or_default(),
            faults: device.as_ref().map(|device| sysfs.fault_counts(device)).unwrap_or_default(),
            kind: (model, of_device.or(of_fs), fstype),
            device,
        }
    }

    /// `/mnt/d7 (sdh, ST4000NM0035, serial ZC1234, slot pci-...)`.
    pub(super) fn named(&self) -> String {
        let Some(device) = &self.device else { return self.label.clone() };
        let mut words = vec![device.disk.clone()];
        words.extend(device.model.clone());
        words.extend(device.serial.as_ref().map(|serial| format!("serial {serial}")));
        words.extend(device.by_path.as_ref().map(|slot| format!("slot {slot}")));
        format!("{} ({})", self.label, words.join(", "))
    }

    /// What the kernel has counted against it since then.
    pub(super) fn new_faults(&self) -> FaultCounts {
        let Some(device) = &self.device else { return FaultCounts::new() };
        grown(&self.faults, &Sysfs::default().fault_counts(device))
    }
}

/// The disks by number, those of one kind together, in the order of their first ones.
pub(super) fn peers(disks: &[ShelfDisk]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known = BTreeMap::new();
    for (number, disk) in disks.iter().enumerate() {
        let group = *known.entry(&disk.kind).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(number);
    }
    groups
}

#[cfg(test)]
pub(super) fn plain_disk(label: &str, model: &str, places: &[&str]) -> ShelfDisk {
    ShelfDisk {
        label: label.into(),
        device: None,
        places: places.iter().map(ToString::to_string).collect(),
        faults: FaultCounts::new(),
        kind: (Some(model.into()), None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_of_one_kind() {
        let disks = ["a", "b", "a", "c", "b"].map(|model| plain_disk("/d", model, &[]));
        assert_eq!(peers(&disks), [vec![0, 2], vec![1, 4], vec![3]]);
    }
}
