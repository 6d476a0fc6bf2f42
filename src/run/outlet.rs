//! Where the result of a run goes.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{RunError, RunRequest};
use crate::output::{Format, Row, Sink, SinkError};

/// The result file or stream of a run, if it has one: on a terminal there is only a table.
pub(super) struct Outlet {
    sink: Option<Sink>,
    /// Whether stdout gets lines as dbench's.
    lines: bool,
    /// Whether the table is the result, and belongs on stdout.
    pub(super) table_on_stdout: bool,
    /// The file, if there is one.
    pub(super) file: Option<PathBuf>,
}

impl Outlet {
    /// Opens it: a result that cannot be written fails before the load.
    pub(super) fn open(request: &RunRequest) -> Result<Self, RunError> {
        if let Some(dbench) = &request.dbench {
            let mut outlet = Self { sink: None, lines: true, table_on_stdout: false, file: None };
            outlet.write_text(&dbench.head()).map_err(|error| sink_failed(&error))?;
            return Ok(outlet);
        }
        let format = request.format.unwrap_or(Format::Csv);
        let sink = match &request.out {
            Some(path) => Some(Sink::file(path, format, request.append)),
            None if request.format.is_none() && std::io::stdout().is_terminal() => None,
            None => Some(Sink::stdout(format)),
        };
        let sink = sink.transpose().map_err(|error| sink_failed(&error))?;
        let table_on_stdout = sink.is_none();
        Ok(Self { sink, lines: false, table_on_stdout, file: request.out.clone() })
    }

    /// Facts of the host, for a JSON document.
    pub(super) fn set_host(&mut self, host: serde_json::Value) {
        if let Some(sink) = &mut self.sink {
            sink.set_host(host);
        }
    }

    /// Writes rows through.
    pub(super) fn write_now(&mut self, rows: &[Row]) -> Result<(), SinkError> {
        let Some(sink) = &mut self.sink else { return Ok(()) };
        rows.iter().try_for_each(|row| sink.write(row))?;
        sink.flush()
    }

    /// Writes lines to stdout at once.
    pub(super) fn write_text(&mut self, text: &str) -> Result<(), SinkError> {
        let mut stdout = std::io::stdout().lock();
        let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
        written.map_err(|error| SinkError::new("stdout".as_ref(), error))
    }

    /// Whether the reader of stdout went away, without writing: a run may have no rows for long.
    pub(super) fn reader_is_gone(&self) -> bool {
        if self.file.is_some() || (self.sink.is_none() && !self.lines) {
            return false;
        }
        let stdout = std::io::stdout();
        let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        // Only a pipe without a reader has this.
        poll(&mut fds, Some(&at_once)).is_ok() && fds[0].revents().contains(PollFlags::ERR)
    }

    /// Takes back a file that this run made, when there will be no result: the next try shall not
    /// find its name taken.
    pub(super) fn discard(&mut self, request: &RunRequest) {
        self.sink = None;
        let Some(path) = self.file.take().filter(|_| !request.append) else { return };
        // A pipe or a device was there before.
        if path.is_file() {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Completes the result.
    pub(super) fn finish(&mut self) -> Result<(), SinkError> {
        self.sink.take().map_or(Ok(()), Sink::finish)
    }
}

/// The exit code of a result that cannot be written.
pub(super) fn sink_failed(error: &SinkError) -> RunError {
    let code = match error {
        SinkError::BrokenPipe => 141,
        other if other.is_usage() => 2,
        _ => 1,
    };
    RunError { code, message: error.to_string() }
}
