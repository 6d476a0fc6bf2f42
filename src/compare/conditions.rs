//! Whether runs are of the same thing: conditions, numbers of disks, and what the hosts were.

use std::collections::BTreeMap;

use super::factor::{column_of, columns_of};
use super::model::Run;
use crate::output::{Column, Role, shorten};

/// Characters of a value that are shown.
const WIDTH: usize = 120;

/// Columns that are conditions and yet no reason to refuse: `options` is looked at word by word,
/// and the seed draws an order and data, not another work.
const APART: [Column; 2] = [Column::Options, Column::Seed];

/// Conditions that are found, not asked for, and not looked for in every run: nothing there is
/// unknown, not another condition.
const FOUND: [Column; 5] = [
    Column::AclEffective,
    Column::AclEntries,
    Column::Relation,
    Column::IoWqMax,
    // Linux before 6.8 tells only where securityfs is mounted.
    Column::Lsm,
];

/// Conditions in which the two groups differ from each other, or one within itself, but for the
/// columns that follow from `factors`: one line each.
pub(super) fn differences(a: &[&Run], b: &[&Run], factors: &[String]) -> Vec<String> {
    let mut free: Vec<String> = factors.iter().flat_map(|factor| columns_of(factor)).collect();
    if other_kernel(a, b) {
        free.extend(columns_of("kernel"));
    }
    let mut found = Vec::new();
    for column in Column::ALL.iter().filter(|column| column.role() == Role::Condition) {
        if APART.contains(column) || free.iter().any(|name| name == column.name()) {
            continue;
        }
        let looked_for = |text: &String| !(FOUND.contains(column) && text.is_empty());
        let value = |run: &Run| run.text(*column).filter(looked_for);
        found.extend(line(column.name(), a, b, &value));
    }
    let options = |run: &Run| {
        let text = run.text(Column::Options)?;
        let only_here = |word: &&str| {
            let key = word.split('=').next().unwrap_or_default();
            !has_column(key) && !factors.iter().any(|factor| factor == key)
        };
        Some(text.split(' ').filter(only_here).collect::<Vec<_>>().join(" "))
    };
    found.extend(line("options", a, b, &options));
    let disks = |run: &Run| Some(run.took_part().to_string());
    found.extend(line("number of disks", a, b, &disks));
    found
}

/// Whether no run of one side is under a kernel of the other: then that is what is compared, whatever
/// tells the sides apart.
fn other_kernel(a: &[&Run], b: &[&Run]) -> bool {
    let kernel = |run: &&Run| run.text(Column::Kernel).filter(|text| !text.is_empty());
    let known = |runs: &[&Run]| runs.iter().all(|run| kernel(run).is_some());
    known(a) && known(b) && !a.iter().any(|run| b.iter().any(|other| kernel(run) == kernel(other)))
}

/// Whether a word of the column `options` has a column of its own, which is looked at as such.
fn has_column(option: &str) -> bool {
    column_of(option).is_some_and(|column| column.role() == Role::Condition)
}

/// `time_s: 10 against 20`, when not all runs have one value. A file without the column says
/// nothing about it.
fn line(
    name: &str,
    a: &[&Run],
    b: &[&Run],
    value: &dyn Fn(&Run) -> Option<String>,
) -> Option<String> {
    let texts = |runs: &[&Run]| {
        let mut seen: Vec<String> = Vec::new();
        for text in runs.iter().filter_map(|run| value(run)) {
            let text = if text.is_empty() { "nothing".to_owned() } else { text };
            if !seen.contains(&text) {
                seen.push(text);
            }
        }
        seen
    };
    let (a, b) = (texts(a), texts(b));
    let alike = a.is_empty() || b.is_empty() || a == b;
    if alike && a.len() <= 1 && b.len() <= 1 {
        return None;
    }
    // A shelf has a hundred serial numbers.
    let text = |values: Vec<String>| shorten(&values.join(", "), WIDTH);
    Some(format!("{name}: {} against {}", text(a), text(b)))
}

/// Facts in which the groups differ: shown, no reason to refuse. Kernel and host come first.
pub(super) fn facts(a: &[&Run], b: &[&Run]) -> Vec<String> {
    // Hashes say nothing to people; what differs behind them is in host.json.
    let dull = [Column::HostState, Column::HostSha256, Column::Members, Column::SameFs];
    let told = |column: &&Column| column.role() == Role::Fact && !dull.contains(column);
    let mut found: Vec<String> = Vec::new();
    // Where other mount options are a reason to refuse, nothing is told.
    let more = [Column::Host, Column::Seed, Column::MountOptions];
    for column in Column::ALL.iter().filter(told).chain(&more) {
        let value = |run: &Run| run.text(*column);
        found.extend(line(column.name(), a, b, &value));
    }
    found
}

/// Differences of flattened host facts of both sides: what refuses, and what is only told.
pub(super) fn host_differences(
    a: &[BTreeMap<String, String>],
    b: &[BTreeMap<String, String>],
    factors: &[String],
) -> (Vec<String>, Vec<String>) {
    let mut keys: Vec<&String> = a.iter().chain(b).flat_map(BTreeMap::keys).collect();
    keys.sort();
    keys.dedup();
    let (mut refused, mut told) = (Vec::new(), Vec::new());
    for key in keys {
        let values = |hosts: &[BTreeMap<String, String>]| {
            let mut seen: Vec<String> =
                hosts.iter().map(|host| host.get(key).cloned().unwrap_or_default()).collect();
            seen.sort();
            seen.dedup();
            seen
        };
        let (left, right) = (values(a), values(b));
        if left == right {
            continue;
        }
        let text = format!("{key}: {} against {}", left.join(", "), right.join(", "));
        let decides = [
            ("lsm", "kernel.lsm"),
            ("lsm", "kernel.label"),
            ("audit", "kernel.audit.in_kernel"),
            ("audit", "kernel.audit.boot_setting"),
            ("audit", "kernel.audit.daemon"),
        ];
        let strict = decides.iter().find(|(_, place)| key == place);
        match strict {
            // What one side does not know is no difference.
            Some((factor, _))
                if !is_unknown(&left)
                    && !is_unknown(&right)
                    && !factors.iter().any(|known| known == factor) =>
            {
                refused.push(text);
            }
            _ => told.push(text),
        }
    }
    (refused, told)
}

/// Whether no host of a side tells a fact.
fn is_unknown(values: &[String]) -> bool {
    values.iter().all(|value| value.is_empty() || value == "unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words as a run writes them: those that docs/output.md has a column for, and those it has not.
    #[test]
    fn options_with_a_column_are_not_looked_at_twice() {
        let own = "clients time passes warmup data timestamps rate path depth share cpus sync-open \
                   sync-dir fsync xattr no-resolve fake-io direct mount-acl as dir-owner dir-mode \
                   dir-acl acl-match default-acl acl-cache engine loadfile";
        for word in own.split(' ') {
            assert!(has_column(word), "{word}");
        }
        for word in ["fdatasync", "spin", "keep-groups", ""] {
            assert!(!has_column(word), "{word}");
        }
    }
}
