//! A row before it is judged, and the judging of all rows that answer one question together.

use super::series::{Sample, Unit};
use crate::output::{CompareRow, Question};
use crate::stats::{
    self, Better, Estimate, LEAST_BOOTS, LEAST_RUNS, Verdict, Why, holm, holm_levels, percent,
};

/// What a row is about, and what was made of the runs.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) a: String,
    pub(super) b: String,
    pub(super) cell: String,
    pub(super) effect: String,
    pub(super) metric: String,
    pub(super) disk: String,
    pub(super) op: String,
    pub(super) better: Better,
    pub(super) unit: Unit,
    pub(super) sample: Sample,
}

impl Draft {
    /// Fewest observations that count.
    fn least(&self) -> usize {
        if self.unit == Unit::Boot { LEAST_BOOTS } else { LEAST_RUNS }
    }

    /// The estimate, where there are observations enough for a verdict.
    fn estimate(&self) -> Option<&Estimate> {
        self.sample.estimate.as_ref().filter(|estimate| estimate.n >= self.least())
    }
}

/// Judges rows that answer one question together. `alpha` is the risk of any false alarm among
/// them; each interval has the level at which Holm's procedure judges its row.
pub(super) fn judge(
    question: Question,
    drafts: &[Draft],
    margin_percent: f64,
    alpha: f64,
) -> Vec<CompareRow> {
    let asked: Vec<usize> =
        (0..drafts.len()).filter(|index| drafts[*index].estimate().is_some()).collect();
    let p_values: Vec<f64> =
        asked.iter().filter_map(|index| drafts[*index].estimate().map(Estimate::p_value)).collect();
    let (adjusted, levels) = (holm(&p_values), holm_levels(&p_values, alpha));
    let place = |index: usize| asked.iter().position(|known| *known == index);
    let row = |(index, draft): (usize, &Draft)| {
        let place = place(index);
        let level = place.map_or(alpha, |place| levels[place]);
        let mut row = row_of(question, draft, margin_percent, level);
        row.p_holm = place.map(|place| adjusted[place]);
        row
    };
    drafts.iter().enumerate().map(row).collect()
}

fn row_of(question: Question, draft: &Draft, margin_percent: f64, alpha: f64) -> CompareRow {
    let sample = &draft.sample;
    let value = |log: f64| Some(log.exp()).filter(|value| value.is_finite());
    let estimate = draft.estimate();
    let limits = estimate.map(|estimate| estimate.percent(alpha));
    let change = sample.means.1 - sample.means.0;
    let (verdict, why, needs) = verdict(question, draft, margin_percent, alpha);
    CompareRow {
        question,
        a: draft.a.clone(),
        b: draft.b.clone(),
        cell: draft.cell.clone(),
        effect: draft.effect.clone(),
        metric: draft.metric.clone(),
        disk: draft.disk.clone(),
        op: draft.op.clone(),
        a_value: value(sample.means.0).filter(|_| question != Question::Effect),
        b_value: value(sample.means.1).filter(|_| question != Question::Effect),
        change_percent: Some(percent(change)).filter(|change| change.is_finite()),
        low_percent: limits.map(|(_, low, _)| low),
        high_percent: limits.map(|(_, _, high)| high),
        level_percent: 100.0 * (1.0 - alpha),
        n_a: sample.n.0,
        n_b: sample.n.1,
        unit: unit_word(draft.unit),
        df: estimate.map(|estimate| estimate.df),
        p_value: estimate.map(Estimate::p_value),
        p_holm: None,
        verdict,
        why,
        needs,
    }
}

const fn unit_word(unit: Unit) -> &'static str {
    match unit {
        Unit::Block => "block",
        Unit::Run => "run",
        Unit::Boot => "boot",
    }
}

/// The word, why, and how many observations might settle it.
fn verdict(
    question: Question,
    draft: &Draft,
    margin_percent: f64,
    alpha: f64,
) -> (&'static str, String, Option<usize>) {
    let asked = stats::Question {
        margin_log: (margin_percent / 100.0).ln_1p(),
        alpha,
        better: draft.better,
        least: draft.least(),
    };
    let Some(estimate) = draft.estimate() else {
        return ("inconclusive", too_few(draft), None);
    };
    let verdict = stats::judge(estimate, draft.sample.differences.as_deref(), &asked);
    let effect = question == Question::Effect;
    match verdict {
        Verdict::Same => ("same", String::new(), None),
        Verdict::Regression | Verdict::Improvement if effect => ("effect", String::new(), None),
        Verdict::Regression | Verdict::Improvement => (verdict.word(), String::new(), None),
        Verdict::Inconclusive(Why::Noise { needs }) => {
            let many = match draft.unit {
                Unit::Block => format!("~{needs} blocks"),
                Unit::Run => format!("~{needs} runs a side"),
                Unit::Boot => format!("~{needs} boots a side"),
            };
            let below = percent(estimate.half_width(alpha));
            let why = if effect {
                format!("not resolved below {below:.1} %; needs {many}")
            } else {
                format!("needs {many}")
            };
            ("inconclusive", why, Some(needs))
        }
        Verdict::Inconclusive(Why::Unstable) => {
            let why = "unstable: mean and ranks disagree, a few blocks are unlike the others";
            ("inconclusive", why.to_owned(), None)
        }
        Verdict::Inconclusive(Why::TooFew { .. }) => ("inconclusive", too_few(draft), None),
    }
}

fn too_few(draft: &Draft) -> String {
    let ((a, b), least) = (draft.sample.n, draft.least());
    match draft.unit {
        Unit::Block => format!("too few: {a} of {least} blocks"),
        Unit::Run => format!("too few: {a} and {b} runs, at least {least} a side"),
        Unit::Boot => format!(
            "boot-to-boot variance not measured: {a} and {b} boots, at least {least} a side"
        ),
    }
}
