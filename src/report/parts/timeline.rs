//! Throughput over time, disk by disk.

use super::Part;
use super::bins::Bins;
use super::figures::{count, tick};
use super::names::Names;
use crate::report::gather::natural;
use crate::report::model::{Group, Material, distinct};
use crate::report::page::{Block, Section, Svg, Table};
use crate::report::plot::{Axis, Cell, HeatPlot, LINES_MAX, Line, LinePlot, PlotError, SEQUENTIAL};

/// Points of a line.
const POINTS: usize = 240;
/// Columns of a heat map.
const COLUMNS: usize = 60;
/// Groups that have a plot.
const GROUPS: usize = 12;
/// Groups that have a heat map.
const HEAT_MAPS: usize = 4;
/// Disks in a heat map.
const DISKS: usize = 128;

pub(super) fn section(material: &Material) -> Part {
    let mut section = Section::new("Throughput over time");
    let all: Vec<(&Group, Bins)> = material
        .groups
        .iter()
        .filter_map(|group| Some((group, Bins::of(group, POINTS)?)))
        .collect();
    if all.is_empty() {
        return Ok(None);
    }
    let shown = &all[..all.len().min(GROUPS)];
    let names = Names::new(material.groups.iter().flat_map(|group| &group.disks));
    let most = shown.iter().map(|(_, bins)| bins.highest()).fold(0.0, f64::max);
    let mut svgs = Vec::new();
    for (group, bins) in shown {
        let plot = plot(group, bins, &names, shown.len() > 1, most);
        svgs.push(Svg(plot.svg()?));
    }
    section.blocks.push(Block::Plots { caption: caption(shown, &names), svgs });
    if shown.len() < all.len() {
        section.text(format!("The first {GROUPS} of {} kinds of run are shown.", all.len()));
    }
    section.table(material.tell_apart(table(&all, &names), 0));
    for (group, _) in shown.iter().filter(|(group, _)| many(group)).take(HEAT_MAPS) {
        heat_map(&mut section, group, &names, material.groups.len() > 1)?;
    }
    let wide = all.iter().filter(|(group, _)| many(group)).count();
    if wide > HEAT_MAPS {
        section.text(format!("The first {HEAT_MAPS} of {wide} kinds of run have a heat map."));
    }
    Ok(Some(section))
}

/// Whether there are more disks than lines that can be told apart.
fn many(group: &Group) -> bool {
    group.disks.len() > LINES_MAX
}

fn caption(shown: &[(&Group, Bins)], names: &Names) -> String {
    let mut text = "Operations per second".to_owned();
    if shown.iter().any(|(group, _)| many(group)) {
        text += ": the median disk, the disks that are slowest and fastest over the whole time, and \
                 the range of all (shaded).";
    } else {
        text += " of each disk.";
    }
    if shown.iter().any(|(group, _)| group.counted() > 1) {
        text += " Of several runs of a kind, the mean.";
    }
    text += &names.note();
    text
}

fn plot(group: &Group, bins: &Bins, names: &Names, narrow: bool, most: f64) -> LinePlot {
    let points = |rates: &[f64]| -> Vec<(f64, f64)> {
        rates.iter().enumerate().map(|(index, rate)| (bins.middle(index), *rate)).collect()
    };
    let line =
        |name: String, rates: &[f64]| Line { name, points: points(rates), ..Line::default() };
    let (mut lines, mut region) = (Vec::new(), Vec::new());
    if many(group) {
        let (medians, ends) = spread(bins);
        lines.push(line("median disk".into(), &medians));
        for (what, index) in ["slowest", "fastest"].iter().zip(extremes(bins)) {
            let (disk, rates) = &bins.rates[index];
            lines.push(line(format!("{what}: {}", names.short(disk)), rates));
        }
        region = ends;
    } else {
        let alone = bins.rates.len() == 1;
        for (disk, rates) in &bins.rates {
            let name = if alone { String::new() } else { names.short(disk).to_owned() };
            lines.push(line(name, rates));
        }
    }
    LinePlot {
        title: if narrow { group.label.clone() } else { String::new() },
        narrow,
        x: Axis {
            low: 0.0,
            high: bins.count() as f64 * bins.width_s,
            logarithmic: false,
            label: "seconds since the window opened".into(),
            ticks: Vec::new(),
            format: tick,
        },
        y: Axis {
            low: 0.0,
            high: most.max(1.0) * 1.05,
            logarithmic: false,
            label: "ops/s".into(),
            ticks: Vec::new(),
            format: tick,
        },
        lines,
        region,
    }
}

/// The median of each stretch, and its lowest and highest rate.
fn spread(bins: &Bins) -> (Vec<f64>, Vec<(f64, f64, f64)>) {
    let (mut medians, mut ends) = (Vec::new(), Vec::new());
    for index in 0..bins.count() {
        let sorted = bins.sorted(index);
        medians.push(crate::stats::median(&sorted).unwrap_or(f64::NAN));
        if let (Some(low), Some(high)) = (sorted.first(), sorted.last()) {
            ends.push((bins.middle(index), *low, *high));
        }
    }
    (medians, ends)
}

/// Mean of what is known; a disk of which nothing is known comes first.
fn mean(rates: &[f64]) -> f64 {
    let known: Vec<f64> = rates.iter().copied().filter(|rate| !rate.is_nan()).collect();
    if known.is_empty() { -1.0 } else { known.iter().sum::<f64>() / known.len() as f64 }
}

/// Disks from the slowest to the fastest.
fn by_speed(bins: &Bins) -> Vec<usize> {
    let mut order: Vec<usize> = (0..bins.rates.len()).collect();
    order.sort_by(|a, b| mean(&bins.rates[*a].1).total_cmp(&mean(&bins.rates[*b].1)));
    order
}

fn extremes(bins: &Bins) -> [usize; 2] {
    let order = by_speed(bins);
    [order[0], order[order.len() - 1]]
}

fn table(all: &[(&Group, Bins)], names: &Names) -> Table {
    let rates = all.iter().flat_map(|(_, bins)| &bins.rates);
    let disks = distinct(rates.map(|(disk, _)| disk.as_str()));
    let several = disks.len() > LINES_MAX;
    let mut head = vec!["runs of", "from s"];
    if several {
        head.extend(["slowest disk", "median", "fastest disk"]);
    } else {
        head.extend(disks.iter().map(|disk| names.short(disk)));
    }
    let mut table = Table::new("Operations per second in each stretch of time", 1, &head);
    for (group, bins) in all {
        for index in 0..bins.count() {
            let mut row = vec![group.label.clone(), format!("{:.2}", index as f64 * bins.width_s)];
            if several {
                let sorted = bins.sorted(index);
                let figures = [
                    sorted.first().copied(),
                    crate::stats::median(&sorted),
                    sorted.last().copied(),
                ];
                row.extend(figures.map(count));
            } else {
                let of = |disk: &&str| bins.rates.iter().find(|(known, _)| known == disk);
                let rate = |disk| of(disk).map(|(_, rates)| rates[index]);
                row.extend(disks.iter().map(|disk| count(rate(disk).filter(|r| !r.is_nan()))));
            }
            table.push(row);
        }
    }
    table
}

fn heat_map(
    section: &mut Section,
    group: &Group,
    names: &Names,
    several: bool,
) -> Result<(), PlotError> {
    let Some(bins) = Bins::of(group, COLUMNS).filter(|bins| bins.count() > 1) else {
        return Ok(());
    };
    let most = bins.highest().max(1.0);
    let cell = |rate: &f64| {
        let step = ((rate / most * 7.0) as usize).min(6);
        (!rate.is_nan()).then(|| Cell { step, text: String::new() })
    };
    let mut kept = by_speed(&bins);
    kept.truncate(DISKS);
    kept.sort_by(|a, b| natural(&bins.rates[*a].0, &bins.rates[*b].0));
    let rows = kept.iter().map(|index| {
        let (disk, rates) = &bins.rates[*index];
        (names.short(disk).to_owned(), rates.iter().map(cell).collect())
    });
    let legend = std::array::from_fn(|step| {
        let bound = |step: usize| tick(round(most * step as f64 / 7.0));
        format!("{} .. {}", bound(step), bound(step + 1))
    });
    let plot = HeatPlot {
        columns: (0..bins.count()).map(|n| tick(round(n as f64 * bins.width_s))).collect(),
        named: false,
        axis: "seconds since the window opened".into(),
        rows: rows.collect(),
        scale: SEQUENTIAL,
        legend,
    };
    let of = if several { format!("{}: ", group.label) } else { String::new() };
    let cut = if group.disks.len() > DISKS {
        format!(" The {DISKS} slowest of {} disks.", group.disks.len())
    } else {
        String::new()
    };
    let text = format!(
        "{of}Operations per second of each disk in stretches of {:.3} s; empty where nothing is \
         known.{cut}{}",
        bins.width_s,
        names.note()
    );
    section.plot(text, Svg(plot.svg()?));
    section.table(rates_table(&bins, names));
    Ok(())
}

/// Three digits are enough for the ends of a step.
fn round(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let scale = 10f64.powf(2.0 - value.log10().floor());
    (value * scale).round() / scale
}

/// Figures of the heat map; of many stretches the eighths of the time.
fn rates_table(bins: &Bins, names: &Names) -> Table {
    let parts = bins.count().min(8);
    let at = |part: usize| part * bins.count() / parts;
    let heads: Vec<String> =
        (0..parts).map(|part| format!("{:.1} s", at(part) as f64 * bins.width_s)).collect();
    let head: Vec<&str> = std::iter::once("disk").chain(heads.iter().map(String::as_str)).collect();
    let mut table = Table::new("Operations per second of each disk, from", 1, &head);
    let mut rows: Vec<&(String, Vec<f64>)> = bins.rates.iter().collect();
    rows.sort_by(|a, b| natural(&a.0, &b.0));
    for (disk, rates) in rows {
        let figures = (0..parts).map(|part| {
            let mean = mean(&rates[at(part)..at(part + 1)]);
            count((mean >= 0.0).then_some(mean))
        });
        table.push(std::iter::once(names.short(disk).to_owned()).chain(figures).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::round;

    #[test]
    fn three_digits() {
        assert_eq!(round(1234.5), 1230.0);
        assert_eq!(round(0.123_45), 0.123);
        assert_eq!(round(0.0), 0.0);
    }
}
