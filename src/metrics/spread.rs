//! Mean and standard deviation of numbers that come one by one and are not kept.

/// What is known of the numbers so far: Welford's recurrence, which loses no digits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    count: u64,
    mean: f64,
    /// Sum of squared distances from the mean.
    squares: f64,
}

impl Spread {
    /// Adds one.
    pub fn add(&mut self, number: f64) {
        self.count += 1;
        let before = number - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (number - self.mean);
    }

    /// Their mean; `None` without any.
    #[must_use]
    pub fn mean(self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// The standard deviation of what they are a sample of (n - 1); `None` with fewer than two.
    #[must_use]
    pub fn deviation(self) -> Option<f64> {
        (self.count > 1).then(|| (self.squares / (self.count - 1) as f64).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squared distances 9+1+1+1+0+0+4+16 = 32, of n - 1 = 7.
    #[test]
    fn a_series_by_hand() {
        let mut spread = Spread::default();
        assert_eq!((spread.mean(), spread.deviation()), (None, None));
        for number in [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0] {
            spread.add(number + 1e9);
        }
        assert!((spread.mean().unwrap() - 1e9 - 5.0).abs() < 1e-6);
        assert!((spread.deviation().unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-6);
    }
}
