//! The file systems that a worker has remounted, to be set back when it dies.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::helper;
use crate::host::noacl::journal::{Journal, Undone};

/// Role of a process that only undoes a remount, by the journal that its first argument names.
pub const RESTORER: &str = "restore";

#[derive(Debug, Default)]
pub(super) struct Mounts(Vec<PathBuf>);

impl Mounts {
    pub(super) fn remounts(&mut self, journal: PathBuf) {
        self.0.push(journal);
    }

    pub(super) fn set_back(&mut self, journal: &Path) {
        self.0.retain(|known| known != journal);
    }

    /// Sets all of them back; returns what there is to tell.
    pub(super) async fn set_all_back(&self) -> Vec<String> {
        let restorers: Vec<_> =
            self.0.iter().map(|journal| (journal, helper::start(RESTORER, journal))).collect();
        let mut lines = Vec::new();
        for (journal, restorer) in restorers {
            let what = format!("undo what {} says", journal.display());
            let stuck = || format!("{what}: the disk does not answer; run jbodbench restore later");
            lines.extend(helper::wait(restorer, &what, stuck).await);
        }
        lines
    }
}

/// The whole of a restoring process: undoes what a journal says, and returns what there is to tell.
#[must_use]
pub fn restore(journal: &OsStr) -> Vec<String> {
    // It may never have been written.
    let Some(journal) = Journal::read(Path::new(journal)) else { return Vec::new() };
    vec![undo(&journal).unwrap_or_else(|error| error)]
}

/// Undoes what a journal says; what was done, or why it was not.
///
/// # Errors
///
/// When the option cannot be set back. The journal stays.
pub fn undo(journal: &Journal) -> Result<String, String> {
    let point = journal.entry.mount_point.display();
    let state = if journal.entry.acls_in_force { "in force" } else { "off" };
    match journal.undo() {
        Ok(Undone::Restored) => Ok(format!("{point}: ACLs are {state} again")),
        Ok(Undone::Outdated) => Ok(format!("{point}: no longer mounted as it was, nothing to do")),
        Err(error) => Err(format!("{error}; try again with: jbodbench restore")),
    }
}
