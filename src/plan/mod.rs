//! The immutable configuration of a run. Floor 2.

mod engine;
mod load;

pub use engine::{EngineKind, threads_per_disk};
pub use load::{Data, Load, PathMode, Share, Timing};
