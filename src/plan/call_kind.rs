//! Kinds of system calls.

macro_rules! kinds {
    ($($kind:ident $word:literal),+ $(,)?) => {
        /// What a system call of a client is, without its operands.
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

    /// Position in [`CallKind::ALL`].
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The kind that a word means.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == word)
    }
}
