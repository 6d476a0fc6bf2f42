//! Heat maps: a row per disk, a column per stretch of time or per figure.

use super::PlotError;
use super::canvas::{SMALL, Sheet, WIDE, Write, draw, fill, room, text, widest, width_of};
use super::shade::{DIM, INK, ON_STRONG, ON_WEAK, SEQUENTIAL, Shade};
use crate::output::shorten;

/// More rows than this stand in two columns of rows.
const ONE_COLUMN: usize = 40;
const LEGEND: i32 = 26;
/// Between the two columns of rows.
const BETWEEN: i32 = 20;

/// A cell: its step on the scale, and what stands in it.
#[derive(Clone, Debug)]
pub(in crate::report) struct Cell {
    pub(in crate::report) step: usize,
    pub(in crate::report) text: String,
}

/// A heat map.
#[derive(Clone, Debug)]
pub(in crate::report) struct HeatPlot {
    pub(in crate::report) columns: Vec<String>,
    /// Columns have a name each, written upwards; else they are a scale with few numbers.
    pub(in crate::report) named: bool,
    /// What the columns are, where they are a scale.
    pub(in crate::report) axis: String,
    /// Label and cells; a cell that is unknown stays empty.
    pub(in crate::report) rows: Vec<(String, Vec<Option<Cell>>)>,
    pub(in crate::report) scale: [Shade; 7],
    /// What each step means.
    pub(in crate::report) legend: [String; 7],
}

/// Measures of a column of rows.
struct Layout {
    row: i32,
    label: i32,
    top: i32,
    cells: i32,
}

impl HeatPlot {
    /// Draws it.
    pub(in crate::report) fn svg(&self) -> Result<String, PlotError> {
        let two = self.rows.len() > ONE_COLUMN;
        let each = if two { self.rows.len().div_ceil(2) } else { self.rows.len() };
        let width = if two { (WIDE as i32 - BETWEEN) / 2 } else { WIDE as i32 };
        let longest = widest(self.rows.iter().map(|(label, _)| label.as_str()), SMALL);
        let label = (longest as i32 + 8).min(width / 3);
        let names = self.widest_column() as i32;
        let layout = Layout {
            row: if two { 12 } else { 15 },
            label,
            top: LEGEND + if self.named { names + 8 } else { 4 },
            cells: width - label,
        };
        let axis = if self.named { 4 } else { 36 };
        let height = layout.top + layout.row * each as i32 + axis;
        draw((WIDE, height as u32), |sheet| {
            self.draw_legend(sheet)?;
            for (index, rows) in self.rows.chunks(each.max(1)).enumerate() {
                let left = index as i32 * (width + BETWEEN);
                self.draw_rows(sheet, &layout, left, rows)?;
            }
            Ok(())
        })
    }

    fn widest_column(&self) -> f64 {
        widest(self.columns.iter().map(String::as_str), SMALL)
    }

    fn draw_legend(&self, sheet: &Sheet<'_>) -> Result<(), PlotError> {
        let mut x = 0;
        for (shade, meaning) in self.scale.iter().zip(&self.legend) {
            fill(sheet, (x, 4), (x + 14, 16), *shade)?;
            text(sheet, meaning, (x + 19, 10), Write::new(SMALL, DIM))?;
            x += 19 + width_of(meaning, SMALL) as i32 + 14;
        }
        Ok(())
    }

    fn draw_rows(
        &self,
        sheet: &Sheet<'_>,
        layout: &Layout,
        left: i32,
        rows: &[(String, Vec<Option<Cell>>)],
    ) -> Result<(), PlotError> {
        let start = left + layout.label;
        let many = self.columns.len().max(1) as i32;
        let x = |column: usize| start + layout.cells * column as i32 / many;
        for (index, (label, cells)) in rows.iter().enumerate() {
            let y = layout.top + layout.row * index as i32;
            let middle = y + layout.row / 2;
            let cut = shorten(label, room(layout.label - 6, SMALL));
            text(sheet, cut, (start - 6, middle), Write::new(SMALL, INK).right())?;
            for (column, cell) in cells.iter().enumerate() {
                let Some(cell) = cell else { continue };
                let (from, to) = ((x(column), y), (x(column + 1), y + layout.row));
                // A pixel between cells, where there is room for it.
                let rim = i32::from(to.0 - from.0 > 6);
                fill(sheet, from, (to.0 - rim, to.1 - 1), self.scale[cell.step])?;
                if !cell.text.is_empty() {
                    let how = Write::new(SMALL - 1.0, self.ink(cell.step)).center();
                    text(sheet, &cell.text, ((from.0 + to.0) / 2, middle), how)?;
                }
            }
        }
        let bottom = layout.top + layout.row * rows.len() as i32;
        self.draw_columns(sheet, layout, (start, bottom))
    }

    fn ink(&self, step: usize) -> Shade {
        let strong = if self.scale == SEQUENTIAL {
            step > 4
        } else {
            step == 0 || step + 1 == self.scale.len()
        };
        if strong { ON_STRONG } else { ON_WEAK }
    }

    /// Names above the columns, or numbers below some of them.
    fn draw_columns(
        &self,
        sheet: &Sheet<'_>,
        layout: &Layout,
        (start, bottom): (i32, i32),
    ) -> Result<(), PlotError> {
        let many = self.columns.len().max(1) as i32;
        let x = |column: usize| start + layout.cells * column as i32 / many;
        if self.named {
            for (column, name) in self.columns.iter().enumerate() {
                let at = ((x(column) + x(column + 1)) / 2, layout.top - 6);
                text(sheet, name, at, Write::new(SMALL, DIM).upwards())?;
            }
            return Ok(());
        }
        let fit = (f64::from(layout.cells) / (self.widest_column() + 24.0)).max(1.0) as usize;
        let step = self.columns.len().div_ceil(fit).max(1);
        for (column, name) in self.columns.iter().enumerate().step_by(step) {
            let center = (x(column) + x(column + 1)) / 2;
            let half = width_of(name, SMALL) as i32 / 2;
            let at = center.clamp(start, start + layout.cells - half);
            text(sheet, name, (at, bottom + 10), Write::new(SMALL, DIM).center())?;
        }
        let middle = start + layout.cells / 2;
        text(sheet, &self.axis, (middle, bottom + 26), Write::new(SMALL, DIM).center())
    }
}
