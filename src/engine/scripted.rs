//! An engine that answers from a list and remembers what it was asked: for tests of exact
//! sequences, never for a measurement.

use std::cell::{RefCell, RefMut};
use std::collections::VecDeque;

use super::{Call, CallResult, ClientIndex, Engine, PathSlot, Slot, SlotLayout, Step};

/// A scripted answer.
#[derive(Clone, Debug)]
pub enum Reply {
    /// At once.
    Now(CallResult),
    /// Only after the client was polled again.
    Later(CallResult),
    /// A directory buffer with these names, at once.
    Names(&'static [&'static str]),
}

/// Answers calls in order; once the list is used up, every call succeeds with 0.
#[derive(Debug)]
pub struct ScriptedEngine {
    slot: RefCell<Slot>,
    replies: RefCell<VecDeque<Reply>>,
    pending: RefCell<VecDeque<(ClientIndex, CallResult)>>,
    log: RefCell<Vec<String>>,
}

impl ScriptedEngine {
    /// An engine for one client with its answers.
    #[must_use]
    pub fn new(layout: &SlotLayout, replies: impl IntoIterator<Item = Reply>) -> Self {
        Self {
            slot: RefCell::new(Slot::new(layout)),
            replies: RefCell::new(replies.into_iter().collect()),
            pending: RefCell::default(),
            log: RefCell::default(),
        }
    }

    /// The calls so far, one text each, paths as rendered.
    #[must_use]
    pub fn log(&self) -> Vec<String> {
        self.log.borrow().clone()
    }

    fn describe(&self, call: Call) -> String {
        let slot = self.slot.borrow();
        let path =
            |which: PathSlot| String::from_utf8_lossy(slot.path(which).as_bytes()).into_owned();
        match call {
            Call::Stat(p) => format!("stat {}", path(p)),
            Call::Lstat(p) => format!("lstat {}", path(p)),
            Call::Open { path: p, flags, mode } => format!("open {} {flags:#o} {mode:o}", path(p)),
            Call::Mkdir { path: p, mode } => format!("mkdir {} {mode:o}", path(p)),
            Call::Rmdir(p) => format!("rmdir {}", path(p)),
            Call::Unlink(p) => format!("unlink {}", path(p)),
            Call::Deltree(p) => format!("deltree {}", path(p)),
            Call::Statfs(p) => format!("statfs {}", path(p)),
            Call::Getxattr(p) => format!("getxattr {}", path(p)),
            Call::Rename => format!("rename {} {}", path(PathSlot::First), path(PathSlot::Second)),
            Call::Read { fd, offset, len } => format!("pread {fd} {offset} {len}"),
            Call::Write { fd, offset, len, .. } => format!("pwrite {fd} {offset} {len}"),
            Call::Lock { fd, offset, len, lock } => {
                format!("{} {fd} {offset} {len}", if lock { "lock" } else { "unlock" })
            }
            Call::Renameat { flags } => {
                format!("renameat {} {} {flags}", path(PathSlot::First), path(PathSlot::Second))
            }
            Call::Link => format!("link {} {}", path(PathSlot::First), path(PathSlot::Second)),
            Call::Symlink => {
                format!("symlink {} {}", path(PathSlot::Parent), path(PathSlot::Second))
            }
            Call::Readlink(which) => format!("readlink {}", path(which)),
            Call::Futimens { fd, atime_s, mtime_s } => format!("futimens {fd} {atime_s} {mtime_s}"),
            Call::Close(fd) => format!("close {fd}"),
            Call::Fsync(fd) => format!("fsync {fd}"),
            Call::Fdatasync(fd) => format!("fdatasync {fd}"),
            Call::Fstat(fd) => format!("fstat {fd}"),
            Call::Getdents(fd) => format!("getdents {fd}"),
            Call::Fgetxattr(fd) => format!("fgetxattr {fd}"),
            Call::Fsetxattr(fd) => format!("fsetxattr {fd}"),
            Call::Fstatat(fd) => format!("fstatat {fd}"),
            Call::StatEntry { fd, at } => format!("lstat {fd} {at}"),
            Call::Attribute(call) => format!("{} {:?} {}", call.kind.word(), call.fd, call.len),
            Call::MmapRead { fd, offset, len } => format!("mmapread {fd} {offset} {len}"),
            Call::Simple { kind, fd, numbers } => {
                let on = if fd < 0 { path(PathSlot::First) } else { fd.to_string() };
                format!("{} {on} {numbers:?}", kind.word())
            }
            Call::Sleep { .. } => "sleep".into(),
            Call::Await { client, value } => format!("await {client} {value}"),
        }
    }

    fn fill_names(&self, names: &[&str]) -> CallResult {
        let mut slot = self.slot.borrow_mut();
        let mut at = 0;
        for name in names {
            let len = (19 + name.len() + 1).next_multiple_of(8);
            slot.dir[at..at + len].fill(0);
            slot.dir[at + 16..at + 18].copy_from_slice(&(len as u16).to_ne_bytes());
            slot.dir[at + 19..at + 19 + name.len()].copy_from_slice(name.as_bytes());
            at += len;
        }
        Ok(at as u64)
    }
}

impl Engine for ScriptedEngine {
    const NAME: &'static str = "scripted";

    fn start(&self, client: ClientIndex, call: Call) -> Step {
        let text = self.describe(call);
        self.log.borrow_mut().push(text);
        match self.replies.borrow_mut().pop_front() {
            None => Step::Done(Ok(0)),
            Some(Reply::Now(result)) => Step::Done(result),
            Some(Reply::Names(names)) => Step::Done(self.fill_names(names)),
            Some(Reply::Later(result)) => {
                self.pending.borrow_mut().push_back((client, result));
                Step::Pending
            }
        }
    }

    fn take(&self, client: ClientIndex) -> Option<CallResult> {
        let mut pending = self.pending.borrow_mut();
        let at = pending.iter().position(|(owner, _)| *owner == client)?;
        pending.remove(at).map(|(_, result)| result)
    }

    fn reap(&self, ready: &mut Vec<ClientIndex>) {
        ready.extend(self.pending.borrow().iter().map(|(client, _)| *client));
    }

    fn slot(&self, _: ClientIndex) -> RefMut<'_, Slot> {
        self.slot.borrow_mut()
    }
}
