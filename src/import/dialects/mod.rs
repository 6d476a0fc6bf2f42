//! Loadfiles of other kinds to loadfiles of ours: what dbench 1 and 2, smbtorture and Samba's recorder wrote, and
//! dbench 5's NFS calls.
//!
//! ```text
//! tokens  lines taken apart      nbench, smb, nfs  what a line becomes
//! world   which names exist      start             what must be there before
//! writer  lines of the load      tally             what became of each line
//! ```
//!
//! The text and the load are in memory as a whole.

mod nbench;
mod nfs;
mod smb;
mod start;
mod tally;
mod tokens;
mod world;
mod writer;

pub use tally::{Count, Tally};

use crate::loadfile::{LoadError, Options, parse_bytes};
use nbench::Handles;
use smb::Replies;
use tally::Fate;
use tokens::Token;
use world::World;
use writer::Writer;

/// Which kind of loadfile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// dbench 1 and 2, smbtorture, Samba's recorder.
    Nbench,
    /// The NFS backend of dbench 5.
    Nfs,
}

/// Why there is no load.
#[derive(Debug, thiserror::Error)]
pub enum DialectError {
    /// No line became an operation.
    #[error("none of its {} lines becomes an operation{}", .0.lines, hint(.1))]
    Nothing(Box<Tally>, Dialect),
    /// The lines are right, but not together.
    #[error("the load that it makes has mistakes:\n{0}")]
    Load(LoadError),
}

fn hint(dialect: &Dialect) -> &'static str {
    match dialect {
        Dialect::Nbench => ": expected a loadfile of dbench 1 or 2, smbtorture or Samba's recorder",
        Dialect::Nfs => {
            ": expected a loadfile of dbench 5's nfs backend, with lines like GETATTR3 \"/a\" 0x00000000"
        }
    }
}

/// What the lines so far have shown.
#[derive(Debug, Default)]
struct Session {
    world: World,
    writer: Writer,
    tally: Tally,
    handles: Handles,
    replies: Replies,
    /// Number of the line.
    line: u64,
    /// The line's time stamp.
    time: Vec<u8>,
}

impl Session {
    /// Writes lines, and says what became of what they are made of.
    fn write(&mut self, lines: &[Vec<u8>]) -> Fate {
        match self.writer.ops(&self.time, lines) {
            Ok(()) => Fate::Kept,
            Err(why) => Fate::Unclear(1, why),
        }
    }

    fn count(&mut self, word: &[u8], fate: Fate) {
        if fate != Fate::Kept && self.writer.forget_repeat() {
            self.tally.note("REPEAT of a line that is not in the load: left out with it", 1);
        }
        self.tally.count(word, self.line, fate);
    }

    fn directive(&mut self, word: &[u8], line: &[u8], tokens: &[Token]) {
        let done = match (word, tokens) {
            (b"REPEAT", [_, times]) => self.writer.repeat(&times.text),
            _ => {
                if self.writer.forget_repeat() {
                    self.tally.note("REPEAT of a directive: left out", 1);
                }
                self.writer.directive(word, line)
            }
        };
        let fate = done.map_or_else(|why| Fate::Unclear(1, why), |()| Fate::Kept);
        self.tally.count(word, self.line, fate);
    }
}

const DIRECTIVES: [&[u8]; 8] = [
    b"LOOP",
    b"ENDLOOP",
    b"REPEAT",
    b"SLEEP",
    b"SETSP",
    b"WAITSP",
    b"WRITEPATTERN",
    b"RANDOMSTRING",
];

/// Makes a loadfile of ours of one of another kind, with the lines of `head` as comments.
///
/// # Errors
/// See [`DialectError`].
pub fn convert(
    dialect: Dialect,
    text: &[u8],
    head: &[String],
) -> Result<(Tally, Vec<u8>), DialectError> {
    let mut session = Session::default();
    if dialect == Dialect::Nbench {
        session.replies = smb::pair(text);
    }
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    for line in text.split(|byte| *byte == b'\n') {
        session.line += 1;
        one_line(&mut session, dialect, line.trim_ascii());
    }
    if session.writer.forget_repeat() {
        session.tally.note("REPEAT without a line: left out", 1);
    }
    let open = session.writer.end();
    session.tally.note("LOOP without ENDLOOP: closed at the end", open.into());
    let Session { world, writer, mut tally, line, .. } = session;
    (tally.lines, tally.ops) = (line, writer.ops);
    if tally.ops == 0 {
        return Err(DialectError::Nothing(Box::new(tally), dialect));
    }
    let mut out = Vec::new();
    for line in head {
        let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        out.extend_from_slice(format!("# {line}\n").as_bytes());
    }
    out.extend(start::lines(&world, &mut tally));
    out.extend_from_slice(b"# The loadfile; what stands above this line makes its start.\n");
    out.extend(writer.body);
    parse_bytes("", &out, &Options::default()).map_err(DialectError::Load)?;
    Ok((tally, out))
}

fn one_line(session: &mut Session, dialect: Dialect, line: &[u8]) {
    let tokens = tokens::split(line);
    let mut rest = tokens.as_slice();
    session.time.clear();
    let comment = rest.first().is_none_or(|first| first.text.starts_with(b"#"));
    if comment {
        session.tally.comments += 1;
        return;
    }
    if let [first, after @ ..] = rest
        && first.text.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.')
    {
        session.time.clone_from(&first.text);
        rest = after;
    }
    let Some(([word], args)) = rest.split_first_chunk::<1>() else {
        let why = "a time and nothing else; expected an operation behind it".to_owned();
        return session.count(b"(time)", Fate::Unclear(1, why));
    };
    if DIRECTIVES.contains(&word.text.as_slice()) {
        session.world.has_strings |= word.text == b"RANDOMSTRING";
        return session.directive(&word.text, line, rest);
    }
    let fate = match dialect {
        Dialect::Nbench if smb::is(&word.text, args) => smb::line(session, &word.text, args),
        Dialect::Nbench => nbench::line(session, &word.text, args),
        Dialect::Nfs => nfs::line(session, &word.text, args),
    };
    session.count(&word.text, fate);
}
