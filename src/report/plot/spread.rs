//! Percentiles, from the median to the maximum, one line per operation or cell.

use super::PlotError;
use super::canvas::{
    Form, SIZE, SMALL, Sheet, WIDE, Write, draw, fill, line, mark, room, text, widest, width_of,
};
use super::shade::{DIM, GRID, INK, LINES, Shade};
use super::ticks;
use crate::output::shorten;

const LEGEND: i32 = 24;
const ROW: i32 = 17;
/// Between rows with different labels, where several belong together.
const SPACE: i32 = 6;

/// Each percentile has a mark of its own.
const MARKS: [(&str, Form); 5] = [
    ("p50", Form::Disc),
    ("p90", Form::Bar),
    ("p99", Form::Square),
    ("p99.9", Form::Box),
    ("max", Form::Cross),
];

/// A line of the plot.
#[derive(Clone, Debug)]
pub(in crate::report) struct SpreadRow {
    /// Empty where it is that of the row above.
    pub(in crate::report) label: String,
    /// Which of the groups it is of; the letter tells, too.
    pub(in crate::report) group: usize,
    /// p50, p90, p99, p99.9 and the maximum, as far as they are known.
    pub(in crate::report) values: [Option<f64>; 5],
}

/// A plot of percentiles.
#[derive(Clone, Debug)]
pub(in crate::report) struct SpreadPlot {
    /// Names of the groups, where there are several in a plot.
    pub(in crate::report) groups: Vec<String>,
    pub(in crate::report) rows: Vec<SpreadRow>,
    pub(in crate::report) axis: String,
    pub(in crate::report) format: fn(f64) -> String,
}

/// The letter of a group.
fn letter(group: usize) -> String {
    char::from(b'A' + (group % 26) as u8).to_string()
}

const fn shade(group: usize) -> Shade {
    LINES[group % LINES.len()]
}

impl SpreadPlot {
    /// Draws it; nothing where no value is known.
    pub(in crate::report) fn svg(&self) -> Result<Option<String>, PlotError> {
        let all = || self.rows.iter().flat_map(|row| row.values).flatten().filter(|v| *v > 0.0);
        let (low, high) = (all().fold(f64::MAX, f64::min), all().fold(0.0, f64::max));
        if high <= 0.0 {
            return Ok(None);
        }
        let (low, high) = (low / 1.25, high * 1.25);
        let groups = self.groups.len() as i32;
        let top = LEGEND + if groups > 1 { groups * 15 + 4 } else { 0 };
        let labelled = self.rows.iter().filter(|row| !row.label.is_empty()).count() as i32;
        let space = if groups > 1 { SPACE } else { 0 };
        let bottom = top + ROW * self.rows.len() as i32 + space * labelled + 4;
        let longest = widest(self.rows.iter().map(|row| row.label.as_str()), SIZE);
        let left = (longest as i32 + 14).min(320) + if groups > 1 { 16 } else { 0 };
        let right = WIDE as i32 - 14;
        let x = |value: f64| {
            let share = (value / low).ln() / (high / low).ln();
            left + (share * f64::from(right - left)).round() as i32
        };
        let drawn = draw((WIDE, (bottom + 42) as u32), |sheet| {
            self.draw_legend(sheet)?;
            for tick in ticks::logarithmic(low, high, 12) {
                line(sheet, vec![(x(tick), top), (x(tick), bottom)], GRID, 1)?;
                let how = Write::new(SIZE - 1.0, DIM).center();
                text(sheet, (self.format)(tick), (x(tick), bottom + 10), how)?;
            }
            let how = Write::new(SIZE, DIM).center();
            text(sheet, &self.axis, ((left + right) / 2, bottom + 28), how)?;
            let mut y = top + ROW / 2;
            for row in &self.rows {
                if !row.label.is_empty() {
                    y += space;
                }
                self.draw_row(sheet, row, left, y, &x)?;
                y += ROW;
            }
            Ok(())
        })?;
        Ok(Some(drawn))
    }

    fn draw_legend(&self, sheet: &Sheet<'_>) -> Result<(), PlotError> {
        let mut x = 8;
        for (name, form) in MARKS {
            mark(sheet, (x, 10), form, INK)?;
            text(sheet, name, (x + 10, 10), Write::new(SIZE - 1.0, DIM))?;
            x += 10 + width_of(name, SIZE) as i32 + 16;
        }
        if self.groups.len() < 2 {
            return Ok(());
        }
        for (index, name) in self.groups.iter().enumerate() {
            let y = LEGEND + 8 + 15 * index as i32;
            fill(sheet, (0, y - 1), (18, y + 2), shade(index))?;
            let label = format!("{}  {name}", letter(index));
            let cut = shorten(&label, room(WIDE as i32 - 30, SIZE));
            text(sheet, cut, (24, y), Write::new(SIZE - 1.0, INK))?;
        }
        Ok(())
    }

    fn draw_row(
        &self,
        sheet: &Sheet<'_>,
        row: &SpreadRow,
        left: i32,
        y: i32,
        x: &dyn Fn(f64) -> i32,
    ) -> Result<(), PlotError> {
        let shade = shade(row.group);
        let several = self.groups.len() > 1;
        let edge = left - if several { 24 } else { 10 };
        let cut = shorten(&row.label, room(edge, SIZE));
        text(sheet, cut, (edge, y), Write::new(SIZE, INK).right())?;
        if several {
            text(sheet, letter(row.group), (left - 10, y), Write::new(SMALL, INK).center())?;
        }
        let known: Vec<(f64, Form)> = row
            .values
            .iter()
            .zip(MARKS)
            .filter_map(|(value, (_, form))| Some(((*value).filter(|v| *v > 0.0)?, form)))
            .collect();
        let (Some(first), Some(last)) = (known.first(), known.last()) else { return Ok(()) };
        line(sheet, vec![(x(first.0), y), (x(last.0), y)], shade, 1)?;
        known.iter().try_for_each(|(value, form)| mark(sheet, (x(*value), y), *form, shade))
    }
}
