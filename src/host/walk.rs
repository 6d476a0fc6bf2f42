//! Whether a path walk stays in RCU mode: the fast way, in which the kernel takes no lock and no
//! reference on the directories it passes.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use rustix::path::Arg;
use serde::Serialize;

/// How the kernel walked a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Walk {
    /// In RCU mode all the way.
    Rcu,
    /// It left RCU mode: each component from there on costs a reference and a lock.
    Left,
    /// The kernel cannot be asked (before 5.12, or a sandbox forbids openat2).
    Unknown,
}

/// Asks the kernel how it walks to a path, links followed, with the calling thread's credentials.
///
/// `openat2` with RESOLVE_CACHED gives up (EAGAIN) where a walk would leave RCU mode: at a name that
/// is not in the dentry cache, or at a permission check that cannot be answered without blocking. A
/// `stat` before it brings all names, and what caches of ACLs it can, into memory, so that what is
/// left is the check. Nothing is opened (O_PATH).
///
/// # Errors
/// The errno of that `stat`: EACCES where the path cannot be reached at all.
pub fn walk_rcu(path: &Path) -> Result<Walk, Errno> {
    rustix::fs::stat(path)?;
    walk_now(path)
}

/// Walks to a path and opens nothing (O_PATH): all names on the way, and what caches of ACLs it can,
/// are in memory then. Relative paths start at a directory.
///
/// # Errors
/// The errno of the walk, such as ENOENT; ENOSYS before Linux 5.6.
pub fn walk_at(at: BorrowedFd<'_>, path: &CStr) -> Result<(), Errno> {
    open_path(at, path, ResolveFlags::empty())
}

/// The same without the `stat` before it: whether all that a walk needs is in memory already. Asking
/// brings nothing in.
///
/// # Errors
/// The errno of the walk, such as EACCES where the path cannot be reached.
pub fn walk_now(path: &Path) -> Result<Walk, Errno> {
    walk_now_at(CWD, path)
}

/// [`walk_now`] to a path that starts at a directory.
///
/// # Errors
/// As of [`walk_now`].
pub fn walk_now_at(at: BorrowedFd<'_>, path: impl Arg) -> Result<Walk, Errno> {
    match open_path(at, path, ResolveFlags::CACHED) {
        Ok(()) => Ok(Walk::Rcu),
        Err(Errno::AGAIN) => Ok(Walk::Left),
        Err(Errno::NOSYS | Errno::INVAL | Errno::PERM) => Ok(Walk::Unknown),
        Err(errno) => Err(errno),
    }
}

fn open_path(at: BorrowedFd<'_>, path: impl Arg, how: ResolveFlags) -> Result<(), Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    rustix::fs::openat2(at, path, flags, Mode::empty(), how).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_path_and_a_missing_one() {
        // An idle machine may drop a name between the two calls, but not time after time.
        let walks: Vec<_> = (0..5).map(|_| walk_rcu(Path::new("/usr")).unwrap()).collect();
        assert!(walks.contains(&Walk::Rcu) || walks.contains(&Walk::Unknown), "{walks:?}");
        assert_eq!(walk_rcu(Path::new("/no/such/path")), Err(Errno::NOENT));
    }
}
