//! Disks on which root is nobody: what can be had there, and what cannot.

use super::{Conditions, DirOwner, Dirs};
use crate::host::preflight::DiskCheck;
use crate::run::RunError;

/// Refuses conditions that a disk without a root does not have; says what is different there.
pub(in crate::run) fn refuse_squashed<'a>(
    conditions: &Conditions,
    checks: impl IntoIterator<Item = &'a DiskCheck>,
) -> Result<Vec<String>, RunError> {
    let mut notes = Vec::new();
    for check in checks {
        let Some(squashed) = check.squashed else { continue };
        let label = check.label.display();
        let given_away =
            matches!(conditions.dirs, Some(Dirs { owner: DirOwner::Root | DirOwner::Third, .. }));
        match (&check.maker, conditions.is_any()) {
            (Some(_), _) if given_away => {
                return Err(RunError::cannot(format!(
                    "{label}: {squashed}, so directories cannot be given away; use --dir-owner caller"
                )));
            }
            (Some(maker), _) => notes.push(format!(
                "{label}: {squashed}; the run directory is made as uid {}, and no file of root's \
                 proves that clients are not root",
                maker.uid
            )),
            (None, true) => {
                return Err(RunError::cannot(format!(
                    "{label}: {squashed}: nobody is root on that disk; use --as USER for a user who \
                     may write there, with --dir-owner caller"
                )));
            }
            (None, false) => notes.push(format!(
                "{label}: {squashed}: clients are not root there, whatever the column uid says; \
                 --as USER makes them somebody"
            )),
        }
    }
    Ok(notes)
}
