//! The engine that does nothing: what is left is our own cost.

use std::cell::{Cell, RefCell, RefMut};

use super::{Call, CallResult, ClientIndex, Engine, Slot, SlotLayout, Step};

/// Answers every call with success, in full length, without a system call: at once, or with `WAITS`
/// only after the executor came round, as if each call waited for the kernel.
#[derive(Debug)]
pub struct NullEngine<const WAITS: bool = false> {
    seats: Box<[Seat]>,
    pending: RefCell<Vec<ClientIndex>>,
}

#[derive(Debug)]
struct Seat {
    slot: RefCell<Slot>,
    result: Cell<Option<CallResult>>,
}

impl<const WAITS: bool> NullEngine<WAITS> {
    /// An engine for clients with one layout.
    #[must_use]
    pub fn new(layout: &SlotLayout, clients: u32) -> Self {
        let seat = |_| Seat { slot: RefCell::new(Slot::new(layout)), result: Cell::new(None) };
        Self {
            seats: (0..clients).map(seat).collect(),
            pending: RefCell::new(Vec::with_capacity(clients as usize)),
        }
    }
}

impl<const WAITS: bool> Engine for NullEngine<WAITS> {
    const NAME: &'static str = "null";

    #[inline]
    fn start(&self, client: ClientIndex, call: Call) -> Step {
        let result = Ok(match call {
            Call::Read { len, .. } | Call::Write { len, .. } => len as u64,
            Call::Open { .. } => 3,
            _ => 0,
        });
        if !WAITS {
            return Step::Done(result);
        }
        self.seats[client as usize].result.set(Some(result));
        self.pending.borrow_mut().push(client);
        Step::Pending
    }

    #[inline]
    fn take(&self, client: ClientIndex) -> Option<CallResult> {
        self.seats[client as usize].result.take()
    }

    #[inline]
    fn reap(&self, ready: &mut Vec<ClientIndex>) {
        ready.append(&mut self.pending.borrow_mut());
    }

    #[inline]
    fn slot(&self, client: ClientIndex) -> RefMut<'_, Slot> {
        self.seats[client as usize].slot.borrow_mut()
    }
}
