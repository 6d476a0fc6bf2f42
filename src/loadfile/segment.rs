//! Paths and strings of instructions: pieces that are rendered, never searched.

use super::pool::Draw;

/// A path: segments and what is known of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSpec {
    /// First index in [`super::Program::segments`].
    pub first: u32,
    /// Number of segments.
    pub count: u16,
    /// Whether the name has one of the wildcards `< > * ? "`.
    pub wild: Wild,
    /// From which pool it draws a name, if it does: then it has one [`Segment::Drawn`].
    pub draw: Option<Draw>,
}

/// Whether a path is a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wild {
    /// It has no wildcard.
    No,
    /// It has one.
    Yes,
    /// A random string may bring one in: look at the rendered name.
    Ask,
}

/// A piece of a path below the run directory, rendered one after the other. The first literal
/// starts with `/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segment {
    /// Bytes of [`super::Program::bytes`].
    Literal {
        /// First index.
        start: u32,
        /// Length.
        len: u16,
    },
    /// `client<n>`, n being the client's number within its disk.
    Client,
    /// The value of string slot 0 to 9.
    Slot(u8),
    /// The number of the name that was drawn from a pool. Its path stands in front, as segments.
    Drawn(Draw),
}

/// A RANDOMSTRING text: pieces one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The pieces.
    pub pieces: Box<[Piece]>,
}

/// A piece of a [`Template`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bytes as they are.
    Literal(Box<[u8]>),
    /// One byte drawn from a set that is not empty.
    OneOf(Box<[u8]>),
}

impl Template {
    /// Longest value in bytes. The compiler keeps it at [`super::Program::MAX_STRING`] or less.
    #[must_use]
    pub fn max_len(&self) -> usize {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Literal(bytes) => bytes.len(),
                Piece::OneOf(_) => 1,
            })
            .sum()
    }
}
