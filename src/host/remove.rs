//! Removes a directory tree without ever leaving it: no symlink is followed, no mount entered.
//!
//! It descends with one `openat(O_NOFOLLOW | O_DIRECTORY)` per directory and looks at what it
//! opened, so a directory that is exchanged for a link meanwhile is unlinked as a link. At most
//! [`OPEN_LEVELS`] descriptors are open at any depth, and two where there are no more to be had: a
//! level above is opened again through `..` of the one below, and must be the same directory.

use std::ffi::{CStr, CString, OsStr};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, SeekFrom, fchmod, openat, unlinkat};
use rustix::io::Errno;

use super::identity::Identity;
use super::{attributes, errno};

/// Directory levels that are held open at a time.
pub const OPEN_LEVELS: usize = 16;
/// How often a directory is read again that had new entries when it should have been empty.
const RESCANS: u8 = 3;
const BUFFER: usize = 32 * 1024;

/// What a removal did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoveReport {
    /// Files and directories that were removed.
    pub removed: u64,
    /// Files and directories that could not be, those above them not counted.
    pub failed: u64,
    /// The first of these.
    pub first_failure: Option<RemoveFailure>,
}

/// One thing that could not be removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot remove {}: {}{advice}", path.display(), super::errno::describe(*errno))]
pub struct RemoveFailure {
    /// Its path.
    pub path: PathBuf,
    /// The kernel's answer; EXDEV for a mount point or a subvolume inside.
    pub errno: Errno,
    /// What can be done about it.
    pub advice: &'static str,
}

/// Removes a file or a whole directory below a directory; plain calls only, as a client makes them.
///
/// The name may be a path; its last component is never followed. Returns how many files and
/// directories were removed; 0 if there was none of that name.
///
/// # Errors
/// The first error; everything that could be removed is removed nevertheless.
pub fn delete_tree_at(dir: BorrowedFd<'_>, name: &CStr) -> Result<u64, Errno> {
    let mut remover = Remover::new(dir, Path::new(""));
    let bytes = name.to_bytes();
    if !bytes.contains(&b'/') {
        // A mount point is no directory of ours. With a path, the first that is opened decides.
        remover.top = Identity::of(dir).ok();
        return remover.remove(name).and_then(whole);
    }
    // A slash at the end would make the kernel follow a link of that name.
    let kept = bytes.len() - bytes.iter().rev().take_while(|&&byte| byte == b'/').count();
    let name = CString::new(&bytes[..kept]).map_err(|_| Errno::INVAL)?;
    remover.remove(&name).and_then(whole)
}

/// All or the first error.
fn whole(report: RemoveReport) -> Result<u64, Errno> {
    report.first_failure.map_or(Ok(report.removed), |failure| Err(failure.errno))
}

/// One removal. `parent` is never changed but for the one name below it.
pub(super) struct Remover<'a> {
    parent: BorrowedFd<'a>,
    path: &'a Path,
    /// Whether directories inside may be made accessible to remove what they hold.
    force: bool,
    /// A name directly in the top directory that goes last.
    last: Option<&'a CStr>,
    top: Option<Identity>,
    levels: Vec<Level>,
    buffer: Vec<u8>,
    report: RemoveReport,
}

struct Level {
    /// `None` while too many levels below are open.
    fd: Option<OwnedFd>,
    name: CString,
    identity: Identity,
    subdirectories: Vec<CString>,
    rescans_left: u8,
    /// Something inside stays, so the directory stays.
    blocked: bool,
}

enum Child {
    Directory(OwnedFd, Identity),
    Other,
    Gone,
}

impl<'a> Remover<'a> {
    pub(super) fn new(parent: BorrowedFd<'a>, path: &'a Path) -> Self {
        Self {
            parent,
            path,
            force: false,
            last: None,
            top: None,
            levels: Vec::new(),
            buffer: Vec::with_capacity(BUFFER),
            report: RemoveReport::default(),
        }
    }

    /// Also removes what lies in directories inside the tree that forbid it to their owner.
    pub(super) fn force(mut self) -> Self {
        self.force = true;
        self
    }

    /// Keeps one name of the top directory until everything else is gone, and with it the
    /// directory if something could not be removed.
    pub(super) fn keep_until_last(mut self, name: &'a CStr) -> Self {
        self.last = Some(name);
        self
    }

    /// Removes a name below the parent.
    pub(super) fn remove(mut self, name: &CStr) -> Result<RemoveReport, Errno> {
        self.enter(name.to_owned())?;
        self.run()
    }

    /// Removes a directory below the parent that is open already and known to be the right one.
    pub(super) fn remove_opened(
        mut self,
        name: &CStr,
        fd: OwnedFd,
        identity: Identity,
    ) -> Result<RemoveReport, Errno> {
        self.top = Some(identity);
        self.push(name.to_owned(), fd, identity);
        self.run()
    }

    fn run(mut self) -> Result<RemoveReport, Errno> {
        while let Some(level) = self.levels.last_mut() {
            match level.subdirectories.pop() {
                Some(name) => self.enter(name)?,
                None => self.leave()?,
            }
        }
        Ok(self.report)
    }

    /// The directory that is worked in.
    fn here(&self) -> BorrowedFd<'_> {
        self.levels.last().and_then(|level| level.fd.as_ref()).map_or(self.parent, AsFd::as_fd)
    }

    /// Opens a directory below and reads it; anything else of that name is unlinked.
    fn enter(&mut self, name: CString) -> Result<(), Errno> {
        // A name that is a directory now and a link then is exchanged by somebody: give up soon.
        for _ in 0..8 {
            match self.open_child(&name) {
                Ok(Child::Directory(fd, identity)) => {
                    self.top.get_or_insert(identity);
                    self.push(name, fd, identity);
                    return Ok(());
                }
                Ok(Child::Gone) => return Ok(()),
                Ok(Child::Other) => match unlinkat(self.here(), &name, AtFlags::empty()) {
                    Ok(()) => {
                        self.report.removed += 1;
                        return Ok(());
                    }
                    Err(Errno::NOENT) => return Ok(()),
                    Err(Errno::ISDIR) => {}
                    Err(errno) => return self.failed(&name, errno),
                },
                Err(errno) => return self.failed(&name, errno),
            }
        }
        self.failed(&name, Errno::BUSY)
    }

    fn open_child(&mut self, name: &CStr) -> Result<Child, Errno> {
        let flags = OFlags::RDONLY
            | OFlags::DIRECTORY
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::CLOEXEC;
        let mut opened = openat(self.here(), name, flags, Mode::empty());
        while matches!(opened, Err(Errno::MFILE)) && self.close_outermost() {
            opened = openat(self.here(), name, flags, Mode::empty());
        }
        if self.force && matches!(opened, Err(Errno::ACCESS)) {
            self.unlock(name)?;
            opened = openat(self.here(), name, flags, Mode::empty());
        }
        let fd = match opened {
            Ok(fd) => fd,
            Err(Errno::NOTDIR | Errno::LOOP) => return Ok(Child::Other),
            Err(Errno::NOENT) => return Ok(Child::Gone),
            Err(errno) => return Err(errno),
        };
        let identity = Identity::of(fd.as_fd())?;
        if self.top.is_some_and(|top| !top.same_mount(identity)) {
            return Err(Errno::XDEV);
        }
        if self.force && identity.mode & 0o700 != 0o700 {
            // Refused for another's directory; the unlinks inside then say so by name.
            let _ = fchmod(&fd, Mode::RWXU);
        }
        Ok(Child::Directory(fd, identity))
    }

    /// Closes the open level that is farthest from the innermost; `false` if there is none.
    fn close_outermost(&mut self) -> bool {
        let above = self.levels.split_last_mut().map_or(&mut [] as &mut [_], |(_, above)| above);
        above.iter_mut().any(|level| level.fd.take().is_some())
    }

    /// Makes an unreadable directory inside the tree accessible, by descriptor and not by name.
    fn unlock(&self, name: &CStr) -> Result<(), Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = openat(self.here(), name, flags, Mode::empty())?;
        let top = self.top.ok_or(Errno::ACCESS)?;
        if !top.same_mount(Identity::of(fd.as_fd())?) {
            return Err(Errno::XDEV);
        }
        // fchmod refuses such a descriptor. /proc/self would name the table of another thread.
        let path = format!("/proc/thread-self/fd/{}", fd.as_raw_fd());
        rustix::fs::chmod(path, Mode::RWXU)
    }

    fn push(&mut self, name: CString, fd: OwnedFd, identity: Identity) {
        let (subdirectories, rescans_left) = (Vec::new(), RESCANS);
        let fd = Some(fd);
        self.levels.push(Level {
            fd,
            name,
            identity,
            subdirectories,
            rescans_left,
            blocked: false,
        });
        if let Some(distant) = self.levels.len().checked_sub(OPEN_LEVELS + 1) {
            self.levels[distant].fd = None;
        }
        self.scan();
    }

    /// Unlinks everything in the innermost directory that is no directory, and notes those.
    fn scan(&mut self) {
        let top = self.levels.len() == 1;
        let mut failures = Vec::new();
        let Some(level) = self.levels.last_mut() else { return };
        let Some(fd) = level.fd.as_ref() else { return };
        self.buffer.clear();
        let spare: &mut [MaybeUninit<u8>] = self.buffer.spare_capacity_mut();
        let mut entries = RawDir::new(fd, spare);
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                // Somebody else removed the directory meanwhile.
                Err(Errno::NOENT) => break,
                Err(errno) => {
                    failures.push((c".".to_owned(), errno));
                    break;
                }
            };
            let name = entry.file_name();
            if name == c"." || name == c".." || (top && self.last == Some(name)) {
                continue;
            }
            if entry.file_type() == FileType::Directory {
                level.subdirectories.push(name.to_owned());
                continue;
            }
            match unlinkat(fd, name, AtFlags::empty()) {
                Ok(()) => self.report.removed += 1,
                Err(Errno::NOENT) => {}
                Err(Errno::ISDIR) => level.subdirectories.push(name.to_owned()),
                // All that is needed of a directory full of them is one name and the number.
                Err(errno) => failures.push((name.to_owned(), errno)),
            }
        }
        for (name, errno) in failures {
            // Never an error inside a level.
            let _ = self.failed(&name, errno);
        }
    }

    /// Removes the innermost directory, which was emptied, and goes up.
    fn leave(&mut self) -> Result<(), Errno> {
        self.reopen_above()?;
        let above = self.levels.len().checked_sub(2);
        let Some(level) = self.levels.last() else { return Ok(()) };
        // Look once more before the name that says whose directory this is goes.
        let unread = level.rescans_left == RESCANS && !level.blocked;
        if above.is_none() && self.last.is_some() && unread && self.rescan() {
            return Ok(());
        }
        let parent =
            above.and_then(|index| self.levels[index].fd.as_ref()).map_or(self.parent, AsFd::as_fd);
        let Some(level) = self.levels.last() else { return Ok(()) };
        let mut outcome = if level.blocked { Err(Errno::NOTEMPTY) } else { Ok(()) };
        if let (Ok(()), None, Some(last), Some(fd)) = (outcome, above, self.last, &level.fd) {
            match unlinkat(fd, last, AtFlags::empty()) {
                Ok(()) => self.report.removed += 1,
                Err(Errno::NOENT) => {}
                Err(errno) => outcome = Err(errno),
            }
        }
        let blocked = level.blocked;
        outcome = outcome.and_then(|()| unlinkat(parent, &level.name, AtFlags::REMOVEDIR));
        let refilled = matches!(outcome, Err(Errno::NOTEMPTY | Errno::EXIST));
        if refilled && !blocked && self.rescan() {
            return Ok(());
        }
        let Some(level) = self.levels.pop() else { return Ok(()) };
        match outcome {
            Ok(()) => self.report.removed += 1,
            Err(Errno::NOENT) => {}
            Err(_) if blocked => {
                if let Some(above) = self.levels.last_mut() {
                    above.blocked = true;
                }
            }
            Err(errno) => {
                // At the top there is no level to go on with, but the report has it.
                let _ = self.failed(&level.name, errno);
            }
        }
        Ok(())
    }

    fn rescan(&mut self) -> bool {
        let Some(level) = self.levels.last_mut() else { return false };
        let Some(fd) = level.fd.as_ref() else { return false };
        if level.rescans_left == 0 || rustix::fs::seek(fd, SeekFrom::Start(0)).is_err() {
            return false;
        }
        level.rescans_left -= 1;
        self.scan();
        true
    }

    /// Opens the level above the innermost again, if it was closed for want of descriptors.
    fn reopen_above(&mut self) -> Result<(), Errno> {
        let [.., above, level] = self.levels.as_mut_slice() else { return Ok(()) };
        let (None, Some(fd)) = (&above.fd, &level.fd) else { return Ok(()) };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(fd, c"..", flags, Mode::empty())?;
        if !Identity::of(opened.as_fd())?.same_file(above.identity) {
            // Somebody moved the directory away under us; what lies there is not ours.
            return Err(Errno::STALE);
        }
        above.fd = Some(opened);
        Ok(())
    }

    /// Notes a failure in the innermost level. Without a level there is nothing else to do.
    fn failed(&mut self, name: &CStr, errno: Errno) -> Result<(), Errno> {
        self.report.failed += 1;
        if self.report.first_failure.is_none() {
            let mut path = self.path.to_owned();
            let names = self.levels.iter().map(|level| level.name.as_c_str());
            path.extend(names.chain([name]).map(|name| OsStr::from_bytes(name.to_bytes())));
            let forbids = match errno {
                Errno::PERM => attributes::forbids(self.here(), name),
                _ => None,
            };
            let advice = forbids.unwrap_or_else(|| errno::advice(errno));
            self.report.first_failure = Some(RemoveFailure { path, errno, advice });
        }
        match self.levels.last_mut() {
            Some(level) => level.blocked = true,
            None if self.top.is_none() => return Err(errno),
            None => {}
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "remove_tests.rs"]
mod tests;
