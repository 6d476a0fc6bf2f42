//! A set of numbers that is walked in their order, over and over.

/// Bits of a word.
const WORD: u32 = 64;

/// A set of the numbers below a limit, as a tree of bits: a bit of each level says whether a word
/// of the level below it has one. Finding the next number takes a look at two words a level at most.
#[derive(Debug)]
pub(super) struct Ring {
    /// The numbers themselves first, one word at the end.
    levels: Box<[Box<[u64]>]>,
    /// Where the next walk starts.
    at: u32,
}

impl Ring {
    /// A set of numbers below `limit` that is empty, or has them all.
    pub(super) fn new(limit: u32, full: bool) -> Self {
        let mut levels: Vec<Box<[u64]>> = Vec::new();
        let mut bits = limit;
        loop {
            let mut level = vec![0; bits.div_ceil(WORD) as usize].into_boxed_slice();
            if full {
                (0..bits).for_each(|bit| level[(bit / WORD) as usize] |= 1 << (bit % WORD));
            }
            bits = bits.div_ceil(WORD);
            levels.push(level);
            if bits == 1 {
                return Self { levels: levels.into(), at: 0 };
            }
        }
    }

    /// Adds a number.
    pub(super) fn insert(&mut self, number: u32) {
        let mut bit = number;
        for level in &mut self.levels {
            level[(bit / WORD) as usize] |= 1 << (bit % WORD);
            bit /= WORD;
        }
    }

    /// Takes a number out.
    pub(super) fn remove(&mut self, number: u32) {
        let mut bit = number;
        for level in &mut self.levels {
            let word = &mut level[(bit / WORD) as usize];
            *word &= !(1 << (bit % WORD));
            if *word != 0 {
                return;
            }
            bit /= WORD;
        }
    }

    /// The next number of the walk: behind the last one, or from the start again.
    pub(super) fn next(&mut self) -> Option<u32> {
        let found = self.from(self.at).or_else(|| self.from(0))?;
        self.at = found + 1;
        Some(found)
    }

    /// The smallest number that is not below `start`.
    fn from(&self, start: u32) -> Option<u32> {
        let mut bit = start;
        for (height, level) in self.levels.iter().enumerate() {
            let word = *level.get((bit / WORD) as usize)?;
            let rest = word & (u64::MAX << (bit % WORD));
            if rest != 0 {
                let mut found = bit / WORD * WORD + rest.trailing_zeros();
                for level in self.levels[..height].iter().rev() {
                    found = found * WORD + level[found as usize].trailing_zeros();
                }
                return Some(found);
            }
            // The words behind this one, by their bits one level up.
            bit = bit / WORD + 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::SplitMix64;
    use std::collections::BTreeSet;

    /// The same by the standard library's set.
    #[test]
    fn walks_as_an_ordered_set_does() {
        for limit in [1, 2, 63, 64, 65, 4096, 4097, 300_000] {
            let (mut ring, mut set, mut at) = (Ring::new(limit, false), BTreeSet::new(), 0);
            let mut random = SplitMix64::seeded(u64::from(limit));
            for _ in 0..4000 {
                let number = (random.next_u64() % u64::from(limit)) as u32;
                match random.next_u64() % 4 {
                    0 => {
                        ring.remove(number);
                        set.remove(&number);
                    }
                    1 => {
                        ring.insert(number);
                        set.insert(number);
                    }
                    _ => {
                        let next = set.range(at..).next().or_else(|| set.iter().next()).copied();
                        assert_eq!(ring.next(), next, "{limit}");
                        at = next.map_or(at, |next| next + 1);
                    }
                }
            }
        }
    }

    #[test]
    fn a_full_one_has_all() {
        for limit in [1, 64, 1000, 1_000_000] {
            let mut ring = Ring::new(limit, true);
            for number in (0..limit).step_by(limit.div_ceil(1000) as usize) {
                ring.at = number;
                assert_eq!(ring.next(), Some(number));
            }
            ring.at = limit;
            assert_eq!(ring.next(), Some(0));
        }
    }
}
