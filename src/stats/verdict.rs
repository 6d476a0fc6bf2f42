//! One of four words for a change, and why it is the fourth.

use super::estimate::Estimate;
use super::power::still_needed;
use super::signed_rank::hodges_lehmann;

/// With fewer observations nothing is said.
pub const LEAST_RUNS: usize = 4;
/// With fewer boots a side nothing is known of how much boots differ.
pub const LEAST_BOOTS: usize = 3;

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// As rates.
    Higher,
    /// As times and latencies.
    Lower,
}

/// What is compared, and how much of a change is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// Changes below this are none, as a log ratio: ln(1.03) for 3 %. Alike for slower and faster,
    /// so that the answer does not depend on which side is called the first.
    pub margin_log: f64,
    /// Risk of a false alarm, two-sided.
    pub alpha: f64,
    /// The good direction.
    pub better: Better,
    /// Fewest observations that count: [`LEAST_RUNS`] or [`LEAST_BOOTS`].
    pub least: usize,
}

/// What can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval is within the margin: shown to be equal, not merely not different.
    Same,
    /// Worse, and 0 is not in the interval.
    Regression,
    /// Better, and 0 is not in the interval.
    Improvement,
    /// None of these.
    Inconclusive(Why),
}

/// Why nothing can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Too much noise for so few blocks; so many in all might settle it.
    Noise {
        /// Blocks, or runs or boots a side.
        needs: usize,
    },
    /// Fewer observations than count at all.
    TooFew {
        /// What there is.
        have: usize,
        /// What is asked for.
        least: usize,
    },
    /// The t interval and the rank interval do not agree on whether there is a change, or which.
    Unstable,
}

impl Verdict {
    /// The word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Regression => "regression",
            Self::Improvement => "improvement",
            Self::Inconclusive(_) => "inconclusive",
        }
    }
}

/// Judges an estimate. `differences` are the values per block it was made of, where there are
/// such: they are looked at a second time by ranks.
#[must_use]
pub fn judge(estimate: &Estimate, differences: Option<&[f64]>, question: &Question) -> Verdict {
    if estimate.n < question.least {
        let (have, least) = (estimate.n, question.least);
        return Verdict::Inconclusive(Why::TooFew { have, least });
    }
    let (low, high) = estimate.interval(question.alpha);
    let margin = question.margin_log;
    if low > -margin && high < margin {
        return Verdict::Same;
    }
    if differences.is_some_and(|blocks| unstable(estimate, blocks, question.alpha)) {
        return Verdict::Inconclusive(Why::Unstable);
    }
    if low <= 0.0 && high >= 0.0 {
        let needs = still_needed(estimate, margin, question.alpha);
        return Verdict::Inconclusive(Why::Noise { needs });
    }
    if (estimate.log > 0.0) == (question.better == Better::Higher) {
        Verdict::Improvement
    } else {
        Verdict::Regression
    }
}

/// Whether t and ranks disagree: one of them sees a change at `alpha` that the other does not even
/// see at twice that, or sees the other way round. Asking both for the same level would call a
/// fifth of true effects unstable with six blocks, and a thirtieth with ten, where noise is normal
/// (`scripts/stats-reference --power`): close to the limit they differ by chance.
fn unstable(estimate: &Estimate, blocks: &[f64], alpha: f64) -> bool {
    let by_t = |alpha| way(estimate.interval(alpha));
    let by_ranks = |alpha| hodges_lehmann(blocks, alpha).map(|found| way((found.low, found.high)));
    let (Some(strict), Some(loose)) = (by_ranks(alpha), by_ranks(2.0 * alpha)) else {
        return false; // too few for ranks
    };
    let opposed = |one, other| one != 0 && one != other;
    opposed(by_t(alpha), loose) || opposed(strict, by_t(2.0 * alpha))
}

/// -1 or 1 for an interval below or above 0, else 0.
fn way((low, high): (f64, f64)) -> i8 {
    i8::from(low > 0.0) - i8::from(high < 0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::paired;
    use super::*;

    const ASK: Question =
        Question { margin_log: 0.03, alpha: 0.05, better: Better::Higher, least: LEAST_RUNS };

    fn of(log: f64, se: f64) -> Verdict {
        // t(0.975; 9) = 2.262
        judge(&Estimate { log, se, df: 9.0, n: 10, sides: 1 }, None, &ASK)
    }

    #[test]
    fn order_of_the_tests() {
        assert_eq!(of(0.01, 0.002), Verdict::Same, "0.0055 .. 0.0145 is no 0, and yet the same");
        assert_eq!(of(-0.05, 0.01), Verdict::Regression);
        assert_eq!(of(0.05, 0.01), Verdict::Improvement);
        assert_eq!(of(-0.02, 0.006), Verdict::Regression, "-0.034 .. -0.006");
        assert!(matches!(of(0.0, 0.02), Verdict::Inconclusive(Why::Noise { needs }) if needs > 10));
        let few = Estimate { log: -0.5, se: 0.001, df: 2.0, n: 3, sides: 1 };
        let word = judge(&few, None, &ASK);
        assert_eq!(word, Verdict::Inconclusive(Why::TooFew { have: 3, least: 4 }));
        let boots = Question { least: LEAST_BOOTS, ..ASK };
        assert_eq!(judge(&few, None, &boots), Verdict::Regression);
    }

    #[test]
    fn lower_may_be_better() {
        let time = Question { better: Better::Lower, ..ASK };
        let slower = Estimate { log: 0.05, se: 0.01, df: 9.0, n: 10, sides: 1 };
        assert_eq!(judge(&slower, None, &time), Verdict::Regression);
    }

    #[test]
    fn one_wild_block_makes_it_unstable() {
        // Eleven blocks of -4 % and one of +100 %: t sees nothing, the ranks do.
        let mut blocks: Vec<f64> = (0..12).map(|i| -0.04 + 0.0005 * f64::from(i % 4)).collect();
        blocks[11] = 0.7;
        let estimate = paired(&blocks).unwrap();
        assert!(estimate.log > 0.0);
        assert_eq!(judge(&estimate, Some(&blocks), &ASK), Verdict::Inconclusive(Why::Unstable));
        blocks[11] = -0.04;
        let estimate = paired(&blocks).unwrap();
        assert_eq!(judge(&estimate, Some(&blocks), &ASK), Verdict::Regression);
    }

    proptest! {
        #[test]
        fn swapping_the_sides_turns_the_verdict_round(
            blocks in prop::collection::vec(-0.2f64..0.2, 4..20)
        ) {
            let turned: Vec<f64> = blocks.iter().map(|d| -d).collect();
            let (one, other) = (paired(&blocks).unwrap(), paired(&turned).unwrap());
            prop_assert!((one.log + other.log).abs() < 1e-12);
            let words = (judge(&one, Some(&blocks), &ASK), judge(&other, Some(&turned), &ASK));
            let expected = match words.0 {
                Verdict::Regression => Verdict::Improvement,
                Verdict::Improvement => Verdict::Regression,
                alike => alike,
            };
            prop_assert_eq!(words.1, expected);
        }
    }
}
