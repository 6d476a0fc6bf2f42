//! What a profiler saw: stacks with their weights, and how two recordings differ. Floor 1, pure.
//!
//! [`ScriptReader`] reads what `perf script` prints into a [`Recording`]; [`most_changed`] ranks
//! kernel functions by what they take of each operation, and [`difference`] writes the stacks of two
//! recordings side by side, in the form that flame graph tools take.

mod folded;
mod ranking;
mod script;

pub use folded::difference;
pub use ranking::{Change, Part, Profiled, most_changed};
pub use script::{Own, Recording, ScriptReader};
