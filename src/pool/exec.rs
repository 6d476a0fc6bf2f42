//! The executor of a pool thread: polls the clients whose call has completed, then waits once.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::engine::{ClientIndex, Engine};

/// Runs futures, one per client of the engine by index, until all are done; returns their outputs
/// by index. There are no wakers: the engine says whose call has completed.
pub fn run_clients<E: Engine, F: Future>(engine: &E, clients: Vec<F>) -> Vec<F::Output> {
    let mut futures: Vec<Option<Pin<Box<F>>>> =
        clients.into_iter().map(|client| Some(Box::pin(client))).collect();
    let mut outputs: Vec<Option<F::Output>> = futures.iter().map(|_| None).collect();
    let mut ready: Vec<ClientIndex> = (0..futures.len() as ClientIndex).collect();
    let mut context = Context::from_waker(Waker::noop());
    let mut left = futures.len();
    while left > 0 {
        for client in ready.drain(..) {
            let slot = &mut futures[client as usize];
            let Some(future) = slot else { continue };
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                *slot = None;
                outputs[client as usize] = Some(output);
                left -= 1;
            }
        }
        if left > 0 {
            engine.reap(&mut ready);
        }
    }
    outputs.into_iter().flatten().collect()
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
        assert_eq!(run_clients(&engine, vec![client(0)]), [6]);
    }
}
