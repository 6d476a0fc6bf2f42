//! The kernel: release, build, configuration, security modules, audit and write-back settings.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::audit_status::AuditStatus;
use super::{clock, procfs, security};

/// Facts about the running kernel. `None` is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelFacts {
    /// `uname -r`.
    pub release: Option<String>,
    /// `uname -v`: build number and date.
    pub version: Option<String>,
    /// `uname -m`.
    pub machine: Option<String>,
    /// The command line it was booted with.
    pub command_line: Option<String>,
    /// The taint flags; 0 is a clean kernel.
    pub taint: Option<u64>,
    /// SHA-256 of its configuration as plain text.
    pub config_sha256: Option<String>,
    /// The clock source in use.
    pub clock_source: Option<String>,
    /// Security modules in force, in order.
    pub lsm: Option<Vec<String>>,
    /// What SELinux does: `enforcing`, `permissive` or `off`.
    pub selinux: Option<&'static str>,
    /// This process's label of SELinux.
    pub selinux_label: Option<String>,
    /// This process's profile of AppArmor.
    pub apparmor_label: Option<String>,
    /// Auditing.
    pub audit: AuditFacts,
    /// The vm.dirty_* sysctls.
    pub dirty: BTreeMap<String, u64>,
    /// kernel.randomize_va_space: 0 off, 2 full.
    pub aslr: Option<u32>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub transparent_hugepages: Option<String>,
    /// kernel.io_uring_disabled.
    pub io_uring_disabled: Option<u32>,
}

/// The audit system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditFacts {
    /// Whether the kernel has it.
    pub in_kernel: Option<bool>,
    /// `audit=` on the kernel's command line.
    pub boot_setting: Option<String>,
    /// True where the daemon's pid file names a process that runs; nothing else says that it does not.
    pub daemon: Option<bool>,
    /// 0 off, 1 on, 2 on and locked; only root is told.
    pub enabled: Option<u32>,
    /// Number of its rules; only root is told.
    pub rules: Option<u64>,
    /// The user this session logged in as; every call is a candidate for audit only if it is set.
    pub login_uid: Option<u32>,
}

impl KernelFacts {
    /// Reads them.
    #[must_use]
    pub fn read() -> Self {
        let sysctl = |name: &str| format!("/proc/sys/kernel/{name}");
        let uname = rustix::system::uname();
        let owned = |text: &std::ffi::CStr| Some(text.to_string_lossy().into_owned());
        let release = owned(uname.release());
        let command_line = procfs::text("/proc/cmdline");
        Self {
            config_sha256: config_sha256(release.as_deref().unwrap_or_default()),
            release,
            version: owned(uname.version()),
            machine: owned(uname.machine()),
            taint: procfs::number(sysctl("tainted")),
            clock_source: clock::source(),
            lsm: security::modules(),
            selinux: security::selinux_mode(),
            selinux_label: security::selinux_label(),
            apparmor_label: security::apparmor_label(),
            audit: AuditFacts::read(command_line.as_deref()),
            command_line,
            dirty: dirty_settings(Path::new("/proc/sys/vm")),
            aslr: procfs::number(sysctl("randomize_va_space")),
            transparent_hugepages: procfs::text("/sys/kernel/mm/transparent_hugepage/enabled")
                .and_then(|list| procfs::bracketed(&list).map(str::to_owned)),
            io_uring_disabled: procfs::number(sysctl("io_uring_disabled")),
        }
    }
}

impl AuditFacts {
    fn read(command_line: Option<&str>) -> Self {
        let login_uid: Option<u32> = procfs::number("/proc/self/loginuid");
        let boot_setting = command_line.and_then(|line| {
            line.split_whitespace().find_map(|word| word.strip_prefix("audit=")).map(str::to_owned)
        });
        let pid_file =
            ["/run/auditd.pid", "/var/run/auditd.pid"].iter().find_map(procfs::number::<u32>);
        let runs = |pid: u32| {
            procfs::text(format!("/proc/{pid}/comm")).is_some_and(|name| name == "auditd")
        };
        let AuditStatus { enabled, rules } = AuditStatus::read();
        let has_proc = Path::new("/proc/self").exists();
        Self {
            in_kernel: has_proc.then(|| Path::new("/proc/self/loginuid").exists()),
            boot_setting,
            daemon: pid_file.is_some_and(runs).then_some(true),
            enabled,
            rules,
            // The kernel's "not set".
            login_uid: login_uid.filter(|uid| *uid != u32::MAX),
        }
    }
}

fn dirty_settings(vm: &Path) -> BTreeMap<String, u64> {
    let entries = std::fs::read_dir(vm).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            name.starts_with("dirty").then(|| Some((name, procfs::number(entry.path())?)))?
        })
        .collect()
}

/// Of /proc/config.gz inflated, so that it equals that of the plain file in /boot.
fn config_sha256(release: &str) -> Option<String> {
    let mut text = Vec::new();
    let inflated = std::fs::File::open("/proc/config.gz")
        .and_then(|file| flate2::read::GzDecoder::new(file).read_to_end(&mut text));
    if inflated.is_err() {
        let places = [format!("/boot/config-{release}"), format!("/lib/modules/{release}/config")];
        text = places.iter().find_map(|place| std::fs::read(place).ok())?;
    }
    Some(sha256_hex(&text))
}

/// The SHA-256 of bytes in lower-case hexadecimal digits.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_kernel() {
        let facts = KernelFacts::read();
        assert_eq!(facts.release, procfs::text("/proc/sys/kernel/osrelease"));
        assert!(facts.dirty.contains_key("dirty_expire_centisecs"), "{:?}", facts.dirty);
        assert!(facts.taint.is_some());
    }

    #[test]
    fn digest_of_nothing() {
        assert!(sha256_hex(b"").starts_with("e3b0c44298fc1c149afbf4c8996fb924"));
    }

    #[test]
    fn audit_on_the_command_line() {
        let audit = AuditFacts::read(Some("quiet audit=0 ro"));
        assert_eq!(audit.boot_setting.as_deref(), Some("0"));
        assert_eq!(AuditFacts::read(None).boot_setting, None);
    }
}
