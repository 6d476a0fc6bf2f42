//! How the rate of a disk stands among those of its peers, and whether it does so again.

use super::{median, robust_z};

/// With fewer peers there is no majority that a slow one could be told from, itself included.
pub const LEAST_PEERS: usize = 4;

/// Further below the others than this is no chance: five standard deviations, were rates normal.
const FAR_Z: f64 = -5.0;
/// Among disks that agree to the percent anything is far away; less than this below bothers nobody.
const FAR_RATIO: f64 = 0.9;
/// A disk may be ten times as slow when it is measured again as it was at first.
const LEAST_RATIO: f64 = 0.1;

/// Where a rate stands among those of peers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// The rate over the median of all peers, itself included.
    pub ratio: f64,
    /// Robust z of the logarithm: below 0 where it is slower than the median.
    pub z: f64,
}

impl Standing {
    /// Whether it is so slow that it stands out. A fast one is no fault, and moves neither median
    /// nor deviation.
    #[must_use]
    pub fn is_slow(&self) -> bool {
        self.z < FAR_Z && self.ratio < FAR_RATIO
    }

    /// What it must stay below to be as slow again: the square root is half the distance in
    /// logarithms. Chance comes back weaker; a fault comes back.
    fn slow_again(&self) -> f64 {
        self.ratio.max(LEAST_RATIO).sqrt().min(FAR_RATIO)
    }
}

/// The standing of each of these peers. Logarithms, since "half" and "twice" are equally far.
#[must_use]
pub fn standings(rates: &[f64]) -> Vec<Standing> {
    let logs: Vec<f64> = rates.iter().map(|rate| rate.max(0.0).ln()).collect();
    let Some(center) = median(&logs).filter(|center| center.is_finite()) else {
        // Most of them did nothing at all: there is nothing to measure the others by.
        return vec![Standing { ratio: 1.0, z: 0.0 }; rates.len()];
    };
    let zs = robust_z(&logs);
    logs.iter().zip(zs).map(|(log, z)| Standing { ratio: (log - center).exp(), z }).collect()
}

/// Whether a disk that stood out alone does so again. It was measured several times, in turn with
/// peers: its best must be more than 10 % below the worst of theirs, and its median below theirs by
/// half of what it was at first. With three of theirs or more the worst one is left out: whatever
/// disturbs a measurement makes it slower, so that a slow disk never looks fast, but a healthy one
/// may once look slow.
#[must_use]
pub fn again_alone(first: Standing, again: &[f64], peers: &[f64]) -> bool {
    let (Some(mine), Some(theirs)) = (median(again), median(peers)) else { return false };
    let best = again.iter().copied().fold(0.0, f64::max);
    let mut sorted = peers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let worst = sorted[usize::from(sorted.len() >= 3)];
    best < FAR_RATIO * worst && mine <= first.slow_again() * theirs
}

/// Whether a disk is not slow after all: no more than 10 % below the best that is known of others.
#[must_use]
pub fn keeps_up(rate: f64, others: f64) -> bool {
    rate >= FAR_RATIO * others
}

/// Whether a disk that stood out when all ran does so when all run again.
#[must_use]
pub fn again_together(first: Standing, again: Standing) -> bool {
    again.is_slow() && again.ratio <= first.slow_again()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standing_by_hand() {
        // Logarithms to base 2: 6, 7, 7, 7, 8 around 7; deviations 1, 0, 0, 0, 1 have median 0.
        let all = standings(&[64.0, 128.0, 128.0, 128.0, 256.0]);
        assert!((all[0].ratio - 0.5).abs() < 1e-12 && all[0].z == f64::NEG_INFINITY);
        assert_eq!(all[1], Standing { ratio: 1.0, z: 0.0 });
        assert!(all[0].is_slow() && !all[4].is_slow(), "twice as fast is no fault");
        // 1, 2, 4, 8, 64: logarithms 0, 1, 2, 3, 6; deviations 2, 1, 0, 1, 4 have median 1.
        let all = standings(&[1.0, 2.0, 4.0, 8.0, 64.0]);
        let expected = [-2.0, -1.0, 0.0, 1.0, 4.0].map(|distance| distance * 0.6745);
        for (standing, z) in all.iter().zip(expected) {
            assert!((standing.z - z).abs() < 1e-3, "{standing:?}, {z}");
        }
    }

    #[test]
    fn both_limits_count() {
        let slow = |rates: &[f64]| -> Vec<usize> {
            let all = standings(rates);
            (0..rates.len()).filter(|index| all[*index].is_slow()).collect()
        };
        // Far by z, since the others agree to a thousandth, but only 9 % below.
        assert!(slow(&[100.0, 100.1, 99.9, 100.0, 91.0]).is_empty());
        assert_eq!(slow(&[100.0, 100.1, 99.9, 100.0, 89.0]), [4]);
        // A third below, but the others are as far apart.
        assert!(slow(&[100.0, 140.0, 80.0, 120.0, 66.0]).is_empty());
        // A fast one does not make the others slow.
        assert!(slow(&[100.0, 101.0, 99.0, 102.0, 1000.0]).is_empty());
        // One that did nothing, and a majority that did nothing.
        assert_eq!(slow(&[100.0, 101.0, 99.0, 0.0]), [3]);
        assert!(slow(&[100.0, 0.0, 0.0, 0.0]).is_empty());
        assert!(slow(&[]).is_empty());
    }

    #[test]
    fn chance_does_not_come_back() {
        let first = Standing { ratio: 0.49, z: -9.0 }; // again at 0.7 or less
        assert!(again_alone(first, &[50.0, 52.0, 51.0], &[100.0, 99.0, 101.0]));
        assert!(!again_alone(first, &[50.0, 91.0, 51.0], &[100.0, 99.0, 101.0]), "once as fast");
        assert!(!again_alone(first, &[75.0, 74.0, 76.0], &[100.0, 99.0, 101.0]), "only a quarter");
        assert!(!again_alone(first, &[], &[]));
        let once = [100.0, 55.0, 101.0];
        assert!(again_alone(first, &[50.0, 52.0, 51.0], &once), "one of theirs may be disturbed");
        assert!(!again_alone(first, &[50.0, 52.0, 51.0], &[55.0, 54.0, 101.0]), "but not two");
        let again = |ratio, z| again_together(first, Standing { ratio, z });
        assert!(again(0.6, -8.0) && !again(0.6, -4.0) && !again(0.8, -8.0));
        let barely = Standing { ratio: 0.89, z: -6.0 };
        assert!(again_together(barely, barely));
        assert!(keeps_up(91.0, 100.0) && !keeps_up(89.0, 100.0));
    }
}
