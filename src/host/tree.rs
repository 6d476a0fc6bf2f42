//! The one directory that a run makes on a disk, and its removal, by this process or another.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, Gid, Mode, OFlags, Uid, fchmod, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use super::acl::Acl;
use super::acl_xattr::{AclKind, remove_fd, set_fd};
use super::identity::Identity;
use super::marker::{self, Marker};
use super::remove::{RemoveReport, Remover};
use super::{HostError, errno};

/// What the names of run directories begin with; the run id follows.
pub const PREFIX: &str = ".jbodbench-";

/// The directory that belongs to whom the clients act as.
const CLIENTS_OWN: &str = "c";

/// The directory beside the clients' that they share: `SHARED` of a loadfile.
const SHARED: &str = "SHARED";

/// What a run directory is like inside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeSpec {
    /// Directories inside one another, in the innermost of which clients work.
    pub depth: u32,
    /// What these are like; `None` for plain directories of this user.
    pub dirs: Option<DirSpec>,
    /// A further directory of this user and group, in which clients work then.
    pub inner: Option<(u32, u32)>,
    /// A directory that all clients share, where they work: open to nobody but whom they act as.
    pub shared: bool,
}

impl TreeSpec {
    /// So many plain directories inside one another.
    #[must_use]
    pub fn of_depth(depth: u32) -> Self {
        Self { depth, ..Self::default() }
    }
}

/// What a directory is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirSpec {
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its permission bits.
    pub mode: u32,
    /// Its ACL, if that is to say more than the mode.
    pub acl: Option<Acl>,
    /// What new files in it inherit.
    pub default_acl: Option<Acl>,
}

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
        let (root, root_path, dirs) = nest(dir, &path, spec).inspect_err(|_| {
            let whole = (identity.dev, identity.ino);
            let _ = remove_checked(disk.as_fd(), &disk_path, &name, whole);
        })?;
        Ok(Self { disk, disk_path, name, identity, root, root_path, dirs })
    }

    /// The absolute path of the directory that holds the clients' directories.
    #[must_use]
    pub fn root_path(&self) -> &Path {
        &self.root_path
    }

    /// The same directory, open.
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
        drop(self.root);
        let identity = (self.identity.dev, self.identity.ino);
        remove_checked(self.disk.as_fd(), &self.disk_path, &self.name, identity)
    }
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
    /// Its marker; `None` where it cannot be read.
    pub marker: Option<Marker>,
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
        if run_id_of(entry.file_name()).is_err() {
            continue;
        }
        let Ok(dir) = openat(&fd, entry.file_name(), directory_flags(), Mode::empty()) else {
            continue;
        };
        let Ok(Identity { dev, ino, uid, .. }) = Identity::of(dir.as_fd()) else { continue };
        let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
        found.push(LeftTree { name, dev, ino, uid, marker: Marker::read(dir.as_fd()) });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

fn legal_name(name: &[u8]) -> Result<CString, Errno> {
    let name = CString::new(name).map_err(|_| Errno::INVAL)?;
    run_id_of(&name)?;
    Ok(name)
}

/// The run id in a directory's name; ids are letters, digits, `-`, `_` and `.`.
fn run_id_of(name: &CStr) -> Result<&str, Errno> {
    let id = name.to_str().ok().and_then(|name| name.strip_prefix(PREFIX));
    let legal = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    id.filter(|id| !id.is_empty() && id.len() <= 200 && id.chars().all(legal)).ok_or(Errno::INVAL)
}

fn mode_755() -> Mode {
    Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH
}

fn directory_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn open_disk(disk: &Path) -> Result<OwnedFd, HostError> {
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

/// Makes `d1/d2/...` below a directory, and the clients' own in the innermost; returns that with its
/// path, and the paths of the others.
fn nest(
    mut dir: OwnedFd,
    path: &Path,
    spec: &TreeSpec,
) -> Result<(OwnedFd, PathBuf, Vec<PathBuf>), HostError> {
    let mut here = path.to_owned();
    let mut dirs = vec![here.clone()];
    for level in 1..=spec.depth {
        let name = format!("d{level}");
        here.push(&name);
        dir = make_below(&dir, &name, &here)?;
        if let Some(like) = &spec.dirs {
            shape(dir.as_fd(), like).map_err(HostError::on("set owner, mode or ACL of", &here))?;
        }
        dirs.push(here.clone());
    }
    if let Some(owner) = spec.inner {
        here.push(CLIENTS_OWN);
        dir = make_below(&dir, CLIENTS_OWN, &here)?;
        shape(dir.as_fd(), &plain(owner, 0o755)).map_err(HostError::on("give away", &here))?;
    }
    if spec.shared {
        let path = here.join(SHARED);
        let shared = make_below(&dir, SHARED, &path)?;
        let closed = match spec.inner {
            Some(owner) => shape(shared.as_fd(), &plain(owner, 0o700)),
            // File systems without modes refuse this.
            None => fchmod(&shared, Mode::RWXU).or(Ok(())),
        };
        closed.map_err(HostError::on("give away", &path))?;
    }
    Ok((dir, here, dirs))
}

/// A directory without ACLs.
fn plain((uid, gid): (u32, u32), mode: u32) -> DirSpec {
    DirSpec { uid, gid, mode, acl: None, default_acl: None }
}

fn make_below(dir: &OwnedFd, name: &str, path: &Path) -> Result<OwnedFd, HostError> {
    mkdirat(dir, name, mode_755())
        .and_then(|()| openat(dir, name, directory_flags(), Mode::empty()))
        .map_err(HostError::on("create", path))
}

/// Owner, mode and ACLs of a directory that was just made. What it inherited goes.
fn shape(dir: BorrowedFd<'_>, like: &DirSpec) -> Result<(), Errno> {
    let stat = rustix::fs::fstat(dir)?;
    if (stat.st_uid, stat.st_gid) != (like.uid, like.gid) {
        let (uid, gid) = (Uid::from_raw(like.uid), Gid::from_raw(like.gid));
        rustix::fs::fchown(dir, Some(uid), Some(gid))?;
    }
    fchmod(dir, Mode::from_raw_mode(like.mode))?;
    for (kind, acl) in [(AclKind::Access, &like.acl), (AclKind::Default, &like.default_acl)] {
        match acl {
            Some(acl) => set_fd(dir, kind, acl)?,
            None => match remove_fd(dir, kind) {
                Err(Errno::OPNOTSUPP) => {} // no ACLs here, so none was inherited
                answer => answer?,
            },
        }
    }
    Ok(())
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
