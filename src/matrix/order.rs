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

#[cfg(test)]
mod tests {
    use super::*;

    /// What `scripts/matrix-order` prints, which shares no code with this.
    #[test]
    fn as_the_script_has_it() {
        assert_eq!(orders(1, 4, 4), [[0, 1, 3, 2], [0, 2, 3, 1], [2, 0, 1, 3], [0, 2, 1, 3]]);
        assert_eq!(orders(7, 3, 5), [[2, 0, 1], [0, 1, 2], [2, 0, 1], [2, 0, 1], [1, 2, 0]]);
        assert_eq!(orders(1, 1, 2), [[0], [0]]);
    }

    #[test]
    fn more_blocks_do_not_change_the_first_ones() {
        assert_eq!(orders(9, 6, 40)[..10], orders(9, 6, 10));
    }

    /// Of 6000 blocks of three each order comes 1000 times, with a standard deviation of
    /// sqrt(6000 x 1/6 x 5/6) = 28.9: five of these are 145.
    #[test]
    fn all_orders_are_equally_likely() {
        let mut counts = std::collections::BTreeMap::<Vec<usize>, i32>::new();
        for order in orders(5, 3, 6000) {
            *counts.entry(order).or_default() += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (count - 1000).abs() < 145), "{counts:?}");
    }
}
