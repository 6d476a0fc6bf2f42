//! Whether an outcome is what the line expects.
//!
//! dbench ignores most statuses; where it means one, both directions count. Which those are, and
//! why, is in docs/loadfile.md, "Statuses".

use crate::engine::Errno;
use crate::fault::Fault;
use crate::loadfile::program::Expect;
use crate::op::OpKind;

/// Why an operation did not do what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Miss {
    /// A call failed.
    Errno(Errno),
    /// Fewer bytes were moved than the line says.
    Short,
    /// The handle is not open.
    NoHandle,
    /// A pool has no name that the line could stand for.
    NoName,
}

impl Miss {
    /// Whether the operation was not made at all.
    #[inline]
    pub(super) fn is_skip(self) -> bool {
        matches!(self, Self::NoHandle | Self::NoName)
    }
}

impl From<Errno> for Miss {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

/// Outcome of an operation. The bytes it moved are counted apart, since a failing write may have
/// moved some.
pub(super) type Outcome = Result<(), Miss>;

/// How an outcome misses what was expected, if it does. What was skipped is no fault, and counted
/// apart.
#[inline]
pub(super) fn judge(op: OpKind, expect: Expect, outcome: Outcome) -> Option<Fault> {
    match (outcome, expect) {
        (Ok(_), Expect::Failure | Expect::Errno(_)) if op.row().can_expect_failure => {
            Some(Fault::Succeeded)
        }
        (Ok(_), _)
        | (Err(Miss::NoHandle | Miss::NoName), _)
        | (Err(_), Expect::Any | Expect::Failure) => None,
        (Err(Miss::Short), _) => Some(Fault::Short),
        (Err(Miss::Errno(Errno(errno))), Expect::Errno(expected)) if errno == expected => None,
        (Err(Miss::Errno(Errno(errno))), _) => Some(Fault::Errno(errno)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENOENT: Miss = Miss::Errno(Errno(2));

    #[test]
    fn both_directions_count_where_dbench_means_it() {
        let open = |expect, outcome| judge(OpKind::NtCreateX, expect, outcome);
        assert_eq!(open(Expect::Success, Ok(())), None);
        assert_eq!(open(Expect::Success, Err(ENOENT)), Some(Fault::Errno(2)));
        assert_eq!(open(Expect::Failure, Ok(())), Some(Fault::Succeeded));
        assert_eq!(open(Expect::Failure, Err(ENOENT)), None);
        assert_eq!(open(Expect::Errno(2), Err(ENOENT)), None);
        assert_eq!(open(Expect::Errno(13), Err(ENOENT)), Some(Fault::Errno(2)));
        assert_eq!(open(Expect::Any, Err(ENOENT)), None);
    }

    #[test]
    fn elsewhere_only_a_failing_call_counts() {
        assert_eq!(judge(OpKind::FindFirst, Expect::Failure, Ok(())), None);
        assert_eq!(judge(OpKind::Flush, Expect::Success, Err(ENOENT)), Some(Fault::Errno(2)));
        let short = Err(Miss::Short);
        assert_eq!(judge(OpKind::ReadX, Expect::Success, short), Some(Fault::Short));
        assert_eq!(judge(OpKind::Close, Expect::Success, Err(Miss::NoHandle)), None);
    }
}
