//! The conditions of a run, from its trees to its end.

use super::cold::{drop_caches, verify_cold};
use super::found::{Question, refuse_other};
use super::{AclCache, Conditions, Found, Remounts, Resolved};
use crate::front::FromWorker;
use crate::run::RunError;
use crate::run::ask::{ask_all, no_answer};
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
        self.look(resolved, trees)
    }

    /// Finds out what the disks are like. One that does not answer is left unknown, unless
    /// something was asked for: then it ends the run.
    fn look(&self, resolved: &Resolved, trees: &mut [Held]) -> Result<(), RunError> {
        let mut questions = Vec::with_capacity(trees.len());
        for held in trees.iter() {
            // A look at directories that are to stay cold would warm them.
            let dirs = held.tree.twin().map_or(held.tree.dirs(), |twin| &twin.dirs);
            let question = Question::new(resolved, &held.ready, &held.tree, dirs);
            let question = question.map_err(RunError::cannot)?;
            questions.push(move || question.ask());
        }
        let conditions = &self.request.conditions;
        for (held, found) in trees.iter_mut().zip(ask_all(questions)?.in_time) {
            let label = held.ready.label();
            match found {
                Some(found) => {
                    refuse_other(conditions, &label, &found).map_err(RunError::cannot)?;
                    held.ready.found = found;
                }
                None if *conditions == Conditions::default() => {}
                None => return Err(RunError::cannot(format!("{label}: {}", no_answer()))),
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
            let now = Question::new(resolved, &disk.ready, &disk.tree, disk.tree.dirs());
            let now = now.map(|question| question.ask()).and_then(|found| {
                refuse_other(conditions, &disk.ready.label(), &found).map(|()| found)
            });
            let problem = match now {
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
