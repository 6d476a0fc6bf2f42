//! Pools: sets of names that a client makes, uses and removes, and how a path draws from one.

use super::program::{Action, PathId};

/// Most names of a pool: a client keeps 4 bytes for each.
pub const MAX_NAMES: u32 = 1_000_000;
/// Digits of the last name's number.
pub(super) const MAX_DIGITS: usize = 6;
/// Most pools of a loadfile.
pub(super) const MAX_POOLS: usize = 100;
/// Longest name of a pool in bytes.
const MAX_POOL_NAME: usize = 32;

/// A set of names: a path followed by a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// What lines call it.
    pub name: Box<[u8]>,
    /// How many names it has: the numbers are 0 to `count - 1`.
    pub count: u32,
    /// The path in front of the number: first index in [`super::Program::segments`].
    pub first: u32,
    /// Number of segments of that path; literals and client numbers only.
    pub segments: u16,
    /// How names are drawn.
    pub order: Order,
}

/// How names are drawn from a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// At random.
    #[default]
    Random,
    /// By their numbers, over and over.
    Rotate,
}

/// A path's way to its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Draw {
    /// Index in [`super::Program::pools`].
    pub pool: u8,
    /// Which name.
    pub pick: Pick,
}

/// Which name of a pool a path stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pick {
    /// `{name}`: one that exists.
    Existing,
    /// `{name+}`: one that does not, and does after the operation.
    Make,
    /// `{name-}`: one that exists, and does not after the operation.
    Remove,
    /// `{name=}`: the one that was drawn last.
    Last,
}

impl Pick {
    /// The sign behind the pool's name.
    pub(super) fn sign(self) -> &'static [u8] {
        match self {
            Self::Existing => b"",
            Self::Make => b"+",
            Self::Remove => b"-",
            Self::Last => b"=",
        }
    }

    /// Whether the operation changes what exists.
    #[must_use]
    pub fn changes(self) -> bool {
        matches!(self, Self::Make | Self::Remove)
    }
}

/// What stands between `{` and `}`: the pool's name, and which of its names.
pub(super) fn split_sign(text: &[u8]) -> (&[u8], Pick) {
    match text {
        [name @ .., b'+'] => (name, Pick::Make),
        [name @ .., b'-'] => (name, Pick::Remove),
        [name @ .., b'='] => (name, Pick::Last),
        name => (name, Pick::Existing),
    }
}

/// Whether a pool can be called so.
pub(super) fn is_pool_name(text: &[u8]) -> bool {
    let letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    text.first().is_some_and(letter)
        && text.len() <= MAX_POOL_NAME
        && text.iter().all(|byte| letter(byte) || byte.is_ascii_digit())
}

/// Whether two pools have a name in common; each is its path and its number of names.
pub(super) fn collide(one: (&[u8], u32), other: (&[u8], u32)) -> bool {
    let (short, long) = if one.0.len() <= other.0.len() { (one, other) } else { (other, one) };
    match long.0.strip_prefix(short.0) {
        None => false,
        Some([]) => true,
        // No number starts with a 0 and goes on.
        Some([b'0', ..]) => false,
        Some(digits) if digits.len() > MAX_DIGITS => false,
        Some(digits) => {
            let number = std::str::from_utf8(digits).ok().and_then(|text| text.parse::<u32>().ok());
            // The long one's first name has one digit more.
            number.is_some_and(|number| number * 10 < short.1)
        }
    }
}

impl Action {
    /// The paths of an operation.
    #[inline]
    #[must_use]
    pub fn paths(&self) -> [Option<PathId>; 2] {
        match *self {
            Self::Deltree { path }
            | Self::Mkdir { path }
            | Self::Rmdir { path }
            | Self::Create { path, .. }
            | Self::Unlink { path }
            | Self::Find { path, .. }
            | Self::QueryPath { path }
            | Self::Open { path, .. }
            | Self::OnPath { path, .. } => [Some(path), None],
            Self::Rename { old, new } => [Some(old), Some(new)],
            Self::OnPaths { path, second, .. } => [Some(path), Some(second)],
            Self::Close { .. }
            | Self::Write { .. }
            | Self::Read { .. }
            | Self::Flush { .. }
            | Self::Lock { .. }
            | Self::Unlock { .. }
            | Self::QueryFile { .. }
            | Self::QueryFs
            | Self::SetFile { .. }
            | Self::OnHandle { .. }
            | Self::Pause { .. }
            | Self::LoopStart { .. }
            | Self::LoopEnd { .. }
            | Self::SetSp { .. }
            | Self::Phase { .. }
            | Self::Enter { .. }
            | Self::Leave { .. }
            | Self::WaitSp { .. }
            | Self::WritePattern { .. }
            | Self::RandomString { .. } => [None, None],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_collide_where_a_name_is_in_both() {
        for (one, other, same) in [
            (("/f", 5), ("/f", 7), true),
            (("/f", 11), ("/f1", 1), true), // f10
            (("/f", 10), ("/f1", 1), false),
            (("/f", 1_000_000), ("/f0", 5), false),
            (("/f", 1_000_000), ("/f99999", 1), true),
            (("/f", 1_000_000), ("/f100000", 1), false),
            (("/f", 1_000_000), ("/fx", 1), false),
            (("/f", 9), ("/g", 9), false),
            (("/f", 9), ("/f1/g", 9), false),
        ] {
            let pool = |(path, count): (&'static str, u32)| (path.as_bytes(), count);
            assert_eq!(collide(pool(one), pool(other)), same, "{one:?} {other:?}");
            assert_eq!(collide(pool(other), pool(one)), same, "{one:?} {other:?}");
        }
    }
}
