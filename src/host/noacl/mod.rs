//! ACLs off and on again for a whole file system, by its mount option `noacl`.
//!
//! The option belongs to the superblock, which all mounts of the file system share, in every
//! namespace: [`users`] finds them and who has something open there. What is to be undone stands in
//! a [`journal`] before anything is changed. Of the file systems of today few have the option;
//! what a remount answers is not to be trusted (overlayfs says yes and does nothing), so the state is
//! probed before and after.

pub mod journal;
pub mod users;

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    FsOpenFlags, FsPickFlags, fsconfig_reconfigure, fsconfig_set_flag, fsopen, fspick,
};

use super::acl_force::{Answer, decides_itself};
use super::acl_xattr::ReadError;
use super::mounts::MountFacts;
use super::{HostError, errno};

/// An option that no file system has: one that takes it takes everything.
const NONSENSE: &str = "jbodbench_no_such_option";

/// Why ACLs cannot be switched off on a file system.
#[derive(Debug, thiserror::Error)]
pub enum NoAclError {
    /// There is no such option, or it does nothing.
    #[error("{}: {reason}", path.display())]
    Unsupported {
        /// The mount point.
        path: PathBuf,
        /// Why, and what to use instead.
        reason: String,
    },
    /// The kernel refused the change.
    #[error("cannot remount {} with {key}: {}{log}", path.display(), errno::describe(*.errno))]
    Refused {
        /// The mount point.
        path: PathBuf,
        /// `acl` or `noacl`.
        key: &'static str,
        /// The kernel's answer.
        errno: Errno,
        /// What the file system said about it, if anything.
        log: String,
    },
    /// The kernel agreed, and nothing changed.
    #[error("{}: remounted with {key}, yet ACLs are {}", path.display(), state_word(!*wanted))]
    NotDone {
        /// The mount point.
        path: PathBuf,
        /// `acl` or `noacl`.
        key: &'static str,
        /// Whether ACLs should be in force.
        wanted: bool,
    },
    /// Something else failed.
    #[error(transparent)]
    Host(#[from] HostError),
}

fn state_word(on: bool) -> &'static str {
    if on { "in force" } else { "off" }
}

/// The mount option for a state.
#[must_use]
pub fn key(on: bool) -> &'static str {
    if on { "acl" } else { "noacl" }
}

/// Whether ACLs are in force on the file system of a directory, which must be no link: see
/// [`Answer`].
///
/// # Errors
/// When the directory cannot be looked at.
pub fn acls_in_force(dir: &Path) -> Result<bool, HostError> {
    let failed = HostError::on("ask for the ACL of", dir);
    match Answer::of_dir(dir) {
        Ok(Answer::None | Answer::Acl(_) | Answer::Unknown(ReadError::Value(_))) => Ok(true),
        Ok(Answer::Off) => Ok(false),
        Ok(Answer::Unknown(ReadError::Errno(errno))) | Err(errno) => Err(failed(errno)),
    }
}

/// Whether mode and ACL count where another party is asked first.
fn heeds(fstype: &str) -> bool {
    matches!(fstype, "ceph" | "ocfs2" | "gfs2")
}

/// Whether a file system has the option and heeds it.
///
/// # Errors
/// The reason why not, with what to use instead; or that this process may not ask.
pub fn check(mount: &MountFacts) -> Result<(), NoAclError> {
    let unsupported = |reason: String| NoAclError::Unsupported {
        path: mount.mount_point.clone(),
        reason: format!("{reason}; --dir-acl 0 compares directories without entries instead"),
    };
    let fstype = mount.fstype.split('.').next().unwrap_or_default();
    if fstype == "overlay" {
        let why = "overlayfs answers OK to noacl and ignores it: its layers decide";
        return Err(unsupported(why.into()));
    }
    if let Some(why) = decides_itself(fstype).filter(|_| !heeds(fstype)) {
        return Err(unsupported(format!("noacl would change no decision: {why}")));
    }
    let context = fsopen(fstype, FsOpenFlags::FSOPEN_CLOEXEC).map_err(|errno| HostError::Call {
        doing: "ask the kernel for mount options (fsopen)",
        errno,
    })?;
    match fsconfig_set_flag(&context, "noacl") {
        Ok(()) if fsconfig_set_flag(&context, NONSENSE).is_ok() => Err(unsupported(format!(
            "{fstype} takes any option, so that nothing tells whether it heeds noacl"
        ))),
        Ok(()) => Ok(()),
        Err(_) if fstype == "ext4" => {
            Err(unsupported("ext4 has no option noacl since Linux 6.1".into()))
        }
        Err(_) => Err(unsupported(format!("{fstype} has no option noacl"))),
    }
}

/// Sets the one key on the superblock, whose other options, and the flags of whose mounts, stay; then
/// looks whether it came true.
///
/// # Errors
/// When the kernel refuses, or agrees and does nothing.
pub fn switch(mount_point: &Path, on: bool) -> Result<(), NoAclError> {
    let path = || mount_point.to_owned();
    let key = key(on);
    let flags = FsPickFlags::FSPICK_CLOEXEC | FsPickFlags::FSPICK_NO_AUTOMOUNT;
    let context = fspick(CWD, mount_point, flags).map_err(|errno| NoAclError::Refused {
        path: path(),
        key,
        errno,
        log: String::new(),
    })?;
    fsconfig_set_flag(&context, key)
        .and_then(|()| fsconfig_reconfigure(&context))
        .map_err(|errno| NoAclError::Refused { path: path(), key, errno, log: log_of(&context) })?;
    if acls_in_force(mount_point)? == on {
        Ok(())
    } else {
        Err(NoAclError::NotDone { path: path(), key, wanted: on })
    }
}

/// What a file system wrote about a change: lines of `e btrfs: text`.
fn log_of(context: &OwnedFd) -> String {
    let mut log = String::new();
    let mut line = [0; 1024];
    while let Ok(n @ 1..) = rustix::io::read(context.as_fd(), &mut line) {
        let text = String::from_utf8_lossy(&line[..n]);
        log.push_str(&format!(" ({})", text.trim_end().trim_start_matches(['e', 'w', 'i', ' '])));
    }
    log
}
