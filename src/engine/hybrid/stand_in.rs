//! What a stand-in does while its pool thread is held up in a call: it goes on with the other
//! clients, on a ring of its own. It must not be held up itself, so it makes at once only what
//! looks at things, and what can be tried; the rest goes to its ring, or waits for the pool thread.

use std::time::Duration;

use super::{Call, CallKind, ClientIndex, HybridEngine, Inner, Route, Step, Way, Who};
use super::{Engine, execute, now_ns};

/// While both threads have something to do, neither waits longer than this without a look at what
/// the other has left.
const LOOK: Duration = Duration::from_millis(1);

impl HybridEngine<'_> {
    #[cold]
    pub(super) fn start_as_stand_in(
        &self,
        inner: &Inner<'_>,
        client: ClientIndex,
        kind: CallKind,
        call: Call,
    ) -> Step {
        match inner.routes[kind.index()].get() {
            Route::TryRead => self.try_read(inner, client, call),
            Route::TryOpen => self.try_open(inner, client, call),
            _ if kind.only_looks() => {
                inner.ring.count(kind, Way::Inline);
                let result = execute(&mut inner.ring.slot(client), call);
                inner.ring.settle(client, result)
            }
            Route::Inline => inner.later(client, kind, call),
            _ => inner.through_or_later(client, kind, call),
        }
    }

    /// The pool thread's turn of the loop while its stand-in has something to do.
    #[cold]
    pub(super) fn reap_beside_stand_in(&self, inner: &Inner<'_>, ready: &mut Vec<ClientIndex>) {
        if self.other_wants(Who::Primary) {
            self.step_aside(inner, Who::Primary, &mut || ());
        }
        let deferred = inner.deferred.take();
        for (client, kind, call) in deferred {
            inner.ring.count(kind, Way::Inline);
            let result = self.make(inner, client, call, false);
            inner.ring.finish(client, result, now_ns());
            ready.push(client);
        }
        inner.ring.gather(ready);
        if ready.is_empty() {
            self.wait_aside(inner, Who::Primary);
            inner.ring.gather(ready);
        }
    }

    /// Waits a little for one's own calls, without the turn.
    fn wait_aside(&self, inner: &Inner<'_>, who: Who) {
        inner.ring.wait_outside(LOOK, |wait| self.step_aside(inner, who, wait));
    }

    /// Does something without the turn.
    fn step_aside(&self, inner: &Inner<'_>, who: Who, what: &mut (dyn FnMut() + Send)) {
        self.relay.aside(who, what);
        inner.ring.serve(who as usize); // it may have been the other's turn
    }

    /// Sleeps until the pool thread is held up; `false` when there is nothing more to do.
    #[must_use]
    pub fn await_call(&self) -> bool {
        if !self.relay.await_call() {
            return false;
        }
        let inner = self.relay.get();
        inner.ring.serve(Who::StandIn as usize);
        inner.ring.need_lane(inner.clients);
        true
    }

    /// Whether the pool thread waits for its turn.
    #[must_use]
    pub fn primary_wants(&self) -> bool {
        self.other_wants(Who::StandIn)
    }

    fn other_wants(&self, me: Who) -> bool {
        self.relay.turn().is_some_and(|turn| turn.other_wants(me))
    }

    /// Names clients that can go on; `false` when the stand-in has nothing left to do.
    #[must_use]
    pub fn reap_as_stand_in(&self, ready: &mut Vec<ClientIndex>) -> bool {
        let (inner, Some(turn)) = (self.relay.get(), self.relay.turn()) else { return false };
        inner.ring.gather(ready);
        if ready.is_empty() {
            if !turn.primary_is_held_up() && inner.ring.flying() == 0 {
                return false;
            }
            self.wait_aside(inner, Who::StandIn);
            inner.ring.gather(ready);
        }
        true
    }

    /// Ends a stand-in's turn: the next thing it does is [`HybridEngine::await_call`].
    pub fn retire(&self) {
        if let Some(turn) = self.relay.turn() {
            turn.retire();
        }
    }

    /// There is nothing more to do for a stand-in. Ends the turn of the calling thread.
    pub fn dismiss(&self) {
        let who = self.relay.who();
        if let Some(turn) = self.relay.turn() {
            turn.end(who);
        }
    }
}

impl Inner<'_> {
    /// By the ring if there is one, else by the pool thread once it is back.
    pub(super) fn through_or_later(&self, client: ClientIndex, kind: CallKind, call: Call) -> Step {
        if kind.has_operation() && self.ring.has_lane() {
            self.ring.through(client, kind, call)
        } else {
            self.later(client, kind, call)
        }
    }

    fn later(&self, client: ClientIndex, kind: CallKind, call: Call) -> Step {
        self.ring.suspend(client);
        self.deferred.borrow_mut().push((client, kind, call));
        Step::Pending
    }
}
