//! The engine of io_uring: many clients a thread, every call that can be goes through the ring.
//!
//! [`ring`] is the ring, [`lane`] what a thread needs of one, [`entry`] makes entries of calls,
//! [`seat`] is the memory of a client, [`fixed`] are buffers that the kernel knows beforehand,
//! [`waits`] keeps those who wait for something else than the kernel, [`available`] says whether
//! there is a ring to be had. docs/engines.md tells how a turn goes.

mod available;
mod enter;
mod entry;
mod fixed;
mod lane;
mod ring;
mod seat;
mod share;
mod waits;

#[cfg(test)]
mod tests;

use std::cell::{Cell, OnceCell, RefCell, RefMut};
use std::io;
use std::mem::ManuallyDrop;
use std::time::Duration;

pub use available::{NoRing, rings_are_usable};

use super::kind::{Traffic, Way};
use super::sync::execute;
use super::{Call, CallKind, CallResult, ClientIndex, Control, Engine, Slot, SlotLayout, Step};
use super::{now_ns, sys};
use lane::Lane;
use ring::{NOBODY, Ring, expect_ring};
use seat::{Seat, Stage};
use share::Share;
use waits::{Waits, is_taken};

/// Serves the clients of one thread by one ring, or by two if a stand-in helps it.
#[derive(Debug)]
pub struct UringEngine<'a> {
    /// The pool thread's, and that of its stand-in: a ring serves the thread that built it.
    lanes: [OnceCell<Lane>; 2],
    lane: Cell<usize>,
    /// Kept from the automatic drop: see [`UringEngine::drop`].
    seats: ManuallyDrop<Box<[Seat]>>,
    control: &'a Control,
    waits: RefCell<Waits>,
    /// Clients whose result is there, but who have had their share.
    yielded: RefCell<Vec<ClientIndex>>,
    share: Share,
    counts: [[Cell<u64>; Way::COUNT]; CallKind::COUNT],
    waited_ns: Cell<u64>,
}

impl<'a> UringEngine<'a> {
    /// An engine for clients with these layouts. To be made in the thread that uses it.
    ///
    /// # Errors
    ///
    /// When the kernel gives no ring.
    pub fn new(layouts: &[SlotLayout], control: &'a Control) -> io::Result<Self> {
        let lane = Lane::new(Ring::new(layouts.len() as u32)?);
        Ok(Self {
            lanes: [OnceCell::from(lane), OnceCell::new()],
            lane: Cell::new(0),
            seats: ManuallyDrop::new(layouts.iter().map(Seat::new).collect()),
            control,
            waits: RefCell::default(),
            yielded: RefCell::new(Vec::with_capacity(layouts.len())),
            share: Share::default(),
            counts: std::array::from_fn(|_| std::array::from_fn(|_| Cell::new(0))),
            waited_ns: Cell::new(0),
        })
    }

    /// The same with data buffers that the kernel knows beforehand, where it lets them be: for
    /// direct I/O, which moves data from and to their pages. A stand-in does without.
    #[must_use]
    pub fn with_fixed_buffers(mut self, direct: bool) -> Self {
        if direct {
            #[allow(unsafe_code)]
            // SAFETY: `drop` takes the buffers back before it frees the seats, which do not move.
            unsafe {
                if let Some(lane) = self.lanes[0].get_mut() {
                    lane.ring.get_mut().fix_buffers(&self.seats);
                }
            }
        }
        self
    }

    /// The ring of the thread whose turn it is.
    #[inline]
    fn lane(&self) -> &Lane {
        self.lanes[self.lane.get()].get().unwrap_or_else(|| no_ring())
    }

    /// From here on the ring of this thread is used: 0 is the pool thread, 1 its stand-in.
    #[inline]
    pub(super) fn serve(&self, lane: usize) {
        self.lane.set(lane);
    }

    /// Whether the thread whose turn it is has a ring.
    pub(super) fn has_lane(&self) -> bool {
        self.lanes[self.lane.get()].get().is_some()
    }

    /// Builds the ring of the thread whose turn it is, if that can be had.
    pub(super) fn need_lane(&self, clients: u32) {
        if !self.has_lane()
            && let Ok(ring) = Ring::new(clients)
        {
            self.lanes[self.lane.get()].get_or_init(|| Lane::new(ring));
        }
    }

    /// Calls that are in the kernel by the ring of the thread whose turn it is.
    #[inline]
    pub(super) fn flying(&self) -> u32 {
        self.lanes[self.lane.get()].get().map_or(0, |lane| lane.flying.get())
    }

    #[inline]
    fn seat(&self, client: ClientIndex) -> &Seat {
        &self.seats[client as usize]
    }

    #[inline]
    pub(super) fn count(&self, kind: CallKind, way: Way) {
        let count = &self.counts[kind.index()][way as usize];
        count.set(count.get() + 1);
    }

    /// Makes a call at once in this thread.
    #[inline]
    pub(super) fn inline(&self, client: ClientIndex, kind: CallKind, call: Call) -> Step {
        self.count(kind, Way::Inline);
        let result = execute(&mut self.seat(client).slot.borrow_mut(), call);
        self.settle(client, result)
    }

    /// Answers with a result that is there; or keeps it, when it is another client's turn.
    #[inline]
    pub(super) fn settle(&self, client: ClientIndex, result: CallResult) -> Step {
        if !self.share.spend(client, || self.ring_has_work()) {
            self.finish(client, result, now_ns());
            self.yielded.borrow_mut().push(client);
            return Step::Pending;
        }
        Step::Done(result)
    }

    /// Whether calls wait to be handed to the kernel, or it has completed some.
    #[cold]
    fn ring_has_work(&self) -> bool {
        self.flying() > 0 && self.lane().ring.borrow_mut().has_work()
    }

    /// Names clients whose call has completed, after a turn in which nobody looked at the ring.
    pub(super) fn glance(&self, ready: &mut Vec<ClientIndex>) {
        if self.share.took_end() && self.flying() > 0 {
            expect_ring(self.lane().ring.borrow_mut().flush());
            self.collect(ready);
        }
    }

    pub(super) fn finish(&self, client: ClientIndex, result: CallResult, now_ns: u64) {
        let seat = self.seat(client);
        seat.stage.set(Stage::Done(result));
        seat.ready_ns.set(now_ns);
    }

    /// Makes a call by the ring, or at once where there is no operation for it.
    #[inline]
    pub(super) fn through(&self, client: ClientIndex, kind: CallKind, call: Call) -> Step {
        let (seat, lane) = (self.seat(client), self.lane());
        let mut ring = lane.ring.borrow_mut();
        let Some(entry) = entry::build(&ring, seat, client, &call) else {
            drop(ring);
            return self.inline(client, kind, call);
        };
        self.count(kind, Way::Ring);
        seat.stage.set(Stage::Flying);
        lane.flying.set(lane.flying.get() + 1);
        #[allow(unsafe_code)]
        // SAFETY: the entry points into the seat (or to constants). From here until `land` nobody
        // is let at its slot (`slot` and `start` refuse while it flies), and seats are freed only
        // by `drop`, only when no call is in flight.
        let pushed = unsafe { ring.push(&entry.user_data(u64::from(client))) };
        expect_ring(pushed);
        Step::Pending
    }

    /// Begins a wait, or a call that may have to wait for another client of this thread.
    #[cold]
    fn begin_wait(&self, client: ClientIndex, call: Call) -> Step {
        let now = now_ns();
        let mut waits = self.waits.borrow_mut();
        let over = self.control.waits_end(now);
        match call {
            Call::Sleep { until_ns } if until_ns > now && !over => waits.sleep(client, until_ns),
            Call::Await { client: other, value } => match self.control.reached(other, value) {
                Some(false) if !over => waits.point(client, other, value),
                reached => return self.settle(client, Ok(u64::from(reached == Some(true)))),
            },
            Call::Lock { fd, offset, len, lock } => {
                self.count(CallKind::Lock, Way::Inline);
                match sys::try_lock_file(fd, offset, len, lock) {
                    Err(errno) if lock && is_taken(errno) => {
                        waits.lock(client, fd, (offset, len), now);
                    }
                    result => return self.settle(client, result),
                }
            }
            _ => return self.settle(client, Ok(0)),
        }
        self.seat(client).stage.set(Stage::Waiting);
        Step::Pending
    }

    /// Starts a call the way that `by` says, if it is not a wait.
    #[inline]
    pub(super) fn start_by(
        &self,
        client: ClientIndex,
        call: Call,
        by: impl FnOnce(CallKind) -> Step,
    ) -> Step {
        assert_eq!(self.seat(client).stage.get(), Stage::Idle, "a client has one call in flight");
        match call.kind() {
            CallKind::Wait | CallKind::Lock => self.begin_wait(client, call),
            kind => by(kind),
        }
    }

    /// Takes in what the kernel has completed.
    fn collect(&self, ready: &mut Vec<ClientIndex>) {
        let lane = self.lane();
        let mut ring = lane.ring.borrow_mut();
        let mut landed = 0;
        let mut now = 0;
        ring.drain(|user_data, result| {
            if user_data == NOBODY {
                return;
            }
            if landed == 0 {
                now = now_ns();
            }
            landed += 1;
            let client = user_data as ClientIndex;
            self.seat(client).land(result);
            self.seat(client).ready_ns.set(now);
            ready.push(client);
        });
        lane.flying.set(lane.flying.get() - landed);
    }

    /// Waits for the kernel or for time, whichever is first.
    fn wait(&self) {
        let (waits, lane) = (self.waits.borrow(), self.lane());
        if waits.is_empty() {
            return expect_ring(lane.ring.borrow_mut().wait(None));
        }
        if lane.flying.get() == 0 && waits.block(self.control) {
            return;
        }
        let now = now_ns();
        let left = waits.next_ns(self.control, now).saturating_sub(now);
        let left = Duration::from_nanos(left);
        if lane.flying.get() == 0 {
            std::thread::sleep(left);
        } else {
            expect_ring(lane.ring.borrow_mut().wait(Some(left)));
        }
    }

    /// Waits at most so long for the kernel, within `outside`.
    pub(super) fn wait_outside(
        &self,
        most: Duration,
        outside: impl FnOnce(&mut (dyn FnMut() + Send)),
    ) {
        if self.flying() == 0 {
            return outside(&mut || std::thread::sleep(most));
        }
        let lane = self.lane();
        lane.counts(); // what the others are told while the ring is in use
        let ring = &mut *lane.ring.borrow_mut();
        outside(&mut || expect_ring(ring.wait(Some(most))));
    }

    /// The client's call waits for something that the engine does not know.
    pub(super) fn suspend(&self, client: ClientIndex) {
        self.seat(client).stage.set(Stage::Waiting);
    }

    /// Whether a call is in the kernel, or a client waits for something else.
    pub(super) fn has_something_to_wait_for(&self) -> bool {
        self.flying() > 0 || !self.waits.borrow().is_empty()
    }

    /// Names the clients that can go on, without waiting for any.
    pub(super) fn gather(&self, ready: &mut Vec<ClientIndex>) {
        if self.flying() > 0 {
            // Somebody is ready: hand over what was started, but do not wait.
            if !self.yielded.borrow().is_empty() {
                expect_ring(self.lane().ring.borrow_mut().flush());
            }
            self.collect(ready);
        }
        if !self.waits.borrow().is_empty() {
            self.look_at_waits(ready);
        }
        ready.append(&mut self.yielded.borrow_mut());
    }

    fn look_at_waits(&self, ready: &mut Vec<ClientIndex>) {
        let now = now_ns();
        self.waits.borrow_mut().look(self.control, now, |client, result| {
            self.finish(client, result, now);
            ready.push(client);
        });
    }
}

#[cold]
fn no_ring() -> ! {
    panic!("this thread has no ring")
}

impl Engine for UringEngine<'_> {
    const NAME: &'static str = "uring";

    #[inline]
    fn start(&self, client: ClientIndex, call: Call) -> Step {
        self.start_by(client, call, |kind| self.through(client, kind, call))
    }

    #[inline]
    fn take(&self, client: ClientIndex) -> Option<CallResult> {
        let seat = self.seat(client);
        let Stage::Done(result) = seat.stage.get() else { return None };
        seat.stage.set(Stage::Idle);
        let waited = now_ns().saturating_sub(seat.ready_ns.get());
        self.waited_ns.set(self.waited_ns.get() + waited);
        Some(result)
    }

    fn glance(&self, ready: &mut Vec<ClientIndex>) {
        UringEngine::glance(self, ready);
    }

    fn reap(&self, ready: &mut Vec<ClientIndex>) {
        let first = ready.len();
        self.gather(ready);
        while ready.len() == first && self.has_something_to_wait_for() {
            self.wait();
            self.gather(ready);
        }
    }

    #[inline]
    fn slot(&self, client: ClientIndex) -> RefMut<'_, Slot> {
        let seat = self.seat(client);
        assert_ne!(seat.stage.get(), Stage::Flying, "the kernel may be writing to this slot");
        seat.slot.borrow_mut()
    }

    fn traffic(&self) -> Option<Traffic> {
        let lanes = || self.lanes.iter().filter_map(OnceCell::get);
        Some(Traffic {
            calls: std::array::from_fn(|kind| self.counts[kind].each_ref().map(Cell::get)),
            enters: lanes().map(|lane| lane.counts().enters).sum(),
            overflow: lanes().map(|lane| lane.counts().overflow).sum(),
            waited_ns: self.waited_ns.get(),
            io_wq_max: self.lanes[0].get().and_then(|lane| lane.io_wq_max),
        })
    }
}

impl Drop for UringEngine<'_> {
    /// Frees the seats if the kernel is done with them. If it is not, and does not let go of a
    /// call even when that is cancelled (a disk that does not answer), they are leaked: it may
    /// write to them whenever the disk comes back.
    fn drop(&mut self) {
        let left: u32 = self.lanes.iter_mut().filter_map(OnceCell::get_mut).map(Lane::cancel).sum();
        if left == 0 {
            let lanes = self.lanes.iter_mut().filter_map(OnceCell::get_mut);
            lanes.for_each(|lane| lane.ring.get_mut().forget_buffers());
            #[allow(unsafe_code)]
            // SAFETY: dropped once, here; nothing uses the seats after this.
            unsafe {
                ManuallyDrop::drop(&mut self.seats);
            }
        }
    }
}
