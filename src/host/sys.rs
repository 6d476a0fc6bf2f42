//! Raw system calls that no safe crate offers. The only module of this floor with `unsafe`.
//!
//! Everything here acts on the calling thread alone. Pool threads use it before their first client
//! runs; see design decisions 4 and 12 for why they own their tables.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno;
use rustix::thread::{CpuSet, UnshareFlags};

/// Gives the thread a descriptor table of its own, with nothing in it.
///
/// From then on the thread must not use a descriptor that another thread opened: the number is
/// closed here, or names another file. What is opened next gets the numbers 0, 1 and 2, so a panic
/// message of this thread goes nowhere, or into such a file; pool threads must not print.
///
/// # Errors
/// The errno of `close_range` or, where that is missing, of `unshare`.
pub fn unshare_files_and_close_all() -> Result<(), Errno> {
    // SAFETY: the call takes three integers and touches no memory of this process. With UNSHARE
    // only this thread's new table is emptied; other threads' descriptors stay open.
    let answer =
        unsafe { libc::syscall(libc::SYS_close_range, 0_u32, u32::MAX, libc::CLOSE_RANGE_UNSHARE) };
    if answer == 0 {
        return Ok(());
    }
    match last_errno() {
        // Before Linux 5.9, or a sandbox that does not know the call.
        Errno::NOSYS | Errno::INVAL | Errno::PERM => unshare_then_close_each(),
        errno => Err(errno),
    }
}

fn unshare_then_close_each() -> Result<(), Errno> {
    // SAFETY: the thread gets a copy of the table; no descriptor that another thread owns changes.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FILES) }?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let listing = rustix::fs::open("/proc/thread-self/fd", flags, Mode::empty())?;
    let mut open = Vec::new();
    for entry in Dir::new(listing)? {
        let entry = entry?;
        open.extend(entry.file_name().to_str().ok().and_then(|name| name.parse::<i32>().ok()));
    }
    for number in open {
        // SAFETY: the number is one of this thread's private copies, nothing else refers to it. The
        // listing's own descriptor is closed already and answers EBADF.
        unsafe { libc::close(number) };
    }
    Ok(())
}

/// Gives the thread a root, a working directory and a umask of its own.
///
/// # Errors
/// The errno of `unshare`.
pub fn unshare_fs() -> Result<(), Errno> {
    // SAFETY: CLONE_FS copies the working directory, root and umask; no memory and no descriptor
    // is concerned.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::FS) }
}

/// Gives the thread a credentials object of its own in the kernel.
///
/// Threads share the object of the one that made them, and every path walk takes a reference on it.
/// Setting the "keep capabilities" flag to what it is after each exec makes the kernel copy the
/// object, and needs no privilege.
///
/// # Errors
/// EPERM where the flag is locked.
pub fn own_credentials() -> Result<(), Errno> {
    rustix::thread::set_keep_capabilities(false)
}

/// Blocks all signals in the thread, so that the process's signals reach the thread that waits for
/// them.
///
/// # Errors
/// The errno of `pthread_sigmask`.
pub fn block_all_signals_in_this_thread() -> Result<(), Errno> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigfillset writes the whole set, and pthread_sigmask only reads it; the null pointer
    // says that the old mask is not wanted.
    let answer = unsafe {
        libc::sigfillset(set.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut())
    };
    if answer == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(answer)) }
}

/// Asks the kernel whether the calling thread, with the credentials it has now, may use what a
/// descriptor (O_PATH too) leads to. No path is walked: directories above are not asked.
///
/// `access` is the sum of read 4, write 2, execute or search 1.
///
/// # Errors
/// EACCES where it may not; EROFS for writing on a file system mounted read-only; EINVAL or ENOSYS
/// before Linux 5.8, which cannot say.
pub fn may_access(fd: BorrowedFd<'_>, access: u8) -> Result<(), Errno> {
    let flags = libc::AT_EMPTY_PATH | libc::AT_EACCESS;
    // SAFETY: the descriptor is open as long as it is borrowed, the empty path is a C string that
    // the call only reads; the other arguments are integers.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_faccessat2,
            fd.as_raw_fd(),
            c"".as_ptr(),
            libc::c_int::from(access),
            flags,
        )
    };
    if answer == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Number of the system call `lsm_list_modules`, the same on all architectures; Linux 6.8.
const SYS_LSM_LIST_MODULES: libc::c_long = 461;

/// The numbers of the security modules in force, in the order in which they are asked.
///
/// # Errors
/// ENOSYS before Linux 6.8; EPERM in some sandboxes.
pub fn lsm_list_modules() -> Result<Vec<u64>, Errno> {
    let mut ids = [0_u64; 64];
    let mut bytes = size_of_val(&ids) as u32;
    // SAFETY: the call writes at most `bytes` bytes, which is what the array has, and their number;
    // both outlive it.
    let answer =
        unsafe { libc::syscall(SYS_LSM_LIST_MODULES, ids.as_mut_ptr(), &raw mut bytes, 0_u32) };
    let count = usize::try_from(answer).map_err(|_| last_errno())?;
    Ok(ids[..count.min(ids.len())].to_vec())
}

static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when the program was started. Rust's runtime opens /dev/null
/// in its place before `main`, and all that is written there would be lost without a word.
#[must_use]
pub fn stdout_was_closed() -> bool {
    STDOUT_CLOSED.load(Relaxed)
}

// SAFETY: the C library calls the functions of this section, which take nothing and return nothing,
// before the runtime starts. This one needs nothing of the runtime.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = look_at_stdout;

extern "C" fn look_at_stdout() {
    // SAFETY: the call takes integers alone.
    let closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1;
    STDOUT_CLOSED.store(closed, Relaxed);
}

/// What a thread used of its CPUs, by `getrusage(RUSAGE_THREAD)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadUsage {
    /// Time in user mode.
    pub user: Duration,
    /// Time in the kernel.
    pub system: Duration,
    /// Times the thread gave its CPU up to wait.
    pub voluntary_switches: u64,
    /// Times it was taken off its CPU.
    pub involuntary_switches: u64,
}

/// The calling thread's use of the CPU so far.
///
/// # Errors
/// The errno of `getrusage`; none is known.
pub fn thread_rusage() -> Result<ThreadUsage, Errno> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole `rusage`, which the call fills; all zeroes are valid too.
    let usage = unsafe {
        if libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) != 0 {
            return Err(last_errno());
        }
        usage.assume_init()
    };
    Ok(ThreadUsage {
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
        voluntary_switches: u64::try_from(usage.ru_nvcsw).unwrap_or(0),
        involuntary_switches: u64::try_from(usage.ru_nivcsw).unwrap_or(0),
    })
}

/// Ties the calling thread to the given CPUs.
///
/// # Errors
/// EINVAL for a CPU number beyond 1023 or when none of them is usable.
pub fn set_affinity(cpus: &[usize]) -> Result<(), Errno> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(Errno::INVAL);
        }
        set.set(cpu);
    }
    rustix::thread::sched_setaffinity(None, &set)
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}

fn last_errno() -> Errno {
    super::errno::of_io(&std::io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsRawFd;

    /// Descriptors of the thread's own table, counted without leaving one open.
    fn open_numbers() -> Vec<i32> {
        let listing = std::fs::read_dir("/proc/thread-self/fd").unwrap();
        let names: Vec<i32> =
            listing.map(|e| e.unwrap().file_name().to_str().unwrap().parse().unwrap()).collect();
        names
            .into_iter()
            .filter(|n| std::fs::read_link(format!("/proc/thread-self/fd/{n}")).is_ok())
            .collect()
    }

    fn in_thread(body: impl FnOnce() + Send + 'static) {
        std::thread::spawn(body).join().expect("the thread's assertions hold");
    }

    #[test]
    fn an_emptied_table_leaves_the_other_threads_alone() {
        let file = File::open("/proc/self/stat").unwrap();
        for empty in [unshare_files_and_close_all, unshare_then_close_each] {
            in_thread(move || {
                empty().unwrap();
                assert_eq!(open_numbers(), Vec::<i32>::new());
                assert_eq!(File::open("/").unwrap().as_raw_fd(), 0);
            });
        }
        assert!(file.metadata().is_ok());
    }

    #[test]
    fn own_fs_keeps_the_working_directory_apart() {
        let before = std::env::current_dir().unwrap();
        in_thread(|| {
            unshare_fs().unwrap();
            std::env::set_current_dir("/proc").unwrap();
        });
        assert_eq!(std::env::current_dir().unwrap(), before);
    }

    #[test]
    fn signals_credentials_and_affinity() {
        in_thread(|| {
            own_credentials().unwrap();
            block_all_signals_in_this_thread().unwrap();
            let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
            let line = status.lines().find(|l| l.starts_with("SigBlk:")).unwrap();
            assert!(line.contains("fffffffe") || line.contains("fffffff"), "{line}");
            let cpu = rustix::thread::sched_getcpu();
            set_affinity(&[cpu]).unwrap();
            assert_eq!(rustix::thread::sched_getcpu(), cpu);
            assert_eq!(set_affinity(&[70_000]), Err(Errno::INVAL));
            assert_eq!(set_affinity(&[]), Err(Errno::INVAL));
        });
    }

    #[test]
    fn access_is_asked_of_the_inode_alone() {
        use std::os::fd::AsFd;
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let file = File::create(dir.path().join("x")).unwrap();
        file.set_permissions(std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(may_access(file.as_fd(), 6), Ok(()));
        // Not even root may execute what nobody may.
        assert_eq!(may_access(file.as_fd(), 1), Err(Errno::ACCESS));
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let place = rustix::fs::open(dir.path(), flags, Mode::empty()).unwrap();
        assert_eq!(may_access(place.as_fd(), 1), Ok(()));
    }

    #[test]
    fn usage_grows() {
        in_thread(|| {
            let start = std::time::Instant::now();
            let mut x = 1_u64;
            while start.elapsed() < Duration::from_millis(60) {
                x = x.wrapping_mul(3);
            }
            std::thread::sleep(Duration::from_millis(1));
            let usage = thread_rusage().unwrap();
            assert!(usage.user + usage.system > Duration::from_millis(5), "{usage:?} {x}");
            assert!(usage.voluntary_switches > 0, "{usage:?}");
        });
    }
}
