//! `jbodbench matrix`: every combination of conditions, in blocks of random order, and what each
//! condition does to the load. Floor 6.
//!
//! [`plan`] says what is run, [`order`] in which order, [`job`] runs it, [`figures`] keeps what was
//! measured, [`effects`] makes of it what can be said, [`rows`] and [`text`] say it. [`resume`]
//! finds out where an earlier try was killed, [`boots`] what is of which kernel; [`profile`] runs the
//! cells under perf. docs/matrix.md is the page for readers.

mod boots;
mod budget;
mod effects;
mod figures;
mod job;
mod metric;
mod order;
mod phases;
mod plan;
mod profile;
mod resume;
mod rows;
mod text;

pub use boots::Kernels;
pub use budget::{Fit, fit};
pub use job::run_worker;
pub use metric::Metric;
pub use plan::{Cell, Factor, Matrix, levels};
