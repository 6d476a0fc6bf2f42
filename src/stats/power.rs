//! How many blocks it takes, and what so many blocks can find.

use super::estimate::Estimate;
use super::student::t_quantile;

/// The usual chance of finding an effect that is there.
pub const POWER: f64 = 0.8;

/// More blocks than anybody runs: where a search for a number ends.
const MOST: usize = 1_000_000;

/// What a question is asked with: the risk of a false alarm, the chance of finding what is there,
/// and whether observations are differences within blocks (1 side) or of two sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Risk of a false alarm, two-sided.
    pub alpha: f64,
    /// Chance of finding the effect.
    pub power: f64,
    /// 1: blocks; 2: `n` runs a side.
    pub sides: u8,
}

impl Plan {
    /// Blocks, at this alpha, with the usual power.
    #[must_use]
    pub const fn blocks(alpha: f64) -> Self {
        Self { alpha, power: POWER, sides: 1 }
    }

    /// The sum of the two t quantiles with `n` blocks, or `n` runs a side.
    fn quantiles(&self, n: usize) -> f64 {
        let df = (n as f64 - 1.0) * f64::from(self.sides);
        t_quantile(1.0 - self.alpha / 2.0, df) + t_quantile(self.power, df)
    }

    /// The smallest log ratio that `n` blocks find, where an observation has this standard
    /// deviation (`Estimate::spread`). Infinite for fewer than two.
    #[must_use]
    pub fn detectable(&self, spread: f64, n: usize) -> f64 {
        if n < 2 {
            return f64::INFINITY;
        }
        self.quantiles(n) * spread / (n as f64).sqrt()
    }

    /// Blocks (or runs a side) to find a log ratio of `effect`: the smallest N with
    /// N >= ((t + t) x spread / effect)^2, both quantiles taken at N. At least 2.
    #[must_use]
    pub fn needed(&self, spread: f64, effect: f64) -> usize {
        let enough = |n: usize| self.detectable(spread, n) <= effect.abs();
        let mut high = 2;
        while !enough(high) && high < MOST {
            high *= 2;
        }
        let mut low = high / 2;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if enough(middle) { high = middle } else { low = middle }
        }
        high.clamp(2, MOST)
    }
}

/// Blocks (or runs, or boots a side) after which a question that is still open should be settled,
/// always more than there are: as many as find an effect of the margin, or as many as move the
/// interval off 0 or into the margin if the estimate stays where it is, whichever is more.
#[must_use]
pub fn still_needed(estimate: &Estimate, margin_log: f64, alpha: f64) -> usize {
    let plan = Plan { alpha, power: POWER, sides: estimate.sides };
    let planned = plan.needed(estimate.spread(), margin_log);
    let distance = estimate.log.abs().max(margin_log - estimate.log.abs());
    let narrower = (estimate.half_width(alpha) / distance).powi(2) * estimate.n as f64;
    planned.max(narrower.ceil().min(MOST as f64) as usize).max(estimate.n + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Minimum detectable effects in units of the standard deviation, 80 % power, alpha 5 %:
    /// `scripts/stats-reference`, "detectable".
    #[test]
    fn detectable_as_scipy_has_it() {
        let blocks = Plan::blocks(0.05);
        let sides = Plan { sides: 2, ..blocks };
        for (n, paired, unpaired) in DETECTABLE {
            let found = blocks.detectable(1.0, n);
            assert!((found - paired).abs() < 1e-6, "{n}: {found}, {paired}");
            // Two sides of standard deviation 1 have a difference of standard deviation sqrt 2.
            let found = sides.detectable(2f64.sqrt(), n);
            assert!((found - unpaired).abs() < 1e-6, "{n}: {found}, {unpaired}");
        }
        assert_eq!(blocks.detectable(1.0, 1), f64::INFINITY);
    }

    const DETECTABLE: [(usize, f64, f64); 4] = [
        (3, 3.096_510_147_5, 3.035_252_295_6),
        (5, 1.662_476_150_0, 2.020_628_165_0),
        (10, 0.994_713_735_0, 1.325_080_783_8),
        (20, 0.660_528_802_0, 0.909_337_265_6),
    ];

    /// `scripts/stats-reference`, "needed": found there by counting up from 2.
    #[test]
    fn needed_as_the_script_has_it() {
        for (spread, effect, alpha, sides, expected) in NEEDED {
            let plan = Plan { alpha, power: POWER, sides };
            assert_eq!(plan.needed(spread, effect), expected, "{spread} {effect} {alpha} {sides}");
        }
        assert_eq!(Plan::blocks(0.05).needed(0.0, 0.01), 2);
        assert_eq!(Plan::blocks(0.05).needed(1.0, 0.0), MOST);
    }

    const NEEDED: [(f64, f64, f64, u8, usize); 5] = [
        (0.03, 0.029_558_802_241_544_41, 0.05, 1, 11),
        (0.06, 0.029_558_802_241_544_41, 0.05, 1, 35),
        (0.01, 0.05, 0.05, 1, 3),
        (0.042, 0.029_558_802_241_544_41, 0.05, 2, 17),
        (0.03, 0.029_558_802_241_544_41, 0.005, 1, 18),
    ];

    #[test]
    fn an_open_question_needs_more_than_there_is() {
        let open = |log, se, n| {
            still_needed(&Estimate { log, se, df: n as f64 - 1.0, n, sides: 1 }, 0.03, 0.05)
        };
        // Half width 2.262 x 0.008 = 0.0181 around 0.016: neither off 0 nor within 0.03. Finding
        // 0.03 takes 8 blocks, but off 0 it is only after (0.0181 / 0.016)^2 x 10 = 12.8.
        assert_eq!(open(0.016, 0.008, 10), 13);
        assert!(open(0.02, 0.001, 10) > 10);
        assert!(open(0.0, 0.1, 10) > 500);
    }
}
