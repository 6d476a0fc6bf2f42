//! What can be wrong with a loadfile, and how it is told: place, line, fault, remedy.

use std::fmt;

use thiserror::Error;

/// How many faults are told in full.
pub const MAX_DIAGNOSTICS: usize = 20;
/// How much of a long line is shown.
const SHOWN: usize = 100;

/// Why a loadfile cannot be used.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file cannot be read or inflated.
    #[error("cannot read loadfile {file}: {source}")]
    Read {
        /// The file's name.
        file: String,
        /// The reason.
        source: std::io::Error,
    },
    /// There is neither a file nor a built-in load of that name.
    #[error("no loadfile {file} here, and no built-in load of that name; those are {names}")]
    Unknown {
        /// The name.
        file: String,
        /// Those that exist.
        names: String,
    },
    /// The file is larger than a loadfile may be.
    #[error("loadfile {file} has more than {limit} bytes (inflated); split it, or use LOOP")]
    TooLarge {
        /// The file's name.
        file: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// The file has more lines than a loadfile may have, blank ones and comments aside.
    #[error("loadfile {file} has more than {limit} lines; split it, or use LOOP")]
    TooLong {
        /// The file's name.
        file: String,
        /// The limit.
        limit: usize,
    },
    /// Lines of the file are wrong.
    #[error("{0}")]
    Lines(Diagnostics),
}

/// The faults of a file in the order of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics {
    /// The first [`MAX_DIAGNOSTICS`] of them.
    pub kept: Vec<Diagnostic>,
    /// How many more there are.
    pub more: u64,
}

/// One fault and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The loadfile's name.
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// The line, or the part of a long line around the column.
    pub text: String,
    /// Where in `text` the column is, in characters from 0.
    pub caret: usize,
    /// What is wrong.
    pub message: String,
    /// What was expected, or what to do.
    pub expected: String,
}

/// A fault within a line, before it is known which line that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// Offset in the line, from 0.
    pub(super) at: usize,
    pub(super) message: String,
    pub(super) expected: String,
}

/// Boxed: the good case should not carry the size of the bad one around.
pub(super) type LineResult<T> = Result<T, Box<Fault>>;

/// Shorthand for a fault at an offset of the line.
pub(super) fn fault<T>(
    at: usize,
    message: impl Into<String>,
    expected: impl Into<String>,
) -> LineResult<T> {
    Err(Box::new(Fault { at, message: message.into(), expected: expected.into() }))
}

impl Diagnostics {
    /// Keeps a fault, or counts it when enough are kept.
    pub fn push(&mut self, make: impl FnOnce() -> Diagnostic) {
        if self.kept.len() < MAX_DIAGNOSTICS {
            self.kept.push(make());
        } else {
            self.more += 1;
        }
    }

    /// Number of faults.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.kept.len() as u64 + self.more
    }
}

impl Diagnostic {
    pub(super) fn new(file: &str, line: u32, bytes: &[u8], fault: Fault) -> Self {
        let (text, caret) = excerpt(bytes, fault.at);
        Self {
            file: file.to_owned(),
            line,
            column: u32::try_from(fault.at + 1).unwrap_or(u32::MAX),
            text,
            caret,
            message: fault.message,
            expected: fault.expected,
        }
    }
}

/// The part of a line that is shown, and where its fault is in characters. Control characters
/// become blanks (tabs too): a loadfile must not be able to move the cursor.
fn excerpt(line: &[u8], at: usize) -> (String, usize) {
    let at = at.min(line.len());
    let start = if line.len() <= SHOWN || at < SHOWN - 20 { 0 } else { at - SHOWN / 2 };
    let end = line.len().min(start + SHOWN);
    let clean = |bytes: &[u8]| -> String {
        String::from_utf8_lossy(bytes)
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect()
    };
    let before = clean(&line[start..at]);
    let dots = if start > 0 { "..." } else { "" };
    let more = if end < line.len() { "..." } else { "" };
    let caret = dots.len() + before.chars().count();
    (format!("{dots}{before}{}{more}", clean(&line[at..end])), caret)
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, text, caret, message, expected } = self;
        writeln!(f, "{file}:{line}:{column}: {message}")?;
        writeln!(f, "    {text}")?;
        write!(f, "    {:caret$}^ expected {expected}", "")
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, diagnostic) in self.kept.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{diagnostic}")?;
        }
        if self.more > 0 {
            write!(f, "\nand {} more", self.more)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &[u8], at: usize) -> Diagnostic {
        Diagnostic::new("x.load", 7, line, Fault { at, message: "m".into(), expected: "e".into() })
    }

    #[test]
    fn the_caret_stands_below_the_fault() {
        let text = shown(b"Close abc NT_STATUS_OK", 6).to_string();
        assert_eq!(text, "x.load:7:7: m\n    Close abc NT_STATUS_OK\n          ^ expected e");
    }

    #[test]
    fn long_lines_and_odd_bytes_are_cut_and_cleaned() {
        let mut line = vec![b'a'; 5000];
        line[4000] = b'!';
        let d = shown(&line, 4000);
        assert!(d.text.len() <= SHOWN + 6);
        assert_eq!(d.text.chars().nth(d.caret), Some('!'));
        assert_eq!(d.column, 4001);
        assert_eq!(shown(b"a\x1b[2J\t\xff!", 7).text, "a [2J \u{fffd}!");
        assert_eq!(shown(b"a\x1b[2J\t\xff!", 7).caret, 7);
    }

    #[test]
    fn twenty_are_kept_and_the_rest_counted() {
        let mut all = Diagnostics::default();
        for _ in 0..25 {
            all.push(|| shown(b"x", 0));
        }
        assert_eq!((all.kept.len(), all.more, all.total()), (20, 5, 25));
        assert!(all.to_string().ends_with("\nand 5 more"));
    }
}
