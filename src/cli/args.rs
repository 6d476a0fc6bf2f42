//! What can be typed, and nothing else: no file is looked at here.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::clean::CleanArgs;
use super::compare::CompareArgs;
use super::conditions::ConditionArgs;
use super::dbench::DbenchArgs;
use super::import::ImportArgs;
use super::matrix::{EXAMPLES, MORE, MatrixArgs};
use super::preset::PresetArgs;
use super::report::ReportArgs;
use super::request::parse_mix;
use crate::loadfile::parameters::parse_given;
use crate::units::parse_duration;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "jbodbench",
    version,
    about = "Replays dbench loadfiles on many mounted disks at once, and measures each by itself",
    after_help = "Start with:  jbodbench run            (12 seconds in the current directory)\n\
                  Many disks:  jbodbench run '/mnt/d[1-12]' -t 60s -o run.csv\n\
                  A bad disk:  jbodbench run --preset disks '/mnt/d[1-12]'\n\
                  Compare:     jbodbench matrix --vary as=root,nobody /mnt/d1"
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Put a load on disks, once, and print what each of them did
    Run(Box<RunArgs>),
    /// Run every combination of conditions in random blocks, and say what each of them does
    #[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{MORE}"))]
    Matrix(Box<MatrixArgs>),
    /// Say whether one result is slower than another, with an interval
    Compare(Box<CompareArgs>),
    /// Make one page of results, with plots: HTML that needs nothing else
    Report(ReportArgs),
    /// Parse a loadfile and say what one pass of it does
    Check(CheckArgs),
    /// Make a loadfile of a recording of system calls
    Import(ImportArgs),
    /// Say which permission check each component of a path takes, for a user
    Audit(AuditArgs),
    /// Set mount options back that a killed run has left changed
    #[command(
        after_help = "A run notes in /run/jbodbench what it changes about a mount, and undoes it \
                            at its end.\nOnly what no running process will undo is touched."
    )]
    Restore,
    /// Remove run directories that a killed run has left on disks
    Clean(CleanArgs),
    /// Take dbench's command line, run it here, and print what dbench would print
    Dbench(Box<DbenchArgs>),
}

const RUN_EXAMPLES: &str = "\
Examples:
  jbodbench run                                  the built-in load here: 2 s warm-up, 10 s measured
  jbodbench run '/mnt/d[1-12]' -c 4 -t 60s -o run.csv
  jbodbench run -l client.txt /mnt/a /mnt/b | mlr --icsv --opprint filter '$op==\"all\"'
  jbodbench run --passes 3 -l my.load /mnt/a     whole passes instead of a time
  jbodbench run --as nobody --mount-acl off /mnt/a
  jbodbench run -l pathwalk --as nobody --dir-acl 1 --depth 14 /mnt/a    what permission checks cost
  jbodbench run --preset disks '/mnt/d[1-12]'    which disk is slow: the disk itself, or its path?";

const RUN_MORE: &str = "\
Durations: 500ms, 10s, 2m, 1h30m; a bare number is seconds.
On a terminal the result is a table; piped, or with --out or --format, it is CSV or JSON.
Exit codes: 0 as expected, 1 operations or disks failed, or --preset disks names one (results are
written), 2 usage or loadfile,
3 cannot run here, 129/130/143 a signal, 141 the reader of stdout went away.";

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES, after_long_help = format!("{RUN_EXAMPLES}\n\n{RUN_MORE}"))]
pub(super) struct RunArgs {
    /// Directories, one per disk: paths, globs, ranges like '/mnt/d[1-12]' [default: .]
    #[arg(value_name = "DISK")]
    pub(super) disks: Vec<OsString>,

    #[command(flatten)]
    pub(super) preset: PresetArgs,
    #[command(flatten)]
    pub(super) load: LoadArgs,
    #[command(flatten)]
    pub(super) length: LengthArgs,
    #[command(flatten)]
    pub(super) result: ResultArgs,
    #[command(flatten)]
    pub(super) calls: CallArgs,
    #[command(flatten)]
    pub(super) conditions: ConditionArgs,
    #[command(flatten)]
    pub(super) safety: SafetyArgs,
}

/// What is replayed, by how many.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
pub(super) struct LoadArgs {
    /// Loadfiles of dbench 3, 4 or 5, plain or gz, or built-in loads by name, which `jbodbench check
    /// --list` shows; several are dealt to the clients of each disk
    /// [default: default, which has the mix of dbench's client.txt]
    #[arg(short, long, value_name = "FILE[,FILE]", value_delimiter = ',')]
    pub(super) loadfile: Vec<PathBuf>,
    /// Loadfiles that are dealt to the clients of each disk by weight, not in turn:
    /// a.load:3,b.load:1
    #[arg(long, value_name = "FILE:WEIGHT[,..]", value_delimiter = ',', value_parser = parse_mix,
          conflicts_with = "loadfile", hide_short_help = true)]
    pub(super) mix: Vec<(PathBuf, u32)>,
    /// Other values for what the loadfile's SET lines name; `check` lists them
    #[arg(long, value_name = "NAME=VALUE[,..]", value_delimiter = ',', hide_short_help = true,
          value_parser = parse_given)]
    pub(super) set: Vec<(String, String)>,
    /// Another loadfile for one of the disks; may be given several times
    #[arg(long, value_name = "DISK=FILE", hide_short_help = true)]
    pub(super) load_for: Vec<OsString>,
    /// Clients per disk, each with handles and a directory of its own
    #[arg(short, long, value_name = "N", default_value_t = 4,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) clients: u32,
    /// Operations per second and disk, from a schedule: latency counts from the intended start
    #[arg(long, value_name = "OPS", hide_short_help = true)]
    pub(super) rate: Option<f64>,
    /// What timestamps in the loadfile do: honour, ignore, or a speed such as 2
    #[arg(long, value_name = "HOW", default_value = "honour", hide_short_help = true)]
    pub(super) timestamps: String,
    /// What is written: bytes that do not compress and never repeat, or zeroes as dbench
    #[arg(long, value_enum, default_value_t = DataArg::Random, hide_short_help = true)]
    pub(super) data: DataArg,
    /// Where random choices start from; the same seed gives the same choices
    #[arg(long, value_name = "N", default_value_t = 1, hide_short_help = true)]
    pub(super) seed: u64,
    /// Skip and count lines of the loadfile that cannot be understood
    #[arg(long, hide_short_help = true)]
    pub(super) lenient: bool,
}

/// How long.
#[derive(Debug, Args)]
#[command(next_help_heading = "Length")]
pub(super) struct LengthArgs {
    /// Measured time [default: 10s, or none with --passes]
    #[arg(short, long, value_name = "DUR", value_parser = parse_duration)]
    pub(super) time: Option<Duration>,
    /// Whole passes of each client instead of a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) passes: Option<u64>,
    /// Time before the measured part [default: a fifth of it, at most 30s; none with --passes]
    #[arg(long, value_name = "DUR", value_parser = parse_duration)]
    pub(super) warmup: Option<Duration>,
    /// Wait this long for operations that are under way when time is up
    #[arg(long, value_name = "DUR", value_parser = parse_duration, default_value = "10s",
          hide_short_help = true)]
    pub(super) grace: Duration,
    /// Name operations that have been under way for so long while the run goes on; 0 for none
    #[arg(long, value_name = "DUR", value_parser = parse_duration, default_value = "30s",
          hide_short_help = true)]
    pub(super) hang_after: Duration,
}

/// What comes out.
#[derive(Debug, Args)]
#[command(next_help_heading = "Result")]
pub(super) struct ResultArgs {
    /// Write the result there; facts of the host go to FILE.host.json
    #[arg(short, long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Add to a CSV file that has the same columns
    #[arg(long, requires = "out", hide_short_help = true)]
    pub(super) append: bool,
    /// Form of the result [default: a table on a terminal, else csv]
    #[arg(long, value_enum)]
    pub(super) format: Option<FormatArg>,
    /// A name for the run, in every row
    #[arg(long, value_name = "TEXT", hide_short_help = true)]
    pub(super) label: Option<String>,
    /// A row for every disk this often; 0 for none
    #[arg(long, value_name = "DUR", value_parser = parse_duration, default_value = "1s")]
    pub(super) interval: Duration,
    /// Interval rows for every operation, not only for all together
    #[arg(long, hide_short_help = true)]
    pub(super) interval_ops: bool,
    /// A row for every pass of every client
    #[arg(long, hide_short_help = true)]
    pub(super) pass_rows: bool,
    /// All latencies in the column hist, so that files can be merged with right percentiles
    #[arg(long, hide_short_help = true)]
    pub(super) hist: bool,
    /// What is shown while it runs
    #[arg(long, value_enum, default_value_t = ProgressArg::Auto)]
    pub(super) progress: ProgressArg,
}

/// How operations reach the disk.
#[derive(Debug, Args)]
#[command(next_help_heading = "Calls")]
pub(super) struct CallArgs {
    /// How calls reach the kernel [default: hybrid; sync with matrix]
    #[arg(long, value_enum, default_value_t = EngineArg::Hybrid, hide_default_value = true,
          hide_short_help = true)]
    pub(super) engine: EngineArg,
    /// Threads that serve a disk's clients, with hybrid and uring [default: what keeps all CPUs
    /// busy, at least 2]
    #[arg(long, value_name = "N", hide_short_help = true,
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) threads_per_disk: Option<u32>,
    /// Which way calls go with hybrid: auto, inline, ring, or a file of lines such as 'stat inline'
    /// [default: auto]
    #[arg(long, value_name = "HOW|FILE", hide_short_help = true)]
    pub(super) route: Option<PathBuf>,
    /// Open files with O_SYNC
    #[arg(short = 's', long, hide_short_help = true)]
    pub(super) sync_open: bool,
    /// Sync the directory after a change in it
    #[arg(short = 'S', long, hide_short_help = true)]
    pub(super) sync_dir: bool,
    /// fsync after every write
    #[arg(short = 'F', long, hide_short_help = true)]
    pub(super) fsync: bool,
    /// Read and write an extended attribute of every file, as Samba does
    #[arg(short = 'x', long, hide_short_help = true)]
    pub(super) xattr: bool,
    /// Do not search a directory for another spelling of a name that is not there
    #[arg(long, hide_short_help = true)]
    pub(super) no_resolve: bool,
    /// Count reads and writes without making them
    #[arg(long, hide_short_help = true)]
    pub(super) fake_io: bool,
    /// Open files with O_DIRECT, past the page cache; offsets and sizes of the loadfile must be
    /// multiples of what the disk asks for, which is tried before the start
    #[arg(long, hide_short_help = true)]
    pub(super) direct: bool,
    /// How clients name their files: the whole path, from the working directory, from a descriptor
    #[arg(long, value_enum, default_value_t = PathArg::Absolute, hide_short_help = true)]
    pub(super) path: PathArg,
    /// Directories between the run directory and the clients' [default: 0; 4 where something is said
    /// of them: --dir-owner, --dir-mode, --dir-acl, --acl-cache cold]
    #[arg(long, value_name = "D", hide_short_help = true,
          value_parser = clap::value_parser!(u32).range(..=200))]
    pub(super) depth: Option<u32>,
    /// What the client threads of a disk share: cred, fd, fs [default: nothing]
    #[arg(
        long,
        value_name = "WHAT[,WHAT]",
        value_delimiter = ',',
        value_enum,
        hide_short_help = true
    )]
    pub(super) share: Vec<ShareArg>,
    /// Make every operation longer by this: to try out what finds a slow-down
    #[arg(long, value_name = "DUR", value_parser = parse_duration, default_value = "0", hide = true)]
    pub(super) spin: Duration,
    /// CPUs that clients may run on, such as 0,2-5
    #[arg(long, value_name = "LIST", hide_short_help = true)]
    pub(super) cpus: Option<String>,
}

/// What must not happen.
#[derive(Debug, Args)]
#[command(next_help_heading = "Safety")]
pub(super) struct SafetyArgs {
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Refuse a DISK that is not a mount point, and two on one file system
    #[arg(long)]
    pub(super) require_mounts: bool,
    /// Leave the run directories for a look at them
    #[arg(long)]
    pub(super) keep: bool,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  jbodbench check /usr/share/dbench/client.txt")]
pub(super) struct CheckArgs {
    /// List the built-in loads, and what each of them models
    #[arg(long, conflicts_with = "loadfile")]
    pub(super) list: bool,
    /// A file, or a built-in load by name
    #[arg(value_name = "LOADFILE")]
    pub(super) loadfile: Option<PathBuf>,
    /// Other values for what its SET lines name
    #[arg(long, value_name = "NAME=VALUE[,..]", value_delimiter = ',', value_parser = parse_given)]
    pub(super) set: Vec<(String, String)>,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub(super) format: CheckFormat,
    /// Skip and count lines that cannot be understood
    #[arg(long)]
    pub(super) lenient: bool,
}

const AUDIT_EXAMPLES: &str = "\
Examples:
  jbodbench audit /mnt/d1                        for whoever asks
  jbodbench audit --as nobody /mnt/d1/a/b        for another user, asked of the kernel, too, if root
  jbodbench audit --as 4000:50 --want rw /mnt/d1/file
  jbodbench audit --as alice --format csv /mnt/d1 | mlr --icsv --opprint cut -f path,step,granted";

const AUDIT_MORE: &str = "\
The steps, in the kernel's order: shortcut (everybody may, no ACL), owner, acl, group, other,
and capability where those say no. A user's further groups are those of /etc/group. Looking at
ACLs fills the kernel's cache of them, which a first walk would find cold. More is in
docs/permissions.md.
Exit codes: 0 the user reaches the path, 1 not (or the kernel says otherwise), 2 usage, 3 the
path could not be seen to its end.";

/// Arguments of `audit`.
#[derive(Debug, Args)]
#[command(after_help = AUDIT_EXAMPLES, after_long_help = format!("{AUDIT_EXAMPLES}\n\n{AUDIT_MORE}"))]
pub(super) struct AuditArgs {
    /// The path; links in it are followed and shown
    #[arg(value_name = "PATH")]
    pub(super) path: PathBuf,
    /// Whose access [default: your own, with the groups and capabilities of this process]
    #[arg(long = "as", value_name = "USER[:GROUP]|UID[:GID]")]
    pub(super) user: Option<String>,
    /// What is asked of the last component [default: x of a directory, r of a file]
    #[arg(long, value_name = "RWX", value_parser = super::audit::parse_want)]
    pub(super) want: Option<u8>,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub(super) format: CheckFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DataArg {
    Random,
    Zero,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FormatArg {
    Csv,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CheckFormat {
    Text,
    Csv,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ProgressArg {
    /// Bars on a terminal, else nothing
    Auto,
    /// A line every 10 seconds
    Plain,
    /// Nothing
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum EngineArg {
    /// A thread per client, plain system calls
    Sync,
    /// Few threads, calls made at once or by io_uring, whichever holds up nobody
    Hybrid,
    /// Few threads, all calls by io_uring
    Uring,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PathArg {
    Absolute,
    Cwd,
    Dirfd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ShareArg {
    Cred,
    Fd,
    Fs,
}
