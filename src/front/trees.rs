//! The run directories that a worker has told of, to be removed when it dies.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{MadeTree, helper};
use crate::host::HostError;
use crate::host::caller::Caller;
use crate::host::limits;
use crate::host::remove::RemoveReport;
use crate::host::tree::{acting_as, remove_tree};

/// Role of a process that only removes a tree, named by its first argument.
pub const CLEANER: &str = "clean";

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
        self.remove_each().await.into_iter().flatten().collect()
    }

    /// Removes all of them; returns what there is to tell of each.
    async fn remove_each(&self) -> Vec<Vec<String>> {
        // A cleaner takes two descriptors here; without the higher limit some trees would stay.
        let _ = limits::raise_nofile();
        let start = |tree| serde_json::to_string(tree).map_err(Into::into);
        let cleaners: Vec<_> = self
            .0
            .iter()
            .map(|tree| (tree, start(tree).and_then(|text| helper::start(CLEANER, text))))
            .collect();
        let mut lines = Vec::new();
        for (tree, cleaner) in cleaners {
            let path = path_of(tree);
            let stuck = || format!("{path} is removed when its disk answers");
            lines.push(helper::wait(cleaner, &format!("remove {path}"), stuck).await);
        }
        lines
    }
}

/// Removes run directories that nobody works in any more, and says of each what stays, and why. A disk
/// that does not answer holds up nobody: its directory goes when it does.
///
/// # Errors
///
/// When nothing can be waited for.
pub fn remove_left(trees: Vec<MadeTree>) -> std::io::Result<Vec<Vec<String>>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(Trees(trees).remove_each()))
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
    let maker = tree.maker.map(|(uid, gid)| Caller { uid, gid, groups: Vec::new() });
    let name = OsStr::from_bytes(&tree.name);
    let removed = acting_as(maker.as_ref(), || remove_tree(disk, name, tree.dev, tree.ino));
    removal_text(&removed.and_then(|report| report))
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
