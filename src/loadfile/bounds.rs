//! How large a number can become that a client makes anew each time.

use super::ast::{Ast, Node, Special};
use super::number::upper_random;
use super::program::{Segment, Template};
use super::template;

/// More clients than a disk will ever have: `+child` and `+num_children` stay below.
pub(super) const MAX_CLIENTS: i64 = 1 << 20;

/// Templates of each string slot, in the order of their lines.
pub(super) type Slots<'a> = [Vec<&'a Template>; 10];

/// The slots of a tree.
pub(super) fn slots(ast: &Ast) -> Slots<'_> {
    let mut slots: Slots<'_> = Default::default();
    if ast.templates.is_empty() {
        return slots;
    }
    for line in &ast.lines {
        if let Node::RandomString(slot, template) = line.node {
            slots[usize::from(slot)].push(&ast.templates[template as usize]);
        }
    }
    slots
}

/// Upper bound of a number in a tree; `None` when there is none, or when it depends on other
/// lines (`+n`).
pub(super) fn upper(ast: &Ast, special: &Special, slots: &Slots<'_>) -> Option<i64> {
    match special {
        Special::Random(mods) => upper_random(mods),
        Special::Previous(_) => None,
        Special::Child | Special::Children => Some(MAX_CLIENTS),
        Special::Text { first, count } => {
            upper_text(ast.names.range(*first, *count), &ast.names.bytes, slots)
        }
    }
}

/// Upper bound of a number that is spelled with strings: all its characters must be digits.
pub(super) fn upper_text(segments: &[Segment], bytes: &[u8], slots: &Slots<'_>) -> Option<i64> {
    let mut digits = Vec::new();
    for segment in segments {
        match *segment {
            Segment::Literal { start, len } => {
                let start = start as usize;
                digits.extend_from_slice(&bytes[start..start + usize::from(len)]);
            }
            Segment::Slot(slot) => digits.extend(upper_slot(&slots[usize::from(slot)])?),
            Segment::Client | Segment::Drawn(_) => return None,
        }
    }
    if digits.len() > 18 {
        return None;
    }
    // A leading 0 makes it octal, which is less than the same digits in decimal.
    std::str::from_utf8(&digits).ok()?.parse().ok()
}

fn upper_slot(templates: &[&Template]) -> Option<Vec<u8>> {
    let all: Option<Vec<_>> = templates.iter().map(|t| template::digits(t)).collect();
    match all?.as_slice() {
        [one] => Some(one.clone()),
        several => {
            let longest = several.iter().map(Vec::len).max().unwrap_or(0);
            Some(vec![b'9'; longest])
        }
    }
}
