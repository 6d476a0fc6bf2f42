//! What a run directory is like inside: directories in one another, with owner, mode and ACL.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Gid, Mode, OFlags, Uid, fchmod, mkdirat, openat};
use rustix::io::Errno;

use super::HostError;
use super::acl::Acl;
use super::acl_xattr::{AclKind, remove_fd, set_fd};

/// The directory that belongs to whom the clients act as.
const CLIENTS_OWN: &str = "c";

/// The directory beside the clients' that they share: `SHARED` of a loadfile.
const SHARED: &str = "SHARED";

/// What a run directory is like inside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeSpec {
    /// Directories inside one another, in the innermost of which clients work.
    pub depth: u32,
    /// What these are like; `None` for plain directories of this user.
    pub dirs: Option<DirSpec>,
    /// A further directory of this user and group, in which clients work then.
    pub inner: Option<(u32, u32)>,
    /// A directory that all clients share, where they work: open to nobody but whom they act as.
    pub shared: bool,
    /// Whether the same is made once more beside it, for what would spoil it.
    pub twin: bool,
}

impl TreeSpec {
    /// So many plain directories inside one another.
    #[must_use]
    pub fn of_depth(depth: u32) -> Self {
        Self { depth, ..Self::default() }
    }
}

/// What a directory is like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirSpec {
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its permission bits.
    pub mode: u32,
    /// Its ACL, if that is to say more than the mode.
    pub acl: Option<Acl>,
    /// What new files in it inherit.
    pub default_acl: Option<Acl>,
}

/// Makes `d1/d2/...`, named by `letter`, below a directory, and the clients' own in the innermost;
/// returns that with its path, and the paths of the others.
pub(super) fn nest(
    mut dir: OwnedFd,
    path: &Path,
    letter: char,
    spec: &TreeSpec,
) -> Result<(OwnedFd, PathBuf, Vec<PathBuf>), HostError> {
    let mut here = path.to_owned();
    let mut dirs = vec![here.clone()];
    for level in 1..=spec.depth {
        let name = format!("{letter}{level}");
        here.push(&name);
        dir = make_below(&dir, &name, &here)?;
        if let Some(like) = &spec.dirs {
            shape(dir.as_fd(), like).map_err(HostError::on("set owner, mode or ACL of", &here))?;
        }
        dirs.push(here.clone());
    }
    if let Some(owner) = spec.inner {
        here.push(CLIENTS_OWN);
        dir = make_below(&dir, CLIENTS_OWN, &here)?;
        shape(dir.as_fd(), &plain(owner, 0o755)).map_err(HostError::on("give away", &here))?;
    }
    if spec.shared {
        let path = here.join(SHARED);
        let shared = make_below(&dir, SHARED, &path)?;
        let closed = match spec.inner {
            Some(owner) => shape(shared.as_fd(), &plain(owner, 0o700)),
            // File systems without modes refuse this.
            None => fchmod(&shared, Mode::RWXU).or(Ok(())),
        };
        closed.map_err(HostError::on("give away", &path))?;
    }
    Ok((dir, here, dirs))
}

/// A directory without ACLs.
fn plain((uid, gid): (u32, u32), mode: u32) -> DirSpec {
    DirSpec { uid, gid, mode, acl: None, default_acl: None }
}

fn make_below(dir: &OwnedFd, name: &str, path: &Path) -> Result<OwnedFd, HostError> {
    mkdirat(dir, name, mode_755())
        .and_then(|()| openat(dir, name, directory_flags(), Mode::empty()))
        .map_err(HostError::on("create", path))
}

/// Owner, mode and ACLs of a directory that was just made. What it inherited goes.
fn shape(dir: BorrowedFd<'_>, like: &DirSpec) -> Result<(), Errno> {
    let stat = rustix::fs::fstat(dir)?;
    if (stat.st_uid, stat.st_gid) != (like.uid, like.gid) {
        let (uid, gid) = (Uid::from_raw(like.uid), Gid::from_raw(like.gid));
        rustix::fs::fchown(dir, Some(uid), Some(gid))?;
    }
    fchmod(dir, Mode::from_raw_mode(like.mode))?;
    for (kind, acl) in [(AclKind::Access, &like.acl), (AclKind::Default, &like.default_acl)] {
        match acl {
            Some(acl) => set_fd(dir, kind, acl)?,
            None => match remove_fd(dir, kind) {
                Err(Errno::OPNOTSUPP) => {} // no ACLs here, so none was inherited
                answer => answer?,
            },
        }
    }
    Ok(())
}

pub(super) fn mode_755() -> Mode {
    Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH
}

pub(super) fn directory_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}
