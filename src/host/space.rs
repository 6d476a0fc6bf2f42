//! Free space and inodes of a file system, as one user sees them.

use std::path::Path;

use rustix::fs::StatVfs;
use serde::Serialize;

use super::HostError;
use crate::units::format_bytes;

/// What should stay free: file systems slow down, and fail elsewhere, when they are full.
const RESERVE_BYTES: u64 = 1 << 30;
const RESERVE_DIVISOR: u64 = 20;

/// Room on a file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Space {
    /// Its size.
    pub total_bytes: u64,
    /// What the user can still write, quotas aside.
    pub free_bytes: u64,
    /// Files the user can still make; `None` where the file system does not count them.
    pub free_inodes: Option<u64>,
}

/// There is less room than a load needs and should leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error(
    "needs {} and should leave {}, but only {} are free; use fewer clients or a smaller loadfile, \
     or free some space",
    format_bytes(*need_bytes), format_bytes(*reserve_bytes), format_bytes(*free_bytes)
)]
pub struct SpaceWarning {
    /// What the load needs.
    pub need_bytes: u64,
    /// What is free.
    pub free_bytes: u64,
    /// What should stay free: 5 % or 1 GiB, whichever is less.
    pub reserve_bytes: u64,
}

impl Space {
    /// Of the file system a path lies on. `privileged` users may also write into the part that is
    /// kept back for root.
    ///
    /// # Errors
    /// When the file system does not answer.
    pub fn of(path: &Path, privileged: bool) -> Result<Self, HostError> {
        let found =
            rustix::fs::statvfs(path).map_err(HostError::on("ask for the free space of", path))?;
        Ok(Self::from_statvfs(&found, privileged))
    }

    fn from_statvfs(found: &StatVfs, privileged: bool) -> Self {
        let unit = if found.f_frsize == 0 { found.f_bsize } else { found.f_frsize };
        let (blocks, inodes) = match privileged {
            true => (found.f_bfree, found.f_ffree),
            false => (found.f_bavail, found.f_favail),
        };
        Self {
            total_bytes: found.f_blocks.saturating_mul(unit),
            free_bytes: blocks.saturating_mul(unit),
            // btrfs and others answer 0 files, free or not.
            free_inodes: (found.f_files > 0).then_some(inodes),
        }
    }

    /// Whether a load's need leaves what should stay free.
    #[must_use]
    pub fn warning(&self, need_bytes: u64) -> Option<SpaceWarning> {
        let reserve_bytes = RESERVE_BYTES.min(self.total_bytes / RESERVE_DIVISOR);
        let free_bytes = self.free_bytes;
        if self.total_bytes == 0 {
            return None; // ramfs and the like count nothing
        }
        let short = need_bytes.saturating_add(reserve_bytes) > free_bytes;
        short.then_some(SpaceWarning { need_bytes, free_bytes, reserve_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_per_cent_or_a_gibibyte() {
        let small = Space { total_bytes: 1000, free_bytes: 500, free_inodes: None };
        assert_eq!(small.warning(450), None);
        let warning = small.warning(451).unwrap();
        assert_eq!((warning.reserve_bytes, warning.free_bytes), (50, 500));
        let large = Space { total_bytes: 1 << 40, free_bytes: 3 << 30, free_inodes: None };
        assert_eq!(large.warning(2 << 30), None);
        assert_eq!(large.warning((2 << 30) + 1).unwrap().reserve_bytes, 1 << 30);
        assert!(large.warning(u64::MAX).is_some());
        assert_eq!(Space::default().warning(1), None, "a file system that counts nothing");
    }

    #[test]
    fn root_has_more_or_the_same() {
        let root = Space::of(Path::new("/"), true).unwrap();
        let user = Space::of(Path::new("/"), false).unwrap();
        assert!(root.free_bytes >= user.free_bytes && root.total_bytes >= root.free_bytes);
    }
}
