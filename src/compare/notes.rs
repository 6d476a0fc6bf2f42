//! Sentences that belong to a comparison: what it rests on, and what casts doubt on it.

use super::metric::Metric;
use super::model::Run;
use super::pair::Pair;
use super::series::Unit;
use super::whole::Request;
use crate::output::{Column, CompareRow, Question};
use crate::stats::Better;

/// Difference in the share of failed operations that makes it another work.
const ERROR_SHARE: f64 = 0.001;

/// What is to be said of two groups of runs.
pub(super) fn of_pair(
    pair: &Pair,
    headline: &[(Metric, Better)],
    request: &Request,
    said: &mut Vec<String>,
) {
    match pair.unit() {
        Unit::Block => {}
        Unit::Run => said.push(
            "unpaired: the runs are not blocks of one experiment run in turn, so that drift \
             (a warmer machine, a fuller disk) cannot be excluded"
                .to_owned(),
        ),
        Unit::Boot => said.push(
            "the sides share no boot: a boot is one observation, the mean of its runs".to_owned(),
        ),
    }
    let flagged = pair.a.iter().chain(&pair.b).filter(|run| !run.flags.is_empty());
    said.extend(flagged.map(|run| format!("flagged {}: {}", run.flags, run.name())));
    for run in pair.a.iter().chain(&pair.b) {
        if !matches!(run.status(), "ok" | "") {
            said.push(format!("status {}: {}", run.status(), run.name()));
        }
    }
    errors(pair, said);
    for (metric, better) in headline {
        let Some(draft) = pair.draft(metric, *better) else { continue };
        let lacking = |runs: &[&Run]| runs.iter().filter(|run| run.log(metric).is_none()).count();
        let missing = lacking(&pair.a) + lacking(&pair.b);
        if missing > 0 {
            said.push(format!("{missing} runs have no {metric}, and are not in its row"));
        }
        let far = draft.sample.outliers.iter();
        said.extend(
            far.map(|name| format!("{metric} is far from that of the other runs (kept): {name}")),
        );
        unsteady(pair, metric, *better, request, said);
    }
}

/// Sides that failed in different shares of their operations did not do the same work.
fn errors(pair: &Pair, said: &mut Vec<String>) {
    let share = |runs: &[&Run]| {
        let sum =
            |column| -> f64 { runs.iter().filter_map(|run| run.value(&Metric::all(column))).sum() };
        let ops = sum(Column::Ops);
        if ops > 0.0 { sum(Column::Errors) / ops } else { 0.0 }
    };
    let (a, b) = (share(&pair.a), share(&pair.b));
    if (a - b).abs() > ERROR_SHARE {
        said.push(format!(
            "operations failed: {:.1} % of {}, {:.1} % of {}: they did not do the same work",
            100.0 * a,
            pair.a_name,
            100.0 * b,
            pair.b_name
        ));
    }
}

/// The same without the runs whose rate was not level; a second look, not the result.
fn unsteady(
    pair: &Pair,
    metric: &Metric,
    better: Better,
    request: &Request,
    said: &mut Vec<String>,
) {
    let (a, b) = (level(&pair.a), level(&pair.b));
    let odd = pair.a.len() + pair.b.len() - a.len() - b.len();
    if odd == 0 {
        return;
    }
    let rest = Pair { cell: pair.cell.clone(), a, b, ..*pair };
    let cell = if pair.cell.is_empty() { String::new() } else { format!(" ({})", pair.cell) };
    let without = match rest.draft(metric, better).and_then(|draft| draft.sample.estimate) {
        None => "without them too few are left".to_owned(),
        Some(estimate) => {
            let (change, low, high) = estimate.percent(request.alpha);
            format!("without them {metric} changes by {change:+.1} % ({low:+.1} .. {high:+.1} %)")
        }
    };
    said.push(format!("{odd} runs were not steady{cell}; {without}"));
}

/// Runs of which nobody found out that their rate was not level.
fn level<'r>(runs: &[&'r Run]) -> Vec<&'r Run> {
    runs.iter().copied().filter(|run| run.steady != Some(false)).collect()
}

/// Where the change depends on the cell, its average over the cells says little.
pub(super) fn cells_differ(effects: &mut [CompareRow], said: &mut Vec<String>) {
    let together = |row: &CompareRow| row.effect.contains(" x ");
    let key = |row: &CompareRow| [&row.b, &row.metric, &row.op, &row.disk].map(String::clone);
    let together_found = effects.iter().filter(|row| together(row) && row.verdict == "effect");
    let keys: Vec<_> = together_found.map(key).collect();
    for row in effects.iter_mut().filter(|row| !together(row)) {
        if keys.contains(&key(row)) && row.verdict != "same" {
            row.verdict = "inconclusive";
            row.why = "not the same in all cells".to_owned();
            row.needs = None;
            said.push(
                "the change is not the same in all cells: read the cells, not their average"
                    .to_owned(),
            );
        }
    }
}

/// What the intervals are.
pub(super) fn of_levels(rows: &[CompareRow], request: &Request, said: &mut Vec<String>) {
    let headline: Vec<&CompareRow> = rows
        .iter()
        .filter(|row| row.question == Question::Headline && row.p_value.is_some())
        .collect();
    let level = 100.0 * (1.0 - request.alpha);
    let holm = if headline.len() > 1 {
        format!(" of all {} headline rows together (Holm)", headline.len())
    } else {
        String::new()
    };
    said.push(format!(
        "{level} % intervals{holm}; changes within {} % count as none (--margin)",
        request.margin_percent
    ));
}
