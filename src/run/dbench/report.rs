//! The end of a run that speaks as dbench does.

use super::ticker::{Seen, Ticker};
use crate::op::OpKind;
use crate::output::dbench::{DbenchOp, Total, client_head};
use crate::run::RunRequest;
use crate::run::notes;
use crate::run::outcome::Outcome;
use crate::run::outlet::{Outlet, sink_failed};
use crate::run::window::{Cut, Window};
use crate::run::worker::{Measured, Worker};

impl Worker<'_, '_> {
    /// Writes what dbench writes at its end, and on stderr what went wrong; returns the exit code.
    pub(in crate::run) fn say_dbench(
        &mut self,
        ticker: &Ticker,
        measured: &Measured,
        outcomes: &[Outcome],
        outlet: &mut Outlet,
        code: u8,
    ) -> u8 {
        let cut = measured.cut.as_ref();
        if let Some(line) = cut.and_then(notes::cut_note) {
            self.progress.note(&line);
        }
        for (disk, outcome) in measured.disks.iter().zip(outcomes) {
            for line in notes::disk_notes(disk, outcome, measured.run.window) {
                self.progress.note(&line);
            }
        }
        if matches!(cut, Some(Cut::ReaderGone | Cut::FrontGone | Cut::Unwritable(_))) {
            return code;
        }
        match outlet.write_text(&ticker.end(self.request, measured.run.window)) {
            Ok(()) => code,
            Err(error) => {
                let error = sink_failed(&error);
                self.progress.note(&error.message);
                error.code
            }
        }
    }
}

impl Ticker {
    /// Tables and the last line.
    fn end(&self, request: &RunRequest, window: Window) -> String {
        let format = self.dbench.format;
        let each: Vec<Vec<DbenchOp>> = self.shards.iter().map(Seen::ops).collect();
        let mut all = vec![DbenchOp::default(); OpKind::COUNT];
        for ops in &each {
            all.iter_mut().zip(ops).for_each(|(sum, op)| sum.merge(op));
        }
        let mut text = format!("\n{}", format.table(&all, &all));
        if self.dbench.per_client {
            text.push_str("Per client results:\n");
            // Each client has a thread, and each thread counters of its own.
            for (client, (ops, seen)) in (0..).zip(each.iter().zip(&self.shards)) {
                text.push_str(&client_head(client, seen.lines(), seen.bytes()));
                text.push_str(&format.table(ops, &all));
            }
        }
        let seconds = self.measured_s(window);
        let rate = if seconds > 0.0 { self.bytes as f64 / 1e6 / seconds } else { 0.0 };
        text + &format.total(&Total {
            mb_per_s: rate,
            sync_open: request.load.sync_open,
            sync_dirs: request.load.sync_dir,
            clients: request.clients,
            processes: self.dbench.processes,
            max_latency_ms: self.worst_ns as f64 / 1e6,
        })
    }
}
