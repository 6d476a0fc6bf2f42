//! Which arguments each operation has. One table for parser, printer, compiler and messages.

use crate::op::OpKind;

/// What a number means, and so which values it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A handle's number: any.
    Handle,
    /// An offset in bytes, or the length of a lock: 0 or more.
    Offset,
    /// How much to read or write: 0 to [`MAX_LENGTH`].
    Length,
    /// How much shall have been read or written: 0 or more.
    Want,
    /// NT create options: bits.
    Options,
    /// NT create disposition: 0 to 5.
    Disposition,
    /// How many entries of a directory to read: 0 or more.
    Entries,
    /// Read and forgotten, as dbench does.
    Ignored,
}

/// Longest read or write in bytes. A client has one buffer of the longest length of its loadfile.
pub(super) const MAX_LENGTH: i64 = 1 << 30;

/// The arguments of an operation, between its word and the status.
pub(super) struct Signature {
    pub(super) paths: &'static [&'static str],
    pub(super) numbers: &'static [(Role, &'static str)],
}

const HANDLE: (Role, &str) = (Role::Handle, "handle");
const OFFSET: (Role, &str) = (Role::Offset, "offset");
const LEVEL: (Role, &str) = (Role::Ignored, "level");
const PATH: &[&str] = &["path"];

const TRANSFER: &[(Role, &str)] =
    &[HANDLE, OFFSET, (Role::Length, "size"), (Role::Want, "ret_size")];
const RANGE: &[(Role, &str)] = &[HANDLE, OFFSET, (Role::Offset, "length")];

impl Signature {
    pub(super) const fn of(kind: OpKind) -> Self {
        let (paths, numbers): (&[_], &[_]) = match kind {
            OpKind::Deltree | OpKind::Mkdir | OpKind::Rmdir => (PATH, &[]),
            OpKind::NtCreateX => (
                PATH,
                &[(Role::Options, "create_options"), (Role::Disposition, "disposition"), HANDLE],
            ),
            OpKind::Close | OpKind::Flush => (&[], &[HANDLE]),
            OpKind::WriteX | OpKind::ReadX => (&[], TRANSFER),
            OpKind::Rename => (&["old path", "new path"], &[]),
            OpKind::Unlink => (PATH, &[(Role::Ignored, "attributes")]),
            OpKind::LockX | OpKind::UnlockX => (&[], RANGE),
            OpKind::FindFirst => {
                (PATH, &[LEVEL, (Role::Entries, "max_count"), (Role::Ignored, "count")])
            }
            OpKind::QueryPath => (PATH, &[LEVEL]),
            OpKind::QueryFile | OpKind::SetFile => (&[], &[HANDLE, LEVEL]),
            OpKind::QueryFs => (&[], &[LEVEL]),
        };
        Self { paths, numbers }
    }

    /// How the whole line is spelled.
    pub(super) fn usage(&self, word: &str) -> String {
        let mut text = word.to_owned();
        for name in self.paths {
            text.push_str(&format!(" \"{name}\""));
        }
        for (_, name) in self.numbers {
            text.push_str(&format!(" <{name}>"));
        }
        text + " <status>"
    }
}

impl Role {
    /// The smallest and largest value.
    pub(super) fn limits(self) -> (i64, i64) {
        match self {
            Self::Handle | Self::Ignored => (i64::MIN, i64::MAX),
            Self::Offset | Self::Want | Self::Options | Self::Entries => (0, i64::MAX),
            Self::Length => (0, MAX_LENGTH),
            Self::Disposition => (0, 5),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of reference 1.4, by hand.
    #[test]
    fn usage_lines_are_dbenchs() {
        let usage = |kind: OpKind| Signature::of(kind).usage(kind.word());
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
        for &kind in OpKind::ALL {
            assert!(Signature::of(kind).paths.len() <= 2, "{kind}");
            assert!(Signature::of(kind).numbers.len() <= 4, "{kind}");
        }
    }
}
