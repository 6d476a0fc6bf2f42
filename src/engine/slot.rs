//! The memory of a client that calls read and write: paths, data, directory entries, results.

use super::sys::{Directory, PathBuffer, Stat};
use crate::acl::ACCESS_XATTR;

/// Bytes of a directory buffer, as glibc's `opendir` takes.
pub(super) const DIR_BUFFER: usize = 32768;

/// How large the buffers of a slot are, and where its paths lead.
#[derive(Clone, Debug, Default)]
pub struct SlotLayout {
    /// What every path starts with: the run directory, or `.`.
    pub prefix: Vec<u8>,
    /// Longest path below the prefix, in bytes.
    pub max_path: usize,
    /// Longest read, in bytes.
    pub max_read: usize,
    /// Longest write, in bytes.
    pub max_write: usize,
    /// Longest text that calls are given beside paths, in bytes.
    pub max_text: usize,
    /// The directory that relative prefixes start from.
    pub directory: Directory,
}

/// The memory of one client.
#[derive(Debug)]
pub struct Slot {
    /// See [`super::PathSlot::First`].
    pub first: PathBuffer,
    /// See [`super::PathSlot::Second`].
    pub second: PathBuffer,
    /// See [`super::PathSlot::Parent`].
    pub parent: PathBuffer,
    /// See [`super::PathSlot::Root`].
    pub root: PathBuffer,
    /// The directory that relative paths start from.
    pub directory: Directory,
    /// What reads fill.
    pub read: DataBuffer,
    /// What writes write.
    pub write: DataBuffer,
    /// What `getdents64` fills.
    pub dir: Box<[u8]>,
    /// What `stat` and `fstat` fill.
    pub stat: Stat,
    /// Name of an extended attribute.
    pub name: PathBuffer,
    /// Value of one that is an ACL.
    pub value: Box<[u8]>,
}

impl Slot {
    /// A slot of zeroes.
    #[must_use]
    pub fn new(layout: &SlotLayout) -> Self {
        let path = || PathBuffer::new(&layout.prefix, layout.max_path);
        Self {
            first: path(),
            second: path(),
            // Also holds the text of symbolic links: three bytes a component to go up, then a path.
            parent: PathBuffer::new(&layout.prefix, 3 * layout.max_path),
            root: path(),
            directory: layout.directory,
            // Zeroed allocations: pages that no call touches take no memory.
            read: DataBuffer::new(layout.max_read),
            write: DataBuffer::new(layout.max_write),
            dir: vec![0; DIR_BUFFER].into_boxed_slice(),
            stat: Stat::default(),
            name: PathBuffer::new(b"", layout.max_text.max(ACCESS_XATTR.len())),
            value: vec![0; layout.max_text].into_boxed_slice(),
        }
    }

    /// The buffer that a call names.
    #[inline]
    #[must_use]
    pub fn path(&self, which: super::PathSlot) -> &PathBuffer {
        match which {
            super::PathSlot::First => &self.first,
            super::PathSlot::Second => &self.second,
            super::PathSlot::Parent => &self.parent,
            super::PathSlot::Root => &self.root,
        }
    }
}

/// File data, at an address that O_DIRECT accepts on any device.
#[derive(Debug)]
pub struct DataBuffer {
    bytes: Box<[u8]>,
    start: usize,
    len: usize,
}

impl DataBuffer {
    /// Largest logical block of a device, in bytes.
    const ALIGN: usize = 4096;

    fn new(len: usize) -> Self {
        if len == 0 {
            return Self { bytes: Box::default(), start: 0, len: 0 };
        }
        let bytes = vec![0; len + Self::ALIGN].into_boxed_slice();
        let start = bytes.as_ptr().align_offset(Self::ALIGN).min(Self::ALIGN);
        Self { bytes, start, len }
    }
}

impl std::ops::Deref for DataBuffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.len]
    }
}

impl std::ops::DerefMut for DataBuffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }
}

/// Records of the first `filled` bytes of a directory buffer, as `getdents64` lays them out:
/// 8 bytes inode, 8 bytes offset, 2 bytes record length, 1 byte type, then the name, a NUL, and
/// zeroes up to a multiple of 8.
fn records(dir: &[u8], filled: usize) -> impl Iterator<Item = &[u8]> {
    let mut rest = &dir[..filled.min(dir.len())];
    std::iter::from_fn(move || {
        if rest.len() < NAME {
            return None;
        }
        let len = usize::from(u16::from_ne_bytes([rest[16], rest[17]])).max(NAME).min(rest.len());
        let (record, tail) = rest.split_at(len);
        rest = tail;
        Some(record)
    })
}

/// Where the name stands in a directory record.
const NAME: usize = 19;

/// Number of directory entries in the first `filled` bytes of a buffer.
pub fn count_entries(dir: &[u8], filled: usize) -> u64 {
    records(dir, filled).count() as u64
}

/// Where the name of the next entry that is neither `.` nor `..` begins in the first `filled` bytes of a
/// buffer, and where the record behind it does; `None` when there is none.
pub fn next_name(dir: &[u8], filled: usize, mut from: usize) -> Option<(usize, usize)> {
    loop {
        let record = records(dir.get(from..)?, filled.saturating_sub(from)).next()?;
        let at = from + NAME;
        from += record.len();
        let name = &record[NAME..];
        if !name.starts_with(b".\0") && !name.starts_with(b"..\0") {
            return Some((at, from));
        }
    }
}

/// Whether the entries in the first `filled` bytes of a buffer hold a name, ignoring case.
pub fn has_entry(dir: &[u8], filled: usize, name: &[u8]) -> bool {
    // The length of a record tells nearly all names apart, without a look at their bytes.
    let len = (NAME + name.len() + 1).next_multiple_of(8);
    records(dir, filled).any(|record| {
        record.len() == len
            && record[NAME + name.len()] == 0
            && record[NAME..NAME + name.len()].eq_ignore_ascii_case(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel writes for the entries `.`, `Ab` and `a-longer-name`.
    fn buffer() -> Vec<u8> {
        let mut bytes = Vec::new();
        for name in [".", "Ab", "a-longer-name"] {
            let len = (NAME + name.len() + 1).next_multiple_of(8);
            let start = bytes.len();
            bytes.resize(start + len, 0);
            bytes[start + 16] = len as u8;
            bytes[start + NAME..start + NAME + name.len()].copy_from_slice(name.as_bytes());
        }
        bytes
    }

    #[test]
    fn names_are_found_in_any_case_and_whole() {
        let dir = buffer();
        let has = |name: &str| has_entry(&dir, dir.len(), name.as_bytes());
        assert!(has("AB") && has("a-LONGER-name") && has("."));
        assert!(!has("a") && !has("abc") && !has("a-longer-nam") && !has(""));
        assert_eq!(count_entries(&dir, dir.len()), 3);
        assert_eq!(count_entries(&dir, 24), 1);
    }

    #[test]
    fn names_come_one_after_the_other() {
        let dir = buffer();
        let (first, rest) = next_name(&dir, dir.len(), 0).unwrap();
        let (second, end) = next_name(&dir, dir.len(), rest).unwrap();
        let name = |at: usize| std::ffi::CStr::from_bytes_until_nul(&dir[at..]).unwrap();
        assert_eq!((name(first), name(second)), (c"Ab", c"a-longer-name"));
        assert_eq!(next_name(&dir, dir.len(), end), None);
        assert_eq!(next_name(&dir, rest, rest), None);
    }

    #[test]
    fn a_damaged_buffer_is_no_panic() {
        let mut dir = buffer();
        dir[16] = 255;
        assert_eq!(count_entries(&dir, dir.len()), 1);
        assert_eq!(count_entries(&dir, usize::MAX), 1);
    }
}
