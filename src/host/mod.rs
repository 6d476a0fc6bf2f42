//! This host: mounts, devices, limits, facts and run directories. Floor 2.
//!
//! It reads what the kernel says and never guesses: what cannot be known is `None`. It knows neither
//! the command line nor the load; only the modules of floors 0 and 1 may be imported here.

pub mod btrfs;
pub mod cgroup;
pub mod cost;
//TODO pub mod cpu;
pub mod device;
//TODO pub mod disks;
pub mod diskstats;
pub mod errno;
pub mod error;
//TODO pub mod facts;
//TODO pub mod glob;
//TODO pub mod kernel;
//TODO pub mod kmsg;
pub mod limits;
pub mod marker;
pub mod mounts;
//TODO pub mod parents;
//TODO pub mod preflight;
pub mod procfs;
pub mod remove;
//TODO pub mod sample;
//TODO pub mod space;
pub mod sys;
pub mod tree;

pub use error::HostError;
