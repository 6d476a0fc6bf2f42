//! What a thread cost: CPU time, switches, and time it was ready and had no CPU.

use std::time::Duration;

use rustix::io::Errno;
use serde::Serialize;

use super::{procfs, sys};

/// The calling thread's costs since it began, or between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ThreadCost {
    /// CPU time in user mode.
    pub user: Duration,
    /// CPU time in the kernel.
    pub system: Duration,
    /// Switches because the thread waited for something.
    pub voluntary_switches: u64,
    /// Switches because another thread took the CPU.
    pub involuntary_switches: u64,
    /// Time ready to run without a CPU; `None` on kernels without schedstats.
    pub run_delay: Option<Duration>,
}

impl ThreadCost {
    /// The calling thread's costs so far.
    ///
    /// It opens and closes one file below /proc, which gets the lowest free descriptor number.
    ///
    /// # Errors
    /// The errno of `getrusage`; none is known.
    pub fn now() -> Result<Self, Errno> {
        let usage = sys::thread_rusage()?;
        let schedstat = procfs::text("/proc/thread-self/schedstat");
        Ok(Self {
            user: usage.user,
            system: usage.system,
            voluntary_switches: usage.voluntary_switches,
            involuntary_switches: usage.involuntary_switches,
            run_delay: schedstat.as_deref().and_then(run_delay),
        })
    }

    /// The same with the CPU time of the kernel threads that work for this thread's ring, which
    /// count as threads of their own. Those that have ended are missing: they do so after 5 s
    /// without work.
    ///
    /// # Errors
    /// As of [`ThreadCost::now`].
    pub fn now_with_workers() -> Result<Self, Errno> {
        let mut cost = Self::now()?;
        cost.system += workers(rustix::thread::gettid().as_raw_nonzero().get());
        Ok(cost)
    }

    /// The costs since an earlier reading of the same thread.
    #[must_use]
    pub fn minus(&self, earlier: &Self) -> Self {
        Self {
            user: self.user.saturating_sub(earlier.user),
            system: self.system.saturating_sub(earlier.system),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
            run_delay: self
                .run_delay
                .zip(earlier.run_delay)
                .map(|(now, then)| now.saturating_sub(then)),
        }
    }

    /// The sum over two threads; an unknown delay makes the sum's unknown.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            user: self.user + other.user,
            system: self.system + other.system,
            voluntary_switches: self.voluntary_switches + other.voluntary_switches,
            involuntary_switches: self.involuntary_switches + other.involuntary_switches,
            run_delay: self.run_delay.zip(other.run_delay).map(|(a, b)| a + b),
        }
    }
}

/// CPU time of the io_uring workers of a thread: the kernel names them after it.
fn workers(thread: i32) -> Duration {
    let name = format!("iou-wrk-{thread}");
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    tasks
        .map(|task| task.path())
        .filter(|task| procfs::text(task.join("comm")).is_some_and(|comm| comm == name))
        .filter_map(|task| on_cpu(&procfs::text(task.join("schedstat"))?))
        .sum()
}

/// The first number of schedstat: nanoseconds spent on a CPU.
fn on_cpu(schedstat: &str) -> Option<Duration> {
    schedstat.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// The second number of schedstat: nanoseconds spent waiting on a run queue.
fn run_delay(schedstat: &str) -> Option<Duration> {
    schedstat.split_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_and_sums() {
        let of = |ms: u64, delay: Option<u64>| ThreadCost {
            user: Duration::from_millis(ms),
            system: Duration::from_millis(2 * ms),
            voluntary_switches: ms,
            involuntary_switches: ms + 1,
            run_delay: delay.map(Duration::from_nanos),
        };
        let (early, late) = (of(5, Some(100)), of(25, Some(700)));
        let grown = late.minus(&early);
        assert_eq!(grown.system, Duration::from_millis(40));
        assert_eq!(grown.run_delay, Some(Duration::from_nanos(600)));
        assert_eq!(grown.plus(&of(1, None)).run_delay, None);
        assert_eq!(grown.plus(&of(1, None)).voluntary_switches, 21);
        assert_eq!(early.minus(&late).user, Duration::ZERO);
    }

    #[test]
    fn schedstat() {
        assert_eq!(run_delay("12 345 6"), Some(Duration::from_nanos(345)));
        assert_eq!(run_delay("12"), None);
        assert_eq!(on_cpu("12 345 6"), Some(Duration::from_nanos(12)));
        assert!(ThreadCost::now().unwrap().minus(&ThreadCost::default()).user.as_secs() < 1000);
    }
}
