//! The client's open files, by the handle numbers of its loadfile.

use crate::engine::RawFd;
use crate::loadfile::program::PathId;

/// An open file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    /// Its descriptor.
    pub(super) fd: RawFd,
    /// Whether it is a directory.
    pub(super) is_dir: bool,
    /// The path it was opened by, to name it in an error.
    pub(super) path: PathId,
    /// Number of the name that the path drew from a pool, if it did.
    pub(super) drawn: u32,
}

/// Position of a handle in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HandleSlot(usize);

/// Slots for the handles that the loadfile spells out, and behind them those that it computes.
#[derive(Debug)]
pub(super) struct Handles {
    numbers: Box<[i64]>,
    computed: Vec<i64>,
    open: Vec<Option<Open>>,
}

impl Handles {
    /// A table without open handles; `numbers` are the literal ones, ascending.
    pub(super) fn new(numbers: &[i64]) -> Self {
        Self { numbers: numbers.into(), computed: Vec::new(), open: vec![None; numbers.len()] }
    }

    /// Slot of a literal handle.
    #[inline]
    pub(super) fn literal(slot: u32) -> HandleSlot {
        HandleSlot(slot as usize)
    }

    /// Slot of a computed handle; a number that was never seen gets a new one.
    pub(super) fn computed(&mut self, number: i64) -> HandleSlot {
        if let Ok(slot) = self.numbers.binary_search(&number) {
            return HandleSlot(slot);
        }
        let known = self.computed.iter().position(|n| *n == number);
        let index = known.unwrap_or_else(|| {
            self.computed.push(number);
            self.open.push(None);
            self.computed.len() - 1
        });
        HandleSlot(self.numbers.len() + index)
    }

    /// What a handle is open on.
    #[inline]
    pub(super) fn get(&self, slot: HandleSlot) -> Option<Open> {
        self.open[slot.0]
    }

    /// Opens a handle; returns what it was open on before.
    #[inline]
    pub(super) fn put(&mut self, slot: HandleSlot, open: Open) -> Option<Open> {
        self.open[slot.0].replace(open)
    }

    /// Forgets a handle and returns what it was open on.
    #[inline]
    pub(super) fn take(&mut self, slot: HandleSlot) -> Option<Open> {
        self.open[slot.0].take()
    }

    /// Forgets one of the handles that are still open.
    pub(super) fn take_any(&mut self) -> Option<Open> {
        self.open.iter_mut().find_map(Option::take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_computed_number_finds_the_literal_slot() {
        let mut handles = Handles::new(&[7, 9]);
        assert_eq!(handles.computed(9), Handles::literal(1));
        let other = handles.computed(100);
        let open = Open { fd: 3, is_dir: false, path: PathId(0), drawn: 0 };
        assert_eq!(handles.put(other, open), None);
        assert_eq!(handles.computed(100), other);
        assert_eq!(handles.take_any(), Some(open));
        assert_eq!(handles.take_any(), None);
    }
}
