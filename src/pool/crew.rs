//! The executor of a pool thread that has a stand-in: both run the same clients, one at a time.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll, Waker};

use crate::engine::{ClientIndex, Engine, HybridEngine};

/// The clients of a thread, by index, and those of them that can go on.
pub(super) struct Crew<'e, 'a, F: Future, D> {
    engine: &'e HybridEngine<'a>,
    /// Locked for as long as a client runs. Which may be long: then the stand-in leaves it alone.
    clients: Vec<Mutex<Option<Pin<Box<F>>>>>,
    ready: Mutex<VecDeque<ClientIndex>>,
    left: AtomicUsize,
    done: Mutex<D>,
}

impl<'e, 'a, F, D> Crew<'e, 'a, F, D>
where
    F: Future + Send,
    D: FnMut(ClientIndex, F::Output) + Send,
{
    /// The clients of an engine; `done` is told of each as it ends.
    pub(super) fn new(
        engine: &'e HybridEngine<'a>,
        clients: impl IntoIterator<Item = F>,
        done: D,
    ) -> Self {
        let clients: Vec<_> =
            clients.into_iter().map(|client| Mutex::new(Some(Box::pin(client)))).collect();
        Self {
            engine,
            ready: Mutex::new((0..clients.len() as ClientIndex).collect()),
            left: AtomicUsize::new(clients.len()),
            clients,
            done: Mutex::new(done),
        }
    }

    /// What the pool thread does: runs all clients to their end.
    pub(super) fn run(&self) {
        let mut batch = Vec::with_capacity(self.clients.len());
        loop {
            while let Some(client) = self.next() {
                self.poll(client);
                self.glance(&mut batch);
            }
            if self.left.load(SeqCst) == 0 {
                return;
            }
            self.engine.reap(&mut batch);
            lock(&self.ready).extend(batch.drain(..));
        }
    }

    /// What its stand-in does, whenever the pool thread is held up; `rests` is told when it is
    /// back.
    pub(super) fn stand_in(&self, mut rests: impl FnMut()) {
        let _end = IfItFails(self.engine);
        let mut batch = Vec::with_capacity(self.clients.len());
        while self.engine.await_call() {
            loop {
                while !self.engine.primary_wants()
                    && let Some(client) = self.next()
                {
                    self.poll(client);
                    self.glance(&mut batch);
                }
                if !self.engine.reap_as_stand_in(&mut batch) {
                    break;
                }
                lock(&self.ready).extend(batch.drain(..));
            }
            rests();
            self.engine.retire();
        }
    }

    /// Whose call was waited for comes before those who never waited.
    fn glance(&self, batch: &mut Vec<ClientIndex>) {
        self.engine.glance(batch);
        batch.drain(..).for_each(|client| lock(&self.ready).push_front(client));
    }

    fn next(&self) -> Option<ClientIndex> {
        lock(&self.ready).pop_front()
    }

    fn poll(&self, client: ClientIndex) {
        let mut slot = match self.clients[client as usize].try_lock() {
            Ok(slot) => slot,
            Err(TryLockError::WouldBlock) => return,
            Err(TryLockError::Poisoned(_)) => panic!("a client's thread has panicked"),
        };
        let Some(future) = &mut *slot else { return };
        let mut context = Context::from_waker(Waker::noop());
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            *slot = None;
            self.left.fetch_sub(1, SeqCst);
            lock(&self.done)(client, output);
        }
    }
}

/// Sends the stand-in away when the pool thread is done, or fails.
pub(super) struct Dismiss<'e, 'a>(pub(super) &'e HybridEngine<'a>);

impl Drop for Dismiss<'_, '_> {
    fn drop(&mut self) {
        self.0.dismiss();
    }
}

/// A stand-in that fails does so in its turn, which the pool thread may be waiting for.
struct IfItFails<'e, 'a>(&'e HybridEngine<'a>);

impl Drop for IfItFails<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.dismiss();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
