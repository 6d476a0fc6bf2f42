//! Whether this process may use io_uring, and if not, why and what to change.

use std::io;

use rustix::process::{Resource, getrlimit};

use super::ring::Ring;
use crate::host::{limits, procfs};

/// There is no ring to be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoRing {
    /// Name of the error: `EPERM`.
    pub errno: String,
    /// Why, as far as the kernel tells.
    pub reason: String,
    /// What to change.
    pub remedy: String,
}

impl NoRing {
    /// What the error of a ring's setup means.
    #[must_use]
    pub fn of(error: &io::Error) -> Self {
        let errno = error.raw_os_error().unwrap_or(libc::EIO);
        let disabled = procfs::number::<u32>("/proc/sys/kernel/io_uring_disabled").unwrap_or(0);
        let status = procfs::raw("/proc/self/status").unwrap_or_default();
        let filtered = procfs::value_after(&status, "Seccomp") == Some(2);
        let (reason, remedy) = why(errno, disabled, filtered);
        let name = crate::errno::name(errno).map_or_else(|| errno.to_string(), str::to_owned);
        Self { errno: name, reason: reason.into(), remedy: remedy.into() }
    }
}

impl std::fmt::Display for NoRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no io_uring ({}): {}; {}", self.errno, self.reason, self.remedy)
    }
}

/// Descriptors that are left for other things while rings are tried.
const OTHER_FILES: u64 = 4;
/// CAP_IPC_LOCK: who has it may lock any amount of memory.
const IPC_LOCK: u32 = 14;

/// Makes rings for so many clients each and throws them away: one, or as many as are wanted where
/// their memory is limited.
///
/// # Errors
///
/// Why they cannot be had.
pub fn rings_are_usable(clients: u32, rings: u32) -> Result<(), NoRing> {
    let rings = if memory_is_limited() { rings.clamp(1, most_descriptors()) } else { 1 };
    let made: io::Result<Vec<Ring>> = (0..rings).map(|_| Ring::new(clients)).collect();
    made.map(drop).map_err(|error| NoRing::of(&error))
}

/// The kernel counts the memory of rings against a limit of the user's.
fn memory_is_limited() -> bool {
    let status = procfs::raw("/proc/self/status").unwrap_or_default();
    let capabilities = procfs::text_after(&status, "CapEff");
    let capabilities = capabilities.and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or(0);
    getrlimit(Resource::Memlock).current.is_some() && capabilities >> IPC_LOCK & 1 == 0
}

/// Rings that this process can hold at once; the threads will have tables of their own.
fn most_descriptors() -> u32 {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let others = limits::open_files().unwrap_or(0) + OTHER_FILES;
    u32::try_from(limit.saturating_sub(others)).unwrap_or(u32::MAX).max(1)
}

fn why(errno: i32, disabled: u32, filtered: bool) -> (&'static str, &'static str) {
    match errno {
        libc::EPERM | libc::EACCES if disabled == 2 => {
            ("kernel.io_uring_disabled is 2", "set it to 0: sysctl kernel.io_uring_disabled=0")
        }
        libc::EPERM | libc::EACCES if disabled == 1 => (
            "kernel.io_uring_disabled is 1",
            "be root, join the group of kernel.io_uring_group, or: sysctl kernel.io_uring_disabled=0",
        ),
        libc::EPERM | libc::EACCES | libc::ENOSYS if filtered => (
            "a seccomp filter forbids it, as containers have one",
            "allow io_uring_setup, io_uring_enter and io_uring_register in it, or run outside",
        ),
        libc::EPERM | libc::EACCES => ("the kernel forbids it", "look at its security policy"),
        libc::ENOSYS => ("the kernel has none, or an old one", "use Linux 5.11 or later"),
        libc::ENOMEM => (
            "no memory for a ring within the limit of locked memory",
            "raise it with `ulimit -l unlimited`, or use fewer clients or threads",
        ),
        libc::EMFILE | libc::ENFILE => {
            ("no descriptor left for a ring", "raise the limit with `ulimit -n`")
        }
        _ => ("the kernel refused a ring", "use --engine sync"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remedy_names_what_is_to_be_changed() {
        assert!(why(libc::EPERM, 2, true).1.contains("io_uring_disabled=0"));
        assert!(why(libc::EPERM, 1, false).1.contains("io_uring_group"));
        assert!(why(libc::EPERM, 0, true).0.contains("seccomp"));
        assert!(why(libc::ENOSYS, 0, false).1.contains("5.11"));
        assert!(why(libc::ENOMEM, 0, false).1.contains("ulimit -l"));
    }
}
