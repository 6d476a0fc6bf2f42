//! The one owner of the data stream: CSV or JSON, to stdout or into a file.
//!
//! Nothing but data goes through here, and nothing else writes there. Rows are kept until
//! [`Sink::flush`] and leave in whole lines.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::encode::{csv_header, csv_row, json_head, json_row, json_tail};
use super::existing;
use super::row::Row;

/// Rows kept before they leave without being asked to.
const BUFFER: usize = 64 * 1024;

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A header and a line per row.
    Csv,
    /// One document with an object per row.
    Json,
}

/// Why a result cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// The reader went away.
    #[error("the reader of the output has closed it")]
    BrokenPipe,
    /// Any other failure.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file, or `stdout`.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is a file already, and nobody said that it may grow.
    #[error("{} exists; choose another name, or add to it with --append", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file was written with other columns.
    #[error(
        "cannot append to {}: its column {number} is {found}, this version writes {expected}; \
         write to a new file", path.display()
    )]
    HeaderDiffers {
        /// The file.
        path: PathBuf,
        /// The first column that differs, from 1.
        number: usize,
        /// What is there.
        found: String,
        /// What ought to be.
        expected: String,
    },
    /// The last line has no end.
    #[error(
        "cannot append to {}: its last line is not complete (a run was killed?); cut it off with \
         `truncate -s {good_bytes} FILE`, or write to a new file", path.display()
    )]
    TornLine {
        /// The file.
        path: PathBuf,
        /// Length of the file without the torn line.
        good_bytes: u64,
    },
    /// A JSON document cannot grow.
    #[error("{}: --append works with CSV only", path.display())]
    AppendJson {
        /// The file.
        path: PathBuf,
    },
}

impl SinkError {
    /// Tells a reader that went away from other failures.
    #[must_use]
    pub fn new(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Io { path: path.into(), source },
        }
    }

    /// Whether the command line was wrong (exit 2) and not the world (exit 1).
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        !matches!(self, Self::BrokenPipe | Self::Io { .. })
    }
}

/// Where rows go.
pub struct Sink {
    target: Box<dyn Write + Send>,
    /// The same as `target` when it is a regular file, for fsync.
    file: Option<File>,
    path: PathBuf,
    format: Format,
    buffer: Vec<u8>,
    rows: u64,
    host: Option<Value>,
    /// Set by the first failure; what follows would only tear lines apart.
    failed: Option<ErrorKind>,
    finished: bool,
}

impl std::fmt::Debug for Sink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sink({:?} to {}, {} rows)", self.format, self.path.display(), self.rows)
    }
}

impl Sink {
    /// Takes stdout and writes the header.
    ///
    /// # Errors
    /// When stdout cannot be written.
    pub fn stdout(format: Format) -> Result<Self, SinkError> {
        Self::over(Box::new(io::stdout()), "stdout".into(), format).begun(true)
    }

    /// Makes a file and writes the header, or goes on with an existing CSV file (`append`) whose
    /// header is the same. Devices and pipes are written as they are.
    ///
    /// # Errors
    /// When the file exists (without `append`), differs, ends in a torn line, or cannot be written.
    pub fn file(path: &Path, format: Format, append: bool) -> Result<Self, SinkError> {
        if append && format == Format::Json {
            return Err(SinkError::AppendJson { path: path.into() });
        }
        let fail = |source| SinkError::new(path, source);
        let (file, with_header) = match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(file) => (file, true),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => existing::open(path, append)?,
            Err(e) => return Err(fail(e)),
        };
        let regular = file.metadata().map_err(fail)?.is_file();
        let mut sink = Self::over(Box::new(file.try_clone().map_err(fail)?), path.into(), format);
        sink.file = regular.then_some(file);
        sink.begun(with_header)
    }

    /// Writes to anything.
    ///
    /// # Errors
    /// When the header cannot be written.
    pub fn writer(target: Box<dyn Write + Send>, format: Format) -> Result<Self, SinkError> {
        Self::over(target, "output".into(), format).begun(true)
    }

    fn over(target: Box<dyn Write + Send>, path: PathBuf, format: Format) -> Self {
        let buffer = Vec::with_capacity(BUFFER);
        let (file, rows, host, failed, finished) = (None, 0, None, None, false);
        Self { target, file, path, format, buffer, rows, host, failed, finished }
    }

    /// The header leaves at once: what cannot be written shall fail before the load starts.
    fn begun(mut self, with_header: bool) -> Result<Self, SinkError> {
        match self.format {
            Format::Csv if with_header => self.buffer = csv_header(),
            Format::Csv => {}
            Format::Json => self.buffer = json_head(),
        }
        self.flush()?;
        Ok(self)
    }

    /// Sets what a JSON document ends with: the facts about the host. CSV has `host.json` instead.
    pub fn set_host(&mut self, host: Value) {
        self.host = Some(host);
    }

    /// Number of rows that were given to this sink.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds a row; it leaves with the next [`Sink::flush`] at the latest.
    ///
    /// # Errors
    /// When earlier rows had to leave and could not.
    pub fn write(&mut self, row: &Row) -> Result<(), SinkError> {
        let line = match self.format {
            Format::Csv => csv_row(row),
            Format::Json => json_row(row, self.rows == 0),
        };
        self.buffer.extend_from_slice(&line);
        self.rows += 1;
        if self.buffer.len() >= BUFFER { self.flush() } else { self.check() }
    }

    /// Hands over all rows so far.
    ///
    /// # Errors
    /// When they cannot be written; every later call fails the same way and writes nothing.
    pub fn flush(&mut self) -> Result<(), SinkError> {
        self.check()?;
        let result = self.target.write_all(&self.buffer).and_then(|()| self.target.flush());
        self.buffer.clear();
        self.note(result)
    }

    /// Ends the document, hands everything over and, for a regular file, waits until it is stored.
    ///
    /// # Errors
    /// When that cannot be done.
    pub fn finish(mut self) -> Result<(), SinkError> {
        self.close()?;
        let result = self.file.as_ref().map_or(Ok(()), File::sync_all);
        self.note(result)
    }

    fn close(&mut self) -> Result<(), SinkError> {
        self.finished = true;
        if self.format == Format::Json {
            self.buffer.extend_from_slice(&json_tail(self.host.as_ref()));
        }
        self.flush()
    }

    fn check(&self) -> Result<(), SinkError> {
        self.failed.map_or(Ok(()), |kind| Err(SinkError::new(&self.path, kind.into())))
    }

    fn note(&mut self, result: io::Result<()>) -> Result<(), SinkError> {
        result.map_err(|source| {
            self.failed = Some(source.kind());
            SinkError::new(&self.path, source)
        })
    }
}

/// Whoever forgets [`Sink::finish`], or is on the way out with another error, still leaves a
/// document that can be read.
impl Drop for Sink {
    fn drop(&mut self) {
        if !self.finished && self.failed.is_none() {
            let _ = self.close();
        }
    }
}

#[cfg(test)]
#[path = "sink_tests.rs"]
mod tests;
