//! The command line: typed arguments, exit codes, and the one place that prints errors. Floor 7.

mod args;
mod audit;
mod check;
mod clean;
mod compare;
mod conditions;
mod dbench;
mod draft;
mod import;
mod import_loads;
mod matrix;
mod matrix_preset;
mod preset;
mod report;
mod request;
mod restore;
mod route;
mod vary;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

use crate::front::{self, CLEANER, RESTORER, WORKER};
use crate::host::sys::stdout_was_closed;
use crate::run::{RunError, RunRequest, run_worker};

/// The whole program.
#[must_use]
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    let role = std::env::var(WORKER).ok();
    if role.as_deref() == Some(CLEANER) {
        return cleaner(&args);
    }
    if let (Some(RESTORER), Some(journal)) = (role.as_deref(), args.get(1)) {
        restore::helper(journal);
        return ExitCode::SUCCESS;
    }
    let cli = match Cli::try_parse_from(dbench::with_its_name(&args).iter()) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    if role.is_none() && writes_to_stdout(&cli.command) && stdout_was_closed() {
        let file = if matches!(cli.command, Command::Dbench(_)) { ">FILE" } else { "--out FILE" };
        say(&format!("stdout is closed: nobody would see the result; use {file}, or >/dev/null"));
        return ExitCode::from(2);
    }
    let code = match cli.command {
        Command::Audit(args) => audit::audit(&args),
        Command::Check(args) => check::check(&args),
        Command::Compare(args) => compare::compare(*args),
        Command::Report(args) => report::report(args),
        Command::Import(args) => import::import(&args),
        Command::Restore => restore::restore(),
        Command::Clean(args) => clean::clean(&args),
        Command::Matrix(matrix) if role.is_some() => {
            quiet_pool_panics();
            ended(matrix::work(&matrix, &args))
        }
        Command::Matrix(matrix) => matrix::lead(&matrix, &args),
        Command::Run(run) if role.is_some() => work(request::run_request(*run)),
        Command::Run(run) => lead(request::run_request(*run), &args),
        Command::Dbench(typed) if role.is_some() => work(dbench::request(*typed)),
        Command::Dbench(typed) => lead(dbench::request(*typed), &args),
    };
    ExitCode::from(code)
}

fn writes_to_stdout(command: &Command) -> bool {
    match command {
        Command::Audit(_) | Command::Check(_) | Command::Compare(_) => true,
        Command::Restore | Command::Clean(_) => true,
        Command::Dbench(_) => true,
        Command::Report(args) => args.out.is_none(),
        Command::Import(args) => args.writes_to_stdout(),
        Command::Run(run) => run.result.out.is_none() && !run.safety.dry_run,
        Command::Matrix(matrix) => {
            let file = matrix.result.out.is_some() || matrix.resumes();
            !file && !matrix.safety.dry_run
        }
    }
}

/// Help and version go to stdout, errors to stderr; clap knows which is which.
fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// A reader of stderr that went away is no reason to end otherwise than planned.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "jbodbench: {text}");
}

/// The front process: what is wrong with the arguments is found here, the rest by the worker.
fn lead(request: Result<RunRequest, String>, args: &[OsString]) -> u8 {
    if let Err(error) = request {
        say(&error);
        return 2;
    }
    front::run(args, &mut say).unwrap_or_else(|error| {
        say(&format!("cannot start the worker: {error}"));
        3
    })
}

/// The worker process.
fn work(request: Result<RunRequest, String>) -> u8 {
    quiet_pool_panics();
    let request = match request {
        Ok(request) => request,
        Err(error) => {
            say(&error);
            return 2;
        }
    };
    ended(run_worker(&request))
}

/// Says why a worker ended; its exit code.
fn ended(result: Result<(), RunError>) -> u8 {
    match result {
        Ok(()) => 0,
        Err(error) => {
            if error.code != 141 {
                say(&error.message);
            }
            error.code
        }
    }
}

/// A pool thread has no stderr: number 2 may be a file under test. Its panic goes to the report.
fn quiet_pool_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let pool = std::thread::current().name().is_some_and(|name| name.starts_with("disk"));
        if !pool {
            default(info);
        }
    }));
}

fn cleaner(args: &[OsString]) -> ExitCode {
    let argument = args.get(1).map(|text| text.to_string_lossy()).unwrap_or_default();
    match front::clean(&argument) {
        None => ExitCode::SUCCESS,
        Some(text) => {
            let _ = writeln!(std::io::stdout(), "{text}");
            ExitCode::FAILURE
        }
    }
}
