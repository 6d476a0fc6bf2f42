//! When the program was started, as its first process tells the second one. The kernel's start time of
//! a process would not do: it is that of whoever ran `exec`, and a shell or cargo may have lived long.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Environment variable of the second process: [`now`] of the first.
pub const STARTED: &str = "JBODBENCH_STARTED";

/// Nanoseconds of the monotonic clock, as text.
#[must_use]
pub fn now() -> String {
    nanoseconds().to_string()
}

/// How long ago the first process was started, by what it left in the environment.
#[must_use]
pub fn since_start() -> Option<Duration> {
    since(&std::env::var(STARTED).ok()?)
}

fn since(started: &str) -> Option<Duration> {
    nanoseconds().checked_sub(started.parse().ok()?).map(Duration::from_nanos)
}

fn nanoseconds() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on() {
        let started = now();
        std::thread::sleep(Duration::from_millis(20));
        let passed = since(&started).unwrap();
        assert!(
            (Duration::from_millis(20)..Duration::from_secs(5)).contains(&passed),
            "{passed:?}"
        );
        assert_eq!(since("soon"), None);
        assert_eq!(since(&u64::MAX.to_string()), None);
    }
}
