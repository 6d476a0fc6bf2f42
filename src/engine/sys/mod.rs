//! The system calls themselves. The only place of the engines, beside the ring, with `unsafe`.
//!
//! rustix makes them without libc's wrappers; what it has no safe form for goes through
//! `libc::syscall`.
#![allow(unsafe_code)]

mod attribute;
mod map;
mod path;
mod plain;
mod relay;
mod simple;

use std::ffi::CStr;
use std::os::fd::{BorrowedFd, IntoRawFd};

use rustix::fs::{self, Mode, OFlags, Timespec, Timestamps};

pub use attribute::attribute;
pub use map::map_read;
pub use path::PathBuffer;
pub(super) use relay::Relay;
pub use simple::simple;

use super::{AT_POSITION, CallResult, DOS_ATTRIBUTE, DOS_ATTRIBUTE_LEN, Errno, RawFd};

/// Where relative paths start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directory {
    /// The thread's working directory, or nowhere for absolute paths: plain calls.
    #[default]
    Cwd,
    /// An open directory: the `*at` calls.
    Fd(RawFd),
}

impl Directory {
    /// As the `*at` calls take it.
    #[must_use]
    pub fn as_fd(self) -> BorrowedFd<'static> {
        match self {
            Self::Cwd => fs::CWD,
            Self::Fd(fd) => lend(fd),
        }
    }
}

/// The fields of `struct stat` that operations use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// Whether it is a directory.
    pub is_dir: bool,
    /// Access time in whole seconds.
    pub atime_s: i64,
    /// Modification time in whole seconds.
    pub mtime_s: i64,
}

impl From<rustix::fs::Stat> for Stat {
    #[inline]
    fn from(stat: rustix::fs::Stat) -> Self {
        Self {
            is_dir: fs::FileType::from_raw_mode(stat.st_mode).is_dir(),
            atime_s: stat.st_atime,
            mtime_s: stat.st_mtime,
        }
    }
}

#[inline]
fn errno(error: rustix::io::Errno) -> Errno {
    Errno(error.raw_os_error() as u16)
}

#[inline]
fn done(result: rustix::io::Result<()>) -> CallResult {
    result.map(|()| 0).map_err(errno)
}

#[inline]
fn count(result: rustix::io::Result<usize>) -> CallResult {
    result.map(|n| n as u64).map_err(errno)
}

/// Lends a descriptor number of the thread's table for one call.
#[inline]
fn lend(fd: RawFd) -> BorrowedFd<'static> {
    // SAFETY: the number is not -1 (clients keep "closed" apart, see `client::handles`), and the
    // kernel answers EBADF for one that is not open; no memory depends on it.
    unsafe { BorrowedFd::borrow_raw(fd) }
}

/// Result of a raw call made through libc.
fn raw(result: libc::c_long) -> CallResult {
    if result < 0 {
        let code = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        return Err(Errno(code as u16));
    }
    Ok(result as u64)
}

/// `stat`.
#[inline]
pub fn stat(at: Directory, path: &CStr) -> Result<Stat, Errno> {
    match at {
        Directory::Cwd => fs::stat(path),
        Directory::Fd(fd) => fs::statat(lend(fd), path, fs::AtFlags::empty()),
    }
    .map(Stat::from)
    .map_err(errno)
}

/// `lstat`.
#[inline]
pub fn lstat(at: Directory, path: &CStr) -> Result<Stat, Errno> {
    match at {
        Directory::Cwd => fs::lstat(path),
        Directory::Fd(fd) => fs::statat(lend(fd), path, fs::AtFlags::SYMLINK_NOFOLLOW),
    }
    .map(Stat::from)
    .map_err(errno)
}

/// `open`: the new descriptor.
#[inline]
pub fn open(at: Directory, path: &CStr, flags: i32, mode: u32) -> CallResult {
    let (flags, mode) = (OFlags::from_bits_retain(flags as u32), Mode::from_bits_retain(mode));
    match at {
        Directory::Cwd => fs::openat(fs::CWD, path, flags, mode),
        Directory::Fd(fd) => fs::openat(lend(fd), path, flags, mode),
    }
    .map(|fd| fd.into_raw_fd() as u64)
    .map_err(errno)
}

/// `open` of a file that is there, if that needs no look at the disk; else EAGAIN.
#[inline]
pub fn open_cached(at: Directory, path: &CStr, flags: i32) -> CallResult {
    // openat2 takes flags as they are: without this one it refuses files of 2 GiB and more.
    let flags = OFlags::from_bits_retain(flags as u32) | OFlags::LARGEFILE;
    fs::openat2(at.as_fd(), path, flags, Mode::empty(), fs::ResolveFlags::CACHED)
        .map(|fd| fd.into_raw_fd() as u64)
        .map_err(errno)
}

/// `pread` of what is in memory; EAGAIN when nothing of it is.
#[inline]
pub fn pread_cached(fd: RawFd, buffer: &mut [u8], offset: u64) -> CallResult {
    let mut buffers = [std::io::IoSliceMut::new(buffer)];
    let flags = rustix::io::ReadWriteFlags::NOWAIT;
    count(rustix::io::preadv2(lend(fd), &mut buffers, offset, flags))
}

/// `close`. Unlike a dropped `File` it tells of a write-back error.
#[inline]
pub fn close(fd: RawFd) -> CallResult {
    // SAFETY: descriptors are plain numbers in the client's handle table; nothing else in this
    // thread owns this one, and using it after this call is answered with EBADF.
    raw(unsafe { libc::syscall(libc::SYS_close, fd) })
}

/// `mkdir`.
#[inline]
pub fn mkdir(at: Directory, path: &CStr, mode: u32) -> CallResult {
    match at {
        Directory::Cwd => plain::mkdir(path, mode),
        Directory::Fd(fd) => done(fs::mkdirat(lend(fd), path, Mode::from_bits_retain(mode))),
    }
}

/// `rmdir`.
#[inline]
pub fn rmdir(at: Directory, path: &CStr) -> CallResult {
    match at {
        Directory::Cwd => plain::rmdir(path),
        Directory::Fd(fd) => done(fs::unlinkat(lend(fd), path, fs::AtFlags::REMOVEDIR)),
    }
}

/// `unlink`.
#[inline]
pub fn unlink(at: Directory, path: &CStr) -> CallResult {
    match at {
        Directory::Cwd => plain::unlink(path),
        Directory::Fd(fd) => done(fs::unlinkat(lend(fd), path, fs::AtFlags::empty())),
    }
}

/// `rename`.
#[inline]
pub fn rename(at: Directory, old: &CStr, new: &CStr) -> CallResult {
    match at {
        Directory::Cwd => plain::rename(old, new),
        Directory::Fd(fd) => done(fs::renameat(lend(fd), old, lend(fd), new)),
    }
}

/// The descriptor that `*at` calls start from.
#[inline]
fn start(at: Directory) -> BorrowedFd<'static> {
    match at {
        Directory::Cwd => fs::CWD,
        Directory::Fd(fd) => lend(fd),
    }
}

/// `renameat2`.
#[inline]
pub fn renameat(at: Directory, old: &CStr, new: &CStr, flags: u32) -> CallResult {
    let flags = fs::RenameFlags::from_bits_retain(flags);
    done(fs::renameat_with(start(at), old, start(at), new, flags))
}

/// `linkat`; a symbolic link is linked itself.
#[inline]
pub fn link(at: Directory, old: &CStr, new: &CStr) -> CallResult {
    done(fs::linkat(start(at), old, start(at), new, fs::AtFlags::empty()))
}

/// `symlinkat`.
#[inline]
pub fn symlink(at: Directory, text: &CStr, path: &CStr) -> CallResult {
    done(fs::symlinkat(text, start(at), path))
}

/// `readlinkat`: bytes of `buffer` that were filled.
#[inline]
pub fn readlink(at: Directory, path: &CStr, buffer: &mut [u8]) -> CallResult {
    count(fs::readlinkat_raw(start(at), path, buffer))
}

/// `pread`, or `read` for [`AT_POSITION`].
#[inline]
pub fn pread(fd: RawFd, buffer: &mut [u8], offset: u64) -> CallResult {
    count(match offset {
        AT_POSITION => rustix::io::read(lend(fd), buffer),
        offset => rustix::io::pread(lend(fd), buffer, offset),
    })
}

/// `pwrite`, or `write` for [`AT_POSITION`].
#[inline]
pub fn pwrite(fd: RawFd, buffer: &[u8], offset: u64) -> CallResult {
    count(match offset {
        AT_POSITION => rustix::io::write(lend(fd), buffer),
        offset => rustix::io::pwrite(lend(fd), buffer, offset),
    })
}

/// `fsync`.
#[inline]
pub fn fsync(fd: RawFd) -> CallResult {
    done(fs::fsync(lend(fd)))
}

/// `fdatasync`.
#[inline]
pub fn fdatasync(fd: RawFd) -> CallResult {
    done(fs::fdatasync(lend(fd)))
}

/// `fstat`.
#[inline]
pub fn fstat(fd: RawFd) -> Result<Stat, Errno> {
    fs::fstat(lend(fd)).map(Stat::from).map_err(errno)
}

/// `newfstatat` with an empty path.
#[inline]
pub fn fstatat(fd: RawFd) -> Result<Stat, Errno> {
    fs::statat(lend(fd), c"", fs::AtFlags::EMPTY_PATH).map(Stat::from).map_err(errno)
}

/// `newfstatat` of a name below a directory, not followed; `name` goes up to its first NUL.
#[inline]
pub fn stat_entry(fd: RawFd, name: &[u8]) -> Result<Stat, Errno> {
    let name = CStr::from_bytes_until_nul(name).map_err(|_| Errno(libc::EINVAL as u16))?;
    lstat(Directory::Fd(fd), name)
}

/// `getdents64`: bytes of `buffer` that were filled.
#[inline]
pub fn getdents(fd: RawFd, buffer: &mut [u8]) -> CallResult {
    // SAFETY: the kernel writes at most `buffer.len()` bytes to `buffer`, which lives past the call.
    raw(unsafe { libc::syscall(libc::SYS_getdents64, fd, buffer.as_mut_ptr(), buffer.len()) })
}

/// `statfs`.
#[inline]
pub fn statfs(at: Directory, path: &CStr) -> CallResult {
    match at {
        Directory::Cwd => fs::statfs(path).map(drop),
        Directory::Fd(fd) => fs::fstatfs(lend(fd)).map(drop),
    }
    .map(|()| 0)
    .map_err(errno)
}

/// `utimensat` by descriptor, in whole seconds as `utime` sets them.
#[inline]
pub fn futimens(fd: RawFd, atime_s: i64, mtime_s: i64) -> CallResult {
    let at = |s| Timespec { tv_sec: s, tv_nsec: 0 };
    done(fs::futimens(
        lend(fd),
        &Timestamps { last_access: at(atime_s), last_modification: at(mtime_s) },
    ))
}

/// `fcntl(F_SETLKW)` with a write lock, or with none, waiting for it.
pub fn lock(fd: RawFd, offset: u64, len: u64, take: bool) -> CallResult {
    lock_by(libc::F_SETLKW, fd, offset, len, take)
}

/// The same without waiting, owned by the open file instead of the process: clients of one thread
/// lock each other out, too. EAGAIN when another one holds it.
pub fn try_lock_file(fd: RawFd, offset: u64, len: u64, take: bool) -> CallResult {
    lock_by(libc::F_OFD_SETLK, fd, offset, len, take)
}

fn lock_by(how: libc::c_int, fd: RawFd, offset: u64, len: u64, take: bool) -> CallResult {
    let kind = if take { libc::F_WRLCK } else { libc::F_UNLCK };
    // SAFETY: all fields of `flock` are integers, for which zero is a value.
    let mut range: libc::flock = unsafe { std::mem::zeroed() };
    range.l_type = kind as libc::c_short;
    range.l_whence = libc::SEEK_SET as libc::c_short;
    (range.l_start, range.l_len) = (offset as libc::off_t, len as libc::off_t);
    // SAFETY: `range` lives past the call, which only reads it.
    raw(libc::c_long::from(unsafe { libc::fcntl(fd, how, &raw const range) }))
}

/// `getxattr` of the DOS attribute.
pub fn getxattr(at: Directory, path: &CStr) -> CallResult {
    let mut value = [0_u8; DOS_ATTRIBUTE_LEN];
    match at {
        Directory::Cwd => count(fs::getxattr(path, DOS_ATTRIBUTE, &mut value[..])),
        // There is no getxattrat before 6.13: walk by way of /proc/self/fd would change the load.
        Directory::Fd(_) => Err(Errno(libc::ENOTSUP as u16)),
    }
}

/// `fgetxattr` of the DOS attribute.
pub fn fgetxattr(fd: RawFd) -> CallResult {
    let mut value = [0_u8; DOS_ATTRIBUTE_LEN];
    count(fs::fgetxattr(lend(fd), DOS_ATTRIBUTE, &mut value[..]))
}

/// `fsetxattr` of the DOS attribute.
pub fn fsetxattr(fd: RawFd) -> CallResult {
    let value = [0x20_u8; DOS_ATTRIBUTE_LEN];
    done(fs::fsetxattr(lend(fd), DOS_ATTRIBUTE, &value, fs::XattrFlags::empty()))
}

/// Removal of a tree: see [`crate::host::remove::delete_tree_at`].
pub fn deltree(at: Directory, path: &CStr) -> CallResult {
    let start = match at {
        Directory::Cwd => rustix::fs::CWD,
        Directory::Fd(fd) => lend(fd),
    };
    crate::host::remove::delete_tree_at(start, path).map_err(errno)
}
