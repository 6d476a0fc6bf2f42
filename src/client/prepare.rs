//! What a client does once, before its first pass.

use crate::engine::{Call, Engine, now_ns};

use super::Client;
use super::pace::Pace;

impl<E: Engine> Client<'_, E> {
    /// Executes the loadfile's PREPARE, which is no part of any pass or window, and waits for the
    /// others.
    pub(super) async fn prepare(&mut self, prepared: &(dyn Fn() + Sync)) {
        self.preparing = true;
        self.now = now_ns();
        self.play(self.setup.program.preparation(), &mut Pace::Closed).await;
        self.close_all().await;
        self.preparing = false;
        prepared();
        let (client, value) = self.setup.control.start_point();
        self.call(Call::Await { client, value }).await.ok();
    }
}
