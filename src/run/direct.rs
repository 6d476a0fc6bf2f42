//! `--direct`: whether every disk does it and every loadfile fits, before anything starts.

use std::os::fd::AsFd;

use rustix::io::Errno;

use super::ask::{Answers, ask_all, no_answer};
use super::live::Held;
use super::prepare::{LeftOut, ReadyDisk};
use super::setup::Made;
use super::{RunError, Straggler};
use crate::host::direct::{DirectIo, NoDirect, probe};
use crate::host::errno;
use crate::host::tree::acting_as;
use crate::output::Status;

/// Tries direct I/O in all run directories at once. A disk that does not answer, or cannot be
/// written to at all, is left out.
///
/// # Errors
/// Exit code 3 when a file system refuses direct I/O, 2 when a loadfile asks for what a disk
/// cannot do directly. The run directories are still there.
pub(super) fn check(made: &mut Made, stragglers: &mut Vec<Straggler>) -> Result<(), RunError> {
    let mut questions = Vec::new();
    for Held { ready, tree, .. } in &made.trees {
        let dir = tree.root_fd().try_clone_to_owned();
        let dir = dir.map_err(|error| RunError::cannot(format!("{}: {error}", ready.label())))?;
        let maker = tree.maker().cloned();
        questions.push(move || {
            acting_as(maker.as_ref(), || probe(dir.as_fd())).unwrap_or_else(|error| {
                Err(("act as the clients' user", error.errno().unwrap_or(Errno::IO)))
            })
        });
    }
    let Answers { in_time, late } = ask_all(questions)?;
    let (mut refused, mut hung) = (Vec::new(), Vec::new());
    for (mut held, answer) in std::mem::take(&mut made.trees).into_iter().zip(in_time) {
        let disk = &mut held.ready;
        match answer {
            Some(Ok(direct)) => disk.direct = Some(direct),
            Some(Err(no)) if refuses(no.1) => refused.push(refusal(disk, no)),
            Some(Err((what, errno))) => {
                let reason = format!("cannot {what}: {}", errno::describe(errno));
                made.left_out.push(left_out(disk, Status::Skipped, Some(errno), reason));
                let _ = held.tree.remove();
                made.undone.push(held.made);
                continue;
            }
            None => {
                made.left_out.push(left_out(disk, Status::Hung, None, no_answer()));
                hung.push(held.tree);
                continue;
            }
        }
        made.trees.push(held);
    }
    if !hung.is_empty() {
        stragglers.push(Straggler(Box::new(move || {
            while late.recv().is_ok() {}
            hung.into_iter().for_each(|tree| drop(tree.remove()));
        })));
    }
    if !refused.is_empty() {
        return Err(RunError::cannot(refused.join("\n")));
    }
    made.trees.iter().try_for_each(|held| fits(&held.ready))
}

/// Whether an error says that there is no direct I/O here, and not that something else is wrong.
fn refuses(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS)
}

fn refusal(disk: &ReadyDisk, (what, errno): NoDirect) -> String {
    let fstype = disk.check.mount.as_ref().map_or("this file system", |mount| &mount.fstype);
    format!(
        "{}: --direct: {fstype} cannot {what}: {}; leave this disk out, or run without --direct",
        disk.label(),
        errno::describe(errno)
    )
}

fn left_out(disk: &ReadyDisk, status: Status, errno: Option<Errno>, reason: String) -> LeftOut {
    LeftOut { label: disk.label(), status, errno: errno.map(errno::name), reason }
}

/// What a loadfile reads and writes must lie on the disk's boundaries, as far as that is known.
fn fits(disk: &ReadyDisk) -> Result<(), RunError> {
    let Some(DirectIo { align, .. }) = disk.direct else { return Ok(()) };
    let misfit = disk.granules.iter().find_map(|of| of.misfit(align, &disk.label()));
    misfit.map_or(Ok(()), |found| Err(RunError::usage(found.to_string())))
}

/// What to say of disks on which direct I/O is none.
pub(super) fn warnings<'a>(disks: impl Iterator<Item = &'a ReadyDisk>) -> Vec<String> {
    let cached = |disk: &&ReadyDisk| disk.direct.is_some_and(|direct| direct.cached);
    let warning = |disk: &ReadyDisk| {
        format!(
            "{}: takes O_DIRECT and serves it from the page cache all the same: --direct changes \
             nothing there",
            disk.label()
        )
    };
    disks.filter(cached).map(warning).collect()
}
