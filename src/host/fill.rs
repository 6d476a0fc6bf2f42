//! A file to read and to write over, past the page cache.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

/// Written at once.
const BLOCK: usize = 1 << 20;
/// Largest logical block of a device: what O_DIRECT wants addresses to be a multiple of.
const ALIGN: usize = 4096;

/// Makes a file of `bytes` bytes (a multiple of 4096) in a directory with O_DIRECT, and waits until
/// the device has it. Its data do not compress, and no two blocks of 4 KiB are equal. Ends early,
/// without an error, once `stop` is set.
///
/// # Errors
/// What the kernel says: EINVAL from the open where the file system has no O_DIRECT.
pub fn fill_direct(
    dir: BorrowedFd<'_>,
    name: &str,
    bytes: u64,
    stop: &AtomicBool,
) -> Result<(), Errno> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::DIRECT | OFlags::CLOEXEC;
    let file = rustix::fs::openat(dir, name, flags, Mode::RUSR | Mode::WUSR)?;
    // In one piece where the file system can: what is measured is a device, not its layout.
    let room = rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes);
    if let Err(full @ (Errno::NOSPC | Errno::DQUOT)) = room {
        return Err(full);
    }
    let mut memory = vec![0_u8; BLOCK + ALIGN];
    let start = memory.as_ptr().align_offset(ALIGN).min(ALIGN);
    let block = &mut memory[start..start + BLOCK];
    let mut word = bytes;
    for chunk in block.chunks_mut(8) {
        word = mixed(word);
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    let mut at = 0;
    while at < bytes && !stop.load(Relaxed) {
        for (index, page) in (0_u64..).zip(block.chunks_mut(ALIGN)) {
            page[..8].copy_from_slice(&mixed(at + index).to_le_bytes());
        }
        let len = usize::try_from(bytes - at).unwrap_or(BLOCK).min(BLOCK);
        match rustix::io::pwrite(&file, &block[..len], at) {
            Ok(0) => return Err(Errno::IO),
            Ok(n) => at += n as u64,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    rustix::fs::fsync(&file)
}

/// The output function of SplitMix64 (Steele, Lea and Flood 2014).
fn mixed(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn it_has_its_size_and_no_two_blocks_alike() {
        let dir = tempfile::tempdir().unwrap();
        let fd = std::fs::File::open(dir.path()).unwrap();
        let bytes = 2 * BLOCK as u64 + 8192;
        match fill_direct(fd.as_fd(), "x", bytes, &AtomicBool::new(false)) {
            Err(Errno::INVAL) => return, // no O_DIRECT where temporary files are
            filled => filled.unwrap(),
        }
        let data = std::fs::read(dir.path().join("x")).unwrap();
        assert_eq!(data.len() as u64, bytes);
        let blocks: BTreeSet<&[u8]> = data.chunks(ALIGN).collect();
        assert_eq!(blocks.len(), data.len() / ALIGN);
        let exists = fill_direct(fd.as_fd(), "x", 4096, &AtomicBool::new(false));
        assert_eq!(exists, Err(Errno::EXIST));
        fill_direct(fd.as_fd(), "y", bytes, &AtomicBool::new(true)).unwrap();
    }
}
