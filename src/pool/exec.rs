//! The executor of a pool thread: polls the clients whose call has completed, then waits once.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::engine::{ClientIndex, Engine};

/// Runs futures, one per client of the engine by index, until all are done; `done` is told of
/// each as it ends. There are no wakers: the engine says whose call has completed.
pub fn run_clients<E: Engine, F: Future>(
    engine: &E,
    clients: impl IntoIterator<Item = F>,
    mut done: impl FnMut(ClientIndex, F::Output),
) {
    let mut futures: Vec<Option<Pin<Box<F>>>> =
        clients.into_iter().map(|client| Some(Box::pin(client))).collect();
    let mut ready: VecDeque<ClientIndex> = (0..futures.len() as ClientIndex).collect();
    let mut batch = Vec::with_capacity(futures.len());
    let mut context = Context::from_waker(Waker::noop());
    let mut left = futures.len();
    while left > 0 {
        while let Some(client) = ready.pop_front() {
            let slot = &mut futures[client as usize];
            let Some(future) = slot else { continue };
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                *slot = None;
                left -= 1;
                done(client, output);
            }
            engine.glance(&mut batch);
            batch.drain(..).for_each(|client| ready.push_front(client));
        }
        if left > 0 {
            engine.reap(&mut batch);
            ready.extend(batch.drain(..));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Call, PathSlot, Reply, ScriptedEngine, SlotLayout, call};

    #[test]
    fn a_pending_call_is_polled_again_when_it_is_done() {
        let replies = [Reply::Later(Ok(1)), Reply::Now(Ok(2)), Reply::Later(Ok(3))];
        let engine = ScriptedEngine::new(&SlotLayout::default(), replies);
        let client = async |index| {
            let mut sum = 0;
            for _ in 0..3 {
                sum += call(&engine, index, Call::Stat(PathSlot::Root)).await.unwrap();
            }
            sum
        };
        let mut outputs = Vec::new();
        run_clients(&engine, [client(0)], |index, sum| outputs.push((index, sum)));
        assert_eq!(outputs, [(0, 6)]);
    }
}
