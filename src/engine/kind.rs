//! Kinds of calls, and counts of which way they went.

use super::Call;

macro_rules! kinds {
    ($($kind:ident $word:literal),+ $(,)?) => {
        /// What a [`Call`] is, without its operands.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum CallKind { $(#[doc = concat!("`", $word, "`.")] $kind),+ }

        impl CallKind {
            /// Every kind; `ALL[kind.index()] == kind`.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// The word in results.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(Self::$kind => $word),+ }
            }
        }
    };
}

kinds! {
    Stat "stat", Open "open", Create "create", Close "close", Mkdir "mkdir", Rmdir "rmdir",
    Unlink "unlink", Rename "rename", Deltree "deltree", Read "read", Write "write",
    Fsync "fsync", Fdatasync "fdatasync", Fstat "fstat", Getdents "getdents", Statfs "statfs",
    Futimens "futimens", Lock "lock", Getxattr "getxattr", Fgetxattr "fgetxattr",
    Fsetxattr "fsetxattr", Wait "wait",
}

impl CallKind {
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The kind of a call. An open that may make or cut a file is a kind of its own.
    #[inline]
    #[must_use]
    pub const fn of(call: &Call) -> Self {
        match call {
            Call::Stat(_) => Self::Stat,
            Call::Open { flags, .. } if *flags & (libc::O_CREAT | libc::O_TRUNC) != 0 => {
                Self::Create
            }
            Call::Open { .. } => Self::Open,
            Call::Close(_) => Self::Close,
            Call::Mkdir { .. } => Self::Mkdir,
            Call::Rmdir(_) => Self::Rmdir,
            Call::Unlink(_) => Self::Unlink,
            Call::Rename => Self::Rename,
            Call::Deltree(_) => Self::Deltree,
            Call::Read { .. } => Self::Read,
            Call::Write { .. } => Self::Write,
            Call::Fsync(_) => Self::Fsync,
            Call::Fdatasync(_) => Self::Fdatasync,
            Call::Fstat(_) => Self::Fstat,
            Call::Getdents(_) => Self::Getdents,
            Call::Statfs(_) => Self::Statfs,
            Call::Futimens { .. } => Self::Futimens,
            Call::Lock { .. } => Self::Lock,
            Call::Getxattr(_) => Self::Getxattr,
            Call::Fgetxattr(_) => Self::Fgetxattr,
            Call::Fsetxattr(_) => Self::Fsetxattr,
            Call::Sleep { .. } | Call::Await { .. } => Self::Wait,
        }
    }

    /// Position in [`CallKind::ALL`].
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
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
}

/// What an engine did, by kind of call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Calls by kind and [`Way`].
    pub calls: [[u64; 3]; CallKind::COUNT],
    /// Times that the thread entered the kernel for its ring.
    pub enters: u64,
    /// Completions that found no room in the completion queue. Must be 0.
    pub overflow: u64,
    /// Time that clients were ready but their thread served others, in nanoseconds.
    pub waited_ns: u64,
    /// Limit of kernel workers of the ring, as it is in force.
    pub io_wq_max: Option<u32>,
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
    use crate::engine::PathSlot;

    #[test]
    fn an_open_that_changes_something_is_a_create() {
        let open = |flags| CallKind::of(&Call::Open { path: PathSlot::First, flags, mode: 0 });
        assert_eq!(open(libc::O_RDWR), CallKind::Open);
        assert_eq!(open(libc::O_RDWR | libc::O_TRUNC), CallKind::Create);
        assert_eq!(open(libc::O_CREAT), CallKind::Create);
        assert_eq!(CallKind::ALL[CallKind::Wait.index()], CallKind::Wait);
    }
}
