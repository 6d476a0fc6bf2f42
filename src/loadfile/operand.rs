//! Numbers and handles of instructions: literals, or small expressions.

use super::program::ExprId;
use crate::op::OpKind;

/// A number: a literal or an expression, in eight bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand(u64);

/// What an [`Operand`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    /// A literal.
    Literal(i64),
    /// An expression to evaluate.
    Expr(ExprId),
}

impl Operand {
    /// The largest literal; the smallest is its negative.
    pub const MAX_LITERAL: i64 = (1 << 62) - 1;
    const EXPR: u64 = 1 << 63;

    /// A literal, or `None` when it is beyond ±[`Operand::MAX_LITERAL`].
    #[must_use]
    pub const fn literal(value: i64) -> Option<Self> {
        if value > Self::MAX_LITERAL || value < -Self::MAX_LITERAL {
            return None;
        }
        Some(Self((value as u64) & !Self::EXPR))
    }

    /// An expression.
    #[must_use]
    pub const fn expr(id: ExprId) -> Self {
        Self(Self::EXPR | id.0 as u64)
    }

    /// What it holds.
    #[inline]
    #[must_use]
    pub const fn kind(self) -> OperandKind {
        if self.0 & Self::EXPR == 0 {
            // Bit 62 is the sign of the literal: move it up and back.
            OperandKind::Literal(((self.0 << 1) as i64) >> 1)
        } else {
            OperandKind::Expr(ExprId(self.0 as u32))
        }
    }
}

/// The handle that an instruction names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HandleRef {
    /// A literal handle number: its slot in [`super::Program::handles`].
    Slot(u32),
    /// A computed handle number.
    Dynamic(ExprId),
}

/// A number that is computed each time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// `*`: a random number from 0 to 2^62 - 1, then changed from left to right.
    Random {
        /// The changes.
        mods: Box<[Mod]>,
    },
    /// `+n`: the value of a register plus `add`.
    Previous {
        /// Index in [`super::Program::registers`].
        register: u16,
        /// What is added.
        add: i64,
    },
    /// `+child`: the client's number within its disk.
    Child,
    /// `+num_children`: the number of clients of the disk.
    Children,
    /// A number spelled with `$n`: the segments rendered, then read as a number (0 if it is none).
    Text {
        /// First index in [`super::Program::segments`].
        first: u32,
        /// Number of segments.
        count: u16,
    },
}

/// A change to a random number. None of the values is 0 or negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mod {
    /// `/y`: round down to a multiple of y.
    Align(i64),
    /// `%y`: remainder of the division by y.
    Modulo(i64),
    /// `+y`: add y.
    Add(i64),
}

/// The last value that a client evaluated at one position of one operation, 0 at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// The operation.
    pub op: OpKind,
    /// Position among the line's numbers, handle included, from 0.
    pub position: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_keep_their_value() {
        for value in [0, 1, -1, 4096, Operand::MAX_LITERAL, -Operand::MAX_LITERAL] {
            assert_eq!(Operand::literal(value).unwrap().kind(), OperandKind::Literal(value));
        }
        assert_eq!(Operand::literal(Operand::MAX_LITERAL + 1), None);
        assert_eq!(Operand::expr(ExprId(7)).kind(), OperandKind::Expr(ExprId(7)));
    }
}
