//! Who else is concerned when an option of a superblock changes: its mounts in all namespaces,
//! processes that have something open there, loop devices and NFS exports.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags};

use crate::host::mounts::{MountFacts, mounts, parse_mountinfo};
use crate::host::{HostError, procfs};

/// What is known to use a superblock beside the caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Users {
    /// Its mounts, in this namespace.
    pub mounts: Vec<PathBuf>,
    /// Its mounts in other namespaces: a process there, and the mount point as that sees it.
    pub elsewhere: Vec<(u32, PathBuf)>,
    /// Processes with an open file, a working directory or a program on it: id and name.
    pub processes: Vec<(u32, String)>,
    /// Files on it that back loop devices.
    pub loops: Vec<PathBuf>,
    /// Directories of it that are exported by NFS.
    pub exports: Vec<PathBuf>,
}

impl Users {
    /// Finds them. Processes that this user may not look into are not seen; root sees all.
    ///
    /// # Errors
    /// When the mount table cannot be read.
    pub fn of(mount: &MountFacts) -> Result<Self, HostError> {
        let device = (mount.major, mount.minor);
        let here = mounts()?;
        let mut users = Self {
            mounts: on_device(&here, device).map(|m| m.mount_point.clone()).collect(),
            ..Self::default()
        };
        let own = namespace(std::process::id());
        let mut ids = BTreeMap::from([(own.clone(), ids_of(&here, device))]);
        let family = family();
        for pid in procfs_pids() {
            let space = namespace(pid);
            if space.is_none() {
                continue; // gone, or not ours to look at
            }
            if !ids.contains_key(&space) {
                let text = std::fs::read(format!("/proc/{pid}/mountinfo")).unwrap_or_default();
                let there = parse_mountinfo(&text);
                let points = on_device(&there, device).map(|m| (pid, m.mount_point.clone()));
                users.elsewhere.extend(points);
                ids.insert(space.clone(), ids_of(&there, device));
            }
            let mounted = &ids[&space];
            if !mounted.is_empty() && !family.contains(&pid) && uses(pid, mounted) {
                let name = procfs::text(format!("/proc/{pid}/comm")).unwrap_or_default();
                users.processes.push((pid, name));
            }
        }
        users.loops = backing_files().filter(|file| lies_on(file, &ids[&own])).collect();
        users.exports = exports().filter(|dir| lies_on(dir, &ids[&own])).collect();
        Ok(users)
    }

    /// What stands against a change, a line each; the mounts themselves do not.
    #[must_use]
    pub fn objections(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let processes: Vec<_> =
            self.processes.iter().map(|(pid, name)| format!("{name} ({pid})")).collect();
        if !processes.is_empty() {
            let some = processes.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
            let more = processes.len().saturating_sub(5);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            lines.push(format!("in use by {some}{more}"));
        }
        for (pid, point) in &self.elsewhere {
            lines.push(format!("mounted for process {pid}, too, as {}", point.display()));
        }
        for file in &self.loops {
            lines.push(format!("{} on it backs a loop device", file.display()));
        }
        for dir in &self.exports {
            lines.push(format!("{} is exported by NFS", dir.display()));
        }
        lines
    }
}

fn on_device(table: &[MountFacts], device: (u32, u32)) -> impl Iterator<Item = &MountFacts> {
    table.iter().filter(move |mount| (mount.major, mount.minor) == device)
}

fn ids_of(table: &[MountFacts], device: (u32, u32)) -> BTreeSet<u64> {
    on_device(table, device).map(|mount| mount.mount_id).collect()
}

/// Name of a process's mount namespace.
fn namespace(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/ns/mnt")).ok()
}

fn procfs_pids() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// This process and those that it was started by: the shell may stand in the disk's directory.
fn family() -> BTreeSet<u32> {
    let mut family = BTreeSet::new();
    let mut pid = std::process::id();
    while pid > 1 && family.insert(pid) {
        let status = procfs::raw(format!("/proc/{pid}/status")).unwrap_or_default();
        pid = procfs::value_after(&status, "PPid").and_then(|pid| pid.try_into().ok()).unwrap_or(0);
    }
    family
}

fn uses(pid: u32, mounts: &BTreeSet<u64>) -> bool {
    let places = ["cwd", "root", "exe"];
    if places.iter().any(|place| lies_on(Path::new(&format!("/proc/{pid}/{place}")), mounts)) {
        return true;
    }
    let open = std::fs::read_dir(format!("/proc/{pid}/fdinfo")).into_iter().flatten().flatten();
    open.filter_map(|entry| procfs::raw(entry.path()))
        .filter_map(|text| procfs::value_after(&text, "mnt_id"))
        .any(|id| mounts.contains(&id))
}

/// Whether a path, links followed, lies on one of the mounts.
fn lies_on(path: &Path, mounts: &BTreeSet<u64>) -> bool {
    let found = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID);
    found.is_ok_and(|found| mounts.contains(&found.stx_mnt_id))
}

fn backing_files() -> impl Iterator<Item = PathBuf> {
    let blocks = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let files = blocks.filter_map(|block| procfs::text(block.path().join("loop/backing_file")));
    files.map(PathBuf::from)
}

fn exports() -> impl Iterator<Item = PathBuf> {
    let table = std::fs::read("/proc/fs/nfsd/exports").unwrap_or_default();
    let lines: Vec<Vec<u8>> = table.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    lines.into_iter().filter(|line| line.first() == Some(&b'/')).map(|line| {
        let end = line.iter().position(|byte| b" \t".contains(byte)).unwrap_or(line.len());
        PathBuf::from(std::ffi::OsStr::from_bytes(&line[..end]))
    })
}
