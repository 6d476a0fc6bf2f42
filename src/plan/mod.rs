//! The immutable configuration of a run. Floor 2.

mod load;

pub use load::{Data, Load, PathMode, Share, Timing};
