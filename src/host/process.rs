//! When a process began.

use std::time::Duration;

use super::procfs;

/// How long ago the parent of this process was started, to 10 ms; `None` if that cannot be read.
#[must_use]
pub fn age_of_parent() -> Option<Duration> {
    let parent = rustix::process::getppid()?.as_raw_nonzero();
    let stat = procfs::raw(format!("/proc/{parent}/stat"))?;
    let began = Duration::from_secs_f64(start_ticks(&stat)? as f64 / ticks_per_second());
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32).checked_sub(began)
}

fn ticks_per_second() -> f64 {
    rustix::param::clock_ticks_per_second() as f64
}

/// The 22nd word of /proc/PID/stat: ticks from boot to the start. The second, a name in brackets,
/// may hold anything.
fn start_ticks(stat: &str) -> Option<u64> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_is_no_hindrance() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 99 9";
        assert_eq!(start_ticks(stat), Some(4711));
    }

    #[test]
    fn the_parent_is_older_than_this_test() {
        let (before, pause) = (age_of_parent().unwrap(), Duration::from_millis(50));
        std::thread::sleep(pause);
        let grown = age_of_parent().unwrap() - before;
        assert!(grown >= pause - Duration::from_millis(1), "{grown:?}");
    }
}
