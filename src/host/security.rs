//! Security modules: which are in force, and under which label this process runs. Each of them may
//! refuse what modes and ACLs allow, and each takes its time at every check.

use std::path::Path;

use super::procfs;
use super::sys;

/// Names of modules by their number in linux/lsm.h; the first is 100.
const MODULES: [&str; 14] = [
    "capability",
    "selinux",
    "smack",
    "tomoyo",
    "apparmor",
    "yama",
    "loadpin",
    "safesetid",
    "lockdown",
    "bpf",
    "landlock",
    "ima",
    "evm",
    "ipe",
];

/// The modules in force, in the order in which they are asked: as the file of securityfs says,
/// or the system call of Linux 6.8. `None` where neither does.
#[must_use]
pub fn modules() -> Option<Vec<String>> {
    let name = |id: u64| {
        let known = id.checked_sub(100).and_then(|at| MODULES.get(usize::try_from(at).ok()?));
        known.map_or_else(|| id.to_string(), |name| (*name).to_owned())
    };
    let listed = procfs::text("/sys/kernel/security/lsm")
        .map(|list| list.split(',').map(str::to_owned).collect());
    listed.or_else(|| Some(sys::lsm_list_modules().ok()?.into_iter().map(name).collect()))
}

/// What SELinux does: `enforcing`, `permissive`, or `off`.
#[must_use]
pub fn selinux_mode() -> Option<&'static str> {
    match procfs::number::<u32>("/sys/fs/selinux/enforce") {
        Some(0) => return Some("permissive"),
        Some(_) => return Some("enforcing"),
        None => {}
    }
    // The kernel has that file system only where SELinux was started.
    let types = procfs::raw("/proc/filesystems")?;
    let has = types.lines().any(|line| line.ends_with("\tselinuxfs"));
    (!has).then_some("off")
}

/// This thread's label of SELinux; all threads of a process begin with the same.
#[must_use]
pub fn selinux_label() -> Option<String> {
    // The old file is the first module's, whichever that is.
    let active = modules()?.iter().any(|name| name == "selinux");
    active.then(|| label("/proc/thread-self/attr/current"))?
}

/// This thread's profile of AppArmor.
#[must_use]
pub fn apparmor_label() -> Option<String> {
    label("/proc/thread-self/attr/apparmor/current")
}

fn label(path: &str) -> Option<String> {
    let text = procfs::text(Path::new(path))?;
    let text = text.trim_end_matches(['\0', '\n']);
    (!text.is_empty()).then(|| text.to_owned())
}
