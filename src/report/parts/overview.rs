//! What was run, and how it went in one table.

use std::collections::BTreeSet;

use super::figures::{count, many, megabytes, micros, number};
use crate::output::Column;
use crate::report::model::{Group, Material};
use crate::report::page::{Section, Table};

/// Sentences below the title.
pub(super) fn head(material: &Material) -> Vec<String> {
    let of = |column: Column| {
        let all: BTreeSet<&str> = material
            .groups
            .iter()
            .filter_map(|group| group.values.get(&column))
            .flatten()
            .map(String::as_str)
            .collect();
        all.into_iter().collect::<Vec<_>>().join(", ")
    };
    let runs: usize = material.groups.iter().map(|group| group.runs.len()).sum();
    let ends =
        || material.groups.iter().flat_map(|group| &group.runs).map(|run| run.ended.as_str());
    let (first, last) = (ends().min().unwrap_or_default(), ends().max().unwrap_or_default());
    let when = if first == last { first.to_owned() } else { format!("{first} to {last}") };
    vec![
        format!("{} of {}. Runs ended {when}.", many(runs, "run"), material.files.join(", ")),
        format!(
            "Host {}, kernel {}; jbodbench {}.",
            of(Column::Host),
            of(Column::Kernel),
            of(Column::ToolVersion)
        ),
    ]
}

/// A line per group.
pub(super) fn section(material: &Material) -> Section {
    let mut section = Section::new("Result");
    let head = [
        "runs of", "runs", "disks", "status", "ops/s", "MB/s", "p50", "p99", "max", "errors",
        "passes", "pass",
    ];
    let mut table = Table::new("All operations of all disks together", 1, &head);
    for group in &material.groups {
        table.push(row(group));
    }
    let several = material.groups.iter().any(|group| group.counted() > 1);
    section.table(table);
    if several {
        section.text(
            "Of several runs, rates, latencies and times are geometric means, max is the largest, \
             errors and passes are sums.",
        );
    }
    for group in &material.groups {
        let spoilt: Vec<&str> =
            group.runs.iter().filter(|run| run.spoilt()).map(|run| run.id.as_str()).collect();
        if !spoilt.is_empty() {
            let what = if group.counted() < group.runs.len() { "left out" } else { "shown though" };
            section.text(format!(
                "{}: {what} as ended early or failed: {}",
                group.label,
                spoilt.join(", ")
            ));
        }
        let busy = group.runs.iter().filter(|run| run.flags.contains("busy_device")).count();
        if busy > 0 {
            let runs = many(busy, "run");
            section.text(format!("{}: {runs} began on a busy device", group.label));
        }
    }
    section
}

fn row(group: &Group) -> Vec<String> {
    let all = |column| group.value("all", "all", column);
    let status: BTreeSet<&str> = group.runs.iter().map(|run| run.status.as_str()).collect();
    let status: Vec<&str> = status.into_iter().collect();
    vec![
        group.label.clone(),
        group.runs.len().to_string(),
        group.disks.len().to_string(),
        status.join(", "),
        count(all(Column::OpsPerS)),
        megabytes(all(Column::BytesPerS)),
        micros(all(Column::LatP50Us)),
        micros(all(Column::LatP99Us)),
        micros(all(Column::LatMaxUs)),
        count(all(Column::Errors)),
        count(all(Column::Passes)),
        all(Column::PassMeanS).map_or_else(|| "-".to_owned(), |s| number(Some(s)) + "s"),
    ]
}
