//! Text to lines, a line to tokens. Bytes throughout, and nothing is copied.
//!
//! Blank and tab separate tokens, `"` starts and ends a part in which they do not. CR before LF
//! belongs to the line end, and the last line needs none.

use std::borrow::Cow;
use std::io::BufRead;

use super::error::{LineResult, fault};

/// Longest line in bytes.
pub(super) const MAX_LINE: usize = 64 * 1024;

/// A line without its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line<'t> {
    pub(super) number: u32,
    pub(super) bytes: &'t [u8],
}

/// Goes through a text line by line. Lines and tokens are found in one go: most of a loadfile's
/// reading time is looking at its bytes.
pub(super) struct Lexer<'t> {
    rest: &'t [u8],
    number: u32,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        // Editors of other systems put a byte-order mark in front.
        let rest = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        Self { rest, number: 0 }
    }

    /// The next line, and whether it could be split. `tokens` is the caller's, so that it need
    /// not be allocated for each line; a comment has the one token `#`.
    pub(super) fn next(&mut self, tokens: &mut Vec<Token>) -> Option<(Line<'t>, LineResult<()>)> {
        tokens.clear();
        if self.rest.is_empty() {
            return None;
        }
        self.number = self.number.saturating_add(1);
        let (end, result) = split(self.rest, tokens);
        let (bytes, rest) = self.rest.split_at(end);
        self.rest = rest.get(1..).unwrap_or(&[]);
        let line = Line { number: self.number, bytes: without_cr(bytes) };
        trim_cr(line.bytes, tokens);
        let result = if end > MAX_LINE { too_long(end) } else { result };
        Some((line, result))
    }
}

fn without_cr(mut line: &[u8]) -> &[u8] {
    while let [shorter @ .., b'\r'] = line {
        line = shorter;
    }
    line
}

fn too_long(len: usize) -> LineResult<()> {
    let expected = format!("at most {MAX_LINE} bytes in a line");
    fault(MAX_LINE, format!("the line has {len} bytes"), expected)
}

/// Where the line ends that starts with the text.
fn line_end(text: &[u8]) -> usize {
    // skip_until is the standard library's way to its memchr.
    let mut after = text;
    let taken = after.skip_until(b'\n').unwrap_or(text.len());
    if text[..taken].ends_with(b"\n") { taken - 1 } else { taken }
}

/// Index of the first byte from `i` on that may end a token: blank, tab, quote, line end, and
/// the few others below `#`. Eight bytes at a time.
#[inline]
fn stop(text: &[u8], mut i: usize) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    while let Some(eight) = text.get(i..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*eight);
        // The top bit of each byte that is less than `#`; the lowest one set is exact.
        let less = word.wrapping_sub(ONES * b'#' as u64) & !word & (ONES << 7);
        if less != 0 {
            return i + less.trailing_zeros() as usize / 8;
        }
        i += 8;
    }
    while i < text.len() && text[i] >= b'#' {
        i += 1;
    }
    i
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
    #[inline]
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

    /// As it stands in the line when it has no quotes: the quick way to numbers and words.
    #[inline]
    pub(super) fn plain(self, line: &[u8]) -> Option<&[u8]> {
        (self.form == Form::Plain).then(|| self.raw(line))
    }

    /// Its text for a message.
    pub(super) fn show(self, line: &[u8]) -> String {
        let text = self.text(line);
        let cut = text.len().min(60);
        let dots = if cut < text.len() { "..." } else { "" };
        format!("`{}{dots}`", String::from_utf8_lossy(&text[..cut]).escape_debug())
    }
}

/// Splits the line that starts with the text, and says where it ends.
#[inline]
fn split(text: &[u8], tokens: &mut Vec<Token>) -> (usize, LineResult<()>) {
    let mut i = 0;
    loop {
        while i < text.len() && is_separator(text[i]) {
            i += 1;
        }
        match text.get(i) {
            None | Some(b'\n') => return (i, Ok(())),
            // Too long, and its tokens might take all memory: only its end matters.
            Some(_) if i > MAX_LINE => return (i + line_end(&text[i..]), Ok(())),
            Some(b'#') if tokens.is_empty() => {
                let end = i + line_end(&text[i..]);
                tokens.push(Token { start: i as u32, end: i as u32 + 1, form: Form::Plain });
                return (end, Ok(()));
            }
            Some(_) => {}
        }
        match one(text, i) {
            Ok(token) => {
                i = token.end();
                tokens.push(token);
            }
            Err(fault) => return (i + line_end(&text[i..]), Err(fault)),
        }
    }
}

/// CRs at the end of a line belong to the line end, not to its last token.
fn trim_cr(line: &[u8], tokens: &mut Vec<Token>) {
    let Some(last) = tokens.last_mut() else {
        return;
    };
    if last.end() <= line.len() {
        return;
    }
    if last.at() >= line.len() {
        tokens.pop();
        return;
    }
    last.end = line.len() as u32;
    let raw = last.raw(line);
    let quotes = raw.iter().filter(|&&b| b == b'"').count();
    if last.form == Form::Mixed && quotes == 2 && raw.starts_with(b"\"") && raw.ends_with(b"\"") {
        last.form = Form::Quoted;
    }
}

/// The token that starts at `start`.
#[inline]
fn one(text: &[u8], start: usize) -> LineResult<Token> {
    let mut i = start;
    let mut quotes = 0u32;
    loop {
        i = stop(text, i);
        match text.get(i) {
            None | Some(b' ' | b'\t' | b'\n') => break,
            Some(b'"') => {
                quotes += 1;
                i = closing(text, i)? + 1;
            }
            Some(_) => i += 1,
        }
    }
    let form = match quotes {
        0 => Form::Plain,
        1 if text[start] == b'"' && text[i - 1] == b'"' => Form::Quoted,
        _ => Form::Mixed,
    };
    // A text has at most 1 GiB.
    Ok(Token { start: start as u32, end: i as u32, form })
}

/// The quote that closes the one at `open`.
#[inline]
fn closing(text: &[u8], open: usize) -> LineResult<usize> {
    let mut i = open + 1;
    loop {
        i = stop(text, i);
        match text.get(i) {
            Some(b'"') => return Ok(i),
            None | Some(b'\n') => {
                return fault(open, "this quote is not closed", "a second `\"` on the line");
            }
            Some(_) => i += 1,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    type Split = (Vec<String>, Option<usize>);

    /// The tokens of each line, and where its fault is.
    fn lines(text: &[u8]) -> Vec<Split> {
        let (mut lexer, mut tokens, mut out) = (Lexer::new(text), Vec::new(), Vec::new());
        while let Some((line, result)) = lexer.next(&mut tokens) {
            let text = |t: &Token| String::from_utf8(t.text(line.bytes).into_owned()).unwrap();
            out.push((tokens.iter().map(text).collect(), result.err().map(|fault| fault.at)));
        }
        out
    }

    fn texts(line: &str) -> Vec<String> {
        lines(line.as_bytes()).remove(0).0
    }

    #[test]
    fn blanks_and_tabs_separate_and_quotes_join() {
        assert_eq!(texts("  a\tb  c "), ["a", "b", "c"]);
        assert_eq!(texts("Unlink \"a /b\" 0"), ["Unlink", "a /b", "0"]);
        assert_eq!(texts("x\"y z\"w \"\""), ["xy zw", ""]);
        assert_eq!(
            texts("a!b\x01c averyveryverylongtoken! z"),
            ["a!b\x01c", "averyveryverylongtoken!", "z"]
        );
        assert!(texts(" \t").is_empty());
    }

    #[test]
    fn quotes_are_known_and_columns_right() {
        let mut tokens = Vec::new();
        let _ = Lexer::new(b"  Rename \"a b\" c\n").next(&mut tokens);
        let facts: Vec<_> = tokens.iter().map(|t| (t.at(), t.is_quoted())).collect();
        assert_eq!(facts, [(2, false), (9, true), (15, false)]);
        assert_eq!(lines(b"ab \"c\nd")[0].1, Some(3));
        assert_eq!(lines(b"ab \"c\nd")[1].0, ["d"]);
        assert_eq!(lines(&[b'x'; MAX_LINE + 1])[0].1, Some(MAX_LINE));
        assert_eq!(lines(&[b'x'; MAX_LINE])[0].1, None);
    }

    #[test]
    fn line_ends_of_all_systems() {
        let found: Vec<_> = lines(b"a\r\nb \r\r\n\n\"c\"\r\n# \"x\nd\re\r")
            .into_iter()
            .map(|(tokens, fault)| (tokens.join(","), fault))
            .collect();
        let expected = ["a", "b", "", "c", "#", "d\re"].map(|text| (text.to_owned(), None));
        assert_eq!(found, expected);
        assert!(lines(b"").is_empty());
        assert_eq!(lines(b"\xef\xbb\xbfa")[0].0, ["a"]);
        assert_eq!(lines(b"\n\n").len(), 2);
        assert_eq!(lines(b"\r\r\na \r").iter().map(|l| l.0.len()).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(
            lines(b"a \"\r\nb"),
            [(vec!["a".to_owned()], Some(2)), (vec!["b".to_owned()], None)]
        );
    }

    /// Long lines must cost neither memory nor the square of their length in time.
    #[test]
    fn hostile_lines_are_cheap() {
        let mut tokens = Vec::new();
        for pattern in ["a ", "\r", "\"", "!", "\t\r"] {
            let text = pattern.repeat(4_000_000) + "x\nlast";
            let mut lexer = Lexer::new(text.as_bytes());
            assert!(lexer.next(&mut tokens).is_some_and(|(_, result)| result.is_err()));
            assert!(tokens.len() <= MAX_LINE);
            assert!(lexer.next(&mut tokens).is_some_and(|(line, _)| line.bytes == b"last"));
        }
    }
}
