//! Reading a file by way of memory.

use super::raw;
use crate::engine::{CallResult, RawFd};

/// `mmap` of a range, its pages faulted in by `madvise(MADV_POPULATE_READ)`, `munmap`: the length.
///
/// What a fault would raise a signal for is an errno of madvise: EFAULT where there is no page, be
/// it behind the end of the file or unreadable on the device. Nobody touches the memory itself, so there is
/// no SIGBUS. EINVAL where `offset` is no multiple of a page, for a length of 0, and before Linux 5.14.
pub fn map_read(fd: RawFd, offset: u64, len: usize) -> CallResult {
    // SAFETY: a new private mapping at an address that the kernel chooses: it replaces none. What is
    // no descriptor is answered with EBADF.
    let address = unsafe {
        let (protection, flags) = (libc::PROT_READ, libc::MAP_PRIVATE);
        libc::syscall(libc::SYS_mmap, 0_usize, len, protection, flags, fd, offset)
    };
    let address = raw(address)? as usize;
    // SAFETY: the range is the mapping from above; the advice changes no memory.
    let populated =
        raw(unsafe { libc::syscall(libc::SYS_madvise, address, len, libc::MADV_POPULATE_READ) });
    // SAFETY: the same range, to which no reference was ever made.
    let unmapped = raw(unsafe { libc::syscall(libc::SYS_munmap, address, len) });
    populated.and(unmapped).map(|_| len as u64)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;
    use crate::engine::Errno;

    #[test]
    fn what_is_not_there_is_an_errno() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(10_000).unwrap();
        let map = |offset, len| map_read(file.as_raw_fd(), offset, len);
        // Three pages of 4 KiB hold the 10,000 bytes; a fourth does not exist.
        assert_eq!(map(0, 12_288), Ok(12_288));
        assert_eq!(map(8192, 100), Ok(100));
        assert_eq!(map(0, 16_384), Err(Errno(libc::EFAULT as u16)));
        assert_eq!(map(1, 100), Err(Errno(libc::EINVAL as u16)));
        assert_eq!(map(0, 0), Err(Errno(libc::EINVAL as u16)));
        assert_eq!(map_read(-1, 0, 4096), Err(Errno(libc::EBADF as u16)));
    }
}
