//! RANDOMSTRING texts, and what a name that contains one can become.

use super::error::{LineResult, fault};
use super::program::{Piece, Program, Template};

const EXPECTED: &str = "RANDOMSTRING <0-9> \"text[set]text\"";

/// Reads `text[set]text`; `at` is where it stands in the line.
///
/// A `$n` inside stays text: dbench replaces it again and again and may never end.
pub(super) fn parse(text: &[u8], at: usize) -> LineResult<Template> {
    let mut pieces = Vec::new();
    let mut plain = Vec::new();
    let mut i = 0;
    while i < text.len() {
        match text[i] {
            0 => return fault(at + i, "a NUL byte in a string", EXPECTED),
            b'[' => {
                let set = set_at(text, i, at)?;
                if !plain.is_empty() {
                    pieces.push(Piece::Literal(std::mem::take(&mut plain).into()));
                }
                i += set.len() + 2;
                pieces.push(Piece::OneOf(slashes(set).into()));
            }
            byte => {
                plain.push(if byte == b'\\' { b'/' } else { byte });
                i += 1;
            }
        }
    }
    if !plain.is_empty() {
        pieces.push(Piece::Literal(plain.into()));
    }
    let template = Template { pieces: pieces.into() };
    match template.max_len() {
        0 => fault(at, "the string is empty", EXPECTED),
        len if len > Program::MAX_STRING => fault(
            at,
            format!("the string has {len} bytes"),
            format!("at most {} bytes", Program::MAX_STRING),
        ),
        _ => Ok(template),
    }
}

/// The set whose `[` is at `i`.
fn set_at(text: &[u8], i: usize, at: usize) -> LineResult<&[u8]> {
    let rest = &text[i + 1..];
    match rest.iter().position(|&b| b == b']') {
        None => fault(at + i, "this `[` is not closed", "a `]` after the characters to draw from"),
        Some(0) => fault(at + i, "a set without characters", "at least one character in `[]`"),
        Some(len) if rest[..len].contains(&0) => fault(at + i, "a NUL byte in a set", EXPECTED),
        Some(len) => Ok(&rest[..len]),
    }
}

fn slashes(set: &[u8]) -> Vec<u8> {
    set.iter().map(|&b| if b == b'\\' { b'/' } else { b }).collect()
}

/// What the component that is being written may look like so far; several at once, since sets and
/// redefined strings leave a choice.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    start: bool,
    dot: bool,
    dots: bool,
    other: bool,
    /// Longest it can be.
    component: usize,
    /// Longest the whole path can be.
    pub(super) total: usize,
    /// Longest of the components that ended.
    pub(super) longest: usize,
    /// A component can be `.` or `..`.
    pub(super) dotted: bool,
}

impl Shape {
    pub(super) fn new() -> Self {
        Self {
            start: true,
            dot: false,
            dots: false,
            other: false,
            component: 0,
            total: 0,
            longest: 0,
            dotted: false,
        }
    }

    /// A byte that is one of `set` follows.
    pub(super) fn push(&mut self, set: &[u8]) {
        let slash = set.contains(&b'/');
        let dot = set.contains(&b'.');
        let other = set.iter().any(|b| !matches!(b, b'/' | b'.'));
        let any = self.start || self.dot || self.dots || self.other;
        self.total += 1;
        if slash {
            self.end();
        }
        self.component += 1;
        *self = Self {
            start: slash && any,
            dot: dot && self.start,
            dots: dot && self.dot,
            other: (other && any) || (dot && (self.dots || self.other)),
            // When the slash is only one of the choices the component may go on.
            component: if slash && !dot && !other { 0 } else { self.component },
            ..*self
        };
    }

    /// The component ends here.
    pub(super) fn end(&mut self) {
        self.dotted |= self.dot || self.dots;
        self.longest = self.longest.max(self.component);
    }

    /// One of several strings follows.
    pub(super) fn push_one_of(&mut self, templates: &[&Template]) {
        let before = *self;
        let mut after: Option<Self> = None;
        for template in templates {
            let mut shape = before;
            for piece in &template.pieces {
                match piece {
                    Piece::Literal(bytes) => bytes.iter().for_each(|b| shape.push(&[*b])),
                    Piece::OneOf(set) => shape.push(set),
                }
            }
            after = Some(after.map_or(shape, |other| other.or(shape)));
        }
        *self = after.unwrap_or(before);
    }

    fn or(self, other: Self) -> Self {
        Self {
            start: self.start || other.start,
            dot: self.dot || other.dot,
            dots: self.dots || other.dots,
            other: self.other || other.other,
            component: self.component.max(other.component),
            total: self.total.max(other.total),
            longest: self.longest.max(other.longest),
            dotted: self.dotted || other.dotted,
        }
    }
}

/// Largest number that a string of this template can spell, or `None` when it can be something
/// else than up to 18 decimal digits.
pub(super) fn digits(template: &Template) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for piece in &template.pieces {
        match piece {
            Piece::Literal(bytes) => out.extend_from_slice(bytes),
            Piece::OneOf(set) => out.extend(set.iter().max()),
        }
        let set_is_digits = match piece {
            Piece::Literal(_) => true,
            Piece::OneOf(set) => set.iter().all(u8::is_ascii_digit),
        };
        if !set_is_digits {
            return None;
        }
    }
    (out.len() <= 18 && out.iter().all(u8::is_ascii_digit)).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn can_be_dotted(texts: &[&str]) -> bool {
        let templates: Vec<_> = texts.iter().map(|t| parse(t.as_bytes(), 0).unwrap()).collect();
        let mut shape = Shape::new();
        shape.push(b"/");
        shape.push_one_of(&templates.iter().collect::<Vec<_>>());
        shape.end();
        shape.dotted
    }

    #[test]
    fn text_and_sets() {
        assert_eq!(
            *parse(b"a[xy]b", 0).unwrap().pieces,
            [
                Piece::Literal((*b"a").into()),
                Piece::OneOf((*b"xy").into()),
                Piece::Literal((*b"b").into())
            ]
        );
        assert_eq!(*parse(b"\\$1]", 0).unwrap().pieces, [Piece::Literal((*b"/$1]").into())]);
    }

    #[test]
    fn faults_have_their_column() {
        assert_eq!(parse(b"x[ab", 10).unwrap_err().at, 11);
        assert_eq!(parse(b"x[]", 10).unwrap_err().at, 11);
        assert!(parse(b"", 0).is_err());
        assert!(parse(&[b'x'; 255], 0).is_ok());
        assert!(parse(&[b'x'; 256], 0).is_err());
    }

    #[test]
    fn a_string_that_can_leave_the_directory_is_seen() {
        assert!(can_be_dotted(&[".."]));
        assert!(can_be_dotted(&["[.a][.b]"]));
        assert!(can_be_dotted(&["x/.[./]"]));
        assert!(can_be_dotted(&["ok", "."]));
        assert!(!can_be_dotted(&["...", ".a", "a..", "x[/.]y"]));
    }
}
