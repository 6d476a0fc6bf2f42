//! Reading result files: their summary rows, gathered into runs.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use csv::StringRecord;

use super::error::CompareError;
use super::model::{Measures, Run};
use crate::output::{Column, SCHEMA};

/// Columns without which a file says nothing.
const NEEDED: [Column; 4] = [Column::RunId, Column::Row, Column::Disk, Column::Op];

/// Reads the runs of a file in the order in which they ended.
///
/// # Errors
/// When the file cannot be read, is no result, is of a later version, or ends in a torn line.
pub(super) fn read(path: &Path) -> Result<Vec<Run>, CompareError> {
    let fail = |source| CompareError::Io { path: path.to_owned(), source };
    refuse_torn(path)?;
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_path(path)
        .map_err(|error| fail(std::io::Error::other(error.to_string())))?;
    let header = reader.headers().map_err(|error| syntax(path, 1, 1, &error.to_string()))?.clone();
    let places = Places::new(path, &header)?;
    let mut runs = Gathered::default();
    let mut record = StringRecord::new();
    loop {
        let more = reader.read_record(&mut record);
        let (line, byte) = record.position().map_or((0, 0), |at| (at.line(), at.byte()));
        match more {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Err(syntax(path, line, 1, &error.to_string())),
        }
        if record.len() != header.len() {
            let reason = format!(
                "{} fields where the header has {}: the line was cut, or another file was added",
                record.len(),
                header.len()
            );
            return Err(syntax(path, line, 1, &reason));
        }
        runs.add(&places, &record).map_err(|(field, reason)| {
            syntax(path, line, character_of(path, byte, field), &reason)
        })?;
    }
    let mut runs = runs.runs;
    if runs.is_empty() {
        return Err(syntax(path, 1, 1, "no summary rows: no run is in this file"));
    }
    runs.sort_by(|a, b| a.ended.cmp(&b.ended));
    Ok(runs)
}

fn syntax(path: &Path, line: u64, column: usize, reason: &str) -> CompareError {
    CompareError::Syntax { path: path.to_owned(), line, column, reason: reason.to_owned() }
}

/// A killed run leaves half a line; what stands in it is not what was measured.
fn refuse_torn(path: &Path) -> Result<(), CompareError> {
    let fail = |source| CompareError::Io { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(fail)?;
    let meta = file.metadata().map_err(fail)?;
    if !meta.is_file() {
        let why = std::io::Error::other("it is no regular file, and a result is read twice");
        return Err(fail(why));
    }
    let length = meta.len();
    if length == 0 {
        return Err(syntax(path, 1, 1, "the file is empty"));
    }
    file.seek(SeekFrom::Start(length - 1)).map_err(fail)?;
    let mut last = [0];
    file.read_exact(&mut last).map_err(fail)?;
    if last == *b"\n" {
        return Ok(());
    }
    let text = std::fs::read(path).map_err(fail)?;
    let good = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let line = text.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
    let reason = format!(
        "the last line is not complete (a run was killed?); cut it off with `truncate -s {good} \
         {}`: the run it belongs to may be incomplete, too",
        path.display()
    );
    Err(syntax(path, line, 1, &reason))
}

/// Where the line's field begins, in characters from 1; 1 when the file cannot be read again.
fn character_of(path: &Path, byte: u64, field: usize) -> usize {
    let read = || -> std::io::Result<String> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(byte))?;
        let mut text = Vec::new();
        file.take(1 << 20).read_to_end(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    };
    let Ok(text) = read() else { return 1 };
    let (mut quoted, mut fields) = (false, 0);
    for (index, c) in text.chars().enumerate() {
        if fields == field {
            return index + 1;
        }
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields += 1,
            _ => {}
        }
    }
    1
}

/// Where each column stands in a file: newer columns come at its end, older files lack some.
struct Places {
    fields: Vec<Option<usize>>,
    /// That of `blocks_planned`, which results of a matrix have.
    planned: Option<usize>,
}

impl Places {
    fn new(path: &Path, header: &StringRecord) -> Result<Self, CompareError> {
        let place = |column: &Column| header.iter().position(|name| name == column.name());
        let fields: Vec<Option<usize>> = Column::ALL.iter().map(place).collect();
        let missing = NEEDED.iter().find(|column| fields[column.index()].is_none());
        if let Some(column) = missing {
            let reason =
                format!("no column {}: this is no result of jbodbench as CSV", column.name());
            return Err(syntax(path, 1, 1, &reason));
        }
        let planned = header.iter().position(|name| name == "blocks_planned");
        Ok(Self { fields, planned })
    }

    fn text<'r>(&self, record: &'r StringRecord, column: Column) -> &'r str {
        self.fields[column.index()].and_then(|field| record.get(field)).unwrap_or_default()
    }

    /// A number, or nothing where the cell is empty.
    fn number(
        &self,
        record: &StringRecord,
        column: Column,
    ) -> Result<Option<f64>, (usize, String)> {
        let text = self.text(record, column);
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| {
            let field = self.fields[column.index()].unwrap_or_default();
            (field, format!("{} is \"{text}\", which is no number", column.name()))
        })
    }
}

#[derive(Default)]
struct Gathered {
    runs: Vec<Run>,
    /// Index of a run by its id.
    known: HashMap<String, usize>,
}

impl Gathered {
    fn add(&mut self, places: &Places, record: &StringRecord) -> Result<(), (usize, String)> {
        if places.text(record, Column::Row) != "summary" {
            return Ok(());
        }
        let schema = places.number(record, Column::Schema)?.unwrap_or(SCHEMA as f64);
        if schema > SCHEMA as f64 {
            let reason = format!(
                "schema {schema}: written by a later version, whose columns may mean something \
                 else; compare with that one"
            );
            return Err((0, reason));
        }
        let id = places.text(record, Column::RunId);
        let index = match self.known.get(id) {
            Some(index) => *index,
            None => {
                self.known.insert(id.to_owned(), self.runs.len());
                self.runs.push(new_run(places, record)?);
                self.runs.len() - 1
            }
        };
        let run = &mut self.runs[index];
        let (disk, op) = (places.text(record, Column::Disk), places.text(record, Column::Op));
        let mut measures = Measures::new();
        for (slot, column) in Measures::columns() {
            if let Some(number) = places.number(record, column)? {
                measures.set(slot, number);
            }
        }
        let status = places.text(record, Column::Status);
        if op == "all" {
            run.note_status(disk, status);
            for column in Column::ALL {
                if let Some(field) = places.fields[column.index()] {
                    run.note_condition(*column, record.get(field).unwrap_or_default());
                }
            }
            match places.text(record, Column::Steady) {
                "1" => run.steady = run.steady.or(Some(true)),
                "0" => run.steady = Some(false),
                _ => {}
            }
        }
        run.insert(disk, op, measures);
        Ok(())
    }
}

fn new_run(places: &Places, record: &StringRecord) -> Result<Run, (usize, String)> {
    let text = |column| places.text(record, column).to_owned();
    Ok(Run {
        id: text(Column::RunId),
        experiment: text(Column::ExperimentId),
        boot: text(Column::BootId),
        host: text(Column::Host),
        kernel: text(Column::Kernel),
        host_sha256: text(Column::HostSha256),
        cell: text(Column::Cell),
        block: places.number(record, Column::Block)?.map(|block| block as u64),
        planned: places.planned.and_then(|field| record.get(field)?.parse().ok()),
        ended: text(Column::TsUtc),
        ..Run::default()
    })
}
