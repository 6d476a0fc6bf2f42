//! The client's open files, by the handle numbers of its loadfile.

use super::Client;
use crate::engine::{Engine, RawFd};
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

impl<E: Engine> Client<'_, E> {
    /// The operation at hand is about what this handle was opened by.
    #[inline]
    pub(super) fn is_about(&mut self, open: &Open) {
        self.error_path = Some((open.path, open.drawn));
        self.setup.doing.is_about(open.path, open.drawn);
    }
}

/// Position of a handle in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HandleSlot(usize);

/// Slots for the handles that the loadfile spells out, and behind them those that it computes.
#[derive(Debug)]
pub(super) struct Handles {
    numbers: Box<[i64]>,
    /// Computed numbers that are small: the position of each, plus 1, by the number.
    near: Vec<u32>,
    /// The others, and their positions.
    far: Vec<(i64, u32)>,
    open: Vec<Option<Open>>,
    /// No position before this one is open.
    lowest: usize,
}

/// Computed numbers from 0 up to here are found without a search.
const NEAR: i64 = 1 << 21;

impl Handles {
    /// A table without open handles; `numbers` are the literal ones, ascending.
    pub(super) fn new(numbers: &[i64]) -> Self {
        Self {
            numbers: numbers.into(),
            near: Vec::new(),
            far: Vec::new(),
            open: vec![None; numbers.len()],
            lowest: 0,
        }
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
        if (0..NEAR).contains(&number) {
            let at = number as usize;
            if at >= self.near.len() {
                self.near.resize(at + 1, 0);
            }
            if self.near[at] == 0 {
                self.open.push(None);
                self.near[at] = self.open.len() as u32;
            }
            return HandleSlot(self.near[at] as usize - 1);
        }
        let known = self.far.iter().find(|(other, _)| *other == number);
        HandleSlot(known.map(|(_, at)| *at).unwrap_or_else(|| {
            let at = self.open.len() as u32;
            self.open.push(None);
            self.far.push((number, at));
            at
        }) as usize)
    }

    /// What a handle is open on.
    #[inline]
    pub(super) fn get(&self, slot: HandleSlot) -> Option<Open> {
        self.open[slot.0]
    }

    /// Opens a handle; returns what it was open on before.
    #[inline]
    pub(super) fn put(&mut self, slot: HandleSlot, open: Open) -> Option<Open> {
        self.lowest = self.lowest.min(slot.0);
        self.open[slot.0].replace(open)
    }

    /// Forgets a handle and returns what it was open on.
    #[inline]
    pub(super) fn take(&mut self, slot: HandleSlot) -> Option<Open> {
        self.open[slot.0].take()
    }

    /// Forgets one of the handles that are still open.
    pub(super) fn take_any(&mut self) -> Option<Open> {
        while let Some(slot) = self.open.get_mut(self.lowest) {
            if slot.is_some() {
                return slot.take();
            }
            self.lowest += 1;
        }
        None
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

    #[test]
    fn many_computed_numbers_are_all_kept() {
        let mut handles = Handles::new(&[5]);
        let numbers = || (0..100_000).chain([-7, i64::MAX]);
        for number in numbers() {
            let slot = handles.computed(number);
            let open = Open { fd: number as i32, is_dir: false, path: PathId(0), drawn: 0 };
            assert_eq!(handles.put(slot, open), None, "{number}");
        }
        for number in numbers().rev() {
            let slot = handles.computed(number);
            assert_eq!(handles.get(slot).unwrap().fd, number as i32);
        }
        let slot = handles.computed(17);
        assert_eq!(handles.take(slot).unwrap().fd, 17);
        let mut left = 0;
        while handles.take_any().is_some() {
            left += 1;
        }
        assert_eq!(left, 100_001);
        // One that is opened again is found again.
        handles.put(slot, Open { fd: 3, is_dir: false, path: PathId(0), drawn: 0 });
        assert!(handles.take_any().is_some() && handles.take_any().is_none());
    }
}
