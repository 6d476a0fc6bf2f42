//! Drawing in pixels: texts, lines and marks.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::FontStyle;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::PlotError;
use super::shade::Shade;

/// Width of a plot on its own; half of a page's width is that of several.
pub(super) const WIDE: u32 = 940;
/// Width of one plot of several.
pub(super) const NARROW: u32 = 460;
/// Size of texts.
pub(super) const SIZE: f64 = 12.0;
/// Size of texts of which there are many.
pub(super) const SMALL: f64 = 10.0;

/// The sheet, in pixels.
pub(super) type Sheet<'s> = DrawingArea<SVGBackend<'s>, Shift>;

/// A point of it.
pub(super) type Pixel = (i32, i32);

/// Draws on a new sheet.
pub(super) fn draw(
    (width, height): (u32, u32),
    on: impl FnOnce(&Sheet<'_>) -> Result<(), PlotError>,
) -> Result<String, PlotError> {
    let mut out = String::new();
    {
        let sheet = SVGBackend::with_string(&mut out, (width, height)).into_drawing_area();
        on(&sheet)?;
        sheet.present()?;
    }
    Ok(out)
}

/// Most pixels that a text is wide: DejaVu Sans, which is among the wide ones, has 0.6 of its size
/// for a digit, and less for most letters.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.62
}

/// The most that any of these texts is wide.
pub(super) fn widest<'t>(texts: impl IntoIterator<Item = &'t str>, size: f64) -> f64 {
    texts.into_iter().map(|text| width_of(text, size)).fold(0.0, f64::max)
}

/// So many characters find room.
pub(super) fn room(pixels: i32, size: f64) -> usize {
    (f64::from(pixels.max(0)) / (size * 0.62)) as usize
}

/// How a text stands.
#[derive(Clone, Copy)]
pub(super) struct Write {
    pub(super) size: f64,
    pub(super) shade: Shade,
    pub(super) bold: bool,
    pub(super) at: HPos,
    pub(super) up: bool,
}

impl Write {
    pub(super) const fn new(size: f64, shade: Shade) -> Self {
        Self { size, shade, bold: false, at: HPos::Left, up: false }
    }

    pub(super) const fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    pub(super) const fn right(mut self) -> Self {
        self.at = HPos::Right;
        self
    }

    pub(super) const fn center(mut self) -> Self {
        self.at = HPos::Center;
        self
    }

    /// From below to above.
    pub(super) const fn upwards(mut self) -> Self {
        self.up = true;
        self
    }

    pub(super) fn style(self) -> TextStyle<'static> {
        // The crate divides sizes by 1.24.
        let mut font: FontDesc<'static> = ("sans-serif", self.size * 1.24).into();
        if self.bold {
            font = font.style(FontStyle::Bold);
        }
        if self.up {
            font = font.transform(FontTransform::Rotate270);
        }
        let color = self.shade.light.to_backend_color();
        TextStyle { font, color, pos: Pos::new(self.at, VPos::Center) }
    }
}

/// Writes a text; its middle is at the height of the point.
pub(super) fn text(
    sheet: &Sheet<'_>,
    what: impl Into<String>,
    at: Pixel,
    how: Write,
) -> Result<(), PlotError> {
    Ok(sheet.draw(&Text::new(what.into(), at, how.style()))?)
}

/// Draws a line.
pub(super) fn line(
    sheet: &Sheet<'_>,
    points: Vec<Pixel>,
    shade: Shade,
    width: u32,
) -> Result<(), PlotError> {
    Ok(sheet.draw(&PathElement::new(points, shade.light.stroke_width(width)))?)
}

/// Fills a rectangle.
pub(super) fn fill(
    sheet: &Sheet<'_>,
    from: Pixel,
    to: Pixel,
    shade: Shade,
) -> Result<(), PlotError> {
    Ok(sheet.draw(&Rectangle::new([from, to], shade.light.filled()))?)
}

/// A mark that is told from others by its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Disc,
    Ring,
    Square,
    Box,
    Bar,
    Cross,
    PointLeft,
    PointRight,
}

/// Draws a mark.
pub(super) fn mark(
    sheet: &Sheet<'_>,
    (x, y): Pixel,
    form: Form,
    shade: Shade,
) -> Result<(), PlotError> {
    let full = shade.light.filled();
    let open = shade.light.stroke_width(2);
    let corners = [(x - 4, y - 4), (x + 4, y + 4)];
    match form {
        Form::Disc => sheet.draw(&Circle::new((x, y), 4, full))?,
        Form::Ring => sheet.draw(&Circle::new((x, y), 4, open))?,
        Form::Square => sheet.draw(&Rectangle::new(corners, full))?,
        Form::Box => sheet.draw(&Rectangle::new(corners, shade.light.stroke_width(1)))?,
        Form::Bar => line(sheet, vec![(x, y - 5), (x, y + 5)], shade, 2)?,
        Form::Cross => {
            line(sheet, vec![(x - 4, y - 4), (x + 4, y + 4)], shade, 2)?;
            line(sheet, vec![(x - 4, y + 4), (x + 4, y - 4)], shade, 2)?;
        }
        Form::PointLeft => {
            sheet.draw(&Polygon::new(vec![(x, y), (x + 7, y - 4), (x + 7, y + 4)], full))?;
        }
        Form::PointRight => {
            sheet.draw(&Polygon::new(vec![(x, y), (x - 7, y - 4), (x - 7, y + 4)], full))?;
        }
    }
    Ok(())
}
