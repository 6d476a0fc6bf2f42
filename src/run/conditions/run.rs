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
        let question = |held: &Held| {
            // A look at directories that are to stay cold would warm them.
            let dirs = held.tree.twin().map_or(held.tree.dirs(), |twin| &twin.dirs);
            Question::new(resolved, &held.ready, &held.tree, dirs)
        };
        let conditions = &self.request.conditions;
        let found = ask(trees.iter().map(question))?;
        for (held, found) in trees.iter_mut().zip(found) {
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
    /// remounted a file system meanwhile. What does not answer is not asked.
    pub(in crate::run) fn still_holds(&mut self, resolved: &Resolved, disks: &[LiveDisk]) -> bool {
        let known = |disk: &&LiveDisk| disk.ready.found != Found::default() && disk.running() == 0;
        let disks: Vec<&LiveDisk> = disks.iter().filter(known).collect();
        let question =
            |disk: &&LiveDisk| Question::new(resolved, &disk.ready, &disk.tree, disk.tree.dirs());
        let problems: Vec<String> = match ask(disks.iter().map(question)) {
            Err(error) => vec![error.message],
            Ok(found) => {
                let pairs = disks.iter().zip(found);
                pairs.filter_map(|(disk, found)| self.changed(disk, &found?).err()).collect()
            }
        };
        for problem in &problems {
            self.progress.note(&format!("jbodbench: {problem}; the figures mean nothing"));
        }
        problems.is_empty()
    }

    /// Says what is no longer as it was before the window, or as asked for.
    fn changed(&self, disk: &LiveDisk, now: &Found) -> Result<(), String> {
        let label = disk.ready.label();
        refuse_other(&self.request.conditions, &label, now)?;
        if now.acl_effective != disk.ready.found.acl_effective {
            return Err(format!("{label}: whether ACLs are in force has changed within the run"));
        }
        Ok(())
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

/// Asks all disks at once; `None` for one that does not answer.
fn ask(
    questions: impl Iterator<Item = Result<Question, String>>,
) -> Result<Vec<Option<Found>>, RunError> {
    let questions: Vec<Question> = questions.collect::<Result<_, _>>().map_err(RunError::cannot)?;
    Ok(ask_all(questions.into_iter().map(|question| move || question.ask()))?.in_time)
}
