//! Student's t: quantiles and probabilities, for fractional degrees of freedom too.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The value that a t with `df` degrees of freedom exceeds with probability `1 - p`; not a number
/// unless `df` > 0 and 0 < `p` < 1.
#[must_use]
pub fn t_quantile(p: f64, df: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, df) {
        Ok(t) if p > 0.0 && p < 1.0 => t.inverse_cdf(p),
        _ => f64::NAN,
    }
}

/// Probability that |t| is at least this large by chance; not a number without `df` > 0.
#[must_use]
pub fn t_two_sided(t: f64, df: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, df) {
        // The lower tail: 1 - cdf would lose all digits of a small probability.
        Ok(dist) if !t.is_nan() => (2.0 * dist.cdf(-t.abs())).min(1.0),
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scripts/stats-reference` (scipy.stats.t.ppf), fractional degrees of freedom included.
    #[test]
    fn quantiles_as_scipy_has_them() {
        let expected = [
            (0.975, 1.0, 12.706_204_736_432_095),
            (0.975, 2.0, 4.302_652_729_911_275),
            (0.975, 3.0, 3.182_446_305_284_263),
            (0.975, 9.0, 2.262_157_162_740_991_5),
            (0.975, 19.0, 2.093_024_054_408_263),
            (0.975, 7.3, 2.345_066_736_150_929),
            (0.8, 9.0, 0.883_403_859_685_520_5),
            (0.995, 5.5, 3.849_911_466_001_553),
            (0.9995, 12.0, 4.317_791_283_606_267),
            (0.999_95, 4.0, 15.544_100_605_500_41),
        ];
        for (p, df, value) in expected {
            let found = t_quantile(p, df);
            assert!((found / value - 1.0).abs() < 1e-8, "{p} {df}: {found}, {value}");
            assert!((t_quantile(1.0 - p, df) / value + 1.0).abs() < 1e-6);
            let back = t_two_sided(value, df);
            assert!((back / (2.0 * (1.0 - p)) - 1.0).abs() < 1e-6, "{p} {df}: {back}");
        }
    }

    #[test]
    fn what_has_no_answer_is_no_number() {
        assert!(t_quantile(0.975, 0.0).is_nan() && t_quantile(1.0, 3.0).is_nan());
        assert!(t_two_sided(1.0, f64::NAN).is_nan());
        assert!((t_two_sided(0.0, 5.0) - 1.0).abs() < 1e-12);
    }
}
