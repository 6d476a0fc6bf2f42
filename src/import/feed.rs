//! Lines to calls: the halves of a call put together, by process.

use std::collections::HashMap;

use super::call::Call;
use super::line::{self, Body};

/// Where a line stands: file and line, from 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) file: u32,
    pub(super) line: u64,
}

/// Who wants to know.
pub(super) trait Watch {
    /// A call has begun that another process's line interrupts.
    fn begin(&mut self, _pid: u32, _at: Place) {}
    /// A call came back; `at` is where it began.
    fn call(&mut self, pid: u32, at: Place, call: &Call<'_>);
    /// A process ended.
    fn exit(&mut self, pid: u32);
}

/// What the lines were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// All of them.
    pub lines: u64,
    /// Calls that came back.
    pub calls: u64,
    /// How many of these stood on two lines.
    pub split: u64,
    /// Calls that never came back.
    pub unfinished: u64,
    /// Signals, ends of processes, and what strace says about itself.
    pub other: u64,
    /// Lines that were not understood.
    pub unknown: u64,
}

/// A line that was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// Number of the file, from 0.
    pub file: u32,
    /// Its line, from 1.
    pub line: u64,
    /// Where it stops to make sense, from 1.
    pub column: usize,
    /// Its start.
    pub text: String,
}

/// Complaints that are kept: the first ones tell what is wrong.
const COMPLAINTS: usize = 5;
/// Most bytes of one call that stands on two lines.
const MOST_HEAD: usize = 1 << 20;

/// Puts lines together.
#[derive(Default)]
pub(super) struct Feed {
    pending: HashMap<u32, (Place, Vec<u8>)>,
    pub(super) lines: Lines,
    pub(super) complaints: Vec<Complaint>,
}

impl Feed {
    /// Takes a line; `own` is the process of a file that names none.
    pub(super) fn line(&mut self, at: Place, own: u32, bytes: &[u8], watch: &mut impl Watch) {
        self.lines.lines += 1;
        let Some(line) = line::parse(bytes) else {
            self.lines.other += 1;
            return;
        };
        let pid = line.pid.unwrap_or(own);
        match line.body {
            Body::Noise => self.lines.other += 1,
            Body::Unknown => self.complain(at, line.at, bytes),
            Body::Exit => {
                self.lines.other += 1;
                self.lines.unfinished += u64::from(self.pending.remove(&pid).is_some());
                watch.exit(pid);
            }
            Body::Superseded(by) => {
                self.lines.other += 1;
                if let Some(half) = self.pending.remove(&pid) {
                    self.pending.insert(by, half);
                }
                watch.exit(pid);
            }
            Body::Unfinished(head) => {
                if head.len() <= MOST_HEAD {
                    let before = self.pending.insert(pid, (at, head.to_vec()));
                    self.lines.unfinished += u64::from(before.is_some());
                }
                watch.begin(pid, at);
            }
            Body::Resumed(tail) => match self.pending.remove(&pid) {
                Some((began, mut text)) => {
                    text.extend_from_slice(tail);
                    self.lines.split += 1;
                    self.call(pid, began, &text, (at, line.at, bytes), watch);
                }
                None => self.complain(at, line.at, bytes),
            },
            Body::Call(text) => self.call(pid, at, text, (at, line.at, bytes), watch),
        }
    }

    fn call(
        &mut self,
        pid: u32,
        began: Place,
        text: &[u8],
        (at, column, line): (Place, usize, &[u8]),
        watch: &mut impl Watch,
    ) {
        match Call::parse(text) {
            Ok(call) => {
                self.lines.calls += 1;
                watch.call(pid, began, &call);
            }
            // Of a call on two lines the place is that of its second half.
            Err(inner) if began == at => self.complain(at, column + inner, line),
            Err(_) => self.complain(at, column, line),
        }
    }

    fn complain(&mut self, at: Place, column: usize, line: &[u8]) {
        self.lines.unknown += 1;
        if self.complaints.len() < COMPLAINTS {
            let text = String::from_utf8_lossy(&line[..line.len().min(120)]).into_owned();
            let complaint = Complaint { file: at.file, line: at.line, column: column + 1, text };
            self.complaints.push(complaint);
        }
    }

    /// The recording is over.
    pub(super) fn end(&mut self) {
        self.lines.unfinished += self.pending.len() as u64;
        self.pending.clear();
    }
}
