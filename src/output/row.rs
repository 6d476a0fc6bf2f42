//! One row: a cell for each column, and how a cell is written.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::columns::{Column, Kind, SCHEMA};

/// The content of a cell.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Cell {
    /// Unknown: nothing in CSV, no member in JSON.
    #[default]
    Empty,
    /// Text.
    Text(String),
    /// A whole number.
    Integer(u64),
    /// A number; infinities and NaN count as unknown.
    Float(f64),
    /// Yes or no.
    Bool(bool),
}

macro_rules! cell_from {
    ($($type:ty => |$value:ident| $cell:expr;)+) => {
        $(impl From<$type> for Cell {
            fn from($value: $type) -> Self {
                $cell
            }
        })+
    };
}

cell_from! {
    String => |v| if v.is_empty() { Self::Empty } else { Self::Text(v) };
    &String => |v| Self::from(v.clone());
    &str => |v| Self::from(v.to_owned());
    Cow<'_, str> => |v| Self::from(v.into_owned());
    u64 => |v| Self::Integer(v);
    u32 => |v| Self::Integer(v.into());
    u16 => |v| Self::Integer(v.into());
    usize => |v| Self::Integer(v as u64);
    f64 => |v| if v.is_finite() { Self::Float(v) } else { Self::Empty };
    bool => |v| Self::Bool(v);
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

impl Cell {
    /// As it stands in a CSV file, before quoting.
    #[must_use]
    pub fn csv(&self) -> Cow<'_, str> {
        match self {
            Self::Empty => Cow::Borrowed(""),
            Self::Text(text) => escape(text),
            Self::Integer(number) => Cow::Owned(number.to_string()),
            Self::Float(number) => Cow::Owned(trim(*number).to_string()),
            Self::Bool(yes) => Cow::Borrowed(if *yes { "1" } else { "0" }),
        }
    }

    /// As a JSON value; `None` when unknown.
    #[must_use]
    pub fn json(&self) -> Option<serde_json::Value> {
        Some(match self {
            Self::Empty => return None,
            Self::Text(text) => text.as_str().into(),
            Self::Integer(number) => (*number).into(),
            Self::Float(number) => trim(*number).into(),
            Self::Bool(yes) => (*yes).into(),
        })
    }

    fn fits(&self, kind: Kind) -> bool {
        matches!(
            (self, kind),
            (Self::Empty, _)
                | (Self::Text(_), Kind::Text)
                | (Self::Integer(_), Kind::Integer)
                | (Self::Float(_), Kind::Float)
                | (Self::Bool(_), Kind::Bool)
        )
    }
}

/// Rounds to six decimals, or to six significant digits below 1: a microsecond in seconds, a
/// picosecond in microseconds. What is left prints as the shortest text that reads back the same.
fn trim(number: f64) -> f64 {
    let text = if number.abs() >= 1.0 { format!("{number:.6}") } else { format!("{number:.5e}") };
    let rounded: f64 = text.parse().unwrap_or(number);
    if rounded == 0.0 { 0.0 } else { rounded } // no "-0"
}

/// Text without control characters: `\n`, `\t`, `\r`, `\\`, otherwise `\u{7f}`. A row is one line
/// of the file, whatever is in a path. U+0085, U+2028 and U+2029 are line ends to some readers.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    let special = |c: char| c.is_control() || matches!(c, '\\' | '\u{2028}' | '\u{2029}');
    if !text.contains(special) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if special(c) => drop(write!(out, "\\u{{{:x}}}", c as u32)),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A row of the result file.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    cells: Vec<Cell>,
}

impl Default for Row {
    fn default() -> Self {
        Self::new()
    }
}

impl Row {
    /// A row of which only `schema` and `tool_version` are known.
    #[must_use]
    pub fn new() -> Self {
        let mut row = Self { cells: vec![Cell::Empty; Column::COUNT] };
        row.set(Column::Schema, SCHEMA).set(Column::ToolVersion, env!("CARGO_PKG_VERSION"));
        row
    }

    /// Fills a cell; `None`, NaN, infinity and empty text make it unknown. A whole number in a
    /// column of floats becomes one.
    ///
    /// # Panics
    /// In debug builds, when the value is not of the column's kind.
    pub fn set(&mut self, column: Column, value: impl Into<Cell>) -> &mut Self {
        let mut cell = value.into();
        if let (Cell::Integer(number), Kind::Float) = (&cell, column.kind()) {
            cell = Cell::Float(*number as f64);
        }
        debug_assert!(cell.fits(column.kind()), "{} cannot hold {cell:?}", column.name());
        self.cells[column.index()] = cell;
        self
    }

    /// The cell of a column.
    #[must_use]
    pub fn get(&self, column: Column) -> &Cell {
        &self.cells[column.index()]
    }

    /// All cells with their columns, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (Column, &Cell)> {
        Column::ALL.iter().copied().zip(&self.cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_plain_and_short() {
        for (number, text) in [
            (0.1 + 0.2, "0.3"),
            (1234567.0, "1234567"),
            (123456.789_012_3, "123456.789012"),
            (1e15, "1000000000000000"),
            (1e21, "1000000000000000000000"),
            (0.000_001_234_567_8, "0.00000123457"),
            (-0.0, "0"),
            (-2.5, "-2.5"),
            (1.0 / 3.0, "0.333333"),
            (1.234, "1.234"),
        ] {
            assert_eq!(Cell::from(number).csv(), text);
        }
        assert_eq!(Cell::from(u64::MAX).csv(), "18446744073709551615");
        assert_eq!([true, false].map(|b| Cell::from(b).csv().into_owned()), ["1", "0"]);
    }

    #[test]
    fn what_is_not_known_is_empty() {
        for cell in [f64::NAN.into(), f64::INFINITY.into(), "".into(), Cell::from(None::<u64>)] {
            assert_eq!((cell.csv().as_ref(), cell.json()), ("", None), "{cell:?}");
        }
        assert_eq!(Cell::from(0u64).csv(), "0");
    }

    #[test]
    fn a_text_stays_on_its_line() {
        let cell = Cell::from("a\nb\tc\\d\re\u{7f}\u{2028}\u{e9},\"x\"");
        assert_eq!(cell.csv(), "a\\nb\\tc\\\\d\\re\\u{7f}\\u{2028}\u{e9},\"x\"");
        assert_eq!(Cell::from("/mnt/d 1").csv(), "/mnt/d 1");
    }

    #[test]
    fn cells_go_to_their_columns() {
        let mut row = Row::new();
        row.set(Column::Ops, 7u64).set(Column::WindowS, 10u64).set(Column::Disk, "/mnt/a");
        row.set(Column::Uid, Some(0u32)).set(Column::Serial, None::<String>);
        let filled: Vec<_> = row
            .iter()
            .filter(|(_, cell)| **cell != Cell::Empty)
            .skip(2)
            .map(|(column, cell)| (column.name(), cell.csv().into_owned()))
            .collect();
        let expected = [("disk", "/mnt/a"), ("uid", "0"), ("window_s", "10"), ("ops", "7")];
        assert_eq!(filled, expected.map(|(name, text)| (name, text.to_owned())));
        assert_eq!(*row.get(Column::WindowS), Cell::Float(10.0));
        assert_eq!(row.get(Column::Schema).csv(), "1");
        assert_eq!(row.get(Column::ToolVersion).csv(), env!("CARGO_PKG_VERSION"));
    }

    #[test]
    #[should_panic(expected = "ops cannot hold Text")]
    #[cfg(debug_assertions)]
    fn a_wrong_kind_is_found_by_the_tests() {
        Row::new().set(Column::Ops, "many");
    }
}
