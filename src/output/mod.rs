//! What comes out: result rows as CSV or JSON, the text at the end, the bars while it runs.
//! Floor 6; gets plain data, measures nothing, and may import only lower floors.
//!
//! A [`Sink`] is the one owner of the data stream. Everything for people goes to stderr, by
//! [`Progress`] while the load runs and as text from [`end_text`] after it.

mod audit;
mod bars;
mod columns;
mod comparison;
mod comparison_text;
pub mod dbench;
mod encode;
mod existing;
mod fill;
mod frame;
mod model;
mod phases;
mod row;
mod sink;
mod table;
mod text;

pub use audit::{AUDIT_COLUMNS, audit_rows, audit_text};
pub use bars::{Mode, Progress};
pub use columns::{Column, Kind, Role, SCHEMA};
pub use comparison::{
    COMPARE_COLUMNS, CompareRow, CompareSide, Comparison, Question, compare_rows,
};
pub use comparison_text::compare_text;
pub use fill::{encode_histogram, fill_hist, fill_op};
pub use frame::{Frame, FrameDisk, FrameTotal, Goal, Phase};
pub use model::{DiskLine, PhaseLine, Report, Status};
pub use row::{Cell, Row};
pub use sink::{Format, Sink, SinkError};
pub use table::{disk_table, end_text, op_table, verdict};
pub use text::{lined_up, shorten};
