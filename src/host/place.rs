//! What a disk hangs on, as the path of its device in sysfs tells: expander, controller, node.

use std::path::{Path, PathBuf};

use super::device::{DeviceFacts, Sysfs};
use super::procfs;

/// The kernel counts sizes in units of 512 bytes, whatever the device's own sector.
const SECTOR: u64 = 512;

impl Sysfs {
    /// What a device hangs on, the nearest first: itself, then expander or hub, controller, bridges,
    /// NUMA node; for one that lies on other devices (dm, md, loop), these and what they hang on.
    #[must_use]
    pub fn places(&self, device: &DeviceFacts) -> Vec<String> {
        let mut places = vec![format!("device {}", device.disk)];
        if let Some(whole) = self.whole_disk(device) {
            places.extend(way_to(&whole));
        }
        for member in &device.members {
            for place in self.places(member) {
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        places
    }

    /// The size of the whole disk in bytes.
    #[must_use]
    pub fn size_bytes(&self, device: &DeviceFacts) -> Option<u64> {
        let sectors: u64 = procfs::number(self.whole_disk(device)?.join("size"))?;
        sectors.checked_mul(SECTOR)
    }

    /// The directory of the whole disk that a device is, or is a part of.
    pub(super) fn whole_disk(&self, device: &DeviceFacts) -> Option<PathBuf> {
        let here = std::fs::canonicalize(self.number_dir(device.major, device.minor)).ok()?;
        if here.join("partition").exists() { here.parent().map(Path::to_owned) } else { Some(here) }
    }
}

/// The shared parts of the way from a disk's directory up to the root of devices.
fn way_to(whole: &Path) -> Vec<String> {
    let mut places = Vec::new();
    let mut node = None;
    for dir in whole.ancestors().skip(1) {
        let Some(name) = dir.file_name().and_then(|name| name.to_str()) else { break };
        places.extend(place_of(name, places.iter().any(|p: &String| p.starts_with("controller"))));
        if node.is_none() {
            node = procfs::number::<u32>(dir.join("numa_node")); // -1 is none
        }
        if name.starts_with("nvme-subsys") {
            // With multipath the disk belongs to the subsystem, which links to its controllers.
            places.extend(controllers(dir).iter().flat_map(|controller| way_to(controller)));
        }
    }
    places.extend(node.map(|node| format!("NUMA node {node}")));
    places
}

fn place_of(name: &str, below_controller: bool) -> Option<String> {
    if is_pci(name) {
        let word = if below_controller { "PCI bridge" } else { "controller" };
        return Some(format!("{word} {name}"));
    }
    if name.starts_with("expander-") {
        return Some(format!("expander {name}"));
    }
    if let Some(bus) = name.strip_prefix("usb").filter(|bus| is_number(bus)) {
        return Some(format!("USB bus {bus}"));
    }
    if name.split_once('-').is_some_and(|(bus, ports)| {
        is_number(bus) && !ports.contains(':') && ports.split('.').all(is_number)
    }) {
        return Some(format!("USB device {name}"));
    }
    name.strip_prefix("ata").filter(|port| is_number(port)).map(|_| format!("port {name}"))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `0000:03:00.0`.
fn is_pci(name: &str) -> bool {
    let parts: Vec<&str> = name.split([':', '.']).collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    matches!(lengths[..], [domain, 2, 2, 1] if domain >= 4)
        && name.matches(':').count() == 2
        && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn controllers(subsystem: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(subsystem) else { return Vec::new() };
    let is_controller = |name: &str| name.strip_prefix("nvme").is_some_and(is_number);
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().is_some_and(is_controller))
        .filter_map(|entry| std::fs::canonicalize(entry.path()).ok())
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A sysfs with one disk, at a path below devices.
    fn sysfs(path: &str) -> (tempfile::TempDir, Sysfs) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("sys");
        fs::create_dir_all(root.join("dev/block")).unwrap();
        fs::create_dir_all(root.join("devices").join(path)).unwrap();
        symlink(root.join("devices").join(path), root.join("dev/block/8:0")).unwrap();
        let sysfs = Sysfs { root, dev: dir.path().join("dev") };
        (dir, sysfs)
    }

    fn sda() -> DeviceFacts {
        DeviceFacts { major: 8, minor: 0, disk: "sda".into(), ..DeviceFacts::default() }
    }

    #[test]
    fn a_sas_disk_behind_an_expander() {
        let controller = "pci0000:00/0000:00:02.0/0000:03:00.0";
        let (_dir, sysfs) = sysfs(&format!(
            "{controller}/host6/port-6:0/expander-6:0/port-6:0:3/end_device-6:0:3/target6:0:3/\
             6:0:3:0/block/sda"
        ));
        fs::write(sysfs.root.join("devices").join(controller).join("numa_node"), "1\n").unwrap();
        assert_eq!(
            sysfs.places(&sda()),
            [
                "device sda",
                "expander expander-6:0",
                "controller 0000:03:00.0",
                "PCI bridge 0000:00:02.0",
                "NUMA node 1"
            ]
        );
        let whole = sysfs.whole_disk(&sda()).unwrap();
        assert_eq!(sysfs.size_bytes(&sda()), None);
        fs::write(whole.join("size"), "16\n").unwrap();
        assert_eq!(sysfs.size_bytes(&sda()), Some(8192));
    }

    #[test]
    fn sata_and_usb() {
        let (_dir, sysfs) =
            sysfs("pci0000:00/0000:00:1f.2/ata5/host4/target4:0:0/4:0:0:0/block/sda");
        assert_eq!(sysfs.places(&sda()), ["device sda", "port ata5", "controller 0000:00:1f.2"]);
        let (_dir, sysfs) =
            self::sysfs("pci0000:00/0000:00:14.0/usb2/2-1/2-1.4/2-1.4:1.0/host7/block/sda");
        assert_eq!(
            sysfs.places(&sda()),
            [
                "device sda",
                "USB device 2-1.4",
                "USB device 2-1",
                "USB bus 2",
                "controller 0000:00:14.0"
            ]
        );
    }

    #[test]
    fn nvme_with_multipath_and_a_disk_on_others() {
        let (_dir, sysfs) = sysfs("virtual/nvme-subsystem/nvme-subsys0/nvme0n1");
        let controller = sysfs.root.join("devices/pci0000:80/0000:81:00.0/nvme/nvme0");
        fs::create_dir_all(&controller).unwrap();
        let subsystem = sysfs.root.join("devices/virtual/nvme-subsystem/nvme-subsys0");
        symlink(controller, subsystem.join("nvme0")).unwrap();
        let nvme = DeviceFacts { disk: "nvme0n1".into(), ..sda() };
        assert_eq!(sysfs.places(&nvme), ["device nvme0n1", "controller 0000:81:00.0"]);
        let dm = DeviceFacts { disk: "dm-0".into(), members: vec![nvme], ..DeviceFacts::default() };
        assert_eq!(sysfs.places(&dm), ["device dm-0", "device nvme0n1", "controller 0000:81:00.0"]);
    }
}
