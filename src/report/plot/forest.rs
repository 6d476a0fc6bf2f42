//! Changes with their intervals, one below the other.

use super::PlotError;
use super::canvas::{Form, Pixel, SIZE, Sheet, WIDE, Write, draw, fill, line, mark, room, text};
use super::shade::{BAD, BAND, DIM, GOOD, GRID, INK, Shade};
use super::ticks;
use crate::output::shorten;

const ROW: i32 = 19;
const TOP: i32 = 6;
const BOTTOM: i32 = 42;
/// Where the plot begins and ends, between labels and figures.
const LEFT: i32 = 318;
const RIGHT: i32 = 590;
/// Where the change and the interval end, and the verdict begins.
const FIGURES: [i32; 3] = [656, 800, 816];
/// Least space between numbers of the axis.
const GAP: f64 = 40.0;
/// Widest range: a ratio of 10, which is -90 % .. +900 %.
const RANGE: f64 = 2.31;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Mark {
    /// For better.
    Better,
    /// For worse.
    Worse,
    /// A change with no good side.
    Change,
    /// Nothing as large as the margin.
    Same,
    /// Not resolved.
    Open,
}

/// A line of the plot.
#[derive(Clone, Debug)]
pub(in crate::report) enum ForestRow {
    /// What the following ones are about.
    Heading(String),
    /// A change in percent, and its interval where there is one.
    Change {
        label: String,
        change: f64,
        interval: Option<(f64, f64)>,
        mark: Mark,
        /// What stands on its right: change, interval, verdict.
        figures: [String; 3],
    },
}

/// A forest plot.
#[derive(Clone, Debug)]
pub(in crate::report) struct ForestPlot {
    pub(in crate::report) rows: Vec<ForestRow>,
    pub(in crate::report) margin_percent: Option<f64>,
    /// What is below the axis.
    pub(in crate::report) axis: String,
}

impl ForestPlot {
    /// Draws it.
    pub(in crate::report) fn svg(&self) -> Result<String, PlotError> {
        let scale = Scale::new(self);
        let bottom = TOP + ROW * self.rows.len() as i32 + 4;
        let height = (bottom + BOTTOM) as u32;
        draw((WIDE, height), |sheet| {
            self.ground(sheet, &scale, bottom)?;
            for (index, row) in self.rows.iter().enumerate() {
                let y = TOP + ROW * index as i32 + ROW / 2;
                row.draw(sheet, &scale, y)?;
            }
            Ok(())
        })
    }

    /// Margin, grid and axis.
    fn ground(&self, sheet: &Sheet<'_>, scale: &Scale, bottom: i32) -> Result<(), PlotError> {
        if let Some(margin) = self.margin_percent.map(|margin| (margin / 100.0).ln_1p()) {
            let corners = ((scale.x(-margin), TOP), (scale.x(margin), bottom));
            fill(sheet, corners.0, corners.1, BAND)?;
        }
        let gap = GAP / f64::from(RIGHT - LEFT) * (scale.high - scale.low);
        for tick in ticks::percent(scale.low, scale.high, gap) {
            let x = scale.x((tick / 100.0).ln_1p());
            line(sheet, vec![(x, TOP), (x, bottom)], if tick == 0.0 { DIM } else { GRID }, 1)?;
            let label = if tick == 0.0 { "0".to_owned() } else { format!("{tick:+}") };
            text(sheet, label, (x, bottom + 10), Write::new(SIZE - 1.0, DIM).center())?;
        }
        let middle = (LEFT + RIGHT) / 2;
        text(sheet, &self.axis, (middle, bottom + 28), Write::new(SIZE, DIM).center())
    }
}

impl ForestRow {
    fn draw(&self, sheet: &Sheet<'_>, scale: &Scale, y: i32) -> Result<(), PlotError> {
        match self {
            Self::Heading(label) => {
                let how = Write::new(SIZE, INK).bold();
                text(sheet, shorten(label, room(LEFT, SIZE * 1.08)), (0, y), how)
            }
            Self::Change { label, change, interval, mark: found, figures } => {
                let cut = shorten(label, room(LEFT - 22, SIZE));
                text(sheet, cut, (14, y), Write::new(SIZE, INK))?;
                let plain = Write::new(SIZE - 1.0, INK);
                for (figure, (x, how)) in figures.iter().zip(FIGURES.into_iter().zip([
                    plain.right(),
                    plain.right(),
                    plain,
                ])) {
                    text(sheet, figure, (x, y), how)?;
                }
                let (form, shade) = look(*found);
                if let Some((low, high)) = interval {
                    scale.interval(sheet, (*low, *high), y, shade)?;
                }
                let log = (change / 100.0).ln_1p();
                if (scale.low..=scale.high).contains(&log) {
                    mark(sheet, (scale.x(log), y), form, shade)?;
                }
                Ok(())
            }
        }
    }
}

const fn look(mark: Mark) -> (Form, Shade) {
    match mark {
        Mark::Better => (Form::Disc, GOOD),
        Mark::Worse => (Form::Disc, BAD),
        Mark::Change => (Form::Disc, INK),
        Mark::Same => (Form::Square, INK),
        Mark::Open => (Form::Ring, DIM),
    }
}

/// From logarithms of ratios to pixels.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn new(plot: &ForestPlot) -> Self {
        let margin = plot.margin_percent.map_or(0.01, |margin| (margin / 100.0).ln_1p());
        let (mut low, mut high) = (-margin, margin);
        for row in &plot.rows {
            if let ForestRow::Change { change, interval, .. } = row {
                let ends = interval.unwrap_or((*change, *change));
                for percent in [*change, ends.0, ends.1] {
                    let log = (percent / 100.0).ln_1p();
                    (low, high) = (low.min(log), high.max(log));
                }
            }
        }
        let rim = 0.04 * (high - low);
        Self { low: (low - rim).max(-RANGE), high: (high + rim).min(RANGE) }
    }

    fn x(&self, log: f64) -> i32 {
        let share = (log.clamp(self.low, self.high) - self.low) / (self.high - self.low);
        LEFT + (share * f64::from(RIGHT - LEFT)).round() as i32
    }

    /// The line of an interval; one that goes on beyond the plot ends in a point.
    fn interval(
        &self,
        sheet: &Sheet<'_>,
        (low, high): (f64, f64),
        y: i32,
        shade: Shade,
    ) -> Result<(), PlotError> {
        let (low, high) = ((low / 100.0).ln_1p(), (high / 100.0).ln_1p());
        let (from, to): (Pixel, Pixel) = ((self.x(low), y), (self.x(high), y));
        line(sheet, vec![from, to], shade, 2)?;
        for (log, at) in [(low, from), (high, to)] {
            if (self.low..=self.high).contains(&log) {
                line(sheet, vec![(at.0, y - 3), (at.0, y + 3)], shade, 1)?;
            }
        }
        if low < self.low {
            mark(sheet, (self.x(self.low), y), Form::PointLeft, shade)?;
        }
        if high > self.high {
            mark(sheet, (self.x(self.high), y), Form::PointRight, shade)?;
        }
        Ok(())
    }
}
