//! Whether a rate was level over a run: five windows of equal length, as the storage industry's
//! performance test specification (SNIA PTS) judges rounds.

/// Windows that a run is cut into.
pub const WINDOWS: usize = 5;

/// How level a rate was, as shares of its mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Largest minus smallest window.
    pub range: f64,
    /// What the best-fit line rises (or, below 0, falls) over the whole run.
    pub slope: f64,
}

impl Level {
    /// Range within 20 % and slope within 10 % of the mean.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.range <= 0.2 && self.slope.abs() <= 0.1
    }
}

/// How level these five rates are; `None` where their mean is not above 0.
#[must_use]
pub fn level(rates: &[f64; WINDOWS]) -> Option<Level> {
    let mean = rates.iter().sum::<f64>() / WINDOWS as f64;
    if mean.is_nan() || mean <= 0.0 {
        return None;
    }
    let max = rates.iter().copied().fold(f64::MIN, f64::max);
    let min = rates.iter().copied().fold(f64::MAX, f64::min);
    // Positions -2 .. 2 have squares that add up to 10; the run is five windows long.
    let slope: f64 =
        rates.iter().zip(-2..).map(|(rate, x)| f64::from(x) * rate).sum::<f64>() / 10.0;
    Some(Level { range: (max - min) / mean, slope: slope * WINDOWS as f64 / mean })
}

/// Rates of the five windows of `0 .. total` from stretches of (start, length, count), whose counts
/// are taken to be spread evenly; `None` where `total` is not above 0.
#[must_use]
pub fn five_rates(stretches: &[(f64, f64, f64)], total: f64) -> Option<[f64; WINDOWS]> {
    if total.is_nan() || total <= 0.0 {
        return None;
    }
    let width = total / WINDOWS as f64;
    let mut rates = [0.0; WINDOWS];
    for (start, length, count) in stretches {
        for (index, rate) in rates.iter_mut().enumerate() {
            let (from, to) = (index as f64 * width, (index + 1) as f64 * width);
            let common = (start + length).min(to) - start.max(from);
            if common > 0.0 {
                *rate += count * common / length / width;
            }
        }
    }
    Some(rates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_by_hand() {
        // Mean 100; range 20; slope (-2x90 - 1x100 + 0 + 1x90 + 2x110) / 10 = 3 a window, 15 a run.
        let found = level(&[90.0, 100.0, 110.0, 90.0, 110.0]).unwrap();
        assert!((found.range - 0.2).abs() < 1e-12 && (found.slope - 0.15).abs() < 1e-12);
        assert!(!found.is_steady(), "it rises");
        assert!(level(&[100.0, 91.0, 109.0, 91.0, 100.0]).unwrap().is_steady());
        assert!(!level(&[100.0, 89.0, 110.0, 91.0, 100.0]).unwrap().is_steady(), "21 %");
        assert_eq!(level(&[0.0; 5]), None);
    }

    #[test]
    fn stretches_are_dealt_to_windows() {
        // 10 s in windows of 2 s: the stretch 1..5 with 40 gives 10 a second to each second.
        let rates = five_rates(&[(1.0, 4.0, 40.0), (9.0, 2.0, 8.0)], 10.0).unwrap();
        assert_eq!(rates, [5.0, 10.0, 5.0, 0.0, 2.0]);
        assert_eq!(five_rates(&[], 0.0), None);
    }
}
