//! A result file as CSV, one line at a time.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use csv::StringRecord;

use super::error::ReadError;
use crate::output::{Column, SCHEMA};

/// Columns without which a file says nothing.
const NEEDED: [Column; 4] = [Column::RunId, Column::Row, Column::Disk, Column::Op];

/// A file that is being read.
pub struct ResultFile {
    path: PathBuf,
    reader: csv::Reader<File>,
    header: StringRecord,
    /// Where each column stands: newer columns come at the end, older files lack some.
    places: Vec<Option<usize>>,
    record: StringRecord,
}

impl ResultFile {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// When it cannot be read, is no result, or ends in a torn line.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        refuse_torn(path)?;
        let mut reader = csv::ReaderBuilder::new()
            .flexible(true)
            .from_path(path)
            .map_err(|error| ReadError::io(path, std::io::Error::other(error.to_string())))?;
        let header = reader
            .headers()
            .map_err(|error| ReadError::syntax(path, 1, 1, &error.to_string()))?
            .clone();
        let place = |column: &Column| header.iter().position(|name| name == column.name());
        let places: Vec<Option<usize>> = Column::ALL.iter().map(place).collect();
        if let Some(column) = NEEDED.iter().find(|column| places[column.index()].is_none()) {
            let reason =
                format!("no column {}: this is no result of jbodbench as CSV", column.name());
            return Err(ReadError::syntax(path, 1, 1, &reason));
        }
        Ok(Self { path: path.to_owned(), reader, header, places, record: StringRecord::new() })
    }

    /// The next line, or nothing at the end.
    ///
    /// # Errors
    /// When the line is not of as many fields as the header, or of a later version.
    pub fn next_line(&mut self) -> Result<Option<Line<'_>>, ReadError> {
        let more = self.reader.read_record(&mut self.record);
        let number = self.record.position().map_or(0, csv::Position::line);
        match more {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => {
                return Err(ReadError::syntax(&self.path, number, 1, &error.to_string()));
            }
        }
        if self.record.len() != self.header.len() {
            let reason = format!(
                "{} fields where the header has {}: the line was cut, or another file was added",
                self.record.len(),
                self.header.len()
            );
            return Err(ReadError::syntax(&self.path, number, 1, &reason));
        }
        let line = Line { file: self };
        let schema = line.number(Column::Schema)?.unwrap_or(SCHEMA as f64);
        if schema > SCHEMA as f64 {
            let reason = format!(
                "schema {schema}: written by a later version, whose columns may mean something \
                 else; read it with that one"
            );
            return Err(line.wrong(0, &reason));
        }
        Ok(Some(line))
    }

    /// That there is no run in it.
    #[must_use]
    pub fn nothing_there(&self) -> ReadError {
        ReadError::syntax(&self.path, 1, 1, "no summary rows: no run is in this file")
    }
}

/// The line that was read last.
#[derive(Clone, Copy)]
pub struct Line<'f> {
    file: &'f ResultFile,
}

impl<'f> Line<'f> {
    /// What stands in a column, if the file has it; empty text is a value.
    #[must_use]
    pub fn get(self, column: Column) -> Option<&'f str> {
        self.file.record.get(self.file.places[column.index()]?)
    }

    /// What stands in a column; nothing where the file does not have it.
    #[must_use]
    pub fn text(self, column: Column) -> &'f str {
        self.get(column).unwrap_or_default()
    }

    /// A number, or nothing where the cell is empty.
    ///
    /// # Errors
    /// When something else stands there.
    pub fn number(self, column: Column) -> Result<Option<f64>, ReadError> {
        let text = self.text(column);
        if text.is_empty() {
            return Ok(None);
        }
        text.parse().map(Some).map_err(|_| {
            let field = self.file.places[column.index()].unwrap_or_default();
            self.wrong(field, &format!("{} is \"{text}\", which is no number", column.name()))
        })
    }

    fn wrong(self, field: usize, reason: &str) -> ReadError {
        let path = &self.file.path;
        let (line, byte) = self.file.record.position().map_or((0, 0), |at| (at.line(), at.byte()));
        ReadError::syntax(path, line, character_of(path, byte, field), reason)
    }
}

/// A killed run leaves half a line; what stands in it is not what was measured.
fn refuse_torn(path: &Path) -> Result<(), ReadError> {
    let fail = |source| ReadError::io(path, source);
    let mut file = File::open(path).map_err(fail)?;
    let meta = file.metadata().map_err(fail)?;
    if !meta.is_file() {
        let why = std::io::Error::other("it is no regular file, and a result is read twice");
        return Err(fail(why));
    }
    let length = meta.len();
    if length == 0 {
        return Err(ReadError::syntax(path, 1, 1, "the file is empty"));
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
    Err(ReadError::syntax(path, line, 1, &reason))
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
