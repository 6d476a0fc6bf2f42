//! This host: mounts, devices, limits, facts and run directories. Floor 2.
//!
//! It reads what the kernel says and never guesses: what cannot be known is `None`. It knows neither
//! the command line nor the load; only the modules of floors 0 and 1 may be imported here.

pub use crate::acl;
pub mod acl_force;
pub mod acl_xattr;
mod attributes;
pub mod audit_status;
pub mod btrfs;
pub mod caller;
pub mod cgroup;
pub mod clock;
pub mod cold;
pub mod cost;
pub mod cpu;
pub mod credentials;
pub mod device;
pub mod direct;
pub mod disks;
pub mod diskstats;
pub mod errno;
pub mod error;
pub mod facts;
pub mod faults;
pub mod fill;
pub mod glob;
pub mod heartbeat;
mod identity;
pub mod kernel;
pub mod kmsg;
pub mod left;
pub mod limits;
pub mod marker;
pub mod mounts;
mod nest;
pub mod noacl;
pub mod owner;
pub mod parents;
pub mod place;
pub mod preflight;
pub mod process;
pub mod procfs;
pub mod remove;
pub mod sample;
pub mod security;
pub mod signals;
pub mod space;
pub mod squash;
pub mod sys;
pub mod tree;
pub mod users;
pub mod walk;

pub use error::HostError;
