//! What each factor does.

use super::Metric;
use super::figures::Figures;
use super::plan::Matrix;
use crate::output::Column;
use crate::stats::{
    Contrast, Design, Estimate, LEAST_RUNS, Plan, Question, Verdict, Why, holm, judge,
};

/// Risk of a false alarm of the headline's intervals.
pub(super) const ALPHA: f64 = 0.05;

/// What an effect is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Of one factor, with the others held.
    Simple,
    /// Of one factor, averaged over the others.
    Main,
    /// How much more one factor does at a level of another one: a ratio of ratios.
    Interaction,
}

impl Kind {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Main => "main",
            Self::Interaction => "interaction",
        }
    }
}

/// What is asked of the cells.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) kind: Kind,
    /// `as`, `as x mount-acl`.
    pub(super) factor: String,
    pub(super) from: String,
    pub(super) to: String,
    /// Levels of the others, where they are held.
    pub(super) held: String,
    /// How many times as many there are at the level `to`, of a factor that counts something.
    pub(super) times: Option<f64>,
    contrast: Contrast,
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct Effect {
    pub(super) ask: Ask,
    pub(super) metric: Metric,
    pub(super) estimate: Estimate,
    /// Risk that the interval is made for.
    pub(super) alpha: f64,
    pub(super) verdict: Verdict,
    /// Blocks that would resolve the margin.
    pub(super) needed: usize,
    /// Whether it is not of the metric that was declared before.
    pub(super) exploratory: bool,
    /// The p value among all effects of the declared metric, or among all exploratory ones (Holm).
    pub(super) p_adjusted: f64,
}

impl Effect {
    /// The smallest change that could be told from none, in percent.
    pub(super) fn half_width_pct(&self) -> f64 {
        crate::stats::percent(self.estimate.half_width(self.alpha))
    }

    /// The verdict's word; of an interaction neither direction is the good one.
    pub(super) fn word(&self) -> &'static str {
        match (self.ask.kind, self.verdict) {
            (Kind::Interaction, Verdict::Regression | Verdict::Improvement) => "interaction",
            (_, verdict) => verdict.word(),
        }
    }

    /// Rate over that of the first level, for a factor that counts something.
    pub(super) fn speed_up(&self) -> Option<f64> {
        self.ask.times.filter(|_| self.metric.is_rate()).map(|_| self.estimate.log.exp())
    }
}

/// All questions about the factors of a matrix. Simple effects come before the main effect: where
/// factors act together, the mean over the others is the effect of nothing.
pub(super) fn questions(matrix: &Matrix, figures: &Figures) -> Vec<Ask> {
    let design = matrix.design();
    let mut asks = Vec::new();
    for (index, factor) in matrix.factors.iter().enumerate() {
        for level in 1..factor.levels.len() {
            let ask = |kind, held, contrast| Ask {
                kind,
                factor: factor.name.clone(),
                from: factor.levels[0].clone(),
                to: factor.levels[level].clone(),
                held,
                times: factor.counts.as_ref().map(|counts| counts[level] / counts[0]),
                contrast,
            };
            if matrix.factors.len() > 1 {
                for at in design.others(index) {
                    let held = held_text(matrix, figures, &design, (index, level), &at);
                    let contrast = design.simple_effect((index, 0, level), &at);
                    asks.push(ask(Kind::Simple, held, contrast));
                }
            }
            let contrast = design.main_effect(index, 0, level);
            asks.push(ask(Kind::Main, String::new(), contrast));
        }
    }
    asks.extend(interactions(matrix, &design));
    asks
}

fn interactions(matrix: &Matrix, design: &Design) -> Vec<Ask> {
    let mut asks = Vec::new();
    for (one, a) in matrix.factors.iter().enumerate() {
        for (other, b) in matrix.factors.iter().enumerate().skip(one + 1) {
            for (i, j) in (1..a.levels.len()).flat_map(|i| (1..b.levels.len()).map(move |j| (i, j)))
            {
                asks.push(Ask {
                    kind: Kind::Interaction,
                    factor: format!("{} x {}", a.name, b.name),
                    from: format!("{} x {}", a.levels[0], b.levels[0]),
                    to: format!("{} x {}", a.levels[i], b.levels[j]),
                    held: String::new(),
                    times: None,
                    contrast: design.interaction((one, 0, i), (other, 0, j)),
                });
            }
        }
    }
    asks
}

/// `as=nobody;dir-owner=third (other)`: with the caller's relation to the directories, without
/// which the name of a user says nothing, where it is the same for both levels.
fn held_text(
    matrix: &Matrix,
    figures: &Figures,
    design: &Design,
    (factor, level): (usize, usize),
    at: &[usize],
) -> String {
    let held: Vec<_> = (0..at.len())
        .filter(|other| *other != factor)
        .map(|other| {
            let of = &matrix.factors[other];
            format!("{}={}", of.name, of.levels[at[other]])
        })
        .collect();
    let relation = |level: usize| {
        let mut there = at.to_vec();
        there[factor] = level;
        figures.relation(design.cell(&there))
    };
    let relation = match (relation(0), relation(level)) {
        (Some(from), Some(to)) if from == to => format!(" ({from})"),
        (Some(from), Some(to)) => format!(" ({from}, {to})"),
        _ => String::new(),
    };
    format!("{}{relation}", held.join(";"))
}

/// Answers for the metric that was declared, then for the others. After `looks` looks at growing
/// results each look has its share of the risk (Bonferroni), so that intervals are wider.
pub(super) fn effects(matrix: &Matrix, figures: &Figures, looks: usize) -> Vec<Effect> {
    let alpha = ALPHA / looks.max(1) as f64;
    let asks = questions(matrix, figures);
    let mut effects = answer(matrix, figures, &matrix.metric, &asks, alpha);
    let main: Vec<Ask> = asks.into_iter().filter(|ask| ask.kind == Kind::Main).collect();
    let mut others: Vec<Effect> = other_metrics(matrix, figures)
        .iter()
        .flat_map(|metric| answer(matrix, figures, metric, &main, alpha))
        .collect();
    adjust(&mut effects);
    adjust(&mut others);
    effects.extend(others);
    effects
}

/// Among many questions some have an answer by chance.
fn adjust(family: &mut [Effect]) {
    let p: Vec<f64> = family.iter().map(|effect| effect.estimate.p_value()).collect();
    for (effect, p) in family.iter_mut().zip(holm(&p)) {
        effect.p_adjusted = p;
    }
}

fn answer(
    matrix: &Matrix,
    figures: &Figures,
    metric: &Metric,
    asks: &[Ask],
    alpha: f64,
) -> Vec<Effect> {
    let blocks = figures.logs(metric);
    let margin_log = matrix.margin.ln_1p();
    let question = Question { margin_log, alpha, better: metric.better(), least: LEAST_RUNS };
    let mut found = Vec::new();
    for ask in asks {
        let values = ask.contrast.values(&blocks);
        let Some(estimate) = crate::stats::paired(&values) else { continue };
        let verdict = judge(&estimate, Some(&values), &question);
        let needed = match verdict {
            Verdict::Inconclusive(Why::Noise { needs }) => needs,
            _ => Plan::blocks(alpha).needed(estimate.spread(), margin_log),
        };
        found.push(Effect {
            ask: ask.clone(),
            metric: metric.clone(),
            estimate,
            alpha,
            verdict,
            needed,
            exploratory: *metric != matrix.metric,
            p_adjusted: 1.0,
        });
    }
    found
}

/// What else was measured: the whole load's latencies and cost, and the mean latency of each
/// operation. Rates of single operations only repeat the total: they stand in the loadfile's ratio.
fn other_metrics(matrix: &Matrix, figures: &Figures) -> Vec<Metric> {
    let whole = [
        Column::OpsPerS,
        Column::LatP50Us,
        Column::LatP99Us,
        Column::PassMeanS,
        Column::SysUsPerOp,
    ];
    let whole = whole.map(|column| Metric::new(column, "all"));
    let each = figures.ops().into_iter().map(|op| Metric::new(Column::LatMeanUs, op));
    let all: Vec<Metric> = whole.into_iter().chain(each).collect();
    all.into_iter().filter(|metric| *metric != matrix.metric).collect()
}
