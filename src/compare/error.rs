//! Why two results cannot be compared.

use std::path::PathBuf;

/// What is wrong with the files, or with what was asked.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file is not what it should be.
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
    /// What was asked for is not in the files.
    #[error("{0}")]
    Missing(String),
    /// The runs are not of the same thing.
    #[error("not comparable:\n  {}\n{advice}", differences.join("\n  "))]
    Conditions {
        /// Each column that differs, with its values.
        differences: Vec<String>,
        /// What to do about it.
        advice: &'static str,
    },
}

impl CompareError {
    /// 2: a file or the command line is wrong; 3: these runs must not be compared.
    #[must_use]
    pub const fn exit_code(&self) -> u8 {
        if matches!(self, Self::Conditions { .. }) { 3 } else { 2 }
    }
}
