//! What conditions a disk really has: asked of the kernel, not of the options.

use std::path::PathBuf;

use super::{Conditions, Resolved};
use crate::host::acl_force::Answer;
use crate::host::caller::Caller;
use crate::host::credentials::Credentials;
use crate::host::tree::RunTree;
use crate::run::prepare::ReadyDisk;

/// The conditions of a disk as they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::run) struct Found {
    /// Whether ACLs are in force; `None` where the answer says nothing about the check.
    pub(in crate::run) acl_effective: Option<bool>,
    /// Most users and groups that the ACL of a directory on the clients' path names.
    pub(in crate::run) acl_entries: Option<u64>,
    /// How the caller stands to these directories: owner, group, other or capability.
    pub(in crate::run) relation: Option<&'static str>,
}

/// Looks at a run directory, and at those on the clients' path or on another way that is like it; says
/// where they are not what was asked for.
pub(in crate::run) fn look(
    conditions: &Conditions,
    resolved: &Resolved,
    ready: &ReadyDisk,
    tree: &RunTree,
    dirs: &[PathBuf],
) -> Result<Found, String> {
    let fstype = ready.check.mount.as_ref().map_or("", |mount| mount.fstype.as_str());
    let answer = Answer::of(tree.root_fd());
    let acl_effective = answer.force(fstype).effective;
    let own = Caller::of_this_process();
    let who = resolved.caller.as_ref().or(own.as_ref());
    let entries = entries(dirs);
    let found = Found {
        acl_effective,
        acl_entries: entries,
        relation: who.and_then(|who| relation(who, dirs)),
    };
    let label = ready.label();
    if let Some(wanted) = conditions.mount_acl.wanted()
        && acl_effective != Some(wanted)
    {
        let state = if wanted { "not in force" } else { "in force" };
        return Err(format!("{label}: ACLs are {state}, which is not what was asked for"));
    }
    if let Some(asked) = conditions.dirs
        && entries.is_some_and(|found| found != u64::from(asked.acl))
    {
        let found = entries.unwrap_or(0);
        let asked = asked.acl;
        return Err(format!("{label}: directories have {found} ACL entries, not {asked}"));
    }
    Ok(found)
}

/// Most names in the ACL of a directory of the path; unknown where ACLs are off: what is on disk
/// cannot be read then.
fn entries(dirs: &[PathBuf]) -> Option<u64> {
    let named = |answer| match answer {
        Answer::None => Some(0),
        Answer::Acl(acl) => Some(acl.named() as u64),
        Answer::Off | Answer::Unknown(_) => None,
    };
    let found: Option<Vec<u64>> = dirs.iter().map(|dir| named(Answer::of_dir(dir).ok()?)).collect();
    found?.into_iter().max()
}

/// The caller's relation to the innermost directory that is not the clients' own.
fn relation(who: &Caller, dirs: &[PathBuf]) -> Option<&'static str> {
    let stat = rustix::fs::lstat(dirs.last()?).ok()?;
    let credentials = Credentials::of_caller(who);
    let (word, shift) = if stat.st_uid == who.uid {
        ("owner", 6)
    } else if credentials.in_group(stat.st_gid) {
        ("group", 3)
    } else {
        ("other", 0)
    };
    let may_search = stat.st_mode >> shift & 1 != 0;
    Some(if !may_search && credentials.dac_read_search { "capability" } else { word })
}
