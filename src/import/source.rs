//! Recordings as lines in the order in which calls came back: one file of all processes, or a
//! file for each of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, BufRead};

use super::feed::Place;
use super::line::{self, Body};

/// Longest line that is looked at, in bytes; the rest of a longer one is left out.
const MAX_LINE: u64 = 4 << 20;

/// Something to read from the start, as often as it is asked for.
pub type Opener<'a> = dyn FnMut() -> io::Result<Box<dyn BufRead>> + 'a;

/// Where lines come from.
pub enum Source<'a> {
    /// One file of all processes (`-f`), read twice and never as a whole.
    One(Box<Opener<'a>>),
    /// A file for each process (`-ff`), with its number: all in memory, put in order by their
    /// times.
    Each(Vec<(u32, Vec<u8>)>),
}

impl Source<'_> {
    /// Hands all lines over, with the process that a file belongs to.
    ///
    /// # Errors
    /// When the file cannot be read, or files have no times to put them in order by.
    pub(super) fn lines(&mut self, take: &mut dyn FnMut(Place, u32, &[u8])) -> io::Result<()> {
        match self {
            Self::One(open) => {
                let mut reader = open()?;
                let (mut line, mut at) = (Vec::new(), Place::default());
                while read_line(&mut *reader, &mut line)? {
                    at.line += 1;
                    take(at, 0, &line);
                }
                Ok(())
            }
            Self::Each(files) => merge(files, take),
        }
    }
}

/// Reads a line without its end; `false` at the end.
fn read_line(reader: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let read = io::Read::take(&mut *reader, MAX_LINE).read_until(b'\n', line)?;
    if read == 0 {
        return Ok(false);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    } else if read as u64 == MAX_LINE {
        reader.skip_until(b'\n')?;
    }
    Ok(true)
}

/// Lines of all files in the order in which their calls came back; forks in that of their start.
fn merge(files: &[(u32, Vec<u8>)], take: &mut dyn FnMut(Place, u32, &[u8])) -> io::Result<()> {
    let mut rests: Vec<&[u8]> = files.iter().map(|(_, text)| text.as_slice()).collect();
    let mut numbers = vec![0_u64; files.len()];
    let mut next = BinaryHeap::new();
    for (file, rest) in rests.iter().enumerate() {
        if let Some(time) = key(first_line(rest), file)? {
            next.push(Reverse((time, file)));
        }
    }
    while let Some(Reverse((time, file))) = next.pop() {
        let line = first_line(rests[file]);
        numbers[file] += 1;
        take(Place { file: file as u32, line: numbers[file] }, files[file].0, line);
        rests[file] = rests[file].get(line.len() + 1..).unwrap_or_default();
        if let Some(later) = key(first_line(rests[file]), file)? {
            // Within a file the order is that of its lines.
            next.push(Reverse((later.max(time), file)));
        } else if !rests[file].is_empty() {
            // An empty line.
            next.push(Reverse((time, file)));
        }
    }
    Ok(())
}

fn first_line(text: &[u8]) -> &[u8] {
    let end = text.iter().position(|b| *b == b'\n').unwrap_or(text.len());
    &text[..end]
}

/// When a line takes effect; `None` for an empty one.
fn key(text: &[u8], file: usize) -> io::Result<Option<u64>> {
    let Some(line) = line::parse(text) else { return Ok(None) };
    let Some(start) = line.time else {
        let message = format!(
            "file {}: a line without a time; files of single processes are put in order by them: \
             record with -ttt, and -T",
            file + 1
        );
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    };
    let forks = [&b"clone"[..], b"fork", b"vfork"];
    Ok(Some(match line.body {
        Body::Call(call) if !forks.iter().any(|name| call.starts_with(name)) => {
            start.saturating_add(line::took(call).unwrap_or(0))
        }
        _ => start,
    }))
}
