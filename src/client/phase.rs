//! A client's way from phase to phase.

use crate::engine::{Call, Engine, now_ns};
use crate::fault::Fault;

use super::Client;
use super::barrier::{Arrival, Barrier, Out};

/// A pause or a wait for a schedule that is longer than this is no sign of a disk that hangs, in
/// nanoseconds.
const LONG_NS: u64 = 1_000_000_000;
/// Errors of a disk that is gone, read-only or full: those that its status is told by.
const OF_THE_DISK: [i32; 8] = [
    libc::EIO,
    libc::ENODEV,
    libc::ENXIO,
    libc::ESTALE,
    libc::ESHUTDOWN,
    libc::EROFS,
    libc::ENOSPC,
    libc::EDQUOT,
];

impl<E: Engine> Client<'_, E> {
    /// The phase at hand is over, or what stands above the first one: waits for all clients of the
    /// run, then begins the next one (`None` at the end of a pass).
    pub(super) async fn come_to(&mut self, next: Option<u16>) {
        let Some(barrier) = self.setup.barrier else { return };
        let ended = std::mem::replace(&mut self.phase, next);
        let arrival =
            if self.alone { Arrival::Alone } else { barrier.arrive(self.setup.disk, ended) };
        if let Arrival::Wait(value) = arrival {
            let client = self.setup.control.turnstile_point();
            self.call(Call::Await { client, value }).await.ok();
        }
        self.alone = arrival == Arrival::Alone;
        self.now = now_ns();
        let shard = self.setup.phase_shards.filter(|_| !self.alone);
        self.counts = next.and_then(|next| shard?.get(usize::from(next)));
        // All count their passes from the same moment, so that all agree on which ones count.
        self.origin_ns = (!self.alone).then(|| barrier.start_ns());
    }

    /// The client ends: nobody waits for its disk any more.
    pub(super) fn leave(&self) {
        self.dismiss(Out::Left);
    }

    fn dismiss(&self, why: Out) {
        let dismiss = |barrier: &Barrier| barrier.dismiss(self.setup.disk, why);
        self.setup.barrier.filter(|_| !self.alone).map(dismiss);
    }

    /// Looks at an unexpected outcome: a disk that has failed must not hold the others up.
    #[cold]
    pub(super) fn mind(&mut self, fault: Fault) {
        let ends_it = |errno: u16| OF_THE_DISK.contains(&i32::from(errno));
        if self.setup.barrier.is_some() && matches!(fault, Fault::Errno(errno) if ends_it(errno)) {
            self.give_up();
        }
    }

    /// From here on this disk's clients go on alone.
    pub(super) fn give_up(&mut self) {
        self.dismiss(Out::Failed);
        self.alone = true;
        self.counts = None;
    }

    /// Does nothing until then, as the load says.
    pub(super) async fn sleep(&mut self, until_ns: u64) {
        let long = self.setup.barrier.is_some() && until_ns.saturating_sub(self.now) > LONG_NS;
        if long {
            self.setup.control.rest(true);
        }
        self.call(Call::Sleep { until_ns }).await.ok();
        self.now = now_ns();
        if long {
            self.setup.control.rest(false);
        }
    }
}
