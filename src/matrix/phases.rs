//! The phases of a load in each cell, as a table: rates with their standard deviations over the runs.

use super::Metric;
use super::figures::Figures;
use super::metric::Values;
use super::plan::Matrix;
use crate::metrics::Spread;
use crate::output::{Column, lined_up, shorten};
use crate::units::{format_count, format_ns, format_number};

/// Width of a name, so that a line stays within 100 columns.
const NAME: usize = 30;

/// The table, with an empty line before it; nothing where the load has no phases.
pub(super) fn phase_table(matrix: &Matrix, figures: &Figures, color: bool) -> String {
    let head = ["phase", "MB/s", "sd", "ops/s", "sd", "runs", "operation", "mean", "max"];
    let mut rows = Vec::new();
    for phase in figures.phases() {
        let mut title = vec![String::new(); head.len()];
        title[0] = shorten(phase, NAME);
        rows.push(title);
        let op = main_op(figures, matrix.cells.len(), phase);
        for (index, cell) in matrix.cells.iter().enumerate() {
            rows.push(line(figures, index, &cell.name, (phase, &op)));
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    format!("\n{}", lined_up(&head, rows, color))
}

fn line(figures: &Figures, cell: usize, name: &str, (phase, op): (&str, &str)) -> Vec<String> {
    let (all, own) = (figures.of_phase(cell, phase, "all"), figures.of_phase(cell, phase, op));
    let bytes = spread(&all, Column::BytesPerS);
    let ops = spread(&all, Column::OpsPerS);
    let moves = bytes.mean().is_some_and(|mean| mean > 0.0);
    let text =
        |value: Option<f64>, text: &dyn Fn(f64) -> String| value.map_or_else(|| "-".into(), text);
    let megabytes =
        |value: Option<f64>| text(value.filter(|_| moves), &|value| format_number(value / 1e6));
    let rate = |value: Option<f64>| text(value, &format_count);
    let latency = |value: Option<f64>| text(value, &|us| format_ns(us * 1e3));
    let longest = each(&own, Column::LatMaxUs).reduce(f64::max);
    vec![
        format!("  {}", shorten(name, NAME - 2)),
        megabytes(bytes.mean()),
        megabytes(bytes.deviation()),
        rate(ops.mean()),
        rate(ops.deviation()),
        all.len().to_string(),
        op.to_owned(),
        latency(spread(&own, Column::LatMeanUs).mean()),
        latency(longest),
    ]
}

/// The operation that moves the most bytes in a phase, or where none does, that of which there are
/// most.
fn main_op(figures: &Figures, cells: usize, phase: &str) -> String {
    let total = |column: Column, op: &str| -> f64 {
        (0..cells).map(|cell| each(&figures.of_phase(cell, phase, op), column).sum::<f64>()).sum()
    };
    let rank = |op: &&str| (total(Column::BytesPerS, op), total(Column::OpsPerS, op));
    let most = figures.ops_of_phase(phase).into_iter().max_by(|a, b| {
        let ((a_bytes, a_ops), (b_bytes, b_ops)) = (rank(a), rank(b));
        a_bytes.total_cmp(&b_bytes).then(a_ops.total_cmp(&b_ops))
    });
    most.unwrap_or("all").to_owned()
}

fn each<'v>(rows: &'v [&Values], column: Column) -> impl Iterator<Item = f64> + use<'v> {
    let metric = Metric::new(column, "all");
    rows.iter().filter_map(move |values| metric.value(values))
}

fn spread(rows: &[&Values], column: Column) -> Spread {
    let mut spread = Spread::default();
    each(rows, column).for_each(|value| spread.add(value));
    spread
}
