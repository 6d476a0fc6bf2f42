//! Why a result file cannot be read.

use std::path::{Path, PathBuf};

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be read at all.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It is not what it should be.
    #[error("{}:{line}:{column}: {reason}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: u64,
        /// Character of the line, from 1.
        column: usize,
        /// What is wrong there, and what to do about it.
        reason: String,
    },
}

impl ReadError {
    pub(super) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// Something is wrong at a place.
    #[must_use]
    pub fn syntax(path: &Path, line: u64, column: usize, reason: &str) -> Self {
        Self::Syntax { path: path.to_owned(), line, column, reason: reason.to_owned() }
    }
}
