//! Whether a file system does direct I/O, and on which boundaries: asked of it, and tried out.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags};
use rustix::io::Errno;

/// `STATX_DIOALIGN`, since Linux 6.1.
const DIOALIGN: StatxFlags = StatxFlags::from_bits_retain(0x2000);
/// What is written for the trial, in bytes: a multiple of every boundary that is tried.
const TRIAL: usize = 64 * 1024;
/// Smallest boundary that is tried: the smallest logical block of a disk, in bytes.
const SMALLEST: usize = 512;
/// Address of buffers, as that of the clients' (`engine::slot`), in bytes.
const MEMORY: usize = 4096;
const NAME: &str = "probe";

const TMPFS: u64 = 0x0102_1994;
const RAMFS: u64 = 0x8584_58f6;
/// It answers as its upper layer does: where any offset will do, that is a tmpfs.
const OVERLAY: u64 = 0x794c_7630;
const BTRFS: u64 = 0x9123_683e;
/// btrfs serves what is not on the boundaries of its blocks through the page cache, without a
/// word, and does not state them. They are the pages of the machine that made the file system;
/// this is the usual one, in bytes.
const BTRFS_BLOCK: u64 = 4096;

/// What a file system does with `O_DIRECT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectIo {
    /// What offsets and lengths must be multiples of, in bytes; 1 for any.
    pub align: u64,
    /// Whether it takes the flag and uses the page cache all the same.
    pub cached: bool,
}

/// Why there is no direct I/O: what was tried, as it stands after "cannot", and the errno.
pub type NoDirect = (&'static str, Errno);

/// Tries direct I/O in a directory. Leaves nothing behind. A disk that does not answer holds this
/// up.
///
/// # Errors
/// What the file system refuses.
pub fn probe(dir: BorrowedFd<'_>) -> Result<DirectIo, NoDirect> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::DIRECT | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(dir, NAME, flags, Mode::RUSR | Mode::WUSR);
    // A file that could not be opened with the flag may have been made before it was refused.
    let gone = rustix::fs::unlinkat(dir, NAME, AtFlags::empty());
    let file = opened.map_err(|errno| ("open a file with O_DIRECT", errno))?;
    gone.map_err(|errno| ("remove a file", errno))?;
    let tried = tried(file.as_fd())?;
    Ok(match stated(file.as_fd()) {
        // Stated for this file: it has none, for example since its data is journalled.
        Some(0) => DirectIo { align: 1, cached: true },
        Some(align) => DirectIo { align, cached: false },
        None => match (tried, magic(file.as_fd())) {
            (1, TMPFS | RAMFS | OVERLAY) => DirectIo { align: 1, cached: true },
            (_, BTRFS) => DirectIo { align: tried.max(BTRFS_BLOCK), cached: false },
            // Network file systems serve any offset, and directly.
            (align, _) => DirectIo { align, cached: false },
        },
    })
}

/// What `statx` says, where kernel and file system know.
fn stated(file: BorrowedFd<'_>) -> Option<u64> {
    let stat = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, DIOALIGN).ok()?;
    let known = stat.stx_mask & DIOALIGN.bits() != 0;
    known.then_some(u64::from(stat.stx_dio_offset_align))
}

/// The smallest boundary that reads are served on: 1 when any will do.
fn tried(file: BorrowedFd<'_>) -> Result<u64, NoDirect> {
    let mut memory = vec![0x5a_u8; TRIAL + MEMORY];
    let start = memory.as_ptr().align_offset(MEMORY).min(MEMORY);
    let buffer = &mut memory[start..start + TRIAL];
    match rustix::io::pwrite(file, buffer, 0) {
        Ok(TRIAL) => {}
        Ok(_) => return Err(("write with O_DIRECT", Errno::NOSPC)),
        Err(errno) => return Err(("write with O_DIRECT", errno)),
    }
    let mut refused = Errno::INVAL;
    let sizes = std::iter::successors(Some(SMALLEST), |size| Some(size * 2));
    for size in std::iter::once(1).chain(sizes.take_while(|size| *size < TRIAL)) {
        match rustix::io::pread(file, &mut buffer[..size], size as u64) {
            Ok(got) if got == size => return Ok(size as u64),
            Ok(_) => refused = Errno::IO,
            Err(errno) => refused = errno,
        }
    }
    Err(("read with O_DIRECT", refused))
}

/// The file system's number, as in linux/magic.h; 0 where it is not told.
fn magic(file: BorrowedFd<'_>) -> u64 {
    rustix::fs::fstatfs(file).map_or(0, |stat| stat.f_type as u64)
}
