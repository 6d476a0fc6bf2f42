//! jbodbench: replays dbench loadfiles on many mounted disks at once.
//!
//! Modules stand on floors and import only from lower ones; `tests/layers.rs` keeps it so:
//!
//! ```text
//! 7 cli      typed arguments, exit codes, the one place that prints errors
//! 6 front, run, matrix, compare, report, results, output   glue, readers and writers
//! 5 pool     threads per disk, barrier, stop
//! 4 client   runs a Program over an Engine
//! 3 engine   executes Calls: sync, uring, hybrid, null, scripted
//! 2 plan, host, audit              the immutable run configuration; this host's mounts and limits; permissions
//! 1 loadfile, import, metrics, profile, stats    pure
//! 0 op, acl, fault, errno, units
//! ```

pub mod acl;
pub mod audit;
pub mod cli;
pub mod client;
pub mod compare;
pub mod engine;
pub mod errno;
pub mod fault;
pub mod front;
pub mod host;
pub mod import;
pub mod loadfile;
pub mod matrix;
pub mod metrics;
pub mod op;
pub mod output;
pub mod plan;
pub mod pool;
pub mod profile;
pub mod report;
pub mod results;
pub mod run;
pub mod stats;
pub mod units;
