//! Each call goes the cheapest way that does not hold up other clients.
//!
//! What cannot wait is made at once; what can be tried without waiting is tried, and goes to the
//! ring when it would wait; what always waits goes to the ring; and for the rest a [`rule`] per
//! kind of call decides by what it measured. docs/engines.md has the table.

mod rule;

use std::cell::{Cell, RefMut};
use std::io;

use super::kind::{CallKind, Traffic, Way};
use super::uring::UringEngine;
use super::{Call, CallResult, ClientIndex, Control, Engine, Errno, Slot, SlotLayout, Step};
use super::{now_ns, sys, thread_cpu_ns};
use rule::{Plan, Rule};

/// What lies behind a disk's calls, as far as routes depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backing {
    /// A block device: calls may wait for it.
    pub device: bool,
    /// Reads and writes go to it past the page cache.
    pub direct: bool,
    /// A write ends when it is stored.
    pub sync_writes: bool,
}

/// How calls of a kind are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    /// They do not wait, or io_uring cannot make them.
    Inline,
    /// They wait.
    Ring,
    /// It depends: see [`rule`].
    Measured,
    /// A read of what is in memory, else the ring.
    TryRead,
    /// An open by cached names, else as measured.
    TryOpen,
}

/// Serves the clients of one thread.
#[derive(Debug)]
pub struct HybridEngine<'a> {
    ring: UringEngine<'a>,
    routes: [Cell<Route>; CallKind::COUNT],
    rules: [Cell<Rule>; CallKind::COUNT],
}

impl<'a> HybridEngine<'a> {
    /// An engine for clients with these layouts. To be made in the thread that uses it.
    ///
    /// # Errors
    ///
    /// When the kernel gives no ring.
    pub fn new(layouts: &[SlotLayout], control: &'a Control, backing: Backing) -> io::Result<Self> {
        Ok(Self {
            ring: UringEngine::new(layouts, control)?
                .with_fixed_buffers(backing.direct && backing.device),
            routes: std::array::from_fn(|kind| Cell::new(route(CallKind::ALL[kind], backing))),
            rules: std::array::from_fn(|_| Cell::new(Rule::new(backing.device))),
        })
    }

    /// As the rule of its kind says.
    #[inline]
    fn measured(&self, client: ClientIndex, kind: CallKind, call: Call) -> Step {
        let cell = &self.rules[kind.index()];
        let mut rule = cell.get();
        let plan = rule.next();
        if plan != Plan::Timed {
            cell.set(rule);
        }
        match plan {
            Plan::Inline => self.ring.inline(client, kind, call),
            Plan::Ring => self.ring.through(client, kind, call),
            Plan::Timed => {
                let (start, used) = (now_ns(), thread_cpu_ns());
                let step = self.ring.inline(client, kind, call);
                let used = thread_cpu_ns() - used;
                rule.waited((now_ns() - start).saturating_sub(used));
                cell.set(rule);
                step
            }
        }
    }

    /// A read: what is in memory at once, the rest by the ring.
    #[inline]
    fn try_read(&self, client: ClientIndex, call: Call) -> Step {
        let Call::Read { fd, offset, len } = call else {
            return self.measured(client, CallKind::Read, call);
        };
        let mut done = 0;
        let mut slot = self.ring.slot(client);
        loop {
            let part = &mut slot.read[done..len];
            match sys::pread_cached(fd, part, offset + done as u64) {
                Ok(n) if n > 0 && done + (n as usize) < len => done += n as usize,
                Ok(n) => {
                    done += n as usize;
                    break;
                }
                Err(Errno(errno)) if i32::from(errno) == libc::EAGAIN => {
                    drop(slot);
                    return self.ring.through(client, CallKind::Read, call);
                }
                Err(errno) if cannot_try(errno) => {
                    self.routes[CallKind::Read.index()].set(Route::Measured);
                    drop(slot);
                    return self.measured(client, CallKind::Read, call);
                }
                Err(errno) => return self.tried(client, CallKind::Read, Err(errno)),
            }
        }
        drop(slot);
        self.tried(client, CallKind::Read, Ok(done as u64))
    }

    /// An open of what is there: by cached names at once.
    fn try_open(&self, client: ClientIndex, call: Call) -> Step {
        let Call::Open { path, flags, .. } = call else {
            return self.measured(client, CallKind::Open, call);
        };
        let slot = self.ring.slot(client);
        let opened = sys::open_cached(slot.directory, slot.path(path).as_c_str(), flags);
        drop(slot);
        match opened {
            Err(Errno(errno)) if i32::from(errno) == libc::EAGAIN => {
                self.measured(client, CallKind::Open, call)
            }
            Err(errno) if cannot_try(errno) => {
                self.routes[CallKind::Open.index()].set(Route::Measured);
                self.measured(client, CallKind::Open, call)
            }
            result => self.tried(client, CallKind::Open, result),
        }
    }

    #[inline]
    fn tried(&self, client: ClientIndex, kind: CallKind, result: CallResult) -> Step {
        self.ring.count(kind, Way::Tried);
        self.ring.settle(client, result)
    }
}

/// Where calls of a kind start.
fn route(kind: CallKind, backing: Backing) -> Route {
    let Backing { device, direct, sync_writes } = backing;
    match kind {
        CallKind::Close
        | CallKind::Fstat
        | CallKind::Getdents
        | CallKind::Statfs
        | CallKind::Futimens
        | CallKind::Deltree
        | CallKind::Lock
        | CallKind::Wait => Route::Inline,
        CallKind::Fsync | CallKind::Fdatasync if device => Route::Ring,
        CallKind::Read if device && direct => Route::Ring,
        CallKind::Write if device && (direct || sync_writes) => Route::Ring,
        CallKind::Read if device => Route::TryRead,
        CallKind::Open if device => Route::TryOpen,
        _ => Route::Measured,
    }
}

/// Whether the kernel or the file system has no way of trying.
fn cannot_try(Errno(errno): Errno) -> bool {
    matches!(i32::from(errno), libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL | libc::EPERM)
}

impl Engine for HybridEngine<'_> {
    const NAME: &'static str = "hybrid";

    #[inline]
    fn start(&self, client: ClientIndex, call: Call) -> Step {
        self.ring.start_by(client, call, |kind| match self.routes[kind.index()].get() {
            Route::Inline => self.ring.inline(client, kind, call),
            Route::Measured => self.measured(client, kind, call),
            Route::Ring => self.ring.through(client, kind, call),
            Route::TryRead => self.try_read(client, call),
            Route::TryOpen => self.try_open(client, call),
        })
    }

    #[inline]
    fn take(&self, client: ClientIndex) -> Option<CallResult> {
        self.ring.take(client)
    }

    fn reap(&self, ready: &mut Vec<ClientIndex>) {
        self.ring.reap(ready);
    }

    #[inline]
    fn slot(&self, client: ClientIndex) -> RefMut<'_, Slot> {
        self.ring.slot(client)
    }

    fn traffic(&self) -> Option<Traffic> {
        self.ring.traffic()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_memory_nothing_has_to_go_by_the_ring() {
        for kind in CallKind::ALL {
            let route = route(*kind, Backing { direct: true, ..Backing::default() });
            assert!(matches!(route, Route::Inline | Route::Measured), "{}", kind.word());
        }
    }

    #[test]
    fn what_waits_for_a_device_goes_by_the_ring() {
        let disk = Backing { device: true, ..Backing::default() };
        let direct = Backing { direct: true, ..disk };
        assert_eq!(route(CallKind::Fsync, disk), Route::Ring);
        assert_eq!(route(CallKind::Read, disk), Route::TryRead);
        assert_eq!(route(CallKind::Read, direct), Route::Ring);
        assert_eq!(route(CallKind::Write, disk), Route::Measured);
        assert_eq!(route(CallKind::Write, Backing { sync_writes: true, ..disk }), Route::Ring);
    }
}
