//! What a pool thread and its stand-in work on, one at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use crate::engine::turn::{Turn, Who};

/// A value that the thread whose turn it is may use; without a [`Turn`], the thread that made it.
///
/// It is a mutex in all but the form: whoever asks for the value is checked for being the thread
/// that has the turn, instead of being made to wait for it.
#[derive(Debug)]
pub(in crate::engine) struct Relay<T> {
    turn: Option<Arc<Turn>>,
    /// The thread that has the turn.
    holder: AtomicUsize,
    stand_in: AtomicBool,
    value: T,
}

// SAFETY: `get` lets one thread at a time at the value: the holder, which changes in `enter` only,
// when the turn was taken, with acquire and release order (futexes and the word of the turn). A
// thread that gives its turn up within a call (`away`) keeps references to the value on its
// stack, but runs nothing that could use them until it has its turn again: the closure that it
// runs is Send, so it cannot have captured a reference to the value, which is not Sync. What the
// value points to moves from thread to thread, so T has to be Send.
unsafe impl<T: Send> Sync for Relay<T> {}

impl<T> Relay<T> {
    /// It is the calling thread's turn.
    pub(in crate::engine) fn new(turn: Option<Arc<Turn>>, value: T) -> Self {
        Self { turn, holder: AtomicUsize::new(me()), stand_in: AtomicBool::new(false), value }
    }

    /// The value.
    ///
    /// # Panics
    /// When it is not the calling thread's turn.
    #[inline]
    pub(in crate::engine) fn get(&self) -> &T {
        assert!(self.holder.load(Relaxed) == me(), "it is another thread's turn");
        &self.value
    }

    /// Whose turn it is, to be asked by the thread that has it.
    #[inline]
    pub(in crate::engine) fn who(&self) -> Who {
        if self.stand_in.load(Relaxed) { Who::StandIn } else { Who::Primary }
    }

    /// The turn, if there is a stand-in.
    #[inline]
    pub(in crate::engine) fn turn(&self) -> Option<&Turn> {
        self.turn.as_deref()
    }

    /// Makes a call that may wait; the stand-in may go on meanwhile. `soon` if it certainly will.
    /// Only the pool thread's turn can be given up like this.
    ///
    /// # Panics
    /// When it is not the calling thread's turn.
    #[inline]
    pub(in crate::engine) fn away<R>(&self, soon: bool, call: impl FnOnce() -> R + Send) -> R {
        let Some(turn) = &self.turn else { return call() };
        assert!(self.holder.load(Relaxed) == me(), "it is another thread's turn");
        if soon {
            turn.hand_over();
        } else {
            turn.leave();
        }
        let result = call();
        if !turn.come_back() {
            self.enter(Who::Primary);
        }
        result
    }

    /// Waits without the turn, and takes it up again.
    ///
    /// # Panics
    /// When it is not the calling thread's turn.
    pub(in crate::engine) fn aside<R>(&self, who: Who, wait: impl FnOnce() -> R + Send) -> R {
        let Some(turn) = &self.turn else { return wait() };
        assert!(self.holder.load(Relaxed) == me(), "it is another thread's turn");
        turn.release(who);
        let result = wait();
        turn.take(who);
        self.enter(who);
        result
    }

    /// Sleeps until the stand-in's turn has come, and begins it; `false` at the end.
    pub(in crate::engine) fn await_call(&self) -> bool {
        let called = self.turn.as_ref().is_some_and(|turn| turn.await_call());
        if called {
            self.enter(Who::StandIn);
        }
        called
    }

    /// The calling thread has just taken the turn.
    fn enter(&self, who: Who) {
        self.holder.store(me(), Relaxed);
        self.stand_in.store(who == Who::StandIn, Relaxed);
    }
}

/// A number that no other living thread has.
#[inline]
fn me() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::time::Duration;

    /// Two threads count in a cell that knows nothing of threads; a third one gives the turn away
    /// whenever it can. No count may be lost.
    #[test]
    fn one_at_a_time() {
        const CALLS: u64 = 30_000;
        let turn = Arc::new(Turn::default());
        let relay = Relay::new(Some(Arc::clone(&turn)), Cell::new(0));
        let count = |relay: &Relay<Cell<u64>>| relay.get().set(relay.get().get() + 1);
        let (mut by_stand_in, mut turns, over) = (0, 0, AtomicBool::new(false));
        std::thread::scope(|scope| {
            let (over, turn) = (&over, &turn);
            scope.spawn(move || {
                let mut seen = 0;
                while !over.load(Relaxed) {
                    turn.relieve(&mut seen, |_| true);
                }
            });
            let (relay, by_stand_in, turns) = (&relay, &mut by_stand_in, &mut turns);
            scope.spawn(move || {
                while relay.await_call() {
                    *turns += 1;
                    for i in 0..20 {
                        count(relay);
                        *by_stand_in += 1;
                        if i % 7 == 6 {
                            relay.aside(Who::StandIn, || ());
                        }
                    }
                    turn.retire();
                }
            });
            for i in 0..CALLS {
                count(relay);
                let nap = || {
                    if i % 1000 == 0 {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                };
                relay.away(i % 50 == 3, nap);
                if turn.other_wants(Who::Primary) {
                    relay.aside(Who::Primary, || ());
                }
            }
            over.store(true, Relaxed);
            turn.end(Who::Primary);
        });
        turn.take(Who::Primary);
        relay.enter(Who::Primary);
        assert_eq!(relay.get().get(), CALLS + by_stand_in);
        // Handed over 600 times, now and then to a stand-in that was not yet done.
        assert!(turns > 300, "{turns}");
    }

    #[test]
    #[should_panic(expected = "another thread's turn")]
    fn a_stranger_is_turned_away() {
        let relay = Relay::new(None, Cell::new(0));
        let asked = std::thread::scope(|scope| scope.spawn(|| relay.get().get()).join());
        if let Err(panic) = asked {
            std::panic::resume_unwind(panic);
        }
    }
}
