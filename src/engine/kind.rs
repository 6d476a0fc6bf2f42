//! Which way calls went, by kind.

use super::{AT_POSITION, AttributeCall, Call, CallKind, PathSlot, RawFd};

impl Call {
    /// The call of a kind that an operation is all by itself: on the first path of the client's slot,
    /// or a descriptor.
    #[inline]
    #[must_use]
    pub const fn of(kind: CallKind, fd: RawFd, numbers: [u64; 3]) -> Self {
        match kind {
            CallKind::Stat => Self::Stat(PathSlot::First),
            CallKind::Lstat => Self::Lstat(PathSlot::First),
            CallKind::Fstat => Self::Fstat(fd),
            CallKind::Fsync => Self::Fsync(fd),
            CallKind::Fdatasync => Self::Fdatasync(fd),
            CallKind::Getdents => Self::Getdents(fd),
            CallKind::Mkdir => Self::Mkdir { path: PathSlot::First, mode: numbers[0] as u32 },
            CallKind::Unlink if numbers[0] as i32 & libc::AT_REMOVEDIR != 0 => {
                Self::Rmdir(PathSlot::First)
            }
            CallKind::Unlink => Self::Unlink(PathSlot::First),
            CallKind::Renameat => Self::Renameat { flags: numbers[0] as u32 },
            CallKind::Link => Self::Link,
            CallKind::Symlink => Self::Symlink,
            CallKind::Readlink => Self::Readlink(PathSlot::First),
            CallKind::Fstatat => Self::Fstatat(fd),
            CallKind::ReadNext => Self::Read { fd, offset: AT_POSITION, len: numbers[0] as usize },
            CallKind::WriteNext => {
                Self::Write { fd, offset: AT_POSITION, from: 0, len: numbers[0] as usize }
            }
            CallKind::MmapRead => {
                Self::MmapRead { fd, offset: numbers[0], len: numbers[1] as usize }
            }
            CallKind::Mkfifo => {
                let mode = numbers[0] | libc::S_IFIFO as u64;
                Self::Simple { kind, fd, numbers: [mode, 0, 0] }
            }
            CallKind::Getxattr
            | CallKind::Setxattr
            | CallKind::Removexattr
            | CallKind::Listxattr => Self::Attribute(attribute(kind, None, numbers)),
            CallKind::Fgetxattr
            | CallKind::Fsetxattr
            | CallKind::Fremovexattr
            | CallKind::Flistxattr => Self::Attribute(attribute(kind, Some(fd), numbers)),
            kind => Self::Simple { kind, fd, numbers },
        }
    }

    /// What it is. An open that may make or cut a file is a kind of its own.
    #[inline]
    #[must_use]
    pub const fn kind(&self) -> CallKind {
        match self {
            Self::Stat(_) => CallKind::Stat,
            Self::Lstat(_) => CallKind::Lstat,
            Self::Open { flags, .. } if *flags & (libc::O_CREAT | libc::O_TRUNC) != 0 => {
                CallKind::Create
            }
            Self::Open { .. } => CallKind::Open,
            Self::Close(_) => CallKind::Close,
            Self::Mkdir { .. } => CallKind::Mkdir,
            Self::Rmdir(_) => CallKind::Rmdir,
            Self::Unlink(_) => CallKind::Unlink,
            Self::Rename => CallKind::Rename,
            Self::Renameat { .. } => CallKind::Renameat,
            Self::Link => CallKind::Link,
            Self::Symlink => CallKind::Symlink,
            Self::Readlink(_) => CallKind::Readlink,
            Self::Deltree(_) => CallKind::Deltree,
            Self::Read { offset: AT_POSITION, .. } => CallKind::ReadNext,
            Self::Read { .. } => CallKind::Read,
            Self::Write { offset: AT_POSITION, .. } => CallKind::WriteNext,
            Self::Write { .. } => CallKind::Write,
            Self::Fsync(_) => CallKind::Fsync,
            Self::Fdatasync(_) => CallKind::Fdatasync,
            Self::Fstat(_) => CallKind::Fstat,
            Self::Getdents(_) => CallKind::Getdents,
            Self::Statfs(_) => CallKind::Statfs,
            Self::Futimens { .. } => CallKind::Futimens,
            Self::Lock { .. } => CallKind::Lock,
            Self::Getxattr(_) => CallKind::Getxattr,
            Self::Fgetxattr(_) => CallKind::Fgetxattr,
            Self::Fsetxattr(_) => CallKind::Fsetxattr,
            Self::Fstatat(_) => CallKind::Fstatat,
            Self::StatEntry { .. } => CallKind::Lstat,
            Self::Attribute(call) => call.kind,
            Self::MmapRead { .. } => CallKind::MmapRead,
            Self::Simple { kind, .. } => *kind,
            Self::Sleep { .. } | Self::Await { .. } => CallKind::Wait,
        }
    }
}

/// Numbers of an attribute's call are its length and its flags.
const fn attribute(kind: CallKind, fd: Option<RawFd>, numbers: [u64; 3]) -> AttributeCall {
    AttributeCall { kind, fd, len: numbers[0] as u32, flags: numbers[1] as i32, acl: false }
}

/// The ways a call can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Way {
    /// A plain system call of the pool thread.
    Inline,
    /// A system call that would not have waited, and did not have to.
    Tried,
    /// Through the ring.
    Ring,
    /// A system call that waits, while another thread served the other clients.
    Aside,
}

impl Way {
    /// How many there are.
    pub const COUNT: usize = 4;
}

/// What an engine did, by kind of call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Calls by kind and [`Way`].
    pub calls: [[u64; Way::COUNT]; CallKind::COUNT],
    /// Times that the thread entered the kernel for its ring.
    pub enters: u64,
    /// Completions that found no room in the completion queue. Must be 0.
    pub overflow: u64,
    /// Time that clients were ready but their thread served others, in nanoseconds.
    pub waited_ns: u64,
    /// Limit of kernel workers of the ring, as it is in force.
    pub io_wq_max: Option<u32>,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            calls: [[0; Way::COUNT]; CallKind::COUNT],
            enters: 0,
            overflow: 0,
            waited_ns: 0,
            io_wq_max: None,
        }
    }
}

impl Traffic {
    /// Adds another thread's.
    pub fn merge(&mut self, other: &Self) {
        for (sum, more) in self.calls.iter_mut().flatten().zip(other.calls.iter().flatten()) {
            *sum += more;
        }
        self.enters += other.enters;
        self.overflow += other.overflow;
        self.waited_ns += other.waited_ns;
        self.io_wq_max = self.io_wq_max.max(other.io_wq_max);
    }

    /// Calls that went a way, all kinds together; waits are no calls.
    #[must_use]
    pub fn total(&self, way: Way) -> u64 {
        let kinds = CallKind::ALL.iter().filter(|kind| **kind != CallKind::Wait);
        kinds.map(|kind| self.calls[kind.index()][way as usize]).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_that_changes_something_is_a_create() {
        let open = |flags| Call::Open { path: PathSlot::First, flags, mode: 0 }.kind();
        assert_eq!(open(libc::O_RDWR), CallKind::Open);
        assert_eq!(open(libc::O_RDWR | libc::O_TRUNC), CallKind::Create);
        assert_eq!(open(libc::O_CREAT), CallKind::Create);
        assert_eq!(CallKind::ALL[CallKind::Wait.index()], CallKind::Wait);
    }
}
