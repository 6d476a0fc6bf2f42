//! Tree to text: the canonical spelling of a loadfile.
//!
//! Equal trees have equal text, whatever comments, blanks, line ends, quotes, number bases and
//! spellings of a status the original had; reading it again gives the same program. Its SHA-256
//! tells whether two results come from the same load. It is made in pieces, since the text of a
//! long loadfile need not be in memory.

use super::ast::{Ast, Line, Node, Op, Special};
use super::parser::has_time;
use super::pool::{Order, Pool};
use super::program::{Expect, Mod, Operand, OperandKind, PathId, Piece, Segment};
use super::status;
use crate::op::argument::Role;

/// Digits of the largest u64.
const MAX_DIGITS: usize = 20;
/// Size of a piece in bytes, about.
const PIECE: usize = 32 * 1024;

impl Ast {
    /// The canonical text.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = Vec::new();
        self.write_canonical(|piece| text.extend_from_slice(piece));
        text
    }

    /// Hands the canonical text to `sink`, piece by piece.
    pub fn write_canonical(&self, mut sink: impl FnMut(&[u8])) {
        let paths = (0..self.names.specs.len()).map(|i| self.quoted(PathId(i as u32)));
        let mut printer =
            Printer { ast: self, paths: paths.collect(), out: Vec::with_capacity(PIECE + 4096) };
        for line in &self.lines {
            printer.line(line);
            if printer.out.len() >= PIECE {
                sink(&printer.out);
                printer.out.clear();
            }
        }
        sink(&printer.out);
    }

    /// A path as a token.
    fn quoted(&self, id: PathId) -> Box<[u8]> {
        let mut out = vec![b' ', b'"'];
        self.spell(self.names.path(id), &mut out);
        out.push(b'"');
        out.into()
    }

    fn spell(&self, segments: &[Segment], out: &mut Vec<u8>) {
        // A drawn name stands for the segments before it, too.
        let drawn = segments.iter().position(|segment| matches!(segment, Segment::Drawn(_)));
        for segment in &segments[drawn.unwrap_or(0)..] {
            match *segment {
                Segment::Literal { start, len } => {
                    out.extend_from_slice(self.names.literal(start, len));
                }
                Segment::Client => out.extend_from_slice(b"client1"),
                Segment::Slot(slot) => out.extend_from_slice(&[b'$', b'0' + slot]),
                Segment::Drawn(draw) => {
                    let name = &self.pools[usize::from(draw.pool)].name;
                    out.extend([b"{", &**name, draw.pick.sign(), b"}"].concat());
                }
            }
        }
    }
}

impl std::fmt::Display for Ast {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.to_bytes()))
    }
}

struct Printer<'a> {
    ast: &'a Ast,
    /// All paths as tokens, made once: most are printed many times.
    paths: Vec<Box<[u8]>>,
    out: Vec<u8>,
}

impl Printer<'_> {
    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn line(&mut self, line: &Line) {
        if has_time(line.time) {
            self.time(line.time);
        }
        match line.node {
            Node::Op(op) => self.op(&op),
            Node::Pause(micros) => {
                self.text("Sleep");
                self.number(micros);
                self.text(" NT_STATUS_OK");
            }
            Node::Loop(rounds) => self.counted("LOOP", rounds),
            Node::EndLoop => self.text("ENDLOOP"),
            Node::Repeat(rounds) => self.counted("REPEAT", rounds),
            Node::SetSp(value) => {
                self.text("SETSP");
                self.number(value);
            }
            Node::WaitSp(child, value) => {
                self.text("WAITSP");
                self.number(child);
                self.number(value);
            }
            Node::WritePattern(index) => {
                self.text("WRITEPATTERN ");
                self.out.extend_from_slice(&self.ast.patterns[index as usize]);
                // The pattern ends with the line's end.
                return;
            }
            Node::RandomString(slot, index) => self.random_string(slot, index),
            Node::Prepare => self.text("PREPARE"),
            Node::EndPrepare => self.text("END"),
            Node::Pool(index) => self.pool(&self.ast.pools[index as usize]),
            Node::Phase(index) => {
                self.text("PHASE ");
                self.text(&self.ast.phases[index as usize]);
            }
            Node::Choose(weight) => self.counted("CHOOSE", weight),
            Node::Shuffle(runs) => self.counted("SHUFFLE", runs),
            Node::EndBlock => self.text("END"),
        }
        self.out.push(b'\n');
    }

    fn op(&mut self, op: &Op) {
        let row = op.kind.row();
        self.text(op.kind.word());
        for path in &op.paths[..row.paths.len()] {
            self.out.extend_from_slice(&self.paths[path.0 as usize]);
        }
        for (number, (role, _)) in op.numbers.iter().zip(row.numbers) {
            self.argument(*number, *role);
        }
        if op.expect == Expect::Success {
            // As nearly all; a constant is copied without a call.
            self.out.extend_from_slice(b" NT_STATUS_OK");
        } else {
            self.out.push(b' ');
            self.text(status::spell(op.expect));
        }
    }

    /// A number as its role spells it.
    #[inline]
    fn argument(&mut self, number: Operand, role: Role) {
        match (role, number.kind()) {
            (Role::Flags(flags), OperandKind::Literal(bits)) => {
                self.out.push(b' ');
                self.text(&flags.spell(bits as i32));
            }
            (Role::Text(_), OperandKind::Literal(index)) => {
                self.text(" \"");
                self.out.extend_from_slice(self.ast.texts.canonical(index as usize));
                self.out.push(b'"');
            }
            (Role::Mode, OperandKind::Literal(bits)) => self.text(&format!(" 0{bits:03o}")),
            _ => self.number(number),
        }
    }

    fn time(&mut self, nanos: u64) {
        self.unsigned(nanos / 1_000_000_000);
        let fraction = nanos % 1_000_000_000;
        if fraction > 0 {
            let digits = format!(".{fraction:09}");
            self.text(digits.trim_end_matches('0'));
        }
        self.out.push(b' ');
    }

    fn counted(&mut self, word: &str, count: u32) {
        self.text(word);
        self.out.push(b' ');
        self.unsigned(u64::from(count));
    }

    fn number(&mut self, number: Operand) {
        self.out.push(b' ');
        match number.kind() {
            OperandKind::Literal(value) => {
                if value < 0 {
                    self.out.push(b'-');
                }
                self.unsigned(value.unsigned_abs());
            }
            OperandKind::Expr(id) => self.special(&self.ast.specials[id.0 as usize]),
        }
    }

    fn special(&mut self, special: &Special) {
        match special {
            Special::Random(mods) => {
                self.out.push(b'*');
                for change in mods {
                    let (sign, value) = match *change {
                        Mod::Align(y) => (b'/', y),
                        Mod::Modulo(y) => (b'%', y),
                        Mod::Add(y) => (b'+', y),
                    };
                    self.out.push(sign);
                    self.unsigned(value.unsigned_abs());
                }
            }
            Special::Previous(add) => {
                self.out.push(b'+');
                self.unsigned(add.unsigned_abs());
            }
            Special::Child => self.text("+child"),
            Special::Children => self.text("+num_children"),
            Special::Text { first, count } => {
                self.ast.spell(self.ast.names.range(*first, *count), &mut self.out);
            }
        }
    }

    fn random_string(&mut self, slot: u8, index: u32) {
        self.text("RANDOMSTRING ");
        self.unsigned(u64::from(slot));
        self.text(" \"");
        for piece in &self.ast.templates[index as usize].pieces {
            match piece {
                Piece::Literal(bytes) => self.out.extend_from_slice(bytes),
                Piece::OneOf(set) => {
                    self.out.push(b'[');
                    self.out.extend_from_slice(set);
                    self.out.push(b']');
                }
            }
        }
        self.out.push(b'"');
    }

    fn pool(&mut self, pool: &Pool) {
        self.text("POOL ");
        self.out.extend_from_slice(&pool.name);
        self.out.push(b' ');
        self.unsigned(u64::from(pool.count));
        self.text(" \"");
        self.ast.spell(self.ast.names.range(pool.first, pool.segments), &mut self.out);
        self.text(if pool.order == Order::Rotate { "\" rotate" } else { "\"" });
    }

    fn unsigned(&mut self, mut value: u64) {
        if value < 10 {
            self.out.push(b'0' + value as u8);
            return;
        }
        let digits = value.checked_ilog10().unwrap_or(0) as usize + 1;
        let start = self.out.len();
        // Written in place: most of the text is numbers, and a call of memcpy for each costs more
        // than its digits.
        self.out.extend_from_slice(&[0; MAX_DIGITS]);
        self.out.truncate(start + digits);
        for place in self.out[start..].iter_mut().rev() {
            *place = b'0' + (value % 10) as u8;
            value /= 10;
        }
    }
}
