//! The conditions of a run, from its trees to its end.

use super::cold::{drop_caches, verify_cold};
use super::{AclCache, Found, Remounts, Resolved, look};
use crate::front::FromWorker;
use crate::run::RunError;
use crate::run::live::{Held, LiveDisk};
use crate::run::pools::Pools;
use crate::run::setup::make_closed_files;
use crate::run::worker::Worker;

impl Worker<'_, '_> {
    /// Brings the conditions about on finished trees, and verifies them. After an error, what was
    /// remounted is in `remounts`. With `always`, file systems are remounted also into the state
    /// that they are in.
    pub(in crate::run) async fn set_up(
        &mut self,
        resolved: &Resolved,
        pools: &Pools,
        trees: &mut [Held],
        run_id: &str,
        (remounts, always): (&mut Remounts, bool),
    ) -> Result<(), RunError> {
        let conditions = &self.request.conditions;
        if pools.drops_root() {
            make_closed_files(trees)?;
        }
        // Under noacl no ACL can be set: the trees are there by now.
        remounts.bring_about(conditions, trees, run_id, self.link, always).await?;
        if conditions.drop_caches {
            drop_caches(trees)?; // what is to be warm gets so by the look below
        }
        if conditions.acl_cache == AclCache::Cold {
            verify_cold(resolved, trees)?;
        }
        if pools.asks_walk {
            for held in trees {
                // A look at directories that are to stay cold would warm them.
                let dirs = held.tree.twin().map_or(held.tree.dirs(), |twin| &twin.dirs);
                let found = look(conditions, resolved, &held.ready, &held.tree, dirs);
                held.ready.found = found.map_err(RunError::cannot)?;
            }
        }
        Ok(())
    }

    /// Whether the conditions are still what they were before the window: somebody else may have
    /// remounted a file system meanwhile.
    pub(in crate::run) fn still_holds(&mut self, resolved: &Resolved, disks: &[LiveDisk]) -> bool {
        let conditions = &self.request.conditions;
        let mut holds = true;
        for disk in disks.iter().filter(|disk| disk.ready.found != Found::default()) {
            if disk.running() > 0 {
                continue; // it does not answer
            }
            let dirs = disk.tree.dirs();
            let problem = match look(conditions, resolved, &disk.ready, &disk.tree, dirs) {
                Err(problem) => Some(problem),
                Ok(found) if found.acl_effective != disk.ready.found.acl_effective => {
                    Some(format!(
                        "{}: whether ACLs are in force has changed within the run",
                        disk.ready.label()
                    ))
                }
                Ok(_) => None,
            };
            if let Some(problem) = problem {
                self.progress.note(&format!("jbodbench: {problem}; the figures mean nothing"));
                holds = false;
            }
        }
        holds
    }

    /// Undoes remounts; whether all are undone.
    pub(in crate::run) async fn set_back(&mut self, remounts: Remounts) -> bool {
        let complaints = remounts.undo(self.link).await;
        for line in &complaints {
            self.progress.note(&format!("jbodbench: {line}"));
        }
        complaints.is_empty()
    }

    /// Removes trees on which nothing has run.
    pub(in crate::run) async fn remove(&mut self, trees: Vec<Held>) {
        for Held { tree, made, .. } in trees {
            if let Some(text) = crate::front::removal_text(&tree.remove()) {
                self.progress.note(&text);
            }
            self.link.send(&FromWorker::Removed(made)).await;
        }
    }
}
