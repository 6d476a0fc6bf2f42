//! Operations that missed their expected status.

use super::Part;
use super::figures::{count, many};
use crate::report::model::Material;
use crate::report::page::{Section, Table};

/// Rows that are shown: a full shelf can have thousands.
const SHOWN: usize = 500;

pub(super) fn section(material: &Material) -> Part {
    let mut section = Section::new("Errors");
    let head = ["runs of", "disk", "operation", "error", "count"];
    let mut table = Table::new("Operations that missed their expected status", 4, &head);
    let mut rows: Vec<(u64, Vec<String>)> = Vec::new();
    for group in &material.groups {
        for ((disk, op, errno), errors) in &group.errors {
            let words = [&group.label, disk, op, errno].map(String::clone);
            rows.push((*errors, words.into()));
        }
    }
    rows.sort_by_key(|row| std::cmp::Reverse(row.0));
    let left = rows.len().saturating_sub(SHOWN);
    for (errors, mut row) in rows.into_iter().take(SHOWN) {
        row.push(count(Some(errors as f64)));
        table.push(row);
    }
    if !table.rows.is_empty() {
        section.table(material.tell_apart(table, 0));
    }
    if left > 0 {
        section.text(format!("{} with fewer errors are not shown.", many(left, "row")));
    }
    Ok(section.if_any())
}
