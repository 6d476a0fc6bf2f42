//! Robust statistics over a handful of values, and what follows from them for the disks of a
//! shelf. Floor 1, pure.

mod blame;
mod standing;

pub use blame::{Blame, shared_places};
pub use standing::{LEAST_PEERS, Standing, again_alone, again_together, keeps_up, standings};

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

/// Values that stand out from the others: |robust z| > 5 and more than 10 % from the median.
/// Fewer than three values have no majority to stand out from.
#[must_use]
pub fn outliers(values: &[f64]) -> Vec<usize> {
    let Some(center) = median(values).filter(|_| values.len() >= 3) else { return Vec::new() };
    robust_z(values)
        .iter()
        .enumerate()
        .filter(|(i, z)| z.abs() > 5.0 && (values[*i] - center).abs() > 0.1 * center.abs())
        .map(|(i, _)| i)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
