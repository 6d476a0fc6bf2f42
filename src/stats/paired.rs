//! The paired t interval: what blocks are for. Each block is its own control.

use super::estimate::{Estimate, mean_variance};

/// Estimate from one log ratio (or contrast) per block; `None` for fewer than two blocks.
#[must_use]
pub fn paired(differences: &[f64]) -> Option<Estimate> {
    let (log, variance) = mean_variance(differences)?;
    let n = differences.len();
    let se = (variance / n as f64).sqrt();
    Some(Estimate { log, se, df: (n - 1) as f64, n, sides: 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // 1, 2, 3, 6: mean 3, squares 4 + 1 + 0 + 9 = 14, variance 14/3, se sqrt(14/12).
        let found = paired(&[1.0, 2.0, 3.0, 6.0]).unwrap();
        assert_eq!((found.log, found.df, found.n), (3.0, 3.0, 4));
        assert!((found.se - (14f64 / 12.0).sqrt()).abs() < 1e-12);
        assert_eq!(paired(&[1.0]), None);
    }

    /// `scripts/stats-reference`, "paired": scipy.stats.ttest_1samp(D).
    #[test]
    fn as_scipy_has_it() {
        let found = paired(&super::super::tests::D).unwrap();
        let (low, high) = found.interval(0.05);
        for (value, expected) in
            [(found.log, PAIRED.0), (low, PAIRED.1), (high, PAIRED.2), (found.p_value(), PAIRED.3)]
        {
            assert!((value / expected - 1.0).abs() < 1e-9, "{value}, {expected}");
        }
    }

    const PAIRED: (f64, f64, f64, f64) =
        (-0.0265, -0.044_029_893_596_022_47, -0.008_970_106_403_977_541, 0.007_631_424_405_624_855);
}
