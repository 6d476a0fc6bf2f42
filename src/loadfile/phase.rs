//! `PHASE name`: from the line to the next one, or to the end of the pass.

use std::ops::Range;

use super::ast::{Ast, Node};
use super::directive::arguments;
use super::error::{LineResult, fault};
use super::lexer::{Line, Token};
use super::parser::Parser;
use super::program::{Action, Inst, Pc};

/// Longest name, in bytes: it stands in every row of its phase.
const MAX_NAME: usize = 64;
/// Most phases of a loadfile: each has counters of its own in every thread.
const MAX_PHASES: usize = 1000;

const USAGE: &str = "PHASE <name>";

/// A phase of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// Its name: 1 to 64 of `A-Z a-z 0-9 . _ -`, no two alike.
    pub name: Box<str>,
    /// Line number of its PHASE, from 1.
    pub line: u32,
    /// Its first instruction.
    pub start: Pc,
    /// Behind its last one.
    pub end: Pc,
}

impl Phase {
    /// Its instructions, by their index.
    #[must_use]
    pub fn insts(&self) -> Range<usize> {
        self.start.0 as usize..self.end.0 as usize
    }
}

impl<'t> Parser<'t> {
    /// Reads a PHASE line.
    pub(super) fn phase(&mut self, line: Line<'t>, word: Token, args: &[Token]) -> LineResult<()> {
        arguments(line, args, 1, USAGE)?;
        if let Some(open) = self.open.last() {
            let message = format!("PHASE inside the {} of line {}", open.word, open.line.number);
            return fault(word.at(), message, "PHASE outside of all blocks: clients meet there");
        }
        let text = args[0].text(line.bytes);
        let plain = |b: &u8| b.is_ascii_alphanumeric() || b"._-".contains(b);
        let name = std::str::from_utf8(&text).ok().filter(|_| text.iter().all(plain));
        let Some(name) = name.filter(|name| (1..=MAX_NAME).contains(&name.len())) else {
            let message = format!("{} is no name of a phase", args[0].show(line.bytes));
            let expected = format!("1 to {MAX_NAME} of A-Z a-z 0-9 . _ -");
            return fault(args[0].at(), message, expected);
        };
        if self.ast.phases.iter().any(|known| **known == *name) {
            let message = format!("there is a PHASE {name} above");
            return fault(args[0].at(), message, "another name: each names one row of the result");
        }
        if self.ast.phases.len() == MAX_PHASES {
            let message = format!("more than {MAX_PHASES} PHASE lines");
            return fault(word.at(), message, "fewer; every pass goes through them again");
        }
        self.ast.phases.push(name.into());
        let index = self.ast.phases.len() as u32 - 1;
        self.push(line, None, Node::Phase(index));
        Ok(())
    }
}

/// Where the phases of a tree are among its instructions.
pub(super) fn phases(ast: &Ast, insts: &[Inst]) -> Box<[Phase]> {
    let mut phases: Vec<Phase> = Vec::new();
    for (at, inst) in insts.iter().enumerate().filter(|_| !ast.phases.is_empty()) {
        let Action::Phase { phase } = inst.action else { continue };
        let here = Pc(at as u32);
        if let Some(last) = phases.last_mut() {
            last.end = here;
        }
        let name = ast.phases[usize::from(phase)].clone();
        let (start, end) = (Pc(here.0 + 1), Pc(insts.len() as u32));
        phases.push(Phase { name, line: inst.line, start, end });
    }
    phases.into()
}

#[cfg(test)]
mod tests {
    use crate::loadfile::check::check;
    use crate::loadfile::{Options, parse_bytes};

    #[test]
    fn phases_share_out_a_pass() {
        let text = "PREPARE\nFlush 9 *\nEND\nFlush 1 *\nPHASE a\nREPEAT 3\nWriteX 1 0 8 8 *\n\
                    PHASE b.2_x-\nReadX 1 0 4 4 *\n";
        let program = parse_bytes("t", text.as_bytes(), &Options::default()).unwrap().program;
        let found: Vec<_> = program.phases.iter().map(|p| (&*p.name, p.line, p.insts())).collect();
        // 0 Flush, 1 Flush, 2 PHASE, 3 LOOP, 4 WriteX, 5 ENDLOOP, 6 PHASE, 7 ReadX.
        assert_eq!(found, [("a", 5, 3..6), ("b.2_x-", 8, 7..8)]);
        let report = check(&program);
        let counts: Vec<_> = report
            .phases
            .iter()
            .map(|p| (p.phase.as_str(), p.ops, p.read_bytes, p.write_bytes))
            .collect();
        assert_eq!(counts, [("", 1, 0, 0), ("a", 3, 0, 24), ("b.2_x-", 1, 4, 0)]);
        let text = report.to_string();
        assert!(text.contains("in phase a                3 operations, 24 B written"), "{text}");
    }

    #[test]
    fn what_is_no_phase() {
        let long = format!("PHASE {}\nFlush 1 *\n", "x".repeat(65));
        for (text, place, said) in [
            ("Flush 1 *\nPHASE\n", (2, 6), "missing"),
            ("Flush 1 *\nPHASE a b\n", (2, 9), "too much"),
            ("Flush 1 *\nPHASE a/b\n", (2, 7), "no name"),
            ("Flush 1 *\nPHASE \"\"\n", (2, 7), "no name"),
            (&long, (1, 7), "no name"),
            ("PHASE a\nFlush 1 *\n PHASE a\n", (3, 8), "PHASE a above"),
            ("LOOP 2\nFlush 1 *\n  PHASE a\nENDLOOP\n", (3, 3), "inside the LOOP of line 1"),
            ("PREPARE\nPHASE a\nEND\nFlush 1 *\n", (2, 1), "inside the PREPARE of line 1"),
            ("REPEAT 2\nPHASE a\nFlush 1 *\n", (2, 1), "REPEAT of line 1"),
            ("1.5 PHASE a\nFlush 1 *\n", (1, 1), "timestamp"),
        ] {
            let error = parse_bytes("t", text.as_bytes(), &Options::default()).unwrap_err();
            let shown = error.to_string();
            let start = format!("t:{}:{}: ", place.0, place.1);
            assert!(shown.starts_with(&start) && shown.contains(said), "{text}: {shown}");
        }
        let most: String = (0..1000).map(|n| format!("PHASE p{n}\nFlush 1 *\n")).collect();
        assert!(parse_bytes("t", most.as_bytes(), &Options::default()).is_ok());
        assert!(parse_bytes("t", (most + "PHASE x\n").as_bytes(), &Options::default()).is_err());
    }
}
