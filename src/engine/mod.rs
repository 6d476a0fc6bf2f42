//! Engines: how a call reaches the kernel. Floor 3.
//!
//! A client is a future over engine calls. It has exactly one call in flight, so an engine finds
//! everything that belongs to a call in the slot of its client: paths, buffers and results are
//! owned by the engine, never by a future, and stay where they are for as long as the kernel may
//! touch them. [`Engine::start`] answers at once with a result, or says that the call is pending;
//! then the pool thread polls that client again once [`Engine::reap`] names it.

mod clock;
mod control;
mod hybrid;
mod kind;
mod null;
mod scripted;
mod slot;
mod sync;
pub mod sys;
#[cfg(test)]
mod tests;
mod turn;
mod uring;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::op::CallKind;

pub use clock::now_ns;
pub use control::{Control, SyncPoints, Turnstile};
pub use hybrid::{Backing, HybridEngine, Watch};
pub use kind::{Traffic, Way};
pub use null::NullEngine;
pub use scripted::{Reply, ScriptedEngine};
pub use slot::{Slot, SlotLayout, count_entries, has_entry, next_name};
pub use sync::SyncEngine;
pub use sys::{Directory, PathBuffer, Stat};
pub use turn::Turn;
pub use uring::{NoRing, UringEngine, rings_are_usable};

/// Index of a client among those of its engine.
pub type ClientIndex = u32;

/// A descriptor number in the table of the pool thread.
pub type RawFd = i32;

/// An error number of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub u16);

/// What a call returned: a descriptor, a count of bytes, or 0.
pub type CallResult = Result<u64, Errno>;

/// Which path of the client's slot a call works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathSlot {
    /// The (first) path of the operation.
    First,
    /// The second path of the operation.
    Second,
    /// The directory of the first or second path.
    Parent,
    /// The run directory.
    Root,
}

/// Names of extended attributes that `--xattr` works on; see dbench's `-x`.
pub const DOS_ATTRIBUTE: &std::ffi::CStr = c"user.DosAttrib";
/// Size in bytes of that attribute.
pub const DOS_ATTRIBUTE_LEN: usize = 44;

/// As an offset of a read or write: the file's position, which then moves on.
pub const AT_POSITION: u64 = u64::MAX;

/// A call about the extended attribute that [`Slot::name`] names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeCall {
    /// Which one: one of the kinds that end with `xattr`.
    pub kind: CallKind,
    /// On what; `None` for [`PathSlot::First`].
    pub fd: Option<RawFd>,
    /// Length of the value, or of the memory for it, in bytes.
    pub len: u32,
    /// `XATTR_*` flags.
    pub flags: i32,
    /// Whether the value is an ACL: taken from [`Slot::value`], given to [`Slot::dir`], instead of
    /// the buffers of reads and writes.
    pub acl: bool,
}

/// A system call, or a wait. What it reads and writes lies in the client's [`Slot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `stat` into [`Slot::stat`].
    Stat(PathSlot),
    /// `lstat` into [`Slot::stat`].
    Lstat(PathSlot),
    /// `open`; returns the descriptor.
    Open {
        /// Where.
        path: PathSlot,
        /// `O_*` flags.
        flags: i32,
        /// Permission bits of a new file.
        mode: u32,
    },
    /// `close`.
    Close(RawFd),
    /// `mkdir`.
    Mkdir {
        /// Where.
        path: PathSlot,
        /// Permission bits.
        mode: u32,
    },
    /// `rmdir`.
    Rmdir(PathSlot),
    /// `unlink`.
    Unlink(PathSlot),
    /// `rename` of [`PathSlot::First`] to [`PathSlot::Second`].
    Rename,
    /// The same with flags.
    Renameat {
        /// `RENAME_*` flags.
        flags: u32,
    },
    /// `link` of [`PathSlot::First`] as [`PathSlot::Second`].
    Link,
    /// `symlink` at [`PathSlot::Second`], with the text in [`PathSlot::Parent`].
    Symlink,
    /// `readlink` into [`Slot::dir`].
    Readlink(PathSlot),
    /// Removal of a whole tree; counts what it removed. A missing one is no error.
    Deltree(PathSlot),
    /// `pread` of `len` bytes into [`Slot::read`].
    Read {
        /// From.
        fd: RawFd,
        /// Offset in bytes, or [`AT_POSITION`].
        offset: u64,
        /// Length in bytes.
        len: usize,
    },
    /// `pwrite` of `len` bytes of [`Slot::write`], from byte `from` on.
    Write {
        /// To.
        fd: RawFd,
        /// Offset in bytes, or [`AT_POSITION`].
        offset: u64,
        /// First byte of the buffer.
        from: usize,
        /// Length in bytes.
        len: usize,
    },
    /// `fsync`.
    Fsync(RawFd),
    /// `fdatasync`.
    Fdatasync(RawFd),
    /// `fstat` into [`Slot::stat`].
    Fstat(RawFd),
    /// `getdents64` into [`Slot::dir`]; returns the bytes of the buffer that were filled.
    Getdents(RawFd),
    /// `statfs`.
    Statfs(PathSlot),
    /// `futimens`: access and modification time in whole seconds.
    Futimens {
        /// Of.
        fd: RawFd,
        /// Access time.
        atime_s: i64,
        /// Modification time.
        mtime_s: i64,
    },
    /// `fcntl`: a write lock (`lock`) or none; waits until it can be had.
    Lock {
        /// On.
        fd: RawFd,
        /// First byte.
        offset: u64,
        /// Length in bytes, 0 for the rest of the file.
        len: u64,
        /// Take it, or release it.
        lock: bool,
    },
    /// `getxattr` of [`DOS_ATTRIBUTE`].
    Getxattr(PathSlot),
    /// `fgetxattr` of [`DOS_ATTRIBUTE`].
    Fgetxattr(RawFd),
    /// `fsetxattr` of [`DOS_ATTRIBUTE`].
    Fsetxattr(RawFd),
    /// `newfstatat` with an empty path into [`Slot::stat`].
    Fstatat(RawFd),
    /// `lstat`, below a directory, of the entry whose name begins at a byte of [`Slot::dir`].
    StatEntry {
        /// The directory.
        fd: RawFd,
        /// Where the name stands.
        at: usize,
    },
    /// See [`AttributeCall`].
    Attribute(AttributeCall),
    /// `mmap`, `madvise(MADV_POPULATE_READ)` and `munmap` of a range; returns its length.
    MmapRead {
        /// Of.
        fd: RawFd,
        /// Offset in bytes.
        offset: u64,
        /// Length in bytes.
        len: usize,
    },
    /// A call of a kind that is no more than its number: on [`PathSlot::First`] or a
    /// descriptor, with the numbers that follow. See `engine::sys::simple`.
    Simple {
        /// Which one.
        kind: CallKind,
        /// On what, where it takes no path.
        fd: RawFd,
        /// Its further arguments; those that it does not have are 0.
        numbers: [u64; 3],
    },
    /// Wait until a point in time ([`now_ns`]), or until the disk stops.
    Sleep {
        /// When.
        until_ns: u64,
    },
    /// Wait until the synchronisation point of a client has reached a value, or until the disk
    /// stops.
    Await {
        /// The client's number within its disk.
        client: u32,
        /// The value.
        value: i64,
    },
}

/// Answer of [`Engine::start`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The call is done.
    Done(CallResult),
    /// The call is under way; [`Engine::reap`] will name the client.
    Pending,
}

/// Executes the calls of the clients of one pool thread. Not shared between threads.
pub trait Engine {
    /// Name in results.
    const NAME: &'static str;

    /// Starts a call of a client that has none in flight.
    fn start(&self, client: ClientIndex, call: Call) -> Step;

    /// Result of a call that was pending and that [`Engine::reap`] has named. An engine without
    /// pending calls needs neither of the two.
    fn take(&self, _client: ClientIndex) -> Option<CallResult> {
        None
    }

    /// Submits what was started, waits for at least one completion and names the clients whose
    /// call is done. Returns at once when no call is pending.
    fn reap(&self, _ready: &mut Vec<ClientIndex>) {}

    /// Names clients whose call has completed, if that may have happened since the last look, and
    /// never waits. To be asked between two polls while other clients are ready: a call that was
    /// waited for comes before those that never waited.
    fn glance(&self, _ready: &mut Vec<ClientIndex>) {}

    /// The client's memory. Must not be held across a call, nor asked for while one is pending.
    fn slot(&self, client: ClientIndex) -> std::cell::RefMut<'_, Slot>;

    /// What the engine did so far, where it counts that.
    fn traffic(&self) -> Option<Traffic> {
        None
    }
}

/// The future of one call.
#[derive(Debug)]
#[must_use = "a call does nothing unless awaited"]
pub struct CallFuture<'e, E> {
    engine: &'e E,
    client: ClientIndex,
    call: Call,
    started: bool,
}

/// Makes a call for a client.
#[inline]
pub fn call<E: Engine>(engine: &E, client: ClientIndex, call: Call) -> CallFuture<'_, E> {
    CallFuture { engine, client, call, started: false }
}

impl<E: Engine> Future for CallFuture<'_, E> {
    type Output = CallResult;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<CallResult> {
        if self.started {
            // Polled again although the engine has not named the client: still pending.
            return self.engine.take(self.client).map_or(Poll::Pending, Poll::Ready);
        }
        match self.engine.start(self.client, self.call) {
            Step::Done(result) => Poll::Ready(result),
            Step::Pending => {
                self.started = true;
                Poll::Pending
            }
        }
    }
}
