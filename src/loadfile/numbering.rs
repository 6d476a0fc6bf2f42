//! What a compiled program numbers: its expressions with their registers, its handles.

use super::ast::{Ast, Node, Special};
use super::parser::has_time;
use super::program::{Expr, ExprId, HandleRef, Operand, OperandKind, Register};
use crate::op::argument::Role;

/// The expressions of a program, one for each special number of the tree, and the registers that
/// `+n` needs: one for each operation and position that has a `+n` somewhere.
pub(super) fn registers(ast: &Ast) -> (Vec<Register>, Vec<Expr>) {
    let mut exprs: Vec<Expr> = ast
        .specials
        .iter()
        .map(|special| match special {
            Special::Random(mods) => Expr::Random { mods: mods.clone() },
            Special::Previous(add) => Expr::Previous { register: 0, add: *add },
            Special::Child => Expr::Child,
            Special::Children => Expr::Children,
            Special::Text { first, count } => Expr::Text { first: *first, count: *count },
        })
        .collect();
    let mut registers: Vec<Register> = Vec::new();
    if exprs.is_empty() {
        return (registers, exprs);
    }
    for line in &ast.lines {
        let Node::Op(op) = line.node else {
            continue;
        };
        for (position, number) in op.numbers.iter().enumerate() {
            let OperandKind::Expr(ExprId(id)) = number.kind() else {
                continue;
            };
            if let Expr::Previous { register, .. } = &mut exprs[id as usize] {
                let wanted = Register { op: op.kind, position: position as u8 };
                let index = registers.iter().position(|r| *r == wanted).unwrap_or_else(|| {
                    registers.push(wanted);
                    registers.len() - 1
                });
                *register = index as u16;
            }
        }
    }
    (registers, exprs)
}

/// The handle numbers of a loadfile, in ascending order; the position is the slot.
pub(super) struct Handles {
    pub(super) numbers: Vec<i64>,
    /// The last one that was looked up: lines come in runs of the same handle.
    last: (i64, u32),
}

impl Handles {
    /// The handles of a tree, and whether it has timestamps: in one go, since half a million
    /// lines are 30 MB.
    pub(super) fn of(ast: &Ast) -> (Self, bool) {
        let mut numbers: Vec<i64> = Vec::new();
        let mut timed = false;
        for line in &ast.lines {
            timed |= has_time(line.time);
            let Node::Op(op) = line.node else {
                continue;
            };
            for (operand, (role, _)) in op.numbers.iter().zip(op.kind.row().numbers) {
                if *role == Role::Handle
                    && let OperandKind::Literal(number) = operand.kind()
                    && numbers.last() != Some(&number)
                {
                    numbers.push(number);
                }
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        let last = (numbers.first().copied().unwrap_or(0), 0);
        (Self { numbers, last }, timed)
    }

    #[inline]
    pub(super) fn get(&mut self, number: Operand) -> HandleRef {
        match number.kind() {
            OperandKind::Expr(id) => HandleRef::Dynamic(id),
            OperandKind::Literal(number) => {
                if self.last.0 != number {
                    // It is there: the list was made from the same lines.
                    let slot = self.numbers.binary_search(&number).unwrap_or(0);
                    self.last = (number, slot as u32);
                }
                HandleRef::Slot(self.last.1)
            }
        }
    }
}
