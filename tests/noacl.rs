//! ACLs off and on by remounting, on real file systems; what the kernel says is read by `findmnt`.

#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::{Bind, LoopFs, OverlayFs, TmpFs, or_skip, run, skip};
use jbodbench::host::mounts::mount_of;
use jbodbench::host::noacl::journal::{Journal, Undone};
use jbodbench::host::noacl::users::Users;
use jbodbench::host::noacl::{acls_in_force, check, switch};

/// Options as `findmnt` shows them: of the mount and of the file system.
fn options(point: &Path) -> BTreeSet<String> {
    let point = point.to_str().unwrap();
    let text = run("findmnt", &["-n", "-o", "VFS-OPTIONS,FS-OPTIONS", point]).unwrap();
    text.split([',', ' ', '\n']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[test]
fn btrfs_there_and_back() {
    let disk = or_skip!(LoopFs::with_options("btrfs", 128, "nosuid,nodev,noatime,compress=zlib"));
    let point = disk.path();
    let mount = mount_of(&point).unwrap();
    let before = options(&point);
    check(&mount).unwrap();
    assert!(acls_in_force(&point).unwrap());
    let journal = Journal::write("test-there-and-back", &mount, true).unwrap();
    assert!(Journal::write("test-there-and-back", &mount, true).is_err(), "none is replaced");

    switch(&point, false).unwrap();
    assert!(!acls_in_force(&point).unwrap());
    let mut with_noacl = before.clone();
    with_noacl.insert("noacl".into());
    assert_eq!(options(&point), with_noacl, "nothing but noacl has changed");
    let refused = run("setfacl", &["-m", "u:4000:rwx", point.to_str().unwrap()]);
    assert!(refused.unwrap_err().contains("not supported"));

    let found = Journal::all().into_iter().find(|found| found.path == journal.path).unwrap();
    assert_eq!(found, journal);
    assert_eq!(found.owner(), Some(std::process::id()));
    assert_eq!(found.undo().unwrap(), Undone::Restored);
    assert_eq!(options(&point), before);
    assert!(acls_in_force(&point).unwrap() && !journal.path.exists());
}

/// A journal of another boot, or of a file system that is gone, changes nothing.
#[test]
fn an_old_journal_is_only_removed() {
    let disk = or_skip!(LoopFs::with_options("btrfs", 128, "noacl"));
    let mount = mount_of(&disk.path()).unwrap();
    let mut journal = Journal::write("test-old", &mount, true).unwrap();
    journal.entry.boot_id = "another".into();
    assert_eq!(journal.undo().unwrap(), Undone::Outdated);
    assert!(!acls_in_force(&disk.path()).unwrap() && !journal.path.exists());

    let mut journal = Journal::write("test-gone", &mount, true).unwrap();
    journal.entry.device.1 += 1;
    assert_eq!(journal.undo().unwrap(), Undone::Outdated);
    assert!(!acls_in_force(&disk.path()).unwrap() && !journal.path.exists());
}

/// Where the option is missing, or lies, the reason is named.
#[test]
fn file_systems_without_the_option() {
    let refused = |point: &Path, reason: &str| {
        let before = options(point);
        let error = check(&mount_of(point).unwrap()).unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains("--dir-acl"), "{error}");
        assert_eq!(options(point), before);
    };
    refused(&or_skip!(LoopFs::new("ext4", 32)).path(), "ext4 has no option noacl since Linux 6.1");
    refused(&or_skip!(LoopFs::new("xfs", 320)).path(), "xfs has no option noacl");
    refused(&or_skip!(TmpFs::new("4m")).path(), "tmpfs has no option noacl");
    refused(&or_skip!(OverlayFs::new()).path(), "its layers decide");
}

/// A kernel that agrees and does nothing is found out.
#[test]
fn a_lie_is_no_success() {
    let overlay = or_skip!(OverlayFs::new());
    let error = switch(&overlay.path(), false).unwrap_err().to_string();
    assert!(error.contains("cannot remount") || error.contains("yet ACLs are"), "{error}");
}

#[test]
fn whoever_uses_the_file_system_is_named() {
    let disk = or_skip!(LoopFs::new("ext4", 32));
    let bind = or_skip!(Bind::new(&disk.path()));
    let mount = mount_of(&disk.path()).unwrap();
    let users = Users::of(&mount).unwrap();
    assert!(users.mounts.contains(&disk.path()) && users.mounts.contains(&bind.path()));
    assert_eq!(users.objections(), Vec::<String>::new());

    let image = disk.path().join("image");
    std::fs::File::create(&image).unwrap().set_len(1 << 20).unwrap();
    let device = run("losetup", &["-f", "--show", image.to_str().unwrap()]).unwrap();
    let mut sleeper = std::process::Command::new("sleep");
    let mut sleeper = sleeper.arg("100").current_dir(bind.path()).spawn().unwrap();
    let users = Users::of(&mount).unwrap();
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    run("losetup", &["-d", device.trim()]).unwrap();
    assert_eq!(users.processes, [(sleeper.id(), "sleep".to_owned())]);
    assert_eq!(users.loops, [image]);
    let lines = users.objections().join("\n");
    assert!(lines.contains(&format!("in use by sleep ({})", sleeper.id())), "{lines}");
}
