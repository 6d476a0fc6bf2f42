//! What `--route` means.

use std::path::Path;

use super::args::{CallArgs, EngineArg};
use crate::plan::{Pin, Routes};

/// A word for all kinds of calls, or a file with a line for each.
pub(super) fn routes(calls: &CallArgs) -> Result<Routes, String> {
    let Some(route) = &calls.route else { return Ok(Routes::default()) };
    if calls.engine != EngineArg::Hybrid {
        return Err("--route: only --engine hybrid has a choice of routes".into());
    }
    if let Some(pin) = route.to_str().and_then(Pin::from_word) {
        return Ok(Routes::all(pin));
    }
    from_file(route)
}

fn from_file(path: &Path) -> Result<Routes, String> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| {
        format!("--route {name}: {error}; expected auto, inline, ring or a file of routes")
    })?;
    Routes::parse(&text).map_err(|(line, what)| format!("--route {name}:{line}: {what}"))
}
