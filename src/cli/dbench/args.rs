//! dbench's options. Those that have nothing to say here are refused by name.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args};

use super::super::args::PathArg;

const EXAMPLES: &str = "\
Examples:
  jbodbench dbench -t 60 -D /mnt/d1 4            4 clients for a minute, after 12 s of warm-up
  jbodbench dbench -S -t 30 2 -D /mnt/d1         options may stand anywhere
  jbodbench dbench 8 -c client.txt | tee out.txt ; grep ^Throughput out.txt
  ln -s $(command -v jbodbench) ~/bin/dbench     for scripts that call dbench";

const MORE: &str = "\
It works in a directory of its own below DIR, .jbodbench-<run id>-0, and removes it at the end; dbench
works in DIR/clients. What dbench prints goes to stdout in dbench's form, everything else to stderr.
Its figures are not comparable with those of dbench itself: measure your baseline again. More is in
docs/dbench.md.
Exit codes: 0 as expected, 1 operations failed (dbench: 0, or no result), 2 usage or loadfile,
3 cannot run here, 129/130/143 a signal, 141 the reader of stdout went away.";

/// What `--version` says, of which dbench the command line is.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (command line of dbench 4.00)");

/// Arguments of `dbench`.
#[derive(Debug, Args)]
#[command(args_override_self = true, version = VERSION, after_help = EXAMPLES,
          after_long_help = format!("{EXAMPLES}\n\n{MORE}"))]
pub(in crate::cli) struct DbenchArgs {
    /// Client processes; here a thread for each client
    #[arg(value_name = "NPROCS", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) processes: u32,

    /// Measured time in seconds; a warm-up of a fifth of it comes on top
    #[arg(short, long = "timelimit", value_name = "SECONDS", default_value_t = 600,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    pub(super) timelimit: u32,
    /// The loadfile, or a built-in load by name; several, with commas, are dealt to the clients
    /// [default: client.txt where dbench has it, or here]
    #[arg(short = 'c', long, value_name = "FILE")]
    pub(super) loadfile: Option<OsString>,
    /// The directory to work in
    #[arg(short = 'D', long, value_name = "DIR", default_value = ".")]
    pub(super) directory: OsString,
    /// Megabytes (10^6) per second and client; here as operations per second, by the loadfile's mean
    #[arg(short = 'R', long, value_name = "MB/S")]
    pub(super) target_rate: Option<f64>,
    /// Open files with O_SYNC
    #[arg(short = 's', long)]
    pub(super) sync: bool,
    /// Sync the directory after a change in it
    #[arg(short = 'S', long)]
    pub(super) sync_dir: bool,
    /// fsync after every write
    #[arg(short = 'F', long)]
    pub(super) fsync: bool,
    /// Read and write a DOS attribute as Samba does
    #[arg(short = 'x', long)]
    pub(super) xattr: bool,
    /// Do not look for another spelling of a name that is not there
    #[arg(long)]
    pub(super) no_resolve: bool,
    /// Clients of each process
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) clients_per_process: u32,
    /// Count reads and writes without making them
    #[arg(long)]
    pub(super) fake_io: bool,
    /// Leave the run directory
    #[arg(long)]
    pub(super) skip_cleanup: bool,
    /// A table for each client, too
    #[arg(long)]
    pub(super) per_client_results: bool,
    /// Time before the measured part, in seconds [default: a fifth of the measured time]
    #[arg(long, value_name = "SECONDS")]
    pub(super) warmup: Option<i64>,
    /// One pass of each client, without a warm-up
    #[arg(long)]
    pub(super) run_once: bool,
    /// The lines of dbench 5 for programs
    #[arg(long)]
    pub(super) machine_readable: bool,
    /// A line for each pass of each client, as of the dbench that mmtests builds
    #[arg(long)]
    pub(super) show_execute_time: bool,
    /// Ours: skip lines of the loadfile that cannot be understood, as dbench does
    #[arg(long)]
    pub(super) lenient: bool,
    /// Ours: how clients name their files
    #[arg(long, value_enum, default_value_t = PathArg::Absolute, hide_short_help = true)]
    pub(super) path: PathArg,

    /// Only fileio is there
    #[arg(short = 'B', long, value_name = "NAME", hide = true)]
    pub(super) backend: Option<String>,
    #[command(flatten)]
    pub(super) without_effect: WithoutEffect,
    #[command(flatten)]
    pub(super) others: Others,
    /// dbench's other ways to ask for help
    #[arg(short = '?', long = "usage", action = ArgAction::Help, hide = true)]
    usage: Option<bool>,
    /// dbench 3
    #[arg(short = 'v', action = ArgAction::Version, hide = true)]
    version_of_3: Option<bool>,
}

/// What dbench itself takes and does nothing with.
#[derive(Debug, Args)]
pub(super) struct WithoutEffect {
    /// Of tbench
    #[arg(short = 'T', long, value_name = "OPTIONS", hide = true, allow_hyphen_values = true)]
    pub(super) tcp_options: Option<OsString>,
    /// Of backends that are not there
    #[arg(long, value_name = "N", hide = true)]
    pub(super) trunc_io: Option<OsString>,
}

/// Options of dbench for which something else is there.
#[derive(Debug, Args)]
pub(super) struct Others {
    #[arg(long, hide = true)]
    pub(super) one_byte_write_fix: bool,
    #[arg(long, hide = true)]
    pub(super) stat_check: bool,
    #[arg(long, value_name = "NAME", hide = true)]
    pub(super) server: Option<OsString>,
    #[arg(long, value_name = "URL", hide = true)]
    pub(super) nfs: Option<OsString>,
    #[arg(long, value_name = "PATH", hide = true)]
    pub(super) export: Option<OsString>,
    #[arg(long, value_name = "NAME", hide = true)]
    pub(super) protocol: Option<OsString>,
    #[arg(long, hide = true)]
    pub(super) enable_nlm: bool,
    #[arg(long, value_name = "DEVICE", hide = true)]
    pub(super) scsi: Option<PathBuf>,
    #[arg(long, hide = true)]
    pub(super) allow_scsi_writes: bool,
    #[arg(long, value_name = "URL", hide = true)]
    pub(super) iscsi: Option<OsString>,
    #[arg(long, value_name = "NAME", hide = true)]
    pub(super) iscsi_initiatorname: Option<OsString>,
    #[arg(long, value_name = "DEVICE", hide = true)]
    pub(super) block: Option<PathBuf>,
    #[arg(long, value_name = "SHARE", hide = true)]
    pub(super) smb_share: Option<OsString>,
    #[arg(long, value_name = "USER", hide = true)]
    pub(super) smb_user: Option<OsString>,
}
