//! Security modules and audit in the result are what others read of the kernel.

use std::fs;

use crate::common::tool::{BINARY, Running, label, run_on};
use crate::common::{TmpFs, need_root, or_skip, run, skip};

/// Asks the kernel for the state of its audit, by other code than ours.
const AUDIT: &str = "
import socket, struct
def ask(kind):
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9)
    s.settimeout(5)
    s.sendto(struct.pack('=IHHII', 16, kind, 1, 1, 0), (0, 0))
    return s
print(struct.unpack_from('=I', ask(1000).recv(9000), 20)[0])
rules, s = 0, ask(1013)
while True:
    kind = struct.unpack_from('=H', s.recv(65536), 4)[0]
    if kind != 1013:
        break
    rules += 1
print(rules)
";

#[test]
fn modules_and_audit_are_recorded() {
    let disk = or_skip!(TmpFs::new("64m"));
    let mount =
        "mount -t securityfs s /sys/kernel/security 2>/dev/null; cat /sys/kernel/security/lsm";
    let modules = or_skip!(run("unshare", &["-m", "sh", "-c", mount]));
    let audit = or_skip!(run("python3", &["-c", AUDIT]));
    let table = run_on("--passes 1 -c 1", &[&disk.path()]).expect(0).table();
    let row = table.summary(label(&disk.path()), "all");
    assert_eq!(row.text("lsm"), modules.trim());
    let found = format!("{}\n{}\n", row.text("audit_enabled"), row.text("audit_rules"));
    assert_eq!(found, audit);
    let types = fs::read_to_string("/proc/filesystems").unwrap();
    if !types.contains("selinuxfs") {
        assert_eq!((row.text("selinux"), row.text("selinux_label")), ("off", ""));
    }
    if !modules.contains("apparmor") {
        assert_eq!(row.text("apparmor_label"), "");
    }
}

/// Who may not ask does not know: no 0.
#[test]
fn an_ordinary_user_is_not_told_about_audit() {
    or_skip!(need_root());
    or_skip!(run("setpriv", &["--version"]));
    let disk = or_skip!(TmpFs::with_options("size=64m,mode=1777"));
    let place = tempfile::Builder::new().prefix("jbodbench-test-").tempdir().unwrap();
    let binary = place.path().join("jbodbench");
    fs::copy(BINARY, &binary).unwrap();
    or_skip!(run("chmod", &["755", label(place.path())]));
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&binary);
    command.args(["run", "--passes", "1", "-c", "1"]).arg(disk.path());
    let table = Running::start(command).finish().expect(0).table();
    let row = table.summary(label(&disk.path()), "all");
    assert_eq!((row.text("audit_enabled"), row.text("audit_rules")), ("", ""));
    assert_ne!(row.text("lsm"), "");
}

/// A journal that says nothing is named, and left.
#[test]
fn restore_names_what_it_cannot_read() {
    or_skip!(need_root());
    // In a mount namespace of its own: other tests have journals there.
    let script = "mkdir -p /run/jbodbench && mount -t tmpfs t /run/jbodbench && \
                  echo '{\"run_id\":' >/run/jbodbench/cut-short.json && \"$0\" restore; code=$?; \
                  ls /run/jbodbench; exit $code";
    let mut command = std::process::Command::new("unshare");
    command.args(["-m", "sh", "-c", script, BINARY]);
    let finished = Running::start(command).finish().expect(1);
    finished.says("/run/jbodbench/cut-short.json: not a journal");
    assert_eq!(finished.stdout, "cut-short.json\n");
}
