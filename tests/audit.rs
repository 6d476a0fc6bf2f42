//! `audit` against the kernel: every deciding step, tried as the user. Needs root and setpriv.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::tool::{Running, jbodbench};
use common::{LoopFs, OverlayFs, TmpFs, or_skip, run, skip};
use jbodbench::audit::decide::{Inode, Rules, Step, decide};
use jbodbench::audit::{Component, Question, audit};
use jbodbench::host::acl::{Acl, AclEntry, Who};
use jbodbench::host::acl_xattr::{self, AclKind};
use jbodbench::host::credentials::Credentials;
use jbodbench::host::sys::may_access;
use jbodbench::host::users::Names;

/// A user of the trials; no such entry has to be in /etc/passwd.
fn user(uid: u32, gid: u32, groups: &[u32]) -> Credentials {
    let (groups, root) = (groups.to_vec(), uid == 0);
    Credentials { uid, gid, groups, dac_override: root, dac_read_search: root }
}

/// Starts a program with a user's credentials, by setpriv, not by our own code; whether it ended well.
fn as_user(who: &Credentials, program: &[&str]) -> bool {
    let groups: Vec<String> = who.groups.iter().map(u32::to_string).collect();
    let groups = if groups.is_empty() {
        "--clear-groups".to_owned()
    } else {
        format!("--groups={}", groups.join(","))
    };
    let ids = [format!("--reuid={}", who.uid), format!("--regid={}", who.gid), groups];
    let mut command = Command::new("setpriv");
    command.args(ids).arg("--").args(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().unwrap().success()
}

/// A directory that all users get to, with a disk in it.
fn open_to_all(path: &Path) -> PathBuf {
    fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
    path.to_owned()
}

fn last(path: &Path, who: &Credentials, want: Option<u8>) -> Component {
    let question = Question {
        path: path.to_owned(),
        who: who.clone(),
        name: "x".into(),
        last: want,
        names: Names::default(),
    };
    let found = audit(&question).unwrap();
    assert_eq!(found.stopped, None);
    assert_eq!(found.disagreements().count(), 0, "{found:?}");
    found.components.last().unwrap().clone()
}

/// Makes a directory with a file in it, of owner 10 and group 20.
fn make(disk: &Path, name: &str, mode: u32, named: &[(Who, u8)]) -> PathBuf {
    let dir = disk.join(name);
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("inner"), []).unwrap();
    chown(&dir, Some(10), Some(20)).unwrap();
    let named: Vec<_> = named.iter().map(|&(who, perms)| AclEntry { who, perms }).collect();
    let acl = Acl::with_named(mode, &named);
    if named.is_empty() {
        fs::set_permissions(&dir, fs::Permissions::from_mode(mode)).unwrap();
    } else {
        acl_xattr::set(&dir, AclKind::Access, &acl).unwrap();
    }
    dir
}

/// Fails unless audit says that this step decides the search, and the kernel does what it says.
#[track_caller]
fn searched(dir: &Path, who: &Credentials, step: Step, granted: bool) {
    let name = dir.display();
    let found = last(dir, who, None);
    let decision = found.decision.unwrap();
    assert_eq!((decision.step, found.granted), (step, granted), "{name}: {decision:?}");
    assert_eq!(found.kernel, Some(granted), "{name}");
    // A stat of what is in it needs to search it, and nothing else of it.
    let inner = dir.join("inner");
    assert_eq!(as_user(who, &["stat", inner.to_str().unwrap()]), granted, "{name}");
}

#[test]
fn the_six_steps_on_ext4() {
    or_skip!(run("setpriv", &["--version"]));
    let fs = or_skip!(LoopFs::new("ext4", 64));
    let disk = open_to_all(&fs.path());
    let (other, owner, member) = (user(4000, 4000, &[]), user(10, 4000, &[]), user(4000, 20, &[]));
    let root = user(0, 0, &[]);
    let new = or_skip!(shortcut_here());

    // 1: it only grants. Where one bit or the absence of ACLs is missing, a later step decides.
    let dir = make(&disk, "shortcut", 0o755, &[]);
    for who in [&other, &owner, &member, &root] {
        let before = match who.uid {
            10 => Step::Owner,
            _ => Step::Other,
        };
        searched(&dir, who, if new { Step::Shortcut } else { before }, true);
    }
    searched(&make(&disk, "no shortcut", 0o754, &[]), &other, Step::Other, false);
    let named = make(&disk, "no shortcut but acl", 0o755, &[(Who::User(4000), 0)]);
    searched(&named, &other, Step::Acl, false);

    searched(&make(&disk, "owner", 0o700, &[]), &owner, Step::Owner, true);
    searched(&make(&disk, "not owner", 0o077, &[]), &owner, Step::Owner, false);

    acl_steps(&disk, &other);

    let group = make(&disk, "group", 0o750, &[]);
    searched(&group, &member, Step::Group, true);
    searched(&group, &user(4000, 4000, &[7, 20]), Step::Group, true);
    searched(&make(&disk, "not group", 0o705, &[]), &member, Step::Group, false);

    searched(&disk.join("not group"), &other, Step::Other, true);
    searched(&group, &other, Step::Other, false);

    searched(&make(&disk, "capability", 0o700, &[]), &root, Step::Capability, true);
    // No capability lets anybody execute what nobody may execute.
    let file = disk.join("program");
    fs::copy("/bin/true", &file).unwrap();
    for (mode, granted) in [(0o100, true), (0o644, false)] {
        chown(&file, Some(10), Some(20)).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let found = last(&file, &root, Some(1));
        assert_eq!((found.decision.unwrap().step, found.granted), (Step::Capability, granted));
        assert_eq!(as_user(&root, &[file.to_str().unwrap()]), granted, "{mode:o}");
    }
}

fn acl_steps(disk: &Path, other: &Credentials) {
    let granting = make(disk, "acl", 0o710, &[(Who::User(4000), 1), (Who::Group(30), 4)]);
    searched(&granting, other, Step::Acl, true);
    searched(&granting, &user(4001, 30, &[]), Step::Acl, false);
    searched(&granting, &user(4001, 4001, &[20, 30]), Step::Acl, true);
    searched(&granting, &user(4001, 4001, &[]), Step::Acl, false);
    // The mask takes it away.
    let masked = make(disk, "masked", 0o705, &[(Who::User(4000), 7)]);
    run("setfacl", &["-m", "m::r", masked.to_str().unwrap()]).unwrap();
    searched(&masked, other, Step::Acl, false);
    assert_eq!(last(&masked, other, None).decision.unwrap().scan.unwrap().mask, Some(4));
    // An empty mask: the kernel does not look at the ACL at all.
    run("setfacl", &["-m", "m::-", masked.to_str().unwrap()]).unwrap();
    searched(&masked, other, Step::Other, true);
}

/// Whether this kernel has the shortcut.
fn shortcut_here() -> Result<bool, String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    Ok((numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (6, 13))
}

#[test]
fn acls_out_of_force_do_not_count() {
    or_skip!(run("setpriv", &["--version"]));
    let fs = or_skip!(LoopFs::new("btrfs", 128));
    let disk = open_to_all(&fs.path());
    let dir = make(&disk, "named", 0o755, &[(Who::User(4000), 0)]);
    let other = user(4000, 4000, &[]);
    searched(&dir, &other, Step::Acl, false);
    or_skip!(run("mount", &["-o", "remount,noacl", disk.to_str().unwrap()]));
    let new = or_skip!(shortcut_here());
    searched(&dir, &other, if new { Step::Shortcut } else { Step::Other }, true);
}

#[test]
fn overlayfs_has_no_shortcut() {
    or_skip!(run("setpriv", &["--version"]));
    let fs = or_skip!(OverlayFs::new());
    let disk = open_to_all(&fs.path());
    let dir = make(&disk, "plain", 0o755, &[]);
    searched(&dir, &user(4000, 4000, &[]), Step::Other, true);
    searched(&dir, &user(10, 4000, &[]), Step::Owner, true);
    let found = audit(&Question {
        path: dir,
        who: user(4000, 4000, &[]),
        name: "x".into(),
        last: None,
        names: Names::default(),
    });
    let mounts = found.unwrap().mounts;
    let roles: Vec<_> = mounts.last().unwrap().layers.iter().map(|layer| layer.role).collect();
    assert_eq!(roles, ["lower", "upper"]);
    let layer = &mounts.last().unwrap().layers[0];
    assert_eq!((layer.fstype.as_deref(), layer.idmapped), (Some("tmpfs"), Some(false)));
}

#[test]
fn links_in_sticky_directories() {
    or_skip!(run("setpriv", &["--version"]));
    let fs = or_skip!(TmpFs::new("16m"));
    let disk = open_to_all(&fs.path());
    fs::set_permissions(&disk, fs::Permissions::from_mode(0o1777)).unwrap();
    fs::write(disk.join("file"), []).unwrap();
    let link = disk.join("link");
    std::os::unix::fs::symlink("file", &link).unwrap();
    std::os::unix::fs::lchown(&link, Some(5), Some(5)).unwrap();
    for uid in [5, 4000, 0] {
        let who = user(uid, uid, &[]);
        let question = Question {
            path: link.clone(),
            who: who.clone(),
            name: "x".into(),
            last: None,
            names: Names::default(),
        };
        let found = audit(&question).unwrap();
        let followed = as_user(&who, &["stat", "-L", link.to_str().unwrap()]);
        assert_eq!(found.denied_at().is_none(), followed, "uid {uid}: {found:?}");
    }
}

/// A generator of numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn id(&mut self) -> u32 {
        u32::try_from(1 + self.below(4)).unwrap()
    }
}

/// Random owners, modes, ACLs, users and accesses: the function and the kernel agree in each.
#[test]
fn the_decision_is_the_kernels() {
    let fs = or_skip!(TmpFs::new("16m"));
    let (mut dice, mut seen) = (Dice(4), std::collections::BTreeSet::new());
    let rules = Rules { shortcut: or_skip!(shortcut_here()), acl: true, acl_not_cached: false };
    for round in 0..1500 {
        let path = fs.path().join(round.to_string());
        if dice.below(2) == 0 { fs::create_dir(&path) } else { fs::write(&path, []) }.unwrap();
        chown(&path, Some(dice.id()), Some(dice.id())).unwrap();
        let mode = u32::try_from(dice.below(512)).unwrap();
        let mut named = std::collections::BTreeMap::new();
        for _ in 0..dice.below(4) {
            let id = dice.id();
            let who = if dice.below(2) == 0 { Who::User(id) } else { Who::Group(id) };
            named.insert(who, u8::try_from(dice.below(8)).unwrap());
        }
        let named: Vec<_> = named.into_iter().map(|(who, perms)| AclEntry { who, perms }).collect();
        let mut acl = Acl::with_named(mode, &named);
        if let Some(mask) = acl.entries.iter_mut().find(|entry| entry.who == Who::Mask) {
            mask.perms = u8::try_from(dice.below(8)).unwrap();
        }
        acl_xattr::set(&path, AclKind::Access, &acl).unwrap();
        let uid = if dice.below(3) == 0 { 0 } else { dice.id() };
        let who = user(uid, dice.id(), &[dice.id()]);
        let access = u8::try_from(1 + dice.below(7)).unwrap();
        let fd = fs::File::open(&path).unwrap();
        let meta = fd.metadata().unwrap();
        let inode = Inode {
            mode: std::os::unix::fs::MetadataExt::mode(&meta),
            uid: std::os::unix::fs::MetadataExt::uid(&meta),
            gid: std::os::unix::fs::MetadataExt::gid(&meta),
            acl: acl_xattr::get(&path, AclKind::Access).unwrap(),
        };
        let decision = decide(&who, &inode, rules, access);
        let kernel = who.run_as(|| may_access(fd.as_fd(), access)).unwrap();
        assert_eq!(decision.granted, kernel.is_ok(), "{who:?} {access} {inode:?} {decision:?}");
        seen.insert((decision.step, decision.granted));
    }
    // Every step, both ways, but that the shortcut never refuses.
    assert_eq!(seen.len(), if rules.shortcut { 11 } else { 10 }, "{seen:?}");
}

#[test]
fn as_a_person_and_a_program_read_it() {
    let fs = or_skip!(LoopFs::new("ext4", 64));
    let disk = open_to_all(&fs.path());
    make(&disk, "dir", 0o710, &[(Who::User(4000), 5)]);
    let ask = |arguments: &[&str]| {
        let mut command = jbodbench(["audit", "--as", "4000:4000"]);
        command.args(arguments).arg(disk.join("dir/inner"));
        Running::start(command).finish()
    };
    let text = ask(&[]).expect(0).stdout;
    for wanted in [
        "acl user:4000:r-x mask::r-x",
        "0750+",
        "1.37",
        "ext4  in force",
        "RCU mode",
        "says the same",
    ] {
        assert!(text.contains(wanted), "no `{wanted}` in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 160), "{text}");

    let csv = ask(&["--format", "csv"]).expect(0).stdout;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let header = reader.headers().unwrap().clone();
    let cell = |row: &csv::StringRecord, name: &str| {
        row[header.iter().position(|column| column == name).unwrap()].to_owned()
    };
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let path = disk.join("dir").display().to_string();
    let dir = rows.iter().find(|row| cell(row, "path") == path).unwrap();
    let cells = ["step", "granted", "kernel", "entry", "mask", "acl_entries", "fstype", "mode"];
    assert_eq!(
        cells.map(|name| cell(dir, name)),
        ["acl", "true", "true", "user:4000:r-x", "r-x", "1", "ext4", "0750"]
    );
    let walk = rows.iter().find(|row| cell(row, "row") == "walk").unwrap();
    assert_eq!(cell(walk, "walk_rcu"), "1");

    let json = ask(&["--format", "json"]).expect(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["components"].as_array().unwrap().last().unwrap()["kind"], "file");
    assert_eq!(json["walk"]["asked"], "rcu");
}

#[test]
fn columns_are_those_of_the_documentation() {
    let text = include_str!("../docs/permissions.md");
    let table = text.split("| column | meaning |").nth(1).unwrap().lines().skip(2);
    let rows = table.take_while(|line| line.starts_with("| "));
    let documented: Vec<_> = rows.map(|line| line.split('|').nth(1).unwrap().trim()).collect();
    assert_eq!(documented, jbodbench::output::AUDIT_COLUMNS);
}

#[test]
fn exit_codes() {
    let ask = |arguments: &[&str]| {
        let mut command = jbodbench(["audit"]);
        command.args(arguments);
        Running::start(command).finish()
    };
    ask(&["/"]).expect(0);
    ask(&["/no/such/path"]).expect(3).says("cannot look at /no: ENOENT");
    ask(&["--as", "no-such-user", "/"]).expect(2).says("/etc/passwd");
    ask(&["--as", "4000", "/"]).expect(2).says("4000:GID");
    ask(&["--want", "q", "/"]).expect(2).says("rw");
    let dir = tempfile::tempdir().unwrap();
    or_skip!(common::need_root());
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
    let closed = dir.path().to_str().unwrap();
    let denied = ask(&["--as", "4000:4000", closed]).expect(1);
    assert!(denied.stdout.contains("refuses search"), "{denied}");
}
