//! The processors: model, how many, what slows them down, and whether they are virtual.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;

use super::cgroup::Cgroups;
use super::{limits, procfs};

/// Facts about the CPUs. `None` is unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CpuFacts {
    /// The model as the kernel names it.
    pub model: Option<String>,
    /// CPUs online.
    pub online: Option<usize>,
    /// CPUs this process may use.
    pub usable: Option<usize>,
    /// Whether CPUs share cores.
    pub smt: Option<bool>,
    /// The frequency governors in force, each once; `None` where the kernel does not scale.
    pub governors: Option<Vec<String>>,
    /// Whether the clock may go beyond the nominal frequency.
    pub boost: Option<bool>,
    /// Each known hardware weakness and what is done about it.
    pub mitigations: Option<BTreeMap<String, String>>,
    /// CPU time that the control group allows, in CPUs; `None` also where there is no limit.
    pub cgroup_cpus: Option<f64>,
    /// Whether the CPU says that it runs under a hypervisor.
    pub hypervisor: Option<bool>,
    /// The hypervisor's name where sysfs has it (Xen).
    pub hypervisor_type: Option<String>,
    /// The machine's product name, by its firmware.
    pub product: Option<String>,
}

impl CpuFacts {
    /// Reads them.
    #[must_use]
    pub fn read() -> Self {
        let cpu = Path::new("/sys/devices/system/cpu");
        let info = procfs::raw("/proc/cpuinfo").unwrap_or_default();
        let flag = |file| procfs::number::<u8>(cpu.join(file)).map(|flag| flag == 1);
        let no_turbo = flag("intel_pstate/no_turbo");
        Self {
            model: model(&info),
            online: limits::online_cpus().map(|cpus| cpus.len()),
            usable: limits::affinity().map(|cpus| cpus.len()),
            smt: flag("smt/active"),
            governors: governors(cpu),
            boost: flag("cpufreq/boost").or(no_turbo.map(|off| !off)),
            mitigations: mitigations(&cpu.join("vulnerabilities")),
            cgroup_cpus: Cgroups::of_this_process().cpus(),
            hypervisor: hypervisor(&info),
            hypervisor_type: procfs::text("/sys/hypervisor/type"),
            product: procfs::text("/sys/class/dmi/id/product_name")
                .or_else(|| procfs::text("/proc/device-tree/model")),
        }
    }
}

/// The name's key differs by architecture.
fn model(cpuinfo: &str) -> Option<String> {
    ["model name", "Model", "cpu model", "cpu"]
        .iter()
        .find_map(|key| procfs::text_after(cpuinfo, key))
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}

/// x86 has the flag; elsewhere nothing is said either way.
fn hypervisor(cpuinfo: &str) -> Option<bool> {
    let flags = procfs::text_after(cpuinfo, "flags")?;
    Some(flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

fn governors(cpu: &Path) -> Option<Vec<String>> {
    let found: BTreeSet<String> = std::fs::read_dir(cpu.join("cpufreq"))
        .ok()?
        .flatten()
        .filter_map(|policy| procfs::text(policy.path().join("scaling_governor")))
        .collect();
    (!found.is_empty()).then(|| found.into_iter().collect())
}

fn mitigations(dir: &Path) -> Option<BTreeMap<String, String>> {
    let entries = std::fs::read_dir(dir).ok()?.flatten();
    let all = entries.filter_map(|entry| {
        Some((entry.file_name().to_string_lossy().into_owned(), procfs::text(entry.path())?))
    });
    Some(all.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpuinfo_of_two_architectures() {
        let x86 = "processor\t: 0\nmodel name\t: Fast CPU @ 3GHz\nflags\t\t: fpu hypervisor sse\n";
        assert_eq!(model(x86).as_deref(), Some("Fast CPU @ 3GHz"));
        assert_eq!(hypervisor(x86), Some(true));
        assert_eq!(hypervisor("flags : fpu\n"), Some(false));
        let arm = "processor\t: 0\nFeatures\t: fp asimd\nCPU part\t: 0xd0c\n";
        assert_eq!((model(arm), hypervisor(arm)), (None, None));
    }

    #[test]
    fn governors_once_each() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(governors(dir.path()), None);
        for (policy, governor) in [("policy0", "powersave"), ("policy1", "powersave")] {
            let policy = dir.path().join("cpufreq").join(policy);
            std::fs::create_dir_all(&policy).unwrap();
            std::fs::write(policy.join("scaling_governor"), governor).unwrap();
        }
        assert_eq!(governors(dir.path()), Some(vec!["powersave".to_owned()]));
    }
}
