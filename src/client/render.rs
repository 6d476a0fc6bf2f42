//! Paths: segments into a buffer.

use crate::engine::PathBuffer;
use crate::loadfile::Program;
use crate::loadfile::program::{PathId, Segment, Wild};

use super::values::Values;

/// What a path has of the client.
pub(super) struct Own<'a> {
    pub(super) client_name: &'a [u8],
    pub(super) values: &'a Values,
    /// Number of the name that it drew.
    pub(super) drawn: u32,
}

/// Renders a path behind the buffer's prefix; says whether it is a pattern.
#[inline]
pub(super) fn render(program: &Program, id: PathId, own: Own<'_>, into: &mut PathBuffer) -> bool {
    let (segments, wild) = program.path(id);
    into.reset();
    for segment in segments {
        match *segment {
            Segment::Literal { start, len } => into.push(program.literal(start, len)),
            Segment::Client => into.push(own.client_name),
            Segment::Slot(slot) => into.push(own.values.string(slot)),
            Segment::Drawn(_) => push_number(own.drawn, into),
        }
    }
    match wild {
        Wild::No => false,
        Wild::Yes => true,
        Wild::Ask => into.tail().iter().any(|byte| b"<>*?\"".contains(byte)),
    }
}

/// Adds a number in decimal.
fn push_number(mut number: u32, into: &mut PathBuffer) {
    let mut digits = [0; 10];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return into.push(&digits[at..]);
        }
    }
}

/// Longest path of a program below the run directory, in bytes.
#[must_use]
pub fn max_path_len(program: &Program) -> usize {
    let segment_len = |segment: &Segment| match segment {
        Segment::Literal { len, .. } => usize::from(*len),
        Segment::Client => "client4294967295".len(),
        Segment::Slot(_) => Program::MAX_STRING,
        Segment::Drawn(_) => "4294967295".len(),
    };
    program
        .paths
        .iter()
        .map(|path| program.segment_range(path.first, path.count).iter().map(segment_len).sum())
        .max()
        .unwrap_or(0)
}
