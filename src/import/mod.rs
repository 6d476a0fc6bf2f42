//! From a recording of system calls to a loadfile. Floor 1, pure: bytes in, text out.
//!
//! ```text
//! source  lines in the order of their calls' ends      line, call, text   the grammar of strace
//! feed    halves of calls put together                 forks              first reading: who made whom
//! session second reading: on_task, on_path, on_open, on_fd; tasks, tree and data are what they know
//! emit    lines of the load, printed in pieces          start              what was there before
//! dialects  not recordings, but loadfiles of other kinds
//! ```
//!
//! `docs/import.md` says what is modelled and what is not. Memory grows with processes and names, not
//! with lines.

mod call;
mod data;
pub mod dialects;
mod emit;
mod feed;
mod forks;
mod line;
mod on_fd;
mod on_open;
mod on_path;
mod on_task;
mod place;
mod report;
mod session;
mod source;
mod start;
mod tasks;
mod text;
mod tree;

use std::io::{self, Read, Seek, Write};

use feed::Feed;
pub use feed::{Complaint, Lines};
use forks::Forks;
pub use report::{Report, Row};
use session::Session;
pub use source::{Opener, Source};
use start::Start;

/// What is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// The directory whose files become each client's; by default where the first process was.
    pub root: Option<Vec<u8>>,
    /// Whether names are replaced by ones that tell nothing.
    pub hide_names: bool,
    /// Comment lines for the head of the load.
    pub head: Vec<String>,
}

/// Why there is no load.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The recording could not be read, or not be put in order.
    #[error(transparent)]
    Read(io::Error),
    /// The load, or what of it has to wait, could not be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// Nothing says where it took place.
    #[error(
        "the recording does not name a working directory (was strace's -y given?): say with --root \
         which directory the load is about"
    )]
    NoRoot,
    /// There is not one call in it.
    #[error("no system call in it: it must be the output of strace -f -ttt -T -y")]
    NoCall(Box<Report>),
    /// There are calls, but none about the root.
    #[error(
        "none of the {} calls is about a file below {}: another --root?",
        .0.total().calls(), .0.root
    )]
    NoOperation(Box<Report>),
}

/// Makes a loadfile of a recording. Its passes go through `spool`, an empty file, since what comes before
/// them is known last.
///
/// # Errors
/// See [`ImportError`].
pub fn import(
    source: &mut Source<'_>,
    wish: &Wish,
    spool: &mut (impl Read + Write + Seek),
    out: &mut dyn Write,
) -> Result<Report, ImportError> {
    let mut forks = Forks::default();
    let mut feed = Feed::default();
    source
        .lines(&mut |at, own, line| feed.line(at, own, line, &mut forks))
        .map_err(ImportError::Read)?;
    if feed.lines.calls == 0 {
        feed.end();
        let report = Report { lines: feed.lines, complaints: feed.complaints, ..Report::default() };
        return Err(ImportError::NoCall(Box::new(report)));
    }
    let root = wish.root.clone().or_else(|| forks.cwd.clone()).ok_or(ImportError::NoRoot)?;
    let root = place::absolute(b"/", &root);

    let mut sink = |piece: &[u8]| spool.write_all(piece);
    let mut session = Session::new(&root, forks, wish.hide_names, &mut sink);
    let mut feed = Feed::default();
    source
        .lines(&mut |at, own, line| feed.line(at, own, line, &mut session))
        .map_err(ImportError::Read)?;
    feed.end();
    session.printer.flush();
    let Session { tasks, tree, mut names, printer, mut report, .. } = session;
    (report.ops, report.tasks) = (printer.ops, tasks.seen);
    printer.failed?;
    (report.lines, report.complaints) = (feed.lines, feed.complaints);
    report.root = String::from_utf8_lossy(&root).into_owned();
    if report.ops == 0 {
        return Err(ImportError::NoOperation(Box::new(report)));
    }

    let mut sink = |piece: &[u8]| out.write_all(piece);
    let mut printer = emit::Printer::new(&mut sink);
    wish.head.iter().for_each(|line| printer.comment(line));
    Start {
        tree: &tree,
        names: &mut names,
        printer: &mut printer,
        report: &mut report,
        root: &root,
    }
    .write();
    printer.comment("The recording; what stands above this line makes its start again.");
    printer.failed?;
    if names.changed > 0 {
        report.note("names that a loadfile cannot hold: other names instead", names.changed);
    }
    spool.rewind()?;
    io::copy(spool, out)?;
    Ok(report)
}
