//! Tests of `device` on a hand-made sysfs: a SCSI disk with a partition, NVMe, dm over both, a loop.

use std::fs;
use std::os::unix::fs::symlink;

use super::super::mounts::parse_mountinfo;
use super::*;

struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    fn new() -> Self {
        let tree = Self { dir: tempfile::tempdir().unwrap() };
        for dir in ["sys/dev/block", "dev/disk/by-path", "dev/disk/by-id"] {
            fs::create_dir_all(tree.dir.path().join(dir)).unwrap();
        }
        tree
    }

    fn sysfs(&self) -> Sysfs {
        Sysfs { root: self.dir.path().join("sys"), dev: self.dir.path().join("dev") }
    }

    fn file(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.dir.path().join("sys/devices").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn device(&self, place: &str, number: &str) {
        self.file(&format!("{place}/dev"), format!("{number}\n"));
        let link = self.dir.path().join("sys/dev/block").join(number);
        symlink(format!("../../devices/{place}"), link).unwrap();
    }

    fn slave(&self, of: &str, place: &str) {
        let dir = self.dir.path().join("sys/devices").join(of).join("slaves");
        fs::create_dir_all(&dir).unwrap();
        let name = place.rsplit('/').next().unwrap();
        symlink(self.dir.path().join("sys/devices").join(place), dir.join(name)).unwrap();
    }

    fn dev_link(&self, kind: &str, name: &str, device: &str) {
        let link = self.dir.path().join("dev/disk").join(kind).join(name);
        symlink(format!("../../{device}"), link).unwrap();
    }

    /// sda with sda1 on 8:0 and 8:1.
    fn with_scsi(self) -> Self {
        self.device("pci/sda", "8:0");
        self.device("pci/sda/sda1", "8:1");
        self.file("pci/sda/sda1/partition", "1\n");
        self.file("pci/sda/device/model", "ST4000NM0035    \n");
        self.file("pci/sda/device/vpd_pg80", b"\x00\x80\x00\x08  ZC1234\0\0");
        self.file("pci/sda/queue/rotational", "1\n");
        self.file("pci/sda/queue/write_cache", "write back\n");
        self.file("pci/sda/queue/scheduler", "none [mq-deadline] kyber\n");
        self.dev_link("by-path", "pci-0000:03:00.0-sas-phy4-lun-0", "sda");
        self.dev_link("by-path", "pci-0000:03:00.0-sas-phy4-lun-0-part1", "sda1");
        self.dev_link("by-id", "wwn-0x5000", "sda");
        self.dev_link("by-id", "scsi-SST4000", "sda");
        self
    }

    fn with_nvme(self) -> Self {
        self.device("pci/nvme0n1", "259:0");
        self.file("pci/nvme0n1/device/serial", "S5\n");
        self.file("pci/nvme0n1/device/model", "Fast One\n");
        self.file("pci/nvme0n1/queue/rotational", "0\n");
        self.file("pci/nvme0n1/queue/scheduler", "none\n");
        self
    }
}

#[test]
fn a_partition_has_its_disk_s_facts() {
    let facts = Tree::new().with_scsi();
    let facts = facts.sysfs().device(8, 1).unwrap();
    assert_eq!((facts.name.as_str(), facts.disk.as_str()), ("sda1", "sda"));
    assert_eq!(facts.model.as_deref(), Some("ST4000NM0035"));
    assert_eq!(facts.serial.as_deref(), Some("ZC1234"));
    assert_eq!(facts.by_path.as_deref(), Some("pci-0000:03:00.0-sas-phy4-lun-0"));
    assert_eq!(facts.by_id.as_deref(), Some("scsi-SST4000"));
    assert_eq!(facts.rotational, Some(true));
    assert_eq!(facts.write_cache.as_deref(), Some("write back"));
    assert_eq!(facts.scheduler.as_deref(), Some("mq-deadline"));
    assert!(facts.members.is_empty());
}

#[test]
fn dm_is_resolved_to_its_members_through_levels() {
    let tree = Tree::new().with_scsi().with_nvme();
    tree.device("virtual/dm-0", "253:0");
    tree.device("virtual/dm-1", "253:1");
    tree.slave("virtual/dm-0", "pci/sda/sda1");
    tree.slave("virtual/dm-1", "virtual/dm-0");
    tree.slave("virtual/dm-1", "pci/nvme0n1");
    let facts = tree.sysfs().device(253, 1).unwrap();
    let names: Vec<_> = facts.members.iter().map(|member| member.name.as_str()).collect();
    assert_eq!(names, ["dm-0", "nvme0n1"]);
    assert_eq!(facts.members[0].members[0].disk, "sda");
    assert_eq!(facts.members[1].serial.as_deref(), Some("S5"));
    assert_eq!(facts.members[1].rotational, Some(false));
    assert_eq!(facts.members[1].scheduler.as_deref(), Some("none"));
    assert_eq!(facts.all_names(), ["dm-0", "dm-1", "nvme0n1", "sda", "sda1"]);
}

#[test]
fn a_device_that_contains_itself_ends() {
    let tree = Tree::new();
    tree.device("virtual/dm-0", "253:0");
    tree.slave("virtual/dm-0", "virtual/dm-0");
    assert!(tree.sysfs().device(253, 0).is_some());
}

#[test]
fn no_device_no_facts() {
    let sysfs = Tree::new().sysfs();
    assert_eq!(sysfs.device(8, 0), None);
    let table = "43 27 0:47 / /o rw - overlay overlay rw\n44 27 0:48 / /t rw - tmpfs none rw\n";
    for mount in parse_mountinfo(table.as_bytes()) {
        assert_eq!(sysfs.device_of_mount(&mount), None);
    }
}

#[test]
fn btrfs_on_two_devices_names_both() {
    let tree = Tree::new().with_scsi().with_nvme();
    for place in ["pci/sda/sda1", "pci/nvme0n1"] {
        let dir = tree.dir.path().join("sys/fs/btrfs/0a-1b/devices");
        fs::create_dir_all(&dir).unwrap();
        let name = place.rsplit('/').next().unwrap();
        symlink(tree.dir.path().join("sys/devices").join(place), dir.join(name)).unwrap();
    }
    let table = "43 27 8:1 / /b rw - btrfs /dev/sda1 rw\n";
    let facts = tree.sysfs().device_of_mount(&parse_mountinfo(table.as_bytes())[0]).unwrap();
    assert_eq!(facts.name, "sda1");
    let names: Vec<_> = facts.members.iter().map(|member| member.name.as_str()).collect();
    assert_eq!(names, ["sda1", "nvme0n1"]);
    assert!(facts.spans_members);
}

#[test]
fn page_80_of_any_length() {
    assert_eq!(page_80_serial(b"\x00\x80\x00\x03ABCDEF").as_deref(), Some("ABC"));
    assert_eq!(page_80_serial(b"\x00\x80\x00\x09AB").as_deref(), Some("AB"));
    assert_eq!(page_80_serial(b"\x00\x80\x00\x02  "), None);
    assert_eq!(page_80_serial(b"\x00\x83\x00\x02AB"), None);
    assert_eq!(page_80_serial(b""), None);
}
