//! The kernel's permission check as a pure function: who, of what, under which rules -> which step
//! decides, and how.
//!
//! The steps are those of `generic_permission` in fs/namei.c and `posix_acl_permission` in
//! fs/posix_acl.c, Linux 5.8 to 6.18. Security modules and file systems with a check of their own may
//! refuse in addition; they are not asked here.

use serde::Serialize;

use crate::host::acl::{Acl, AclEntry, Who};
use crate::host::credentials::Credentials;

/// May read.
pub const READ: u8 = 4;
/// May write.
pub const WRITE: u8 = 2;
/// May execute; of a directory: may pass through it.
pub const SEARCH: u8 = 1;

/// What the check looks at in an inode, as seen through its mount (ids mapped).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inode {
    /// Type and permission bits, as `stat` has them.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// The access ACL, where there is one and ACLs are in force.
    pub acl: Option<Acl>,
}

/// What the kernel and the file system make of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The kernel has the shortcut (6.13 and later).
    pub shortcut: bool,
    /// ACLs are in force (SB_POSIXACL).
    pub acl: bool,
    /// The file system keeps no note of an inode without an ACL (overlayfs): then the shortcut,
    /// which needs it, is never taken while ACLs are in force.
    pub acl_not_cached: bool,
}

/// Which step decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Everybody has the permission and there is no ACL: nothing else is looked at. It only grants.
    Shortcut,
    /// The user owns it: the owner's bits decide, the ACL is not looked at.
    Owner,
    /// An entry of the ACL.
    Acl,
    /// The bits of the group.
    Group,
    /// The bits of everybody else.
    Other,
    /// A step before said no, and a capability was asked.
    Capability,
}

impl Step {
    /// All of them, in the kernel's order.
    pub const ALL: [Self; 6] =
        [Self::Shortcut, Self::Owner, Self::Acl, Self::Group, Self::Other, Self::Capability];

    /// Its name in results.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Shortcut => "shortcut",
            Self::Owner => "owner",
            Self::Acl => "acl",
            Self::Group => "group",
            Self::Other => "other",
            Self::Capability => "capability",
        }
    }
}

/// What the ACL step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Scan {
    /// The entry that decides.
    pub entry: AclEntry,
    /// The mask, where it took part.
    pub mask: Option<u8>,
    /// Entries looked at, from the first to the one that decides.
    pub scanned: usize,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The step that has the last word.
    pub step: Step,
    /// What it says.
    pub granted: bool,
    /// The step that said no before a capability was asked, or `step` itself.
    pub before: Step,
    /// The entry of the ACL, if one was consulted.
    pub scan: Option<Scan>,
    /// The capability that granted, by name.
    pub capability: Option<&'static str>,
    /// Whether the user's groups were gone through.
    pub group_test: bool,
}

/// Decides an access (a sum of [`READ`], [`WRITE`], [`SEARCH`]) to an inode.
#[must_use]
pub fn decide(who: &Credentials, inode: &Inode, rules: Rules, access: u8) -> Decision {
    let first = by_mode_and_acl(who, inode, rules, access);
    if first.granted {
        return first;
    }
    match capability(who, inode.mode, access) {
        Override::Grants(name) => {
            Decision { step: Step::Capability, granted: true, capability: Some(name), ..first }
        }
        Override::Refuses => Decision { step: Step::Capability, ..first },
        Override::None => first,
    }
}

/// Steps 1 to 4.
fn by_mode_and_acl(who: &Credentials, inode: &Inode, rules: Rules, access: u8) -> Decision {
    let bits = |shift: u32| ((inode.mode >> shift) & 7) as u8;
    let has = |bits: u8| bits & access == access;
    let decision = |step, granted| Decision {
        step,
        granted,
        before: step,
        scan: None,
        capability: None,
        group_test: false,
    };
    let no_acl = !rules.acl || (inode.acl.is_none() && !rules.acl_not_cached);
    if rules.shortcut && no_acl && has(bits(6)) && has(bits(3)) && has(bits(0)) {
        return decision(Step::Shortcut, true);
    }
    if who.uid == inode.uid {
        return decision(Step::Owner, has(bits(6)));
    }
    // Without group bits in the mode (the mask) nobody named can have anything: not looked at.
    if let Some(acl) = inode.acl.as_ref().filter(|_| rules.acl && bits(3) != 0)
        && let Some((scan, granted)) = scan(who, inode, acl, access)
    {
        let group_test = acl.entries[..scan.scanned].iter().any(|entry| is_group(entry.who));
        return Decision { scan: Some(scan), group_test, ..decision(Step::Acl, granted) };
    }
    let group_test = (bits(3) ^ bits(0)) & access != 0;
    if group_test && who.in_group(inode.gid) {
        return Decision { group_test, ..decision(Step::Group, has(bits(3))) };
    }
    Decision { group_test, ..decision(Step::Other, has(bits(0))) }
}

fn is_group(who: Who) -> bool {
    matches!(who, Who::OwningGroup | Who::Group(_))
}

/// Goes through the entries in order, as the kernel does. `None` for an ACL without a last entry,
/// which the kernel answers with EIO and no file system keeps.
fn scan(who: &Credentials, inode: &Inode, acl: &Acl, access: u8) -> Option<(Scan, bool)> {
    let has = |perms: u8| perms & access == access;
    let mut in_a_group = false;
    for (index, entry) in acl.entries.iter().enumerate() {
        let found = |mask: Option<u8>| {
            let perms = entry.perms & mask.unwrap_or(7);
            (Scan { entry: *entry, mask, scanned: index + 1 }, has(perms))
        };
        let group = match entry.who {
            Who::Owner if who.uid == inode.uid => return Some(found(None)),
            Who::User(uid) if uid == who.uid => return Some(found(acl.perms(Who::Mask))),
            Who::OwningGroup => Some(inode.gid),
            Who::Group(gid) => Some(gid),
            // A group of the user had an entry, but none of them grants: others' bits do not count.
            Who::Other => {
                let (scan, granted) = found(None);
                return Some((scan, granted && !in_a_group));
            }
            _ => None,
        };
        if group.is_some_and(|gid| who.in_group(gid)) {
            in_a_group = true;
            if has(entry.perms) {
                return Some(found(acl.perms(Who::Mask)));
            }
        }
    }
    None
}

enum Override {
    Grants(&'static str),
    /// The user holds one, but it does not reach that far.
    Refuses,
    None,
}

/// Step 5: directories are searched and read with either capability; a file that nobody may execute
/// is executed by nobody.
fn capability(who: &Credentials, mode: u32, access: u8) -> Override {
    let directory = mode & 0o170_000 == 0o040_000;
    let reads = if directory { access & WRITE == 0 } else { access == READ };
    if reads && who.dac_read_search {
        return Override::Grants("CAP_DAC_READ_SEARCH");
    }
    let reaches = directory || access & SEARCH == 0 || mode & 0o111 != 0;
    match (who.dac_override, who.dac_read_search) {
        (true, _) if reaches => Override::Grants("CAP_DAC_OVERRIDE"),
        (false, false) => Override::None,
        _ => Override::Refuses,
    }
}

#[cfg(test)]
#[path = "decide_tests.rs"]
mod tests;
