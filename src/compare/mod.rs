//! Two results, or sets of them: what differs, by how much, and whether that can be said.
//! Floor 6; reads result files and makes rows, prints nothing.
//!
//! The order: read the runs of all files, put them into sides, refuse what is not of the same
//! thing, pair what belongs together, judge. docs/measuring.md has the method and its reasons.

mod conditions;
mod disks;
mod draft;
mod effects;
mod error;
mod factor;
mod file;
mod hosts;
mod limits;
mod metric;
mod model;
mod notes;
mod pair;
mod series;
mod sides;
mod whole;

pub use error::CompareError;
pub use limits::Limit;
pub use metric::Metric;
pub use whole::{Request, compare, has_verdict};
