//! Hodges-Lehmann with the exact interval of Wilcoxon's signed-rank distribution: it does not care
//! how far away an outlier is.

use super::median;

/// A location estimate and its interval; `interval` has at least the level that was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HodgesLehmann {
    /// Median of all pairwise means.
    pub log: f64,
    /// Lower limit.
    pub low: f64,
    /// Upper limit.
    pub high: f64,
}

/// Estimate and interval of level `1 - alpha` for one difference per block. `None` where even the
/// widest interval has a smaller level: fewer than six differences at 95 %.
#[must_use]
pub fn hodges_lehmann(differences: &[f64], alpha: f64) -> Option<HodgesLehmann> {
    let walsh = walsh_averages(differences);
    let k = tail_rank(differences.len(), alpha / 2.0)?;
    let (low, high) = (*walsh.get(k - 1)?, *walsh.get(walsh.len() - k)?);
    Some(HodgesLehmann { log: median(&walsh)?, low, high })
}

/// Means of all pairs, each value paired with itself too, sorted.
fn walsh_averages(values: &[f64]) -> Vec<f64> {
    let pairs =
        values.iter().enumerate().flat_map(|(i, a)| values[i..].iter().map(move |b| (a, b)));
    let mut averages: Vec<f64> = pairs.map(|(a, b)| (a + b) / 2.0).collect();
    averages.sort_by(f64::total_cmp);
    averages
}

/// The largest k with P(W <= k - 1) <= `tail`; `None` if there is none.
fn tail_rank(n: usize, tail: f64) -> Option<usize> {
    // The dyadic limit of many differences (0.025 is none) is never hit exactly; this is for others.
    let limit = tail * (1.0 + 1e-12);
    let mut sum = 0.0;
    let mut k = 0;
    for probability in signed_rank_distribution(n) {
        sum += probability;
        if sum > limit {
            break;
        }
        k += 1;
    }
    (k > 0).then_some(k)
}

/// P(W = w) for w = 0 .. n(n+1)/2: every sign pattern of the ranks 1..n is equally likely.
fn signed_rank_distribution(n: usize) -> Vec<f64> {
    let mut distribution = vec![0.0; n * (n + 1) / 2 + 1];
    distribution[0] = 1.0;
    let mut top = 0;
    for rank in 1..=n {
        top += rank;
        for w in (0..=top).rev() {
            let with = if w >= rank { distribution[w - rank] } else { 0.0 };
            distribution[w] = 0.5 * (distribution[w] + with);
        }
    }
    distribution
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distribution_by_hand() {
        // Subset sums of 1, 2, 3: 0 1 2 3 3 4 5 6.
        assert_eq!(
            signed_rank_distribution(3),
            [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0].map(|count| count / 8.0)
        );
        let sum: f64 = signed_rank_distribution(40).iter().sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }

    /// Critical values of the two-sided 5 % signed-rank test, as every table has them: 0 for
    /// n = 6, 2, 3, 5, 8; 25 for n = 15; 52 for n = 20 (one less than our k).
    #[test]
    fn critical_values_of_the_tables() {
        let ranks = [6, 7, 8, 9, 10, 15, 20].map(|n| tail_rank(n, 0.025));
        assert_eq!(ranks, [1, 3, 4, 6, 9, 26, 53].map(Some));
        assert_eq!(tail_rank(5, 0.025), None);
    }

    #[test]
    fn estimate_by_hand() {
        // Six values: k = 1, so that the limits are the extremes.
        let found = hodges_lehmann(&[1.0, 2.0, 3.0, 4.0, 5.0, 600.0], 0.05).unwrap();
        assert_eq!((found.low, found.high), (1.0, 600.0));
        // 21 averages; the 15 of 1..5 are 1 1.5 2 2 2.5 2.5 3 3 3 3.5 3.5 4 4 4.5 5: the 11th is 3.5.
        assert_eq!(found.log, 3.5);
        assert_eq!(hodges_lehmann(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.05), None);
    }

    /// `scripts/stats-reference`, "hodges-lehmann": all 1024 sign patterns counted.
    #[test]
    fn as_the_script_has_it() {
        let found = hodges_lehmann(&super::super::tests::D, 0.05).unwrap();
        for (value, expected) in [(found.log, HL.0), (found.low, HL.1), (found.high, HL.2)] {
            assert!((value - expected).abs() < 1e-12, "{value}, {expected}");
        }
    }

    const HL: (f64, f64, f64) = (-0.0265, -0.044, -0.0095);
}
