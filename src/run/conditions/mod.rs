//! Under which permission conditions a run is made: whose credentials its threads have, what the
//! directories on the clients' paths are like, and whether ACLs are in force. What was asked for is
//! checked before anything is made, brought about, verified, and undone.

mod cold;
mod found;
mod remount;
mod resolve;
mod run;
mod squashed;

pub(super) use cold::refuse_cold;
pub(super) use found::Found;
pub(super) use remount::{Remounts, refuse_remounts};
pub(super) use resolve::{Resolved, resolve};
pub(super) use squashed::refuse_squashed;

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// Whom the clients act as, as typed: `USER[:GROUP]`, `UID[:GID]`.
    pub act_as: Option<String>,
    /// Give them the user's further groups.
    pub keep_groups: bool,
    /// Whether ACLs are to be in force.
    pub mount_acl: MountAcl,
    /// Remount although others use the file system.
    pub force: bool,
    /// What the directories between disk and clients are like, if anything was said of them.
    pub dirs: Option<Dirs>,
    /// Whether the kernel has the ACLs of these directories in memory when the clients start.
    pub acl_cache: AclCache,
    /// For that, caches of the whole machine may be dropped.
    pub drop_caches: bool,
}

/// Whether the kernel knows the ACLs of directories without asking the file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AclCache {
    /// As it is for directories that were just made: it knows them.
    #[default]
    Warm,
    /// As it is after a mount: it does not.
    Cold,
}

impl AclCache {
    /// The word of the command line and of results.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Cold => "cold",
        }
    }
}

/// Whether ACLs are to be in force on the disks' file systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MountAcl {
    /// As they are.
    #[default]
    Keep,
    /// In force.
    On,
    /// Off.
    Off,
}

impl MountAcl {
    /// The word of the command line and of results.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::On => "on",
            Self::Off => "off",
        }
    }

    /// Whether it may take a remount.
    #[must_use]
    pub const fn is_a_change(self) -> bool {
        self.wanted().is_some()
    }

    /// The state that is asked for, if one is.
    pub(super) const fn wanted(self) -> Option<bool> {
        match self {
            Self::Keep => None,
            Self::On => Some(true),
            Self::Off => Some(false),
        }
    }
}

/// The directories between a disk and its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dirs {
    /// Whose they are.
    pub owner: DirOwner,
    /// Their mode.
    pub mode: u32,
    /// Users that the ACL of each of them names.
    pub acl: u32,
    /// Whether the first of these is the caller.
    pub acl_match: bool,
    /// Whether new files inherit the ACL.
    pub default_acl: bool,
}

/// Who owns the directories on the clients' paths. All credentials stand in the same relation to
/// what a third user owns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DirOwner {
    /// Root.
    Root,
    /// Whom the clients act as.
    Caller,
    /// Somebody who is neither.
    #[default]
    Third,
}

impl DirOwner {
    /// The word of the command line and of results.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Caller => "caller",
            Self::Third => "third",
        }
    }
}

impl Conditions {
    /// Whether the clients get a directory of their own below the others.
    pub(super) fn is_any(&self) -> bool {
        self.act_as.is_some() || self.dirs.is_some()
    }

    /// What was asked for, in canonical form.
    #[must_use]
    pub fn text(&self) -> String {
        let mut words = vec![format!("mount-acl={}", self.mount_acl.word())];
        if let Some(who) = &self.act_as {
            let groups = if self.keep_groups { " keep-groups" } else { "" };
            words.push(format!("as={who}{groups}"));
        }
        if let Some(dirs) = self.dirs {
            let Dirs { owner, mode, acl, acl_match, default_acl } = dirs;
            let owner = owner.word();
            let matches = if acl_match { "yes" } else { "no" };
            words.push(format!(
                "dir-owner={owner} dir-mode={mode:04o} dir-acl={acl} acl-match={matches}"
            ));
            if default_acl {
                words.push("default-acl".into());
            }
        }
        if self.acl_cache == AclCache::Cold {
            words.push("acl-cache=cold".into());
        }
        if self.drop_caches {
            words.push("drop-caches".into());
        }
        words.join(" ")
    }
}
