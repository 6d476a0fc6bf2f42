//! Each call goes the cheapest way that does not hold up other clients.
//!
//! What cannot wait is made at once; what can be tried without waiting is tried, and goes to the
//! ring when it would wait; what always waits goes to the ring; and for the rest a [`rule`] per
//! kind of call decides by what it measured. A call that waits although it was made at once holds
//! the thread up, but not its clients: a [`stand_in`] goes on with them. docs/engines.md has the
//! table of routes.

mod route;
mod rule;
mod stand_in;
mod watch;

use std::cell::{Cell, RefCell, RefMut};
use std::io;
use std::sync::Arc;

use super::kind::{Traffic, Way};
use super::sync::execute;
use super::sys::{self, Relay};
use super::turn::{Turn, Who};
use super::uring::UringEngine;
use super::{Call, CallKind, CallResult, ClientIndex, Control, Engine, Errno, Slot, SlotLayout};
use super::{Step, now_ns};
use crate::plan::Routes;
pub use route::Backing;
use route::{Route, route};
use rule::{Plan, Rule};
pub use watch::Watch;
use watch::{RunDelay, Waited};

/// Serves the clients of one thread, or of one thread and its stand-in.
#[derive(Debug)]
pub struct HybridEngine<'a> {
    relay: Relay<Inner<'a>>,
}

/// What whoever has the turn works on.
#[derive(Debug)]
struct Inner<'a> {
    ring: UringEngine<'a>,
    clients: u32,
    routes: [Cell<Route>; CallKind::COUNT],
    rules: [Cell<Rule>; CallKind::COUNT],
    /// Of the pool thread.
    delay: RunDelay,
    /// Calls that only the pool thread can make, from when it was held up.
    deferred: RefCell<Vec<(ClientIndex, CallKind, Call)>>,
}

impl<'a> HybridEngine<'a> {
    /// An engine for clients with these layouts. To be made in the thread that uses it; with a
    /// turn, a second thread can stand in for it.
    ///
    /// # Errors
    ///
    /// When the kernel gives no ring.
    pub fn new(
        layouts: &[SlotLayout],
        control: &'a Control,
        backing: Backing,
        routes: &Routes,
        turn: Option<Arc<Turn>>,
    ) -> io::Result<Self> {
        let start = |kind: usize| Cell::new(route(CallKind::ALL[kind], backing, routes));
        let rule = |kind: usize| {
            let on_the_ring = backing.device && CallKind::ALL[kind].has_operation();
            Cell::new(Rule::new(on_the_ring))
        };
        let inner = Inner {
            ring: UringEngine::new(layouts, control)?
                .with_fixed_buffers(backing.direct && backing.device),
            clients: layouts.len() as u32,
            routes: std::array::from_fn(start),
            rules: std::array::from_fn(rule),
            delay: RunDelay::of_this_thread(),
            deferred: RefCell::default(),
        };
        Ok(Self { relay: Relay::new(turn, inner) })
    }

    /// As its kind's route says, by the pool thread.
    #[inline]
    fn start_as_primary(
        &self,
        inner: &Inner<'_>,
        client: ClientIndex,
        kind: CallKind,
        call: Call,
    ) -> Step {
        match inner.routes[kind.index()].get() {
            Route::Inline => self.at_once(inner, client, kind, call, Way::Inline),
            Route::Measured => self.measured(inner, client, kind, call),
            Route::Ring => inner.ring.through(client, kind, call),
            Route::TryRead => self.try_read(inner, client, call),
            Route::TryOpen => self.try_open(inner, client, call),
        }
    }

    /// A plain system call of the pool thread.
    #[inline]
    fn at_once(
        &self,
        inner: &Inner<'_>,
        client: ClientIndex,
        kind: CallKind,
        call: Call,
        way: Way,
    ) -> Step {
        inner.ring.count(kind, way);
        let result = self.make(inner, client, call, way == Way::Aside);
        inner.ring.settle(client, result)
    }

    /// Makes a call of the pool thread, which may be held up by it. `soon` if it will be.
    #[inline]
    fn make(&self, inner: &Inner<'_>, client: ClientIndex, call: Call, soon: bool) -> CallResult {
        let mut slot = inner.ring.slot(client);
        let its = &mut *slot;
        let result = self.relay.away(soon, || execute(its, call));
        inner.ring.serve(Who::Primary as usize); // it may have been the stand-in's turn
        result
    }

    /// As the rule of its kind says.
    #[inline]
    fn measured(&self, inner: &Inner<'_>, client: ClientIndex, kind: CallKind, call: Call) -> Step {
        let cell = &inner.rules[kind.index()];
        let mut rule = cell.get();
        let plan = rule.next();
        if plan != Plan::Timed {
            cell.set(rule);
        }
        match plan {
            Plan::Inline => self.at_once(inner, client, kind, call, Way::Inline),
            Plan::Ring if kind.has_operation() => inner.ring.through(client, kind, call),
            Plan::Ring => self.at_once(inner, client, kind, call, Way::Aside),
            Plan::Timed => {
                let waited = Waited::begin(&inner.delay);
                let step = self.at_once(inner, client, kind, call, Way::Inline);
                rule.waited(waited.end_ns(&inner.delay));
                cell.set(rule);
                step
            }
        }
    }

    /// What can neither be made at once nor be tried.
    fn slowly(&self, inner: &Inner<'_>, client: ClientIndex, kind: CallKind, call: Call) -> Step {
        match self.relay.who() {
            Who::Primary => self.measured(inner, client, kind, call),
            Who::StandIn => inner.through_or_later(client, kind, call),
        }
    }

    /// A read: what is in memory at once, the rest by the ring.
    #[inline]
    fn try_read(&self, inner: &Inner<'_>, client: ClientIndex, call: Call) -> Step {
        let Call::Read { fd, offset, len } = call else {
            return self.slowly(inner, client, CallKind::Read, call);
        };
        let mut done = 0;
        let mut slot = inner.ring.slot(client);
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
                    return inner.through_or_later(client, CallKind::Read, call);
                }
                Err(errno) if cannot_try(errno) => {
                    inner.routes[CallKind::Read.index()].set(Route::Measured);
                    drop(slot);
                    return self.slowly(inner, client, CallKind::Read, call);
                }
                Err(errno) => return inner.tried(client, CallKind::Read, Err(errno)),
            }
        }
        drop(slot);
        inner.tried(client, CallKind::Read, Ok(done as u64))
    }

    /// An open of what is there: by cached names at once.
    fn try_open(&self, inner: &Inner<'_>, client: ClientIndex, call: Call) -> Step {
        let Call::Open { path, flags, .. } = call else {
            return self.slowly(inner, client, CallKind::Open, call);
        };
        let slot = inner.ring.slot(client);
        let opened = sys::open_cached(slot.directory, slot.path(path).as_c_str(), flags);
        drop(slot);
        match opened {
            Err(Errno(errno)) if i32::from(errno) == libc::EAGAIN => {
                self.slowly(inner, client, CallKind::Open, call)
            }
            Err(errno) if cannot_try(errno) => {
                inner.routes[CallKind::Open.index()].set(Route::Measured);
                self.slowly(inner, client, CallKind::Open, call)
            }
            result => inner.tried(client, CallKind::Open, result),
        }
    }
}

impl Inner<'_> {
    #[inline]
    fn tried(&self, client: ClientIndex, kind: CallKind, result: CallResult) -> Step {
        self.ring.count(kind, Way::Tried);
        self.ring.settle(client, result)
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
        let inner = self.relay.get();
        inner.ring.start_by(client, call, |kind| match self.relay.who() {
            Who::Primary => self.start_as_primary(inner, client, kind, call),
            Who::StandIn => self.start_as_stand_in(inner, client, kind, call),
        })
    }

    #[inline]
    fn take(&self, client: ClientIndex) -> Option<CallResult> {
        self.relay.get().ring.take(client)
    }

    fn reap(&self, ready: &mut Vec<ClientIndex>) {
        let inner = self.relay.get();
        match self.relay.turn() {
            Some(turn) if turn.stand_in_is_busy() || !inner.deferred.borrow().is_empty() => {
                self.reap_beside_stand_in(inner, ready);
            }
            _ => inner.ring.reap(ready),
        }
    }

    #[inline]
    fn slot(&self, client: ClientIndex) -> RefMut<'_, Slot> {
        self.relay.get().ring.slot(client)
    }

    fn traffic(&self) -> Option<Traffic> {
        self.relay.get().ring.traffic()
    }
}
