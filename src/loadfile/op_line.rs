//! Lines with an operation: its paths, its numbers, its status.

use super::ast::{Node, Op, Special};
use super::bounds::{self, MAX_CLIENTS, Slots};
use super::error::{LineResult, fault};
use super::lexer::{Line, Token};
use super::names::{MAX_COMPONENT, MAX_PATH};
use super::parser::{Late, LateCheck, Parser};
use super::pool::MAX_DIGITS;
use super::program::{ExprId, Operand, PathId, Segment};
use super::template::Shape;
use super::{ast::Ast, number, status};
use crate::op::argument::Role;
use crate::op::flags::Flags;
use crate::op::{OpKind, Word};

pub(super) const ZERO: Operand = match Operand::literal(0) {
    Some(zero) => zero,
    None => Operand::expr(ExprId(0)),
};

impl<'t> Parser<'t> {
    /// Reads an operation; `tokens` start with its word.
    pub(super) fn op(&mut self, line: Line<'t>, kind: OpKind, tokens: &[Token]) -> LineResult<Op> {
        let row = kind.row();
        let (args, last) = match tokens {
            [_, args @ .., last] => (args, *last),
            _ => {
                let message = format!("{kind} without arguments");
                return fault(line.bytes.len(), message, row.usage());
            }
        };
        let expect = match last.plain(line.bytes) {
            Some(text) => status::parse(text),
            None => status::parse(&last.text(line.bytes)),
        };
        let Some(expect) = expect else {
            let message = format!("{} is not a status", last.show(line.bytes));
            let usage = row.usage();
            return fault(last.at(), message, format!("{}; as in: {usage}", status::EXPECTED));
        };
        let paths = row.paths.len();
        let want = paths + row.numbers.len();
        if args.len() != want {
            return wrong_count(kind, row, line, args, last);
        }
        let mut op = Op { kind, expect, paths: [PathId(0); 2], numbers: [ZERO; 4] };
        for (i, token) in args[..paths].iter().enumerate() {
            op.paths[i] = self.path(line, kind, *token)?;
        }
        if !self.table.pools.is_empty() && paths > 0 {
            self.one_change_a_pool(line, &op, args)?;
        }
        for (i, token) in args[paths..].iter().enumerate() {
            let (role, name) = row.numbers[i];
            op.numbers[i] = self.number(line, *token, role, name)?;
        }
        Ok(op)
    }

    fn path(&mut self, line: Line<'t>, kind: OpKind, token: Token) -> LineResult<PathId> {
        let id = self.table.path(token, line.bytes)?;
        if self.table.names.specs.len() > self.paths_seen {
            self.paths_seen = self.table.names.specs.len();
            if self.table.has_string(id) {
                self.late.push(Late { line, at: token.at(), what: LateCheck::Path(id) });
            }
        }
        if !kind.row().only_looks
            && let Some(what) = self.table.of_the_run(id)
        {
            return fault(token.at(), format!("{kind} of {what} itself"), "a path below it");
        }
        Ok(id)
    }

    /// Reads one number.
    #[inline]
    pub(super) fn number(
        &mut self,
        line: Line<'t>,
        token: Token,
        role: Role,
        name: &str,
    ) -> LineResult<Operand> {
        match role {
            Role::Flags(flags) => return named_bits(line, token, flags, name),
            Role::Mode => return mode(line, token, role, name),
            Role::Text(what) => {
                let number = self.ast.texts.number(line, token, what, name)?;
                return Ok(literal(i64::from(number)));
            }
            _ => {}
        }
        if let Some(value) = token.plain(line.bytes).and_then(number::small)
            && value <= role.limits().1
            && let Some(operand) = Operand::literal(value)
        {
            return Ok(operand);
        }
        self.other_number(line, token, role, name)
    }

    /// Reads a number that is not a short decimal one.
    fn other_number(
        &mut self,
        line: Line<'t>,
        token: Token,
        role: Role,
        name: &str,
    ) -> LineResult<Operand> {
        let text = token.text(line.bytes);
        if let Some(value) = number::literal(&text) {
            let (low, high) = role.limits();
            if value >= low
                && value <= high
                && let Some(operand) = Operand::literal(value)
            {
                return Ok(operand);
            }
            let message = format!("{name} cannot be {}", token.show(line.bytes));
            return fault(token.at(), message, limits_text(role));
        }
        let special = match number::special(&text, token.at()) {
            Some(special) => special?,
            None => match self.table.number_text(&text) {
                Some(special) => special,
                None => {
                    let message = format!("{name}: {} is not a number", token.show(line.bytes));
                    return fault(token.at(), message, number::EXPECTED);
                }
            },
        };
        self.check_special(line, token, role, name, &special)?;
        self.ast.specials.push(special);
        Ok(Operand::expr(ExprId(self.ast.specials.len() as u32 - 1)))
    }

    /// Whether a number that is made anew each time stays within what its role allows.
    fn check_special(
        &mut self,
        line: Line<'t>,
        token: Token,
        role: Role,
        name: &str,
        special: &Special,
    ) -> LineResult<()> {
        let (_, high) = role.limits();
        if !matches!(role, Role::Length | Role::ValueLength | Role::Disposition) {
            return Ok(());
        }
        let bound = match special {
            Special::Random(mods) => number::upper_random(mods),
            // The value of another line: those are checked themselves.
            Special::Previous(0) => Some(0),
            Special::Previous(_) => None,
            Special::Child | Special::Children => Some(MAX_CLIENTS),
            Special::Text { .. } => {
                let what = LateCheck::Number(self.ast.specials.len() as u32, high);
                self.late.push(Late { line, at: token.at(), what });
                return Ok(());
            }
        };
        if bound.is_some_and(|bound| bound <= high) {
            return Ok(());
        }
        let message = format!("{name} {} can become too large", token.show(line.bytes));
        fault(
            token.at(),
            message,
            format!("{}; bound it, as in *%{}", limits_text(role), high.min(65_535) + 1),
        )
    }

    /// `Sleep usec status`, and dbench 5's directive `SLEEP usec`.
    pub(super) fn sleep(
        &mut self,
        line: Line<'t>,
        time: Option<u64>,
        tokens: &[Token],
    ) -> LineResult<()> {
        let usage = "Sleep <microseconds> <status>, or SLEEP <microseconds>";
        let is_directive = match tokens {
            [word, _] => word.raw(line.bytes) == b"SLEEP",
            [_, _, last] if status::parse(&last.text(line.bytes)).is_some() => false,
            [_, _, last] => {
                let message = format!("{} is not a status", last.show(line.bytes));
                return fault(last.at(), message, status::EXPECTED);
            }
            _ => return fault(tokens[0].at(), "Sleep has one number", usage),
        };
        if tokens.len() == 2 && !is_directive {
            return fault(line.bytes.len(), "the status is missing", usage);
        }
        let misplaced = if is_directive { self.repeat_before(tokens[0], line) } else { Ok(()) };
        let micros = self.own_number(line, tokens[1], "microseconds")?;
        self.push(line, time, Node::Pause(micros));
        self.repeat = None;
        misplaced
    }

    /// A number of a line that keeps no previous values, so that `+n` has no meaning.
    pub(super) fn own_number(
        &mut self,
        line: Line<'t>,
        token: Token,
        name: &str,
    ) -> LineResult<Operand> {
        let operand = self.number(line, token, Role::Offset, name)?;
        if operand.kind_is_previous(&self.ast) {
            let message = format!("{name}: {} has no previous value here", token.show(line.bytes));
            return fault(token.at(), message, "a number, * or $n");
        }
        Ok(operand)
    }
}

impl Operand {
    fn kind_is_previous(self, ast: &Ast) -> bool {
        match self.kind() {
            super::program::OperandKind::Literal(_) => false,
            super::program::OperandKind::Expr(id) => {
                matches!(ast.specials[id.0 as usize], Special::Previous(_))
            }
        }
    }
}

impl Late<'_> {
    pub(super) fn check(&self, ast: &Ast, slots: &Slots<'_>) -> LineResult<()> {
        match self.what {
            LateCheck::Path(id) => self.check_path(ast, slots, id),
            LateCheck::Number(index, high) => {
                let bound = bounds::upper(ast, &ast.specials[index as usize], slots);
                if bound.is_some_and(|bound| bound <= high) {
                    return Ok(());
                }
                let expected = format!("strings of digits only, making at most {high}");
                fault(self.at, "this number can become too large, or no number", expected)
            }
        }
    }

    /// Strings must not lead out of the run directory, nor make a name that is too long.
    fn check_path(&self, ast: &Ast, slots: &Slots<'_>, id: PathId) -> LineResult<()> {
        let mut shape = Shape::new();
        for segment in ast.names.path(id) {
            match *segment {
                Segment::Literal { start, len } => {
                    ast.names.literal(start, len).iter().for_each(|&b| shape.push(&[b]));
                }
                // `client` and a number of at most seven digits.
                Segment::Client => b"client1000000".iter().for_each(|&b| shape.push(&[b])),
                Segment::Slot(slot) => shape.push_one_of(&slots[usize::from(slot)]),
                Segment::Drawn(_) => [b"9"; MAX_DIGITS].into_iter().for_each(|b| shape.push(b)),
            }
        }
        shape.end();
        if shape.dotted {
            let expected = "strings that cannot make `.` or `..` of a component";
            return fault(self.at, "this path can lead out of the run directory", expected);
        }
        if shape.longest > MAX_COMPONENT + 1 || shape.total > MAX_PATH {
            let expected = format!(
                "components of at most {MAX_COMPONENT} and a path of at most {MAX_PATH} bytes"
            );
            return fault(self.at, "this path can become too long", expected);
        }
        Ok(())
    }
}

/// Bits by their names.
fn named_bits(line: Line<'_>, token: Token, flags: &Flags, name: &str) -> LineResult<Operand> {
    let text = token.text(line.bytes);
    match flags.parse(&text) {
        Ok(bits) => Ok(literal(i64::from(bits))),
        Err(word) => {
            let word = String::from_utf8_lossy(word);
            let message = format!("{name}: `{}` does not fit in", word.escape_debug());
            fault(token.at(), message, format!("one or more of {}, joined by |", flags.names()))
        }
    }
}

/// Permission bits. Without the 0 in front `644` would be another number in decimal.
fn mode(line: Line<'_>, token: Token, role: Role, name: &str) -> LineResult<Operand> {
    let text = token.text(line.bytes);
    let octal = text.starts_with(b"0") && text.iter().all(|byte| (b'0'..=b'7').contains(byte));
    match number::literal(&text) {
        Some(value) if octal && value <= role.limits().1 => Ok(literal(value)),
        _ => {
            let message = format!("{name} cannot be {}", token.show(line.bytes));
            fault(token.at(), message, "permission bits in octal, like 0644")
        }
    }
}

/// A number that is known to be in range.
fn literal(value: i64) -> Operand {
    Operand::literal(value).unwrap_or(ZERO)
}

fn wrong_count<T>(
    kind: OpKind,
    row: &Word,
    line: Line<'_>,
    args: &[Token],
    last: Token,
) -> LineResult<T> {
    let usage = row.usage();
    let want = row.paths.len() + row.numbers.len();
    if let Some(token) = args.get(want) {
        let message = format!("{kind} has one argument too many: {}", token.show(line.bytes));
        return fault(token.at(), message, usage);
    }
    let missing = match row.paths.get(args.len()) {
        Some(name) => name,
        None => row.numbers[args.len() - row.paths.len()].1,
    };
    fault(last.at(), format!("{kind} without its {missing}"), usage)
}

fn limits_text(role: Role) -> String {
    match role.limits() {
        (0, i64::MAX) => "a number from 0 to 2^62 - 1".to_owned(),
        (i64::MIN, _) => number::EXPECTED.to_owned(),
        (low, high) => format!("a number from {low} to {high}"),
    }
}
