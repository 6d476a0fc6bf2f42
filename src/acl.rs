//! POSIX ACLs as the kernel stores them, encoded and decoded without libacl. Floor 0:
//! `host::acl_xattr` reads and sets them.
//!
//! An ACL is the value of an extended attribute, `system.posix_acl_access` or
//! `system.posix_acl_default`: a 32-bit version, then 8 bytes an entry, all little-endian (tag and
//! permissions 16 bits each, id 32 bits; include/uapi/linux/posix_acl_xattr.h). The kernel wants the
//! entries in the order of [`Who`].

pub mod text;

use std::fmt;

use serde::Serialize;

const VERSION: u32 = 2;
/// Bytes before the entries.
pub const HEAD: usize = 4;
/// Bytes of an entry.
pub const ENTRY: usize = 8;
/// The id of entries that have none.
const NO_ID: u32 = u32::MAX;
/// The most that an extended attribute can hold (XATTR_SIZE_MAX): 8191 entries.
pub const MOST_BYTES: usize = 64 << 10;

/// Whom an entry is about, in the order in which the kernel keeps and scans entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// The owner (`user::`).
    Owner,
    /// Another user by uid (`user:4000:`).
    User(u32),
    /// The owning group (`group::`).
    OwningGroup,
    /// Another group by gid (`group:50:`).
    Group(u32),
    /// The most that named users and all groups get (`mask::`); chmod sets it as group bits.
    Mask,
    /// Everybody else (`other::`).
    Other,
}

impl Who {
    fn tag(self) -> u16 {
        match self {
            Self::Owner => 0x01,
            Self::User(_) => 0x02,
            Self::OwningGroup => 0x04,
            Self::Group(_) => 0x08,
            Self::Mask => 0x10,
            Self::Other => 0x20,
        }
    }

    fn of(tag: u16, id: u32) -> Option<Self> {
        Some(match tag {
            0x01 => Self::Owner,
            0x02 => Self::User(id),
            0x04 => Self::OwningGroup,
            0x08 => Self::Group(id),
            0x10 => Self::Mask,
            0x20 => Self::Other,
            _ => return None,
        })
    }

    fn id(self) -> Option<u32> {
        match self {
            Self::User(id) | Self::Group(id) => Some(id),
            _ => None,
        }
    }

    /// Whether it is a user or a group by number: what a mode cannot express.
    #[must_use]
    pub fn is_named(self) -> bool {
        self.id().is_some()
    }
}

/// One line of an ACL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct AclEntry {
    /// Whom it is about.
    pub who: Who,
    /// Read 4, write 2, execute or search 1.
    pub perms: u8,
}

/// The extended attribute that an access ACL is kept in.
pub const ACCESS_XATTR: &str = "system.posix_acl_access";

/// As getfacl writes it with `-n`: `user:4000:r-x`.
impl fmt::Display for AclEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.who {
            Who::Owner => f.write_str("user::"),
            Who::User(id) => write!(f, "user:{id}:"),
            Who::OwningGroup => f.write_str("group::"),
            Who::Group(id) => write!(f, "group:{id}:"),
            Who::Mask => f.write_str("mask::"),
            Who::Other => f.write_str("other::"),
        }?;
        f.write_str(&perms_text(self.perms))
    }
}

/// `r-x` for 5.
#[must_use]
pub fn perms_text(perms: u8) -> String {
    let letter = |bit: u8, letter: char| if perms & bit == 0 { '-' } else { letter };
    [letter(4, 'r'), letter(2, 'w'), letter(1, 'x')].iter().collect()
}

/// What is wrong with an ACL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AclError {
    /// The value is not 4 bytes and a whole number of entries.
    #[error("{0} bytes are no ACL: 4, and 8 for each entry, would be")]
    Length(usize),
    /// A form that this program does not know.
    #[error("an ACL of version {0}; only version 2 is known")]
    Version(u32),
    /// A tag that is none.
    #[error("entry {index} has the unknown tag {tag:#x}")]
    Tag {
        /// Which entry, from 0.
        index: usize,
        /// Its tag.
        tag: u16,
    },
    /// Permissions beyond rwx.
    #[error("entry {index} has permissions {perms:#o}; at most 0o7 is possible")]
    Perms {
        /// Which entry, from 0.
        index: usize,
        /// Its permissions.
        perms: u16,
    },
    /// Entries that do not stand in the kernel's order, or the same one twice.
    #[error("entry {0} does not come after the one before it")]
    Order(usize),
    /// One of the three entries that stand for a mode is missing.
    #[error("no entry for {0}")]
    Missing(&'static str),
    /// Users or groups are named without a mask.
    #[error("users or groups are named, but there is no mask")]
    NoMask,
    /// More than an extended attribute can hold.
    #[error("{0} entries; 8191 is the most")]
    TooMany(usize),
}

/// An ACL. It may be any list of entries; [`Acl::check`] says whether the kernel takes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Acl {
    /// Its entries.
    pub entries: Vec<AclEntry>,
}

impl Acl {
    /// The ACL that says what a mode says: three entries.
    #[must_use]
    pub fn of_mode(mode: u32) -> Self {
        let entry = |who, shift: u32| AclEntry { who, perms: ((mode >> shift) & 7) as u8 };
        Self {
            entries: vec![entry(Who::Owner, 6), entry(Who::OwningGroup, 3), entry(Who::Other, 0)],
        }
    }

    /// A mode's three entries with named ones added, and the mask that takes nothing away, as
    /// `setfacl -m` would make it.
    #[must_use]
    pub fn with_named(mode: u32, named: &[AclEntry]) -> Self {
        let mut acl = Self::of_mode(mode);
        acl.entries.extend(named.iter().filter(|entry| entry.who.is_named()));
        acl.entries.sort_by_key(|entry| entry.who);
        if acl.named() > 0 {
            let masked = |entry: &&AclEntry| entry.who.is_named() || entry.who == Who::OwningGroup;
            let perms = acl.entries.iter().filter(masked).fold(0, |all, entry| all | entry.perms);
            let last = acl.entries.len() - 1;
            acl.entries.insert(last, AclEntry { who: Who::Mask, perms });
        }
        acl
    }

    /// How many users and groups it names.
    #[must_use]
    pub fn named(&self) -> usize {
        self.entries.iter().filter(|entry| entry.who.is_named()).count()
    }

    /// The permissions of an entry.
    #[must_use]
    pub fn perms(&self, who: Who) -> Option<u8> {
        self.entries.iter().find(|entry| entry.who == who).map(|entry| entry.perms)
    }

    /// The nine permission bits that `stat` shows when this is the access ACL, and whether they say
    /// all of it. With a mask the group bits are the mask.
    #[must_use]
    pub fn mode(&self) -> (u32, bool) {
        let bits = |who| u32::from(self.perms(who).unwrap_or(0));
        let mask = self.perms(Who::Mask);
        let group = mask.map_or_else(|| bits(Who::OwningGroup), u32::from);
        let mode = bits(Who::Owner) << 6 | group << 3 | bits(Who::Other);
        (mode, self.named() == 0 && mask.is_none())
    }

    /// Whether setfacl and the kernel would take it: the three entries of a mode, a mask if somebody
    /// is named, ascending, nobody twice, permissions of three bits. (The kernel alone would let
    /// named entries stand in any order.)
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), AclError> {
        if HEAD + ENTRY * self.entries.len() > MOST_BYTES {
            return Err(AclError::TooMany(self.entries.len()));
        }
        if let Some(index) = self.entries.iter().position(|entry| entry.perms > 7) {
            return Err(AclError::Perms { index, perms: self.entries[index].perms.into() });
        }
        if let Some(at) = self.entries.windows(2).position(|two| two[0].who >= two[1].who) {
            return Err(AclError::Order(at + 1));
        }
        let wanted =
            [(Who::Owner, "the owner"), (Who::OwningGroup, "the group"), (Who::Other, "others")];
        if let Some((_, name)) = wanted.iter().find(|(who, _)| self.perms(*who).is_none()) {
            return Err(AclError::Missing(name));
        }
        if self.named() > 0 && self.perms(Who::Mask).is_none() {
            return Err(AclError::NoMask);
        }
        Ok(())
    }

    /// The attribute's value.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + ENTRY * self.entries.len());
        bytes.extend(VERSION.to_le_bytes());
        for entry in &self.entries {
            bytes.extend(entry.who.tag().to_le_bytes());
            bytes.extend(u16::from(entry.perms).to_le_bytes());
            bytes.extend(entry.who.id().unwrap_or(NO_ID).to_le_bytes());
        }
        bytes
    }

    /// Reads an attribute's value. The entries may be any; see [`Acl::check`].
    ///
    /// # Errors
    /// When it is cut short, of another version, or has a tag or permissions that mean nothing.
    pub fn decode(bytes: &[u8]) -> Result<Self, AclError> {
        let Some((head, rest)) = bytes.split_first_chunk::<HEAD>() else {
            return Err(AclError::Length(bytes.len()));
        };
        let version = u32::from_le_bytes(*head);
        if version != VERSION {
            return Err(AclError::Version(version));
        }
        let (entries, left) = rest.as_chunks::<ENTRY>();
        if !left.is_empty() {
            return Err(AclError::Length(bytes.len()));
        }
        let entry = |(index, bytes): (usize, &[u8; ENTRY])| {
            let [t0, t1, p0, p1, i0, i1, i2, i3] = *bytes;
            let (tag, perms) = (u16::from_le_bytes([t0, t1]), u16::from_le_bytes([p0, p1]));
            let who = Who::of(tag, u32::from_le_bytes([i0, i1, i2, i3]))
                .ok_or(AclError::Tag { index, tag })?;
            let perms = u8::try_from(perms)
                .ok()
                .filter(|perms| *perms <= 7)
                .ok_or(AclError::Perms { index, perms })?;
            Ok(AclEntry { who, perms })
        };
        let entries = entries.iter().enumerate().map(entry).collect::<Result<_, _>>()?;
        Ok(Self { entries })
    }
}

#[cfg(test)]
mod tests;
