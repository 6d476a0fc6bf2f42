//! From a call to an entry of the submission queue.

mod attribute;

use io_uring::opcode::{
    self, Close, FGetXattr, FSetXattr, Fsync, GetXattr, LinkAt, MkDirAt, OpenAt, Read, ReadFixed,
    RenameAt, SetXattr, Statx, SymlinkAt, UnlinkAt, Write, WriteFixed,
};
use io_uring::{squeue, types};

use super::ring::Ring;
use super::seat::Seat;
use crate::engine::{
    Call, ClientIndex, DOS_ATTRIBUTE, DOS_ATTRIBUTE_LEN, Directory, PathSlot, Slot,
};

/// The operations that calls are made of.
pub(super) const OPCODES: &[u8] = &[
    Statx::CODE,
    OpenAt::CODE,
    Close::CODE,
    MkDirAt::CODE,
    UnlinkAt::CODE,
    RenameAt::CODE,
    LinkAt::CODE,
    SymlinkAt::CODE,
    Read::CODE,
    Write::CODE,
    ReadFixed::CODE,
    WriteFixed::CODE,
    Fsync::CODE,
    GetXattr::CODE,
    SetXattr::CODE,
    FGetXattr::CODE,
    FSetXattr::CODE,
    opcode::AsyncCancel2::CODE,
];

/// The value that [`Call::Fsetxattr`] writes, as [`crate::engine::sys::fsetxattr`] does.
static ATTRIBUTE: [u8; DOS_ATTRIBUTE_LEN] = [0x20; DOS_ATTRIBUTE_LEN];
const BASIC_STATS: u32 = libc::STATX_BASIC_STATS;

/// The operation that a call becomes; `None` where io_uring has none.
pub(super) const fn opcode_of(call: &Call) -> Option<u8> {
    Some(match call {
        Call::Stat(_)
        | Call::Lstat(_)
        | Call::Fstat(_)
        | Call::Fstatat(_)
        | Call::StatEntry { .. } => Statx::CODE,
        Call::Attribute(call) => return attribute::opcode_of(call.kind),
        Call::Open { .. } => OpenAt::CODE,
        Call::Close(_) => Close::CODE,
        Call::Mkdir { .. } => MkDirAt::CODE,
        Call::Rmdir(_) | Call::Unlink(_) => UnlinkAt::CODE,
        Call::Rename | Call::Renameat { .. } => RenameAt::CODE,
        Call::Link => LinkAt::CODE,
        Call::Symlink => SymlinkAt::CODE,
        Call::Read { .. } => Read::CODE,
        Call::Write { .. } => Write::CODE,
        Call::Fsync(_) | Call::Fdatasync(_) => Fsync::CODE,
        Call::Getxattr(_) => GetXattr::CODE,
        Call::Fgetxattr(_) => FGetXattr::CODE,
        Call::Fsetxattr(_) => FSetXattr::CODE,
        Call::Deltree(_)
        | Call::Getdents(_)
        | Call::Statfs(_)
        | Call::Readlink(_)
        | Call::Futimens { .. }
        | Call::Lock { .. }
        | Call::MmapRead { .. }
        | Call::Simple { .. }
        | Call::Sleep { .. }
        | Call::Await { .. } => return None,
    })
}

/// The entry of a call, pointing into a seat; `None` where this kernel has no operation for it.
/// The caller must see to it that the seat stays as it is until the call has completed.
#[inline]
pub(super) fn build(
    ring: &Ring,
    seat: &Seat,
    client: ClientIndex,
    call: &Call,
) -> Option<squeue::Entry> {
    if !ring.knows(opcode_of(call)?) {
        return None;
    }
    let mut slot = seat.slot.borrow_mut();
    match *call {
        Call::Read { fd, offset, len } => {
            let (fd, buffer) = (types::Fd(fd), slot.read[..len].as_mut_ptr());
            let entry = match ring.fixed.read(client) {
                Some(at) => ReadFixed::new(fd, buffer, len as u32, at).offset(offset).build(),
                None => Read::new(fd, buffer, len as u32).offset(offset).build(),
            };
            Some(entry)
        }
        Call::Write { fd, offset, from, len } => {
            let (fd, buffer) = (types::Fd(fd), slot.write[from..from + len].as_ptr());
            let entry = match ring.fixed.write(client) {
                Some(at) => WriteFixed::new(fd, buffer, len as u32, at).offset(offset).build(),
                None => Write::new(fd, buffer, len as u32).offset(offset).build(),
            };
            Some(entry)
        }
        Call::Close(fd) => Some(Close::new(types::Fd(fd)).build()),
        Call::Fsync(fd) => Some(Fsync::new(types::Fd(fd)).build()),
        Call::Fdatasync(fd) => {
            let flags = types::FsyncFlags::DATASYNC;
            Some(Fsync::new(types::Fd(fd)).flags(flags).build())
        }
        Call::Attribute(call) => attribute::entry(&mut slot, call),
        Call::StatEntry { fd, at } => {
            let name = std::ffi::CStr::from_bytes_until_nul(&slot.dir[at..]).ok()?.as_ptr();
            let entry = Statx::new(types::Fd(fd), name, stat_buffer(seat)).mask(BASIC_STATS);
            Some(entry.flags(libc::AT_SYMLINK_NOFOLLOW).build())
        }
        Call::Fstat(fd) | Call::Fstatat(fd) => {
            let entry = Statx::new(types::Fd(fd), c"".as_ptr(), stat_buffer(seat));
            Some(entry.flags(libc::AT_EMPTY_PATH).mask(BASIC_STATS).build())
        }
        Call::Getxattr(_) | Call::Fgetxattr(_) | Call::Fsetxattr(_) => {
            attribute_entry(seat, &slot, call)
        }
        _ => path_entry(seat, &slot, call),
    }
}

fn path_entry(seat: &Seat, slot: &Slot, call: &Call) -> Option<squeue::Entry> {
    let at = types::Fd(match slot.directory {
        Directory::Cwd => libc::AT_FDCWD,
        Directory::Fd(fd) => fd,
    });
    let path = |which: PathSlot| slot.path(which).as_c_str().as_ptr();
    Some(match *call {
        Call::Stat(which) => {
            Statx::new(at, path(which), stat_buffer(seat)).mask(BASIC_STATS).build()
        }
        Call::Lstat(which) => {
            let entry = Statx::new(at, path(which), stat_buffer(seat)).mask(BASIC_STATS);
            entry.flags(libc::AT_SYMLINK_NOFOLLOW).build()
        }
        Call::Open { path: which, flags, mode } => {
            OpenAt::new(at, path(which)).flags(flags).mode(mode).build()
        }
        Call::Mkdir { path: which, mode } => MkDirAt::new(at, path(which)).mode(mode).build(),
        Call::Rmdir(which) => UnlinkAt::new(at, path(which)).flags(libc::AT_REMOVEDIR).build(),
        Call::Unlink(which) => UnlinkAt::new(at, path(which)).build(),
        Call::Rename => {
            RenameAt::new(at, path(PathSlot::First), at, path(PathSlot::Second)).build()
        }
        Call::Renameat { flags } => {
            let entry = RenameAt::new(at, path(PathSlot::First), at, path(PathSlot::Second));
            entry.flags(flags).build()
        }
        Call::Link => LinkAt::new(at, path(PathSlot::First), at, path(PathSlot::Second)).build(),
        Call::Symlink => SymlinkAt::new(at, path(PathSlot::Parent), path(PathSlot::Second)).build(),
        _ => return None,
    })
}

fn attribute_entry(seat: &Seat, slot: &Slot, call: &Call) -> Option<squeue::Entry> {
    let (name, len) = (DOS_ATTRIBUTE.as_ptr(), DOS_ATTRIBUTE_LEN as u32);
    let value = attribute_buffer(seat);
    match *call {
        // There is no form that starts at a descriptor.
        Call::Getxattr(which) if slot.directory == Directory::Cwd => {
            let path = slot.path(which).as_c_str().as_ptr();
            Some(GetXattr::new(name, value, path, len).build())
        }
        Call::Fgetxattr(fd) => Some(FGetXattr::new(types::Fd(fd), name, value, len).build()),
        Call::Fsetxattr(fd) => {
            let value = ATTRIBUTE.as_ptr().cast();
            Some(FSetXattr::new(types::Fd(fd), name, value, len).build())
        }
        _ => None,
    }
}

/// Where `statx` writes to.
fn stat_buffer(seat: &Seat) -> *mut types::statx {
    seat.stats.set(true);
    #[allow(unsafe_code)]
    // SAFETY: the address of a field, without a reference to it or a look at it.
    unsafe {
        (&raw mut (*seat.kernel.get()).stat).cast()
    }
}

/// Where `getxattr` writes to.
fn attribute_buffer(seat: &Seat) -> *mut libc::c_void {
    #[allow(unsafe_code)]
    // SAFETY: as above.
    unsafe {
        (&raw mut (*seat.kernel.get()).attribute).cast()
    }
}
