//! What has to be undone, on disk before it is done: one file for each remounted file system.
//!
//! A remount does not outlive a boot, so neither does a journal: it lies below /run, and one of
//! another boot is only removed.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{NoAclError, switch};
use crate::host::mounts::{MountFacts, mounts};
use crate::host::owner::Owner;
use crate::host::{HostError, errno, procfs};

/// Where journals lie.
pub const DIRECTORY: &str = "/run/jbodbench";

/// A remount that is to be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The run that made it.
    pub run_id: String,
    /// The processes that are to undo it: the one that made it, and the one that watches that.
    pub owners: [Owner; 2],
    /// The boot in which it was made.
    pub boot_id: String,
    /// Where the file system was mounted then.
    pub mount_point: PathBuf,
    /// Its device as the mount table has it.
    pub device: (u32, u32),
    /// Whether ACLs were in force before.
    pub acls_in_force: bool,
}

/// A journal file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    /// The file.
    pub path: PathBuf,
    /// What it says.
    pub entry: Entry,
}

/// What came of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undone {
    /// ACLs are as they were before.
    Restored,
    /// It is of another boot, or the file system is no longer mounted there.
    Outdated,
}

impl Journal {
    /// Writes that a mount is about to be changed, and sees it stored.
    ///
    /// # Errors
    /// When the file cannot be written; one of the same name is not replaced.
    pub fn write(run_id: &str, mount: &MountFacts, acls_in_force: bool) -> Result<Self, HostError> {
        let entry = Entry {
            run_id: run_id.to_owned(),
            owners: Owner::this_and_its_parent(),
            boot_id: boot_id(),
            mount_point: mount.mount_point.clone(),
            device: (mount.major, mount.minor),
            acls_in_force,
        };
        let directory = Path::new(DIRECTORY);
        let name = format!("{run_id}-{}-{}.json", mount.major, mount.minor);
        let path = directory.join(name);
        store(directory, &path, &entry)
            .map_err(|error| HostError::on("write", &path)(errno::of_io(&error)))?;
        Ok(Self { path, entry })
    }

    /// All journals that are there, whoever wrote them.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut found: Vec<_> = files().iter().filter_map(|file| Self::read(file)).collect();
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found
    }

    /// Journal files that do not say what is to be undone: cut short, of another version, or not to be
    /// read by this user. One that has just been removed is none.
    #[must_use]
    pub fn unreadable() -> Vec<PathBuf> {
        let odd = |path: &PathBuf| Self::read(path).is_none() && path.symlink_metadata().is_ok();
        let mut found: Vec<_> = files().into_iter().filter(odd).collect();
        found.sort();
        found
    }

    /// Where journals cannot even be listed: the errno.
    ///
    /// # Errors
    /// That of reading the directory; that there is none is no error.
    pub fn listable() -> Result<(), HostError> {
        match std::fs::read_dir(DIRECTORY) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(HostError::on("read", Path::new(DIRECTORY))(errno::of_io(&error)))
            }
            _ => Ok(()),
        }
    }

    /// A journal file; `None` when it is none.
    #[must_use]
    pub fn read(path: &Path) -> Option<Self> {
        let entry = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        Some(Self { path: path.to_owned(), entry })
    }

    /// The process that is still there to undo it.
    #[must_use]
    pub fn owner(&self) -> Option<u32> {
        let here = self.entry.boot_id == boot_id();
        let alive = self.entry.owners.iter().find(|owner| owner.runs());
        alive.filter(|_| here).map(|owner| owner.pid)
    }

    /// Sets the one option back, verifies it, and removes the file.
    ///
    /// # Errors
    /// When the option cannot be set back; the file stays then.
    pub fn undo(&self) -> Result<Undone, NoAclError> {
        let Entry { mount_point, device, acls_in_force, .. } = &self.entry;
        let is_there = |mount: &MountFacts| {
            mount.mount_point == *mount_point && (mount.major, mount.minor) == *device
        };
        let undone = if self.entry.boot_id == boot_id() && mounts()?.iter().any(is_there) {
            switch(mount_point, *acls_in_force)?;
            Undone::Restored
        } else {
            Undone::Outdated
        };
        let _ = std::fs::remove_file(&self.path);
        Ok(undone)
    }
}

fn files() -> Vec<PathBuf> {
    let files = std::fs::read_dir(DIRECTORY).into_iter().flatten().flatten();
    files.map(|file| file.path()).collect()
}

fn boot_id() -> String {
    procfs::text("/proc/sys/kernel/random/boot_id").unwrap_or_default()
}

/// The file and its name are on disk when this returns.
fn store(directory: &Path, path: &Path, entry: &Entry) -> std::io::Result<()> {
    match std::fs::DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    serde_json::to_writer(&mut file, entry)?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    File::open(directory)?.sync_all()
}
