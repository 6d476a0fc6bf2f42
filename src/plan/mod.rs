//! The immutable configuration of a run. Floor 2.

mod engine;
mod load;
mod routes;

pub use crate::op::CallKind;
pub use engine::{EngineKind, threads_per_disk};
pub use load::{Data, Load, PathMode, Share, Timing};
pub use routes::{Pin, Routes};
