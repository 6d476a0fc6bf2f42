//! Kinds of system calls: one row each.

/// What engines have to know of a kind of call.
#[derive(Clone, Copy, Debug)]
struct Row {
    word: &'static str,
    has_operation: bool,
    only_looks: bool,
}

impl Row {
    /// A call that io_uring has an operation for.
    const fn ring(word: &'static str) -> Self {
        Self { word, has_operation: true, only_looks: false }
    }

    /// A call that it has none for.
    const fn plain(word: &'static str) -> Self {
        Self { word, has_operation: false, only_looks: false }
    }

    /// It changes nothing, and never waits for another client.
    const fn looks(self) -> Self {
        Self { only_looks: true, ..self }
    }
}

macro_rules! kinds {
    ($($kind:ident = $row:expr),+ $(,)?) => {
        /// What a system call of a client is, without its operands.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "a row's word says what it is")]
        pub enum CallKind { $($kind),+ }

        impl CallKind {
            /// Every kind; `ALL[kind.index()] == kind`.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];
        }

        static ROWS: &[Row] = &[$($row),+];
    };
}

kinds! {
    Stat = Row::ring("stat").looks(),
    Lstat = Row::ring("lstat").looks(),
    Access = Row::plain("access").looks(),
    Open = Row::ring("open"),
    Create = Row::ring("create"),
    Close = Row::ring("close").looks(),
    Mkdir = Row::ring("mkdir"),
    Rmdir = Row::ring("rmdir"),
    Unlink = Row::ring("unlink"),
    Rename = Row::ring("rename"),
    Deltree = Row::plain("deltree"),
    Read = Row::ring("read"),
    Write = Row::ring("write"),
    Fsync = Row::ring("fsync"),
    Fdatasync = Row::ring("fdatasync"),
    Fstat = Row::ring("fstat").looks(),
    Getdents = Row::plain("getdents").looks(),
    Statfs = Row::plain("statfs").looks(),
    Futimens = Row::plain("futimens"),
    Lock = Row::plain("lock"),
    Getxattr = Row::ring("getxattr").looks(),
    Fgetxattr = Row::ring("fgetxattr").looks(),
    Fsetxattr = Row::ring("fsetxattr"),
    Chmod = Row::plain("chmod"),
    Fchmod = Row::plain("fchmod"),
    Truncate = Row::plain("truncate"),
    Ftruncate = Row::plain("ftruncate"),
    Fallocate = Row::plain("fallocate"),
    Lseek = Row::plain("lseek").looks(),
    Renameat = Row::ring("renameat"),
    Link = Row::ring("link"),
    Symlink = Row::ring("symlink"),
    Readlink = Row::plain("readlink").looks(),
    Utimes = Row::plain("utimes"),
    Lutimes = Row::plain("lutimes"),
    Futimes = Row::plain("futimes"),
    Chown = Row::plain("chown"),
    Lchown = Row::plain("lchown"),
    Fchown = Row::plain("fchown"),
    Fstatat = Row::ring("fstatat").looks(),
    ReadNext = Row::ring("read-next"),
    WriteNext = Row::ring("write-next"),
    CopyRange = Row::plain("copy_file_range"),
    Sendfile = Row::plain("sendfile"),
    MmapRead = Row::plain("mmapread"),
    Mkfifo = Row::plain("mkfifo"),
    Syncfs = Row::plain("syncfs"),
    SyncRange = Row::plain("sync_file_range"),
    Setxattr = Row::ring("setxattr"),
    Removexattr = Row::plain("removexattr"),
    Fremovexattr = Row::plain("fremovexattr"),
    Listxattr = Row::plain("listxattr").looks(),
    Flistxattr = Row::plain("flistxattr").looks(),
    Wait = Row::plain("wait"),
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

    /// The word in results.
    #[must_use]
    pub fn word(self) -> &'static str {
        ROWS[self.index()].word
    }

    /// Whether io_uring can make such calls.
    #[inline]
    #[must_use]
    pub fn has_operation(self) -> bool {
        ROWS[self.index()].has_operation
    }

    /// Whether such a call changes nothing and never waits for another client.
    #[must_use]
    pub fn only_looks(self) -> bool {
        ROWS[self.index()].only_looks
    }

    /// Whether it is one of the calls about extended attributes.
    #[inline]
    #[must_use]
    pub const fn is_about_attributes(self) -> bool {
        matches!(
            self,
            Self::Getxattr
                | Self::Fgetxattr
                | Self::Setxattr
                | Self::Fsetxattr
                | Self::Removexattr
                | Self::Fremovexattr
                | Self::Listxattr
                | Self::Flistxattr
        )
    }

    /// The kind that a word means.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == word)
    }
}
