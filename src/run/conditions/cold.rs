//! `--acl-cache cold`: the ACLs of the directories on the clients' paths leave the kernel's memory
//! before the clients start, and it is looked whether they have.

use std::time::Duration;

use super::{AclCache, Conditions, Resolved};
use crate::host::cold::{Known, acls_are_known, drop_entries_and_inodes, may_drop, name_is_gone};
use crate::host::errno::describe;
use crate::run::RunError;
use crate::run::live::Held;

/// Times that caches are dropped: what was just used may survive the first.
const TRIES: u32 = 5;
/// Pause between two of them: what the kernel was about to free goes meanwhile.
const PAUSE: Duration = Duration::from_millis(50);

/// Refuses what cannot become cold; says what dropping caches takes.
pub(in crate::run) fn refuse_cold(conditions: &Conditions) -> Result<Option<String>, RunError> {
    if !conditions.drop_caches {
        if conditions.acl_cache == AclCache::Warm {
            return Ok(None);
        }
        return Err(RunError::cannot(
            "--acl-cache cold: a mount's ACL caches are only cold anew when it is unmounted, which a \
             run does not do to a disk of yours, or when caches of the whole machine are dropped; add \
             --drop-caches if nothing else is measured here",
        ));
    }
    if !may_drop() {
        return Err(RunError::cannot(
            "--drop-caches: /proc/sys/vm/drop_caches cannot be written; run it as root, outside of a \
             container",
        ));
    }
    Ok(Some(
        "--drop-caches: before the load, the kernel drops the directory entries and inodes that it \
         has cached, for the whole machine: everybody's next look at a file goes to disk"
            .into(),
    ))
}

/// Drops caches until all trees are gone from them.
pub(super) fn drop_caches(trees: &mut [Held]) -> Result<(), RunError> {
    for held in trees.iter_mut() {
        // An inode that is not stored cannot leave memory, and none that is open.
        let label = held.ready.label();
        rustix::fs::syncfs(held.tree.root_fd())
            .map_err(|e| RunError::cannot(format!("{label}: cannot sync: {}", describe(e))))?;
        held.tree.let_go().map_err(|error| RunError::cannot(error.to_string()))?;
    }
    for _ in 0..TRIES {
        drop_entries_and_inodes().map_err(|errno| {
            RunError::cannot(format!("cannot drop caches: {}", describe(errno)))
        })?;
        if trees.iter().all(|held| names_are_gone(held) == Some(true)) {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// Makes sure that all trees are cold, on their twins.
pub(super) fn verify_cold(resolved: &Resolved, trees: &[Held]) -> Result<(), RunError> {
    trees.iter().try_for_each(|held| verify(resolved, held))
}

/// Whether the way, and its twin, have left the cache of names.
fn names_are_gone(held: &Held) -> Option<bool> {
    let twin = held.tree.twin().map(|twin| twin.dirs.as_slice());
    let mut gone = true;
    for way in [Some(held.tree.dirs()), twin].into_iter().flatten() {
        gone &= name_is_gone(way.get(1)?).ok()??;
    }
    Some(gone)
}

fn verify(resolved: &Resolved, held: &Held) -> Result<(), RunError> {
    let label = held.ready.label();
    let fstype = held.ready.check.mount.as_ref().map_or("its file system", |m| m.fstype.as_str());
    let not_cold = |why: &str| Err(RunError::cannot(format!("{label}: --acl-cache cold: {why}")));
    match names_are_gone(held) {
        Some(true) => {}
        Some(false) => {
            return not_cold(&format!("{fstype} keeps its directories in memory; use ext4 or xfs"));
        }
        None => {
            return not_cold("the kernel does not say what it has cached (openat2, Linux 5.12)");
        }
    }
    let (Some(twin), Some(like)) = (held.tree.twin(), &resolved.tree.dirs) else {
        return not_cold("there are no directories that could be");
    };
    let (Some(top), Some(innermost)) = (twin.dirs.first(), twin.dirs.last()) else { return Ok(()) };
    match acls_are_known(top, innermost, (like.uid, like.gid)) {
        Ok(Known::No) => Ok(()),
        Ok(Known::Yes) => not_cold(&format!(
            "{fstype} knows the ACLs of these directories, or does not need them, as soon as it has \
             read them: caches are never cold here"
        )),
        Ok(Known::Unknown) => not_cold("walks leave RCU mode here in any case, so nothing tells"),
        Err(errno) => not_cold(&format!(
            "others cannot walk to the directories, so nothing tells: {}",
            describe(errno)
        )),
    }
}
