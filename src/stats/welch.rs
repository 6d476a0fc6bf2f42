//! Welch's comparison of two sides that are not paired: their noise may differ.

use super::estimate::{Estimate, mean_variance};

/// Estimate of the difference `b` - `a` of two groups of logarithms, with Welch's degrees of
/// freedom; `None` where a side has fewer than two values.
#[must_use]
pub fn welch(a: &[f64], b: &[f64]) -> Option<Estimate> {
    let ((mean_a, var_a), (mean_b, var_b)) = (mean_variance(a)?, mean_variance(b)?);
    let (n_a, n_b) = (a.len() as f64, b.len() as f64);
    let (part_a, part_b) = (var_a / n_a, var_b / n_b);
    let sum = part_a + part_b;
    let df = sum.powi(2) / (part_a.powi(2) / (n_a - 1.0) + part_b.powi(2) / (n_b - 1.0));
    // Two sides without any noise: 0/0, and no difference it makes.
    let df = if df.is_nan() { n_a + n_b - 2.0 } else { df };
    let n = a.len().min(b.len());
    Some(Estimate { log: mean_b - mean_a, se: sum.sqrt(), df, n, sides: 2 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Variances 1 and 4 with n = 3: parts 1/3 and 4/3, se sqrt(5/3),
        // df = (25/9) / (1/18 + 16/18) = 50/17.
        let found = welch(&[1.0, 2.0, 3.0], &[3.0, 5.0, 7.0]).unwrap();
        assert!((found.log - 3.0).abs() < 1e-12);
        assert!((found.se - (5f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!((found.df - 50.0 / 17.0).abs() < 1e-12);
        assert_eq!(welch(&[1.0], &[2.0, 3.0]), None);
    }

    /// `scripts/stats-reference`, "welch": scipy.stats.ttest_ind(B, A, equal_var=False).
    #[test]
    fn as_scipy_has_it() {
        use super::super::tests::{A, B};
        let found = welch(&A, &B).unwrap();
        let (low, high) = found.interval(0.05);
        for (value, expected) in [
            (found.log, WELCH.0),
            (found.df, WELCH.1),
            (low, WELCH.2),
            (high, WELCH.3),
            (found.p_value(), WELCH.4),
        ] {
            assert!((value / expected - 1.0).abs() < 1e-9, "{value}, {expected}");
        }
    }

    const WELCH: (f64, f64, f64, f64, f64) = (
        -0.052_571_428_571_428_49,
        8.743_342_549_912_027,
        -0.111_886_130_603_123_08,
        0.006_743_273_460_266_09,
        0.075_770_403_439_452_3,
    );
}
