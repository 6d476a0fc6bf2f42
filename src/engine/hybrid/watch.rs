//! Two ways of seeing that a call waits: how long it slept, once it is done; and that its thread
//! is still in it, while it is not.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crate::engine::now_ns;
use crate::engine::turn::Turn;
use crate::host::procfs;
use crate::host::sys::{ThreadUsage, thread_rusage};

/// A thread that is found in the same call twice, this far apart, is held up.
const PERIOD: Duration = Duration::from_millis(4);

/// How long a thread could have run but had no CPU, as the kernel counts it: the second number of its
/// schedstat file, which stays open.
#[derive(Debug)]
pub(super) struct RunDelay(Option<File>);

impl RunDelay {
    /// Of the calling thread. Without the file (no schedstats in the kernel) it counts as none.
    pub(super) fn of_this_thread() -> Self {
        Self(File::open("/proc/thread-self/schedstat").ok())
    }

    /// So far, in nanoseconds.
    fn ns(&self) -> u64 {
        let mut text = [0; 64];
        let Some(Ok(n)) = self.0.as_ref().map(|file| file.read_at(&mut text, 0)) else { return 0 };
        let number = text[..n].split(|byte| *byte == b' ').nth(1);
        let digits = number.unwrap_or_default().iter().filter(|byte| byte.is_ascii_digit());
        digits.fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'))
    }
}

/// How long a call waited: the time that it took less what it worked and what it waited for a CPU, if
/// the thread gave its CPU up. A thread that only lost its CPU to another one did not wait for the
/// disk; and where all CPUs are busy, a short wait becomes a long one that a worker would have as well.
pub(super) struct Waited {
    start_ns: u64,
    used: Option<ThreadUsage>,
    delay_ns: u64,
}

impl Waited {
    pub(super) fn begin(delay: &RunDelay) -> Self {
        let (used, delay_ns) = (thread_rusage().ok(), delay.ns());
        Self { start_ns: now_ns(), used, delay_ns }
    }

    pub(super) fn end_ns(self, delay: &RunDelay) -> u64 {
        let took = Duration::from_nanos(now_ns() - self.start_ns);
        let (Some(then), Ok(now)) = (self.used, thread_rusage()) else { return 0 };
        if now.voluntary_switches == then.voluntary_switches {
            return 0;
        }
        let worked = (now.user + now.system).saturating_sub(then.user + then.system);
        let waited = took.saturating_sub(worked).as_nanos() as u64;
        waited.saturating_sub(delay.ns().saturating_sub(self.delay_ns))
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
                turn.relieve(seen, sleeps);
                true
            }
            None => false,
        });
    }
}

/// Whether a thread of this process waits for something else than a CPU.
fn sleeps(thread: i32) -> bool {
    let stat = procfs::raw(format!("/proc/self/task/{thread}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
    matches!(state, Some('D' | 'S'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_is_a_wait_and_work_is_none() {
        let delay = RunDelay::of_this_thread();
        let waited = Waited::begin(&delay);
        std::thread::sleep(Duration::from_millis(20));
        let ns = waited.end_ns(&delay);
        assert!(ns >= 15_000_000, "{ns}");
        let waited = Waited::begin(&delay);
        let start = now_ns();
        while now_ns() - start < 5_000_000 {}
        assert!(waited.end_ns(&delay) < 4_000_000);
    }
}
