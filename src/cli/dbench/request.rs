//! From dbench's options to a request.

use std::time::Duration;

use super::super::args::PathArg;
use super::args::DbenchArgs;
use super::loadfile::loadfiles;
use super::rate::ops_per_s;
use super::refuse::refuse;
use crate::output::Mode;
use crate::output::dbench::DbenchFormat;
use crate::plan::{Data, EngineKind, Load, PathMode};
use crate::run::{Conditions, Dbench, RunRequest};

/// Wait this long for operations that are under way when time is up.
const GRACE: Duration = Duration::from_secs(10);
const HANG_AFTER: Duration = Duration::from_secs(30);
/// More clients than any machine has memory for.
const MOST_CLIENTS: u32 = 1_000_000;

/// Builds the request, or says what is wrong with the arguments.
pub(in crate::cli) fn request(args: DbenchArgs) -> Result<RunRequest, String> {
    refuse(&args)?;
    let clients = args.processes.checked_mul(args.clients_per_process);
    let clients = clients.filter(|clients| *clients <= MOST_CLIENTS).ok_or_else(|| {
        format!(
            "{} processes of {} clients: at most {MOST_CLIENTS} clients",
            args.processes, args.clients_per_process
        )
    })?;
    let limit = Duration::from_secs(args.timelimit.into());
    let warmup = warmup(&args);
    let (loadfiles, load) = loadfiles(args.loadfile.as_deref())?;
    let rate = args.target_rate.filter(|rate| *rate != 0.0);
    let rate = rate.map(|rate| ops_per_s(rate, clients, &loadfiles, args.lenient)).transpose()?;
    Ok(RunRequest {
        disks: vec![args.directory.clone()],
        loadfiles,
        mix: Vec::new(),
        set: Vec::new(),
        load_for: Vec::new(),
        clients,
        engine: EngineKind::Sync,
        threads_per_disk: None,
        load: load_of(&args, rate),
        time: Some(warmup + limit),
        warmup: Duration::ZERO,
        grace: GRACE,
        hang_after: HANG_AFTER,
        interval: None,
        interval_ops: false,
        pass_rows: args.show_execute_time,
        hist: false,
        out: None,
        append: false,
        format: None,
        label: None,
        progress: Mode::None,
        depth: 0,
        conditions: Conditions::default(),
        lenient: args.lenient,
        dry_run: false,
        require_mounts: false,
        keep: args.skip_cleanup,
        preset: None,
        dbench: Some(Dbench {
            processes: args.processes,
            clients_per_process: args.clients_per_process,
            warmup,
            limit,
            load,
            per_client: args.per_client_results,
            show_passes: args.show_execute_time,
            format: format_of(&args),
        }),
    })
}

/// A fifth in whole seconds, as dbench has it; -1 asks for that, too.
fn warmup(args: &DbenchArgs) -> Duration {
    let default = if args.run_once { 0 } else { u64::from(args.timelimit / 5) };
    let asked = args.warmup.and_then(|seconds| u64::try_from(seconds).ok());
    Duration::from_secs(asked.unwrap_or(default).min(1_000_000_000))
}

/// Who says what only dbench 5 understands reads the table of dbench 5.
fn format_of(args: &DbenchArgs) -> DbenchFormat {
    let of_5 = args.run_once
        || args.machine_readable
        || args.show_execute_time
        || args.warmup.is_some()
        || args.backend.is_some()
        || args.without_effect.trunc_io.is_some();
    DbenchFormat { long_names: of_5, machine: args.machine_readable }
}

fn load_of(args: &DbenchArgs, rate: Option<f64>) -> Load {
    Load {
        sync_open: args.sync,
        sync_dir: args.sync_dir,
        fsync: args.fsync,
        xattr: args.xattr,
        resolve: !args.no_resolve,
        fake_io: args.fake_io,
        data: Data::Zero,
        rate,
        passes: args.run_once.then_some(1),
        path: match args.path {
            PathArg::Absolute => PathMode::Absolute,
            PathArg::Cwd => PathMode::Cwd,
            PathArg::Dirfd => PathMode::Dirfd,
        },
        ..Load::default()
    }
}
