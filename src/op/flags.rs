//! Bits of a system call, by their names: what they are worth differs between architectures.

/// A set of named bits.
#[derive(Debug, PartialEq, Eq)]
pub struct Flags {
    /// Names and values. A value that holds another one stands before it.
    names: &'static [(&'static str, i32)],
    /// Values of which there is just one, and the bits that they share; the first is 0.
    choice: (&'static [&'static str], i32),
}

/// What `access` asks for.
pub static ACCESS: Flags = Flags {
    names: &[("R_OK", libc::R_OK), ("W_OK", libc::W_OK), ("X_OK", libc::X_OK)],
    choice: (&["F_OK"], 0),
};

/// What `open` takes.
pub static OPEN: Flags = Flags {
    names: &[
        ("O_CREAT", libc::O_CREAT),
        ("O_EXCL", libc::O_EXCL),
        ("O_TRUNC", libc::O_TRUNC),
        ("O_APPEND", libc::O_APPEND),
        ("O_NONBLOCK", libc::O_NONBLOCK),
        ("O_SYNC", libc::O_SYNC),
        ("O_DSYNC", libc::O_DSYNC),
        ("O_DIRECT", libc::O_DIRECT),
        ("O_DIRECTORY", libc::O_DIRECTORY),
        ("O_NOFOLLOW", libc::O_NOFOLLOW),
        ("O_NOATIME", libc::O_NOATIME),
        ("O_PATH", libc::O_PATH),
        ("O_CLOEXEC", libc::O_CLOEXEC),
    ],
    choice: (&["O_RDONLY", "O_WRONLY", "O_RDWR"], libc::O_ACCMODE),
};

/// What `unlinkat` takes.
pub static UNLINK: Flags =
    Flags { names: &[("AT_REMOVEDIR", libc::AT_REMOVEDIR)], choice: (NOTHING, 0) };

/// What `renameat2` takes.
pub static RENAME: Flags = Flags {
    names: &[
        ("RENAME_NOREPLACE", libc::RENAME_NOREPLACE as i32),
        ("RENAME_EXCHANGE", libc::RENAME_EXCHANGE as i32),
    ],
    choice: (NOTHING, 0),
};

/// What `fallocate` takes.
pub static FALLOCATE: Flags = Flags {
    names: &[
        ("FALLOC_FL_KEEP_SIZE", libc::FALLOC_FL_KEEP_SIZE),
        ("FALLOC_FL_PUNCH_HOLE", libc::FALLOC_FL_PUNCH_HOLE),
        ("FALLOC_FL_COLLAPSE_RANGE", libc::FALLOC_FL_COLLAPSE_RANGE),
        ("FALLOC_FL_ZERO_RANGE", libc::FALLOC_FL_ZERO_RANGE),
        ("FALLOC_FL_INSERT_RANGE", libc::FALLOC_FL_INSERT_RANGE),
        ("FALLOC_FL_UNSHARE_RANGE", libc::FALLOC_FL_UNSHARE_RANGE),
    ],
    choice: (NOTHING, 0),
};

/// What `setxattr` takes.
pub static XATTR: Flags = Flags {
    names: &[("XATTR_CREATE", libc::XATTR_CREATE), ("XATTR_REPLACE", libc::XATTR_REPLACE)],
    choice: (NOTHING, 0),
};

/// What `sync_file_range` takes.
pub static SYNC_RANGE: Flags = Flags {
    names: &[
        ("SYNC_FILE_RANGE_WAIT_BEFORE", libc::SYNC_FILE_RANGE_WAIT_BEFORE as i32),
        ("SYNC_FILE_RANGE_WRITE", libc::SYNC_FILE_RANGE_WRITE as i32),
        ("SYNC_FILE_RANGE_WAIT_AFTER", libc::SYNC_FILE_RANGE_WAIT_AFTER as i32),
    ],
    choice: (NOTHING, 0),
};

/// No flag at all, as strace and C spell it.
const NOTHING: &[&str] = &["0"];

impl Flags {
    /// All bits.
    #[must_use]
    pub fn all(&self) -> i64 {
        i64::from(self.names.iter().fold(self.choice.1, |all, (_, bits)| all | bits))
    }

    /// Reads names with `|` between them; the first one that is none is the error.
    ///
    /// # Errors
    /// The name that is unknown, or the second one of which there can be just one.
    pub fn parse<'t>(&self, text: &'t [u8]) -> Result<i32, &'t [u8]> {
        let (mut bits, mut chosen) = (0, None);
        for word in text.split(|byte| *byte == b'|') {
            let is = |name: &str| name.as_bytes() == word;
            if let Some(value) = self.choice.0.iter().position(|name| is(name)) {
                // F_OK asks for nothing more: it may stand beside the others.
                if self.choice.1 != 0 && chosen.is_some_and(|other| other != value) {
                    return Err(word);
                }
                chosen = Some(value);
                bits |= value as i32;
            } else {
                let known = self.names.iter().find(|(name, _)| is(name));
                bits |= known.ok_or(word)?.1;
            }
        }
        Ok(bits)
    }

    /// The canonical spelling of bits.
    #[must_use]
    pub fn spell(&self, bits: i32) -> String {
        let choice = usize::try_from(bits & self.choice.1).unwrap_or(0);
        let chosen = self.choice.0.get(choice).copied();
        let mut left = bits & !self.choice.1;
        // One of several is always said, that there is nothing else only when there is not.
        let mut words: Vec<_> =
            chosen.filter(|_| self.choice.1 != 0 || left == 0).into_iter().collect();
        for (name, value) in self.names {
            if left & value == *value {
                left &= !value;
                words.push(name);
            }
        }
        words.join("|")
    }

    /// All names, for messages.
    #[must_use]
    pub fn names(&self) -> String {
        let all = self.choice.0.iter().copied().chain(self.names.iter().map(|(name, _)| *name));
        all.collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_kernels_bits() {
        let open = |text: &'static str| OPEN.parse(text.as_bytes());
        // Numbers of x86-64 and arm64 alike.
        assert_eq!(open("O_RDWR|O_CREAT"), Ok(0o102));
        assert_eq!(open("O_RDONLY"), Ok(0));
        assert_eq!(open("O_SYNC|O_WRONLY"), Ok(0o4_010_001));
        assert_eq!(ACCESS.parse(b"R_OK|W_OK|X_OK|F_OK"), Ok(7));
        for bad in ["O_RDWR|O_WRONLY", "", "O_CREAT|", "o_creat", "R_OK", "66"] {
            assert!(open(bad).is_err(), "{bad}");
        }
        assert_eq!(open("O_CREAT|O_FOO|O_BAR"), Err(b"O_FOO".as_slice()));
    }

    #[test]
    fn what_is_spelled_reads_as_the_same() {
        for (flags, text, spelled) in [
            (&OPEN, "O_CREAT|O_RDWR|O_CREAT", "O_RDWR|O_CREAT"),
            (&OPEN, "O_CREAT", "O_RDONLY|O_CREAT"),
            (&OPEN, "O_SYNC", "O_RDONLY|O_SYNC"),
            (&OPEN, "O_DSYNC|O_WRONLY", "O_WRONLY|O_DSYNC"),
            (&ACCESS, "F_OK", "F_OK"),
            (&ACCESS, "F_OK|X_OK|R_OK", "R_OK|X_OK"),
        ] {
            let bits = flags.parse(text.as_bytes()).unwrap();
            assert_eq!(flags.spell(bits), spelled);
            assert_eq!(flags.parse(spelled.as_bytes()), Ok(bits));
        }
    }
}
