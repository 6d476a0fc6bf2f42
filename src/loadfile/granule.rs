//! What O_DIRECT asks of a loadfile: offsets and lengths that are multiples of a power of two.
//!
//! A literal is a multiple of what it is a multiple of; of a computed number that is known as far
//! as its changes say: `*/4096%65536` is one of 4096, `*%100` of nothing, `+512` of 512 where all
//! numbers before it are. What is spelled with strings is not known, and not complained of.

use super::error::{Diagnostic, Fault};
use super::lexer::{Lexer, Token};
use super::number;
use super::program::{Action, Expr, Inst, Mod, Operand, OperandKind, Program};
use super::source::Source;
use crate::op::OpKind;
use crate::op::argument::Role;

/// Powers of two that are told apart: no device asks for more than 2^20 bytes.
const POWERS: usize = 20;

/// For each power of two the first number of a loadfile that is a multiple of it and of no larger
/// one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Granules {
    file: String,
    first: [Option<Place>; POWERS],
}

/// A number in a loadfile.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    line: u32,
    /// Whether it is the length, not the offset.
    is_length: bool,
    /// The line's text, and where the number stands in it.
    text: Vec<u8>,
    at: usize,
    spelled: String,
    is_literal: bool,
}

impl Granules {
    /// Looks at all reads and writes of a program, PREPARE included; `source` is its text.
    #[must_use]
    pub fn of(program: &Program, source: &Source) -> Self {
        let registers = registers(program);
        let mut first: [Option<Place>; POWERS] = Default::default();
        for inst in &program.insts {
            for (_, is_length, operand) in operands(inst) {
                let power = power(program, &registers, operand) as usize;
                if let Some(free @ None) = first.get_mut(power) {
                    let is_literal = matches!(operand.kind(), OperandKind::Literal(_));
                    *free = Some(Place::new(inst.line, is_length, is_literal));
                }
            }
        }
        find_texts(source, &mut first);
        Self { file: program.name.clone(), first }
    }

    /// The first number, by lines, that may be no multiple of `align` bytes; `disk` is who asks.
    #[must_use]
    pub fn misfit(&self, align: u64, disk: &str) -> Option<Diagnostic> {
        let below = self.first.iter().take(align.max(1).trailing_zeros() as usize);
        let place = below.flatten().min_by_key(|place| (place.line, place.at))?;
        let what = if place.is_length { "length" } else { "offset" };
        let is = if place.is_literal { "is" } else { "need not be" };
        let message = format!(
            "--direct: the {what} {} {is} a multiple of {align} bytes, as {disk} asks for",
            place.spelled
        );
        let message = if place.is_literal { message.replace(" is a ", " is no ") } else { message };
        let expected = if place.is_literal {
            format!("a multiple of {align}; or run without --direct")
        } else {
            format!("a number such as */{align}%1048576; or run without --direct")
        };
        let fault = Fault { at: place.at, message, expected };
        Some(Diagnostic::new(&self.file, place.line, &place.text, fault))
    }
}

impl Place {
    fn new(line: u32, is_length: bool, is_literal: bool) -> Self {
        let (text, spelled) = (Vec::new(), String::new());
        Self { line, is_length, text, at: 0, spelled, is_literal }
    }

    /// Takes in the line it stands on: the argument that its word's row says, a timestamp before or not.
    fn read(&mut self, line: &[u8], tokens: &[Token]) {
        let timed = tokens.first().is_some_and(|t| number::timestamp(t.raw(line)).is_some());
        let wanted = if self.is_length { Role::Length } else { Role::Offset };
        let at = |word: &Token| {
            let row = OpKind::from_bytes(word.raw(line))?.row();
            row.numbers.iter().position(|(role, _)| *role == wanted)
        };
        let index = tokens.get(usize::from(timed)).and_then(at);
        if let Some(token) = index.and_then(|at| tokens.get(usize::from(timed) + 1 + at)) {
            self.at = token.at();
            self.spelled = String::from_utf8_lossy(&token.text(line)).into_owned();
        }
        self.text = line.to_vec();
    }
}

/// Offset and length of a read or write, the offset not where it is the position: where it stands among the
/// numbers, and whether it is the length.
fn operands(inst: &Inst) -> impl Iterator<Item = (u8, bool, Operand)> + use<> {
    let [one, other] = match (inst.action, inst.op) {
        (Action::Read { offset, len, .. } | Action::Write { offset, len, .. }, _) => {
            [Some((1, false, offset)), Some((2, true, len))]
        }
        (Action::OnHandle { numbers, .. }, Some(OpKind::Read | OpKind::Write)) => {
            [Some((1, true, numbers[0])), None]
        }
        _ => [None, None],
    };
    one.into_iter().chain(other)
}

/// Powers of two that divide what `+n` refers to: no more than those of every number that is
/// stored there. Registers start at 0, which all divide.
fn registers(program: &Program) -> Vec<u32> {
    let mut powers = vec![u64::BITS; program.registers.len()];
    loop {
        let before = powers.clone();
        for inst in program.insts.iter().filter(|inst| inst.records) {
            for (position, _, operand) in operands(inst) {
                let power = power(program, &before, operand);
                for (register, known) in program.registers.iter().zip(&mut powers) {
                    if Some(register.op) == inst.op && register.position == position {
                        *known = power.min(*known);
                    }
                }
            }
        }
        if powers == before {
            return powers;
        }
    }
}

/// The largest power of two, as its exponent, that divides all values of a number.
fn power(program: &Program, registers: &[u32], operand: Operand) -> u32 {
    let of = |value: i64| if value == 0 { u64::BITS } else { value.trailing_zeros() };
    let OperandKind::Expr(id) = operand.kind() else {
        let OperandKind::Literal(value) = operand.kind() else { return u64::BITS };
        return of(value);
    };
    match &program.exprs[id.0 as usize] {
        Expr::Random { mods } => mods.iter().fold(0, |power, change| match *change {
            Mod::Align(to) => of(to),
            Mod::Modulo(by) => power.min(of(by)),
            Mod::Add(what) => power.min(of(what)),
        }),
        Expr::Previous { register, add } => of(*add).min(registers[usize::from(*register)]),
        // Another number for each client.
        Expr::Child | Expr::Children => 0,
        Expr::Text { .. } => u64::BITS,
    }
}

/// Reads the lines that places stand on.
fn find_texts(source: &Source, places: &mut [Option<Place>]) {
    let last = places.iter().flatten().map(|place| place.line).max().unwrap_or(0);
    let mut lexer = Lexer::new(&source.bytes);
    let mut tokens = Vec::new();
    while let Some((line, _)) = lexer.next(&mut tokens) {
        for place in places.iter_mut().flatten().filter(|place| place.line == line.number) {
            place.read(line.bytes, &tokens);
        }
        if line.number >= last {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loadfile::{Options, load_source};

    /// Line, column and message of the first number that does not fit.
    fn misfit(text: &str, align: u64) -> Option<(u32, u32, String)> {
        let source = Source::from_bytes("t.load", text.into(), 1 << 20).unwrap();
        let program = load_source(&source, &Options::default()).unwrap().program;
        let found = Granules::of(&program, &source).misfit(align, "/mnt/a")?;
        Some((found.line, found.column, found.message))
    }

    fn place(text: &str, align: u64) -> Option<(u32, u32)> {
        misfit(text, align).map(|(line, column, _)| (line, column))
    }

    #[test]
    fn literals_are_multiples_or_not() {
        let text = "ReadX 1 0 4096 1 *\nWriteX 1 512 1024 1 *\n0.5 WriteX 1 4096 1 1 *\n";
        assert_eq!(place(text, 1), None);
        assert_eq!(place(text, 512), Some((3, 19)));
        assert_eq!(place(text, 4096), Some((2, 10)));
        let (_, _, message) = misfit(text, 512).unwrap();
        assert!(message.contains("the length 1 is no multiple of 512 bytes"), "{message}");
        assert!(message.contains("/mnt/a"), "{message}");
        // What is not read or written is not asked.
        assert_eq!(place("LockX 1 3 5 *\nReadX 7 0x1000 010000 3 *\n", 4096), None);
    }

    #[test]
    fn computed_numbers_are_multiples_of_what_their_changes_leave() {
        let first = |offset: &str, align| place(&format!("ReadX 1 {offset} 0 0 *\n"), align);
        for (offset, largest) in [
            ("*/4096", 4096),
            ("*/4096%1048576", 4096),
            ("*/4096%1048576+512", 512),
            ("*/4096%1000", 8), // 1000 = 8 x 125
            ("*%4096", 1),
            ("*%4096/512", 512),
            ("*", 1),
            ("*/3000", 8), // 3000 = 8 x 375
            ("+child", 1),
        ] {
            assert_eq!(first(offset, largest), None, "{offset}");
            assert_eq!(first(offset, 2 * largest), Some((1, 9)), "{offset}");
        }
        let (_, _, message) = misfit("ReadX 1 *%100 0 0 *\n", 8).unwrap();
        assert!(message.contains("the offset *%100 need not be a multiple"), "{message}");
    }

    #[test]
    fn previous_numbers_are_what_those_before_are() {
        let text = "WriteX 1 0 8192 0 *\nREPEAT 9\nWriteX 1 +8192 8192 0 *\n";
        assert_eq!(place(text, 8192), None);
        assert_eq!(place(text, 16384), Some((1, 12)));
        // A stray offset further down comes back in the next pass.
        let text = "WriteX 1 +4096 4096 0 *\nWriteX 1 100 4096 0 *\n";
        assert_eq!(place(text, 512), Some((1, 10)));
        // Of another operation: no matter.
        let text = "WriteX 1 +4096 4096 0 *\nReadX 1 1024 4096 0 *\n";
        assert_eq!(place(text, 2048), Some((2, 9)));
    }

    #[test]
    fn strings_are_not_known() {
        assert_eq!(place("RANDOMSTRING 0 \"[0123]\"\nReadX 1 $0 0 0 *\n", 512), None);
    }

    #[test]
    fn what_is_prepared_counts_too() {
        assert_eq!(place("PREPARE\nWriteX 1 0 7 7 *\nEND\nFlush 1 *\n", 2), Some((2, 12)));
    }
}
