//! Directories above a disk that somebody else could exchange while root works below them.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// A directory whose entries another user can rename, and so lead a path elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{}: {why}, who could lead a path below it elsewhere; use --path cwd", dir.display())]
pub struct UnsafeParent {
    /// The directory.
    pub dir: PathBuf,
    /// Who can do it.
    pub why: UnsafeWhy,
}

/// Who can exchange entries of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
pub enum UnsafeWhy {
    /// Everybody.
    #[error("writable by everybody without the sticky bit")]
    Others,
    /// A group other than root's, or users named in an ACL.
    #[error("writable by group {gid} (or users in its ACL) without the sticky bit")]
    Group {
        /// The group.
        gid: u32,
    },
    /// Its owner.
    #[error("owned by user {uid}")]
    Owner {
        /// The owner.
        uid: u32,
    },
}

/// The first directory, from `/` down to and including the disk itself, that is not safe for root.
///
/// Both the path as given and the path without symlinks are looked at. Directories that cannot be
/// looked at are left out: then the disk is not usable either.
#[must_use]
pub fn unsafe_parent(label: &Path, canonical: &Path) -> Option<UnsafeParent> {
    let mut dirs: Vec<&Path> = label.ancestors().chain(canonical.ancestors()).collect();
    dirs.sort_by_key(|dir| dir.as_os_str().len());
    dirs.dedup();
    dirs.into_iter().find_map(|dir| {
        let meta = std::fs::metadata(dir).ok()?;
        let named = || has_acl(dir);
        let why = judge(meta.mode(), meta.uid(), meta.gid(), named)?;
        Some(UnsafeParent { dir: dir.to_owned(), why })
    })
}

/// With an ACL the group bits are its mask: any named user may have them.
fn judge(mode: u32, uid: u32, gid: u32, has_acl: impl Fn() -> bool) -> Option<UnsafeWhy> {
    // The sticky bit does not bind the directory's owner.
    if uid != 0 {
        return Some(UnsafeWhy::Owner { uid });
    }
    if mode & 0o1000 != 0 {
        return None;
    }
    if mode & 0o002 != 0 {
        return Some(UnsafeWhy::Others);
    }
    (mode & 0o020 != 0 && (gid != 0 || has_acl())).then_some(UnsafeWhy::Group { gid })
}

fn has_acl(dir: &Path) -> bool {
    rustix::fs::getxattr(dir, c"system.posix_acl_access", &mut [0_u8; 0]).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_can_exchange_entries() {
        let plain = |mode, uid, gid| judge(mode, uid, gid, || false);
        assert_eq!(plain(0o755, 0, 0), None);
        assert_eq!(plain(0o1777, 0, 0), None);
        assert_eq!(plain(0o775, 0, 0), None);
        assert_eq!(plain(0o777, 0, 0), Some(UnsafeWhy::Others));
        assert_eq!(plain(0o775, 0, 7), Some(UnsafeWhy::Group { gid: 7 }));
        assert_eq!(plain(0o1775, 0, 7), None);
        assert_eq!(plain(0o1755, 9, 9), Some(UnsafeWhy::Owner { uid: 9 }));
        assert_eq!(judge(0o775, 0, 0, || true), Some(UnsafeWhy::Group { gid: 0 }));
    }

    #[test]
    fn the_topmost_is_named() {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let open = dir.path().join("open");
        let disk = open.join("disk");
        std::fs::create_dir_all(&disk).unwrap();
        let set = |mode| {
            std::fs::set_permissions(&open, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set(0o755);
        let above = unsafe_parent(dir.path(), dir.path());
        assert_eq!(unsafe_parent(&disk, &disk), above);
        if above.is_none() {
            set(0o777);
            let found = unsafe_parent(&disk, &disk).unwrap();
            assert_eq!((found.dir.as_path(), found.why), (open.as_path(), UnsafeWhy::Others));
            assert!(found.to_string().contains("--path cwd"), "{found}");
        }
    }
}
