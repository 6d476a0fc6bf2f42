//! The whole of a comparison.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::conditions::{differences, facts, host_differences};
use super::disks::outliers;
use super::draft::{Draft, judge};
use super::effects::effects;
use super::error::CompareError;
use super::factor::{column_of, differing};
use super::limits::Limit;
use super::metric::Metric;
use super::model::Run;
use super::pair::Pair;
use super::sides::{Side, Split, divide, usual_split};
use super::{file, hosts, notes};
use crate::output::{CompareRow, CompareSide, Comparison, Question};
use crate::stats::Better;

/// What is to be compared, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// Result files; the first group where `with` is not empty.
    pub files: Vec<PathBuf>,
    /// The second group.
    pub with: Vec<PathBuf>,
    /// What is compared: columns or options that may differ. With a single file the first of them
    /// tells its runs apart.
    pub by: Vec<String>,
    /// The side that the others are compared with, by its name; else the first.
    pub base: Option<String>,
    /// The headline metrics.
    pub metrics: Vec<Metric>,
    /// The good direction, where it is not that of the metric's name.
    pub better: Option<Better>,
    /// Changes below this many percent are none.
    pub margin_percent: f64,
    /// Risk of any false alarm among the headline rows.
    pub alpha: f64,
    /// Compare what is not of the same thing.
    pub force: bool,
    /// Limits for the runs of the second side, or of all where a single file is split.
    pub limits: Vec<Limit>,
}

/// Rows before they are judged.
#[derive(Default)]
struct Drafts {
    headline: Vec<Draft>,
    effects: Vec<Draft>,
    exploratory: Vec<Draft>,
}

/// Facts of hosts by their hash.
type Hosts = BTreeMap<String, BTreeMap<String, String>>;

/// Compares.
///
/// # Errors
/// When a file cannot be read, a side or a metric is not there, or conditions differ.
pub fn compare(request: &Request) -> Result<Comparison, CompareError> {
    let mut said = Vec::new();
    let (sides, factors, hosts) = gather(request, &mut said)?;
    let headline: Vec<(Metric, Better)> = request
        .metrics
        .iter()
        .map(|metric| (metric.clone(), request.better.unwrap_or_else(|| metric.better())))
        .collect();
    let (mut drafts, mut refused, mut outlier_disks) = (Drafts::default(), Vec::new(), Vec::new());
    let base = &sides[0];
    for side in &sides[1..] {
        let pairs = pairs(base, side, &mut said)?;
        for pair in &pairs {
            let mut free = factors.clone();
            if pair.a[0].cell != pair.b[0].cell {
                free.extend(differing(&pair.a[0].cell, &pair.b[0].cell));
            }
            let place =
                if pair.cell.is_empty() { String::new() } else { format!(" ({})", pair.cell) };
            let found = differences(&pair.a, &pair.b, &free);
            refused.extend(found.into_iter().map(|line| line + &place));
            for (metric, better) in &headline {
                drafts.headline.push(headline_draft(pair, metric, *better)?);
            }
            drafts.exploratory.extend(pair.exploratory(&headline));
            notes::of_pair(pair, &headline, request, &mut said);
        }
        refused.extend(of_hosts(base, side, &factors, &hosts, &mut said));
        let cells: Vec<&str> = pairs.iter().map(|pair| pair.a[0].cell.as_str()).collect();
        for (metric, better) in &headline {
            drafts.effects.extend(effects(base, side, &cells, metric, *better));
            outlier_disks.extend(outliers(base, side, metric, *better));
        }
    }
    refused.dedup();
    if !refused.is_empty() && !request.force {
        let advice = "Runs are compared under equal conditions only. If one of these is what is \
                      compared, say so with --by NAME; --force compares all the same.";
        return Err(CompareError::Conditions { differences: refused, advice });
    }
    said.extend(refused.iter().map(|line| format!("compared by --force, though {line}")));
    let broken_limits = limits(request, &sides, &mut said);
    Ok(finish(request, &sides, &drafts, outlier_disks, broken_limits, said))
}

/// Reads all files and puts their runs into sides.
fn gather(
    request: &Request,
    said: &mut Vec<String>,
) -> Result<(Vec<Side>, Vec<String>, Hosts), CompareError> {
    let mut files = Vec::new();
    let mut known = Hosts::new();
    for path in request.files.iter().chain(&request.with) {
        let mut runs = file::read(path)?;
        for run in &mut runs {
            run.file = path.display().to_string();
        }
        known.extend(hosts::read(path));
        files.push((path.clone(), runs));
    }
    let mut factors = request.by.clone();
    let groups = (!request.with.is_empty()).then_some(request.files.len());
    let split = match (request.by.first(), files.len()) {
        (Some(name), 1) => Split::By(column_of(name).ok_or_else(|| {
            let text = format!("--by {name}: there is no such column (docs/output.md)");
            CompareError::Missing(text)
        })?),
        _ => usual_split(&files, groups)?,
    };
    if let Split::By(column) = split {
        factors.push(column.name().to_owned());
    }
    let mut sides = divide(files, &split, request.base.as_deref())?;
    for side in &mut sides {
        let spoilt =
            |run: &Run| Some(format!("left out, because {}: {}", run.spoilt()?, run.name()));
        said.extend(side.runs.iter().filter_map(spoilt));
        side.runs.retain(|run| run.spoilt().is_none());
        if side.runs.is_empty() {
            return Err(CompareError::Missing(format!("{}: no whole run is left", side.name)));
        }
    }
    if sides.len() < 2 {
        let text = "nothing to compare: the same file is given twice".to_owned();
        return Err(CompareError::Missing(text));
    }
    Ok((sides, factors, known))
}

/// Cells that both sides have; or their only ones, which are different then.
fn pairs<'r>(
    a: &'r Side,
    b: &'r Side,
    said: &mut Vec<String>,
) -> Result<Vec<Pair<'r>>, CompareError> {
    let (cells_a, cells_b) = (a.cells(), b.cells());
    let pair = |cell: String, one: &str, other: &str| Pair {
        a_name: &a.name,
        b_name: &b.name,
        cell,
        a: a.of_cells(&[one]),
        b: b.of_cells(&[other]),
    };
    if let ([one], [other]) = (cells_a.as_slice(), cells_b.as_slice()) {
        let cell = if one == other { (*one).to_owned() } else { String::new() };
        return Ok(vec![pair(cell, one, other)]);
    }
    let mut common: Vec<&str> =
        cells_a.iter().copied().filter(|cell| cells_b.contains(cell)).collect();
    common.sort_unstable();
    if common.is_empty() {
        return Err(CompareError::Missing(format!(
            "{} and {} have no cell in common: {} against {}",
            a.name,
            b.name,
            cells_a.join(", "),
            cells_b.join(", ")
        )));
    }
    for (side, cells) in [(a, &cells_a), (b, &cells_b)] {
        for cell in cells.iter().filter(|cell| !common.contains(cell)) {
            said.push(format!("cell {cell} is in {} only, and left out", side.name));
        }
    }
    Ok(common.iter().map(|cell| pair((*cell).to_owned(), cell, cell)).collect())
}

fn headline_draft(pair: &Pair, metric: &Metric, better: Better) -> Result<Draft, CompareError> {
    pair.draft(metric, better).ok_or_else(|| {
        let none = |runs: &[&Run]| runs.iter().all(|run| run.log(metric).is_none());
        let side = if none(&pair.a) { pair.a_name } else { pair.b_name };
        CompareError::Missing(format!(
            "{side}: no run has a {metric} above 0; name another with --metric (pass_mean_s needs \
             whole passes within the window, percentiles samples enough)"
        ))
    })
}

/// What differs between the hosts: what refuses is returned.
fn of_hosts<'s>(
    a: &'s Side,
    b: &'s Side,
    factors: &[String],
    hosts: &Hosts,
    said: &mut Vec<String>,
) -> Vec<String> {
    let runs = |side: &'s Side| -> Vec<&'s Run> { side.runs.iter().collect() };
    let told = facts(&runs(a), &runs(b));
    said.extend(told.into_iter().map(|line| format!("differs: {line}")));
    let of = |side: &Side| -> Option<Vec<_>> {
        let mut hashes: Vec<&String> = side.runs.iter().map(|run| &run.host_sha256).collect();
        hashes.sort();
        hashes.dedup();
        hashes.iter().map(|hash| hosts.get(*hash).cloned()).collect()
    };
    let differ = a.runs.iter().chain(&b.runs).any(|run| run.host_sha256 != a.runs[0].host_sha256);
    let (Some(left), Some(right)) = (of(a), of(b)) else {
        if differ {
            let text = "host settings differ; which ones stands in FILE.host.json beside the \
                        results, and these are not there";
            said.push(text.to_owned());
        }
        return Vec::new();
    };
    let (refused, told) = host_differences(&left, &right, factors);
    said.extend(told.into_iter().map(|line| format!("differs on the host: {line}")));
    refused
}

/// Rows that break a limit.
fn limits(request: &Request, sides: &[Side], said: &mut Vec<String>) -> Vec<String> {
    let single = request.files.len() + request.with.len() == 1;
    let judged = &sides[usize::from(!single)..];
    let runs: Vec<&Run> = judged.iter().flat_map(|side| &side.runs).collect();
    let mut broken = Vec::new();
    for limit in &request.limits {
        let (lines, seen) = limit.check(&runs);
        broken.extend(lines);
        if !seen {
            // A limit on nothing must not pass in silence.
            broken.push(format!("{}: no row has this number", limit.text()));
        }
    }
    if !request.limits.is_empty() && broken.is_empty() {
        said.push(format!("limits hold in all {} runs that they apply to", runs.len()));
    }
    broken
}

fn finish(
    request: &Request,
    sides: &[Side],
    drafts: &Drafts,
    outlier_disks: Vec<String>,
    broken_limits: Vec<String>,
    mut said: Vec<String>,
) -> Comparison {
    let looks = looks(sides);
    let request = &Request { alpha: request.alpha / looks as f64, ..request.clone() };
    if looks > 1 {
        said.push(format!(
            "blocks were added to an experiment after a look at it: {looks} looks share the risk, \
             and intervals are wider for it"
        ));
    }
    let judged =
        |question, drafts: &[Draft]| judge(question, drafts, request.margin_percent, request.alpha);
    let mut rows = judged(Question::Headline, &drafts.headline);
    let mut effects = judged(Question::Effect, &drafts.effects);
    notes::cells_differ(&mut effects, &mut said);
    rows.append(&mut effects);
    rows.extend(judged(Question::Exploratory, &drafts.exploratory));
    notes::of_levels(&rows, request, &mut said);
    let mut seen = Vec::new();
    said.retain(|note| {
        let new = !seen.contains(note);
        seen.push(note.clone());
        new
    });
    Comparison {
        sides: sides.iter().map(side).collect(),
        margin_percent: request.margin_percent,
        alpha: request.alpha,
        rows,
        outlier_disks,
        broken_limits,
        notes: said,
    }
}

/// How often the longest-planned experiment was looked at: each time that blocks were added is one
/// more. Who may stop when the answer is welcome sees effects that are not there.
fn looks(sides: &[Side]) -> usize {
    let mut plans: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for run in sides.iter().flat_map(|side| &side.runs) {
        if let Some(planned) = run.planned {
            let known = plans.entry(&run.experiment).or_default();
            if !known.contains(&planned) {
                known.push(planned);
            }
        }
    }
    plans.values().map(Vec::len).max().unwrap_or(1)
}

fn side(side: &Side) -> CompareSide {
    let distinct = |of: fn(&Run) -> &String| {
        let mut all: Vec<String> = side.runs.iter().map(|run| of(run).clone()).collect();
        all.retain(|text| !text.is_empty());
        all.sort();
        all.dedup();
        all
    };
    CompareSide {
        name: side.name.clone(),
        files: side.files.clone(),
        runs: side.runs.len(),
        boots: distinct(|run| &run.boot).len(),
        kernels: distinct(|run| &run.kernel),
    }
}

/// Whether a row is a headline one with this verdict.
#[must_use]
pub fn has_verdict(rows: &[CompareRow], verdict: &str) -> bool {
    rows.iter().any(|row| row.question == Question::Headline && row.verdict == verdict)
}
