//! The operations a loadfile can ask for, one row each: word, arguments, and what is true of all
//! its lines. Floor 0: knows nothing else.
//!
//! Parser, printer, compiler, clients and `check` read this table. A word that is no more than one
//! system call needs nothing beyond it and a row of [`CallKind`]: CONTRIBUTING.md says how.

pub mod argument;
mod call_kind;
pub mod flags;
mod word;

use std::fmt;

use argument::{Role, Text};
pub use call_kind::CallKind;
pub use word::{Data, Word};

type Number = (Role, &'static str);

const PATH: &[&str] = &["path"];
const OLD_NEW: &[&str] = &["old path", "new path"];
const HANDLE: Number = (Role::Handle, "handle");
const OFFSET: Number = (Role::Offset, "offset");
const LEVEL: Number = (Role::Ignored, "level");
const MODE: Number = (Role::Mode, "mode");
const TRANSFER: &[Number] = &[HANDLE, OFFSET, (Role::Length, "size"), (Role::Want, "ret_size")];
const RANGE: &[Number] = &[HANDLE, OFFSET, (Role::Offset, "length")];
const CREATE: &[Number] =
    &[(Role::Options, "create_options"), (Role::Disposition, "disposition"), HANDLE];
const FIND: &[Number] = &[LEVEL, (Role::Entries, "max_count"), (Role::Ignored, "count")];
const ASK: &[Number] = &[(Role::Flags(&flags::ACCESS), "mode")];
const REMOVE: &[Number] = &[(Role::Flags(&flags::UNLINK), "flags")];
const MOVE: &[Number] = &[(Role::Flags(&flags::RENAME), "flags")];
const LENGTH: Number = (Role::Offset, "length");
const ALLOCATE: &[Number] = &[HANDLE, (Role::Flags(&flags::FALLOCATE), "mode"), OFFSET, LENGTH];
const OWNER: &[Number] = &[(Role::Id, "uid"), (Role::Id, "gid")];
const HANDLE_OWNER: &[Number] = &[HANDLE, (Role::Id, "uid"), (Role::Id, "gid")];
const OPEN: &[Number] = &[(Role::Flags(&flags::OPEN), "flags"), MODE, HANDLE];
const SIZE: Number = (Role::Length, "size");
const WANT: Number = (Role::Want, "ret_size");
const NEXT: &[Number] = &[HANDLE, SIZE, WANT];
const BETWEEN: &[Number] = &[(Role::Handle, "from"), (Role::Handle, "to"), SIZE, WANT];
const NAME: Number = (Role::Text(Text::AttributeName), "name");
const VALUE: Number = (Role::ValueLength, "size");
const SET: Number = (Role::Flags(&flags::XATTR), "flags");
const ENTRIES: Number = (Role::Text(Text::Acl), "entries");
const SYNC_RANGE: Number = (Role::Flags(&flags::SYNC_RANGE), "flags");

macro_rules! op_kinds {
    ($($(#[$doc:meta])* $variant:ident = $row:expr),+ $(,)?) => {
        /// A file-system operation that a loadfile line names and that is measured as one sample.
        ///
        /// One loadfile operation may take several system calls; `docs/loadfile.md` lists them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum OpKind { $($(#[$doc])* $variant),+ }

        impl OpKind {
            /// Every kind, in the order of the enum; `ALL[kind.index()] == kind`.
            pub const ALL: &'static [OpKind] = &[$(OpKind::$variant),+];
        }

        static ROWS: &[Word] = &[$($row),+];
    };
}

op_kinds! {
    /// Remove everything below a directory, and the directory.
    Deltree = Word::new("Deltree", PATH, &[]),
    /// Create a directory; an existing one is no error.
    Mkdir = Word::new("Mkdir", PATH, &[]),
    /// Remove an empty directory.
    Rmdir = Word::new("Rmdir", PATH, &[]).can_expect_failure(),
    /// Open or create a file or directory and give it a handle.
    NtCreateX = Word::new("NTCreateX", PATH, CREATE).can_expect_failure(),
    /// Close a handle.
    Close = Word::new("Close", &[], &[HANDLE]),
    /// Write at an offset of a handle.
    WriteX = Word::new("WriteX", &[], TRANSFER),
    /// Read at an offset of a handle.
    ReadX = Word::new("ReadX", &[], TRANSFER),
    /// fsync a handle.
    Flush = Word::new("Flush", &[], &[HANDLE]),
    /// Rename a path.
    Rename = Word::new("Rename", OLD_NEW, &[]).can_expect_failure(),
    /// Remove a file.
    Unlink = Word::new("Unlink", PATH, &[(Role::Ignored, "attributes")]).can_expect_failure(),
    /// Take a write lock on a byte range of a handle, waiting for it.
    LockX = Word::new("LockX", &[], RANGE),
    /// Release a byte range of a handle.
    UnlockX = Word::new("UnlockX", &[], RANGE),
    /// Read a directory.
    FindFirst = Word::new("FIND_FIRST", PATH, FIND).looks(),
    /// Look a path up, as dbench does.
    QueryPath =
        Word::new("QUERY_PATH_INFORMATION", PATH, &[LEVEL]).can_expect_failure().looks(),
    /// fstat a handle.
    QueryFile = Word::new("QUERY_FILE_INFORMATION", &[], &[HANDLE, LEVEL]),
    /// statfs of the disk's directory.
    QueryFs = Word::new("QUERY_FS_INFORMATION", &[], &[LEVEL]),
    /// Set the time stamps of an open file.
    SetFile = Word::new("SET_FILE_INFORMATION", &[], &[HANDLE, LEVEL]),
    /// stat a path.
    Stat = Word::new("stat", PATH, &[]).is(CallKind::Stat).looks(),
    /// stat a path, without following a link at its end.
    Lstat = Word::new("lstat", PATH, &[]).is(CallKind::Lstat).looks(),
    /// Ask for permission.
    Access = Word::new("access", PATH, ASK)
        .is(CallKind::Access)
        .looks(),
    /// Open with flags and give it a handle.
    Open = Word::new("open", PATH, OPEN).can_expect_failure(),
    /// fstat a handle.
    Fstat = Word::new("fstat", &[], &[HANDLE]).is(CallKind::Fstat),
    /// fdatasync a handle.
    Fdatasync = Word::new("fdatasync", &[], &[HANDLE]).is(CallKind::Fdatasync),
    /// Set the permission bits of a path.
    Chmod = Word::new("chmod", PATH, &[MODE]).is(CallKind::Chmod),
    /// Set the permission bits of a handle.
    Fchmod = Word::new("fchmod", &[], &[HANDLE, MODE]).is(CallKind::Fchmod),
    /// Set the length of a path.
    Truncate = Word::new("truncate", PATH, &[LENGTH]).is(CallKind::Truncate),
    /// Set the length of a handle.
    Ftruncate = Word::new("ftruncate", &[], &[HANDLE, LENGTH]).is(CallKind::Ftruncate),
    /// Give a range of a handle its blocks, or take them.
    Fallocate = Word::new("fallocate", &[], ALLOCATE).is(CallKind::Fallocate),
    /// Set the position of a handle.
    Lseek = Word::new("lseek", &[], &[HANDLE, OFFSET]).is(CallKind::Lseek),
    /// Read the next entries of a directory's handle.
    Getdents = Word::new("getdents", &[], &[HANDLE]).is(CallKind::Getdents),
    /// Create a directory; an existing one is an error.
    Mkdirat = Word::new("mkdirat", PATH, &[MODE]).is(CallKind::Mkdir),
    /// Remove a name.
    Unlinkat = Word::new("unlinkat", PATH, REMOVE).is(CallKind::Unlink),
    /// Rename with flags.
    Renameat = Word::new("renameat2", OLD_NEW, MOVE).is(CallKind::Renameat),
    /// Give a file a second name.
    Link = Word::new("link", OLD_NEW, &[]).is(CallKind::Link),
    /// Make a symbolic link that leads to a path.
    Symlink = Word::new("symlink", &["target", "path"], &[]).is(CallKind::Symlink),
    /// Read a symbolic link.
    Readlink = Word::new("readlink", PATH, &[]).is(CallKind::Readlink).looks(),
    /// Set the times of a path to now.
    Utimes = Word::new("utimes", PATH, &[]).is(CallKind::Utimes),
    /// The same without following a link at its end.
    Lutimes = Word::new("lutimes", PATH, &[]).is(CallKind::Lutimes),
    /// Set the times of a handle to now.
    Futimes = Word::new("futimes", &[], &[HANDLE]).is(CallKind::Futimes),
    /// Set the owner of a path.
    Chown = Word::new("chown", PATH, OWNER).is(CallKind::Chown),
    /// The same without following a link at its end.
    Lchown = Word::new("lchown", PATH, OWNER).is(CallKind::Lchown),
    /// Set the owner of a handle.
    Fchown = Word::new("fchown", &[], HANDLE_OWNER).is(CallKind::Fchown),
    /// fstat a handle by the call for paths, with an empty one.
    Fstatat = Word::new("fstatat", &[], &[HANDLE]).is(CallKind::Fstatat),
    /// Read from the position of a handle.
    Read = Word::new("read", &[], NEXT).is(CallKind::ReadNext).moves(Data::In),
    /// Write at the position of a handle.
    Write = Word::new("write", &[], NEXT).is(CallKind::WriteNext).moves(Data::Out),
    /// Copy between the positions of two handles.
    CopyRange = Word::new("copy_file_range", &[], BETWEEN).is(CallKind::CopyRange),
    /// The same by the call that also sends to sockets.
    Sendfile = Word::new("sendfile", &[], BETWEEN).is(CallKind::Sendfile),
    /// Map a range of a handle, fault its pages in, and unmap it.
    MmapRead = Word::new("mmapread", &[], &[HANDLE, OFFSET, SIZE]).is(CallKind::MmapRead),
    /// List a directory's handle from its start, and lstat each entry.
    ListStat = Word::new("liststat", &[], &[HANDLE]).can_expect_failure(),
    /// Make a named pipe.
    Mkfifo = Word::new("mkfifo", PATH, &[MODE]).is(CallKind::Mkfifo),
    /// Write everything of a handle's file system to its device.
    Syncfs = Word::new("syncfs", &[], &[HANDLE]).is(CallKind::Syncfs),
    /// Write a range of a handle's cached data to the device.
    SyncRange = Word::new("sync_file_range", &[], &[HANDLE, OFFSET, LENGTH, SYNC_RANGE])
        .is(CallKind::SyncRange),
    /// Read an extended attribute of a path.
    Getxattr =
        Word::new("getxattr", PATH, &[NAME, VALUE]).is(CallKind::Getxattr).looks().moves(Data::In),
    /// The same of a handle.
    Fgetxattr =
        Word::new("fgetxattr", &[], &[HANDLE, NAME, VALUE]).is(CallKind::Fgetxattr).moves(Data::In),
    /// Set an extended attribute of a path.
    Setxattr =
        Word::new("setxattr", PATH, &[NAME, VALUE, SET]).is(CallKind::Setxattr).moves(Data::Out),
    /// The same of a handle.
    Fsetxattr = Word::new("fsetxattr", &[], &[HANDLE, NAME, VALUE, SET])
        .is(CallKind::Fsetxattr)
        .moves(Data::Out),
    /// Remove an extended attribute of a path.
    Removexattr = Word::new("removexattr", PATH, &[NAME]).is(CallKind::Removexattr),
    /// The same of a handle.
    Fremovexattr = Word::new("fremovexattr", &[], &[HANDLE, NAME]).is(CallKind::Fremovexattr),
    /// List the names of a path's extended attributes.
    Listxattr =
        Word::new("listxattr", PATH, &[VALUE]).is(CallKind::Listxattr).looks().moves(Data::In),
    /// The same of a handle.
    Flistxattr =
        Word::new("flistxattr", &[], &[HANDLE, VALUE]).is(CallKind::Flistxattr).moves(Data::In),
    /// Read the access ACL of a path.
    Getacl = Word::new("getacl", PATH, &[]).is(CallKind::Getxattr).looks(),
    /// Set it.
    Setacl = Word::new("setacl", PATH, &[ENTRIES]).is(CallKind::Setxattr),
    /// Remove it.
    Removeacl = Word::new("removeacl", PATH, &[]).is(CallKind::Removexattr),
}

/// Longest word.
const MAX_WORD: usize = 22;
/// Most words of one length.
const MAX_ALIKE: usize = 16;

/// Words of each length, so that few are compared.
static BY_LENGTH: [([u8; MAX_ALIKE], usize); MAX_WORD + 1] = {
    let mut lists = [([0; MAX_ALIKE], 0); MAX_WORD + 1];
    let mut at = 0;
    while at < ROWS.len() {
        let list = &mut lists[ROWS[at].text.len()];
        list.0[list.1] = at as u8;
        list.1 += 1;
        at += 1;
    }
    lists
};

impl OpKind {
    /// Number of kinds: the length of a table indexed by [`OpKind::index`].
    pub const COUNT: usize = Self::ALL.len();

    /// Position in [`OpKind::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its row.
    #[inline]
    #[must_use]
    pub fn row(self) -> &'static Word {
        &ROWS[self.index()]
    }

    /// The word as a loadfile spells it.
    #[inline]
    #[must_use]
    pub const fn word(self) -> &'static str {
        ROWS[self.index()].text
    }

    /// Whether the operation names a path itself, not by a handle.
    #[must_use]
    pub fn names_a_path(self) -> bool {
        !self.row().paths.is_empty() || self == Self::QueryFs
    }

    /// The kind that a loadfile word names; dbench 5 ignores case here and so do we.
    #[inline]
    #[must_use]
    pub fn from_bytes(word: &[u8]) -> Option<Self> {
        let (list, count) = BY_LENGTH.get(word.len())?;
        let is_word = |kind: &OpKind| {
            let known = kind.row().text.as_bytes();
            // A small letter differs from its capital in this bit: most candidates end here.
            (known[0] ^ word[0]) & !0x20 == 0 && known.eq_ignore_ascii_case(word)
        };
        list[..*count].iter().map(|at| Self::ALL[usize::from(*at)]).find(is_word)
    }

    /// As [`OpKind::from_bytes`].
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::from_bytes(word.as_bytes())
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
            for word in [kind.word().to_lowercase(), kind.word().to_uppercase()] {
                assert_eq!(OpKind::from_word(&word), Some(*kind));
            }
        }
        for none in ["", "Chkpath", "stat ", "xyzzy", "a word that is longer than all of them"] {
            assert_eq!(OpKind::from_word(none), None);
        }
    }

    /// The table of reference 1.4, by hand.
    #[test]
    fn usage_lines_are_dbenchs() {
        let usage = |kind: OpKind| kind.row().usage();
        assert_eq!(
            usage(OpKind::NtCreateX),
            "NTCreateX \"path\" <create_options> <disposition> <handle> <status>"
        );
        assert_eq!(usage(OpKind::WriteX), "WriteX <handle> <offset> <size> <ret_size> <status>");
        assert_eq!(
            usage(OpKind::FindFirst),
            "FIND_FIRST \"path\" <level> <max_count> <count> <status>"
        );
        assert_eq!(usage(OpKind::Rename), "Rename \"old path\" \"new path\" <status>");
        assert_eq!(usage(OpKind::Open), "open \"path\" <flags> <mode> <handle> <status>");
    }

    /// What instructions have room for.
    #[test]
    fn rows_fit_instructions() {
        for &kind in OpKind::ALL {
            let row = kind.row();
            assert!(row.paths.len() <= 2 && row.numbers.len() <= 4, "{kind}");
            if row.call.is_some() {
                let most = if row.paths.is_empty() { 4 } else { 3 };
                let most = if row.paths.len() == 2 { 1 } else { most };
                assert!(row.numbers.len() <= most, "{kind}");
                let handle = row.paths.is_empty().then_some(0);
                assert_eq!(row.handle_position(), handle, "{kind}: paths or a handle, that first");
            }
        }
    }
}
