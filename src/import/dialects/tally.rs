//! What became of the lines of a loadfile: every one of them is in exactly one column.

use std::collections::BTreeMap;
use std::fmt;

use crate::import::Complaint;

/// What became of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is in the load.
    Kept,
    /// It is in what other lines are.
    Folded,
    /// There is no word for it.
    NoWord(&'static str),
    /// It failed in a way that a local file system does not have.
    Failed,
    /// It was not understood, from this column on.
    Unclear(usize, String),
}

/// Lines of one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// In the load.
    pub kept: u64,
    /// In what other lines are.
    pub folded: u64,
    /// No word for them.
    pub no_word: u64,
    /// Failed as a local file system does not.
    pub failed: u64,
    /// Not understood.
    pub unclear: u64,
}

impl Count {
    /// All together.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.kept + self.folded + self.no_word + self.failed + self.unclear
    }

    fn columns(&self) -> [u64; 6] {
        let Self { kept, folded, no_word, failed, unclear } = *self;
        [self.lines(), kept, folded, no_word, failed, unclear]
    }
}

/// What became of a loadfile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Lines by word.
    pub words: BTreeMap<String, Count>,
    /// Reasons, and what is otherwise than it was, with counts.
    pub notes: BTreeMap<&'static str, u64>,
    /// The first lines that were not understood, with what was expected.
    pub complaints: Vec<Complaint>,
    /// All lines.
    pub lines: u64,
    /// How many of them are blank or comments.
    pub comments: u64,
    /// Operations of a pass, those in loops counted once.
    pub ops: u64,
    /// How many of them restore the start.
    pub restoring: u64,
    /// Names that are made before the first pass.
    pub start: u64,
    /// Bytes of these.
    pub bytes: u64,
}

/// Lines that are told in full.
const COMPLAINTS: usize = 5;
/// How much of a line is told.
const SHOWN: usize = 100;
/// Different words that get a line of their own.
const WORDS: usize = 200;

impl Tally {
    pub(super) fn count(&mut self, word: &[u8], line: u64, fate: Fate) {
        let mut name = String::from_utf8_lossy(&word[..word.len().min(SHOWN)]).into_owned();
        if self.words.len() >= WORDS && !self.words.contains_key(&name) {
            "(others)".clone_into(&mut name);
        }
        let count = self.words.entry(name).or_default();
        match fate {
            Fate::Kept => count.kept += 1,
            Fate::Folded => count.folded += 1,
            Fate::Failed => count.failed += 1,
            Fate::NoWord(why) => {
                count.no_word += 1;
                self.note(why, 1);
            }
            Fate::Unclear(column, text) => {
                count.unclear += 1;
                if self.complaints.len() < COMPLAINTS {
                    self.complaints.push(Complaint { file: 0, line, column, text });
                }
            }
        }
    }

    pub(super) fn note(&mut self, what: &'static str, times: u64) {
        if times > 0 {
            *self.notes.entry(what).or_default() += times;
        }
    }

    /// All words together.
    #[must_use]
    pub fn total(&self) -> Count {
        self.words.values().fold(Count::default(), |sum, count| Count {
            kept: sum.kept + count.kept,
            folded: sum.folded + count.folded,
            no_word: sum.no_word + count.no_word,
            failed: sum.failed + count.failed,
            unclear: sum.unclear + count.unclear,
        })
    }
}

const HEAD: [&str; 6] = ["lines", "converted", "folded", "no word", "failed", "unclear"];

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |f: &mut fmt::Formatter<'_>, name: &str, row: [String; 6]| {
            let name: String = name.escape_debug().collect();
            write!(f, "{name:<22}")?;
            row.iter().try_for_each(|text| write!(f, " {text:>10}"))?;
            writeln!(f)
        };
        line(f, "word", HEAD.map(str::to_owned))?;
        let mut rows: Vec<_> = self.words.iter().collect();
        rows.sort_by_key(|(_, count)| std::cmp::Reverse(count.lines()));
        for (name, count) in rows {
            line(f, name, count.columns().map(|n| n.to_string()))?;
        }
        line(f, "all", self.total().columns().map(|n| n.to_string()))?;
        writeln!(
            f,
            "\n{} lines, {} of them comments or blank: {} operations a pass, behind {} that restore the start\n\
             at the start: {} files and directories with {} bytes",
            self.lines, self.comments, self.ops, self.restoring, self.start, self.bytes
        )?;
        self.notes.iter().try_for_each(|(what, times)| writeln!(f, "{times:>10}  {what}"))
    }
}
