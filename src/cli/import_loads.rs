//! `jbodbench import nbench` and `import nfs`: loadfiles of other kinds to ours, and a report of what became of
//! their lines.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;

use super::import::{Failure, write_new};
use super::say;
use crate::import::ImportError;
use crate::import::dialects::{Dialect, DialectError, Tally, convert};
use crate::loadfile::Source;

pub(super) const EXAMPLES: &str = "\
Examples:
  jbodbench import nbench client_plain.txt -o plain.load
  jbodbench check plain.load
  jbodbench run -l plain.load -c 4 /mnt/d1 /mnt/d2";

pub(super) const MORE: &str = "\
For dbench 1 (SMBwrite REQUEST ...), dbench 2 (no quotes, no status), smbtorture's BENCH-NBENCH and the recorder
of Samba 4 (Write, Chkpath, SET_PATH_INFORMATION). Files of dbench 3 and 4 need no import. What the lines need is
made in a PREPARE; what has no word is left out, and counted. More is in docs/import.md.
Exit codes: 0 a load was written; 1 it could not be written; 2 usage, or no load in the file.";

pub(super) const NFS_EXAMPLES: &str = "\
Examples:
  jbodbench import nfs nfs.load -o local.load
  jbodbench check local.load
  jbodbench run -l local.load -c 4 /mnt/d1 /mnt/d2";

pub(super) const NFS_MORE: &str = "\
Each call becomes what a server without a cache of open files does for it: READ3 is an open, a read and a close.
To load a server, mount it, and give the mount point as disk. What has no word is left out, and counted. More is
in docs/import.md.
Exit codes: 0 a load was written; 1 it could not be written; 2 usage, or no load in the file.";

/// Arguments of both.
#[derive(Debug, Args)]
pub(super) struct LoadArgs {
    /// The loadfile, plain or gz
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write the load there, compressed if it ends with .gz [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

pub(super) fn import(args: &LoadArgs, dialect: Dialect) -> u8 {
    match made(args, dialect) {
        Ok(tally) => {
            let _ = write!(io::stderr(), "{tally}");
            complain(&tally, args);
            0
        }
        Err((message, code)) => {
            if code != 141 {
                say(&message);
            }
            code
        }
    }
}

fn made(args: &LoadArgs, dialect: Dialect) -> Result<Tally, Failure> {
    let source = Source::read(&args.file).map_err(|error| (error.to_string(), 2))?;
    let (tally, load) = convert(dialect, &source.bytes, &head(args, dialect)).map_err(|error| {
        if let DialectError::Nothing(tally, _) = &error {
            complain(tally, args);
        }
        (format!("{}: {error}", args.file.display()), 2)
    })?;
    let written = match &args.out {
        None => io::stdout().lock().write_all(&load).map_err(ImportError::Write),
        Some(path) => write_new(path, |out| Ok(out.write_all(&load)?))?,
    };
    written.map_err(|error| match error {
        ImportError::Write(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            (String::new(), 141)
        }
        error => {
            let out = args.out.as_ref().map_or("the load".into(), |out| out.to_string_lossy());
            (format!("cannot write {out}: {error}"), 1)
        }
    })?;
    Ok(tally)
}

/// Lines for the head of the load: what it is, without a path of this machine.
fn head(args: &LoadArgs, dialect: Dialect) -> Vec<String> {
    let version = env!("CARGO_PKG_VERSION");
    let kind = match dialect {
        Dialect::Nbench => "nbench",
        Dialect::Nfs => "nfs",
    };
    let name = args
        .file
        .file_name()
        .map_or_else(String::new, |name| format!(" of {}", name.to_string_lossy()));
    vec![format!("Made by jbodbench {version} import {kind}{name}: see docs/import.md.")]
}

/// Says which lines were not understood.
fn complain(tally: &Tally, args: &LoadArgs) {
    for complaint in &tally.complaints {
        let text: String = complaint.text.escape_debug().collect();
        say(&format!("{}:{}:{}: {text}", args.file.display(), complaint.line, complaint.column));
    }
    let more = tally.total().unclear - tally.complaints.len() as u64;
    if more > 0 {
        say(&format!("... and {more} more such lines"));
    }
}
