//! The operations a loadfile can ask for, by their dbench words. Floor 0: knows nothing else.

use std::fmt;

macro_rules! op_kinds {
    ($($(#[$doc:meta])* $variant:ident = $word:literal),+ $(,)?) => {
        /// A file-system operation that a loadfile line names and that is measured as one sample.
        ///
        /// One loadfile operation may take several system calls; `docs/loadfile.md` lists them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum OpKind { $($(#[$doc])* $variant),+ }

        impl OpKind {
            /// Every kind, in the order of the enum; `ALL[kind.index()] == kind`.
            pub const ALL: &'static [OpKind] = &[$(OpKind::$variant),+];

            /// The word as a loadfile spells it.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(OpKind::$variant => $word),+ }
            }
        }
    };
}

op_kinds! {
    /// Remove everything below a directory, and the directory.
    Deltree = "Deltree",
    /// Create a directory; an existing one is no error.
    Mkdir = "Mkdir",
    /// Remove an empty directory.
    Rmdir = "Rmdir",
    /// Open or create a file or directory and give it a handle.
    NtCreateX = "NTCreateX",
    /// Close a handle.
    Close = "Close",
    /// Write at an offset of a handle.
    WriteX = "WriteX",
    /// Read at an offset of a handle.
    ReadX = "ReadX",
    /// fsync a handle.
    Flush = "Flush",
    /// Rename a path.
    Rename = "Rename",
    /// Remove a file.
    Unlink = "Unlink",
    /// Take a write lock on a byte range of a handle, waiting for it.
    LockX = "LockX",
    /// Release a byte range of a handle.
    UnlockX = "UnlockX",
    /// Read a directory.
    FindFirst = "FIND_FIRST",
    /// stat a path.
    QueryPath = "QUERY_PATH_INFORMATION",
    /// fstat a handle.
    QueryFile = "QUERY_FILE_INFORMATION",
    /// statfs of the disk's directory.
    QueryFs = "QUERY_FS_INFORMATION",
    /// Set the time stamps of an open file.
    SetFile = "SET_FILE_INFORMATION",
}

impl OpKind {
    /// Number of kinds: the length of a table indexed by [`OpKind::index`].
    pub const COUNT: usize = Self::ALL.len();

    /// Position in [`OpKind::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The kind that a loadfile word names; dbench 5 ignores case here and so do we.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word().eq_ignore_ascii_case(word))
    }
}

impl fmt::Display for OpKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_is_the_position_in_all() {
        for (i, kind) in OpKind::ALL.iter().enumerate() {
            assert_eq!(kind.index(), i);
            assert_eq!(OpKind::from_word(&kind.word().to_lowercase()), Some(*kind));
        }
        assert_eq!(OpKind::from_word("Chkpath"), None);
    }
}
