//! What the numbers of a loadfile line mean, and so which values they may have.

use super::flags::Flags;

/// Longest read or write in bytes. A client has one buffer of the longest length of its loadfile.
pub const MAX_LENGTH: i64 = 1 << 30;
/// Longest value of an extended attribute in bytes: the kernel's XATTR_SIZE_MAX.
pub const MAX_VALUE: i64 = 1 << 16;

/// What an argument that is text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Text {
    /// The name of an extended attribute.
    AttributeName,
    /// The entries of an ACL.
    Acl,
}

/// What a number means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A handle's number: any.
    Handle,
    /// An offset in bytes, or the length of a lock: 0 or more.
    Offset,
    /// How much to read or write: 0 to [`MAX_LENGTH`].
    Length,
    /// The length of an extended attribute's value: 0 to [`MAX_VALUE`].
    ValueLength,
    /// How much shall have been read or written: 0 or more.
    Want,
    /// NT create options: bits.
    Options,
    /// NT create disposition: 0 to 5.
    Disposition,
    /// How many entries of a directory to read: 0 or more.
    Entries,
    /// Bits that have names; never a number that is computed.
    Flags(&'static Flags),
    /// Permission bits, in octal; never a number that is computed.
    Mode,
    /// Text in quotes, whose number in the program it becomes; never computed.
    Text(Text),
    /// A user's or group's number, -1 for as it is.
    Id,
    /// Read and forgotten, as dbench does.
    Ignored,
}

impl Role {
    /// The smallest and largest value.
    #[must_use]
    pub fn limits(self) -> (i64, i64) {
        match self {
            Self::Handle | Self::Ignored => (i64::MIN, i64::MAX),
            Self::Offset | Self::Want | Self::Options | Self::Entries => (0, i64::MAX),
            Self::Length => (0, MAX_LENGTH),
            Self::ValueLength => (0, MAX_VALUE),
            Self::Text(_) => (0, u32::MAX as i64),
            Self::Disposition => (0, 5),
            Self::Flags(flags) => (0, flags.all()),
            Self::Mode => (0, 0o7777),
            Self::Id => (-1, u32::MAX as i64 - 1),
        }
    }
}
