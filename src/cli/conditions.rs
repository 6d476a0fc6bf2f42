//! Arguments of the permission conditions of a run.

use clap::{Args, ValueEnum};

use crate::run::{AclCache, Conditions, DirOwner, Dirs, MountAcl};

/// Directories between disk and clients when something is said of them.
pub(super) const DEPTH: u32 = 4;

/// Under which permissions.
#[derive(Debug, Args)]
#[command(next_help_heading = "Permissions")]
pub(super) struct ConditionArgs {
    /// Act as a user: a name of /etc/passwd, or numbers; only root can choose
    #[arg(long = "as", value_name = "USER[:GROUP]")]
    act_as: Option<String>,
    /// Give clients the user's groups of /etc/group, too [default: the one group alone]
    #[arg(long, hide_short_help = true)]
    keep_groups: bool,
    /// ACLs in force or not for the time of the run: remounts where the file system has noacl
    #[arg(long, value_enum, default_value_t = MountAclArg::Keep)]
    mount_acl: MountAclArg,
    /// Remount although others use the file system
    #[arg(long, hide_short_help = true)]
    force: bool,
    /// Whose the directories between disk and clients are [default: third, if one of these is given]
    #[arg(long, value_enum, hide_short_help = true)]
    dir_owner: Option<DirOwnerArg>,
    /// Permission bits of these directories, octal [default: 0755]
    #[arg(long, value_name = "MODE", value_parser = parse_mode, hide_short_help = true)]
    dir_mode: Option<u32>,
    /// Users that the ACL of each of these directories names [default: 0, no ACL]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=8000),
          hide_short_help = true)]
    dir_acl: Option<u32>,
    /// Whether the first of these users is the caller
    #[arg(long, value_name = "yes|no", value_parser = parse_yes_no,
          hide_short_help = true)]
    acl_match: Option<bool>,
    /// Let files and directories of the clients inherit the ACL
    #[arg(long, hide_short_help = true)]
    default_acl: bool,
    /// Whether the kernel has the ACLs of these directories in memory when clients start: warm as
    /// after they were made, cold as after a mount, which takes --drop-caches [default: warm]
    #[arg(long, value_enum, hide_short_help = true)]
    acl_cache: Option<AclCacheArg>,
    /// With --acl-cache: drop the directory entries and inodes that the kernel has cached, of the
    /// whole machine, before the load; warm ones are then read again
    #[arg(long, hide_short_help = true)]
    drop_caches: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AclCacheArg {
    /// Known to the kernel
    Warm,
    /// Not known until a check needs them
    Cold,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MountAclArg {
    /// As they are
    Keep,
    /// In force
    On,
    /// Not in force
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DirOwnerArg {
    /// Root
    Root,
    /// Whom the clients act as
    Caller,
    /// A user who is neither
    Third,
}

impl ConditionArgs {
    /// What was asked for.
    ///
    /// # Errors
    /// When an option says more about another one that is not there. They are looked at here and
    /// not by clap, since `matrix` may vary the other one.
    pub(super) fn conditions(self) -> Result<Conditions, String> {
        let needs = |given: bool, option: &str, other: &str| {
            let error = || format!("{option}: says more about {other}, which is not given");
            if given { Err(error()) } else { Ok(()) }
        };
        let no_user = self.act_as.is_none();
        needs(no_user && self.keep_groups, "--keep-groups", "--as")?;
        let no_acl = self.dir_acl.is_none();
        needs(no_acl && self.acl_match.is_some(), "--acl-match", "--dir-acl")?;
        needs(no_acl && self.default_acl, "--default-acl", "--dir-acl")?;
        let no_cache = self.acl_cache.is_none();
        needs(no_cache && self.drop_caches, "--drop-caches", "--acl-cache")?;
        let cold = self.acl_cache == Some(AclCacheArg::Cold);
        let said =
            self.dir_owner.is_some() || self.dir_mode.is_some() || self.dir_acl.is_some() || cold;
        let owner = match self.dir_owner {
            Some(DirOwnerArg::Root) => DirOwner::Root,
            Some(DirOwnerArg::Caller) => DirOwner::Caller,
            Some(DirOwnerArg::Third) | None => DirOwner::Third,
        };
        let dirs = Dirs {
            owner,
            mode: self.dir_mode.unwrap_or(0o755),
            acl: self.dir_acl.unwrap_or(0),
            acl_match: self.acl_match.unwrap_or(false),
            default_acl: self.default_acl,
        };
        Ok(Conditions {
            act_as: self.act_as,
            keep_groups: self.keep_groups,
            mount_acl: match self.mount_acl {
                MountAclArg::Keep => MountAcl::Keep,
                MountAclArg::On => MountAcl::On,
                MountAclArg::Off => MountAcl::Off,
            },
            force: self.force,
            dirs: said.then_some(dirs),
            acl_cache: if cold { AclCache::Cold } else { AclCache::Warm },
            drop_caches: self.drop_caches,
        })
    }
}

fn parse_mode(text: &str) -> Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o7777 => Ok(mode),
        _ => Err("expected permission bits in octal, such as 0755".into()),
    }
}

fn parse_yes_no(text: &str) -> Result<bool, String> {
    match text {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("expected yes or no".into()),
    }
}
