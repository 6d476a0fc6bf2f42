//! Entries of calls about extended attributes that a loadfile names.

use io_uring::opcode::{FGetXattr, FSetXattr, GetXattr, SetXattr};
use io_uring::{squeue, types};

use crate::engine::{AttributeCall, Directory, Slot};
use crate::op::CallKind;

/// The operation of a kind; there is none that removes or lists.
pub(super) const fn opcode_of(kind: CallKind) -> Option<u8> {
    match kind {
        CallKind::Getxattr => Some(GetXattr::CODE),
        CallKind::Setxattr => Some(SetXattr::CODE),
        CallKind::Fgetxattr => Some(FGetXattr::CODE),
        CallKind::Fsetxattr => Some(FSetXattr::CODE),
        _ => None,
    }
}

/// The entry of a call, pointing into its slot; `None` for a path below a descriptor.
pub(super) fn entry(slot: &mut Slot, call: AttributeCall) -> Option<squeue::Entry> {
    let AttributeCall { kind, fd, len, flags, acl } = call;
    if fd.is_none() && slot.directory != Directory::Cwd {
        return None;
    }
    let (path, name) = (slot.first.as_c_str().as_ptr(), slot.name.as_c_str().as_ptr());
    let within = ..len as usize;
    let from = || if acl { slot.value[within].as_ptr() } else { slot.write[within].as_ptr() };
    Some(match (kind, fd.map(types::Fd)) {
        (CallKind::Setxattr, None) => {
            SetXattr::new(name, from().cast(), path, len).flags(flags).build()
        }
        (CallKind::Fsetxattr, Some(fd)) => {
            FSetXattr::new(fd, name, from().cast(), len).flags(flags).build()
        }
        (CallKind::Getxattr | CallKind::Fgetxattr, fd) => {
            let into: &mut [u8] = if acl { &mut slot.dir } else { &mut slot.read };
            let into = into[within].as_mut_ptr().cast();
            match fd {
                None => GetXattr::new(name, into, path, len).build(),
                Some(fd) => FGetXattr::new(fd, name, into, len).build(),
            }
        }
        _ => return None,
    })
}
