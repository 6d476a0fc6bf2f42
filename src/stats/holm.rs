//! Holm's step-down procedure for many questions at once.

/// Adjusted p-values in the order of the given ones: reject where one is at most alpha, and the
/// chance of any false rejection among all is at most alpha.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![f64::NAN; p_values.len()];
    let mut running = 0.0f64;
    for (rank, index) in ascending(p_values).into_iter().enumerate() {
        let factor = (p_values.len() - rank) as f64;
        running = running.max((factor * p_values[index]).min(1.0));
        adjusted[index] = running;
    }
    adjusted
}

/// The alpha at which Holm's procedure judged each question: `alpha / (m - rank)` down to the first
/// that is not rejected, and that one's for all after it. An interval of level `1 - ` this excludes
/// 0 exactly where the question is rejected, so that table and verdict never contradict each other.
#[must_use]
pub fn holm_levels(p_values: &[f64], alpha: f64) -> Vec<f64> {
    let mut levels = vec![alpha; p_values.len()];
    let mut stopped = None;
    for (rank, index) in ascending(p_values).into_iter().enumerate() {
        let level = stopped.unwrap_or(alpha / (p_values.len() - rank) as f64);
        levels[index] = level;
        // Not "p > level": a p that is no number stops the procedure too.
        let rejected = p_values[index] <= level;
        if !rejected {
            stopped = Some(level);
        }
    }
    levels
}

/// Indices from the smallest to the largest value; what is no number comes last.
fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn by_hand() {
        // 0.01 x 4, 0.02 x 3, 0.03 x 2, 0.04 x 1, none below the one before.
        let adjusted = holm(&[0.04, 0.01, 0.03, 0.02]);
        for (found, expected) in adjusted.iter().zip([0.06, 0.04, 0.06, 0.06]) {
            assert!((found - expected).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[0.7]), [0.7]);
        assert_eq!(holm(&[0.7, 0.6]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn levels_by_hand() {
        // 0.001 <= 0.05/3; 0.03 > 0.05/2: it and all larger ones are judged at 0.025.
        assert_eq!(holm_levels(&[0.2, 0.001, 0.03], 0.05), [0.025, 0.05 / 3.0, 0.025]);
        assert_eq!(holm_levels(&[0.01], 0.05), [0.05]);
    }

    proptest! {
        #[test]
        fn holm_is_monotone_and_never_below_p(p in prop::collection::vec(0.0f64..=1.0, 1..20)) {
            let (adjusted, levels) = (holm(&p), holm_levels(&p, 0.05));
            for i in 0..p.len() {
                prop_assert!(adjusted[i] >= p[i] && adjusted[i] <= 1.0);
                prop_assert!(levels[i] <= 0.05);
                for j in 0..p.len() {
                    prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
                }
                // Both say the same, but for rounding at the very limit.
                if (adjusted[i] - 0.05).abs() > 1e-9 {
                    prop_assert_eq!(adjusted[i] <= 0.05, p[i] <= levels[i]);
                }
            }
        }
    }
}
