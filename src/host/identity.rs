//! What an open directory is, so that it can be recognised when it is opened again.

use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, StatxFlags};
use rustix::io::Errno;

/// What a directory is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) dev: u64,
    pub(super) ino: u64,
    pub(super) mount: u64,
    pub(super) mode: u32,
    pub(super) uid: u32,
}

impl Identity {
    pub(super) fn of(fd: BorrowedFd<'_>) -> Result<Self, Errno> {
        let asked = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
        match rustix::fs::statx(fd, c"", AtFlags::EMPTY_PATH, asked) {
            Ok(found) => Ok(Self {
                dev: rustix::fs::makedev(found.stx_dev_major, found.stx_dev_minor),
                ino: found.stx_ino,
                mount: found.stx_mnt_id,
                mode: u32::from(found.stx_mode),
                uid: found.stx_uid,
            }),
            Err(Errno::NOSYS) => {
                let found = rustix::fs::fstat(fd)?;
                let (dev, ino, mode) = (found.st_dev, found.st_ino, found.st_mode);
                Ok(Self { dev, ino, mount: 0, mode, uid: found.st_uid })
            }
            Err(errno) => Err(errno),
        }
    }

    pub(super) fn same_file(self, other: Self) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }

    pub(super) fn same_mount(self, other: Self) -> bool {
        (self.dev, self.mount) == (other.dev, other.mount)
    }
}
