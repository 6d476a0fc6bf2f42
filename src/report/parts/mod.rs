//! The parts of a page: each makes a section from what was read, or nothing.

mod bins;
mod comparison;
mod conditions;
mod disks;
mod effects;
mod errors;
mod figures;
mod latency;
mod names;
mod overview;
mod scaling;
mod timeline;

use super::model::Material;
use super::page::{Page, Section};
use super::plot::PlotError;
use super::{ReportError, Request};

/// What a part makes: nothing where there is nothing to show.
type Part = Result<Option<Section>, PlotError>;

/// The whole page.
///
/// # Errors
/// When a plot cannot be drawn.
pub(super) fn page(request: &Request, material: &Material) -> Result<Page, ReportError> {
    let files = material.files.join(", ");
    let title = request.title.clone().unwrap_or_else(|| format!("jbodbench: {files}"));
    let parts = [
        Ok(Some(overview::section(material))),
        effects::section(material),
        comparison::section(request, material),
        scaling::section(material),
        timeline::section(material),
        latency::section(material),
        disks::section(material),
        errors::section(material),
        Ok(Some(conditions::section(material))),
    ];
    let mut sections = Vec::new();
    for part in parts {
        sections.extend(part?);
    }
    Ok(Page { title, head: overview::head(material), sections })
}
