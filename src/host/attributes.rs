//! Attributes of a file that forbid its removal, to root as well.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, StatxAttributes, StatxFlags, statx};

/// What forbids to remove a name from a directory: attributes of its own, or of the directory.
pub(super) fn forbids(dir: BorrowedFd<'_>, name: &CStr) -> Option<&'static str> {
    let of = |name: &CStr, flags: AtFlags| {
        let found = statx(dir, name, flags | AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE).ok()?;
        Some(found.stx_attributes)
    };
    let own = of(name, AtFlags::empty()).unwrap_or(StatxAttributes::empty());
    let above = of(c"", AtFlags::EMPTY_PATH).unwrap_or(StatxAttributes::empty());
    match (own, above) {
        (own, _) if own.contains(StatxAttributes::IMMUTABLE) => {
            Some("; it is immutable: chattr -i takes that away")
        }
        (own, _) if own.contains(StatxAttributes::APPEND) => {
            Some("; it is append-only: chattr -a takes that away")
        }
        (_, above) if above.contains(StatxAttributes::IMMUTABLE) => {
            Some("; its directory is immutable: chattr -i takes that away")
        }
        (_, above) if above.contains(StatxAttributes::APPEND) => {
            Some("; its directory is append-only: chattr -a takes that away")
        }
        _ => None,
    }
}
