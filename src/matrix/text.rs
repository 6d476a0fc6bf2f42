//! What a matrix says to people: before it runs, meanwhile, and at its end. At most 100 columns.

use std::fmt::Write as _;
use std::time::Duration;

use super::effects::{ALPHA, Effect, Kind};
use super::figures::Figures;
use super::phases::phase_table;
use super::plan::Matrix;
use crate::output::{lined_up, shorten};
use crate::stats::{Verdict, Why, percent, resolvable};
use crate::units::{format_duration, format_number};

/// Widths of texts in a table.
const NAME: usize = 44;
const LEVEL: usize = 24;
/// Exploratory effects in the table at most.
const MOST: usize = 12;

/// What will be run, before it is.
pub(super) fn plan_lines(matrix: &Matrix, done: u64) -> Vec<String> {
    let (blocks, cells) = (matrix.blocks, matrix.cells.len() as u64);
    let mut lines = vec![
        format!("matrix: {}", matrix.factors_text()),
        format!(
            "{blocks} blocks of {cells} cells: {} runs in random order, seed {}; metric {}",
            matrix.runs(),
            matrix.seed,
            matrix.metric
        ),
    ];
    let left = matrix.runs().saturating_sub(done * cells);
    lines.push(match matrix.run_time() {
        Some(time) => format!(
            "{left} runs x {} are {}, and the time to make and remove trees, and for devices to \
             become idle",
            format_duration(time),
            format_duration(time * u32::try_from(left).unwrap_or(u32::MAX))
        ),
        None => format!("{left} runs; how long the passes take is not known"),
    });
    if !matrix.factors.is_empty() {
        lines.push(resolution(matrix));
    }
    if let Some(kernels) = &matrix.kernels {
        lines.push(format!(
            "all of this in each boot, {} of each kernel; effects are of this boot (see `compare --by \
             kernel`)",
            kernels.boots
        ));
    }
    if matrix.profile {
        lines.push(format!("then {cells} runs under perf, which are not measured"));
    }
    lines.extend(matrix.remarks.iter().cloned());
    lines
}

/// What can be found with so many blocks.
fn resolution(matrix: &Matrix) -> String {
    let design = matrix.design();
    let blocks = matrix.blocks as usize;
    let found = |contrast: &crate::stats::Contrast, cv: f64| {
        format!("{} %", format_number(percent(resolvable(contrast, cv, blocks, ALPHA))))
    };
    let main = design.main_effect(0, 0, 1);
    let mut text = format!(
        "if runs vary by 1 % (or 3 %), this finds a main effect of {} (or {})",
        found(&main, 0.01),
        found(&main, 0.03)
    );
    if matrix.factors.len() > 1 {
        let both = design.interaction((0, 0, 1), (1, 0, 1));
        let _ =
            write!(text, ", an interaction of {} (or {})", found(&both, 0.01), found(&both, 0.03));
    }
    text
}

/// Where a series is: `block 3 of 10, run 2 of 4 (as=nobody), 4m left`.
pub(super) fn place(
    matrix: &Matrix,
    (block, index): (u64, u64),
    cell: &str,
    left: Option<Duration>,
) -> String {
    let left = left.map_or_else(String::new, |left| {
        let whole = Duration::from_secs(left.as_secs().max(1));
        format!(", {} left", format_duration(whole))
    });
    let (blocks, cells, run) = (matrix.blocks, matrix.cells.len(), index + 1);
    format!("block {block} of {blocks}, run {run} of {cells} ({}){left}", shorten(cell, NAME))
}

/// Everything at the end.
pub(super) fn end_text(
    matrix: &Matrix,
    figures: &Figures,
    effects: &[Effect],
    color: bool,
) -> String {
    let blocks = figures.whole_blocks().len();
    let disks = figures.disk_count();
    let mean =
        if disks == 1 { String::new() } else { format!(", geometric mean of {disks} disks") };
    let mut out = format!("{blocks} whole blocks, {}{mean}\n\n", matrix.metric);
    out.push_str(&cell_table(matrix, figures, color));
    out.push_str(&phase_table(matrix, figures, color));
    for line in odd_disks(matrix, figures) {
        let _ = writeln!(out, "{line}");
    }
    let headline: Vec<&Effect> = effects.iter().filter(|e| !e.exploratory).collect();
    if matrix.factors.is_empty() {
        return out;
    }
    if headline.is_empty() {
        out.push_str(
            "\nno effects: two whole blocks are needed at least, and figures in all cells\n",
        );
        return out;
    }
    out.push('\n');
    out.push_str(&effect_table(&headline, matrix, color));
    out.push_str(&curve_text(&headline, color));
    out.push_str(&exploratory_text(effects, matrix, color));
    out
}

/// Disks that stand out from the others over all runs: on a shelf that is the broken one.
fn odd_disks(matrix: &Matrix, figures: &Figures) -> Vec<String> {
    let means = figures.disk_means(&matrix.metric);
    let values: Vec<f64> = means.iter().map(|(_, mean)| *mean).collect();
    let Some(median) = crate::stats::median(&values) else { return Vec::new() };
    let odd = crate::stats::outliers(&values).into_iter();
    odd.map(|index| {
        let change = signed(100.0 * (values[index] / median - 1.0));
        format!(
            "{} stands out from the other disks in all cells: {} {change} % from their median",
            shorten(means[index].0, NAME),
            matrix.metric
        )
    })
    .collect()
}

/// A line per cell: the geometric mean over blocks and disks, and how runs vary.
fn cell_table(matrix: &Matrix, figures: &Figures, color: bool) -> String {
    let logs = figures.logs(&matrix.metric);
    let rows = matrix.cells.iter().enumerate().map(|(index, cell)| {
        let values: Vec<f64> =
            logs.iter().map(|block| block[index]).filter(|log| log.is_finite()).collect();
        let found = crate::stats::paired(&values);
        let mean = match (found, values.first()) {
            (Some(found), _) => format_number(found.log.exp()),
            (None, Some(only)) => format_number(only.exp()),
            (None, None) => "-".into(),
        };
        let spread = found.map_or_else(
            || "-".into(),
            |found| format!("{} %", format_number(100.0 * found.spread())),
        );
        let relation = figures.relation(index).unwrap_or_else(|| "-".into());
        vec![shorten(&cell.name, NAME), relation, mean, spread, values.len().to_string()]
    });
    let metric = matrix.metric.to_string();
    lined_up(&["cell", "relation", &metric, "varies by", "runs"], rows.collect(), color)
}

/// Effects of the metric that was declared, factor by factor, each with its verdict.
fn effect_table(effects: &[&Effect], matrix: &Matrix, color: bool) -> String {
    let margin = format_number(100.0 * matrix.margin);
    let confidence = effects.first().map_or(95.0, |effect| 100.0 * (1.0 - effect.alpha));
    let interval = format!("{} % interval", format_number(confidence));
    let (mut rows, mut verdicts) = (Vec::new(), vec![String::from("verdict")]);
    let mut last = String::new();
    for effect in effects {
        let title = title(effect);
        if title != last && matrix.factors.len() > 1 && effect.ask.kind != Kind::Interaction {
            rows.push(vec![title.clone(), String::new(), String::new(), String::new()]);
            verdicts.push(String::new());
        }
        let name = match effect.ask.kind {
            Kind::Simple => format!("  at {}", shorten(&effect.ask.held, NAME)),
            Kind::Main if matrix.factors.len() > 1 => "  mean over the others".into(),
            Kind::Main | Kind::Interaction => title.clone(),
        };
        let (change, limits) = change_text(effect);
        rows.push(vec![name, change, limits, effect.estimate.n.to_string()]);
        verdicts.push(verdict_text(effect, &margin, effects.len()));
        last = title;
    }
    let table = lined_up(&["effect", "change", &interval, "n"], rows, color);
    let mut out = String::new();
    for (line, verdict) in table.lines().zip(verdicts) {
        let _ = writeln!(out, "{}", format!("{line}  {verdict}").trim_end());
    }
    out
}

/// `as: root -> nobody`; of an interaction the factors with both steps.
fn title(effect: &Effect) -> String {
    let ask = &effect.ask;
    let step = format!("{} -> {}", shorten(&ask.from, LEVEL), shorten(&ask.to, LEVEL));
    match ask.kind {
        Kind::Simple | Kind::Main => format!("{}: {step}", ask.factor),
        Kind::Interaction => format!("{} (ratio of ratios): {step}", ask.factor),
    }
}

/// `+4.1 %` and `+2.0 .. +6.3 %`.
fn change_text(effect: &Effect) -> (String, String) {
    let (change, low, high) = effect.estimate.percent(effect.alpha);
    (format!("{} %", signed(change)), format!("{} .. {} %", signed(low), signed(high)))
}

fn signed(value: f64) -> String {
    let sign = if value < 0.0 { '-' } else { '+' };
    format!("{sign}{}", format_number(value.abs()))
}

/// What can be said, and what could not be seen.
fn verdict_text(effect: &Effect, margin: &str, family: usize) -> String {
    let resolved = format_number(effect.half_width_pct());
    match effect.verdict {
        Verdict::Same => format!("same (within {margin} %)"),
        Verdict::Regression | Verdict::Improvement => {
            let word = effect.word();
            match effect.p_adjusted < effect.alpha {
                true => word.into(),
                false => format!(
                    "{word}, but among {family} effects it may be chance (adjusted p {})",
                    format_number(effect.p_adjusted)
                ),
            }
        }
        Verdict::Inconclusive(Why::Noise { needs }) => {
            format!("not resolved below {resolved} %, needs about {needs} blocks")
        }
        Verdict::Inconclusive(Why::TooFew { have, least }) => {
            format!("{have} blocks are too few: {least} for a verdict")
        }
        Verdict::Inconclusive(Why::Unstable) => {
            "unstable: single blocks decide, t and rank intervals disagree".into()
        }
    }
}

/// Factors that count something: speed-up over the first level, and its share of the ideal one.
fn curve_text(effects: &[&Effect], color: bool) -> String {
    let mut rows = Vec::new();
    for effect in effects {
        let (Some(speed), Some(times)) = (effect.speed_up(), effect.ask.times) else { continue };
        let (low, high) = effect.estimate.interval(effect.alpha);
        rows.push(vec![
            format!("{} {} over {}", effect.ask.factor, effect.ask.to, effect.ask.from),
            shorten(&effect.ask.held, NAME),
            format!("{}x", format_number(speed)),
            format!("{} .. {}", format_number(low.exp()), format_number(high.exp())),
            format!("{} %", format_number(100.0 * speed / times)),
        ]);
    }
    if rows.is_empty() {
        return String::new();
    }
    format!("\n{}", lined_up(&["speed-up", "", "", "interval", "efficiency"], rows, color))
}

/// The others that stand out, each among all of them.
fn exploratory_text(effects: &[Effect], matrix: &Matrix, color: bool) -> String {
    let all: Vec<&Effect> = effects.iter().filter(|e| e.exploratory).collect();
    let small = |effect: &&&Effect| effect.p_adjusted < ALPHA;
    let found: Vec<&&Effect> = all.iter().filter(small).collect();
    let (count, stand_out) = (all.len(), found.len());
    let mut out = format!(
        "\nexploratory, not declared before: {stand_out} of {count} other effects have an adjusted \
         p below {ALPHA} (Holm){}\n",
        if stand_out > MOST { format!("; the first {MOST}:") } else { String::new() }
    );
    if stand_out == 0 {
        return out;
    }
    let rows = found.iter().take(MOST).map(|effect| {
        let ask = &effect.ask;
        let step = format!("{} -> {}", shorten(&ask.from, LEVEL), shorten(&ask.to, LEVEL));
        let mean = if matrix.factors.len() > 1 { " (mean)" } else { "" };
        let p = format_number(effect.p_adjusted);
        let (change, limits) = change_text(effect);
        vec![effect.metric.to_string(), format!("{} {step}{mean}", ask.factor), change, limits, p]
    });
    let head = ["metric", "effect", "change", "interval", "p"];
    out.push_str(&lined_up(&head, rows.collect(), color));
    out
}
