//! Speed-up over how many there are of something: clients, processors, threads.

use super::Part;
use super::figures::{interval, number, tick};
use crate::report::model::{Effect, Material, distinct};
use crate::report::page::{Section, Svg, Table};
use crate::report::plot::{Axis, LINES_MAX, Line, LinePlot};

/// The curve that is of no level of other factors.
const MEAN: &str = "mean over the others";

pub(super) fn section(material: &Material) -> Part {
    let mut section = Section::new("Scaling");
    let counted = || material.effects.iter().filter(|e| times(e).is_some());
    let curves =
        distinct(counted().map(|e| (e.file.as_str(), e.factor.as_str(), e.metric.as_str())));
    for (file, factor, metric) in curves {
        let of = |e: &&Effect| e.file == file && e.factor == factor && e.metric == metric;
        let effects: Vec<&Effect> = counted().filter(of).collect();
        // The mean first, and of the others as many as can be told apart.
        let mut names = distinct(effects.iter().map(|effect| held(effect)));
        names.sort_by_key(|name| name != MEAN);
        let cut = match names.len() {
            many if many > LINES_MAX => format!(" The first {LINES_MAX} of {many} are drawn."),
            _ => String::new(),
        };
        names.truncate(LINES_MAX);
        let plot = curve(factor, metric, &effects, &names);
        let from = if material.files.len() > 1 { format!("{file}: ") } else { String::new() };
        let caption = format!(
            "{from}Speed-up of {metric} over {factor}={}, with intervals, against as many times as \
             many. \"ideal\" is an efficiency of 1.{cut}",
            effects[0].level_a
        );
        section.plot(caption, Svg(plot.svg()?));
        section.table(table(factor, &effects));
    }
    Ok(section.if_any())
}

/// How many times as many there are as at the first level.
fn times(effect: &Effect) -> Option<f64> {
    let (speed, efficiency) = (effect.speed_up?, effect.efficiency?);
    (efficiency > 0.0).then(|| speed / efficiency)
}

fn held(effect: &Effect) -> String {
    if effect.held.is_empty() { MEAN.to_owned() } else { effect.held.clone() }
}

fn curve(factor: &str, metric: &str, effects: &[&Effect], names: &[String]) -> LinePlot {
    let alone = names.len() == 1;
    let mut lines = Vec::new();
    for name in names {
        let mut of: Vec<&&Effect> = effects.iter().filter(|e| held(e) == *name).collect();
        of.sort_by(|a, b| times(a).unwrap_or(0.0).total_cmp(&times(b).unwrap_or(0.0)));
        let mut points = vec![(1.0, 1.0)];
        points.extend(of.iter().filter_map(|e| Some((times(e)?, e.speed_up?))));
        let ratio = |percent: f64| 1.0 + percent / 100.0;
        let ends = |e: &&&Effect| Some((times(e)?, ratio(e.low?), ratio(e.high?)));
        let name = if alone { "measured".to_owned() } else { name.clone() };
        let intervals = of.iter().filter_map(ends).collect();
        lines.push(Line { name, points, intervals, marked: true, faint: false });
    }
    let most = effects.iter().filter_map(|e| times(e)).fold(1.0, f64::max);
    let all = || lines.iter().flat_map(|line| line.points.iter().map(|(_, y)| *y));
    let ends = || lines.iter().flat_map(|line| &line.intervals);
    let low = ends().map(|end| end.1).chain(all()).fold(1.0, f64::min).max(0.2);
    let high = ends().map(|end| end.2).chain(all()).fold(most, f64::max).min(4.0 * most);
    let mut ticks = vec![(1.0, effects[0].level_a.clone())];
    for effect in effects {
        if let Some(times) = times(effect)
            && ticks.iter().all(|(known, _): &(f64, String)| (known / times).ln().abs() > 0.02)
        {
            ticks.push((times, effect.level_b.clone()));
        }
    }
    let ideal = vec![(1.0, 1.0), (most, most)];
    lines.push(Line { name: "ideal".into(), points: ideal, faint: true, ..Line::default() });
    LinePlot {
        title: String::new(),
        narrow: false,
        x: Axis {
            low: 0.93,
            high: most * 1.07,
            logarithmic: true,
            label: factor.to_owned(),
            ticks,
            format: tick,
        },
        y: Axis {
            low: low * 0.9,
            high: high * 1.1,
            logarithmic: true,
            label: format!("speed-up of {metric}"),
            ticks: doublings(low, high),
            format: tick,
        },
        lines,
        region: Vec::new(),
    }
}

/// Powers of two: as many times as many are to be as many times as fast.
fn doublings(low: f64, high: f64) -> Vec<(f64, String)> {
    let all = (-3..20).map(|power| 2f64.powi(power));
    let within = all.filter(|value| *value >= low * 0.95 && *value <= high * 1.05);
    within.map(|value| (value, format!("{}x", tick(value)))).collect()
}

fn table(factor: &str, effects: &[&Effect]) -> Table {
    let head = ["at", factor, "over", "speed-up", "interval of the change", "efficiency"];
    let mut table = Table::new("Speed-up and efficiency", 1, &head);
    for effect in effects {
        table.push(vec![
            held(effect),
            effect.level_b.clone(),
            effect.level_a.clone(),
            number(effect.speed_up) + "x",
            interval(effect.low, effect.high),
            effect.efficiency.map_or_else(|| "-".into(), |e| number(Some(100.0 * e)) + " %"),
        ]);
    }
    table
}
