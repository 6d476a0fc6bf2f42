//! `jbodbench matrix`: its arguments, and the plan that they make.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgMatches, Args, CommandFactory, ValueEnum};

use super::args::{CallArgs, Cli, FormatArg, LengthArgs, LoadArgs, ResultArgs, SafetyArgs};
use super::conditions::ConditionArgs;
use super::draft::Draft;
use super::{matrix_preset, vary};
use crate::front;
use crate::matrix::{Kernels, Matrix, Metric, fit, levels, run_worker};
use crate::run::{Hooks, Idle, RunError};
use crate::stats::USUAL_BLOCKS;
use crate::units::{format_duration, parse_duration};

pub(super) const EXAMPLES: &str = "\
Examples:
  jbodbench matrix --vary as=root,nobody --vary mount-acl=on,off --dir-acl 1 /mnt/a -o acl.csv
  jbodbench matrix --preset permission '/mnt/d[1-12]' -o permission.csv
  jbodbench matrix --preset scaling --budget 20m /mnt/a -o scaling.csv
  jbodbench matrix --preset tiobench /mnt/a -o tiobench.csv
  jbodbench matrix --vary engine=sync,hybrid -t 5s --blocks 6 /mnt/a
  jbodbench matrix --vary fs=ext4,xfs --prepare './mkfs.sh $JB_FS $JB_DISK' /mnt/a -o fs.csv
  jbodbench matrix --vary dir-acl=0,16 --as nobody --profile /mnt/a -o acl.csv
  jbodbench matrix --vary kernel=6.12,6.18 --budget 20m /mnt/a -o k.csv   one boot of three each
  jbodbench matrix ... --resume acl.csv          go on after an abort, with the same options";

pub(super) const MORE: &str = "\
Every cell (combination of values) runs once in each block, in random order, on fresh directories.
The first value of each KEY is what the others are compared with. Any option of `run` that changes
the work can be a KEY; values that hold commas are separated by `;`; yes and no stand for options
without a value, and `default` for an option that is not given. kernel=V1,V2 stands for the kernel
that is booted (uname -r, or its beginning): one command a boot, with --resume. Another KEY needs a
command, which gets it as JB_KEY. Commands run by sh for each disk, one after the other, with JB_DISK, JB_NUMBER
(from 1), JB_DIR (the run directory, while it exists), JB_CELL and JB_BLOCK.
The engine is sync, a thread per client, unless another one is chosen. docs/matrix.md has more.
Exit codes are those of `run`.";

/// Arguments of `matrix`.
#[derive(Debug, Args)]
pub(super) struct MatrixArgs {
    /// Directories, one per disk: paths, globs, ranges like '/mnt/d[1-12]' [default: .]
    #[arg(value_name = "DISK")]
    pub(super) disks: Vec<OsString>,

    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    commands: CommandArgs,
    #[command(flatten)]
    load: LoadArgs,
    #[command(flatten)]
    length: LengthArgs,
    #[command(flatten)]
    pub(super) result: ResultArgs,
    #[command(flatten)]
    calls: CallArgs,
    #[command(flatten)]
    conditions: ConditionArgs,
    #[command(flatten)]
    pub(super) safety: SafetyArgs,
}

/// What is varied, how often.
#[derive(Debug, Args)]
#[command(next_help_heading = "Plan")]
struct PlanArgs {
    /// An option of `run` and its values, the first being what the others are compared with; may
    /// be given several times
    #[arg(long, value_name = "KEY=V1,V2[,..]")]
    vary: Vec<String>,
    /// A ready plan
    #[arg(long, value_name = "NAME", value_enum)]
    preset: Option<MatrixPreset>,
    /// How often every cell is run [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    blocks: Option<u64>,
    /// Choose blocks (6 or more) and run time so that all of it takes about this long
    #[arg(long, value_name = "DUR", value_parser = parse_duration,
          conflicts_with_all = ["blocks", "time", "passes"])]
    budget: Option<Duration>,
    /// What is looked at first: a column of the result, and :OP for one operation, :phase=NAME for
    /// one phase of the load
    #[arg(long, value_name = "COLUMN[:OP][:phase=NAME]", default_value = "ops_per_s",
          value_parser = Metric::parse)]
    metric: Metric,
    /// Changes below this do not matter, in percent
    #[arg(long, value_name = "PERCENT", default_value = "3", value_parser = parse_margin)]
    margin: f64,
    /// Go on with the result file of a matrix that was aborted; the other options must be the same
    #[arg(long, value_name = "FILE", conflicts_with_all = ["out", "append"])]
    resume: Option<PathBuf>,
    /// With --vary kernel=..: how many boots of each kernel
    #[arg(long, value_name = "N", default_value = "3", hide_short_help = true,
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    boots: u64,
    /// After the blocks, run each cell once more under perf, and name the kernel functions that make
    /// cells differ
    #[arg(long)]
    profile: bool,
    /// A device is idle when it did nothing for this long; 0 for no wait between runs
    #[arg(long, value_name = "DUR", default_value = "2s", value_parser = parse_duration,
          hide_short_help = true)]
    idle: Duration,
    /// Wait no longer than this for idle devices
    #[arg(long, value_name = "DUR", default_value = "60s", value_parser = parse_duration,
          hide_short_help = true)]
    idle_limit: Duration,
}

/// Commands around each run, outside of what is measured.
#[derive(Debug, Args)]
#[command(next_help_heading = "Commands around each run")]
struct CommandArgs {
    /// Before anything of it is made, such as mkfs and mount
    #[arg(long, value_name = "CMD", hide_short_help = true)]
    prepare: Option<String>,
    /// When all clients are ready, before the warm-up
    #[arg(long, value_name = "CMD", hide_short_help = true)]
    at_start: Option<String>,
    /// When all clients have come back
    #[arg(long, value_name = "CMD", hide_short_help = true)]
    at_stop: Option<String>,
    /// When its directories are gone
    #[arg(long, value_name = "CMD", hide_short_help = true)]
    conclude: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum MatrixPreset {
    /// Do ACLs cost anything, and whom: as=root,nobody x dir-owner=third,caller x mount-acl=on,off
    /// (dir-acl=0,1 where the file system cannot switch ACLs off)
    Permission,
    /// The comparison of 2010: as=nobody,root x ACLs x the loads default and pathwalk, 4 clients
    /// per disk
    Vfs2010,
    /// More and more CPUs under the same load: speed-up and efficiency
    Scaling,
    /// The four phases of tiobench with 1, 2, 4 and 8 threads that share their descriptors: rate with
    /// standard deviation, and latency, of each
    Tiobench,
}

impl MatrixArgs {
    /// Whether an existing file is gone on with.
    pub(super) fn resumes(&self) -> bool {
        self.plan.resume.is_some()
    }
}

/// `3`, `2.5%`.
fn parse_margin(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if (0.01..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("expected percent, such as 3, from 0.01 to 100".into()),
    }
}

/// The front process: what is wrong with the arguments is found here, the rest by the worker.
pub(super) fn lead(matrix: &MatrixArgs, args: &[OsString]) -> u8 {
    if let Err(error) = plan(matrix, args) {
        super::say(&error);
        return 2;
    }
    front::run(args, &mut super::say).unwrap_or_else(|error| {
        super::say(&format!("cannot start the worker: {error}"));
        3
    })
}

/// The worker process.
pub(super) fn work(matrix: &MatrixArgs, args: &[OsString]) -> Result<(), RunError> {
    let plan = plan(matrix, args).map_err(|message| RunError { code: 2, message })?;
    run_worker(&plan)
}

/// The plan that arguments make. Every cell is what `run` would be asked to do with the same words.
fn plan(args: &MatrixArgs, words: &[OsString]) -> Result<Matrix, String> {
    let matches = Cli::command().try_get_matches_from(words).map_err(|error| error.to_string())?;
    let matches = matches.subcommand_matches("matrix").ok_or("no matrix")?;
    plan_of(args, matches)
}

fn plan_of(args: &MatrixArgs, matches: &ArgMatches) -> Result<Matrix, String> {
    let hooks = Hooks {
        prepare: args.commands.prepare.clone(),
        at_start: args.commands.at_start.clone(),
        at_stop: args.commands.at_stop.clone(),
        conclude: args.commands.conclude.clone(),
    };
    let mut draft = Draft::new(matches);
    let kernels = take_factors(&args.plan, &mut draft, hooks.is_empty())?;
    if let Some(preset) = args.plan.preset {
        matrix_preset::apply(preset, &mut draft, &args.disks);
    }
    let metric = matrix_preset::metric(args.plan.preset, &draft, matches)
        .unwrap_or_else(|| args.plan.metric.clone());
    draft.choose_engine()?;
    if let Some(resume) = &args.plan.resume {
        refuse_json(args.result.format)?;
        draft.set("out", resume.clone().into());
        draft.set_flag("append");
    }
    let idle = Idle { quiet: args.plan.idle, limit: args.plan.idle_limit };
    let blocks = choose_blocks(args, &mut draft, idle)?;
    let cells = draft.cells(&args.disks, kernels.is_some())?;
    if args.plan.profile && cells.len() < 2 {
        return Err("--profile: it says what differs between cells, and there is one".into());
    }
    let seed = args.load.seed;
    Ok(Matrix {
        blocks,
        seed,
        hooks,
        idle,
        metric,
        margin: args.plan.margin,
        kernels,
        profile: args.plan.profile,
        resume: args.plan.resume.clone(),
        remarks: draft.remarks,
        factors: draft.factors,
        cells,
    })
}

/// Takes what is varied into the draft, but for kernels, which no run can choose.
fn take_factors(
    plan: &PlanArgs,
    draft: &mut Draft,
    no_hooks: bool,
) -> Result<Option<Kernels>, String> {
    let mut kernels = None;
    for text in &plan.vary {
        let Some(values) = text.strip_prefix("kernel=") else {
            draft.add(vary::factor(text, no_hooks)?)?;
            continue;
        };
        let levels = levels(values, ',').map_err(|why| format!("--vary {text}: {why}"))?;
        if kernels.replace(Kernels { levels, boots: plan.boots }).is_some() {
            return Err("--vary kernel: it is given twice".into());
        }
    }
    Ok(kernels)
}

/// Blocks as asked for, or as many as the budget has time for; with a budget, the draft's lengths.
fn choose_blocks(args: &MatrixArgs, draft: &mut Draft, idle: Idle) -> Result<u64, String> {
    let mut blocks = args.plan.blocks.unwrap_or(USUAL_BLOCKS as u64);
    if let Some(budget) = args.plan.budget {
        let cells = draft.cell_count();
        let fitting = fit(budget, cells, idle, args.length.warmup).ok_or_else(|| {
            format!(
                "--budget {}: six blocks of {cells} cells do not fit, with 2 s for each run and \
                 what is around it; vary less, or give it more time",
                format_duration(budget)
            )
        })?;
        blocks = fitting.blocks;
        draft.set("time", format_duration(fitting.time).into());
        draft.set("warmup", format_duration(fitting.warmup).into());
        draft.remark(format!(
            "--budget {}: {blocks} blocks, {} measured in each run after {} of warm-up",
            format_duration(budget),
            format_duration(fitting.time),
            format_duration(fitting.warmup)
        ));
    }
    Ok(blocks)
}

fn refuse_json(format: Option<FormatArg>) -> Result<(), String> {
    match format {
        Some(FormatArg::Json) => Err("--resume: a JSON document cannot be gone on with".into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "matrix_tests.rs"]
mod tests;
