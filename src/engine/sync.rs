//! The blocking engine: one client a thread, plain system calls. dbench's own shape.

use std::cell::{RefCell, RefMut};
use std::ffi::CStr;

use super::{
    Call, CallResult, ClientIndex, Control, Engine, PathSlot, Slot, SlotLayout, Step, sys,
};

/// Makes every call at once in the calling thread.
#[derive(Debug)]
pub struct SyncEngine<'a> {
    slot: RefCell<Slot>,
    control: &'a Control,
}

impl<'a> SyncEngine<'a> {
    /// An engine for the one client of this thread.
    #[must_use]
    pub fn new(layout: &SlotLayout, control: &'a Control) -> Self {
        Self { slot: RefCell::new(Slot::new(layout)), control }
    }
}

impl Engine for SyncEngine<'_> {
    const NAME: &'static str = "sync";

    #[inline]
    fn start(&self, _: ClientIndex, call: Call) -> Step {
        Step::Done(match call {
            Call::Sleep { until_ns } => {
                self.control.sleep(until_ns);
                Ok(0)
            }
            Call::Await { client, value } => Ok(u64::from(self.control.wait_for(client, value))),
            call => execute(&mut self.slot.borrow_mut(), call),
        })
    }

    #[inline]
    fn slot(&self, _: ClientIndex) -> RefMut<'_, Slot> {
        self.slot.borrow_mut()
    }
}

/// Makes one system call with what a slot holds. Waits are not its business.
#[inline]
pub(super) fn execute(slot: &mut Slot, call: Call) -> CallResult {
    let at = slot.directory;
    match call {
        Call::Stat(path) => store(slot, sys::stat(at, slot.path(path).as_c_str())),
        Call::Lstat(path) => store(slot, sys::lstat(at, slot.path(path).as_c_str())),
        Call::Fstat(fd) => store(slot, sys::fstat(fd)),
        Call::Open { path, flags, mode } => sys::open(at, slot.path(path).as_c_str(), flags, mode),
        Call::Close(fd) => sys::close(fd),
        Call::Read { fd, offset, len } => sys::pread(fd, &mut slot.read[..len], offset),
        Call::Write { fd, offset, from, len } => {
            sys::pwrite(fd, &slot.write[from..from + len], offset)
        }
        Call::Getdents(fd) => sys::getdents(fd, &mut slot.dir),
        Call::Statfs(path) => sys::statfs(at, slot.path(path).as_c_str()),
        Call::Fsync(fd) => sys::fsync(fd),
        Call::Fdatasync(fd) => sys::fdatasync(fd),
        Call::Mkdir { path, mode } => sys::mkdir(at, slot.path(path).as_c_str(), mode),
        Call::Rmdir(path) => sys::rmdir(at, slot.path(path).as_c_str()),
        Call::Unlink(path) => sys::unlink(at, slot.path(path).as_c_str()),
        Call::Rename => sys::rename(
            at,
            slot.path(PathSlot::First).as_c_str(),
            slot.path(PathSlot::Second).as_c_str(),
        ),
        Call::Renameat { flags } => {
            let (old, new) = both(slot);
            sys::renameat(at, old, new, flags)
        }
        Call::Link => {
            let (old, new) = both(slot);
            sys::link(at, old, new)
        }
        Call::Symlink => sys::symlink(at, slot.path(PathSlot::Parent).as_c_str(), both(slot).1),
        Call::Readlink(PathSlot::Second) => {
            sys::readlink(at, slot.second.as_c_str(), &mut slot.dir)
        }
        Call::Readlink(_) => sys::readlink(at, slot.first.as_c_str(), &mut slot.dir),
        Call::Futimens { fd, atime_s, mtime_s } => sys::futimens(fd, atime_s, mtime_s),
        Call::Lock { fd, offset, len, lock } => sys::lock(fd, offset, len, lock),
        Call::Deltree(path) => sys::deltree(at, slot.path(path).as_c_str()),
        Call::Getxattr(path) => sys::getxattr(at, slot.path(path).as_c_str()),
        Call::Fgetxattr(fd) => sys::fgetxattr(fd),
        Call::Fsetxattr(fd) => sys::fsetxattr(fd),
        Call::Fstatat(fd) => store(slot, sys::fstatat(fd)),
        Call::StatEntry { fd, at } => {
            let entry = sys::stat_entry(fd, &slot.dir[at..]);
            store(slot, entry)
        }
        Call::Attribute(call) => sys::attribute(slot, call),
        Call::MmapRead { fd, offset, len } => sys::map_read(fd, offset, len),
        Call::Simple { kind, fd, numbers } => {
            sys::simple(kind, at, slot.path(PathSlot::First).as_c_str(), fd, numbers)
        }
        Call::Sleep { .. } | Call::Await { .. } => Ok(0),
    }
}

fn both(slot: &Slot) -> (&CStr, &CStr) {
    (slot.path(PathSlot::First).as_c_str(), slot.path(PathSlot::Second).as_c_str())
}

#[inline]
fn store(slot: &mut Slot, stat: Result<sys::Stat, super::Errno>) -> CallResult {
    stat.map(|stat| {
        slot.stat = stat;
        0
    })
}
