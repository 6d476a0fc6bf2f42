//! `jbodbench clean`: run directories that a killed run left behind.

use std::ffi::OsString;
use std::io::{BufRead, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use clap::Args;

use super::say;
use crate::front::{self, MadeTree};
use crate::host::disks;
use crate::host::left::{LeftTree, find_trees};
use crate::host::marker::Holder;
use crate::units::format_duration;

/// Arguments of `clean`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  jbodbench clean '/mnt/d[1-12]'          what is there; asks before it removes anything
  jbodbench clean --yes /mnt/d1           for scripts
A run directory is known by the marker in it, which names the run, its host and its processes. One
without a marker stays, and so does one whose run lives: on this host, or on another one that has the
same file system mounted and touched the marker within ten minutes.
Exit codes: 0 nothing is left that could go, 1 something is.")]
pub(super) struct CleanArgs {
    /// Remove without asking.
    #[arg(long, short)]
    yes: bool,
    /// Also what runs in containers of this host or on other hosts may still use: be sure that none does
    #[arg(long)]
    force: bool,
    /// Directories of disks, as given to `run`; patterns and ranges as there
    #[arg(value_name = "DISK", required = true)]
    disks: Vec<OsString>,
}

/// One that may go.
struct Candidate {
    path: PathBuf,
    tree: MadeTree,
}

pub(super) fn clean(args: &CleanArgs) -> u8 {
    let disks = match disks::expand(&args.disks) {
        Ok(disks) => disks,
        Err(error) => {
            say(&error.to_string());
            return 2;
        }
    };
    let (mut code, mut candidates, mut stay) = (0, Vec::new(), 0);
    for disk in &disks {
        match find_trees(disk) {
            Ok(trees) => {
                for tree in trees {
                    match look(disk, &tree, args.force) {
                        Some(candidate) => candidates.push(candidate),
                        None => stay += 1,
                    }
                }
            }
            Err(error) => {
                say(&error.to_string());
                code = 1;
            }
        }
    }
    if candidates.is_empty() {
        if stay == 0 && code == 0 {
            tell("nothing to clean");
        }
        return code;
    }
    if !args.yes && !agreed(candidates.len()) {
        return 1;
    }
    code.max(remove(candidates))
}

/// A reader that went away is no reason to end otherwise than planned.
fn tell(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// Shows a run directory; returns it if it may go.
fn look(disk: &Path, tree: &LeftTree, force: bool) -> Option<Candidate> {
    let path = disk.join(&tree.name);
    let shown = path.display();
    let Some(marker) = &tree.marker else {
        tell(&format!("{shown}: left alone, without a marker of this run"));
        return None;
    };
    let made = UNIX_EPOCH + Duration::from_secs(marker.started_unix_s);
    let made = humantime::format_rfc3339_seconds(made);
    // Whoever may write on the disk may have written the marker.
    let what = format!("{shown}: made {made} on {}", marker.host.escape_debug());
    let pid = marker.owners[0].pid;
    match &tree.holder {
        Holder::Nobody => tell(&format!("{what}, process {pid} has ended")),
        Holder::Process(pid) => {
            tell(&format!("{what}: left alone, process {pid} of its run removes it"));
            return None;
        }
        holder => {
            let who = match holder {
                Holder::Host(_, beat) => format!("seen {} ago", format_duration(*beat)),
                _ => "a container of this host, whose processes are not seen from here".into(),
            };
            if !force {
                tell(&format!("{what}: left alone, {who}; --force if its run is over"));
                return None;
            }
            tell(&format!("{what}, {who}; it goes because of --force"));
        }
    }
    let tree = MadeTree {
        disk: disk.as_os_str().as_bytes().to_vec(),
        name: tree.name.as_bytes().to_vec(),
        dev: tree.dev,
        ino: tree.ino,
        maker: None,
    };
    Some(Candidate { path, tree })
}

/// Asks on a terminal; without one nobody can agree.
fn agreed(count: usize) -> bool {
    let what = if count == 1 { "this directory" } else { "these directories" };
    if !std::io::stdin().is_terminal() {
        say(&format!("--yes removes {what}"));
        return false;
    }
    let _ = write!(std::io::stderr(), "remove {what}, with all that is in it? [y/N] ");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

fn remove(candidates: Vec<Candidate>) -> u8 {
    let (paths, trees): (Vec<_>, Vec<_>) =
        candidates.into_iter().map(|candidate| (candidate.path, candidate.tree)).unzip();
    let told = match front::remove_left(trees) {
        Ok(told) => told,
        Err(error) => {
            say(&format!("cannot remove anything: {error}"));
            return 1;
        }
    };
    let mut code = 0;
    for (path, lines) in paths.iter().zip(told) {
        if lines.is_empty() {
            tell(&format!("removed {}", path.display()));
        }
        for line in lines {
            say(&line);
            code = 1;
        }
    }
    code
}
