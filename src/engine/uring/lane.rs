//! A ring, and what is in flight on it.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use super::ring::{NOBODY, Ring};
use crate::engine::now_ns;

/// How long an engine that goes away waits for calls that it has cancelled.
const CANCEL: Duration = Duration::from_millis(500);

/// What a thread needs of a ring.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) ring: RefCell<Ring>,
    /// Calls in the kernel.
    pub(super) flying: Cell<u32>,
    pub(super) io_wq_max: Option<u32>,
    /// What [`Lane::counts`] says while the ring's thread waits in it.
    counts: Cell<Counts>,
}

/// What a ring did so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) enters: u64,
    pub(super) overflow: u64,
}

impl Lane {
    pub(super) fn new(ring: Ring) -> Self {
        let io_wq_max = ring.io_wq_max();
        let (flying, counts) = (Cell::new(0), Cell::default());
        Self { ring: RefCell::new(ring), flying, io_wq_max, counts }
    }

    /// What the ring did so far; what it is in the middle of doing is not among it.
    pub(super) fn counts(&self) -> Counts {
        if let Ok(mut ring) = self.ring.try_borrow_mut() {
            self.counts.set(Counts { enters: ring.enters(), overflow: ring.overflow() });
        }
        self.counts.get()
    }

    /// Asks the kernel to give up what is in flight, and waits a while for that; how much it did
    /// not let go of, as on a disk that does not answer.
    pub(super) fn cancel(&mut self) -> u32 {
        let ring = self.ring.get_mut();
        let mut left = self.flying.get();
        let deadline = now_ns() + CANCEL.as_nanos() as u64;
        let mut usable = left == 0 || ring.cancel_all().is_ok();
        while left > 0 && usable && now_ns() < deadline {
            usable = ring.wait(Some(CANCEL / 10)).is_ok();
            ring.drain(|user_data, _| left -= u32::from(user_data != NOBODY));
        }
        left
    }
}
