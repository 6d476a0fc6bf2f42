//! From runs to an estimate: what is one observation, and which of them belong together.

use std::collections::BTreeMap;

use super::model::Run;
use crate::stats::{Estimate, paired, welch};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A block that holds both sides: its difference.
    Block,
    /// A run.
    Run,
    /// A boot: the mean of what was measured in it.
    Boot,
}

/// A logarithm with what says where it belongs.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) experiment: String,
    pub(super) block: Option<u64>,
    pub(super) boot: String,
    pub(super) log: f64,
    /// How messages call it.
    pub(super) name: String,
}

impl Point {
    pub(super) fn of(run: &Run, log: f64) -> Self {
        Self {
            experiment: run.experiment.clone(),
            block: run.block,
            boot: run.boot.clone(),
            log,
            name: run.name(),
        }
    }
}

/// What was made of two sides.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// `None` where a side has too few.
    pub(super) estimate: Option<Estimate>,
    /// The differences, where observations are blocks.
    pub(super) differences: Option<Vec<f64>>,
    /// Observations on either side.
    pub(super) n: (usize, usize),
    /// Mean logarithm of either side, over the observations that count.
    pub(super) means: (f64, f64),
    /// Observations that are far from the others: |robust z| > 5.
    pub(super) outliers: Vec<String>,
}

/// What one observation is for these runs, and why.
///
/// Where the sides share no boot, whatever differs between boots (memory layout, placement of the
/// kernel, what else was started) differs between the sides too, and only several boots can tell it
/// from the effect.
pub(super) fn unit(a: &[&Run], b: &[&Run]) -> Unit {
    let known = a.iter().chain(b).all(|run| !run.boot.is_empty());
    if known && !a.iter().any(|one| b.iter().any(|other| one.boot == other.boot)) {
        return Unit::Boot;
    }
    let paired = !pairs_of(a, b).is_empty();
    if paired && in_turn(a, b) { Unit::Block } else { Unit::Run }
}

/// Blocks that hold a run of either side.
fn pairs_of<'r>(a: &[&'r Run], b: &[&'r Run]) -> Vec<(&'r str, u64)> {
    let key = |run: &'r Run| Some((run.experiment.as_str(), run.block?));
    let theirs: Vec<_> = b.iter().filter_map(|run| key(run)).collect();
    a.iter().filter_map(|run| key(run)).filter(|key| theirs.contains(key)).collect()
}

/// Whether the runs of a block follow each other with no run of another block between them.
fn in_turn(a: &[&Run], b: &[&Run]) -> bool {
    let mut all: Vec<&&Run> = a.iter().chain(b).collect();
    all.sort_by(|one, other| one.ended.cmp(&other.ended));
    let mut blocks: Vec<(&str, Option<u64>)> =
        all.iter().map(|run| (run.experiment.as_str(), run.block)).collect();
    blocks.dedup();
    let sequence = blocks.len();
    blocks.sort_unstable();
    blocks.dedup();
    blocks.len() == sequence
}

/// The estimate of B over A.
pub(super) fn sample(unit: Unit, a: &[Point], b: &[Point]) -> Sample {
    match unit {
        Unit::Block => by_blocks(a, b),
        Unit::Run => by_sides(&logs(a), &logs(b), outliers_of(a, b)),
        Unit::Boot => by_sides(&boot_means(a), &boot_means(b), outliers_of(a, b)),
    }
}

fn by_blocks(a: &[Point], b: &[Point]) -> Sample {
    let (a, b) = (block_means(a), block_means(b));
    let mut differences = Vec::new();
    let (mut sum_a, mut sum_b) = (0.0, 0.0);
    let mut names = Vec::new();
    for (key, (log_a, name)) in &a {
        let Some((log_b, _)) = b.get(key) else { continue };
        differences.push(log_b - log_a);
        (sum_a, sum_b) = (sum_a + log_a, sum_b + log_b);
        names.push(name);
    }
    let n = differences.len();
    let outliers = far(&differences).into_iter().map(|index| names[index].clone()).collect();
    let means = (sum_a / n as f64, sum_b / n as f64);
    let estimate = paired(&differences);
    Sample { estimate, differences: Some(differences), n: (n, n), means, outliers }
}

fn by_sides(a: &[f64], b: &[f64], outliers: Vec<String>) -> Sample {
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
    Sample {
        estimate: welch(a, b),
        differences: None,
        n: (a.len(), b.len()),
        means: (mean(a), mean(b)),
        outliers,
    }
}

fn logs(points: &[Point]) -> Vec<f64> {
    points.iter().map(|point| point.log).collect()
}

/// Mean of each block; a block has one run of a cell, unless files were put together.
fn block_means(points: &[Point]) -> BTreeMap<(String, u64), (f64, String)> {
    let mut blocks: BTreeMap<(String, u64), Vec<&Point>> = BTreeMap::new();
    for point in points {
        if let Some(block) = point.block {
            blocks.entry((point.experiment.clone(), block)).or_default().push(point);
        }
    }
    let mean = |points: Vec<&Point>| {
        let sum: f64 = points.iter().map(|point| point.log).sum();
        (sum / points.len() as f64, points[0].name.clone())
    };
    blocks.into_iter().map(|(key, points)| (key, mean(points))).collect()
}

/// Mean of each boot.
fn boot_means(points: &[Point]) -> Vec<f64> {
    let mut boots: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for point in points {
        boots.entry(&point.boot).or_default().push(point.log);
    }
    boots.values().map(|logs| logs.iter().sum::<f64>() / logs.len() as f64).collect()
}

/// Names of points far from the others of their side.
fn outliers_of(a: &[Point], b: &[Point]) -> Vec<String> {
    let named = |points: &[Point]| -> Vec<String> {
        far(&logs(points)).into_iter().map(|index| points[index].name.clone()).collect()
    };
    let mut all = named(a);
    all.extend(named(b));
    all
}

/// Those far from the others, of at least six, by enough to matter: 1 %.
fn far(logs: &[f64]) -> Vec<usize> {
    let found = if logs.len() < 6 { Vec::new() } else { crate::stats::far(logs, 0.01) };
    found.into_iter().map(|(index, _)| index).collect()
}
