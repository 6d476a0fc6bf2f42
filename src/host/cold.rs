//! Directories whose ACLs the kernel does not know: as after a mount, without one.
//!
//! The kernel keeps an inode's ACLs with the inode. A directory that was just made is known to have
//! the ACLs it was given; one that was read from disk mostly is not, until a check needs them. So
//! inodes have to leave memory and come back. Dropping them is a matter of the whole machine.

use std::path::Path;

use rustix::io::Errno;

use super::caller::Caller;
use super::credentials::Credentials;
use super::errno;
use super::walk::{Walk, walk_now, walk_rcu};

/// What the kernel drops what it does not use of by.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";
/// The word for directory entries and inodes; pages stay.
const DENTRIES_AND_INODES: &str = "2";
/// A user who is nobody here, and whom no ACL of a run names.
const STRANGER: u32 = 2_100_000_000;

/// Drops directory entries and inodes that nobody uses and that are stored, of all file systems.
///
/// # Errors
/// EACCES without privilege, EROFS where a container may not.
pub fn drop_entries_and_inodes() -> Result<(), Errno> {
    std::fs::write(DROP_CACHES, DENTRIES_AND_INODES).map_err(|error| errno::of_io(&error))
}

/// Whether the kernel may be asked to.
#[must_use]
pub fn may_drop() -> bool {
    rustix::fs::access(DROP_CACHES, rustix::fs::Access::WRITE_OK).is_ok()
}

/// Whether a directory has left the cache of names, and all below it with it. Asking brings nothing
/// in. `None` where the kernel does not say.
///
/// # Errors
/// The errno where it cannot be reached, not even uncached.
pub fn name_is_gone(dir: &Path) -> Result<Option<bool>, Errno> {
    Ok(match walk_now(dir)? {
        Walk::Rcu => Some(false),
        Walk::Left => Some(true),
        Walk::Unknown => None,
    })
}

/// What was found about the ACLs of directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The kernel does not know them: a check has to leave RCU mode to ask.
    No,
    /// It knows them, or does not need them.
    Yes,
    /// It does not say.
    Unknown,
}

/// Whether the kernel knows the ACLs of directories that have just come back into memory. Asking
/// brings them in: it is to be asked of others like those that are meant.
///
/// Their owner's walk brings in the names, and no ACL, since an owner's permission does not depend on
/// it. A stranger's then has to leave RCU mode at the first ACL that is not known.
///
/// # Errors
/// The errno of taking the credentials, or of a walk.
pub fn acls_are_known(top: &Path, innermost: &Path, owner: (u32, u32)) -> Result<Known, Errno> {
    let user = |(uid, gid)| Credentials::of_caller(&Caller { uid, gid, groups: Vec::new() });
    // With a dot at the end, so that the last directory itself is searched.
    let (top, innermost) = (top.join("."), innermost.join("."));
    let stranger = user((STRANGER, STRANGER));
    // Down to here all is warm, for strangers too.
    if stranger.run_as(|| walk_rcu(&top))?? != Walk::Rcu {
        return Ok(Known::Unknown);
    }
    user(owner).run_as(|| rustix::fs::stat(&innermost))??;
    Ok(match stranger.run_as(|| walk_now(&innermost))?? {
        Walk::Left => Known::No,
        Walk::Rcu => Known::Yes,
        Walk::Unknown => Known::Unknown,
    })
}
