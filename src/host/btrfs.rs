//! The devices of one btrfs: its device number is made up, so sysfs is asked by device name.

use std::path::Path;

use super::device::device_number;

/// Numbers of all devices of the btrfs that a device belongs to, empty if it belongs to none.
#[must_use]
pub fn device_numbers(sysfs: &Path, device: &str) -> Vec<(u32, u32)> {
    let Ok(file_systems) = std::fs::read_dir(sysfs.join("fs/btrfs")) else { return Vec::new() };
    let devices = file_systems
        .flatten()
        .map(|entry| entry.path().join("devices"))
        .find(|devices| devices.join(device).exists());
    let Some(entries) = devices.and_then(|devices| std::fs::read_dir(devices).ok()) else {
        return Vec::new();
    };
    let mut numbers: Vec<_> =
        entries.flatten().filter_map(|entry| device_number(&entry.path().join("dev"))).collect();
    numbers.sort_unstable();
    numbers
}
