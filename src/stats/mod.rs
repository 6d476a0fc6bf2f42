//! Statistics of runs: what differs, by how much, with which interval; robust statistics over a
//! handful of values, and what follows from them for the disks of a shelf. Floor 1, pure.
//!
//! The unit is a whole run. Values are natural logarithms, so that effects are ratios: "half" and
//! "twice" are equally far, and swapping the sides turns the sign. docs/measuring.md says why these
//! methods; `scripts/stats-reference` computes what the tests expect.

mod blame;
mod budget;
mod contrast;
mod estimate;
mod holm;
mod paired;
mod power;
mod signed_rank;
mod standing;
mod steady;
mod student;
mod verdict;
mod welch;

pub use blame::{Blame, shared_places};
pub use budget::{LEAST_BLOCKS, Spent, USUAL_BLOCKS, resolvable, spend};
pub use contrast::{Contrast, Design, Step};
pub use estimate::{Estimate, percent};
pub use holm::{holm, holm_levels};
pub use paired::paired;
pub use power::{POWER, Plan, still_needed};
pub use signed_rank::{HodgesLehmann, hodges_lehmann};
pub use standing::{LEAST_PEERS, Standing, again_alone, again_together, keeps_up, standings};
pub use steady::{Level, WINDOWS, five_rates, level};
pub use student::{t_quantile, t_two_sided};
pub use verdict::{Better, LEAST_BOOTS, LEAST_RUNS, Question, Verdict, Why, judge};
pub use welch::welch;

/// Median; `None` of nothing. Not a number sorts last.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// Robust z of each value: its distance from the median over 1.4826 x the median absolute
/// deviation, which is the standard deviation where values are normal (Rousseeuw and Croux 1993).
/// With no deviation at all a value is 0 or infinitely far away.
#[must_use]
pub fn robust_z(values: &[f64]) -> Vec<f64> {
    let Some(center) = median(values) else { return Vec::new() };
    let deviations: Vec<f64> = values.iter().map(|v| (v - center).abs()).collect();
    let scale = 1.4826 * median(&deviations).unwrap_or(0.0);
    values.iter().map(|v| if *v == center { 0.0 } else { (v - center) / scale }).collect()
}

/// Values that stand out from the others, with their robust z: |z| > 5, which is no chance where
/// values are normal, and more than `distance` from the median, since among values that agree
/// anything is far away.
#[must_use]
pub fn far(values: &[f64], distance: f64) -> Vec<(usize, f64)> {
    let Some(center) = median(values) else { return Vec::new() };
    let zs = robust_z(values).into_iter().enumerate();
    zs.filter(|(i, z)| z.abs() > 5.0 && (values[*i] - center).abs() > distance).collect()
}

/// Values that are [`far`] from the others, and more than 10 % from the median. Fewer than three
/// values have no majority to stand out from.
#[must_use]
pub fn outliers(values: &[f64]) -> Vec<usize> {
    let Some(center) = median(values).filter(|_| values.len() >= 3) else { return Vec::new() };
    far(values, 0.1 * center.abs()).into_iter().map(|(i, _)| i).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // The data of scripts/stats-reference, for the tests of the other files.

    /// A log ratio per block.
    pub(super) const D: [f64; 10] =
        [-0.041, -0.012, -0.055, 0.008, -0.033, -0.027, -0.061, -0.019, 0.013, -0.038];
    /// Logarithms of two sides.
    pub(super) const A: [f64; 5] = [6.91, 6.95, 6.88, 6.93, 6.9];
    /// The other side.
    pub(super) const B: [f64; 7] = [6.85, 6.97, 6.79, 6.9, 6.81, 6.88, 6.83];
    /// Blocks of a two by two: cells 00, 01, 10, 11.
    pub(super) const BLOCKS: [[f64; 4]; 6] = [
        [6.9, 6.91, 6.89, 6.62],
        [6.95, 6.93, 6.9, 6.71],
        [6.88, 6.9, 6.91, 6.6],
        [6.85, 6.88, 6.83, 6.58],
        [6.92, 6.95, 6.9, 6.69],
        [6.97, 6.94, 6.98, 6.7],
    ];

    #[test]
    fn median_and_z_by_hand() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        // Deviations of 1, 2, 3, 4, 9 from 3 are 2, 1, 0, 1, 6: their median is 1.
        let z = robust_z(&[1.0, 2.0, 3.0, 4.0, 9.0]);
        assert!((z[4] - 6.0 / 1.4826).abs() < 1e-12 && z[2] == 0.0);
    }

    #[test]
    fn only_a_disk_far_from_the_rest_stands_out() {
        assert_eq!(outliers(&[100.0, 101.0, 99.0, 50.0, 100.0]), [3]);
        assert!(outliers(&[100.0, 101.0, 99.0, 108.0]).is_empty(), "within 10 %");
        assert!(outliers(&[100.0, 10.0]).is_empty(), "no majority");
        assert_eq!(outliers(&[100.0, 100.0, 100.0, 80.0]), [3], "the others agree exactly");
    }
}
