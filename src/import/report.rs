//! What became of the calls of a recording: every one of them is in exactly one column.

use std::collections::BTreeMap;
use std::fmt;

use super::feed::{Complaint, Lines};

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is in the load.
    Played,
    /// It is in what others are: an offset, a handle, a directory.
    Folded,
    /// It is about what lies outside the root, or about no file.
    Outside,
    /// The load has no word for it.
    Dropped(&'static str),
    /// It failed in a way that depends on who calls or where.
    Failed,
    /// It contradicts what the calls before it have shown.
    Order,
}

/// Calls of one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// In the load.
    pub played: u64,
    /// In what others are.
    pub folded: u64,
    /// Outside, or about no file.
    pub outside: u64,
    /// No word for it.
    pub dropped: u64,
    /// Failed as the load cannot say.
    pub failed: u64,
    /// Contradicts what was before.
    pub order: u64,
}

impl Row {
    /// All together.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.played + self.folded + self.outside + self.dropped + self.failed + self.order
    }

    fn add(&mut self, other: &Self) {
        self.played += other.played;
        self.folded += other.folded;
        self.outside += other.outside;
        self.dropped += other.dropped;
        self.failed += other.failed;
        self.order += other.order;
    }

    fn columns(&self) -> [u64; 7] {
        let Self { played, folded, outside, dropped, failed, order } = *self;
        [self.calls(), played, folded, outside, dropped, failed, order]
    }
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The lines of the recording.
    pub lines: Lines,
    /// The first lines that were not understood.
    pub complaints: Vec<Complaint>,
    /// Calls by name.
    pub calls: BTreeMap<String, Row>,
    /// Why calls were dropped, and what was changed about those that were not.
    pub notes: BTreeMap<&'static str, u64>,
    /// Processes and threads.
    pub tasks: u64,
    /// Operations of a pass, those that restore the start not counted.
    pub ops: u64,
    /// Operations that restore the start.
    pub restoring: u64,
    /// What was there at the start.
    pub files: u64,
    /// The same of directories.
    pub dirs: u64,
    /// The same of links.
    pub links: u64,
    /// Bytes of these files.
    pub bytes: u64,
    /// Where the recording was mapped from.
    pub root: String,
}

impl Report {
    pub(super) fn count(&mut self, name: &str, fate: Fate) {
        if !self.calls.contains_key(name) {
            self.calls.insert(name.to_owned(), Row::default());
        }
        let Some(row) = self.calls.get_mut(name) else { return };
        match fate {
            Fate::Played => row.played += 1,
            Fate::Folded => row.folded += 1,
            Fate::Outside => row.outside += 1,
            Fate::Failed => row.failed += 1,
            Fate::Order => row.order += 1,
            Fate::Dropped(reason) => {
                row.dropped += 1;
                self.note(reason, 1);
            }
        }
    }

    pub(super) fn note(&mut self, what: &'static str, times: u64) {
        *self.notes.entry(what).or_default() += times;
    }

    /// All calls together.
    #[must_use]
    pub fn total(&self) -> Row {
        let mut total = Row::default();
        self.calls.values().for_each(|row| total.add(row));
        total
    }
}

const HEAD: [&str; 7] =
    ["recorded", "replayed", "folded", "outside", "no word", "failed", "contradict"];

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |f: &mut fmt::Formatter<'_>, name: &str, row: [String; 7]| {
            write!(f, "{name:<18}")?;
            for text in row {
                write!(f, " {text:>10}")?;
            }
            writeln!(f)
        };
        line(f, "call", HEAD.map(str::to_owned))?;
        let mut rows: Vec<_> = self.calls.iter().collect();
        rows.sort_by_key(|(_, row)| std::cmp::Reverse(row.calls()));
        for (name, row) in rows {
            line(f, name, row.columns().map(|n| n.to_string()))?;
        }
        line(f, "all", self.total().columns().map(|n| n.to_string()))?;
        writeln!(
            f,
            "\nroot {}: {} operations a pass for {} processes and threads, behind {} that restore \
             the start\nat the start: {} files with {} bytes, {} directories, {} links",
            self.root,
            self.ops,
            self.tasks,
            self.restoring,
            self.files,
            self.bytes,
            self.dirs,
            self.links
        )?;
        let Lines { lines, calls, split, unfinished, other, unknown } = self.lines;
        writeln!(
            f,
            "lines: {lines}, with {calls} calls, {split} of them in two halves; {unfinished} calls \
             never came back; {other} lines about signals and ends; {unknown} not understood"
        )?;
        for (what, times) in &self.notes {
            writeln!(f, "{times:>10}  {what}")?;
        }
        Ok(())
    }
}
