//! What host.json beside a result says of the machines that its runs were on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Facts of each state of a host by the hash that rows have, flattened: `kernel.taint` -> `0`.
/// Empty where there is no such file, or it is not one.
pub(super) fn read(result: &Path) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut name = result.as_os_str().to_owned();
    name.push(".host.json");
    let Ok(text) = std::fs::read(PathBuf::from(name)) else { return BTreeMap::new() };
    let Ok(document) = serde_json::from_slice::<Value>(&text) else { return BTreeMap::new() };
    let Some(hosts) = document.get("hosts").and_then(Value::as_object) else {
        return BTreeMap::new();
    };
    let flat = |value: &Value| {
        let mut facts = BTreeMap::new();
        flatten("", value, &mut facts);
        // Who it is and since when is in the rows; the log-in says nothing of the machine.
        for key in ["hostname", "boot_id", "kernel.audit.login_uid"] {
            facts.remove(key);
        }
        facts
    };
    hosts.iter().map(|(hash, value)| (hash.clone(), flat(value))).collect()
}

fn flatten(prefix: &str, value: &Value, facts: &mut BTreeMap<String, String>) {
    let Value::Object(map) = value else {
        let text = match value {
            Value::Null => "unknown".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        facts.insert(prefix.to_owned(), text);
        return;
    };
    for (key, value) in map {
        let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        flatten(&name, value, facts);
    }
}
