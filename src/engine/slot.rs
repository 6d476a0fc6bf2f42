//! The memory of a client that calls read and write: paths, data, directory entries, results.

use super::sys::{Directory, PathBuffer, Stat};

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
}

impl Slot {
    /// A slot of zeroes.
    #[must_use]
    pub fn new(layout: &SlotLayout) -> Self {
        let path = || PathBuffer::new(&layout.prefix, layout.max_path);
        Self {
            first: path(),
            second: path(),
            parent: path(),
            root: path(),
            directory: layout.directory,
            // Zeroed allocations: pages that no call touches take no memory.
            read: DataBuffer::new(layout.max_read),
            write: DataBuffer::new(layout.max_write),
            dir: vec![0; DIR_BUFFER].into_boxed_slice(),
            stat: Stat::default(),
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

/// Names of the first `filled` bytes of a directory buffer, as `getdents64` lays them out:
/// 8 bytes inode, 8 bytes offset, 2 bytes record length, 1 byte type, then the name and a NUL.
pub fn entries(dir: &[u8], filled: usize) -> impl Iterator<Item = &[u8]> {
    const NAME: usize = 19;
    let mut rest = &dir[..filled.min(dir.len())];
    std::iter::from_fn(move || {
        if rest.len() < NAME {
            return None;
        }
        let len = usize::from(u16::from_ne_bytes([rest[16], rest[17]])).max(NAME).min(rest.len());
        let (record, tail) = rest.split_at(len);
        rest = tail;
        let name = &record[NAME..];
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        Some(&name[..end])
    })
}
