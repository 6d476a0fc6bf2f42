//! Run directories that are on a disk, whoever made them.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Dir, Mode, OFlags, openat};

use super::HostError;
use super::heartbeat::{others_may_see, since_touched};
use super::identity::Identity;
use super::marker::{self, Holder, Marker};
use super::nest::directory_flags;
use super::tree::{open_disk, run_id_of};

/// A run directory found on a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftTree {
    /// Its name below the disk directory.
    pub name: OsString,
    /// Its device number.
    pub dev: u64,
    /// Its inode number.
    pub ino: u64,
    /// The user who owns it.
    pub uid: u32,
    /// Its marker, of the run that the name says; `None` where there is none, or it cannot be read.
    pub marker: Option<Marker>,
    /// Who may still work in it.
    pub holder: Holder,
}

/// The run directories on a disk, whoever made them.
///
/// # Errors
/// When the disk directory cannot be read.
pub fn find_trees(disk: &Path) -> Result<Vec<LeftTree>, HostError> {
    let fd = open_disk(disk)?;
    let entries = Dir::read_from(&fd).map_err(HostError::on("read", disk))?;
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(HostError::on("read", disk))?;
        let Ok(run_id) = run_id_of(entry.file_name()) else { continue };
        let Ok(dir) = openat(&fd, entry.file_name(), directory_flags(), Mode::empty()) else {
            continue;
        };
        let Ok(Identity { dev, ino, uid, .. }) = Identity::of(dir.as_fd()) else { continue };
        let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
        let marker = Marker::read(dir.as_fd()).filter(|marker| marker.run_id == run_id);
        let beat = || {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let file = openat(&dir, marker::FILE_NAME, flags, Mode::empty()).ok()?;
            since_touched(&File::from(file))
        };
        let beat = if others_may_see(dir.as_fd()) { beat() } else { None };
        let holder = marker.as_ref().map_or(Holder::Nobody, |marker| marker.holder(beat));
        found.push(LeftTree { name, dev, ino, uid, marker, holder });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}
