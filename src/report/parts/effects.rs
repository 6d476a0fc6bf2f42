//! What each factor of a matrix does, as the matrix has found it.

use super::Part;
use super::figures::{change, interval, number, whole};
use crate::report::model::{Effect, Material, distinct};
use crate::report::page::{Section, Svg, Table};
use crate::report::plot::{ForestPlot, ForestRow, Mark, PlotError};

/// Lines of one plot: what is more goes into another one.
const LINES: usize = 45;

pub(super) fn section(material: &Material) -> Part {
    let mut section = Section::new("Effects");
    for file in &material.files {
        let of_file = || material.effects.iter().filter(|effect| effect.file == *file);
        let declared_ones = of_file().filter(|effect| !effect.exploratory);
        let metrics = distinct(declared_ones.map(|effect| effect.metric.as_str()));
        for metric in metrics {
            let of_metric = |effect: &&Effect| !effect.exploratory && effect.metric == metric;
            let effects: Vec<&Effect> = of_file().filter(of_metric).collect();
            declared(&mut section, material, metric, &effects)?;
        }
        let effects: Vec<&Effect> = of_file().filter(|effect| effect.exploratory).collect();
        exploratory(&mut section, &effects)?;
    }
    Ok(section.if_any())
}

fn declared(
    section: &mut Section,
    material: &Material,
    metric: &str,
    effects: &[&Effect],
) -> Result<(), PlotError> {
    let of = match material.files.len() {
        1 => String::new(),
        _ => format!("{}: ", effects[0].file),
    };
    let level = effects[0].confidence.unwrap_or(0.95) * 100.0;
    let caption = format!(
        "{of}Change of {metric}, the metric declared before, with {} % intervals. Disc: \
         improvement, regression or interaction. Square: same, the whole interval lies within the margin \
         (shaded). Ring: not resolved. * would not stand out among all effects of this metric \
         (Holm). An interaction is a ratio of ratios.",
        level.round()
    );
    let alone =
        |effect: &Effect| effects.iter().filter(|other| what(other) == what(effect)).count() == 1;
    plots(section, &caption, effects, &rows(effects, |effect| label(effect, alone(effect))))?;
    section.table(table(&format!("{of}Effects on {metric}"), effects));
    Ok(())
}

fn exploratory(section: &mut Section, effects: &[&Effect]) -> Result<(), PlotError> {
    if effects.is_empty() {
        return Ok(());
    }
    let mut sorted = effects.to_vec();
    // By factor, and within it as the file has them.
    let order = distinct(effects.iter().map(|effect| what(effect)));
    sorted.sort_by_cached_key(|effect| order.iter().position(|known| *known == what(effect)));
    let rows = rows(&sorted, |effect| effect.metric.clone());
    let caption = "Exploratory: other metrics, not declared before, averaged over the other \
                   factors. A place to look, not a finding. Marks as above; * would not stand out \
                   among all of these (Holm).";
    plots(section, caption, &sorted, &rows)?;
    section.table(table("Exploratory effects", &sorted));
    Ok(())
}

fn plots(
    section: &mut Section,
    caption: &str,
    effects: &[&Effect],
    rows: &[ForestRow],
) -> Result<(), PlotError> {
    let margin_percent = effects.iter().find_map(|effect| effect.margin);
    let chunks = rows.chunks(LINES).count();
    for (index, rows) in rows.chunks(LINES).enumerate() {
        let axis = "change in percent; equal ratios at equal distances".to_owned();
        let plot = ForestPlot { rows: rows.to_vec(), margin_percent, axis };
        let part =
            if chunks > 1 { format!(" Part {} of {chunks}.", index + 1) } else { String::new() };
        section.plot(format!("{caption}{part}"), Svg(plot.svg()?));
    }
    Ok(())
}

/// `mount-acl: on → off`.
fn what(effect: &Effect) -> String {
    format!("{}: {} → {}", effect.factor, effect.level_a, effect.level_b)
}

fn label(effect: &Effect, alone: bool) -> String {
    match effect.kind.as_str() {
        "simple" => format!("at {}", effect.held),
        "main" if alone => "whole".to_owned(),
        "main" => "mean over the others".to_owned(),
        "interaction" => "interaction: ratio of ratios".to_owned(),
        other => other.to_owned(),
    }
}

/// A line for each, under a heading for those of the same factor and levels that follow each other.
fn rows(effects: &[&Effect], label: impl Fn(&Effect) -> String) -> Vec<ForestRow> {
    let mut rows = Vec::new();
    let mut last = String::new();
    for effect in effects {
        let heading = what(effect);
        if heading != last {
            rows.push(ForestRow::Heading(heading.clone()));
            last = heading;
        }
        rows.extend(row(effect, label(effect)));
    }
    rows
}

fn row(effect: &Effect, label: String) -> Option<ForestRow> {
    let figures = [change(effect.change), interval(effect.low, effect.high), verdict(effect)];
    Some(ForestRow::Change {
        label,
        change: effect.change?,
        interval: effect.low.zip(effect.high),
        mark: mark(effect),
        figures,
    })
}

/// Whether it could be chance among so many.
fn among_many(effect: &Effect) -> bool {
    let found = matches!(effect.verdict.as_str(), "improvement" | "regression" | "interaction");
    let alpha = 1.0 - effect.confidence.unwrap_or(0.95);
    found && effect.p_adjusted.is_some_and(|p| p >= alpha)
}

fn verdict(effect: &Effect) -> String {
    format!("{}{}", effect.verdict, if among_many(effect) { "\u{a0}*" } else { "" })
}

fn mark(effect: &Effect) -> Mark {
    match effect.verdict.as_str() {
        _ if among_many(effect) => Mark::Open,
        "interaction" => Mark::Change,
        "improvement" => Mark::Better,
        "regression" => Mark::Worse,
        "same" => Mark::Same,
        _ => Mark::Open,
    }
}

fn table(caption: &str, effects: &[&Effect]) -> Table {
    let head = [
        "factor",
        "from",
        "to",
        "at",
        "metric",
        "change",
        "interval",
        "n",
        "resolved from",
        "p (Holm)",
        "blocks needed",
        "verdict",
    ];
    let mut table = Table::new(caption, 5, &head).with_words_last();
    for effect in effects {
        let at = match effect.kind.as_str() {
            "simple" => effect.held.clone(),
            "interaction" => "ratio of ratios".to_owned(),
            _ => "all".to_owned(),
        };
        table.push(vec![
            effect.factor.clone(),
            effect.level_a.clone(),
            effect.level_b.clone(),
            at,
            effect.metric.clone(),
            change(effect.change),
            interval(effect.low, effect.high),
            whole(effect.n),
            effect.half_width.map_or_else(|| "-".into(), |w| number(Some(w)) + " %"),
            effect.p_adjusted.map_or_else(|| "-".into(), |p| format!("{p:.4}")),
            whole(effect.needed),
            verdict(effect),
        ]);
    }
    table
}
