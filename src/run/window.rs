//! The measured window, and why it can end early.

use crate::front::ToWorker;
use crate::output::SinkError;

/// Why the window closed before its time.
#[derive(Debug)]
pub(super) enum Cut {
    /// A signal, by number.
    Signal(i32),
    /// The reader of the result went away.
    ReaderGone,
    /// The result cannot be written.
    Unwritable(SinkError),
    /// The front process died.
    FrontGone,
}

impl Cut {
    /// What a message of the front means between two windows; `None` when the front is gone.
    pub(super) fn of(message: Option<&ToWorker>) -> Self {
        match message {
            Some(ToWorker::Signal { number }) => Self::Signal(*number),
            Some(ToWorker::Leave) => Self::Signal(libc::SIGINT),
            None => Self::FrontGone,
        }
    }
}

impl From<SinkError> for Cut {
    fn from(error: SinkError) -> Self {
        match error {
            SinkError::BrokenPipe => Self::ReaderGone,
            other => Self::Unwritable(other),
        }
    }
}

/// The measured window as it was, in nanoseconds of the run's clock.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// When it opened.
    pub(super) start_ns: u64,
    /// When it closed.
    pub(super) end_ns: u64,
}

impl Window {
    /// Its length in nanoseconds; 0 when it never opened.
    pub(super) fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// Its length in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.length_ns() as f64 / 1e9
    }
}
