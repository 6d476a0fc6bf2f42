//! Goes along a path component by component, as the kernel does, and keeps each of them open.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, StatxFlags};
use rustix::io::Errno;

use crate::host::{HostError, mounts};

/// The kernel follows no more links in one path.
const MOST_LINKS: usize = 40;

/// Something on the way, open with O_PATH.
pub(super) struct Place {
    pub(super) fd: OwnedFd,
    pub(super) path: PathBuf,
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    pub(super) mount_id: Option<u64>,
    /// Of a link.
    pub(super) target: Option<PathBuf>,
}

impl Place {
    fn new(fd: OwnedFd, path: PathBuf) -> Result<Self, Errno> {
        let asked = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
        let found = rustix::fs::statx(&fd, c"", AtFlags::EMPTY_PATH, asked)?;
        let mode = u32::from(found.stx_mode);
        let is_link = FileType::from_raw_mode(mode) == FileType::Symlink;
        let target = is_link.then(|| rustix::fs::readlinkat(&fd, c"", Vec::new())).transpose()?;
        Ok(Self {
            path,
            mode,
            uid: found.stx_uid,
            gid: found.stx_gid,
            mount_id: mounts::mount_id(fd.as_fd()),
            target: target.map(|text| PathBuf::from(OsString::from_vec(text.into_bytes()))),
            fd,
        })
    }

    pub(super) fn is_dir(&self) -> bool {
        FileType::from_raw_mode(self.mode) == FileType::Directory
    }

    fn root() -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self::new(rustix::fs::openat(CWD, "/", flags, Mode::empty())?, "/".into())
    }

    /// What a name leads to from here; a link itself.
    fn step(&self, name: &Name) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match name {
            Name::Up => {
                let fd = rustix::fs::openat(&self.fd, "..", flags, Mode::empty())?;
                Self::new(fd, self.path.parent().unwrap_or(&self.path).to_owned())
            }
            Name::Down(name) => {
                let fd = rustix::fs::openat(&self.fd, name.as_bytes(), flags, Mode::empty())?;
                Self::new(fd, self.path.join(name))
            }
        }
    }
}

enum Name {
    Up,
    Down(OsString),
}

fn names(path: &Path) -> impl DoubleEndedIterator<Item = Name> {
    path.components().filter_map(|part| match part {
        Component::ParentDir => Some(Name::Up),
        Component::Normal(name) => Some(Name::Down(name.to_owned())),
        _ => None,
    })
}

/// All components of an absolute path, from `/`; each link is followed by what it leads to. With an
/// error, those up to it.
pub(super) fn walk(path: &Path) -> (Vec<Place>, Option<HostError>) {
    let mut places = Vec::new();
    let answer = go(path, &mut places);
    (places, answer.err())
}

fn go(path: &Path, places: &mut Vec<Place>) -> Result<(), HostError> {
    let root = || Place::root().map_err(HostError::on("look at", Path::new("/")));
    places.push(root()?);
    // Where the next name is looked up; links are no such places.
    let mut here = 0;
    let mut links = 0;
    let mut ahead: VecDeque<Name> = names(path).collect();
    while let Some(name) = ahead.pop_front() {
        let at = match &name {
            Name::Up => places[here].path.clone(),
            Name::Down(name) => places[here].path.join(name),
        };
        let place = places[here].step(&name).map_err(HostError::on("look at", &at))?;
        let target = place.target.clone();
        places.push(place);
        let Some(target) = target else {
            here = places.len() - 1;
            continue;
        };
        links += 1;
        if links > MOST_LINKS {
            return Err(HostError::on("follow", &at)(Errno::LOOP));
        }
        if target.is_absolute() {
            places.push(root()?);
            here = places.len() - 1;
        }
        names(&target).rev().for_each(|name| ahead.push_front(name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(path: &Path, below: &Path) -> (Vec<String>, Option<Errno>) {
        let (places, error) = walk(path);
        let places = places.iter().filter_map(|place| {
            Some(place.path.strip_prefix(below).ok()?.to_str().unwrap().to_owned())
        });
        (places.collect(), error.and_then(|error| error.errno()))
    }

    #[test]
    fn links_dots_and_ends() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(below.join("a/b")).unwrap();
        std::fs::write(below.join("a/b/file"), []).unwrap();
        symlink("a/../a/b", below.join("rel")).unwrap();
        symlink(below.join("a"), below.join("a/b/abs")).unwrap();
        symlink("loop", below.join("loop")).unwrap();
        let of = |path: &str| paths(&below.join(path), &below);
        assert_eq!(of("a/b"), (vec!["".into(), "a".into(), "a/b".into()], None));
        let (found, error) = of("rel/file");
        assert_eq!((found.join(" "), error), (" rel a  a a/b a/b/file".into(), None));
        // From an absolute link on, the way starts again at the root.
        let (found, error) = of("a/b/abs/b");
        assert_eq!((found.join(" "), error), (" a a/b a/b/abs  a a/b".into(), None));
        assert_eq!(of("a/b/file/x").1, Some(Errno::NOTDIR));
        assert_eq!(of("a/none"), (vec!["".into(), "a".into()], Some(Errno::NOENT)));
        assert_eq!(of("loop").1, Some(Errno::LOOP));
        assert_eq!(walk(Path::new("/..")).0.len(), 2);
    }
}
