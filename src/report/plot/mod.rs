//! Plots as SVG. They get numbers and labels, and know nothing of runs or files.
//!
//! Drawn by the crate plotters, without fonts: a text is as wide as the reader's browser makes it,
//! so room is left for wide ones.

mod canvas;
mod forest;
mod heat;
mod lines;
mod shade;
mod spread;
mod ticks;

pub(super) use forest::{ForestPlot, ForestRow, Mark};
pub(super) use heat::{Cell, HeatPlot};
pub(super) use lines::{Axis, Line, LinePlot};
pub(super) use shade::{DIVERGING, SEQUENTIAL, style_of_shades};
pub(super) use spread::{SpreadPlot, SpreadRow};

/// Lines that can be told apart in one plot: there are so many colours.
pub(super) const LINES_MAX: usize = shade::LINES.len();

/// Why a plot could not be drawn.
#[derive(Debug, thiserror::Error)]
#[error("cannot draw a plot: {0}")]
pub struct PlotError(String);

impl<E: std::error::Error + Send + Sync> From<plotters::prelude::DrawingAreaErrorKind<E>>
    for PlotError
{
    fn from(error: plotters::prelude::DrawingAreaErrorKind<E>) -> Self {
        Self(error.to_string())
    }
}
