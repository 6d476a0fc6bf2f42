//! ACLs off or on for the time of a run: what speaks against it, the change, and its undoing.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::oneshot;

use super::Conditions;
use crate::front::{FromWorker, Link, undo};
use crate::host::mounts::{MountFacts, mount_of};
use crate::host::noacl::journal::Journal;
use crate::host::noacl::users::Users;
use crate::host::noacl::{acls_in_force, check, key, switch};
use crate::run::RunError;
use crate::run::live::Held;
use crate::run::prepare::ReadyDisk;

/// How long a file system may take to be set back before the run goes on without it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Looks whether all disks' file systems can be brought into the state that is asked for, and says
/// what that means; changes nothing.
pub(in crate::run) fn refuse_remounts(
    conditions: &Conditions,
    disks: &[ReadyDisk],
) -> Result<Vec<String>, RunError> {
    if conditions.dirs.is_some_and(|dirs| dirs.acl > 0) {
        refuse_entries(conditions, disks)?;
    }
    let Some(wanted) = conditions.mount_acl.wanted() else { return Ok(Vec::new()) };
    let option = format!("--mount-acl {}", conditions.mount_acl.word());
    let cannot = |why: String| RunError::cannot(format!("{option}: {why}"));
    let mut notes = Vec::new();
    for mount in superblocks(disks)? {
        let point = &mount.mount_point;
        if acls_in_force(point).map_err(|e| cannot(e.to_string()))? == wanted {
            continue;
        }
        check(&mount).map_err(|error| cannot(error.to_string()))?;
        let users = Users::of(&mount).map_err(|error| cannot(error.to_string()))?;
        let mut objections = users.objections();
        if point.as_os_str() == "/" {
            objections.insert(0, "it is the root file system".into());
        }
        if !objections.is_empty() && !conditions.force {
            return Err(cannot(format!(
                "{} would be remounted for everybody: {}; --force does it all the same",
                point.display(),
                objections.join("; ")
            )));
        }
        notes.push(meaning(&mount, &users, wanted));
    }
    Ok(notes)
}

/// Where ACLs are off, none can be set.
fn refuse_entries(conditions: &Conditions, disks: &[ReadyDisk]) -> Result<(), RunError> {
    for mount in superblocks(disks)? {
        let on = acls_in_force(&mount.mount_point).map_err(|e| RunError::cannot(e.to_string()))?;
        if !on {
            let entries = conditions.dirs.map_or(0, |dirs| dirs.acl);
            return Err(RunError::cannot(format!(
                "--dir-acl {entries}: ACLs are not in force on {}, so none can be set; mount it with \
                 acl, or leave --dir-acl out",
                mount.mount_point.display()
            )));
        }
    }
    Ok(())
}

/// What a change means for whoever uses the file system.
fn meaning(mount: &MountFacts, users: &Users, wanted: bool) -> String {
    let points: Vec<_> = users.mounts.iter().map(|point| point.display().to_string()).collect();
    let effect = if wanted {
        "ACLs decide again"
    } else {
        "entries of named users and groups stop working, and the group bits of a mode, which were \
         their mask, count for the group"
    };
    format!(
        "remounts {} ({}) with {} until the end of the run: {effect}, on {}",
        mount.mount_point.display(),
        mount.fstype,
        key(wanted),
        points.join(", ")
    )
}

/// The disks' mounts, one for each file system.
fn superblocks<'a>(
    disks: impl IntoIterator<Item = &'a ReadyDisk>,
) -> Result<Vec<MountFacts>, RunError> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for disk in disks {
        let mount = match &disk.check.mount {
            Some(mount) => mount.clone(),
            None => mount_of(&disk.check.label).map_err(|e| RunError::cannot(e.to_string()))?,
        };
        if seen.insert((mount.major, mount.minor)) {
            found.push(mount);
        }
    }
    Ok(found)
}

/// Changes that are to be undone.
#[derive(Debug, Default)]
pub(in crate::run) struct Remounts(Vec<Journal>);

impl Remounts {
    /// Brings all disks' file systems into the state that is asked for; with `always` by a remount
    /// also where they are in it, so that the step is the same for all cells of a matrix. What was changed before an
    /// error is still to be undone.
    pub(in crate::run) async fn bring_about(
        &mut self,
        conditions: &Conditions,
        disks: &[Held],
        run_id: &str,
        link: &mut Link,
        always: bool,
    ) -> Result<(), RunError> {
        let wanted = conditions.mount_acl.wanted();
        if wanted.is_none() && !always {
            return Ok(());
        }
        for mount in superblocks(disks.iter().map(|held| &held.ready))? {
            let point = &mount.mount_point;
            let is = acls_in_force(point).map_err(|e| RunError::cannot(e.to_string()))?;
            let wanted = wanted.unwrap_or(is);
            if is == wanted && !always {
                continue;
            }
            let journal = Journal::write(run_id, &mount, is)
                .map_err(|error| RunError::cannot(error.to_string()))?;
            link.send(&FromWorker::Remounts(journal.path.clone())).await;
            self.0.push(journal);
            switch(point, wanted).map_err(|error| RunError::cannot(error.to_string()))?;
        }
        Ok(())
    }

    /// Undoes them, each in a thread of its own, and waits a while; what there is to tell.
    pub(in crate::run) async fn undo(self, link: &mut Link) -> Vec<String> {
        let undone: Vec<_> = self.0.into_iter().map(start).collect();
        let mut complaints = Vec::new();
        for (path, point, undone) in undone {
            match tokio::time::timeout(PATIENCE, undone).await {
                Ok(Ok(Ok(_))) => link.send(&FromWorker::SetBack(path)).await,
                Ok(Ok(Err(error))) => complaints.push(error),
                _ => complaints.push(format!(
                    "{} is set back when its disk answers, or by: jbodbench restore",
                    point.display()
                )),
            }
        }
        complaints
    }
}

type Undoing = (PathBuf, PathBuf, oneshot::Receiver<Result<String, String>>);

fn start(journal: Journal) -> Undoing {
    let (sender, done) = oneshot::channel();
    let (path, point) = (journal.path.clone(), journal.entry.mount_point.clone());
    // Without a thread the sender is dropped: the journal stays.
    let _ = std::thread::Builder::new().spawn(move || {
        let _ = sender.send(undo(&journal));
    });
    (path, point, done)
}
