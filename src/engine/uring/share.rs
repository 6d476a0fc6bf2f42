//! How many calls in a row a client makes before it is another one's turn.

use std::cell::Cell;

use crate::engine::ClientIndex;

/// Calls that a client may make in a row without waiting before it is the others' turn: about as
/// many as a thread makes before the kernel's scheduler lets another one run (3 ms). Each change of
/// clients finds caches that another one has filled; docs/engines.md has what that costs.
pub(super) const BUDGET: u32 = 1024;
/// After so many of them it is the others' turn if the ring has something to do, that is, if
/// somebody may be waiting for it.
pub(super) const LOOK_EVERY: u32 = 128;

/// Whose turn it is.
#[derive(Debug)]
pub(super) struct Share {
    /// Who made calls last, and how many more it may make.
    now: Cell<(ClientIndex, u32)>,
    /// A client had its share, and nobody has looked at the ring since.
    is_over: Cell<bool>,
}

impl Default for Share {
    fn default() -> Self {
        Self { now: Cell::new((ClientIndex::MAX, 0)), is_over: Cell::default() }
    }
}

impl Share {
    /// A client has made a call; `false` when it was its last one for now.
    #[inline]
    pub(super) fn spend(&self, client: ClientIndex, ring_has_work: impl FnOnce() -> bool) -> bool {
        let (last, left) = self.now.get();
        if last != client {
            self.now.set((client, BUDGET - 1));
        } else if left > 0 && (left % LOOK_EVERY != 0 || !ring_has_work()) {
            self.now.set((client, left - 1));
        } else {
            self.now.set((ClientIndex::MAX, 0));
            self.is_over.set(true);
            return false;
        }
        true
    }

    /// Whether a share has come to its end since this was asked last.
    #[inline]
    pub(super) fn took_end(&self) -> bool {
        self.is_over.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_has_its_budget_and_then_others_come() {
        let share = Share::default();
        let calls = (0..5000).take_while(|_| share.spend(3, || false)).count();
        assert_eq!(calls, 1024);
        assert!(share.took_end() && !share.took_end());
        assert!(share.spend(4, || true) && share.spend(3, || true));
    }

    #[test]
    fn work_of_the_ring_shortens_it() {
        let share = Share::default();
        assert_eq!((0..5000).take_while(|_| share.spend(0, || true)).count(), 128);
    }
}
