//! What dbench prints, line by line: progress, the table of operations, the line with the throughput.
//!
//! Scripts read these lines with patterns of their own, so their shape is kept to the byte.
//! docs/dbench.md says which scripts, and what the figures in the lines are here. Pure functions from
//! data to text.

mod general;
mod lines;
mod names;
mod table;

pub use general::general;
pub use lines::{Tick, TickPhase, Total, completed, prepared, running_for};
pub use table::{DbenchOp, client_head};

/// Which dbench's lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DbenchFormat {
    /// The table of dbench 5 and of what mmtests builds: operations by their words in the loadfile, in
    /// another order; else that of dbench 4.
    pub long_names: bool,
    /// `--machine-readable`.
    pub machine: bool,
}

#[cfg(test)]
mod tests;
