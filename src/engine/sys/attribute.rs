//! Extended attributes by the names that a loadfile gives them, and what is kept as one: ACLs.

use rustix::fs::{self, XattrFlags};

use super::{Directory, count, done, lend};
use crate::engine::{AttributeCall, CallResult, Errno, Slot};
use crate::op::CallKind;

/// Makes a call about the attribute that the slot names; ENOTSUP for a path below a descriptor,
/// which only calls from Linux 6.13 on have a form for.
#[inline]
pub fn attribute(slot: &mut Slot, call: AttributeCall) -> CallResult {
    let AttributeCall { kind, fd, len, flags, acl } = call;
    let Slot { first, name, read, write, dir, value, directory, .. } = slot;
    let (path, name) = (first.as_c_str(), name.as_c_str());
    if fd.is_none() && *directory != Directory::Cwd {
        return Err(Errno(libc::ENOTSUP as u16));
    }
    let into: &mut [u8] = if acl { dir } else { read };
    let from: &[u8] = if acl { value } else { write };
    let (len, flags) = (len as usize, XattrFlags::from_bits_retain(flags as u32));
    match (kind, fd.map(lend)) {
        (CallKind::Getxattr, None) => count(fs::getxattr(path, name, &mut into[..len])),
        (CallKind::Fgetxattr, Some(fd)) => count(fs::fgetxattr(fd, name, &mut into[..len])),
        (CallKind::Setxattr, None) => done(fs::setxattr(path, name, &from[..len], flags)),
        (CallKind::Fsetxattr, Some(fd)) => done(fs::fsetxattr(fd, name, &from[..len], flags)),
        (CallKind::Removexattr, None) => done(fs::removexattr(path, name)),
        (CallKind::Fremovexattr, Some(fd)) => done(fs::fremovexattr(fd, name)),
        (CallKind::Listxattr, None) => count(fs::listxattr(path, &mut into[..len])),
        (CallKind::Flistxattr, Some(fd)) => count(fs::flistxattr(fd, &mut into[..len])),
        _ => Err(Errno(libc::ENOSYS as u16)),
    }
}
