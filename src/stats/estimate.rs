//! How far two things are apart: the logarithm of a ratio with what is needed for its interval.

use super::student::{t_quantile, t_two_sided};

/// A log ratio as it was measured. Intervals of any level come from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Natural logarithm of the ratio: 0 is "no change".
    pub log: f64,
    /// Its standard error.
    pub se: f64,
    /// Degrees of freedom of the standard error.
    pub df: f64,
    /// Observations: blocks when paired, else those of the smaller side.
    pub n: usize,
    /// 1 when each observation is a difference within a block, 2 when it is of one of two sides.
    pub sides: u8,
}

impl Estimate {
    /// Standard deviation of one observation: `se` = `spread` / sqrt(n).
    #[must_use]
    pub fn spread(&self) -> f64 {
        self.se * (self.n as f64).sqrt()
    }

    /// Probability of a log ratio this far from 0 if there were no effect, two-sided.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        match (self.log == 0.0, self.se == 0.0) {
            (true, true) => 1.0,
            (false, true) => 0.0,
            _ => t_two_sided(self.log / self.se, self.df),
        }
    }

    /// Half the width of the interval of level `1 - alpha`, in logarithms.
    #[must_use]
    pub fn half_width(&self, alpha: f64) -> f64 {
        // All differences alike: an interval of no width, as the formula has it.
        if self.se == 0.0 { 0.0 } else { self.se * t_quantile(1.0 - alpha / 2.0, self.df) }
    }

    /// The interval of level `1 - alpha`, in logarithms.
    #[must_use]
    pub fn interval(&self, alpha: f64) -> (f64, f64) {
        let half = self.half_width(alpha);
        (self.log - half, self.log + half)
    }

    /// The change with the limits of its interval of level `1 - alpha`, in percent.
    #[must_use]
    pub fn percent(&self, alpha: f64) -> (f64, f64, f64) {
        let (low, high) = self.interval(alpha);
        (percent(self.log), percent(low), percent(high))
    }
}

/// The change in percent that a log ratio stands for: ln 2 is +100 %.
#[must_use]
pub fn percent(log_ratio: f64) -> f64 {
    100.0 * log_ratio.exp_m1()
}

/// Mean of values and their variance with n - 1; `None` for fewer than two.
pub(super) fn mean_variance(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    Some((mean, squares / (n - 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_by_hand() {
        assert!((percent(2f64.ln()) - 100.0).abs() < 1e-12);
        assert!((percent(0.5f64.ln()) + 50.0).abs() < 1e-12);
        assert_eq!(percent(0.0), 0.0);
    }

    #[test]
    fn limits_are_transformed_one_by_one() {
        // t(0.975; 3) = 3.182446: ln 2 -+ 3.182446 x 0.1 is 0.374902, 1.011392.
        let estimate = Estimate { log: 2f64.ln(), se: 0.1, df: 3.0, n: 4, sides: 1 };
        let (middle, low, high) = estimate.percent(0.05);
        assert!((middle - 100.0).abs() < 1e-9);
        assert!((low - 45.4849).abs() < 1e-3 && (high - 174.9424).abs() < 1e-3, "{low} {high}");
        assert!((estimate.spread() - 0.2).abs() < 1e-12);
    }

    #[test]
    fn without_noise_any_difference_counts() {
        let exact = Estimate { log: 0.1, se: 0.0, df: 3.0, n: 4, sides: 1 };
        assert_eq!((exact.p_value(), exact.interval(0.05)), (0.0, (0.1, 0.1)));
        assert_eq!(Estimate { log: 0.0, ..exact }.p_value(), 1.0);
    }
}
