//! Two matrices: what the change does in combination with each factor, as differences of
//! differences. "50 % slower as a user, 22 % faster as root" is `kernel x as`.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::factor::parse_cell;
use super::metric::Metric;
use super::model::Run;
use super::series::{Point, sample, unit};
use super::sides::Side;
use crate::stats::{Better, Contrast, Design};

/// A factor of a matrix: its name and its levels.
struct Factor {
    name: String,
    levels: Vec<String>,
}

/// The average over all cells, and its combination with each factor and each pair of factors.
/// Nothing where the common cells are not all combinations of some factors, or have no blocks.
pub(super) fn effects(
    a: &Side,
    b: &Side,
    cells: &[&str],
    metric: &Metric,
    better: Better,
) -> Vec<Draft> {
    let Some(factors) = factors(cells) else { return Vec::new() };
    let design = Design::new(&factors.iter().map(|factor| factor.levels.len()).collect::<Vec<_>>());
    if design.cells() != cells.len() || cells.len() < 2 {
        return Vec::new();
    }
    let (left, right) =
        (blocks(a, &factors, &design, metric), blocks(b, &factors, &design, metric));
    if left.is_empty() || right.is_empty() {
        return Vec::new();
    }
    let unit = unit(&a.of_cells(cells), &b.of_cells(cells));
    let points = |blocks: &[Block], contrast: &Contrast| -> Vec<Point> {
        let point = |block: &Block| {
            Some(Point { log: contrast.value(&block.logs)?, ..block.point.clone() })
        };
        blocks.iter().filter_map(point).collect()
    };
    let mut drafts = Vec::new();
    for (effect, contrast) in contrasts(&side_word(a, b), &factors, &design) {
        let (left, right) = (points(&left, &contrast), points(&right, &contrast));
        if left.is_empty() || right.is_empty() {
            continue;
        }
        drafts.push(Draft {
            a: a.name.clone(),
            b: b.name.clone(),
            cell: String::new(),
            effect,
            metric: metric.column.name().to_owned(),
            disk: metric.disk.clone(),
            op: metric.op.clone(),
            better,
            unit,
            sample: sample(unit, &left, &right),
        });
    }
    drafts
}

/// What differs between the sides, in a word.
fn side_word(a: &Side, b: &Side) -> String {
    let differ = |of: fn(&Run) -> &String| {
        !a.runs.iter().any(|one| b.runs.iter().any(|other| of(one) == of(other)))
    };
    let word = if differ(|run| &run.kernel) {
        "kernel"
    } else if differ(|run| &run.host) {
        "host"
    } else {
        "B/A"
    };
    word.to_owned()
}

/// Factors by the cells' texts; `None` where they do not all name the same ones.
fn factors(cells: &[&str]) -> Option<Vec<Factor>> {
    let parsed: Vec<_> = cells.iter().map(|cell| parse_cell(cell)).collect();
    let names: Vec<&String> = parsed.first()?.iter().map(|(key, _)| key).collect();
    if names.is_empty()
        || parsed.iter().any(|cell| !cell.iter().map(|(key, _)| key).eq(names.iter().copied()))
    {
        return None;
    }
    let factor = |(index, name): (usize, &&String)| {
        let mut levels: Vec<String> = parsed.iter().map(|cell| cell[index].1.clone()).collect();
        let number = |level: &String| level.parse::<f64>().unwrap_or(f64::INFINITY);
        levels.sort_by(|a, b| number(a).total_cmp(&number(b)).then_with(|| a.cmp(b)));
        levels.dedup();
        Factor { name: (*name).clone(), levels }
    };
    Some(names.iter().enumerate().map(factor).collect())
}

/// A block of a side: a logarithm per cell, not a number where a run is missing.
struct Block {
    point: Point,
    logs: Vec<f64>,
}

fn blocks(side: &Side, factors: &[Factor], design: &Design, metric: &Metric) -> Vec<Block> {
    let mut blocks: BTreeMap<(String, u64), Block> = BTreeMap::new();
    for run in &side.runs {
        let (Some(block), Some(log)) = (run.block, run.log(metric)) else { continue };
        let pairs = parse_cell(&run.cell);
        let level = |factor: &Factor| {
            let (_, value) = pairs.iter().find(|(key, _)| *key == factor.name)?;
            factor.levels.iter().position(|level| level == value)
        };
        let Some(at) = factors.iter().map(level).collect::<Option<Vec<_>>>() else { continue };
        let key = (run.experiment.clone(), block);
        let entry = blocks.entry(key).or_insert_with(|| Block {
            point: Point::of(run, f64::NAN),
            logs: vec![f64::NAN; design.cells()],
        });
        entry.logs[design.cell(&at)] = log;
    }
    blocks.into_values().collect()
}

/// Each effect by its name.
fn contrasts(side: &str, factors: &[Factor], design: &Design) -> Vec<(String, Contrast)> {
    let cells = design.cells();
    let average = Contrast { weights: vec![1.0 / cells as f64; cells] };
    let mut all = vec![(format!("{side}, average of the cells"), average)];
    let steps = |index: usize| (1..factors[index].levels.len()).map(move |to| (index, 0, to));
    let word = |(index, from, to): (usize, usize, usize)| {
        let factor = &factors[index];
        format!("{} ({} -> {})", factor.name, factor.levels[from], factor.levels[to])
    };
    for one in 0..factors.len() {
        for step in steps(one) {
            let contrast = design.main_effect(step.0, step.1, step.2);
            all.push((format!("{side} x {}", word(step)), contrast));
        }
    }
    for one in 0..factors.len() {
        for other in one + 1..factors.len() {
            for step in steps(one) {
                for with in steps(other) {
                    let name = format!("{side} x {} x {}", word(step), word(with));
                    all.push((name, design.interaction(step, with)));
                }
            }
        }
    }
    all
}
