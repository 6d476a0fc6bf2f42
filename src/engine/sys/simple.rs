//! Calls that are no more than a number, a path or a descriptor, and further numbers: one row each.

use std::ffi::CStr;

use super::{Directory, raw};
use crate::engine::{CallResult, Errno, RawFd};
use crate::op::CallKind;

/// What comes before a call's numbers.
enum On {
    /// The directory and the path.
    At,
    /// The path alone: there is no form that starts at a descriptor.
    Path,
    /// The descriptor.
    Fd,
    /// The directory, the path and two numbers, then this flag.
    AtWith(libc::c_int),
    /// The directory, the path and one number, then this flag.
    AtThen(libc::c_int),
    /// The descriptor and no path at all.
    FdAt,
    /// The descriptor, the one that is the first number, and the second one as length; both at their
    /// positions.
    Between,
    /// The same, the other descriptor first.
    Into,
}

/// How the kernel is asked. Only calls that take nothing else, and write to no memory of ours.
fn spelling(kind: CallKind) -> Option<(libc::c_long, On)> {
    Some(match kind {
        CallKind::Access => (libc::SYS_faccessat, On::At),
        CallKind::Chmod => (libc::SYS_fchmodat, On::At),
        CallKind::Fchmod => (libc::SYS_fchmod, On::Fd),
        CallKind::Truncate => (libc::SYS_truncate, On::Path),
        CallKind::Ftruncate => (libc::SYS_ftruncate, On::Fd),
        CallKind::Fallocate => (libc::SYS_fallocate, On::Fd),
        // Its third number is 0: SEEK_SET.
        CallKind::Lseek => (libc::SYS_lseek, On::Fd),
        // Times that are not given are now.
        CallKind::Utimes => (libc::SYS_utimensat, On::At),
        CallKind::Lutimes => (libc::SYS_utimensat, On::AtThen(libc::AT_SYMLINK_NOFOLLOW)),
        CallKind::Futimes => (libc::SYS_utimensat, On::FdAt),
        CallKind::Chown => (libc::SYS_fchownat, On::At),
        CallKind::Lchown => (libc::SYS_fchownat, On::AtWith(libc::AT_SYMLINK_NOFOLLOW)),
        CallKind::Fchown => (libc::SYS_fchown, On::Fd),
        CallKind::CopyRange => (libc::SYS_copy_file_range, On::Between),
        CallKind::Sendfile => (libc::SYS_sendfile, On::Into),
        // Its device is 0.
        CallKind::Mkfifo => (libc::SYS_mknodat, On::At),
        CallKind::Syncfs => (libc::SYS_syncfs, On::Fd),
        CallKind::SyncRange => (libc::SYS_sync_file_range, On::Fd),
        _ => return None,
    })
}

/// An offset that is not given.
const NOWHERE: *const libc::loff_t = std::ptr::null();

/// Makes such a call; ENOSYS for a kind that is none of them, ENOTSUP for a path below a descriptor
/// where the kernel has no call for that.
#[inline]
pub fn simple(
    kind: CallKind,
    at: Directory,
    path: &CStr,
    fd: RawFd,
    [a, b, c]: [u64; 3],
) -> CallResult {
    let Some((number, on)) = spelling(kind) else { return Err(Errno(libc::ENOSYS as u16)) };
    let path = path.as_ptr();
    let directory = match (at, &on) {
        (Directory::Cwd, _) => libc::AT_FDCWD,
        (Directory::Fd(_), On::Path) => return Err(Errno(libc::ENOTSUP as u16)),
        (Directory::Fd(fd), _) => fd,
    };
    // SAFETY: `spelling` has only calls that read what `on` says and numbers: the path ends with a NUL
    // and lives past the call, and the kernel writes to no memory of ours. The one pointer that is
    // spelled as a number, the times of utimensat, is 0: its words have no number. Pointers to offsets
    // are null, so that positions count. What is no descriptor is answered with EBADF.
    raw(unsafe {
        match on {
            On::At => libc::syscall(number, directory, path, a, b, c),
            On::AtThen(flag) => libc::syscall(number, directory, path, a, flag),
            On::AtWith(flag) => libc::syscall(number, directory, path, a, b, flag),
            On::FdAt => libc::syscall(number, fd, std::ptr::null::<libc::c_char>(), a, b),
            On::Path => libc::syscall(number, path, a, b, c),
            On::Between => libc::syscall(number, fd, NOWHERE, a, NOWHERE, b, 0),
            On::Into => libc::syscall(number, a, fd, NOWHERE, b),
            On::Fd => libc::syscall(number, fd, a, b, c),
        }
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn rows_make_their_calls() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        std::fs::write(&file, "").unwrap();
        let text = format!("{}\0", file.display());
        let path = CStr::from_bytes_with_nul(text.as_bytes()).unwrap();
        let call = |kind, path, number| simple(kind, Directory::Cwd, path, -1, [number, 0, 0]);
        assert_eq!(call(CallKind::Chmod, path, 0o640), Ok(0));
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o640);
        assert_eq!(call(CallKind::Access, path, libc::R_OK as u64), Ok(0));
        let missing = call(CallKind::Access, c"/no/such/path", 0);
        assert_eq!(missing, Err(Errno(libc::ENOENT as u16)));
        assert_eq!(call(CallKind::Read, path, 0), Err(Errno(libc::ENOSYS as u16)));
    }

    /// An operation that is one call reaches a call.
    #[test]
    fn every_word_that_is_one_call_has_a_spelling() {
        for kind in crate::op::OpKind::ALL.iter().filter_map(|op| op.row().call) {
            let call = crate::engine::Call::of(kind, -1, [0; 3]);
            assert_eq!(call.kind(), kind);
            let is_simple = matches!(call, crate::engine::Call::Simple { .. });
            assert_eq!(is_simple, spelling(kind).is_some(), "{}", kind.word());
        }
    }
}
