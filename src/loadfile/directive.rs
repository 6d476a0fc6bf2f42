//! Lines that are no operation: loops and blocks, synchronisation, strings.

use super::ast::Node;
use super::error::{LineResult, fault};
use super::group::{MAX_RUNS, MAX_WEIGHT};
use super::lexer::{self, Line, Token};
use super::parser::{MAX_DEPTH, Parser};
use super::{number, template};
use crate::op::OpKind;

/// Most RANDOMSTRING lines: each path with a string is checked against all of them.
const MAX_TEMPLATES: usize = 1000;

const WORDS: &[&str] = &[
    "LOOP",
    "ENDLOOP",
    "REPEAT",
    "SLEEP",
    "SETSP",
    "WAITSP",
    "WRITEPATTERN",
    "RANDOMSTRING",
    "PREPARE",
    "END",
    "PHASE",
    "CHOOSE",
    "SHUFFLE",
    "POOL",
    "SET",
];

/// Words that recorders of loadfiles wrote and no dbench ever played.
const RECORDED: &[&str] = &["Chkpath", "Checkdir", "SET_PATH_INFORMATION"];

impl<'t> Parser<'t> {
    /// Reads a line that does not start with an operation's word.
    pub(super) fn directive(
        &mut self,
        line: Line<'t>,
        time: Option<u64>,
        tokens: &[Token],
    ) -> LineResult<()> {
        let word = tokens[0];
        let text = word.text(line.bytes);
        if !WORDS.iter().any(|known| known.as_bytes() == text.as_ref()) {
            return unknown(word, line);
        }
        let misplaced = self.repeat_before(word, line);
        self.known(line, time, word, &tokens[1..])?;
        misplaced
    }

    fn known(
        &mut self,
        line: Line<'t>,
        time: Option<u64>,
        word: Token,
        args: &[Token],
    ) -> LineResult<()> {
        let text = word.text(line.bytes);
        let is_instant = matches!(
            text.as_ref(),
            b"PREPARE" | b"END" | b"PHASE" | b"CHOOSE" | b"SHUFFLE" | b"POOL" | b"SET"
        );
        if is_instant && time.is_some() {
            return fault(0, "a timestamp before a word that no time belongs to", "the word alone");
        }
        match text.as_ref() {
            b"LOOP" => self.block(line, time, word, args, "LOOP", "LOOP <rounds>"),
            b"CHOOSE" => self.block(line, time, word, args, "CHOOSE", "CHOOSE <weight>"),
            b"SHUFFLE" => self.block(line, time, word, args, "SHUFFLE", "SHUFFLE <runs>"),
            b"PREPARE" => self.block(line, time, word, args, "PREPARE", "PREPARE"),
            b"ENDLOOP" => self.end(line, time, word, args, "ENDLOOP"),
            b"END" => self.end(line, time, word, args, "END"),
            b"REPEAT" => self.repeat(line, time, word, args),
            b"SETSP" => self.set_sp(line, time, args),
            b"WAITSP" => self.wait_sp(line, time, args),
            b"WRITEPATTERN" => self.write_pattern(line, time, word),
            b"RANDOMSTRING" => self.random_string(line, time, args),
            b"SET" => self.set(line, word),
            b"PHASE" => self.phase(line, word, args),
            _ => self.pool(line, word, args),
        }
    }

    /// REPEAT is for operations only. The REPEAT goes and the directive stays, so that a LOOP
    /// keeps its ENDLOOP and one mistake makes one message.
    pub(super) fn repeat_before(&mut self, word: Token, line: Line<'t>) -> LineResult<()> {
        let Some(repeat) = self.drop_repeat() else {
            return Ok(());
        };
        let message = format!(
            "the REPEAT of line {} stands before {}",
            repeat.line.number,
            word.show(line.bytes)
        );
        fault(word.at(), message, "an operation after REPEAT; repeat several lines with LOOP")
    }

    fn block(
        &mut self,
        line: Line<'t>,
        time: Option<u64>,
        word: Token,
        args: &[Token],
        name: &'static str,
        usage: &str,
    ) -> LineResult<()> {
        let node = match name {
            "LOOP" => Node::Loop(count(line, args, u32::MAX, usage)?),
            "CHOOSE" => Node::Choose(count(line, args, MAX_WEIGHT, usage)?),
            "SHUFFLE" => Node::Shuffle(count(line, args, MAX_RUNS as u32, usage)?),
            _ => {
                arguments(line, args, 0, usage)?;
                self.stands_above(
                    word,
                    "PREPARE",
                    "one PREPARE, above all other lines but SET and POOL",
                )?;
                Node::Prepare
            }
        };
        if self.open.len() == MAX_DEPTH {
            let message = format!("{name} is nested too deep");
            return fault(word.at(), message, format!("at most {MAX_DEPTH} levels"));
        }
        self.has_groups |= matches!(node, Node::Choose(_) | Node::Shuffle(_));
        self.push(line, time, node);
        self.open.push(self.opened(name, line, word.at()));
        Ok(())
    }

    /// What a client does once cannot stand behind what it does in every pass, and names must be
    /// known before they are used.
    pub(super) fn stands_above(&self, word: Token, name: &str, expected: &str) -> LineResult<()> {
        let declares = |line: &super::ast::Line| matches!(line.node, Node::Pool(_));
        match self.ast.lines.iter().find(|line| !declares(line)) {
            None => Ok(()),
            Some(above) => {
                let message = format!("{name} below line {}", above.number);
                fault(word.at(), message, expected)
            }
        }
    }

    fn end(
        &mut self,
        line: Line<'t>,
        time: Option<u64>,
        word: Token,
        args: &[Token],
        name: &'static str,
    ) -> LineResult<()> {
        arguments(line, args, 0, name)?;
        let is_loop = name == "ENDLOOP";
        let word_of_block = match self.open.last() {
            Some(open) if (open.word == "LOOP") == is_loop => {
                let word = open.word;
                self.open.pop();
                word
            }
            Some(open) => {
                let message =
                    format!("{name} inside the {} of line {}", open.word, open.line.number);
                let expected = if is_loop { "END first" } else { "ENDLOOP first" };
                return fault(word.at(), message, expected);
            }
            None => {
                let start = if is_loop { "LOOP" } else { "PREPARE, CHOOSE or SHUFFLE" };
                let message = format!("{name} without {start}");
                return fault(word.at(), message, format!("a {start} above"));
            }
        };
        self.push(
            line,
            time,
            match word_of_block {
                "LOOP" => Node::EndLoop,
                "PREPARE" => Node::EndPrepare,
                _ => Node::EndBlock,
            },
        );
        if word_of_block == "PREPARE" {
            self.prepared_ops = self.ops;
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        line: Line<'t>,
        time: Option<u64>,
        word: Token,
        args: &[Token],
    ) -> LineResult<()> {
        let rounds = count(line, args, u32::MAX, "REPEAT <rounds>")?;
        self.push(line, time, Node::Repeat(rounds));
        self.repeat = Some(self.opened("REPEAT", line, word.at()));
        Ok(())
    }

    fn set_sp(&mut self, line: Line<'t>, time: Option<u64>, args: &[Token]) -> LineResult<()> {
        arguments(line, args, 1, "SETSP <value>")?;
        let value = self.own_number(line, args[0], "value")?;
        self.push(line, time, Node::SetSp(value));
        Ok(())
    }

    fn wait_sp(&mut self, line: Line<'t>, time: Option<u64>, args: &[Token]) -> LineResult<()> {
        arguments(line, args, 2, "WAITSP <client> <value>")?;
        let child = self.own_number(line, args[0], "client")?;
        let value = self.own_number(line, args[1], "value")?;
        self.push(line, time, Node::WaitSp(child, value));
        Ok(())
    }

    /// The rest of the line is the pattern, whatever it holds; the line end belongs to it.
    fn write_pattern(&mut self, line: Line<'t>, time: Option<u64>, word: Token) -> LineResult<()> {
        let rest = line.bytes.get(word.end() + 1..).unwrap_or(&[]);
        if rest.iter().all(|&b| lexer::is_separator(b)) {
            let at = line.bytes.len();
            return fault(at, "WRITEPATTERN without a text", "WRITEPATTERN <text>");
        }
        let mut pattern = rest.to_vec();
        pattern.push(b'\n');
        let index = match self.ast.patterns.last() {
            Some(last) if **last == *pattern => self.ast.patterns.len() - 1,
            _ => {
                self.ast.patterns.push(pattern.into());
                self.ast.patterns.len() - 1
            }
        };
        self.push(line, time, Node::WritePattern(index as u32));
        Ok(())
    }

    fn random_string(
        &mut self,
        line: Line<'t>,
        time: Option<u64>,
        args: &[Token],
    ) -> LineResult<()> {
        let usage = "RANDOMSTRING <0-9> \"text[set]text\"";
        arguments(line, args, 2, usage)?;
        let index = args[0].text(line.bytes);
        let slot = match number::literal(&index) {
            Some(slot @ 0..=9) => slot as u8,
            _ => {
                let message = format!("there is no string {}", args[0].show(line.bytes));
                return fault(args[0].at(), message, "a number from 0 to 9");
            }
        };
        if self.ast.templates.len() == MAX_TEMPLATES {
            let message = format!("more than {MAX_TEMPLATES} RANDOMSTRING lines");
            return fault(args[0].at(), message, "fewer; a LOOP draws a string anew each round");
        }
        let at = args[1].at() + usize::from(args[1].is_quoted());
        let template = template::parse(&args[1].text(line.bytes), at)?;
        self.ast.templates.push(template);
        self.table.define(slot);
        let index = self.ast.templates.len() as u32 - 1;
        self.push(line, time, Node::RandomString(slot, index));
        Ok(())
    }

    /// What SET lines say is in the text already: see module `parameters`.
    fn set(&self, line: Line<'t>, word: Token) -> LineResult<()> {
        if line.number <= self.last_set {
            return Ok(());
        }
        fault(word.at(), "SET below other lines", "SET lines above all others but comments")
    }
}

/// How often, or how heavy: 1 or more.
fn count(line: Line<'_>, args: &[Token], most: u32, usage: &str) -> LineResult<u32> {
    arguments(line, args, 1, usage)?;
    let value = number::literal(&args[0].text(line.bytes));
    match value.and_then(|value| u32::try_from(value).ok()) {
        Some(value) if value > 0 && value <= most => Ok(value),
        _ => {
            let message = format!("{} is not a count", args[0].show(line.bytes));
            fault(args[0].at(), message, format!("a number from 1 to {most}, as in {usage}"))
        }
    }
}

pub(super) fn arguments(
    line: Line<'_>,
    args: &[Token],
    want: usize,
    usage: &str,
) -> LineResult<()> {
    if let Some(extra) = args.get(want) {
        return fault(extra.at(), format!("{} is too much", extra.show(line.bytes)), usage);
    }
    if args.len() < want {
        return fault(line.bytes.len(), "something is missing at the end", usage);
    }
    Ok(())
}

fn unknown<T>(word: Token, line: Line<'_>) -> LineResult<T> {
    let text = word.text(line.bytes);
    let message = format!("unknown operation {}", word.show(line.bytes));
    let same = |known: &&&str| known.as_bytes().eq_ignore_ascii_case(&text);
    if let Some(known) = WORDS.iter().find(same) {
        return fault(word.at(), message, format!("{known}, in capitals"));
    }
    if RECORDED.iter().find(same).is_some() {
        let hint = "an operation that dbench plays; recorders wrote this one, and no dbench ever \
                    played it: remove the line, or skip it with --lenient";
        return fault(word.at(), message, hint);
    }
    let ops: Vec<&str> = OpKind::ALL.iter().map(|kind| kind.word()).collect();
    fault(word.at(), message, format!("one of {}, Sleep, {}", ops.join(", "), WORDS.join(", ")))
}
