//! The run directories that a worker has told of, to be removed when it dies.
//!
//! Removing is left to a process of its own per tree, since a disk that killed nobody yet may
//! still hold up whoever touches it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::{MadeTree, WORKER};
use crate::host::HostError;
use crate::host::limits;
use crate::host::remove::RemoveReport;
use crate::host::tree::remove_tree;

/// Value of [`WORKER`] in a process that only removes a tree, named by its first argument.
pub const CLEANER: &str = "clean";

/// How long the front waits for a removal.
const WAIT: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(super) struct Trees(Vec<MadeTree>);

impl Trees {
    pub(super) fn made(&mut self, tree: MadeTree) {
        self.0.push(tree);
    }

    pub(super) fn removed(&mut self, tree: &MadeTree) {
        self.0.retain(|known| known != tree);
    }

    /// Removes all of them; returns what there is to tell.
    pub(super) async fn remove_all(&self) -> Vec<String> {
        // A cleaner takes two descriptors here; without the higher limit some trees would stay.
        let _ = limits::raise_nofile();
        let cleaners: Vec<_> = self.0.iter().map(|tree| (tree, start_cleaner(tree))).collect();
        let mut lines = Vec::new();
        for (tree, cleaner) in cleaners {
            let waited = match cleaner {
                Ok(cleaner) => tokio::time::timeout(WAIT, cleaner.wait_with_output()).await,
                Err(error) => Ok(Err(error)),
            };
            match waited {
                Ok(Ok(output)) => {
                    let text = String::from_utf8_lossy(&output.stdout);
                    lines.extend(text.lines().map(str::to_owned));
                }
                Ok(Err(error)) => lines.push(format!("cannot remove {}: {error}", path_of(tree))),
                Err(_) => lines.push(format!("{} is removed when its disk answers", path_of(tree))),
            }
        }
        lines
    }
}

fn start_cleaner(tree: &MadeTree) -> std::io::Result<tokio::process::Child> {
    let program = std::env::current_exe().unwrap_or_else(|_| "/proc/self/exe".into());
    Command::new(program)
        .arg(serde_json::to_string(tree)?)
        .env(WORKER, CLEANER)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
}

fn path_of(tree: &MadeTree) -> String {
    format!("{}/{}", String::from_utf8_lossy(&tree.disk), String::from_utf8_lossy(&tree.name))
}

/// The whole of a cleaner process: removes the tree that its argument describes, and returns what
/// there is to tell.
#[must_use]
pub fn clean(argument: &str) -> Option<String> {
    let tree: MadeTree = match serde_json::from_str(argument) {
        Ok(tree) => tree,
        Err(error) => return Some(format!("not the description of a run directory: {error}")),
    };
    let disk = Path::new(OsStr::from_bytes(&tree.disk));
    removal_text(&remove_tree(disk, OsStr::from_bytes(&tree.name), tree.dev, tree.ino))
}

/// What is left after a removal, as text; `None` when all is gone.
#[must_use]
pub fn removal_text(result: &Result<RemoveReport, HostError>) -> Option<String> {
    match result {
        Err(error) => Some(error.to_string()),
        Ok(report) => report.first_failure.as_ref().map(|first| match report.failed {
            0 | 1 => first.to_string(),
            n => format!("{first}, and {} more", n - 1),
        }),
    }
}
