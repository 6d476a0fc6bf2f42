//! Reading result files, row by row, with the place of what is wrong in them.
//! Floor 6; knows the columns, and nothing of what is made of the rows.

mod error;
mod file;

pub use error::ReadError;
pub use file::{Line, ResultFile};
