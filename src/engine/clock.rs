//! The one clock of a run, and the one that says what of it a thread was working.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of the monotonic clock: wall-clock steps do not touch it. About 31 ns a read.
#[inline]
#[must_use]
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// CPU time of the calling thread in nanoseconds. A system call, unlike [`now_ns`].
#[must_use]
pub(super) fn thread_cpu_ns() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64
}
