//! From words to numbers: who the caller is, and what the tree is to be like.

use super::{Conditions, DirOwner, Dirs};
use crate::host::acl::{Acl, AclEntry, Who};
use crate::host::caller::Caller;
use crate::host::credentials::Credentials;
use crate::host::tree::{DirSpec, TreeSpec};
use crate::host::users::Users;
use crate::run::{RunError, RunRequest};

/// Owns what is neither root's nor the caller's; the second one if the caller is the first.
const THIRD: [u32; 2] = [65_533, 65_532];
/// Users that ACL entries name who are nobody here: above what login accounts use.
const FIRST_STRANGER: u32 = 2_000_000_000;

/// The conditions of a run in numbers.
#[derive(Clone, Debug, Default)]
pub(in crate::run) struct Resolved {
    /// Whom pool threads are to become; `None` for who they are.
    pub(in crate::run) caller: Option<Caller>,
    /// What run directories are like.
    pub(in crate::run) tree: TreeSpec,
}

/// Looks users up, and refuses what this process may not do.
pub(in crate::run) fn resolve(request: &RunRequest) -> Result<Resolved, RunError> {
    let conditions = &request.conditions;
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        refuse_without_root(conditions)?;
    }
    let caller = conditions.act_as.as_ref().map(|who| find(who, conditions.keep_groups));
    let caller = caller.transpose()?;
    if let (Some(caller), false) = (&caller, is_root) {
        refuse_another(caller)?;
    }
    let own = Caller::of_this_process()
        .ok_or_else(|| RunError::cannot("/proc/thread-self/status cannot be read"))?;
    let who = caller.as_ref().unwrap_or(&own);
    let tree = TreeSpec {
        depth: request.depth,
        dirs: conditions.dirs.as_ref().map(|dirs| dir_spec(dirs, who)),
        inner: conditions.is_any().then_some((who.uid, who.gid)),
        shared: false, // a disk's loads say that
    };
    // An ordinary user stays whom he is: nothing is taken, and nothing given up.
    let caller = caller.filter(|_| is_root);
    Ok(Resolved { caller, tree })
}

fn find(who: &str, keep_groups: bool) -> Result<Caller, RunError> {
    let users = Users::read().map_err(|error| RunError::cannot(error.to_string()))?;
    let account = users.find(who).map_err(|error| RunError::usage(format!("--as {error}")))?;
    let groups = if keep_groups { account.groups } else { Vec::new() };
    Ok(Caller { uid: account.uid, gid: account.gid, groups })
}

fn refuse_without_root(conditions: &Conditions) -> Result<(), RunError> {
    let needs_root = |option: &str, why: &str| {
        Err(RunError::cannot(format!("{option}: only root can {why}; run it as root")))
    };
    if conditions.mount_acl.wanted().is_some() {
        return needs_root("--mount-acl", "remount a file system");
    }
    match conditions.dirs {
        Some(Dirs { owner: DirOwner::Root | DirOwner::Third, .. }) => needs_root(
            "--dir-owner root and third",
            "give a directory away (--dir-owner caller needs no root)",
        ),
        _ => Ok(()),
    }
}

/// Without root one can only act as oneself.
fn refuse_another(caller: &Caller) -> Result<(), RunError> {
    let own = Credentials::of_this_thread().map_err(|e| RunError::cannot(e.to_string()))?;
    if (own.uid, own.gid) == (caller.uid, caller.gid) {
        return Ok(());
    }
    Err(RunError::cannot(format!(
        "--as: this process is uid {} gid {}, and only root can act as uid {} gid {}; run it as root",
        own.uid, own.gid, caller.uid, caller.gid
    )))
}

fn dir_spec(dirs: &Dirs, caller: &Caller) -> DirSpec {
    let (uid, gid) = match dirs.owner {
        DirOwner::Root => (0, 0),
        DirOwner::Caller => (caller.uid, caller.gid),
        DirOwner::Third => {
            let is_caller = |id: u32| id == caller.uid || id == caller.gid;
            let third = THIRD.into_iter().find(|id| !is_caller(*id)).unwrap_or(THIRD[0]);
            (third, third)
        }
    };
    let acl = (dirs.acl > 0).then(|| acl_of(dirs, caller));
    DirSpec {
        uid,
        gid,
        mode: dirs.mode,
        default_acl: acl.clone().filter(|_| dirs.default_acl),
        acl,
    }
}

/// An ACL that names so many users, each of whom may read and search.
fn acl_of(dirs: &Dirs, caller: &Caller) -> Acl {
    let mut users: Vec<u32> = (0..dirs.acl).map(|i| FIRST_STRANGER + i).collect();
    if dirs.acl_match {
        // The kernel keeps users in the order of their numbers: the caller comes first.
        users[0] = caller.uid;
    }
    let entry = |uid| AclEntry { who: Who::User(uid), perms: 5 };
    let named: Vec<_> = users.into_iter().map(entry).collect();
    Acl::with_named(dirs.mode, &named)
}
