//! ACLs against getfacl and setfacl, and the probes, on real file systems. Needs root and the
//! package acl.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use common::{LoopFs, TmpFs, or_skip, run, skip};
use jbodbench::host::acl::{Acl, AclEntry, Who};
use jbodbench::host::acl_force::Answer;
use jbodbench::host::acl_xattr::{self, AclKind, ReadError};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// What getfacl prints, one entry a word; default entries begin with `default:`.
fn getfacl(path: &Path) -> Vec<String> {
    let arguments = ["--omit-header", "--numeric", "--no-effective", "--absolute-names"];
    let text = run("getfacl", &[&arguments[..], &[path.to_str().unwrap()]].concat()).unwrap();
    text.split_whitespace().map(str::to_owned).collect()
}

fn setfacl(arguments: &[&str], path: &Path) {
    run("setfacl", &[arguments, &[path.to_str().unwrap()]].concat()).unwrap();
}

fn words(acl: &Acl) -> Vec<String> {
    acl.entries.iter().map(ToString::to_string).collect()
}

fn entry(who: Who, perms: u8) -> AclEntry {
    AclEntry { who, perms }
}

fn open_path(path: &Path) -> rustix::fd::OwnedFd {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).unwrap()
}

/// What we set, getfacl prints; the mode shows the mask.
fn ours_read_by_getfacl(dir: &Path) {
    let dir = dir.join("ours");
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o750)).unwrap();
    let named = [entry(Who::User(4000), 7), entry(Who::Group(50), 4), entry(Who::User(1), 0)];
    let acl = Acl::with_named(0o750, &named);
    acl.check().unwrap();
    acl_xattr::set(&dir, AclKind::Access, &acl).unwrap();
    let access = ["user::rwx", "user:1:---", "user:4000:rwx", "group::r-x", "group:50:r--"];
    let access = [&access[..], &["mask::rwx", "other::---"]].concat();
    assert_eq!(getfacl(&dir), access);
    assert_eq!(dir.metadata().unwrap().mode() & 0o777, 0o770);
    assert_eq!(acl.mode(), (0o770, false));

    let default = Acl::with_named(0o711, &[entry(Who::Group(60), 5)]);
    acl_xattr::set_fd(open_path(&dir).as_fd(), AclKind::Default, &default).unwrap();
    let printed = ["user::rwx", "group::--x", "group:60:r-x", "mask::r-x", "other::--x"];
    let printed: Vec<_> = printed.iter().map(|word| format!("default:{word}")).collect();
    assert_eq!(getfacl(&dir)[access.len()..], printed);
    // A file inherits it; what it keeps is masked by the mode it was made with.
    fs::write(dir.join("file"), []).unwrap();
    let inherited = acl_xattr::get(&dir.join("file"), AclKind::Access).unwrap().unwrap();
    assert_eq!(words(&inherited), getfacl(&dir.join("file")));
    assert!(inherited.perms(Who::Group(60)) == Some(5) && inherited.named() == 1);

    acl_xattr::remove_fd(open_path(&dir).as_fd(), AclKind::Default).unwrap();
    acl_xattr::remove(&dir, AclKind::Access).unwrap();
    acl_xattr::remove(&dir, AclKind::Access).unwrap();
    assert_eq!(getfacl(&dir).len(), 3);
    assert_eq!(acl_xattr::get(&dir, AclKind::Access), Ok(None));
    // What a mode can say is kept as a mode.
    acl_xattr::set(&dir, AclKind::Access, &Acl::of_mode(0o705)).unwrap();
    assert_eq!(acl_xattr::get(&dir, AclKind::Access), Ok(None));
    assert_eq!(dir.metadata().unwrap().mode() & 0o777, 0o705);
}

/// What setfacl sets, we read.
fn theirs_read_by_us(dir: &Path) {
    let dir = dir.join("theirs");
    fs::create_dir(&dir).unwrap();
    assert_eq!(acl_xattr::get(&dir, AclKind::Access), Ok(None));
    setfacl(&["-m", "u:4000:rx,u:0:r,g:7:w,m::r"], &dir);
    setfacl(&["-d", "-m", "u:5:rwx"], &dir);
    for kind in [AclKind::Access, AclKind::Default] {
        let acl = acl_xattr::get(&dir, kind).unwrap().unwrap();
        assert_eq!(acl.check(), Ok(()));
        assert_eq!(acl_xattr::get_fd(open_path(&dir).as_fd(), kind), Ok(Some(acl.clone())));
        let open = fs::File::open(&dir).unwrap();
        assert_eq!(acl_xattr::get_fd(open.as_fd(), kind), Ok(Some(acl.clone())));
        let printed = getfacl(&dir).into_iter().filter_map(|word| {
            match (kind, word.strip_prefix("default:")) {
                (AclKind::Access, None) => Some(word),
                (AclKind::Default, default) => default.map(str::to_owned),
                (AclKind::Access, Some(_)) => None,
            }
        });
        assert_eq!(words(&acl), printed.collect::<Vec<_>>());
        if kind == AclKind::Access {
            assert_eq!(acl.mode().0, dir.metadata().unwrap().mode() & 0o777);
        }
    }
    // More entries than the first buffer takes.
    let many: Vec<String> = (100..200).map(|uid| format!("u:{uid}:r")).collect();
    setfacl(&["-m", &many.join(",")], &dir);
    let acl = acl_xattr::get(&dir, AclKind::Access).unwrap().unwrap();
    assert_eq!((acl.named(), words(&acl)), (103, getfacl(&dir)[..acl.entries.len()].to_vec()));
}

/// What is wrong is wrong to the kernel, too.
fn refused_as_we_say(dir: &Path) {
    let dir = dir.join("wrong");
    fs::create_dir(&dir).unwrap();
    let good = Acl::with_named(0o755, &[entry(Who::User(9), 5)]);
    for leave_out in [Who::Owner, Who::OwningGroup, Who::Other, Who::Mask] {
        let entries = good.entries.iter().copied().filter(|entry| entry.who != leave_out);
        let acl = Acl { entries: entries.collect() };
        assert!(acl.check().is_err());
        assert_eq!(acl_xattr::set(&dir, AclKind::Access, &acl), Err(Errno::INVAL), "{leave_out:?}");
    }
    let link = dir.with_file_name("link");
    std::os::unix::fs::symlink(&dir, &link).unwrap();
    assert!(acl_xattr::set(&link, AclKind::Access, &good).is_err());
    assert_eq!(acl_xattr::get(&dir, AclKind::Access), Ok(None));
}

fn all_of_it(dir: &Path) {
    ours_read_by_getfacl(dir);
    theirs_read_by_us(dir);
    refused_as_we_say(dir);
}

#[test]
fn acls_on_ext4() {
    or_skip!(run("getfacl", &["--version"]));
    all_of_it(&or_skip!(LoopFs::new("ext4", 64)).path());
}

#[test]
fn acls_in_memory() {
    or_skip!(run("getfacl", &["--version"]));
    all_of_it(&or_skip!(TmpFs::new("16m")).path());
}

#[test]
fn in_force_or_not() {
    let btrfs = or_skip!(LoopFs::with_options("btrfs", 128, "noacl"));
    let ext4 = or_skip!(LoopFs::new("ext4", 64));
    let of = |path: &Path| Answer::of(open_path(path).as_fd());
    // setfacl is the witness.
    let settable = |path: &Path| run("setfacl", &["-m", "u:1:r", path.to_str().unwrap()]).is_ok();
    assert_eq!((of(&btrfs.path()), settable(&btrfs.path())), (Answer::Off, false));
    assert_eq!(of(&btrfs.path()).force("btrfs").effective, Some(false));
    assert_eq!(
        acl_xattr::get(&btrfs.path(), AclKind::Access),
        Err(ReadError::Errno(Errno::OPNOTSUPP))
    );
    assert_eq!((of(&ext4.path()), settable(&ext4.path())), (Answer::None, true));
    assert!(matches!(of(&ext4.path()), Answer::Acl(acl) if acl.named() == 1));
    or_skip!(run("mount", &["-o", "remount,acl", btrfs.path().to_str().unwrap()]));
    assert_eq!((of(&btrfs.path()), settable(&btrfs.path())), (Answer::None, true));
}
