//! The one directory that a run makes on a disk, and its removal, by this process or another.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, fchmod, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use super::caller::Caller;
use super::credentials::Credentials;
use super::heartbeat::{Heartbeat, others_may_see};
use super::identity::Identity;
use super::marker::{self, Marker};
use super::nest::{directory_flags, mode_755, nest};
use super::remove::{RemoveReport, Remover};
use super::{HostError, errno};

pub use super::nest::{DirSpec, TreeSpec};

/// What the names of run directories begin with; the run id follows.
pub const PREFIX: &str = ".jbodbench-";

/// A run directory of this process. Dropping it removes nothing.
#[derive(Debug)]
pub struct RunTree {
    disk: OwnedFd,
    disk_path: PathBuf,
    name: CString,
    identity: Identity,
    root: OwnedFd,
    root_path: PathBuf,
    /// Paths of the run directory and of those in it, without the clients' own.
    dirs: Vec<PathBuf>,
    /// Device and inode number of the clients' own.
    root_id: (u64, u64),
    twin: Option<Twin>,
    /// Whom it was made as, if not as this user.
    maker: Option<Caller>,
    /// Tells other hosts that the run lives, where they may see it.
    _heartbeat: Option<Heartbeat>,
}

/// A second way like the one to the clients' directory: equal in owners, modes and ACLs, made at the
/// same time. What would bring the first into the kernel's caches is asked of this one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Twin {
    /// The directory that is like the clients' own.
    pub root_path: PathBuf,
    /// Paths of the run directory and of those in it on this way.
    pub dirs: Vec<PathBuf>,
}

impl RunTree {
    /// Makes `.jbodbench-<run_id>` on a disk, with its marker, and what `spec` says in it. The clients
    /// work in the innermost directory.
    ///
    /// # Errors
    /// When a call fails, or what was made is not what was opened. Nothing is left then.
    pub fn create(disk: &Path, run_id: &str, spec: &TreeSpec) -> Result<Self, HostError> {
        let disk_path =
            std::path::absolute(disk).map_err(|e| HostError::on("name", disk)(errno::of_io(&e)))?;
        let name = legal_name(format!("{PREFIX}{run_id}").as_bytes())
            .map_err(HostError::on("name a run below", disk))?;
        let path = disk_path.join(OsStr::from_bytes(name.to_bytes()));
        let disk = open_disk(&disk_path)?;
        mkdirat(&disk, &name, mode_755()).map_err(HostError::on("create", &path))?;
        let made = open_and_mark(disk.as_fd(), &name, &path, run_id);
        let (identity, dir) = made.inspect_err(|_| {
            // Only what is empty goes: after an error the directory may be another's.
            let _ = unlinkat(&disk, &name, AtFlags::REMOVEDIR);
        })?;
        let heartbeat = match others_may_see(dir.as_fd()) {
            true => dir.try_clone().ok().and_then(|dir| Heartbeat::of(dir, marker::FILE_NAME)),
            false => None,
        };
        let inside = fill(dir, &path, spec).inspect_err(|_| {
            let whole = (identity.dev, identity.ino);
            let _ = remove_checked(disk.as_fd(), &disk_path, &name, whole);
        })?;
        let Inside { root, root_path, dirs, root_id, twin } = inside;
        let maker = None;
        Ok(Self {
            disk,
            disk_path,
            name,
            identity,
            root,
            root_path,
            dirs,
            root_id,
            twin,
            maker,
            _heartbeat: heartbeat,
        })
    }

    /// The same as another user, where this one, root, is nobody.
    ///
    /// # Errors
    /// As [`RunTree::create`], and where the user's credentials cannot be taken.
    pub fn create_as(
        maker: Option<&Caller>,
        disk: &Path,
        run_id: &str,
        spec: &TreeSpec,
    ) -> Result<Self, HostError> {
        let tree = acting_as(maker, || Self::create(disk, run_id, spec))??;
        Ok(Self { maker: maker.cloned(), ..tree })
    }

    /// Whom it was made as, if not as this user.
    #[must_use]
    pub fn maker(&self) -> Option<&Caller> {
        self.maker.as_ref()
    }

    /// Keeps the run directory open instead of the clients' own, so that nothing holds what is below
    /// it in the kernel's caches.
    ///
    /// # Errors
    /// When the run directory cannot be opened, or is another one by now.
    pub fn let_go(&mut self) -> Result<(), HostError> {
        let path = self.disk_path.join(self.name());
        let top = openat(&self.disk, &self.name, directory_flags(), Mode::empty())
            .map_err(HostError::on("open", &path))?;
        let found = Identity::of(top.as_fd()).map_err(HostError::on("look at", &path))?;
        if (found.dev, found.ino) != (self.identity.dev, self.identity.ino) {
            let reason = "not the directory that the run made".to_owned();
            return Err(HostError::NotOurs { path, reason });
        }
        self.root = top;
        Ok(())
    }

    /// The way beside the clients', if one was asked for.
    #[must_use]
    pub fn twin(&self) -> Option<&Twin> {
        self.twin.as_ref()
    }

    /// Device and inode number of the directory that holds the clients' directories.
    #[must_use]
    pub fn root_id(&self) -> (u64, u64) {
        self.root_id
    }

    /// The absolute path of the directory that holds the clients' directories.
    #[must_use]
    pub fn root_path(&self) -> &Path {
        &self.root_path
    }

    /// The same directory, open; after [`RunTree::let_go`] the run directory.
    #[must_use]
    pub fn root_fd(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// The run directory and those inside one another in it, which every path of a client passes,
    /// without the clients' own.
    #[must_use]
    pub fn dirs(&self) -> &[PathBuf] {
        &self.dirs
    }

    /// The name of the run directory on the disk.
    #[must_use]
    pub fn name(&self) -> &OsStr {
        OsStr::from_bytes(self.name.to_bytes())
    }

    /// The disk directory's absolute path, symlinks in it kept.
    #[must_use]
    pub fn disk_path(&self) -> &Path {
        &self.disk_path
    }

    /// The device number of the run directory, as `stat` answers it.
    #[must_use]
    pub fn dev(&self) -> u64 {
        self.identity.dev
    }

    /// The inode number of the run directory.
    #[must_use]
    pub fn ino(&self) -> u64 {
        self.identity.ino
    }

    /// Removes the run directory and everything in it.
    ///
    /// # Errors
    /// When the directory is not the one that was made. Single files that stay are in the report.
    pub fn remove(self) -> Result<RemoveReport, HostError> {
        drop((self.root, self._heartbeat));
        let identity = (self.identity.dev, self.identity.ino);
        let remove = || remove_checked(self.disk.as_fd(), &self.disk_path, &self.name, identity);
        acting_as(self.maker.as_ref(), remove)?
    }
}

/// Does something as another user, if one is named.
///
/// # Errors
/// Where the user's credentials cannot be taken.
pub fn acting_as<T: Send>(
    user: Option<&Caller>,
    body: impl FnOnce() -> T + Send,
) -> Result<T, HostError> {
    let Some(user) = user else { return Ok(body()) };
    let doing = "act as the user of the clients";
    Credentials::of_caller(user).run_as(body).map_err(|errno| HostError::Call { doing, errno })
}

/// Removes a run directory that another process made; `dev` and `ino` are what it had then.
///
/// A missing directory is no error. One without a marker is removed only if it is empty.
///
/// # Errors
/// When the directory is another one, or a call fails. Files that stay are in the report.
pub fn remove_tree(
    disk: &Path,
    name: &OsStr,
    dev: u64,
    ino: u64,
) -> Result<RemoveReport, HostError> {
    let name = legal_name(name.as_bytes())
        .map_err(HostError::on("remove a run directory of that name below", disk))?;
    remove_checked(open_disk(disk)?.as_fd(), disk, &name, (dev, ino))
}

fn legal_name(name: &[u8]) -> Result<CString, Errno> {
    let name = CString::new(name).map_err(|_| Errno::INVAL)?;
    run_id_of(&name)?;
    Ok(name)
}

/// The run id in a directory's name; ids are letters, digits, `-`, `_` and `.`.
pub(super) fn run_id_of(name: &CStr) -> Result<&str, Errno> {
    let id = name.to_str().ok().and_then(|name| name.strip_prefix(PREFIX));
    let legal = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    id.filter(|id| !id.is_empty() && id.len() <= 200 && id.chars().all(legal)).ok_or(Errno::INVAL)
}

pub(super) fn open_disk(disk: &Path) -> Result<OwnedFd, HostError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(disk, flags, Mode::empty()).map_err(HostError::on("open", disk))
}

/// Opens the new directory, makes sure that it is ours, and writes the marker.
fn open_and_mark(
    disk: BorrowedFd<'_>,
    name: &CStr,
    path: &Path,
    run_id: &str,
) -> Result<(Identity, OwnedFd), HostError> {
    let dir = openat(disk, name, directory_flags(), Mode::empty())
        .map_err(HostError::on("open", path))?;
    let identity = Identity::of(dir.as_fd()).map_err(HostError::on("look at", path))?;
    let file = Marker::of_this_process(run_id)
        .write(dir.as_fd())
        .map_err(HostError::on("write a marker in", path))?;
    // The owner must be who new files belong to here: this user, or what a mount makes of it.
    let owner = rustix::fs::fstat(&file).map_err(HostError::on("look at the marker in", path))?;
    if owner.st_uid != identity.uid {
        let _ = unlinkat(&dir, marker::FILE_NAME, AtFlags::empty());
        let reason = format!("just made by user {}, yet owned by {}", owner.st_uid, identity.uid);
        return Err(HostError::NotOurs { path: path.to_owned(), reason });
    }
    if identity.mode & 0o777 != 0o755 {
        // The umask or a default ACL took bits away. File systems without modes refuse this.
        let _ = fchmod(&dir, mode_755());
    }
    Ok((identity, dir))
}

/// What was made in a run directory.
struct Inside {
    root: OwnedFd,
    root_path: PathBuf,
    dirs: Vec<PathBuf>,
    root_id: (u64, u64),
    twin: Option<Twin>,
}

fn fill(dir: OwnedFd, path: &Path, spec: &TreeSpec) -> Result<Inside, HostError> {
    let twin = match spec.twin {
        true => {
            let dir = dir.try_clone().map_err(|e| HostError::on("open", path)(errno::of_io(&e)))?;
            let (_, root_path, dirs) = nest(dir, path, 't', spec)?;
            Some(Twin { root_path, dirs })
        }
        false => None,
    };
    let (root, root_path, dirs) = nest(dir, path, 'd', spec)?;
    let found = Identity::of(root.as_fd()).map_err(HostError::on("look at", &root_path))?;
    Ok(Inside { root, root_path, dirs, root_id: (found.dev, found.ino), twin })
}

/// Opens a run directory by name, makes sure that it is the one meant, and removes it.
fn remove_checked(
    disk: BorrowedFd<'_>,
    disk_path: &Path,
    name: &CStr,
    expected: (u64, u64),
) -> Result<RemoveReport, HostError> {
    let path = disk_path.join(OsStr::from_bytes(name.to_bytes()));
    let not_ours =
        |reason: &str| HostError::NotOurs { path: path.clone(), reason: reason.to_owned() };
    let dir = match openat(disk, name, directory_flags(), Mode::empty()) {
        Ok(dir) => dir,
        Err(Errno::NOENT) => return Ok(RemoveReport::default()),
        Err(Errno::LOOP | Errno::NOTDIR) => return Err(not_ours("a link or file took its place")),
        Err(errno) => return Err(HostError::on("open", &path)(errno)),
    };
    let identity = Identity::of(dir.as_fd()).map_err(HostError::on("look at", &path))?;
    if (identity.dev, identity.ino) != expected {
        return Err(not_ours("not the directory that the run made (device or inode differ)"));
    }
    let run_id = run_id_of(name).map_err(HostError::on("remove", &path))?;
    match Marker::read(dir.as_fd()) {
        Some(marker) if marker.run_id == run_id => {}
        Some(_) => return Err(not_ours("its marker names another run")),
        None => return remove_unmarked(disk, name, &path),
    }
    Remover::new(disk, disk_path)
        .force()
        .keep_until_last(marker::FILE_NAME)
        .remove_opened(name, dir, identity)
        .map_err(HostError::on("remove", &path))
}

/// A run killed before it wrote its marker left an empty directory, which rmdir can judge.
fn remove_unmarked(
    disk: BorrowedFd<'_>,
    name: &CStr,
    path: &Path,
) -> Result<RemoveReport, HostError> {
    match unlinkat(disk, name, AtFlags::REMOVEDIR) {
        Ok(()) => Ok(RemoveReport { removed: 1, ..RemoveReport::default() }),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Err(HostError::NotOurs {
            path: path.to_owned(),
            reason: "it has no marker file and is not empty".to_owned(),
        }),
        Err(errno) => Err(HostError::on("remove", path)(errno)),
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
