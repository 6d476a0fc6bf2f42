//! Facts about this host that hold for a whole run: the static part of `host.json`.

use serde::Serialize;
use serde_json::Value;

use super::cgroup::Cgroups;
use super::cpu::CpuFacts;
use super::kernel::{KernelFacts, sha256_hex};
use super::procfs;

/// The host. A field that is `null` in JSON is unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostFacts {
    /// The host's name.
    pub hostname: Option<String>,
    /// The id of this boot; not part of the hash.
    pub boot_id: Option<String>,
    /// The kernel.
    pub kernel: KernelFacts,
    /// The processors.
    pub cpu: CpuFacts,
    /// The memory.
    pub memory: MemoryFacts,
}

/// Facts about memory. `None` is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryFacts {
    /// Memory that the kernel manages.
    pub total_bytes: Option<u64>,
    /// Swap space.
    pub swap_bytes: Option<u64>,
    /// What the control group allows; `None` also where there is no limit.
    pub cgroup_limit_bytes: Option<u64>,
}

impl HostFacts {
    /// Reads them all; takes a few milliseconds.
    #[must_use]
    pub fn read() -> Self {
        let meminfo = procfs::raw("/proc/meminfo").unwrap_or_default();
        let bytes = |key| procfs::value_after(&meminfo, key).map(|kib| kib * 1024);
        Self {
            hostname: procfs::text("/proc/sys/kernel/hostname"),
            boot_id: procfs::text("/proc/sys/kernel/random/boot_id"),
            kernel: KernelFacts::read(),
            cpu: CpuFacts::read(),
            memory: MemoryFacts {
                total_bytes: bytes("MemTotal"),
                swap_bytes: bytes("SwapTotal"),
                cgroup_limit_bytes: Cgroups::of_this_process().memory().map(|m| m.limit_bytes),
            },
        }
    }

    /// The facts as one line of JSON with sorted keys: equal facts give equal bytes.
    #[must_use]
    pub fn canonical_json(&self) -> String {
        sorted(serde_json::to_value(self).unwrap_or(Value::Null)).to_string()
    }

    /// SHA-256 of the canonical JSON without the boot id: a reboot into the same state keeps it.
    #[must_use]
    pub fn sha256(&self) -> String {
        let without_boot = Self { boot_id: None, ..self.clone() };
        sha256_hex(without_boot.canonical_json().as_bytes())
    }
}

/// The same value with the keys of every object in order.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<(String, Value)> = map.into_iter().collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(pairs.into_iter().map(|(key, value)| (key, sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        plain => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_readings_are_one_state() {
        let (one, two) = (HostFacts::read(), HostFacts::read());
        assert_eq!(one.canonical_json(), two.canonical_json());
        assert_eq!(one.sha256().len(), 64);
        let rebooted = HostFacts { boot_id: Some("other".to_owned()), ..two.clone() };
        assert_eq!(one.sha256(), rebooted.sha256());
        let renamed = HostFacts { hostname: Some("other".to_owned()), ..two };
        assert_ne!(one.sha256(), renamed.sha256());
    }

    #[test]
    fn keys_are_sorted_at_every_level() {
        let value = serde_json::json!({"b": [{"d": 1, "c": null}], "a": 2});
        assert_eq!(sorted(value).to_string(), r#"{"a":2,"b":[{"c":null,"d":1}]}"#);
    }

    #[test]
    fn unknown_is_null() {
        let json = HostFacts::default().canonical_json();
        assert!(json.contains(r#""hostname":null"#), "{json}");
    }
}
