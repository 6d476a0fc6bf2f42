//! What conditions a disk really has: asked of the kernel, not of the options.

use std::os::fd::{AsFd, OwnedFd};
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

/// What is asked of a disk, by a thread that may wait for it.
pub(in crate::run) struct Question {
    fstype: String,
    root: OwnedFd,
    dirs: Vec<PathBuf>,
    who: Option<Caller>,
}

impl Question {
    /// Asks about a run directory, and about those on the clients' path or on another way like it.
    pub(in crate::run) fn new(
        resolved: &Resolved,
        ready: &ReadyDisk,
        tree: &RunTree,
        dirs: &[PathBuf],
    ) -> Result<Self, String> {
        let root = tree.root_fd().try_clone_to_owned();
        Ok(Self {
            fstype: ready.check.mount.as_ref().map_or(String::new(), |mount| mount.fstype.clone()),
            root: root.map_err(|error| format!("{}: {error}", ready.label()))?,
            dirs: dirs.to_vec(),
            who: resolved.caller.clone().or_else(Caller::of_this_process),
        })
    }

    /// The answer.
    pub(in crate::run) fn ask(&self) -> Found {
        Found {
            acl_effective: Answer::of(self.root.as_fd()).force(&self.fstype).effective,
            acl_entries: entries(&self.dirs),
            relation: self.who.as_ref().and_then(|who| relation(who, &self.dirs)),
        }
    }
}

/// Says where a disk is not what was asked for.
pub(in crate::run) fn refuse_other(
    conditions: &Conditions,
    label: &str,
    found: &Found,
) -> Result<(), String> {
    if let Some(wanted) = conditions.mount_acl.wanted()
        && found.acl_effective != Some(wanted)
    {
        let state = if wanted { "not in force" } else { "in force" };
        return Err(format!("{label}: ACLs are {state}, which is not what was asked for"));
    }
    if let (Some(asked), Some(entries)) = (conditions.dirs, found.acl_entries)
        && entries != u64::from(asked.acl)
    {
        let asked = asked.acl;
        return Err(format!("{label}: directories have {entries} ACL entries, not {asked}"));
    }
    Ok(())
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
