//! Whose turn it is: a pool thread and its stand-in share one set of clients, and only one of them
//! works on it at a time.
//!
//! The pool thread gives its turn up around every call that may wait, at the price of two atomic
//! operations. Mostly it takes it up again at once. When the call does not come back, as a write
//! to a frozen disk does not, somebody who looks at all turns every few milliseconds
//! ([`Turn::relieve`]) gives it to the stand-in, which goes on with the other clients. The pool
//! thread asks for it when its call is done.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Acquire, Ordering::Relaxed};
use std::sync::atomic::{Ordering::Release, Ordering::SeqCst};

use rustix::thread::futex;

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Who {
    /// The pool thread.
    Primary,
    /// The thread that goes on while the pool thread is held up.
    StandIn,
}

impl Who {
    fn other(self) -> Self {
        match self {
            Self::Primary => Self::StandIn,
            Self::StandIn => Self::Primary,
        }
    }

    const fn held(self) -> u32 {
        match self {
            Self::Primary => 1,
            Self::StandIn => 2,
        }
    }
}

const FREE: u32 = 0;
/// The pool thread is in a call; the bits above count its calls, so that two looks can tell one
/// long call from two short ones.
const AWAY: u32 = 4;
const NEXT_CALL: u32 = 8;

/// The turn of one pool thread and its stand-in.
#[derive(Debug)]
pub struct Turn {
    /// The pool thread's number in the kernel.
    thread: i32,
    word: AtomicU32,
    calls: AtomicU32,
    wants: [AtomicBool; 2],
    /// The pool thread has nothing to do, or waits for its turn: it is not in a call.
    present: AtomicBool,
    /// The stand-in has something to do. Only it writes this, and only in its turn: who reads it in
    /// the other's finds what is true.
    busy: AtomicBool,
    /// What the stand-in sleeps on.
    bell: AtomicU32,
    over: AtomicBool,
}

impl Default for Turn {
    /// The turn of the calling thread, as the pool thread.
    fn default() -> Self {
        Self {
            thread: rustix::thread::gettid().as_raw_nonzero().get(),
            word: AtomicU32::new(Who::Primary.held()),
            calls: AtomicU32::new(0),
            wants: [AtomicBool::new(false), AtomicBool::new(false)],
            present: AtomicBool::new(false),
            busy: AtomicBool::new(false),
            bell: AtomicU32::new(0),
            over: AtomicBool::new(false),
        }
    }
}

impl Turn {
    /// The pool thread goes into a call that may wait.
    #[inline]
    pub(super) fn leave(&self) {
        let call = self.calls.load(Relaxed).wrapping_add(NEXT_CALL);
        self.calls.store(call, Relaxed);
        self.word.store(AWAY | call, Release);
    }

    /// The call is done: the pool thread has its turn again when this returns. Says whether it
    /// had kept it.
    #[inline]
    pub(super) fn come_back(&self) -> bool {
        let call = self.calls.load(Relaxed);
        let mine = Who::Primary.held();
        if self.word.compare_exchange(AWAY | call, mine, Acquire, Relaxed).is_ok() {
            return true;
        }
        self.take(Who::Primary);
        false
    }

    /// The pool thread goes into a call that will wait: the stand-in is to go on at once.
    pub(super) fn hand_over(&self) {
        if self.over.load(SeqCst) {
            return self.leave();
        }
        let call = self.calls.load(Relaxed).wrapping_add(NEXT_CALL);
        self.calls.store(call, Relaxed);
        self.give(Who::StandIn);
    }

    /// Gives the turn to the stand-in if the pool thread is still in the call in which it was at the
    /// last look, and `sleeps`: one that only waits for a CPU is held up by nothing that a stand-in
    /// would not wait for, too. `seen` is what remains of the last look. To be called every so often,
    /// by one thread.
    pub fn relieve(&self, seen: &mut u32, sleeps: impl FnOnce(i32) -> bool) {
        let word = self.word.load(SeqCst);
        let held_up = word & AWAY != 0 && word == *seen && !self.over.load(SeqCst);
        let stand_in = Who::StandIn.held();
        if held_up
            && sleeps(self.thread)
            && self.word.compare_exchange(word, stand_in, SeqCst, SeqCst).is_ok()
        {
            self.ring_bell();
        }
        *seen = word;
    }

    fn give(&self, to: Who) {
        self.word.store(to.held(), SeqCst);
        wake(&self.word);
        if to == Who::StandIn {
            self.ring_bell();
        }
    }

    fn ring_bell(&self) {
        self.bell.fetch_add(1, SeqCst);
        wake(&self.bell);
        wake(&self.word);
    }

    /// Whether the other one waits for its turn.
    #[inline]
    pub(super) fn other_wants(&self, me: Who) -> bool {
        self.wants[me.other() as usize].load(Relaxed)
    }

    /// Ends one's turn: in favour of the other if that waits for it.
    pub(super) fn release(&self, me: Who) {
        if me == Who::Primary {
            self.present.store(true, SeqCst);
        }
        if self.other_wants(me) {
            return self.give(me.other());
        }
        self.word.store(FREE, SeqCst);
        if self.other_wants(me) {
            wake(&self.word);
        }
    }

    /// Waits for one's turn.
    pub(super) fn take(&self, me: Who) {
        self.wants[me as usize].store(true, SeqCst);
        loop {
            let word = self.word.load(SeqCst);
            let mine = word == me.held()
                || (word == FREE
                    && self.word.compare_exchange(FREE, me.held(), SeqCst, SeqCst).is_ok());
            if mine {
                break;
            }
            if word != FREE {
                wait(&self.word, word);
            }
        }
        self.wants[me as usize].store(false, SeqCst);
        if me == Who::Primary {
            self.present.store(false, SeqCst);
        }
    }

    /// Asked by the stand-in in its turn: whether the pool thread is in a call, so that its clients
    /// are to be served.
    pub(super) fn primary_is_held_up(&self) -> bool {
        !self.present.load(SeqCst) && !self.other_wants(Who::StandIn)
    }

    /// Whether the stand-in has something to do.
    #[inline]
    pub(super) fn stand_in_is_busy(&self) -> bool {
        self.busy.load(Relaxed)
    }

    /// The stand-in sleeps until it is its turn; `false` at the end.
    pub(super) fn await_call(&self) -> bool {
        loop {
            let bell = self.bell.load(SeqCst);
            if self.word.load(SeqCst) == Who::StandIn.held() {
                self.busy.store(true, SeqCst);
                return true;
            }
            if self.over.load(SeqCst) {
                return false;
            }
            wait(&self.bell, bell);
        }
    }

    /// The stand-in has nothing left to do, and ends its turn.
    pub(super) fn retire(&self) {
        self.busy.store(false, SeqCst);
        self.release(Who::StandIn);
    }

    /// There is nothing more to do for a stand-in: it leaves [`Turn::await_call`]. Said by the
    /// pool thread at the end, or by a stand-in that fails.
    pub(super) fn end(&self, me: Who) {
        self.over.store(true, SeqCst);
        self.release(me);
        self.bell.fetch_add(1, SeqCst);
        wake(&self.bell);
    }
}

fn wake(word: &AtomicU32) {
    // It can only fail for a bad address.
    let _ = futex::wake(word, futex::Flags::PRIVATE, i32::MAX as u32);
}

/// Waits while `word` holds `value`; may also return before.
fn wait(word: &AtomicU32, value: u32) {
    let _ = futex::wait(word, futex::Flags::PRIVATE, value, None);
}
