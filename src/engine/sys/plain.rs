//! The calls by path that glibc, and so dbench, makes without a directory descriptor.
//!
//! rustix spells them with `*at` everywhere. The work is the same, but a load that claims the same
//! system calls makes the same ones.

use std::ffi::CStr;

use crate::engine::CallResult;

#[cfg(target_arch = "x86_64")]
mod spelling {
    use super::{CStr, CallResult};
    use crate::engine::sys::raw;

    pub(in super::super) fn mkdir(path: &CStr, mode: u32) -> CallResult {
        // SAFETY: the path ends with a NUL and lives past the call.
        raw(unsafe { libc::syscall(libc::SYS_mkdir, path.as_ptr(), mode) })
    }

    pub(in super::super) fn rmdir(path: &CStr) -> CallResult {
        // SAFETY: the path ends with a NUL and lives past the call.
        raw(unsafe { libc::syscall(libc::SYS_rmdir, path.as_ptr()) })
    }

    pub(in super::super) fn unlink(path: &CStr) -> CallResult {
        // SAFETY: the path ends with a NUL and lives past the call.
        raw(unsafe { libc::syscall(libc::SYS_unlink, path.as_ptr()) })
    }

    pub(in super::super) fn rename(old: &CStr, new: &CStr) -> CallResult {
        // SAFETY: both paths end with a NUL and live past the call.
        raw(unsafe { libc::syscall(libc::SYS_rename, old.as_ptr(), new.as_ptr()) })
    }
}

/// Younger architectures have the `*at` calls only.
#[cfg(not(target_arch = "x86_64"))]
mod spelling {
    use rustix::fs::{self, Mode};

    use super::{CStr, CallResult};
    use crate::engine::sys::done;

    pub(in super::super) fn mkdir(path: &CStr, mode: u32) -> CallResult {
        done(fs::mkdir(path, Mode::from_bits_retain(mode)))
    }

    pub(in super::super) fn rmdir(path: &CStr) -> CallResult {
        done(fs::rmdir(path))
    }

    pub(in super::super) fn unlink(path: &CStr) -> CallResult {
        done(fs::unlink(path))
    }

    pub(in super::super) fn rename(old: &CStr, new: &CStr) -> CallResult {
        done(fs::rename(old, new))
    }
}

pub(super) use spelling::{mkdir, rename, rmdir, unlink};
