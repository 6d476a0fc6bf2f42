//! Clients that wait for a point in time, for another client, or for a lock. They have no call in
//! the kernel: the thread looks at them every turn.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::engine::{CallResult, ClientIndex, Control, Errno, RawFd, sys};

/// A stop of the disk ends a wait at most this much later.
const STOP_NS: u64 = 10_000_000;
/// Waits for another client, and for locks, are looked at this often while nothing else happens.
const LOOK_NS: u64 = 1_000_000;
/// A lock that cannot be had this long after the end of the run never will be.
const LOCK_GRACE_NS: u64 = 1_000_000_000;

/// A client that waits for another one's synchronisation point.
#[derive(Clone, Copy, Debug)]
struct Await {
    waiter: ClientIndex,
    client: u32,
    value: i64,
}

/// A client that waits for a lock.
#[derive(Clone, Copy, Debug)]
struct LockWait {
    waiter: ClientIndex,
    fd: RawFd,
    offset: u64,
    len: u64,
    /// When it is tried again.
    next_ns: u64,
    /// When it is given up, once the run has ended.
    give_up_ns: Option<u64>,
}

/// All clients of a thread that wait.
#[derive(Debug, Default)]
pub(super) struct Waits {
    sleeps: BinaryHeap<Reverse<(u64, ClientIndex)>>,
    awaits: Vec<Await>,
    locks: Vec<LockWait>,
}

impl Waits {
    /// Whether nobody waits.
    pub(super) fn is_empty(&self) -> bool {
        self.sleeps.is_empty() && self.awaits.is_empty() && self.locks.is_empty()
    }

    /// A client sleeps until then.
    pub(super) fn sleep(&mut self, waiter: ClientIndex, until_ns: u64) {
        self.sleeps.push(Reverse((until_ns, waiter)));
    }

    /// A client waits for a synchronisation point.
    pub(super) fn point(&mut self, waiter: ClientIndex, client: u32, value: i64) {
        self.awaits.push(Await { waiter, client, value });
    }

    /// A client waits for a lock that was just found taken.
    pub(super) fn lock(
        &mut self,
        waiter: ClientIndex,
        fd: RawFd,
        (offset, len): (u64, u64),
        now_ns: u64,
    ) {
        let next_ns = now_ns + LOOK_NS;
        self.locks.push(LockWait { waiter, fd, offset, len, next_ns, give_up_ns: None });
    }

    /// When it is time to look again.
    pub(super) fn next_ns(&self, control: &Control, now_ns: u64) -> u64 {
        let often = self.awaits.is_empty() && self.locks.is_empty();
        let look = now_ns + if often { STOP_NS } else { LOOK_NS };
        let sleep = self.sleeps.peek().map_or(u64::MAX, |Reverse((until_ns, _))| *until_ns);
        let (_, end) = control.window();
        let end = if end > now_ns { end } else { u64::MAX };
        look.min(sleep).min(end)
    }

    /// Blocks the thread where one thing is all that is waited for, and wakes it: the end of a
    /// sleep, or a value, as at the end of a phase. Else says `false`.
    pub(super) fn block(&self, control: &Control) -> bool {
        if !self.locks.is_empty() {
            return false;
        }
        match (self.sleeps.peek(), self.awaits.first()) {
            (Some(Reverse((until_ns, _))), None) => control.sleep(*until_ns),
            (None, Some(first)) => {
                let is_same =
                    |wait: &Await| (wait.client, wait.value) == (first.client, first.value);
                if !self.awaits.iter().all(is_same) {
                    return false;
                }
                let _ = control.wait_for(first.client, first.value);
            }
            _ => return false,
        }
        true
    }

    /// Names the clients whose wait is over, with its result.
    pub(super) fn look(
        &mut self,
        control: &Control,
        now_ns: u64,
        mut over: impl FnMut(ClientIndex, CallResult),
    ) {
        let ended = control.waits_end(now_ns);
        while let Some(Reverse((until_ns, waiter))) = self.sleeps.peek().copied() {
            if until_ns > now_ns && !ended {
                break;
            }
            self.sleeps.pop();
            over(waiter, Ok(0));
        }
        self.awaits.retain(|wait| {
            let reached = control.reached(wait.client, wait.value) == Some(true);
            if reached || ended {
                over(wait.waiter, Ok(u64::from(reached)));
            }
            !reached && !ended
        });
        self.locks.retain_mut(|wait| match wait.look(ended, now_ns) {
            None => true,
            Some(result) => {
                over(wait.waiter, result);
                false
            }
        });
    }
}

impl LockWait {
    /// Tries again when it is time.
    fn look(&mut self, ended: bool, now_ns: u64) -> Option<CallResult> {
        if now_ns < self.next_ns {
            return None;
        }
        self.next_ns = now_ns + LOOK_NS;
        match sys::try_lock_file(self.fd, self.offset, self.len, true) {
            Err(errno) if is_taken(errno) => {}
            result => return Some(result),
        }
        // At the end of a run the others close their files, and the lock is free: as in the
        // blocking engine, the call is made to the end. Unless two clients wait for each other.
        let give_up = self.give_up_ns.or(ended.then_some(now_ns + LOCK_GRACE_NS));
        self.give_up_ns = give_up;
        give_up.is_some_and(|at| now_ns >= at).then_some(Err(Errno(libc::EDEADLK as u16)))
    }
}

/// Whether a lock could not be had because another open file holds it.
pub(super) fn is_taken(Errno(errno): Errno) -> bool {
    matches!(i32::from(errno), libc::EAGAIN | libc::EACCES)
}
