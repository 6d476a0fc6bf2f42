//! Paths: segments into a buffer.

use crate::engine::PathBuffer;
use crate::loadfile::Program;
use crate::loadfile::program::{PathId, Segment, Wild};

use super::values::Values;

/// Renders a path behind the buffer's prefix; says whether it is a pattern.
#[inline]
pub(super) fn render(
    program: &Program,
    id: PathId,
    client_name: &[u8],
    values: &Values,
    into: &mut PathBuffer,
) -> bool {
    let (segments, wild) = program.path(id);
    into.reset();
    for segment in segments {
        match *segment {
            Segment::Literal { start, len } => into.push(program.literal(start, len)),
            Segment::Client => into.push(client_name),
            Segment::Slot(slot) => into.push(values.string(slot)),
        }
    }
    match wild {
        Wild::No => false,
        Wild::Yes => true,
        Wild::Ask => into.tail().iter().any(|byte| b"<>*?\"".contains(byte)),
    }
}

/// Longest path of a program below the run directory, in bytes.
#[must_use]
pub fn max_path_len(program: &Program) -> usize {
    let segment_len = |segment: &Segment| match segment {
        Segment::Literal { len, .. } => usize::from(*len),
        Segment::Client => "client4294967295".len(),
        Segment::Slot(_) => Program::MAX_STRING,
    };
    program
        .paths
        .iter()
        .map(|path| program.segment_range(path.first, path.count).iter().map(segment_len).sum())
        .max()
        .unwrap_or(0)
}
