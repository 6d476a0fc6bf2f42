//! Clients: each replays a [`Program`](crate::loadfile::Program) over an engine. Floor 4.
//!
//! A client is a closed loop with at most one call in flight, its own handles, registers, random
//! numbers and sums. One idea a file: [`values`] evaluates operands, [`render`] makes paths,
//! [`pools`] knows which names exist (by [`ring`]), [`handles`] keeps descriptors, [`ops`] are the operations, [`posix`] those that are one call,
//! [`judge`] compares outcome and expectation, [`pace`] says when an operation starts, [`drive`] is
//! the loop, [`doing`] tells others where it is, [`prepare`] what comes before it, [`control`] what in it is no operation,
//! [`phase`] the way from phase to phase by [`barrier`], [`groups`] which block comes next,
//! [`some_paths()`] names paths without running it.

mod barrier;
mod between;
mod control;
mod data;
mod doing;
mod drive;
mod groups;
mod handles;
mod judge;
mod ops;
mod pace;
mod phase;
mod pools;
mod posix;
mod prepare;
mod render;
mod report;
mod resolve;
mod ring;
mod some_paths;
mod values;

#[cfg(test)]
mod tests;

pub use barrier::{Barrier, Out, Share};
pub use doing::{Doing, Underway};
pub use drive::{Client, ClientSetup};
pub use report::{ClientReport, Ended, ErrorLog, ErrorSample, PassTimes, Tallies, Waiting};
pub use values::SplitMix64;

pub use render::max_path_len;
pub use some_paths::some_paths;
