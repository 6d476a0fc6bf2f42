//! A tree made line by line by a program, for loads that are not written by hand.

use super::ast::{Ast, Line, Node, Op};
use super::names::NameTable;
use super::op_line::ZERO;
use super::program::{Expect, Operand, PathId, Program};
use crate::op::OpKind;

/// Builds a tree. What [`Ast::write_canonical`] then prints is read back as the same tree.
pub struct Builder {
    ast: Ast,
    table: NameTable<'static>,
}

impl Default for Builder {
    fn default() -> Self {
        Self { ast: Ast::default(), table: NameTable::new() }
    }
}

impl Builder {
    /// Adds an operation. `false`, and nothing is added, when a path is none in the language or a
    /// number is out of range.
    pub fn op(&mut self, kind: OpKind, paths: &[&[u8]], numbers: &[i64], expect: Expect) -> bool {
        let row = kind.row();
        if paths.len() != row.paths.len() || numbers.len() != row.numbers.len() {
            return false;
        }
        let (mut ids, mut operands) = ([PathId(0); 2], [ZERO; 4]);
        for ((to, number), (role, _)) in operands.iter_mut().zip(numbers).zip(row.numbers) {
            let (low, high) = role.limits();
            match Operand::literal(*number) {
                Some(operand) if (low..=high).contains(number) => *to = operand,
                _ => return false,
            }
        }
        for (to, path) in ids.iter_mut().zip(paths) {
            // A name that the text cannot hold between quotes is none.
            let odd = |byte: &u8| matches!(byte, b'"' | b'\\' | b'\n' | b'\r' | 0);
            match self.table.built(path) {
                Some(id) if !path.iter().any(odd) => *to = id,
                _ => return false,
            }
        }
        self.push(Node::Op(Op { kind, expect, paths: ids, numbers: operands }));
        true
    }

    /// Adds a line that is no operation.
    pub fn push(&mut self, node: Node) {
        let number = u32::try_from(self.ast.lines.len() + 1).unwrap_or(u32::MAX);
        self.ast.lines.push(Line { number, time: Program::NO_TIME, node });
    }

    /// Lines so far, since the last [`Builder::take`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.ast.lines.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ast.lines.is_empty()
    }

    /// The tree so far; starts a new one.
    pub fn take(&mut self) -> Ast {
        let Self { mut ast, table } = std::mem::take(self);
        ast.names = table.names;
        ast.shared = table.has_shared;
        ast
    }
}
