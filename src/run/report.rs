//! The end of a run: rows, tables, host.json, exit code.

use std::io::Write;
use std::time::Duration;

use super::drain::Drain;
use super::hostfile;
use super::live::LiveDisk;
use super::notes;
use super::outcome::{Outcome, check_sums};
use super::outlet::{Outlet, sink_failed};
use super::phases;
use super::prepare::{LeftOut, ReadyDisk};
use super::rows::{RowMaker, RunFacts};
use super::window::{Cut, Window};
use super::worker::{Measured, Worker};
use crate::client::PassTimes;
use crate::host::facts::HostFacts;
use crate::host::kmsg::kernel_lines_naming;
use crate::metrics::DiskTotals;
use crate::output::{DiskLine, Report, Row, SinkError, Status, end_text};

/// Kernel log level of a warning: 4, and less for what is worse.
const WARNING: u8 = 4;

impl Worker<'_, '_> {
    /// Writes rows and table; returns the exit code.
    pub(super) fn report(
        &mut self,
        measured: &Measured,
        left_out: &[LeftOut],
        outlet: &mut Outlet,
        rows: &RowMaker,
    ) -> u8 {
        let outcomes = measured.outcomes();
        let (code, _) = self.write_rows(measured, &outcomes, left_out, outlet, rows);
        self.progress.finish();
        if let Some(ticker) = &measured.ticker {
            return self.say_dbench(ticker, measured, &outcomes, outlet, code);
        }
        self.say_table(measured, &outcomes, left_out, outlet);
        code
    }

    /// Writes the rows of a window; returns the exit code, and why they could not be written.
    pub(super) fn write_rows(
        &mut self,
        measured: &Measured,
        outcomes: &[Outcome],
        left_out: &[LeftOut],
        outlet: &mut Outlet,
        rows: &RowMaker,
    ) -> (u8, Option<SinkError>) {
        let (mut code, all_rows) = self.window_rows(measured, outcomes, left_out, rows);
        let mut failure = None;
        match &measured.cut {
            Some(Cut::ReaderGone) => code = 141,
            Some(Cut::Unwritable(error)) => {
                self.progress.note(&error.to_string());
                code = 1;
            }
            Some(Cut::FrontGone) => {}
            Some(Cut::Signal(_)) | None => {
                if let Err(error) = outlet.write_now(&all_rows) {
                    let said = sink_failed(&error);
                    self.progress.note(&said.message);
                    code = said.code;
                    failure = Some(error);
                }
            }
        }
        (code, failure)
    }

    /// Makes the rows of a window; the exit code, and the rows, that of everything last.
    pub(super) fn window_rows(
        &mut self,
        measured: &Measured,
        outcomes: &[Outcome],
        left_out: &[LeftOut],
        rows: &RowMaker,
    ) -> (u8, Vec<Row>) {
        let Measured { disks, run, .. } = measured;
        let mut code = exit_code(outcomes, disks, left_out);
        for (disk, outcome) in disks.iter().zip(outcomes) {
            if let Err(defect) = check_sums(disk, &outcome.totals) {
                self.progress.note(&defect);
                code = 1;
            }
        }
        let mut all_rows = Vec::new();
        for (disk, outcome) in disks.iter().zip(outcomes) {
            all_rows.extend(rows.summary(disk, outcome, run));
            all_rows.extend(rows.phases(disk, run.window));
            all_rows.extend(rows.calls(disk));
            all_rows.extend(rows.errors(disk, outcome, run.window));
            all_rows.extend(rows.passes(disk, run.window));
        }
        all_rows.extend(left_out.iter().map(|disk| rows.left_out(disk)));
        all_rows.extend(rows.phases_of_all(disks, run.window));
        all_rows.extend(rows.summary_of_all(&of_all(outcomes, run.window), disks, run));
        (code, all_rows)
    }

    fn say_table(
        &mut self,
        measured: &Measured,
        outcomes: &[Outcome],
        left_out: &[LeftOut],
        outlet: &Outlet,
    ) {
        let Measured { disks, cut, run, .. } = measured;
        if matches!(cut, Some(Cut::ReaderGone | Cut::FrontGone)) {
            return;
        }
        let mut lines: Vec<DiskLine> =
            disks.iter().zip(outcomes).map(|(d, o)| notes::disk_line(d, o)).collect();
        lines.extend(left_out.iter().map(|out| DiskLine {
            label: out.label.clone(),
            status: out.status,
            load: String::new(),
            rates: None,
            totals: DiskTotals::default(),
            passes: 0,
            pass_mean_s: None,
        }));
        let mut notes = notes::after(self.request, disks, outcomes, run, cut.as_ref());
        notes.extend(phases::notes(disks));
        if let Some(file) = &outlet.file {
            notes.push(format!("result: {}", file.display()));
        } else if outlet.table_on_stdout {
            notes.push("for the same as CSV, pipe it or add --out FILE".into());
        }
        let window_s = of_all(outcomes, run.window).window_s;
        let phases = phases::lines(disks);
        let text = |color| end_text(&Report { disks: lines, phases, window_s, notes }, color);
        if outlet.table_on_stdout {
            // A reader that went away has seen what it wanted.
            let _ = std::io::stdout().write_all(text(color_wanted()).as_bytes());
        } else {
            self.progress.note(text(false).trim_end());
        }
    }

    pub(super) fn write_host(
        &mut self,
        host: &HostFacts,
        run_id: &str,
        devices: &[String],
        run: &RunFacts,
        outlet: &mut Outlet,
        started: Duration,
    ) {
        let lines: Vec<String> = kernel_lines_naming(devices, started)
            .into_iter()
            .filter(|line| line.level <= WARNING)
            .map(|line| line.text)
            .collect();
        for line in lines.iter().take(10) {
            self.progress.note(&format!("kernel: {line}"));
        }
        let document = hostfile::document(host, run_id, run, &lines);
        if let Some(file) = &outlet.file
            && std::fs::metadata(file).is_ok_and(|meta| meta.is_file())
        {
            let path = hostfile::path_beside(file);
            if let Err(error) = hostfile::write(&path, &document) {
                self.progress.note(&format!("cannot write {}: {error}", path.display()));
            }
        }
        outlet.set_host(document);
    }

    pub(super) fn finish(&mut self, outlet: &mut Outlet, code: u8) -> u8 {
        match outlet.finish() {
            Ok(()) => code,
            Err(_) if code == 141 => code,
            Err(error) => {
                let error = sink_failed(&error);
                if error.code != 141 {
                    self.progress.note(&error.message);
                }
                error.code
            }
        }
    }
}

impl Measured {
    /// What came of each disk.
    pub(super) fn outcomes(&self) -> Vec<Outcome> {
        let Self { disks, cut, run, drained, .. } = self;
        let of = |(disk, drain): (&LiveDisk, &Option<Drain>)| {
            Outcome::of(disk, run.window, cut.as_ref(), *drain)
        };
        disks.iter().zip(&drained.each).map(of).collect()
    }
}

/// Names that kernel messages use for the disks' devices.
pub(super) fn device_names<'a>(disks: impl Iterator<Item = &'a ReadyDisk>) -> Vec<String> {
    disks
        .filter_map(|disk| disk.device.as_ref())
        .flat_map(crate::host::device::DeviceFacts::all_names)
        .collect()
}

/// All disks as one: sums, the window that fits all of them.
fn of_all(outcomes: &[Outcome], window: Window) -> Outcome {
    let mut totals = DiskTotals::default();
    let mut passes = PassTimes::default();
    for outcome in outcomes {
        totals.merge(&outcome.totals);
        passes.merge(&outcome.passes);
    }
    let ends = || outcomes.iter().filter_map(|outcome| outcome.last_done_s);
    let last_done_s = ends().max_by(f64::total_cmp);
    let firsts = outcomes.iter().filter_map(|outcome| outcome.first_done_s);
    let by_passes = outcomes.iter().any(|outcome| outcome.while_all_active.is_some());
    let status = outcomes.iter().find(|o| o.status != Status::Ok).map_or(Status::Ok, |o| o.status);
    Outcome {
        totals,
        // Disks that end at different times have no common window but the whole.
        window_s: last_done_s.filter(|_| by_passes).unwrap_or(window.seconds()),
        while_all_active: None,
        first_done_s: firsts.min_by(f64::total_cmp),
        last_done_s,
        passes,
        warmup_errors: 0,
        allowed_skips: 0,
        late_ops: outcomes.iter().map(|outcome| outcome.late_ops).sum(),
        status,
        drain: None,
    }
}

fn exit_code(outcomes: &[Outcome], disks: &[LiveDisk], left_out: &[LeftOut]) -> u8 {
    let bad = outcomes.iter().any(|outcome| outcome.missed() > 0 || outcome.status == Status::Hung);
    let lost = disks.iter().any(|disk| disk.lost > 0);
    u8::from(bad || lost || !left_out.is_empty())
}

pub(super) fn color_wanted() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
