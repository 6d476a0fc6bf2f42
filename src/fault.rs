//! How an operation can miss the status that its line expects. Floor 0.

use std::fmt;

/// A missed expectation: what is counted by operation, fault and disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// The call failed with this error number.
    Errno(u16),
    /// Fewer bytes were read or written than the line says.
    Short,
    /// The call succeeded where the line expects a failure.
    Succeeded,
}

impl Fault {
    /// Number of distinct faults: the length of a table indexed by [`Fault::index`].
    pub const COUNT: usize = Self::ERRNOS + 2;
    /// Linux defines error numbers up to 133 (EHWPOISON); larger ones are counted as 0.
    const ERRNOS: usize = 134;

    /// A number below [`Fault::COUNT`].
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Errno(errno) if (errno as usize) < Self::ERRNOS => errno as usize,
            Self::Errno(_) => 0,
            Self::Short => Self::ERRNOS,
            Self::Succeeded => Self::ERRNOS + 1,
        }
    }

    /// The fault of an index.
    #[must_use]
    pub const fn from_index(index: usize) -> Self {
        match index {
            Self::ERRNOS => Self::Short,
            index if index < Self::ERRNOS => Self::Errno(index as u16),
            _ => Self::Succeeded,
        }
    }
}

impl fmt::Display for Fault {
    /// The errno name (`ENOENT`), `SHORT`, or `SUCCEEDED`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => f.pad("SHORT"),
            Self::Succeeded => f.pad("SUCCEEDED"),
            Self::Errno(errno) => match crate::errno::name(i32::from(*errno)) {
                Some(name) => f.pad(name),
                None => write!(f, "E{errno}"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_has_one_fault() {
        for index in 0..Fault::COUNT {
            assert_eq!(Fault::from_index(index).index(), index);
        }
        assert_eq!(Fault::Errno(4000).index(), 0);
        assert_eq!(format!("{} {}", Fault::Errno(2), Fault::Short), "ENOENT SHORT");
    }
}
