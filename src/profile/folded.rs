//! Two recordings side by side, for flame graphs.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::ranking::Profiled;

/// Operations that the numbers are for, so that they are whole and yet exact.
const OPERATIONS: f64 = 1e6;

/// A line for each stack: its frames, then what it took in `from` and in `to`, in the unit of the
/// event for a million operations. Recordings of different length are on one scale so.
#[must_use]
pub fn difference(from: &Profiled<'_>, to: &Profiled<'_>) -> String {
    let stacks: BTreeSet<&String> =
        from.recording.stacks.keys().chain(to.recording.stacks.keys()).collect();
    let mut text = String::new();
    for stack in stacks {
        let of = |side: &Profiled<'_>| {
            let weight = side.recording.stacks.get(stack).copied().unwrap_or_default();
            (OPERATIONS * side.per_op(weight)).round()
        };
        let _ = writeln!(text, "{stack} {} {}", of(from), of(to));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::Recording;
    use super::*;

    /// By hand: 30 ns in 10 operations are 3 a piece, 3 million of a million.
    #[test]
    fn two_columns_for_a_million_operations() {
        let recording = |stacks: &[(&str, u64)]| Recording {
            stacks: stacks.iter().map(|(stack, n)| ((*stack).to_owned(), *n)).collect(),
            ..Recording::default()
        };
        let (a, b) = (recording(&[("m;f g", 30), ("m", 5)]), recording(&[("m;f g", 10), ("h", 1)]));
        let (a, b) = (Profiled { recording: &a, ops: 10 }, Profiled { recording: &b, ops: 40 });
        assert_eq!(difference(&a, &b), "h 0 25000\nm 500000 0\nm;f g 3000000 250000\n");
    }
}
