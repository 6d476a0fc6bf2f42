//! Counters and histograms: written by pool threads without locks, read by anyone. Floor 1, pure.
//!
//! A disk has a few [`Shard`]s. A shard belongs to one pool thread, or, with more threads than
//! shards, to a group of them; only then are its counters updated with read-modify-write
//! instructions.

mod counts;
mod histogram;
mod phase;
mod shard;
mod spread;
mod summary;

pub use counts::Counts;
pub use histogram::{Histogram, LiveHistogram};
pub use phase::{PhaseOp, PhaseOps, PhaseShard, PhaseTotals, Rates, Round};
pub use shard::{OpCell, Sample, Shard, ops_so_far};
pub use spread::Spread;
pub use summary::{DiskTotals, OpSummary, Tally};
