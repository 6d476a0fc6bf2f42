//! What a client does between two passes.

use super::Client;
use crate::engine::{Call, Engine, now_ns};

/// Pause after a pass that mostly failed.
const BACK_OFF_NS: u64 = 100_000_000;

impl<E: Engine> Client<'_, E> {
    pub(super) async fn close_all(&mut self) {
        while let Some(open) = self.handles.take_any() {
            self.call(Call::Close(open.fd)).await.ok();
        }
        self.now = now_ns();
    }

    /// After a pass that mostly failed: a dead disk answers at once, and without a pause its clients
    /// would take the CPUs from those of the disks that are well.
    pub(super) async fn back_off(&mut self) {
        if self.pass_missed * 2 > self.pass_ops {
            self.give_up();
            self.call(Call::Sleep { until_ns: self.now + BACK_OFF_NS }).await.ok();
            self.now = now_ns();
        }
    }

    /// Counts a pass if it lies within the measured window.
    pub(super) fn end_pass(&mut self) -> bool {
        let (window_start, _) = self.setup.control.window();
        if self.pass_start < window_start {
            return false;
        }
        let duration = self.now - self.pass_start;
        self.passes.add(self.pass_start, duration, self.setup.keep_passes);
        true
    }
}
