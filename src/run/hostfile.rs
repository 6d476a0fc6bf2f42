//! host.json: facts of the host beside the result.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::rows::RunFacts;
use crate::host::facts::HostFacts;

/// Name of the file beside a result file.
pub(super) fn path_beside(result: &Path) -> PathBuf {
    let mut name = result.as_os_str().to_owned();
    name.push(".host.json");
    PathBuf::from(name)
}

/// What is written: facts by their hash, since several runs on one host share them, and what
/// changed during each run by its id.
pub(super) fn document(
    facts: &HostFacts,
    run_id: &str,
    run: &RunFacts,
    kernel_lines: &[String],
) -> Value {
    json!({
        "hosts": { facts.sha256(): facts },
        "runs": { run_id: {
            "start_up_s": run.start_up.map(|time| time.as_secs_f64()),
            "changes": run.changes,
            "kernel_lines": kernel_lines,
        } },
    })
}

/// Writes the document, together with what the file holds of earlier runs.
pub(super) fn write(path: &Path, document: &Value) -> std::io::Result<()> {
    let mut whole = std::fs::read(path)
        .ok()
        .and_then(|old| serde_json::from_slice::<Value>(&old).ok())
        .unwrap_or_else(|| json!({}));
    for part in ["hosts", "runs"] {
        if let (Some(whole), Some(Value::Object(new))) = (whole.as_object_mut(), document.get(part))
        {
            let kept = whole.entry(part).or_insert_with(|| Value::Object(Map::new()));
            if let Some(kept) = kept.as_object_mut() {
                kept.extend(new.clone());
            }
        }
    }
    let mut text = serde_json::to_vec_pretty(&whole)?;
    text.push(b'\n');
    std::fs::write(path, text)
}
