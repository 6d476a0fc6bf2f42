//! Percentiles of latency, operation by operation.

use super::Part;
use super::figures::{count, micros, micros_tick};
use crate::output::Column;
use crate::report::model::{Group, Material, distinct};
use crate::report::page::{Section, Svg, Table};
use crate::report::plot::{SpreadPlot, SpreadRow};

/// Groups whose operations stand side by side; of more, only the whole loads do.
const GROUPS: usize = 4;
/// Operations in the plot.
const OPS: usize = 20;
/// Groups in the plot of whole loads.
const WHOLE: usize = 40;

const PERCENTILES: [Column; 5] =
    [Column::LatP50Us, Column::LatP90Us, Column::LatP99Us, Column::LatP999Us, Column::LatMaxUs];

pub(super) fn section(material: &Material) -> Part {
    let mut section = Section::new("Latency");
    let ops = distinct(material.groups.iter().flat_map(Group::ops));
    let by_op = material.groups.len() <= GROUPS;
    let rows = if by_op { rows_by_op(material, &ops) } else { rows_by_group(material) };
    let of_groups = |group: &Group| group.label.clone();
    let plot = SpreadPlot {
        groups: if by_op { material.groups.iter().map(of_groups).collect() } else { Vec::new() },
        rows,
        axis: "latency (logarithmic)".into(),
        format: micros_tick,
    };
    if let Some(svg) = plot.svg()? {
        let what = if by_op { "each operation" } else { "the whole load, by kind of run" };
        let mut caption = format!(
            "Latency of {what}, on all disks. A percentile is missing where there were too few \
             operations for it."
        );
        if by_op && ops.len() > OPS {
            caption += &format!(" The {OPS} most frequent of {} operations.", ops.len());
        }
        if material.groups.len() > WHOLE && !by_op {
            caption += &format!(" The first {WHOLE} of {}.", material.groups.len());
        }
        section.plot(caption, Svg(svg));
    }
    section.table(material.tell_apart(table(material, &ops), 1));
    Ok(Some(section))
}

fn values(group: &Group, op: &str) -> [Option<f64>; 5] {
    PERCENTILES.map(|column| group.value("all", op, column))
}

fn rows_by_op(material: &Material, ops: &[String]) -> Vec<SpreadRow> {
    let mut rows = Vec::new();
    let shown = std::iter::once("all").chain(ops.iter().take(OPS).map(String::as_str));
    for op in shown {
        let mut label = if op == "all" { "all operations" } else { op };
        for (index, group) in material.groups.iter().enumerate() {
            let values = values(group, op);
            if values.iter().any(Option::is_some) {
                rows.push(SpreadRow { label: label.to_owned(), group: index, values });
                label = "";
            }
        }
    }
    rows
}

fn rows_by_group(material: &Material) -> Vec<SpreadRow> {
    let row = |group: &Group| SpreadRow {
        label: group.label.clone(),
        group: 0,
        values: values(group, "all"),
    };
    material.groups.iter().take(WHOLE).map(row).collect()
}

fn table(material: &Material, ops: &[String]) -> Table {
    let head = [
        "operation",
        "runs of",
        "count",
        "errors",
        "mean",
        "p50",
        "p90",
        "p95",
        "p99",
        "p99.9",
        "max",
    ];
    let mut table = Table::new("Latency on all disks", 2, &head);
    for op in std::iter::once("all").chain(ops.iter().map(String::as_str)) {
        for group in &material.groups {
            let value = |column| group.value("all", op, column);
            if value(Column::Ops).is_none() {
                continue;
            }
            let mut row = vec![
                op.to_owned(),
                group.label.clone(),
                count(value(Column::Ops)),
                count(value(Column::Errors)),
            ];
            let columns = [
                Column::LatMeanUs,
                Column::LatP50Us,
                Column::LatP90Us,
                Column::LatP95Us,
                Column::LatP99Us,
                Column::LatP999Us,
                Column::LatMaxUs,
            ];
            row.extend(columns.map(|column| micros(value(column))));
            table.push(row);
        }
    }
    table
}
