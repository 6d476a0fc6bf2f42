//! Whether a disk can be used, found out before the load, as the user who runs.
//!
//! A frozen disk answers none of this: call [`check_disk`] where waiting does no harm.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, Mode, OFlags, accessat, mkdirat, statat, unlinkat};
use rustix::io::Errno;

use super::caller::Caller;
use super::mounts::{self, MountFacts};
use super::parents::{self, UnsafeParent};
use super::space::{Space, SpaceWarning};
use super::squash::Squashed;
use super::{HostError, errno};

/// Why a disk cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It does not exist.
    Missing,
    /// It is something else than a directory.
    NotADirectory,
    /// The file system is read-only.
    ReadOnly,
    /// This user may not make directories in it.
    NotWritable,
    /// The file system or the user's quota is full.
    Full(Errno),
    /// Another error.
    Failed(Errno),
}

impl Unusable {
    pub(super) fn from_errno(errno: Errno) -> Self {
        match errno {
            Errno::NOENT => Self::Missing,
            Errno::NOTDIR => Self::NotADirectory,
            Errno::ROFS => Self::ReadOnly,
            Errno::ACCESS | Errno::PERM => Self::NotWritable,
            Errno::NOSPC | Errno::DQUOT => Self::Full(errno),
            other => Self::Failed(other),
        }
    }

    /// The word for a status column.
    #[must_use]
    pub const fn status(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::NotADirectory => "not-a-directory",
            Self::ReadOnly => "read-only",
            Self::NotWritable => "not-writable",
            Self::Full(_) => "full",
            Self::Failed(_) => "failed",
        }
    }

    /// The errno for an errno column.
    #[must_use]
    pub const fn errno(self) -> Errno {
        match self {
            Self::Missing => Errno::NOENT,
            Self::NotADirectory => Errno::NOTDIR,
            Self::ReadOnly => Errno::ROFS,
            Self::NotWritable => Errno::ACCESS,
            Self::Full(errno) | Self::Failed(errno) => errno,
        }
    }
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let errno = self.errno();
        write!(f, "{}{}", errno::describe(errno), errno::advice(errno))
    }
}

/// How a disk is tried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trial {
    /// By using it: a directory is made in it and removed.
    Make,
    /// By asking the kernel whether that would be allowed: nothing on the disk changes.
    Ask,
}

/// What was found out about a disk.
#[derive(Clone, Debug)]
pub struct DiskCheck {
    /// The DISK argument made absolute, symlinks in it kept: the disk's name in all results.
    pub label: PathBuf,
    /// The path without symlinks; `None` if it does not exist.
    pub canonical: Option<PathBuf>,
    /// The device number that `stat` answers.
    pub dev: Option<u64>,
    /// The inode number of the directory.
    pub ino: Option<u64>,
    /// Its mount; also says whether the disk is a mount point.
    pub mount: Option<MountFacts>,
    /// Why it cannot be used, if so.
    pub unusable: Option<Unusable>,
    /// Room on it.
    pub space: Option<Space>,
    /// Less room than the load needs.
    pub space_warning: Option<SpaceWarning>,
    /// The index of an earlier disk on the same file system.
    pub same_fs_as: Option<usize>,
    /// For root: a directory above that another user can exchange.
    pub unsafe_parent: Option<UnsafeParent>,
    /// For root: what it makes here is not root's.
    pub squashed: Option<Squashed>,
    /// Whom the run directory has to be made as, if not as this user.
    pub maker: Option<Caller>,
}

impl DiskCheck {
    /// What tells file systems apart: the number in the mount table, which subvolumes share.
    #[must_use]
    pub fn file_system(&self) -> Option<(u32, u32)> {
        let by_stat = |dev| (rustix::fs::major(dev), rustix::fs::minor(dev));
        self.mount.as_ref().map(|m| (m.major, m.minor)).or(self.dev.map(by_stat))
    }
}

/// A DISK argument as an absolute path: `.` and double slashes go, symlinks and `..` stay.
///
/// # Errors
/// For an empty argument, and where the working directory is gone.
pub fn label(disk: &Path) -> Result<PathBuf, HostError> {
    let absolute =
        std::path::absolute(disk).map_err(|e| HostError::on("name", disk)(errno::of_io(&e)))?;
    // A slash at the end is no other directory.
    Ok(absolute.components().collect())
}

/// Checks one disk, as far as `trial` goes.
///
/// # Errors
/// Only where the argument cannot be made absolute; all else is in the result.
pub fn check_disk(disk: &Path, need_bytes: u64, trial: Trial) -> Result<DiskCheck, HostError> {
    let label = label(disk)?;
    let root = rustix::process::geteuid().is_root();
    let canonical = std::fs::canonicalize(&label).ok();
    let stat = rustix::fs::stat(&label).ok();
    let space = Space::of(&label, root).ok();
    let probed = probe(&label, trial);
    Ok(DiskCheck {
        squashed: probed.ok().flatten().filter(|uid| root && *uid != 0).map(Squashed::As),
        maker: None,
        unusable: probed.err().map(Unusable::from_errno),
        dev: stat.map(|stat| stat.st_dev),
        ino: stat.map(|stat| stat.st_ino),
        mount: mounts::mount_of(&label).ok(),
        space_warning: space.and_then(|space| space.warning(need_bytes)),
        space,
        same_fs_as: None,
        unsafe_parent: canonical
            .as_deref()
            .filter(|_| root)
            .and_then(|canonical| parents::unsafe_parent(&label, canonical)),
        canonical,
        label,
    })
}

/// Notes for each disk the first earlier one on the same file system.
pub fn mark_shared(disks: &mut [DiskCheck]) {
    let ids: Vec<_> = disks.iter().map(DiskCheck::file_system).collect();
    for (index, disk) in disks.iter_mut().enumerate() {
        disk.same_fs_as =
            ids[index].and_then(|id| ids[..index].iter().position(|other| *other == Some(id)));
    }
}

/// Makes and removes a directory; whose it was, if one was made.
pub(super) fn probe(disk: &Path, trial: Trial) -> Result<Option<u32>, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = match rustix::fs::open(disk, flags, Mode::empty()) {
        Ok(dir) => dir,
        // A file is no directory, whoever may read it.
        Err(Errno::ACCESS) if disk.is_file() => return Err(Errno::NOTDIR),
        Err(errno) => return Err(errno),
    };
    if trial == Trial::Ask {
        let access = Access::WRITE_OK | Access::EXEC_OK;
        return accessat(&dir, ".", access, AtFlags::EACCESS).map(|()| None);
    }
    // By thread: the same directory may be asked under two names at once.
    let name = format!(".jbodbench-probe-{}", rustix::thread::gettid());
    make(dir.as_fd(), &name)?;
    let owner = statat(&dir, &name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| stat.st_uid);
    unlinkat(&dir, &name, AtFlags::REMOVEDIR)?;
    owner.map(Some)
}

/// A probe that was killed left an empty directory of that name.
fn make(dir: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    match mkdirat(dir, name, Mode::RWXU) {
        Err(Errno::EXIST) => {
            unlinkat(dir, name, AtFlags::REMOVEDIR)?;
            mkdirat(dir, name, Mode::RWXU)
        }
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usable_directory() {
        let dir = tempfile::tempdir().unwrap();
        let check = check_disk(dir.path(), 1, Trial::Make).unwrap();
        assert_eq!(check.unusable, None);
        assert!(check.mount.as_ref().is_some_and(|mount| !mount.is_mount_point));
        assert!(check.space.is_some() && check.canonical.is_some());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(check_disk(dir.path(), u64::MAX, Trial::Make).unwrap().space_warning.is_some());
    }

    #[test]
    fn a_probe_left_behind_is_no_hindrance() {
        let dir = tempfile::tempdir().unwrap();
        let left = dir.path().join(format!(".jbodbench-probe-{}", rustix::thread::gettid()));
        std::fs::create_dir(left).unwrap();
        assert_eq!(check_disk(dir.path(), 1, Trial::Make).unwrap().unusable, None);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn unusable_ones_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert_eq!(
            check_disk(&file, 1, Trial::Make).unwrap().unusable,
            Some(Unusable::NotADirectory)
        );
        let missing = check_disk(&dir.path().join("no"), 1, Trial::Make).unwrap();
        assert_eq!(missing.unusable.map(Unusable::status), Some("missing"));
        assert!(missing.mount.is_none() && missing.space.is_none());
        let proc = check_disk(Path::new("/proc"), 1, Trial::Make).unwrap().unusable.unwrap();
        assert!(!proc.to_string().is_empty());
    }

    #[test]
    fn labels() {
        assert_eq!(label(Path::new("/mnt//d1/./")).unwrap(), Path::new("/mnt/d1"));
        assert_eq!(label(Path::new("/mnt/../x")).unwrap(), Path::new("/mnt/../x"));
        assert_eq!(label(Path::new(".")).unwrap(), std::env::current_dir().unwrap());
        assert!(label(Path::new("")).is_err());
    }

    #[test]
    fn the_same_file_system_is_noted() {
        let dir = tempfile::tempdir().unwrap();
        let other = dir.path().join("other");
        std::fs::create_dir(&other).unwrap();
        let mut checks: Vec<_> = [dir.path(), Path::new("/proc"), &other]
            .into_iter()
            .map(|path| check_disk(path, 1, Trial::Make).unwrap())
            .collect();
        mark_shared(&mut checks);
        let shared: Vec<_> = checks.iter().map(|check| check.same_fs_as).collect();
        assert_eq!(shared, [None, None, Some(0)]);
    }

    #[test]
    fn asking_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let before = std::fs::metadata(dir.path()).unwrap().modified().unwrap();
        assert_eq!(check_disk(dir.path(), 1, Trial::Ask).unwrap().unusable, None);
        assert_eq!(std::fs::metadata(dir.path()).unwrap().modified().unwrap(), before);
        let missing = dir.path().join("x");
        let check = check_disk(&missing, 1, Trial::Ask).unwrap();
        assert_eq!(check.unusable, Some(Unusable::Missing));
    }
}
