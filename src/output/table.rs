//! The text at the end of a run: a table of disks, one of operations, a verdict, notes.
//! Pure functions from data to text, at most 100 columns wide, ASCII but for names.

use super::model::{DiskLine, Report, Status};
use super::phases::phase_table;
use super::text::{Grid, shorten};
use crate::metrics::{DiskTotals, OpSummary};
use crate::stats;
use crate::units::{format_count, format_ns, format_number};

/// Width of a label, so that a line stays within 100 columns.
const LABEL: usize = 24;

/// All of it: disks, verdict, operations, notes.
#[must_use]
pub fn end_text(report: &Report, color: bool) -> String {
    let mut out = disk_table(report, color);
    if let Some(verdict) = verdict(&report.disks) {
        out.push_str(&verdict);
        out.push('\n');
    }
    out.push('\n');
    out.push_str(&op_table(report, color));
    if !report.phases.is_empty() {
        out.push('\n');
        out.push_str(&phase_table(&report.phases, color));
    }
    for note in &report.notes {
        out.push_str(note);
        out.push('\n');
    }
    out
}

/// A line per disk and, with several, one for all.
#[must_use]
pub fn disk_table(report: &Report, color: bool) -> String {
    let head = ["disk", "status", "ops/s", "MB/s", "p50", "p99", "max", "errors", "passes", "pass"];
    let mut grid = Grid::new(2, &head);
    for disk in &report.disks {
        grid.push(disk_cells(disk));
    }
    let several = report.disks.len() > 1;
    if several {
        grid.push(total_cells(report));
    }
    grid.render(color, several)
}

fn disk_cells(disk: &DiskLine) -> Vec<String> {
    let mut cells = vec![shorten(&disk.label, LABEL), disk.status.word().to_owned()];
    if disk.status.is_left_out() && disk.totals.iter().next().is_none() {
        cells.resize(10, "-".into());
        return cells;
    }
    cells.extend(load_cells(&disk.totals.all(), disk.rates));
    cells.push(format_count(disk.passes as f64));
    cells.push(seconds(disk.pass_mean_s));
    cells
}

fn total_cells(report: &Report) -> Vec<String> {
    let bad = report.disks.iter().filter(|disk| disk.status != Status::Ok).count();
    let status = if bad == 0 { "ok".into() } else { format!("{bad} not ok") };
    let mut cells = vec![format!("all {} disks", report.disks.len()), status];
    let all = merged(report).all();
    cells.extend(load_cells(&all, rates(&all, report.window_s)));
    let passes: u64 = report.disks.iter().map(|disk| disk.passes).sum();
    let time: f64 =
        report.disks.iter().filter_map(|d| Some(d.passes as f64 * d.pass_mean_s?)).sum();
    cells.push(format_count(passes as f64));
    cells.push(seconds((passes > 0).then(|| time / passes as f64)));
    cells
}

/// Operations and bytes per second over a window.
fn rates(all: &OpSummary, window_s: f64) -> Option<(f64, f64)> {
    (window_s > 0.0).then(|| (all.tally.ops as f64 / window_s, all.tally.bytes as f64 / window_s))
}

/// ops/s, MB/s, p50, p99, max, errors.
fn load_cells(all: &OpSummary, rates: Option<(f64, f64)>) -> [String; 6] {
    let rate = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    [
        rate(rates.map(|(ops, _)| format_count(ops))),
        rate(rates.map(|(_, bytes)| format_number(bytes / 1e6))),
        latency(all.percentile_ns(0.5)),
        latency(all.percentile_ns(0.99)),
        latency((all.tally.ops > 0).then_some(all.max_ns as f64)),
        format_count(all.tally.errors as f64),
    ]
}

/// A line per operation, over all disks.
#[must_use]
pub fn op_table(report: &Report, color: bool) -> String {
    let head =
        ["op", "count", "errors", "skipped", "ops/s", "MB/s", "mean", "p50", "p90", "p99", "max"];
    let mut grid = Grid::new(1, &head);
    for (kind, summary) in merged(report).iter() {
        let [ops_s, mb_s, p50, p99, max, errors] =
            load_cells(summary, rates(summary, report.window_s));
        let mb_s = if summary.tally.bytes == 0 { "-".into() } else { mb_s };
        let [count, skipped] =
            [summary.tally.ops, summary.tally.skipped].map(|count| format_count(count as f64));
        let (mean, p90) = (latency(summary.mean_ns()), latency(summary.percentile_ns(0.9)));
        let name = kind.word().to_owned();
        grid.push(vec![name, count, errors, skipped, ops_s, mb_s, mean, p50, p90, p99, max]);
    }
    grid.render(color, false)
}

fn merged(report: &Report) -> DiskTotals {
    let mut all = DiskTotals::default();
    for disk in &report.disks {
        all.merge(&disk.totals);
    }
    all
}

/// Whether a disk stands out from the others by its ops/s; only disks that came out well count.
/// `None` when there is nothing to compare.
#[must_use]
pub fn verdict(disks: &[DiskLine]) -> Option<String> {
    let fine: Vec<_> =
        disks.iter().filter(|disk| disk.status == Status::Ok && disk.rates.is_some()).collect();
    if fine.len() < 2 {
        return None;
    }
    if fine.iter().any(|disk| disk.load != fine[0].load) {
        return Some("disks ran different loads and are not compared with each other".into());
    }
    let rates: Vec<f64> = fine.iter().filter_map(|disk| Some(disk.rates?.0)).collect();
    let median = stats::median(&rates).filter(|median| *median > 0.0)?;
    let (low, high) = rates.iter().fold((f64::MAX, 0.0f64), |(l, h), r| (l.min(*r), h.max(*r)));
    let spread = format_number(100.0 * (high - low) / median);
    let outliers = stats::outliers(&rates);
    if outliers.is_empty() {
        let few = if fine.len() < 3 { "; two disks are too few to tell" } else { "" };
        return Some(format!("no disk stands out (spread {spread} %{few})"));
    }
    let named: Vec<_> = outliers
        .iter()
        .map(|&index| {
            let change = 100.0 * (rates[index] / median - 1.0);
            let word = if change < 0.0 { "slow" } else { "fast" };
            let percent = format_number(change.abs());
            let sign = if change < 0.0 { '-' } else { '+' };
            format!(
                "{} is {word} ({sign}{percent} % from the median)",
                shorten(&fine[index].label, 60)
            )
        })
        .collect();
    Some(format!("{} (spread {spread} %)", named.join("\n")))
}

pub(super) fn latency(ns: Option<f64>) -> String {
    ns.map_or_else(|| "-".into(), format_ns)
}

pub(super) fn seconds(s: Option<f64>) -> String {
    latency(s.map(|s| s * 1e9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;
    use crate::metrics::{Sample, Shard};
    use crate::op::OpKind;

    fn line(label: &str, status: Status, ops: u64) -> DiskLine {
        let shard = Shard::new(false);
        for i in 0..ops {
            let fault = (i == 0).then_some(Fault::Short);
            shard.record(Sample { op: OpKind::WriteX, latency_ns: 12_000, bytes: 1000, fault });
        }
        if ops > 0 {
            shard.record(Sample {
                op: OpKind::Close,
                latency_ns: 2_000_000,
                bytes: 0,
                fault: None,
            });
            shard.skip(OpKind::Flush);
        }
        let totals = DiskTotals::read(&[shard]);
        DiskLine {
            label: label.into(),
            status,
            load: "client.txt".into(),
            rates: rates(&totals.all(), 2.0),
            totals,
            passes: 3,
            pass_mean_s: Some(0.5),
        }
    }

    fn report(disks: Vec<DiskLine>) -> Report {
        let notes = vec!["42 % of written bytes reached the device".into()];
        Report { disks, phases: Vec::new(), window_s: 2.0, notes }
    }

    #[test]
    fn the_whole_text_by_hand() {
        // 1999 writes and one close in 2 s are 1000 ops/s and 1 MB/s a disk.
        let mut left_out = line("/mnt/c", Status::Skipped, 0);
        left_out.passes = 0;
        let report = report(vec![
            line("/mnt/a", Status::Ok, 1999),
            line("/mnt/b", Status::Errors, 1999),
            left_out,
        ]);
        let expected = "\
disk         status    ops/s  MB/s     p50     p99     max  errors  passes   pass
/mnt/a       ok        1.00k  1.00  12.0us  12.0us  2.00ms       1       3  500ms
/mnt/b       errors    1.00k  1.00  12.0us  12.0us  2.00ms       1       3  500ms
/mnt/c       skipped       -     -       -       -       -       -       -      -
all 3 disks  2 not ok  2.00k  2.00  12.0us  12.0us  2.00ms       2       6  500ms

op      count  errors  skipped  ops/s  MB/s    mean     p50     p90     p99     max
Close       2       0        0      1     -  2.00ms       -       -       -  2.00ms
WriteX  4.00k       2        0  2.00k  2.00  12.0us  12.0us  12.0us  12.0us  12.0us
Flush       0       0        2      0     -       -       -       -       -       -
42 % of written bytes reached the device
";
        assert_eq!(end_text(&report, false), expected);
    }

    #[test]
    fn bold_changes_nothing_but_bold() {
        let report = report(vec![line("/a", Status::Ok, 10), line("/b", Status::Ok, 10)]);
        let bold = end_text(&report, true);
        assert!(bold.contains("\x1b[1mdisk"));
        assert_eq!(bold.replace("\x1b[1m", "").replace("\x1b[0m", ""), end_text(&report, false));
    }

    #[test]
    fn lines_fit_in_100_columns() {
        let mut wide = line(&format!("/mnt/{}/disk12", "x".repeat(200)), Status::Interrupted, 200);
        wide.rates = rates(&wide.totals.all(), 1e-4); // 1.99M ops/s, 1990 MB/s
        wide.passes = 12_345_678;
        wide.pass_mean_s = Some(0.012_345);
        let text = end_text(&report(vec![wide.clone(), wide]), false);
        for line in text.lines() {
            assert!(line.chars().count() <= 100, "{} columns: {line}", line.chars().count());
            assert!(line.is_ascii());
        }
        assert!(text.contains("/mnt/xxxxx...xxxx/disk12"), "{text}");
    }

    #[test]
    fn verdicts() {
        let disks = |rates: &[u64]| -> Vec<_> {
            let label = |i| format!("/mnt/d{i}");
            rates.iter().enumerate().map(|(i, r)| line(&label(i), Status::Ok, r - 1)).collect()
        };
        assert_eq!(verdict(&disks(&[100])), None);
        let level = verdict(&disks(&[100, 102, 98])).unwrap();
        assert_eq!(level, "no disk stands out (spread 4.00 %)");
        let two = verdict(&disks(&[100, 100])).unwrap();
        assert_eq!(two, "no disk stands out (spread 0 %; two disks are too few to tell)");
        let slow = verdict(&disks(&[100, 100, 101, 50, 99])).unwrap();
        assert_eq!(slow, "/mnt/d3 is slow (-50.0 % from the median) (spread 51.0 %)");
        let mut other = disks(&[100, 100, 50]);
        other[2].status = Status::Hung;
        assert!(verdict(&other).unwrap().starts_with("no disk stands out (spread 0 %"));
        other[1].load = "fserver".into();
        assert!(verdict(&other).unwrap().contains("different loads"));
    }
}
