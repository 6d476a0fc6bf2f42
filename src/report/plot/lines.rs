//! Lines over time, or over how many there are of something.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;

use super::PlotError;
use super::canvas::{
    Form, NARROW, Pixel, SIZE, SMALL, Sheet, WIDE, Write, draw, line, mark, room, text, widest,
};
use super::shade::{BAND, DIM, GRID, INK, LINES, Shade};
use super::ticks;
use crate::output::shorten;

/// Least height between the names of two lines.
const APART: i32 = 13;

/// An axis.
#[derive(Clone, Debug)]
pub(in crate::report) struct Axis {
    pub(in crate::report) low: f64,
    pub(in crate::report) high: f64,
    /// Powers are at equal distances.
    pub(in crate::report) logarithmic: bool,
    pub(in crate::report) label: String,
    /// Numbers at their places; chosen where there are none.
    pub(in crate::report) ticks: Vec<(f64, String)>,
    /// How a chosen number is written.
    pub(in crate::report) format: fn(f64) -> String,
}

impl Axis {
    /// Where a value stands.
    fn place(&self, value: f64) -> f64 {
        if self.logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value }
    }

    fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        if !self.ticks.is_empty() {
            return self.ticks.clone();
        }
        let values = if self.logarithmic {
            ticks::logarithmic(self.low, self.high, count)
        } else {
            ticks::linear(self.low, self.high, count)
        };
        values.into_iter().map(|value| (value, (self.format)(value))).collect()
    }
}

/// A line.
#[derive(Clone, Debug, Default)]
pub(in crate::report) struct Line {
    pub(in crate::report) name: String,
    /// A NaN breaks the line.
    pub(in crate::report) points: Vec<(f64, f64)>,
    /// Lower and upper ends at some places.
    pub(in crate::report) intervals: Vec<(f64, f64, f64)>,
    /// Points are marked.
    pub(in crate::report) marked: bool,
    /// Something to compare with, not measured.
    pub(in crate::report) faint: bool,
}

/// A plot of lines.
#[derive(Clone, Debug)]
pub(in crate::report) struct LinePlot {
    /// Above the plot; empty where there is only one.
    pub(in crate::report) title: String,
    /// Half as wide as the page.
    pub(in crate::report) narrow: bool,
    pub(in crate::report) x: Axis,
    pub(in crate::report) y: Axis,
    pub(in crate::report) lines: Vec<Line>,
    /// Regions behind the lines: place, lower and upper end.
    pub(in crate::report) region: Vec<(f64, f64, f64)>,
}

/// A range with numbers at chosen places.
struct Span {
    range: Range<f64>,
    keys: Vec<f64>,
}

impl Ranged for Span {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        from + (share * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.keys.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

type Chart<'a, 's> = ChartContext<'a, SVGBackend<'s>, Cartesian2d<Span, Span>>;

impl LinePlot {
    /// Draws it.
    pub(in crate::report) fn svg(&self) -> Result<String, PlotError> {
        let size = if self.narrow { (NARROW, 190) } else { (WIDE, 280) };
        draw(size, |sheet| self.on(sheet))
    }

    /// Room on the right for the names of lines.
    fn names(&self) -> i32 {
        let widest = widest(self.lines.iter().map(|line| line.name.as_str()), SMALL);
        if widest == 0.0 {
            12
        } else {
            (widest as i32 + 22).min(if self.narrow { 130 } else { 240 })
        }
    }

    fn on(&self, sheet: &Sheet<'_>) -> Result<(), PlotError> {
        let x_ticks = self.x.ticks(if self.narrow { 5 } else { 10 });
        let y_ticks = self.y.ticks(5);
        let widest = widest(y_ticks.iter().map(|(_, label)| label.as_str()), SIZE - 1.0);
        let span = |axis: &Axis, ticks: &[(f64, String)]| Span {
            range: axis.place(axis.low)..axis.place(axis.high),
            keys: ticks.iter().map(|(value, _)| axis.place(*value)).collect(),
        };
        let mut chart = ChartBuilder::on(sheet)
            .margin_top(if self.title.is_empty() { 8 } else { 22 })
            .margin_right(self.names())
            .set_label_area_size(LabelAreaPosition::Left, widest as i32 + 32)
            .set_label_area_size(LabelAreaPosition::Bottom, 40)
            .build_cartesian_2d(span(&self.x, &x_ticks), span(&self.y, &y_ticks))?;
        self.mesh(&mut chart, &x_ticks, &y_ticks)?;
        if !self.title.is_empty() {
            let cut = shorten(&self.title, room(NARROW as i32, SIZE * 1.08));
            text(sheet, cut, (0, 9), Write::new(SIZE, INK).bold())?;
        }
        let (_, rows) = chart.plotting_area().get_pixel_range();
        let how = Write::new(SIZE, DIM).center().upwards();
        text(sheet, &self.y.label, (10, (rows.start + rows.end) / 2), how)?;
        self.draw_region(sheet, &chart)?;
        for (index, line) in self.lines.iter().enumerate() {
            self.draw_line(sheet, &chart, line, shade(line, index))?;
        }
        self.draw_names(sheet, &chart)
    }

    fn mesh(
        &self,
        chart: &mut Chart<'_, '_>,
        x_ticks: &[(f64, String)],
        y_ticks: &[(f64, String)],
    ) -> Result<(), PlotError> {
        let label = |axis: &Axis, ticks: &[(f64, String)], at: f64| {
            let found = ticks.iter().find(|(value, _)| (axis.place(*value) - at).abs() < 1e-9);
            found.map(|(_, label)| label.clone()).unwrap_or_default()
        };
        let numbers = Write::new(SIZE - 1.0, DIM).style();
        let names = Write::new(SIZE, DIM).style();
        chart
            .configure_mesh()
            .x_labels(100)
            .y_labels(100)
            .x_label_formatter(&|at| label(&self.x, x_ticks, *at))
            .y_label_formatter(&|at| label(&self.y, y_ticks, *at))
            .bold_line_style(GRID.light)
            .light_line_style(TRANSPARENT)
            .axis_style(DIM.light)
            .label_style(numbers)
            .axis_desc_style(names)
            .x_desc(&self.x.label)
            .draw()?;
        Ok(())
    }

    fn pixel(&self, chart: &Chart<'_, '_>, x: f64, y: f64) -> Pixel {
        let y = y.clamp(self.y.low, self.y.high);
        chart.backend_coord(&(self.x.place(x), self.y.place(y)))
    }

    fn draw_region(&self, sheet: &Sheet<'_>, chart: &Chart<'_, '_>) -> Result<(), PlotError> {
        if self.region.is_empty() {
            return Ok(());
        }
        let low = self.region.iter().map(|(x, low, _)| self.pixel(chart, *x, *low));
        let high = self.region.iter().rev().map(|(x, _, high)| self.pixel(chart, *x, *high));
        let corners: Vec<Pixel> = low.chain(high).collect();
        Ok(sheet.draw(&Polygon::new(corners, BAND.light.filled()))?)
    }

    fn draw_line(
        &self,
        sheet: &Sheet<'_>,
        chart: &Chart<'_, '_>,
        of: &Line,
        shade: Shade,
    ) -> Result<(), PlotError> {
        let width = if of.faint { 1 } else { 2 };
        for part in of.points.split(|(_, y)| y.is_nan()).filter(|part| !part.is_empty()) {
            let points: Vec<Pixel> = part.iter().map(|(x, y)| self.pixel(chart, *x, *y)).collect();
            if points.len() == 1 {
                mark(sheet, points[0], Form::Disc, shade)?;
            }
            if of.marked {
                points.iter().try_for_each(|at| mark(sheet, *at, Form::Disc, shade))?;
            }
            line(sheet, points, shade, width)?;
        }
        for (x, low, high) in &of.intervals {
            let (from, to) = (self.pixel(chart, *x, *low), self.pixel(chart, *x, *high));
            line(sheet, vec![from, to], shade, 1)?;
            for (end, inside) in [(from, *low >= self.y.low), (to, *high <= self.y.high)] {
                if inside {
                    line(sheet, vec![(end.0 - 3, end.1), (end.0 + 3, end.1)], shade, 1)?;
                }
            }
        }
        Ok(())
    }

    /// Names beside the ends of the lines, moved apart where they would cover each other.
    fn draw_names(&self, sheet: &Sheet<'_>, chart: &Chart<'_, '_>) -> Result<(), PlotError> {
        let last = |line: &Line| line.points.iter().rev().find(|(_, y)| !y.is_nan()).copied();
        let mut ends: Vec<(usize, Pixel)> = self
            .lines
            .iter()
            .enumerate()
            .filter(|(_, line)| !line.name.is_empty())
            .filter_map(|(index, line)| last(line).map(|(x, y)| (index, self.pixel(chart, x, y))))
            .collect();
        ends.sort_by_key(|(_, at)| at.1);
        let (columns, rows) = chart.plotting_area().get_pixel_range();
        let wanted: Vec<i32> = ends.iter().map(|(_, at)| at.1).collect();
        let places = apart(&wanted, rows.start + 4, rows.end - 4);
        for ((index, at), y) in ends.iter().zip(places) {
            let of = &self.lines[*index];
            let right = columns.end;
            let leader = vec![(at.0, at.1), (right + 12, y)];
            line(sheet, leader, shade(of, *index), 1)?;
            let cut = shorten(&of.name, room(self.names() - 16, SMALL));
            text(sheet, cut, (right + 15, y), Write::new(SMALL, INK))?;
        }
        Ok(())
    }
}

fn shade(line: &Line, index: usize) -> Shade {
    if line.faint { DIM } else { LINES[index % LINES.len()] }
}

/// Heights as near as can be to those wanted, in order, that are far enough apart.
fn apart(wanted: &[i32], top: i32, bottom: i32) -> Vec<i32> {
    let mut places = wanted.to_vec();
    let mut least = top;
    for place in &mut places {
        *place = (*place).max(least);
        least = *place + APART;
    }
    let mut most = bottom;
    for place in places.iter_mut().rev() {
        *place = (*place).min(most);
        most = *place - APART;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::apart;

    #[test]
    fn names_do_not_cover_each_other() {
        assert_eq!(apart(&[50, 51, 52], 0, 200), [50, 63, 76]);
        assert_eq!(apart(&[190, 195, 199], 0, 200), [174, 187, 200]);
        assert_eq!(apart(&[10, 100], 0, 200), [10, 100]);
    }
}
