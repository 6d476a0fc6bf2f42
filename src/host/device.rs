//! The block device behind a mount, as sysfs describes it: disk, model, slot, cache, members.

use std::ffi::OsStr;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::mounts::{self, MountFacts};
use super::{btrfs, procfs};

/// Devices can be stacked; a chain longer than this is a loop in a broken table.
const DEEPEST_STACK: u32 = 8;

/// Where device facts are read; tests give a hand-made tree.
#[derive(Clone, Debug)]
pub struct Sysfs {
    /// The root of sysfs, `/sys`.
    pub root: PathBuf,
    /// The root of the device nodes, `/dev`, for the names by slot and by id.
    pub dev: PathBuf,
}

/// A block device. Empty (`None`) is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeviceFacts {
    /// The kernel's name of the device that is mounted: `sda1`, `dm-3`, `loop0`.
    pub name: String,
    /// Its major number.
    pub major: u32,
    /// Its minor number.
    pub minor: u32,
    /// The whole disk it is a part of; its own name where it is no partition.
    pub disk: String,
    /// The maker's name of the disk.
    pub model: Option<String>,
    /// The disk's serial number.
    pub serial: Option<String>,
    /// The slot: the name in /dev/disk/by-path of the whole disk.
    pub by_path: Option<String>,
    /// The name in /dev/disk/by-id.
    pub by_id: Option<String>,
    /// Whether the disk says that it rotates.
    pub rotational: Option<bool>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// The I/O scheduler in force.
    pub scheduler: Option<String>,
    /// The file behind a loop device.
    pub backing_file: Option<PathBuf>,
    /// The devices below: of dm and md, of a loop device's file, or all of one btrfs.
    pub members: Vec<DeviceFacts>,
    /// Whether `members` share one file system and this device is one of them (btrfs).
    pub spans_members: bool,
}

impl DeviceFacts {
    /// The names that kernel messages use for this device and everything below it.
    #[must_use]
    pub fn all_names(&self) -> Vec<String> {
        let mut names = vec![self.name.clone(), self.disk.clone()];
        names.extend(self.members.iter().flat_map(DeviceFacts::all_names));
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl Default for Sysfs {
    fn default() -> Self {
        Self { root: PathBuf::from("/sys"), dev: PathBuf::from("/dev") }
    }
}

impl Sysfs {
    /// The device behind a mount; `None` for file systems without one, as tmpfs and overlay.
    #[must_use]
    pub fn device_of_mount(&self, mount: &MountFacts) -> Option<DeviceFacts> {
        self.device_of_mount_at(mount, 0)
    }

    fn device_of_mount_at(&self, mount: &MountFacts, level: u32) -> Option<DeviceFacts> {
        let (major, minor) = match (mount.major, mount.minor) {
            (0, _) => block_device_number(Path::new(&mount.source))?,
            number => number,
        };
        let mut facts = self.device_at(major, minor, level)?;
        if mount.fstype == "btrfs" {
            let siblings = btrfs::device_numbers(&self.root, &facts.name);
            if siblings.len() > 1 {
                facts.members = self.all_at(&siblings, level + 1);
                facts.spans_members = true;
            }
        }
        Some(facts)
    }

    /// The device with a number; `None` where sysfs does not show it.
    #[must_use]
    pub fn device(&self, major: u32, minor: u32) -> Option<DeviceFacts> {
        self.device_at(major, minor, 0)
    }

    fn device_at(&self, major: u32, minor: u32, level: u32) -> Option<DeviceFacts> {
        let here = std::fs::canonicalize(self.number_dir(major, minor)).ok()?;
        let whole = match here.join("partition").exists() {
            true => here.parent()?.to_owned(),
            false => here.clone(),
        };
        let (name, disk) = (file_name(&here)?, file_name(&whole)?);
        let queue = whole.join("queue");
        let backing_file = procfs::text(whole.join("loop/backing_file")).map(PathBuf::from);
        Some(DeviceFacts {
            model: model(&whole),
            serial: serial(&whole),
            by_path: self.link_to("by-path", &[&disk, &name]),
            by_id: self.link_to("by-id", &[&disk, &name]),
            rotational: procfs::number::<u8>(queue.join("rotational")).map(|flag| flag == 1),
            write_cache: procfs::text(queue.join("write_cache")),
            scheduler: procfs::text(queue.join("scheduler"))
                .and_then(|list| procfs::bracketed(&list).map(str::to_owned)),
            members: self.members(&whole, backing_file.as_deref(), level),
            backing_file,
            spans_members: false,
            name,
            major,
            minor,
            disk,
        })
    }

    /// The directory that describes a device number.
    #[must_use]
    pub fn number_dir(&self, major: u32, minor: u32) -> PathBuf {
        self.root.join(format!("dev/block/{major}:{minor}"))
    }

    fn members(&self, whole: &Path, file: Option<&Path>, level: u32) -> Vec<DeviceFacts> {
        if level >= DEEPEST_STACK {
            return Vec::new();
        }
        if let Some(file) = file {
            if let Some((major, minor)) = block_device_number(file) {
                return self.device_at(major, minor, level + 1).into_iter().collect();
            }
            let mount = mounts::mount_of(file).ok();
            return mount
                .and_then(|m| self.device_of_mount_at(&m, level + 1))
                .into_iter()
                .collect();
        }
        let Ok(slaves) = std::fs::read_dir(whole.join("slaves")) else { return Vec::new() };
        let mut numbers: Vec<(u32, u32)> =
            slaves.flatten().filter_map(|entry| device_number(&entry.path().join("dev"))).collect();
        numbers.sort_unstable();
        self.all_at(&numbers, level + 1)
    }

    fn all_at(&self, numbers: &[(u32, u32)], level: u32) -> Vec<DeviceFacts> {
        numbers.iter().filter_map(|&(major, minor)| self.device_at(major, minor, level)).collect()
    }

    /// The first link in /dev/disk/<kind> to one of the devices, the earlier device first. Names
    /// made of a bare number (`wwn-`, `nvme-eui.`) say least and come last.
    fn link_to(&self, kind: &str, devices: &[&str]) -> Option<String> {
        let links = std::fs::read_dir(self.dev.join("disk").join(kind)).ok()?;
        let named: Vec<(String, String)> = links
            .flatten()
            .filter_map(|link| {
                let target = std::fs::read_link(link.path()).ok()?;
                Some((file_name(&target)?, link.file_name().to_string_lossy().into_owned()))
            })
            .collect();
        let bare = |name: &str| name.starts_with("wwn-") || name.starts_with("nvme-eui.");
        devices.iter().find_map(|device| {
            let names = named.iter().filter(|(target, _)| target == device).map(|(_, name)| name);
            names.min_by_key(|name| (bare(name), *name)).cloned()
        })
    }
}

fn file_name(path: &Path) -> Option<String> {
    path.file_name().map(OsStr::to_string_lossy).map(|name| name.into_owned())
}

fn block_device_number(path: &Path) -> Option<(u32, u32)> {
    if !path.is_absolute() {
        return None;
    }
    let found = std::fs::metadata(path).ok().filter(|m| m.file_type().is_block_device())?;
    Some((rustix::fs::major(found.rdev()), rustix::fs::minor(found.rdev())))
}

/// A device number as sysfs `dev` files have it: `8:16`.
pub(super) fn device_number(file: &Path) -> Option<(u32, u32)> {
    let text = procfs::text(file)?;
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// SCSI and NVMe have `model`, MMC cards `name`.
fn model(whole: &Path) -> Option<String> {
    ["device/model", "device/name"].iter().find_map(|file| procfs::text(whole.join(file)))
}

/// NVMe and MMC have `device/serial`, virtio `serial`; SCSI disks answer it in a page of their own.
fn serial(whole: &Path) -> Option<String> {
    ["device/serial", "serial"]
        .iter()
        .find_map(|file| procfs::text(whole.join(file)))
        .or_else(|| page_80_serial(&std::fs::read(whole.join("device/vpd_pg80")).ok()?))
}

/// SCSI vital product data page 0x80: two bytes, the length in two, then the serial number.
fn page_80_serial(page: &[u8]) -> Option<String> {
    let [_, 0x80, high, low, rest @ ..] = page else { return None };
    let length = usize::from(u16::from_be_bytes([*high, *low])).min(rest.len());
    let text = String::from_utf8_lossy(&rest[..length]);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
#[path = "device_tests.rs"]
mod tests;
