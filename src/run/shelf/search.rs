//! The order of a search: files, windows, second looks, the verdict.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;

use super::super::outlet::Outlet;
use super::super::sequence::{Sequence, Step};
use super::super::window::Cut;
use super::super::worker::Worker;
use super::super::{RunError, RunRequest};
use super::facts::{ShelfDisk, peers};
use super::figures::{Column, Figure, Figures, Way, standings_in};
use super::fill::{Filled, fill_all};
use super::judge::{AGAIN_TOGETHER, Second, Suspect, Verdict, suspects};
use super::load::TESTS;
use super::plan::Plan;
use super::text::Found;
use crate::loadfile::Program;
use crate::output::Status;
use crate::units::format_duration;

/// More sentences about a disk that failed say the same.
const MOST_NOTES: usize = 4;

/// A search under way.
pub(super) struct Search<'s, 'w, 'l> {
    worker: &'s mut Worker<'w, 'l>,
    sequence: Sequence,
    outlet: &'s mut Outlet,
    disks: Vec<ShelfDisk>,
    groups: Vec<Vec<usize>>,
    tests: Vec<(RunRequest, Arc<Program>)>,
    plan: Plan,
    file_bytes: u64,
    figures: Figures,
    failed: BTreeSet<usize>,
    /// Whether a disk was left out before the search.
    pub(super) left_out: bool,
    /// What went wrong with disks, in sentences.
    notes: Vec<String>,
}

impl<'s, 'w, 'l> Search<'s, 'w, 'l> {
    pub(super) fn new(
        worker: &'s mut Worker<'w, 'l>,
        sequence: Sequence,
        outlet: &'s mut Outlet,
        disks: Vec<ShelfDisk>,
        plan: Plan,
        file_bytes: u64,
    ) -> Result<Self, RunError> {
        let base = worker.request;
        let tests: Result<Vec<_>, RunError> =
            TESTS.iter().map(|test| Ok((test.request(base), test.program(file_bytes)?))).collect();
        Ok(Self {
            worker,
            sequence,
            outlet,
            groups: peers(&disks),
            figures: Figures::new(disks.len()),
            tests: tests?,
            disks,
            plan,
            file_bytes,
            failed: BTreeSet::new(),
            left_out: false,
            notes: Vec::new(),
        })
    }

    /// All of it; gives the disks back, with the exit code.
    pub(super) async fn run(mut self) -> Result<(Sequence, u8), RunError> {
        let mut found = Vec::new();
        let done = self.search(&mut found).await;
        let mut code = self.sequence.code;
        if let Err(error) = done {
            if self.sequence.lost {
                return Err(error);
            }
            self.worker.tell(&error);
            code = error.code;
        } else if !matches!(self.sequence.cut, Some(Cut::FrontGone | Cut::ReaderGone)) {
            code = code.max(self.report(&found));
        }
        Ok((self.sequence, code))
    }

    async fn search(&mut self, found: &mut Vec<Suspect>) -> Result<(), RunError> {
        self.fill().await?;
        self.measure().await?;
        let (alone, mut together) = suspects(&self.figures, &self.groups);
        *found = alone;
        self.check_alone(found).await?;
        let known: Vec<(usize, usize)> =
            found.iter().filter(|one| one.is_confirmed()).map(|one| (one.disk, one.test)).collect();
        // What is slow alone is slow together, too: that says nothing of its path.
        together.retain(|one| !known.contains(&(one.disk, one.test)));
        let checked = self.check_together(&mut together).await;
        found.extend(together);
        checked
    }

    fn all(&self) -> Vec<usize> {
        (0..self.disks.len()).collect()
    }

    /// The file on each disk; one that cannot have it is out.
    async fn fill(&mut self) -> Result<(), RunError> {
        if self.sequence.cut.is_some() {
            return Ok(());
        }
        let grace = super::patience(self.worker.request);
        let Filled { failed, cut, stragglers } =
            fill_all(&mut self.sequence, self.file_bytes, grace, self.worker.link).await;
        self.worker.stragglers.extend(stragglers);
        self.sequence.cut = cut;
        for (disk, errno) in failed {
            let label = &self.disks[disk].label;
            let why = match errno {
                Some(Errno::INVAL) => {
                    return Err(RunError::cannot(format!(
                        "{label}: its file system has no O_DIRECT, which --preset disks needs: \
                         leave this disk out"
                    )));
                }
                Some(errno) => crate::host::errno::describe(errno),
                None => "it hangs".into(),
            };
            self.notes.push(format!("{label}: its file could not be written: {why}"));
            self.failed.insert(disk);
        }
        Ok(())
    }

    /// Every test on all disks, then on each.
    async fn measure(&mut self) -> Result<(), RunError> {
        let mut done = Duration::ZERO;
        for way in self.plan.ways() {
            for test in 0..TESTS.len() {
                if self.sequence.cut.is_some() {
                    return Ok(());
                }
                let (text, then) = self.plan.begins(test, way, done);
                self.worker.progress.note(&text);
                done = then;
                let windows: Vec<Vec<usize>> = match way {
                    Way::Together => vec![self.all()],
                    Way::Alone => self.all().into_iter().map(|disk| vec![disk]).collect(),
                };
                for disks in windows {
                    for (disk, figure) in self.window(test, way, disks, "").await? {
                        self.figures.set(test, way, disk, figure);
                    }
                }
            }
        }
        Ok(())
    }

    /// One window; the disks that failed are noted.
    async fn window(
        &mut self,
        test: usize,
        way: Way,
        mut disks: Vec<usize>,
        again: &str,
    ) -> Result<Vec<(usize, Option<Figure>)>, RunError> {
        disks.retain(|disk| !self.failed.contains(disk));
        let (request, program) = &self.tests[test];
        let step = Step {
            request,
            programs: std::slice::from_ref(program),
            handles: 1,
            cell: format!("{}/{}{again}", TESTS[test].cell, way.word()),
            disks,
        };
        let results = self.worker.window(&mut self.sequence, &step, self.outlet).await?;
        let mut figures = Vec::new();
        for result in results {
            if !matches!(result.outcome.status, Status::Ok | Status::Interrupted) {
                self.failed.insert(result.disk);
                self.notes.push(format!(
                    "{} failed in {}, {} ({}):",
                    self.disks[result.disk].named(),
                    TESTS[test].name,
                    way.word(),
                    result.outcome.status.word()
                ));
                self.notes.extend(result.notes.into_iter().take(MOST_NOTES));
            }
            let figure = Figure::of(&TESTS[test], &result.outcome, result.device.as_ref());
            figures.push((result.disk, figure));
        }
        Ok(figures)
    }

    /// Measures each suspect again, in turn with disks that are well, until it is clear what it is.
    async fn check_alone(&mut self, suspects: &mut [Suspect]) -> Result<(), RunError> {
        self.say_checks(Way::Alone, suspects.len(), suspects);
        for suspect in suspects {
            for round in 0..suspect.rounds {
                let witness = suspect.witnesses.get(round % suspect.witnesses.len().max(1));
                let Some(witness) = witness.copied() else { break };
                let peer = self.figure_again(suspect.test, witness).await?;
                suspect.again.peers.extend(peer.map(|figure| figure.judged(suspect.usual_writes)));
                let mine = self.figure_again(suspect.test, suspect.disk).await?;
                suspect.again.mine.extend(mine.map(|figure| figure.judged(suspect.usual_writes)));
                if suspect.second() != Second::Open {
                    break;
                }
            }
        }
        Ok(())
    }

    /// A disk alone, again.
    async fn figure_again(&mut self, test: usize, disk: usize) -> Result<Option<Figure>, RunError> {
        let figures = self.window(test, Way::Alone, vec![disk], "/again").await?;
        Ok(figures.first().and_then(|(_, figure)| *figure))
    }

    /// Runs the tests again in which a disk stood out when all ran, until it is clear of each.
    async fn check_together(&mut self, suspects: &mut [Suspect]) -> Result<(), RunError> {
        let tests: BTreeSet<usize> = suspects.iter().map(|suspect| suspect.test).collect();
        self.say_checks(Way::Together, tests.len(), suspects);
        for test in tests {
            let mut open: Vec<&mut Suspect> =
                suspects.iter_mut().filter(|one| one.test == test).collect();
            for _ in 0..AGAIN_TOGETHER {
                let mut column: Column = vec![None; self.disks.len()];
                for (disk, figure) in self.window(test, Way::Together, self.all(), "/again").await?
                {
                    column[disk] = figure;
                }
                let standings: Vec<_> =
                    self.groups.iter().flat_map(|group| standings_in(group, &column)).collect();
                for suspect in &mut open {
                    let standing = standings.iter().find(|(disk, _)| *disk == suspect.disk);
                    suspect.again.standings.extend(standing.map(|(_, standing)| *standing));
                }
                if open.iter().all(|suspect| suspect.second() != Second::Open) {
                    break;
                }
            }
        }
        Ok(())
    }

    fn say_checks(&mut self, way: Way, count: usize, suspects: &[Suspect]) {
        if suspects.is_empty() || self.sequence.cut.is_some() {
            return;
        }
        let what: BTreeSet<String> = suspects
            .iter()
            .map(|one| format!("{} ({})", self.disks[one.disk].label, TESTS[one.test].name))
            .collect();
        let time = format_duration(self.plan.checks(way, count));
        let what = what.into_iter().collect::<Vec<_>>().join(", ");
        self.worker
            .progress
            .note(&format!("measuring again, {}: {what}; up to {time}", way.word()));
    }

    /// Says what was found; returns the exit code.
    fn report(&mut self, suspects: &[Suspect]) -> u8 {
        let verdict = Verdict::of(suspects, &self.figures, &self.disks);
        let failed = self.left_out || !self.failed.is_empty();
        let found = Found {
            disks: &self.disks,
            groups: &self.groups,
            figures: &self.figures,
            suspects,
            verdict: &verdict,
            failed,
        };
        let mut lines = found.sentences();
        lines.extend(self.notes.iter().cloned());
        for disk in &self.disks {
            for (name, more) in disk.new_faults() {
                lines.push(format!("{}: the kernel counted {more} more: {name}", disk.label));
            }
        }
        if self.sequence.cut.is_some() {
            lines.push("interrupted: what was measured until then".into());
        }
        if let Some(file) = &self.outlet.file {
            lines.push(format!("result: {}", file.display()));
        } else if self.outlet.table_on_stdout {
            lines.push("for the same as CSV, pipe it or add --out FILE".into());
        }
        let ways: Vec<Way> = self.plan.ways().collect();
        super::say(&mut self.worker.progress, self.outlet, |color| {
            let tables: Vec<String> = ways.iter().map(|way| found.table(*way, color)).collect();
            format!("{}\n{}\n", tables.join("\n"), lines.join("\n"))
        });
        u8::from(failed || !verdict.is_empty())
    }
}
