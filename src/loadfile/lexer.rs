//! Text to lines, a line to tokens. Bytes throughout, and nothing is copied.
//!
//! Blank and tab separate tokens, `"` starts and ends a part in which they do not. CR before LF
//! belongs to the line end, and the last line needs none.

use std::borrow::Cow;
use std::io::BufRead;

use super::error::{LineResult, fault};

/// Longest line in bytes.
pub(super) const MAX_LINE: usize = 64 * 1024;

/// The lines of a text with their numbers.
pub(super) struct Lines<'t> {
    rest: &'t [u8],
    number: u32,
}

/// A line without its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'t> {
    pub(super) number: u32,
    pub(super) bytes: &'t [u8],
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        // Editors of other systems put a byte-order mark in front.
        let rest = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        Self { rest, number: 0 }
    }
}

impl<'t> Iterator for Lines<'t> {
    type Item = Line<'t>;

    fn next(&mut self) -> Option<Line<'t>> {
        if self.rest.is_empty() {
            return None;
        }
        // skip_until is the standard library's way to the C library's vectorised memchr.
        let mut after = self.rest;
        let taken = after.skip_until(b'\n').unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(taken);
        self.rest = rest;
        self.number = self.number.saturating_add(1);
        let mut line = line.strip_suffix(b"\n").unwrap_or(line);
        while let Some(shorter) = line.strip_suffix(b"\r") {
            line = shorter;
        }
        Some(Line { number: self.number, bytes: line })
    }
}

/// A token of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    start: u32,
    end: u32,
    form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// No quote anywhere.
    Plain,
    /// One pair of quotes around everything.
    Quoted,
    /// Quotes somewhere inside.
    Mixed,
}

impl Token {
    /// Offset of its first byte in the line, quote included.
    pub(super) fn at(self) -> usize {
        self.start as usize
    }

    /// Offset after its last byte.
    pub(super) fn end(self) -> usize {
        self.end as usize
    }

    pub(super) fn is_quoted(self) -> bool {
        self.form != Form::Plain
    }

    /// As it stands in the line, quotes included.
    pub(super) fn raw(self, line: &[u8]) -> &[u8] {
        &line[self.start as usize..self.end as usize]
    }

    /// Its text without quotes.
    pub(super) fn text(self, line: &[u8]) -> Cow<'_, [u8]> {
        let raw = self.raw(line);
        match self.form {
            Form::Plain => Cow::Borrowed(raw),
            Form::Quoted => Cow::Borrowed(&raw[1..raw.len() - 1]),
            Form::Mixed => Cow::Owned(raw.iter().copied().filter(|&b| b != b'"').collect()),
        }
    }

    /// Its text for a message.
    pub(super) fn show(self, line: &[u8]) -> String {
        let text = self.text(line);
        let cut = text.len().min(60);
        let dots = if cut < text.len() { "..." } else { "" };
        format!("`{}{dots}`", String::from_utf8_lossy(&text[..cut]).escape_debug())
    }
}

/// Splits a line; `tokens` is the caller's so that it need not be allocated for each line.
pub(super) fn split(line: &[u8], tokens: &mut Vec<Token>) -> LineResult<()> {
    tokens.clear();
    if line.len() > MAX_LINE {
        return fault(
            MAX_LINE,
            format!("the line has {} bytes", line.len()),
            format!("at most {MAX_LINE} bytes in a line"),
        );
    }
    let mut i = 0;
    loop {
        while i < line.len() && is_separator(line[i]) {
            i += 1;
        }
        if i == line.len() {
            return Ok(());
        }
        let token = one(line, i)?;
        i = token.end();
        tokens.push(token);
    }
}

/// Splits a line in which quotes are text: one with WRITEPATTERN.
pub(super) fn split_unquoted(line: &[u8], tokens: &mut Vec<Token>) {
    tokens.clear();
    let mut start = 0;
    for part in line.split(|&b| is_separator(b)) {
        if !part.is_empty() && start + part.len() <= MAX_LINE {
            let (start, end) = (start as u32, (start + part.len()) as u32);
            tokens.push(Token { start, end, form: Form::Plain });
        }
        start += part.len() + 1;
    }
}

pub(super) fn is_separator(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// The token that starts at `start`.
fn one(line: &[u8], start: usize) -> LineResult<Token> {
    let mut i = start;
    let mut quotes = 0usize;
    while i < line.len() && !is_separator(line[i]) {
        if line[i] == b'"' {
            quotes += 1;
            let Some(len) = line[i + 1..].iter().position(|&b| b == b'"') else {
                return fault(i, "this quote is not closed", "a second `\"` on the line");
            };
            i += len + 1;
        }
        i += 1;
    }
    let form = match quotes {
        0 => Form::Plain,
        1 if line[start] == b'"' && line[i - 1] == b'"' => Form::Quoted,
        _ => Form::Mixed,
    };
    // MAX_LINE is far below 2^32.
    Ok(Token { start: start as u32, end: i as u32, form })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        split(line.as_bytes(), &mut tokens).unwrap();
        tokens
            .iter()
            .map(|t| String::from_utf8(t.text(line.as_bytes()).into_owned()).unwrap())
            .collect()
    }

    #[test]
    fn blanks_and_tabs_separate_and_quotes_join() {
        assert_eq!(texts("  a\tb  c "), ["a", "b", "c"]);
        assert_eq!(texts("Unlink \"a /b\" 0"), ["Unlink", "a /b", "0"]);
        assert_eq!(texts("x\"y z\"w \"\""), ["xy zw", ""]);
        assert!(texts(" \t").is_empty());
    }

    #[test]
    fn quotes_are_known_and_columns_right() {
        let line = b"  Rename \"a b\" c";
        let mut tokens = Vec::new();
        split(line, &mut tokens).unwrap();
        let facts: Vec<_> = tokens.iter().map(|t| (t.at(), t.is_quoted())).collect();
        assert_eq!(facts, [(2, false), (9, true), (15, false)]);
        assert_eq!(split(b"ab \"c", &mut tokens).unwrap_err().at, 3);
        assert_eq!(split(&[b'x'; MAX_LINE + 1], &mut tokens).unwrap_err().at, MAX_LINE);
    }

    #[test]
    fn line_ends_of_all_systems() {
        let lines: Vec<_> =
            Lines::new(b"a\r\nb\n\nc").map(|l| (l.number, l.bytes.to_vec())).collect();
        assert_eq!(
            lines,
            [(1, b"a".to_vec()), (2, b"b".to_vec()), (3, b"".to_vec()), (4, b"c".to_vec())]
        );
        assert_eq!(Lines::new(b"").count(), 0);
        assert_eq!(Lines::new(b"\xef\xbb\xbfa").next().unwrap().bytes, b"a");
    }
}
