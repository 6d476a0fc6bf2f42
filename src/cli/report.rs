//! `jbodbench report`: a page of result files.

use std::fs::OpenOptions;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::say;
use crate::report::{ReportError, Request, report as make};

const EXAMPLES: &str = "\
Examples:
  jbodbench report run.csv -o page.html            one run: disks, operations, time
  jbodbench report matrix.csv -o page.html         a matrix: effects with intervals, scaling
  jbodbench report old.csv new.csv -o page.html    and how the second compares with the first
  jbodbench report run.csv --title 'shelf 7, 6.18' > page.html";

const MORE: &str = "\
The page is one file that needs nothing else: no network, no script, no font. It follows the
browser's light or dark scheme, and prints. Below each plot stands a table of its figures.
docs/report.md says how to read it.
Exit codes: 0 written; 1 it cannot be written; 2 usage, a file that is no result, or a page that
is there already.";

/// Arguments of `report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{MORE}"))]
pub(super) struct ReportArgs {
    /// Results of run or matrix, as CSV
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Where the page goes [default: standard output, unless that is a terminal]
    #[arg(short, long, value_name = "PAGE")]
    pub(super) out: Option<PathBuf>,
    /// Replace a page that exists
    #[arg(long, requires = "out")]
    force: bool,
    /// Heading of the page [default: the names of the files]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
}

pub(super) fn report(args: ReportArgs) -> u8 {
    let ReportArgs { files, out, force, title } = args;
    if out.is_none() && std::io::stdout().is_terminal() {
        say("a page is nothing for a terminal; say where it goes with -o PAGE");
        return 2;
    }
    if let Some(path) = &out
        && let Err(error) = refuse(path, &files, force)
    {
        say(&error);
        return 2;
    }
    let page = match make(&Request { files, title }) {
        Ok(page) => page,
        Err(error) => {
            say(&error.to_string());
            return if matches!(error, ReportError::Read(_)) { 2 } else { 1 };
        }
    };
    let written = match &out {
        Some(path) => write_file(path, page.as_bytes(), force),
        None => write_out(page.as_bytes()),
    };
    match (written, out) {
        (Ok(()), _) => 0,
        (Err(error), None) if error.kind() == ErrorKind::BrokenPipe => 141,
        (Err(error), Some(path)) if error.kind() == ErrorKind::AlreadyExists => {
            say(&exists(&path));
            2
        }
        (Err(error), Some(path)) => {
            say(&format!("cannot write {}: {error}", path.display()));
            1
        }
        (Err(error), None) => {
            say(&format!("cannot write: {error}"));
            1
        }
    }
}

fn exists(path: &Path) -> String {
    format!("{} exists; choose another name, or replace it with --force", path.display())
}

/// What can be known before the files are read: a page that is there, or is one of the results.
fn refuse(path: &Path, files: &[PathBuf], force: bool) -> Result<(), String> {
    let Ok(there) = std::fs::canonicalize(path) else { return Ok(()) };
    let result = |file: &&PathBuf| std::fs::canonicalize(file).is_ok_and(|file| file == there);
    if files.iter().any(|file| result(&file)) {
        return Err(format!("{} is one of the results; the page would replace it", path.display()));
    }
    if there.is_file() && !force { Err(exists(path)) } else { Ok(()) }
}

fn write_file(path: &Path, page: &[u8], force: bool) -> std::io::Result<()> {
    // Nothing is lost in a device or a pipe.
    let special = std::fs::metadata(path).is_ok_and(|meta| !meta.is_file());
    let mut options = OpenOptions::new();
    options.write(true);
    if special {
        options.open(path)?.write_all(page)
    } else if force {
        options.create(true).truncate(true).open(path)?.write_all(page)
    } else {
        options.create_new(true).open(path)?.write_all(page)
    }
}

fn write_out(page: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(page)?;
    out.flush()
}
