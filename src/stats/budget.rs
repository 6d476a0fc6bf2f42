//! What can be had for a given time: blocks, length of a run, and the effect they can resolve.

use super::contrast::Contrast;
use super::power::Plan;

/// Fewer blocks have no rank interval, which needs six.
pub const LEAST_BLOCKS: usize = 6;
/// More is better spent on longer runs, until those are as long as anybody wants.
pub const USUAL_BLOCKS: usize = 10;

/// How a time is spent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spent {
    /// Blocks.
    pub blocks: usize,
    /// Measured seconds of each run.
    pub run_s: f64,
}

/// Spends `total_s` seconds on blocks of `cells` runs, each of which costs `around_s` seconds
/// besides what is measured. Runs last from `shortest_s` to `longest_s`. Ten blocks, fewer (not
/// below six) where runs would be too short, more where they would be too long: what varies from
/// run to run is not averaged away by a longer run. `None` where six of the shortest do not fit.
#[must_use]
pub fn spend(
    total_s: f64,
    cells: usize,
    around_s: f64,
    (shortest_s, longest_s): (f64, f64),
) -> Option<Spent> {
    let fitting = |run_s: f64| (total_s / (cells as f64 * (run_s + around_s))) as usize;
    let most = fitting(shortest_s);
    if cells == 0 || most < LEAST_BLOCKS {
        return None;
    }
    let blocks = USUAL_BLOCKS.max(fitting(longest_s)).min(most);
    let run_s = total_s / (blocks * cells) as f64 - around_s;
    Some(Spent { blocks, run_s: run_s.clamp(shortest_s, longest_s) })
}

/// The smallest log ratio that a contrast finds in so many blocks (80 % power), if runs vary by a
/// coefficient of variation `cv` and neighbouring runs have nothing in common. Where they have,
/// blocks do better.
#[must_use]
pub fn resolvable(contrast: &Contrast, cv: f64, blocks: usize, alpha: f64) -> f64 {
    Plan::blocks(alpha).detectable(contrast.spread(cv), blocks)
}

#[cfg(test)]
mod tests {
    use super::super::contrast::Design;
    use super::*;

    #[test]
    fn time_is_spent_by_hand() {
        // 20 min over 10 blocks of 4: 30 s each, 5 of them around the run.
        assert_eq!(spend(1200.0, 4, 5.0, (10.0, 60.0)), Some(Spent { blocks: 10, run_s: 25.0 }));
        // 8 blocks of 4 x 15 s are 480 s.
        assert_eq!(spend(480.0, 4, 5.0, (10.0, 60.0)), Some(Spent { blocks: 8, run_s: 10.0 }));
        // Longer than 60 s nobody needs: 24 blocks of 2 x 65 s are 3120 s of 3200.
        let long = spend(3200.0, 2, 5.0, (10.0, 60.0)).unwrap();
        assert_eq!((long.blocks, long.run_s), (24, 60.0));
        assert_eq!(spend(300.0, 4, 5.0, (10.0, 60.0)), None, "5 blocks");
    }

    #[test]
    fn what_ten_blocks_resolve() {
        // Two by two, cv 3 %: the main effect has the standard deviation of a run, so that
        // 0.9946 x 3 % is found ((2.262 + 0.883) / sqrt 10); the interaction needs twice as much.
        let design = Design::new(&[2, 2]);
        let main = resolvable(&design.main_effect(0, 0, 1), 0.03, 10, 0.05);
        assert!((main - 0.029_84).abs() < 1e-5, "{main}");
        let both = resolvable(&design.interaction((0, 0, 1), (1, 0, 1)), 0.03, 10, 0.05);
        assert!((both - 2.0 * main).abs() < 1e-12);
    }
}
