//! Two ways of seeing that a call waits: how long it slept, once it is done; and that its thread
//! is still in it, while it is not.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crate::engine::now_ns;
use crate::engine::turn::Turn;
use crate::host::sys::{ThreadUsage, thread_rusage};

/// A thread that is found in the same call twice, this far apart, is held up.
const PERIOD: Duration = Duration::from_millis(4);

/// How long a call waited: the time that it took less what it worked, if the thread gave its CPU
/// up. A thread that only lost its CPU to another one did not wait for the disk.
pub(super) struct Waited {
    start_ns: u64,
    used: Option<ThreadUsage>,
}

impl Waited {
    pub(super) fn begin() -> Self {
        let used = thread_rusage().ok();
        Self { start_ns: now_ns(), used }
    }

    pub(super) fn end_ns(self) -> u64 {
        let took = Duration::from_nanos(now_ns() - self.start_ns);
        let (Some(then), Ok(now)) = (self.used, thread_rusage()) else { return 0 };
        if now.voluntary_switches == then.voluntary_switches {
            return 0;
        }
        let worked = (now.user + now.system).saturating_sub(then.user + then.system);
        took.saturating_sub(worked).as_nanos() as u64
    }
}

/// Looks at the turns of pool threads every few milliseconds, and gives those of threads that are
/// held up to their stand-ins. One thread for a whole process.
#[derive(Debug, Default)]
pub struct Watch(Mutex<Vec<(Weak<Turn>, u32)>>);

impl Watch {
    /// Starts looking, for as long as the result is kept.
    ///
    /// # Errors
    ///
    /// When no thread can be started.
    pub fn start() -> std::io::Result<Arc<Self>> {
        let watch = Arc::new(Self::default());
        let watched = Arc::downgrade(&watch);
        std::thread::Builder::new().name("watch".into()).stack_size(64 * 1024).spawn(
            move || {
                while let Some(watch) = watched.upgrade() {
                    watch.look();
                    drop(watch);
                    std::thread::sleep(PERIOD);
                }
            },
        )?;
        Ok(watch)
    }

    /// A turn to look at, until it is dropped.
    pub fn add(&self, turn: &Arc<Turn>) {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.push((Arc::downgrade(turn), 0));
    }

    fn look(&self) {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain_mut(|(turn, seen)| match turn.upgrade() {
            Some(turn) => {
                turn.relieve(seen);
                true
            }
            None => false,
        });
    }
}
