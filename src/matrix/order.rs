//! The order of runs. docs/matrix.md describes it so that anybody can compute it again.

use crate::client::SplitMix64;

/// The order of cells in each of `blocks` blocks: every cell once, at random.
///
/// One sequence of SplitMix64 that starts from the seed serves all blocks, one after the other. A
/// block begins with the cells 0, 1, 2 ...; then for each place i from the last down to the second
/// the cell there changes places with that at floor(r x (i + 1) / 2^64), r being the next number of
/// the sequence (Durstenfeld's shuffle).
pub(super) fn orders(seed: u64, cells: usize, blocks: u64) -> Vec<Vec<usize>> {
    let mut random = SplitMix64::seeded(seed);
    (0..blocks)
        .map(|_| {
            let mut order: Vec<usize> = (0..cells).collect();
            for i in (1..cells).rev() {
                let r = u128::from(random.next_u64());
                order.swap(i, ((r * (i as u128 + 1)) >> 64) as usize);
            }
            order
        })
        .collect()
}
