//! Whether ACLs are in force somewhere, by the one question that every file system answers.
//!
//! The kernel keeps a flag for the whole file system (SB_POSIXACL). No call shows it, but asking for
//! an ACL does: EOPNOTSUPP where it is off, ENODATA or an ACL where it is on. Mount options say less:
//! ext4 (since 6.1), xfs and tmpfs have none for it, and overlayfs takes `noacl` and ignores it.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use serde::Serialize;

use super::acl::Acl;
use super::acl_xattr::{AclKind, ReadError, get_fd};

/// What a directory or file answers when asked for its access ACL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// ACLs are in force; this one has none beyond its mode (ENODATA).
    None,
    /// ACLs are in force, and it has this one.
    Acl(Acl),
    /// ACLs are not in force (EOPNOTSUPP).
    Off,
    /// Neither; why.
    Unknown(ReadError),
}

/// Whether the kernel's permission check looks at ACLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Force {
    /// `None` where the answer says nothing about the check.
    pub effective: Option<bool>,
    /// What is to be known about the answer on this type of file system.
    pub caveat: Option<&'static str>,
}

impl Answer {
    /// Asks an open file or directory, O_PATH or not. It needs no permission on it.
    ///
    /// Asking fills the kernel's cache of the inode's ACLs: a cache that was cold is warm afterwards.
    #[must_use]
    pub fn of(fd: BorrowedFd<'_>) -> Self {
        match get_fd(fd, AclKind::Access) {
            Ok(None) => Self::None,
            Ok(Some(acl)) => Self::Acl(acl),
            Err(ReadError::Errno(Errno::OPNOTSUPP)) => Self::Off,
            Err(error) => Self::Unknown(error),
        }
    }

    /// Asks a directory by its path, which must end in no link.
    ///
    /// # Errors
    /// The errno of opening it (O_PATH).
    pub fn of_dir(dir: &Path) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = rustix::fs::open(dir, flags, Mode::empty())?;
        Ok(Self::of(dir.as_fd()))
    }

    /// What it means on a type of file system (`ext4`, `overlay`, as the mount table names it).
    #[must_use]
    pub fn force(&self, fstype: &str) -> Force {
        let on = match self {
            Self::None | Self::Acl(_) => Some(true),
            Self::Off => Some(false),
            Self::Unknown(_) => None,
        };
        let caveat = caveat(fstype);
        // The flag is set there, but a server decides, or the kernel ignores what it reads.
        let decides_elsewhere = decides_itself(fstype).is_some();
        let effective = if on == Some(true) && decides_elsewhere { None } else { on };
        Force { effective, caveat }
    }
}

fn caveat(fstype: &str) -> Option<&'static str> {
    if fstype == "overlay" {
        return Some(
            "overlayfs answers for the layer that holds the directory: its ACLs count, and a \
             remount with noacl is accepted without effect",
        );
    }
    decides_itself(fstype)
}

/// Why mode and ACL do not decide on a type of file system, where they do not.
#[must_use]
pub fn decides_itself(fstype: &str) -> Option<&'static str> {
    let family = fstype.split('.').next().unwrap_or(fstype);
    match family {
        "nfs" | "nfs4" => {
            Some("the NFS server is asked (ACCESS) and its answer kept; never the ACL")
        }
        "fuse" | "fuseblk" | "virtiofs" => {
            Some("the FUSE server decides, unless it asked for default_permissions or POSIX ACLs")
        }
        "cifs" | "smb3" => Some("the SMB server decides; here only the mode is looked at"),
        "9p" => Some("the 9p server decides, unless access=client and posixacl"),
        "ceph" | "afs" | "ocfs2" | "gfs2" => {
            Some("the cluster is asked first, so walks may leave RCU mode at each directory")
        }
        "proc" => Some("/proc has rules of its own (hidepid, ptrace)"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_answers_mean() {
        let of = |answer: &Answer, fstype| answer.force(fstype).effective;
        assert_eq!(of(&Answer::None, "ext4"), Some(true));
        assert_eq!(of(&Answer::Acl(Acl::default()), "overlay"), Some(true));
        assert_eq!(of(&Answer::Off, "btrfs"), Some(false));
        assert_eq!(of(&Answer::None, "nfs"), None);
        assert_eq!(of(&Answer::None, "fuse.sshfs"), None);
        assert_eq!(of(&Answer::Off, "nfs4"), Some(false));
        assert_eq!(of(&Answer::Unknown(ReadError::Errno(Errno::ACCESS)), "ext4"), None);
        assert!(Answer::None.force("overlay").caveat.is_some());
        assert_eq!(Answer::None.force("xfs").caveat, None);
    }
}
