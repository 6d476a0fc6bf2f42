//! Which block of a CHOOSE or SHUFFLE comes next: drawn from the client's random numbers, so that
//! the same seed gives the same blocks on every engine.

use crate::engine::Engine;
use crate::loadfile::Program;
use crate::loadfile::program::{Group, Kind};

use super::drive::Client;
use super::values::Values;

/// The orders of a client's SHUFFLE groups, and how far each is.
///
/// An order is a list of block numbers, as many of each as it has runs. It is shuffled while it is
/// gone through (Fisher and Yates: the next one is swapped with one of those to come), so that a
/// run costs one random number, and any order that an earlier time left is as good a start as
/// another.
pub(super) struct Orders {
    /// Block numbers of all groups, one group behind the other.
    blocks: Box<[u16]>,
    /// Runs done of each group.
    done: Box<[u32]>,
}

impl Orders {
    pub(super) fn new(program: &Program) -> Self {
        let shuffles = program.groups.iter().filter(|group| group.kind == Kind::Shuffle);
        // A group has at most 1000 blocks, a file at most 10,000 runs.
        let runs = shuffles.flat_map(|group| {
            let numbered = (0u16..).zip(&group.blocks);
            numbered.flat_map(|(number, block)| std::iter::repeat_n(number, block.weight as usize))
        });
        Self { blocks: runs.collect(), done: vec![0; program.groups.len()].into() }
    }

    /// The number of the next block, `None` when all runs are done.
    #[inline]
    fn next(&mut self, index: usize, group: &Group, values: &mut Values) -> Option<usize> {
        let done = u64::from(self.done[index]);
        let left = group.sum() - done;
        if left == 0 {
            return None;
        }
        let order = &mut self.blocks[group.first_run as usize..];
        order.swap(done as usize, (done + values.below(left)) as usize);
        self.done[index] += 1;
        Some(usize::from(order[done as usize]))
    }
}

impl<E: Engine> Client<'_, E> {
    /// A group begins; returns where to go on.
    pub(super) fn enter_group(&mut self, index: u32) -> usize {
        let group = &self.setup.program.groups[index as usize];
        match group.kind {
            Kind::Choose => group.at(self.values.below(group.sum())).start.0 as usize,
            Kind::Shuffle => {
                // Not where the last pass may have been cut short.
                self.orders.done[index as usize] = 0;
                self.next_run(index)
            }
        }
    }

    /// A block ends; returns where to go on.
    pub(super) fn leave_block(&mut self, index: u32) -> usize {
        let group = &self.setup.program.groups[index as usize];
        match group.kind {
            Kind::Choose => group.end.0 as usize,
            Kind::Shuffle => self.next_run(index),
        }
    }

    fn next_run(&mut self, index: u32) -> usize {
        let group = &self.setup.program.groups[index as usize];
        match self.orders.next(index as usize, group, &mut self.values) {
            Some(block) => group.blocks[block].start.0 as usize,
            None => group.end.0 as usize,
        }
    }
}
