//! Why two results cannot be compared.

use crate::results::ReadError;

/// What is wrong with the files, or with what was asked.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// A file cannot be read, or is not what it should be.
    #[error(transparent)]
    Read(#[from] ReadError),
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
