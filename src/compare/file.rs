//! The summary rows of a result file, gathered into runs.

use std::collections::HashMap;
use std::path::Path;

use super::error::CompareError;
use super::model::{Measures, Run};
use crate::output::Column;
use crate::results::{Line, ReadError, ResultFile};

/// Reads the runs of a file in the order in which they ended.
///
/// # Errors
/// When the file cannot be read, is no result, is of a later version, or ends in a torn line.
pub(super) fn read(path: &Path) -> Result<Vec<Run>, CompareError> {
    let mut file = ResultFile::open(path)?;
    let mut gathered = Gathered::default();
    while let Some(line) = file.next_line()? {
        match line.text(Column::Row) {
            "summary" => gathered.add(line)?,
            "phase" => gathered.add_phase(line)?,
            _ => {}
        }
    }
    let mut runs = gathered.runs;
    if runs.is_empty() {
        return Err(file.nothing_there().into());
    }
    runs.sort_by(|a, b| a.ended.cmp(&b.ended));
    Ok(runs)
}

#[derive(Default)]
struct Gathered {
    runs: Vec<Run>,
    /// Index of a run by its id.
    known: HashMap<String, usize>,
}

impl Gathered {
    fn run(&mut self, line: Line<'_>) -> Result<&mut Run, ReadError> {
        let id = line.text(Column::RunId);
        let index = match self.known.get(id) {
            Some(index) => *index,
            None => {
                self.known.insert(id.to_owned(), self.runs.len());
                self.runs.push(new_run(line)?);
                self.runs.len() - 1
            }
        };
        Ok(&mut self.runs[index])
    }

    /// Takes the row of a phase: the summary rows say the rest of its run.
    fn add_phase(&mut self, line: Line<'_>) -> Result<(), ReadError> {
        let key =
            [Column::Phase, Column::Disk, Column::Op].map(|column| line.text(column).to_owned());
        let measures = measures_of(line)?;
        self.run(line)?.phases.insert(key, measures);
        Ok(())
    }

    fn add(&mut self, line: Line<'_>) -> Result<(), ReadError> {
        let measures = measures_of(line)?;
        let run = self.run(line)?;
        let (disk, op) = (line.text(Column::Disk), line.text(Column::Op));
        if op == "all" {
            run.note_status(disk, line.text(Column::Status));
            for column in Column::ALL {
                if let Some(text) = line.get(*column) {
                    run.note_condition(*column, text);
                }
            }
            match line.text(Column::Steady) {
                "1" => run.steady = run.steady.or(Some(true)),
                "0" => run.steady = Some(false),
                _ => {}
            }
        }
        run.insert(disk, op, measures);
        Ok(())
    }
}

fn measures_of(line: Line<'_>) -> Result<Measures, ReadError> {
    let mut measures = Measures::new();
    for (slot, column) in Measures::columns() {
        if let Some(number) = line.number(column)? {
            measures.set(slot, number);
        }
    }
    Ok(measures)
}

fn new_run(line: Line<'_>) -> Result<Run, ReadError> {
    let text = |column| line.text(column).to_owned();
    Ok(Run {
        id: text(Column::RunId),
        experiment: text(Column::ExperimentId),
        boot: text(Column::BootId),
        host: text(Column::Host),
        kernel: text(Column::Kernel),
        host_sha256: text(Column::HostSha256),
        cell: text(Column::Cell),
        block: line.number(Column::Block)?.map(|block| block as u64),
        planned: line.number(Column::BlocksPlanned)?.map(|blocks| blocks as u64),
        flags: text(Column::Flags),
        ended: text(Column::TsUtc),
        ..Run::default()
    })
}
