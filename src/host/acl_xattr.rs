//! ACLs of files and directories: read, set and removed as extended attributes.

use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;

use rustix::fs::XattrFlags;
use rustix::io::Errno;
use serde::Serialize;

use super::acl::{Acl, AclError, ENTRY, HEAD, MOST_BYTES};

/// Which of an inode's two ACLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum AclKind {
    /// The one that decides access.
    Access,
    /// The one that new files in a directory inherit.
    Default,
}

impl AclKind {
    /// The extended attribute it is kept in.
    #[must_use]
    pub fn xattr(self) -> &'static str {
        match self {
            Self::Access => super::acl::ACCESS_XATTR,
            Self::Default => "system.posix_acl_default",
        }
    }
}

/// Why an ACL could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The kernel's answer. EOPNOTSUPP: ACLs are not in force there.
    #[error("{}", super::errno::describe(*.0))]
    Errno(Errno),
    /// The value is no ACL.
    #[error(transparent)]
    Value(#[from] AclError),
}

/// The ACL of what a path names, the last component not followed if it is a link; `None` where there
/// is none beyond the mode. Reading one fills the kernel's cache of the inode's ACLs.
///
/// # Errors
/// EOPNOTSUPP where ACLs are not in force, other errno values of `lgetxattr`, a malformed value.
pub fn get(path: &Path, kind: AclKind) -> Result<Option<Acl>, ReadError> {
    read(|buffer| rustix::fs::lgetxattr(path, kind.xattr(), buffer))
}

/// The same of an open file or directory; a descriptor opened with O_PATH will do (by way of /proc).
///
/// # Errors
/// As [`get`].
pub fn get_fd(fd: BorrowedFd<'_>, kind: AclKind) -> Result<Option<Acl>, ReadError> {
    read(|buffer| match rustix::fs::fgetxattr(fd, kind.xattr(), &mut *buffer) {
        Err(Errno::BADF) => rustix::fs::getxattr(proc_path(fd), kind.xattr(), buffer),
        answer => answer,
    })
}

fn read(mut ask: impl FnMut(&mut [u8]) -> Result<usize, Errno>) -> Result<Option<Acl>, ReadError> {
    // 64 entries at first; what does not fit answers ERANGE.
    for size in [HEAD + 64 * ENTRY, MOST_BYTES] {
        let mut buffer = vec![0; size];
        match ask(&mut buffer) {
            Ok(length) => return Ok(Some(Acl::decode(&buffer[..length])?)),
            Err(Errno::NODATA) => return Ok(None),
            Err(Errno::RANGE) => {}
            Err(errno) => return Err(ReadError::Errno(errno)),
        }
    }
    Err(ReadError::Errno(Errno::RANGE))
}

/// Sets an ACL of what a path names, which must be no link. Setting an access ACL sets the mode too;
/// one that only says what a mode says is kept as mode alone.
///
/// # Errors
/// EOPNOTSUPP where ACLs are not in force; EINVAL for one that [`Acl::check`] refuses; EPERM for
/// others than the owner; ENOSPC where the file system has no room for it (ext4: one block).
pub fn set(path: &Path, kind: AclKind, acl: &Acl) -> Result<(), Errno> {
    rustix::fs::lsetxattr(path, kind.xattr(), &acl.encode(), XattrFlags::empty())
}

/// The same of an open file or directory, O_PATH or not.
///
/// # Errors
/// As [`set`].
pub fn set_fd(fd: BorrowedFd<'_>, kind: AclKind, acl: &Acl) -> Result<(), Errno> {
    let (value, flags) = (acl.encode(), XattrFlags::empty());
    match rustix::fs::fsetxattr(fd, kind.xattr(), &value, flags) {
        Err(Errno::BADF) => rustix::fs::setxattr(proc_path(fd), kind.xattr(), &value, flags),
        answer => answer,
    }
}

/// Removes an ACL of what a path names, which must be no link; the mode stays. With the mask gone,
/// the group bits of the mode are again the owning group's.
///
/// # Errors
/// As [`set`]. Where there is none, nothing happens.
pub fn remove(path: &Path, kind: AclKind) -> Result<(), Errno> {
    absent_is_fine(rustix::fs::lremovexattr(path, kind.xattr()))
}

/// The same of an open file or directory, O_PATH or not.
///
/// # Errors
/// As [`remove`].
pub fn remove_fd(fd: BorrowedFd<'_>, kind: AclKind) -> Result<(), Errno> {
    absent_is_fine(match rustix::fs::fremovexattr(fd, kind.xattr()) {
        Err(Errno::BADF) => rustix::fs::removexattr(proc_path(fd), kind.xattr()),
        answer => answer,
    })
}

fn absent_is_fine(answer: Result<(), Errno>) -> Result<(), Errno> {
    if answer == Err(Errno::NODATA) { Ok(()) } else { answer }
}

/// The kernel's link to an open file: leads to the very inode, whatever its name is by now.
fn proc_path(fd: BorrowedFd<'_>) -> String {
    format!("/proc/thread-self/fd/{}", fd.as_raw_fd())
}
