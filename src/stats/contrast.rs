//! What each factor does: weights over the cells of a block.
//!
//! A block is the logarithm of the metric in each cell. A contrast adds cells up with weights that
//! cancel out, so that what a whole block has in common (a slow hour) drops out.

/// The factors of an experiment by their numbers of levels; every combination is a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    levels: Vec<usize>,
}

/// A change of one factor: the factor's index, the level from, the level to.
pub type Step = (usize, usize, usize);

impl Design {
    /// A design with so many levels per factor.
    #[must_use]
    pub fn new(levels: &[usize]) -> Self {
        Self { levels: levels.to_vec() }
    }

    /// Number of cells.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.levels.iter().product()
    }

    /// The cell of these levels, one per factor: the last factor changes fastest.
    #[must_use]
    pub fn cell(&self, at: &[usize]) -> usize {
        debug_assert_eq!(at.len(), self.levels.len());
        at.iter().zip(&self.levels).fold(0, |cell, (level, levels)| cell * levels + level)
    }

    /// The levels of a cell.
    #[must_use]
    pub fn at(&self, mut cell: usize) -> Vec<usize> {
        let mut at = vec![0; self.levels.len()];
        for (level, levels) in at.iter_mut().zip(&self.levels).rev() {
            (*level, cell) = (cell % levels, cell / levels);
        }
        at
    }

    /// The effect of a factor going from one level to another, averaged over all combinations of
    /// the other factors.
    #[must_use]
    pub fn main_effect(&self, factor: usize, from: usize, to: usize) -> Contrast {
        let share = self.levels[factor] as f64 / self.cells() as f64;
        self.weights(|at| share * sign(at[factor], from, to))
    }

    /// The effect of a factor with the others held at the levels `at` (the factor's own entry does
    /// not matter).
    #[must_use]
    pub fn simple_effect(&self, (factor, from, to): Step, at: &[usize]) -> Contrast {
        self.weights(|cell| {
            let held = (0..at.len()).all(|other| other == factor || cell[other] == at[other]);
            if held { sign(cell[factor], from, to) } else { 0.0 }
        })
    }

    /// How much more the first step does after the second than before it, averaged over the
    /// remaining factors: a ratio of ratios.
    #[must_use]
    pub fn interaction(&self, one: Step, other: Step) -> Contrast {
        let share = (self.levels[one.0] * self.levels[other.0]) as f64 / self.cells() as f64;
        self.weights(|at| {
            share * sign(at[one.0], one.1, one.2) * sign(at[other.0], other.1, other.2)
        })
    }

    /// All combinations of the other factors at which a simple effect of `factor` can be asked
    /// for; the factor's own entry is 0.
    #[must_use]
    pub fn others(&self, factor: usize) -> Vec<Vec<usize>> {
        (0..self.cells()).map(|cell| self.at(cell)).filter(|at| at[factor] == 0).collect()
    }

    fn weights(&self, weight: impl Fn(&[usize]) -> f64) -> Contrast {
        Contrast { weights: (0..self.cells()).map(|cell| weight(&self.at(cell))).collect() }
    }
}

/// +1 at the level to, -1 at the level from, else 0.
fn sign(level: usize, from: usize, to: usize) -> f64 {
    f64::from(u8::from(level == to)) - f64::from(u8::from(level == from))
}

/// Weights of the cells of a block, that add up to 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast {
    /// One weight per cell.
    pub weights: Vec<f64>,
}

impl Contrast {
    /// Its value in a block of logarithms, one per cell. `None` where a cell that counts is no
    /// finite number: a run that failed takes its block out of the contrasts it belongs to only.
    #[must_use]
    pub fn value(&self, logs: &[f64]) -> Option<f64> {
        debug_assert_eq!(logs.len(), self.weights.len());
        let used = self.weights.iter().zip(logs).filter(|(weight, _)| **weight != 0.0);
        let sum: f64 = used.map(|(weight, log)| weight * log).sum();
        sum.is_finite().then_some(sum)
    }

    /// Its value in every block that has one. Each contrast has its own noise: nothing is pooled.
    #[must_use]
    pub fn values(&self, blocks: &[Vec<f64>]) -> Vec<f64> {
        blocks.iter().filter_map(|logs| self.value(logs)).collect()
    }

    /// Its standard deviation in a block if runs vary by `cv` and have nothing in common.
    #[must_use]
    pub fn spread(&self, cv: f64) -> f64 {
        cv * self.weights.iter().map(|weight| weight * weight).sum::<f64>().sqrt()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::paired;
    use super::*;

    /// Cells 00, 01, 10, 11 of a two by two; the first index is the first factor.
    const BLOCK: [f64; 4] = [1.0, 3.0, 2.0, 9.0];

    #[test]
    fn two_by_two_by_hand() {
        let design = Design::new(&[2, 2]);
        let value = |contrast: Contrast| contrast.value(&BLOCK).unwrap();
        // ((9 + 2) - (3 + 1)) / 2, ((9 + 3) - (2 + 1)) / 2, (9 - 3) - (2 - 1)
        assert_eq!(value(design.main_effect(0, 0, 1)), 3.5);
        assert_eq!(value(design.main_effect(1, 0, 1)), 4.5);
        assert_eq!(value(design.interaction((0, 0, 1), (1, 0, 1))), 5.0);
        assert_eq!(value(design.simple_effect((0, 0, 1), &[0, 1])), 6.0);
        assert_eq!(value(design.simple_effect((0, 0, 1), &[0, 0])), 1.0);
        assert_eq!(value(design.simple_effect((1, 0, 1), &[1, 0])), 7.0);
    }

    #[test]
    fn three_factors_by_hand() {
        // y = 10 a + 100 b + 1000 c + 7 ab, with a, b in 0, 1 and c in 0, 1, 2.
        let design = Design::new(&[2, 2, 3]);
        let block: Vec<f64> = (0..design.cells())
            .map(|cell| {
                let at = design.at(cell);
                assert_eq!(design.cell(&at), cell);
                (10 * at[0] + 100 * at[1] + 1000 * at[2] + 7 * at[0] * at[1]) as f64
            })
            .collect();
        let value = |contrast: Contrast| (contrast.value(&block).unwrap() * 1e9).round() / 1e9;
        assert_eq!(value(design.main_effect(0, 0, 1)), 13.5, "10 and half of the time 7");
        assert_eq!(value(design.main_effect(2, 0, 2)), 2000.0);
        assert_eq!(value(design.main_effect(2, 2, 1)), -1000.0);
        assert_eq!(value(design.interaction((0, 0, 1), (1, 0, 1))), 7.0);
        assert_eq!(value(design.interaction((0, 0, 1), (2, 0, 1))), 0.0);
        assert_eq!(value(design.simple_effect((0, 0, 1), &[0, 1, 2])), 17.0);
        assert_eq!(design.others(0).len(), 6);
    }

    #[test]
    fn a_failed_run_spoils_only_what_it_is_part_of() {
        let design = Design::new(&[2, 2]);
        let block = [1.0, 3.0, f64::NAN, 9.0];
        assert_eq!(design.main_effect(0, 0, 1).value(&block), None);
        assert_eq!(design.simple_effect((0, 0, 1), &[0, 1]).value(&block), Some(6.0));
        let no_ops = [1.0, 0f64.ln(), 2.0, 9.0];
        assert_eq!(design.interaction((0, 0, 1), (1, 0, 1)).value(&no_ops), None);
    }

    /// `scripts/stats-reference`, "contrasts": ordinary least squares on dummy variables, which has
    /// the same estimates, and scipy.stats.ttest_1samp of each block's value.
    #[test]
    fn as_the_script_has_it() {
        let blocks: Vec<Vec<f64>> =
            super::super::tests::BLOCKS.iter().map(|row| row.to_vec()).collect();
        let design = Design::new(&[2, 2]);
        let contrasts = [
            design.main_effect(0, 0, 1),
            design.main_effect(1, 0, 1),
            design.interaction((0, 0, 1), (1, 0, 1)),
            design.simple_effect((0, 0, 1), &[0, 0]),
            design.simple_effect((0, 0, 1), &[0, 1]),
        ];
        for (contrast, (log, low, high)) in contrasts.iter().zip(CONTRASTS) {
            let found = paired(&contrast.values(&blocks)).unwrap();
            let limits = found.interval(0.05);
            for (value, expected) in [(found.log, log), (limits.0, low), (limits.1, high)] {
                assert!((value - expected).abs() < 1e-9, "{contrast:?}: {value}, {expected}");
            }
        }
    }

    const CONTRASTS: [(f64, f64, f64); 5] = [
        (-0.139_166_666_666_7, -0.155_225_661_052_9, -0.123_107_672_280_4),
        (-0.1225, -0.148_788_310_422_3, -0.096_211_689_577_7),
        (-0.258_333_333_333_3, -0.314_423_353_087_2, -0.202_243_313_579_5),
        (-0.01, -0.038_930_944_056_0, 0.018_930_944_056_0),
        (-0.268_333_333_333_3, -0.303_714_518_098_9, -0.232_952_148_567_8),
    ];

    proptest! {
        #[test]
        fn what_a_block_has_in_common_drops_out(
            logs in prop::collection::vec(-5.0f64..5.0, 12), shift in -9.0f64..9.0
        ) {
            let design = Design::new(&[2, 3, 2]);
            let shifted: Vec<f64> = logs.iter().map(|log| log + shift).collect();
            for contrast in [
                design.main_effect(1, 0, 2),
                design.simple_effect((1, 0, 1), &[1, 0, 0]),
                design.interaction((0, 0, 1), (1, 1, 2)),
            ] {
                let (one, other) = (contrast.value(&logs).unwrap(), contrast.value(&shifted).unwrap());
                prop_assert!((one - other).abs() < 1e-9);
            }
            // Going back undoes it.
            let there = design.main_effect(1, 0, 2).value(&logs).unwrap();
            let back = design.main_effect(1, 2, 0).value(&logs).unwrap();
            prop_assert!((there + back).abs() < 1e-12);
        }
    }
}
