//! `--profile`: a run of each cell under perf, and which kernel functions make the cells differ.

use std::path::PathBuf;

use super::job::Experiment;
use crate::output::{Column, Row, lined_up, shorten};
use crate::profile::{Change, Profiled, Recording, difference, most_changed};
use crate::run::{Series, Worker};
use crate::units::format_number;

/// Functions that are named.
const MOST: usize = 10;
/// Widths of texts in the table.
const FUNCTION: usize = 32;
const CELL: usize = 20;

/// What perf saw of a cell.
struct Seen {
    cell: usize,
    recording: Recording,
    ops: u64,
    /// Its stacks beside those of the first cell, in a file.
    folded: Option<PathBuf>,
}

impl<'a> Experiment<'a> {
    /// Runs each cell once more, under perf, and says what differs. What cannot be seen is told, and
    /// no failure: all that was asked first has been measured.
    pub(super) async fn profile(&mut self, worker: &mut Worker<'a, '_>, series: &mut Series) {
        let mut seen = Vec::new();
        for cell in 0..self.ready.len() {
            let mut tried = self.profile_of(worker, series, cell).await;
            if tried.is_err() && !series.is_cut() {
                // perf now and then comes too late on a machine that is busy.
                tried = self.profile_of(worker, series, cell).await;
            }
            match tried {
                Ok((recording, ops)) => seen.push(Seen { cell, recording, ops, folded: None }),
                Err(why) if series.is_cut() => return drop(why),
                Err(why) => return worker.note(&format!("no profile: {why}")),
            }
        }
        if let Err(why) = write_folded(&mut seen, series) {
            worker.note(&why);
        }
        let profiled: Vec<Profiled<'_>> = seen
            .iter()
            .map(|seen| Profiled { recording: &seen.recording, ops: seen.ops })
            .collect();
        let changes = most_changed(&profiled, MOST);
        let rows: Vec<Row> =
            changes.iter().flat_map(|change| self.rows(series, &seen, change)).collect();
        series.write(&rows);
        worker.say_result(series, |color| self.profile_text(&seen, &profiled, &changes, color));
    }

    async fn profile_of(
        &mut self,
        worker: &mut Worker<'a, '_>,
        series: &mut Series,
        cell: usize,
    ) -> Result<(Recording, u64), String> {
        let name = &self.matrix.cells[cell].name;
        let (number, cells) = (cell + 1, self.ready.len());
        let share = cell as f64 / cells as f64;
        worker.show_series(format!("perf, run {number} of {cells} ({name})"), share);
        let mut run = self.run_of(cell, 0, cell as u64);
        run.profiled = true;
        let ran = worker.one_run(series, &run).await.map_err(|error| error.to_string())?;
        let of_all = ran.rows.last().map(|row| row.get(Column::Ops).csv().into_owned());
        let ops = of_all.and_then(|ops| ops.parse::<u64>().ok()).filter(|ops| *ops > 0);
        if ran.fatal || !ran.notes.is_empty() {
            return Err(format!("cell {name}: {}", ran.notes.join("; ")));
        }
        match (ran.profile, ops) {
            (Some(Ok(recording)), Some(ops)) => Ok((recording, ops)),
            (Some(Err(why)), _) => Err(why),
            _ => Err(format!("cell {name}: nothing was done")),
        }
    }

    /// A row for each cell, since what a function takes of one is no change.
    fn rows(&self, series: &Series, seen: &[Seen], change: &Change) -> Vec<Row> {
        let row = |(seen, part): (&Seen, &crate::profile::Part)| {
            let mut row = series.row("profile");
            row.set(Column::Cell, self.matrix.cells[seen.cell].name.as_str())
                .set(Column::Disk, "all")
                .set(Column::Op, "all")
                .set(Column::Ops, seen.ops)
                .set(Column::Function, change.function.as_str())
                .set(Column::SelfPerOp, part.per_op)
                .set(Column::SelfPct, 100.0 * part.share)
                .set(Column::Samples, part.own.samples)
                .set(Column::ProfileEvent, seen.recording.event.as_str())
                .set(Column::Folded, seen.folded.as_ref().map(|path| path.display().to_string()));
            row
        };
        seen.iter().zip(&change.parts).map(row).collect()
    }

    fn profile_text(
        &self,
        seen: &[Seen],
        profiled: &[Profiled<'_>],
        changes: &[Change],
        color: bool,
    ) -> String {
        use std::fmt::Write as _;
        let name = |cell: usize, width| shorten(&self.matrix.cells[cell].name, width);
        let first = &seen[0].recording;
        let (unit, event) = (first.unit(), &first.event);
        let mut out = format!("profile: one run of each cell under perf ({event}), not measured\n");
        for (seen, one) in seen.iter().zip(profiled) {
            let all = seen.recording.all;
            let _ = write!(
                out,
                "{}: {} {unit} an operation, {} samples",
                name(seen.cell, 60),
                format_number(one.per_op(all.weight)),
                all.samples
            );
            let file = seen.folded.as_ref().map(|path| format!("; stacks: {}", path.display()));
            let _ = writeln!(out, "{}", file.unwrap_or_default());
        }
        if changes.is_empty() {
            out.push_str("no kernel function stands out from the chance of sampling\n");
            return out;
        }
        let part = |change: &Change, at: usize| {
            let part = change.parts[at];
            format!("{} ({} %)", format_number(part.per_op), format_number(100.0 * part.share))
        };
        let rows = changes.iter().map(|change| {
            let (least, most) = (change.least, change.most);
            vec![
                shorten(&change.function, FUNCTION),
                part(change, least),
                name(least, CELL),
                part(change, most),
                name(most, CELL),
                format!("+{}", format_number(change.difference())),
            ]
        });
        let unit = format!("{unit}/op");
        out.push('\n');
        let head = ["kernel function", "least", "in", "most", "in", &unit];
        out.push_str(&lined_up(&head, rows.collect(), color));
        out
    }
}

/// Writes the stacks of each cell beside those of the first one, next to the result.
fn write_folded(seen: &mut [Seen], series: &Series) -> Result<(), String> {
    let Some((first, others)) = seen.split_first_mut() else { return Ok(()) };
    let Some(result) = series.file() else {
        return Err(
            "stacks for flame graphs are written beside --out FILE, and there is none".into()
        );
    };
    for other in others {
        let mut name = result.as_os_str().to_owned();
        name.push(format!(".cell{}.folded", other.cell + 1));
        let path = PathBuf::from(name);
        let from = Profiled { recording: &first.recording, ops: first.ops };
        let to = Profiled { recording: &other.recording, ops: other.ops };
        std::fs::write(&path, difference(&from, &to))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        other.folded = Some(path);
    }
    Ok(())
}
