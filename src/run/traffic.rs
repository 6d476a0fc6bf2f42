//! Which way calls went, in rows and in words.

use crate::engine::{Traffic, Way};
use crate::output::{Column, Row};
use crate::plan::CallKind;

/// The columns of ways, in the order of [`Way`].
const COLUMNS: [(Way, Column); Way::COUNT] = [
    (Way::Inline, Column::CallsInline),
    (Way::Tried, Column::CallsTried),
    (Way::Ring, Column::CallsRing),
    (Way::Aside, Column::CallsAside),
];

/// Fills what is known of all calls of a disk.
pub(super) fn set(row: &mut Row, traffic: Option<&Traffic>) {
    let Some(traffic) = traffic else { return };
    row.set(Column::IoWqMax, traffic.io_wq_max)
        .set(Column::PoolWaitS, traffic.waited_ns as f64 / 1e9);
    for (way, column) in COLUMNS {
        row.set(column, traffic.total(way));
    }
}

/// A row for every kind of call that was made; `row` begins one.
pub(super) fn rows(traffic: &Traffic, row: impl Fn() -> Row) -> Vec<Row> {
    let made = CallKind::ALL.iter().filter(|kind| **kind != CallKind::Wait);
    let made = made.map(|kind| (kind, traffic.calls[kind.index()]));
    made.filter(|(_, calls)| calls.iter().any(|calls| *calls > 0))
        .map(|(kind, calls)| {
            let mut row = row();
            row.set(Column::Op, kind.word()).set(Column::Ops, calls.iter().sum::<u64>());
            for (way, column) in COLUMNS {
                row.set(column, calls[way as usize]);
            }
            row
        })
        .collect()
}

/// The same in words.
pub(super) fn notes(traffic: &Traffic) -> Vec<String> {
    let total = |way| traffic.total(way);
    let all: u64 = COLUMNS.iter().map(|(way, _)| total(*way)).sum();
    let share = |part: u64, all: u64| 100.0 * part as f64 / all.max(1) as f64;
    let by_kind = CallKind::ALL.iter().filter_map(|kind| {
        let calls = traffic.calls[kind.index()];
        let moved = calls[Way::Ring as usize] + calls[Way::Aside as usize];
        let part = share(moved, calls.iter().sum());
        (moved > 0).then(|| format!("{} {part:.1} %", kind.word()))
    });
    let by_kind: Vec<_> = by_kind.collect();
    let aside = match total(Way::Aside) {
        0 => String::new(),
        calls => format!(", {:.1} % while a stand-in went on", share(calls, all)),
    };
    let mut notes = vec![format!(
        "calls: {:.1} % made at once, {:.1} % by the ring in {} turns{aside}{}{}",
        share(total(Way::Inline) + total(Way::Tried), all),
        share(total(Way::Ring), all),
        traffic.enters,
        if by_kind.is_empty() { "" } else { ": " },
        by_kind.join(", ")
    )];
    if traffic.overflow > 0 {
        let n = traffic.overflow;
        notes.push(format!("{n} completions found no room in a ring: please report this"));
    }
    notes
}
