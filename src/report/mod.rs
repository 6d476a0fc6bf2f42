//! Result files as one page with plots, for a browser, a mail or a printer. Floor 6.
//!
//! The order: `gather` reads rows into groups of runs, each `part` makes a section of the page from
//! them, `plot` draws, `html` writes. What a reader sees in a plot stands in a table below it.

mod gather;
mod html;
mod model;
mod page;
mod parts;
mod plot;

use std::path::PathBuf;

pub use plot::PlotError;

use crate::results::ReadError;

/// What a page is to be made of.
#[derive(Clone, Debug)]
pub struct Request {
    /// Result files, as CSV.
    pub files: Vec<PathBuf>,
    /// The page's title; else the names of the files.
    pub title: Option<String>,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A file cannot be read, or is no result.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A plot cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
}

/// Makes the page: a whole HTML document.
///
/// # Errors
/// When a file cannot be read, is no result, is of a later version, or ends in a torn line; when a
/// plot cannot be drawn.
pub fn report(request: &Request) -> Result<String, ReportError> {
    let material = gather::gather(&request.files)?;
    let page = parts::page(request, &material)?;
    Ok(html::document(&page))
}
