//! Text to tree: the lines one after the other, blocks, REPEAT, and what needs the whole file.

use super::ast::{Ast, Line as Tree, Node};
use super::bounds;
use super::dialect;
use super::error::{Diagnostic, Diagnostics, Fault, LineResult, LoadError, fault};
use super::group;
use super::lexer::{self, Lexer, Line, Token};
use super::names::NameTable;
use super::program::Program;
use super::source::Source;
use super::{Options, TextFacts, number};
use crate::op::OpKind;

/// Most lines that say something: what keeps a hostile file from taking all memory.
pub(super) const MAX_LINES: usize = 10_000_000;
/// Deepest nesting of loops and blocks.
pub(super) const MAX_DEPTH: usize = 64;

/// What parsing yields.
pub(super) struct Parsed {
    pub(super) ast: Ast,
    /// Bad lines that were skipped (only when lenient).
    pub(super) skipped: Diagnostics,
    pub(super) facts: TextFacts,
}

pub(super) struct Parser<'t> {
    pub(super) ast: Ast,
    pub(super) table: NameTable<'t>,
    /// Loops and blocks that are open.
    pub(super) open: Vec<Open<'t>>,
    /// A REPEAT that waits for its operation.
    pub(super) repeat: Option<Open<'t>>,
    /// What can be judged only when all RANDOMSTRING lines are known.
    pub(super) late: Vec<Late<'t>>,
    pub(super) ops: u64,
    /// How many of them a PREPARE holds.
    pub(super) prepared_ops: u64,
    /// Number of the last SET line that was read, before the text came here.
    pub(super) last_set: u32,
    /// Whether there is a CHOOSE or a SHUFFLE.
    pub(super) has_groups: bool,
    /// Number of paths whose strings and root have been looked at.
    pub(super) paths_seen: usize,
    facts: TextFacts,
}

/// A line that needs another one.
pub(super) struct Open<'t> {
    pub(super) word: &'static str,
    pub(super) line: Line<'t>,
    pub(super) at: usize,
    /// Its index in the tree.
    index: usize,
}

pub(super) struct Late<'t> {
    pub(super) line: Line<'t>,
    pub(super) at: usize,
    pub(super) what: LateCheck,
}

pub(super) enum LateCheck {
    /// A path with strings.
    Path(super::program::PathId),
    /// A number spelled with strings: index in the specials, and what it must not exceed.
    Number(u32, i64),
}

/// Parses a whole text, whose SET lines have been read up to line `last_set`.
pub(super) fn parse(
    source: &Source,
    last_set: u32,
    options: &Options,
) -> Result<Parsed, LoadError> {
    let mut parser = Parser::new(source);
    parser.last_set = last_set;
    let mut bad = Diagnostics::default();
    let mut lexer = Lexer::new(&source.bytes);
    let mut tokens = Vec::new();
    while let Some((line, split)) = lexer.next(&mut tokens) {
        parser.facts.lines += 1;
        if let Err(fault) = parser.line(line, split, &mut tokens) {
            if bad.total() == 0 {
                parser.refuse_dialect(&source.name, line, &tokens)?;
            }
            parser.drop_repeat();
            bad.push(|| Diagnostic::new(&source.name, line.number, line.bytes, *fault));
        }
        if parser.ast.lines.len() > MAX_LINES {
            return Err(LoadError::TooLong { file: source.name.clone(), limit: MAX_LINES });
        }
    }
    parser.close_open(&source.name, &mut bad);
    let skipped = if options.lenient { std::mem::take(&mut bad) } else { Diagnostics::default() };
    // The rest is true of the file as a whole and cannot be skipped.
    parser.ast.names = std::mem::take(&mut parser.table.names);
    parser.ast.pools = std::mem::take(&mut parser.table.pools);
    parser.ast.shared = parser.table.has_shared;
    parser.check_late(&source.name, &mut bad);
    if parser.has_groups
        && let Some((number, message, expected)) = group::too_large(&parser.ast)
    {
        let text = source.bytes.split(|byte| *byte == b'\n').nth(number as usize - 1);
        let fault = Fault { at: 0, message, expected: expected.to_owned() };
        bad.push(|| Diagnostic::new(&source.name, number, text.unwrap_or_default(), fault));
    }
    if bad.total() == 0 && parser.ops == parser.prepared_ops {
        bad.push(|| no_operation(source, &parser.facts));
    }
    if bad.total() > 0 {
        return Err(LoadError::Lines(bad));
    }
    Ok(Parsed { ast: parser.ast, skipped, facts: parser.facts })
}

fn no_operation(source: &Source, facts: &TextFacts) -> Diagnostic {
    let fault = Fault {
        at: 0,
        message: "a pass of the loadfile has no operation".to_owned(),
        expected: "at least one line like: Mkdir \"/clients\" NT_STATUS_OK".to_owned(),
    };
    let line = u32::try_from(facts.lines.max(1)).unwrap_or(u32::MAX);
    Diagnostic::new(&source.name, line, b"", fault)
}

impl<'t> Parser<'t> {
    fn new(source: &Source) -> Self {
        let facts = TextFacts {
            bytes: source.bytes.len() as u64,
            gzip: source.gzip,
            ..TextFacts::default()
        };
        Self {
            // A line of client.txt has 57 bytes; too large a guess costs no memory until used.
            ast: Ast { lines: Vec::with_capacity(source.bytes.len() / 48), ..Ast::default() },
            table: NameTable::new(),
            open: Vec::new(),
            repeat: None,
            late: Vec::new(),
            ops: 0,
            prepared_ops: 0,
            last_set: 0,
            has_groups: false,
            paths_seen: 0,
            facts,
        }
    }

    fn line(
        &mut self,
        line: Line<'t>,
        split: LineResult<()>,
        tokens: &mut Vec<Token>,
    ) -> LineResult<()> {
        if let Err(fault) = split
            && !is_pattern_line(line.bytes, tokens)
        {
            return Err(fault);
        }
        match tokens.first() {
            None => self.facts.blank += 1,
            Some(first) if first.raw(line.bytes).starts_with(b"#") => self.facts.comments += 1,
            Some(_) => return self.timed(line, tokens),
        }
        Ok(())
    }

    /// Takes a timestamp off and hands on the rest.
    fn timed(&mut self, line: Line<'t>, tokens: &[Token]) -> LineResult<()> {
        let Some((first, rest)) = tokens.split_first() else {
            return Ok(());
        };
        match first.raw(line.bytes) {
            [b'0'..=b'9' | b'.', ..] => {}
            [b'-', b'0'..=b'9' | b'.', ..] => {
                return fault(first.at(), "a negative timestamp", TIMESTAMP);
            }
            _ => return self.word(line, None, tokens),
        }
        let Some(nanos) = number::timestamp(first.raw(line.bytes)) else {
            let message = format!("{} is no timestamp", first.show(line.bytes));
            return fault(first.at(), message, TIMESTAMP);
        };
        if rest.is_empty() {
            return fault(first.end(), "a timestamp alone", "an operation after the timestamp");
        }
        self.word(line, Some(nanos), rest)
    }

    fn word(&mut self, line: Line<'t>, time: Option<u64>, tokens: &[Token]) -> LineResult<()> {
        if time.is_some() && self.open.first().is_some_and(|open| open.word == "PREPARE") {
            return fault(0, "a timestamp within PREPARE", "the line without it");
        }
        let is_group = |open: &&Open<'t>| matches!(open.word, "CHOOSE" | "SHUFFLE");
        if let Some(group) = time.and_then(|_| self.open.iter().find(is_group)) {
            return fault(0, format!("a timestamp within {}", group.word), "the line without it");
        }
        let word = tokens[0].raw(line.bytes);
        if let Some(kind) = OpKind::from_bytes(word) {
            let op = self.op(line, kind, tokens)?;
            self.push(line, time, Node::Op(op));
            self.ops += 1;
            self.repeat = None;
            return Ok(());
        }
        if word.eq_ignore_ascii_case(b"sleep") {
            return self.sleep(line, time, tokens);
        }
        self.directive(line, time, tokens)
    }

    pub(super) fn push(&mut self, line: Line<'t>, time: Option<u64>, node: Node) {
        self.ast.lines.push(Tree::new(line.number, time, node));
    }

    /// Remembers that the line just pushed needs another one.
    pub(super) fn opened(&self, word: &'static str, line: Line<'t>, at: usize) -> Open<'t> {
        Open { word, line, at, index: self.ast.lines.len() - 1 }
    }

    /// The line after a REPEAT is bad: the REPEAT must not catch the next one.
    pub(super) fn drop_repeat(&mut self) -> Option<Open<'t>> {
        let repeat = self.repeat.take()?;
        self.ast.lines.remove(repeat.index);
        Some(repeat)
    }

    fn refuse_dialect(
        &self,
        file: &str,
        line: Line<'t>,
        tokens: &[Token],
    ) -> Result<(), LoadError> {
        let Some(first) = tokens.first() else {
            return Ok(());
        };
        let timed = number::timestamp(first.raw(line.bytes)).is_some();
        let tokens = &tokens[usize::from(timed)..];
        let Some(dialect) = dialect::recognise(tokens, line.bytes, self.ops > 0) else {
            return Ok(());
        };
        let fault = Fault {
            at: tokens[0].at(),
            message: dialect.message(),
            expected: dialect.hint().to_owned(),
        };
        let mut one = Diagnostics::default();
        one.push(|| Diagnostic::new(file, line.number, line.bytes, fault));
        Err(LoadError::Lines(one))
    }

    /// Loops, blocks and a REPEAT that the file does not end. They leave the tree, so that a
    /// lenient reader goes on without them.
    fn close_open(&mut self, file: &str, bad: &mut Diagnostics) {
        let open = self.open.drain(..).chain(self.repeat.take());
        let open: Vec<Open<'t>> = open.collect();
        for Open { word, line, at, .. } in &open {
            let (message, expected) = match *word {
                "LOOP" => ("this LOOP is not closed".to_owned(), "ENDLOOP"),
                "REPEAT" => ("no operation follows this REPEAT".to_owned(), "an operation"),
                word => (format!("this {word} is not closed"), "END"),
            };
            let expected = format!("{expected} before the end of the file");
            bad.push(|| {
                Diagnostic::new(file, line.number, line.bytes, Fault { at: *at, message, expected })
            });
        }
        for Open { index, .. } in open.iter().rev() {
            self.ast.lines.remove(*index);
        }
    }

    fn check_late(&mut self, file: &str, bad: &mut Diagnostics) {
        if self.late.is_empty() {
            return;
        }
        let slots = bounds::slots(&self.ast);
        for late in &self.late {
            if let Err(fault) = late.check(&self.ast, &slots) {
                bad.push(|| Diagnostic::new(file, late.line.number, late.line.bytes, *fault));
            }
        }
    }
}

const TIMESTAMP: &str = "seconds since the start of the pass, like 12.5";

/// Whether it is a WRITEPATTERN line: quotes in it are text, so it is split anew without them.
fn is_pattern_line(line: &[u8], tokens: &mut Vec<Token>) -> bool {
    if line.len() > lexer::MAX_LINE {
        return false;
    }
    let mut plain = Vec::new();
    lexer::split_unquoted(line, &mut plain);
    let is_word = |token: &Token| token.raw(line) == b"WRITEPATTERN";
    let found = match plain.as_slice() {
        [first, ..] if is_word(first) => true,
        [time, second, ..] => number::timestamp(time.raw(line)).is_some() && is_word(second),
        _ => false,
    };
    if found {
        *tokens = plain;
    }
    found
}

/// A time that the line does not have, for tests and the printer.
pub(super) const fn has_time(time: u64) -> bool {
    time != Program::NO_TIME
}
