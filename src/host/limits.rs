//! How many descriptors, threads, bytes and CPUs this process can have.

use std::os::unix::fs::MetadataExt;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::Serialize;

use super::cgroup::Cgroups;
use super::{HostError, procfs};

/// The limit of open files. It counts per descriptor table, so per pool thread. `None`: no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NofileLimit {
    /// The soft limit that the process started with.
    pub soft_before: Option<u64>,
    /// The soft limit now.
    pub soft: Option<u64>,
    /// The hard limit, which only a privileged process can raise.
    pub hard: Option<u64>,
}

/// Raises the soft limit of open files to the hard one.
///
/// # Errors
/// When the kernel refuses.
pub fn raise_nofile() -> Result<NofileLimit, HostError> {
    let before = getrlimit(Resource::Nofile);
    if before.current != before.maximum {
        raise_to(before.maximum)
            .or_else(|errno| {
                // A hard limit above fs.nr_open, as "unlimited" is, cannot be set, only lowered to it.
                let most = procfs::number("/proc/sys/fs/nr_open");
                let most = most.filter(|_| errno == Errno::PERM).ok_or(errno)?;
                let useful = before.maximum.is_none_or(|hard| hard > most)
                    && before.current.is_none_or(|soft| soft < most);
                if useful { raise_to(Some(most)) } else { Err(errno) }
            })
            .map_err(|errno| HostError::Call {
                doing: "raise the limit of open files to its hard limit",
                errno,
            })?;
    }
    let now = getrlimit(Resource::Nofile);
    Ok(NofileLimit { soft_before: before.current, soft: now.current, hard: now.maximum })
}

fn raise_to(limit: Option<u64>) -> Result<(), Errno> {
    setrlimit(Resource::Nofile, Rlimit { current: limit, maximum: limit })
}

/// Descriptors that the calling thread's table holds and that count against the soft limit: numbers
/// beyond it, inherited from before it was lowered, do not. `None` without /proc.
#[must_use]
pub fn open_files() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let numbers = std::fs::read_dir("/proc/thread-self/fd").ok()?.filter_map(|entry| {
        let name = entry.ok()?.file_name();
        name.to_str()?.parse::<u64>().ok()
    });
    // The directory that is read here is one of them.
    Some((numbers.filter(|number| *number < limit).count() as u64).saturating_sub(1))
}

/// A limit and the name of what sets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedLimit {
    /// The number.
    pub value: u64,
    /// What to change to raise it: `ulimit -u`, `cgroup pids.max`.
    pub set_by: &'static str,
}

/// How many more threads can be made now: the tightest limit, less what is running where that is
/// known. `None` where no limit can be read.
#[must_use]
pub fn max_threads() -> Option<NamedLimit> {
    let running = procfs::text("/proc/loadavg").as_deref().and_then(threads_running).unwrap_or(0);
    let sysctl =
        |file: &str| procfs::number::<u64>(file).map(|limit| limit.saturating_sub(running));
    // Root's own threads are not counted against RLIMIT_NPROC.
    let user = rustix::process::getuid();
    let per_user = if user.is_root() { None } else { getrlimit(Resource::Nproc).current };
    let per_user = per_user.map(|limit| limit.saturating_sub(threads_of(user.as_raw())));
    let limits = [
        (per_user, "ulimit -u"),
        (sysctl("/proc/sys/kernel/threads-max"), "sysctl kernel.threads-max"),
        (sysctl("/proc/sys/kernel/pid_max"), "sysctl kernel.pid_max"),
        (Cgroups::of_this_process().threads_left(), "cgroup pids.max"),
    ];
    tightest(limits)
}

/// Threads that a user runs, as far as /proc shows them.
fn threads_of(user: u32) -> u64 {
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    processes
        .flatten()
        .filter(|entry| entry.file_name().as_encoded_bytes()[0].is_ascii_digit())
        .filter(|entry| entry.metadata().is_ok_and(|meta| meta.uid() == user))
        .filter_map(|entry| {
            procfs::value_after(&procfs::raw(entry.path().join("status"))?, "Threads")
        })
        .sum()
}

fn tightest<const N: usize>(limits: [(Option<u64>, &'static str); N]) -> Option<NamedLimit> {
    limits
        .into_iter()
        .filter_map(|(value, set_by)| value.map(|value| NamedLimit { value, set_by }))
        .min_by_key(|limit| limit.value)
}

/// The second number of `running/all` in /proc/loadavg.
fn threads_running(loadavg: &str) -> Option<u64> {
    loadavg.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

/// Memory that can be had without swapping: what the machine has, or what the control group allows.
#[must_use]
pub fn memory_available() -> Option<NamedLimit> {
    let meminfo = procfs::raw("/proc/meminfo").unwrap_or_default();
    let machine = procfs::value_after(&meminfo, "MemAvailable").map(|kib| kib * 1024);
    let group = Cgroups::of_this_process().memory().map(|room| room.available_bytes);
    tightest([(machine, "the machine's memory"), (group, "cgroup memory limit")])
}

/// The CPUs that are online.
#[must_use]
pub fn online_cpus() -> Option<Vec<usize>> {
    procfs::number_list(&procfs::text("/sys/devices/system/cpu/online")?)
}

/// The CPUs that this thread may run on; `None` on machines with more than 1024.
#[must_use]
pub fn affinity() -> Option<Vec<usize>> {
    let set = rustix::thread::sched_getaffinity(None).ok()?;
    Some((0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_limit_is_named() {
        let limits = [(Some(9), "a"), (None, "b"), (Some(4), "c")];
        assert_eq!(tightest(limits), Some(NamedLimit { value: 4, set_by: "c" }));
        assert_eq!(tightest([(None, "a")]), None);
    }

    #[test]
    fn loadavg_counts_threads() {
        assert_eq!(threads_running("0.10 0.20 0.30 2/345 6789"), Some(345));
        assert_eq!(threads_running("0.10"), None);
    }

    #[test]
    fn this_machine_answers() {
        let limit = raise_nofile().unwrap();
        assert_eq!(limit.soft, limit.hard);
        assert!(max_threads().unwrap().value > 10);
        let mine = rustix::process::getuid().as_raw();
        let waiting = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            let before = threads_of(mine);
            (0..3).for_each(|_| drop(scope.spawn(|| waiting.wait())));
            // This thread, the three, and what else runs.
            assert!(before >= 1 && threads_of(mine) >= 4);
            waiting.wait();
        });
        let (before, file) = (open_files().unwrap(), std::fs::File::open("/").unwrap());
        // Other tests of this process open files, too.
        assert!(before >= 3 && file.metadata().is_ok());
        assert!(memory_available().unwrap().value > 1 << 20);
        let (online, mine) = (online_cpus().unwrap(), affinity().unwrap());
        assert!(!mine.is_empty() && mine.iter().all(|cpu| online.contains(cpu)));
    }
}
