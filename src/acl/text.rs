//! ACLs as text: the short form of setfacl, ids as numbers.

use std::fmt;
use std::str::FromStr;

use super::{Acl, AclEntry, AclError, Who, perms_text};

/// What an ACL in text is meant to look like, for messages.
pub const EXAMPLE: &str = "entries of user (u), group (g), mask (m) and other (o), like u::rwx,u:1000:r-x,g::r-x,m::r-x,o::---";

/// Why a text is no ACL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// One of its entries cannot be read.
    #[error("`{0}` is no entry of an ACL")]
    Entry(String),
    /// An entry names somebody by name: numbers alone mean the same on every machine.
    #[error("`{0}` is no number of a user or group")]
    Id(String),
    /// The entries do not go together.
    #[error(transparent)]
    Acl(#[from] AclError),
    /// Two entries are about the same user or group.
    #[error("two entries for {0}")]
    Twice(String),
}

impl FromStr for Acl {
    type Err = TextError;

    /// Reads entries with commas between them, in any order; see [`EXAMPLE`].
    fn from_str(text: &str) -> Result<Self, TextError> {
        let mut entries = text.split(',').map(entry).collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(|entry| entry.who);
        if let Some(two) = entries.windows(2).find(|two| two[0].who == two[1].who) {
            return Err(TextError::Twice(Short(two[0]).to_string()));
        }
        let acl = Self { entries };
        acl.check()?;
        Ok(acl)
    }
}

fn entry(text: &str) -> Result<AclEntry, TextError> {
    let bad = || TextError::Entry(text.to_owned());
    let parts: Vec<&str> = text.trim().split(':').collect();
    let [who, id, perms] = parts[..] else { return Err(bad()) };
    let number = || match id.parse() {
        Ok(u32::MAX) | Err(_) => Err(TextError::Id(id.to_owned())),
        Ok(number) => Ok(number),
    };
    let who = match (who, id) {
        ("u" | "user", "") => Who::Owner,
        ("u" | "user", _) => Who::User(number()?),
        ("g" | "group", "") => Who::OwningGroup,
        ("g" | "group", _) => Who::Group(number()?),
        ("m" | "mask", "") => Who::Mask,
        ("o" | "other", "") => Who::Other,
        _ => return Err(bad()),
    };
    let perms = (0..=7).find(|bits| perms_text(*bits) == perms).ok_or_else(bad)?;
    Ok(AclEntry { who, perms })
}

/// An entry in its short form.
struct Short(AclEntry);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.who {
            Who::Owner => f.write_str("u::"),
            Who::User(id) => write!(f, "u:{id}:"),
            Who::OwningGroup => f.write_str("g::"),
            Who::Group(id) => write!(f, "g:{id}:"),
            Who::Mask => f.write_str("m::"),
            Who::Other => f.write_str("o::"),
        }?;
        f.write_str(&perms_text(self.0.perms))
    }
}

impl Acl {
    /// Its entries in their short form, which reads as the same ACL.
    #[must_use]
    pub fn short(&self) -> String {
        let entries = self.entries.iter().map(|entry| Short(*entry).to_string());
        entries.collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_setfacl_takes_is_read() {
        let acl: Acl = "other::---,user:4000:r-x,u::rwx,g::r-x,g:50:r--,m::rwx".parse().unwrap();
        // As `getfacl -nE --omit-header` lists them, shortened by hand.
        assert_eq!(acl.short(), "u::rwx,u:4000:r-x,g::r-x,g:50:r--,m::rwx,o::---");
        assert_eq!(acl.short().parse(), Ok(acl));
    }

    #[test]
    fn what_the_kernel_refuses_is_refused() {
        for (text, said) in [
            ("", "no entry"),
            ("u::rwx", "no entry for the group"),
            ("u::rwx,g::r-x,o::r-x,u:1:r-x", "there is no mask"),
            ("u::rwx,g::r-x,o::r-x,o::r--", "two entries for o::"),
            ("u::rwx,g::rx,o::---", "`g::rx`"),
            ("u:root:r--,u::rwx,g::r-x,o::---,m::rwx", "`root` is no number"),
            ("u:4294967295:r--,u::rwx,g::r-x,o::---,m::rwx", "`4294967295`"),
            ("d:u::rwx,g::r-x,o::---", "`d:u::rwx`"),
        ] {
            let error = text.parse::<Acl>().unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
