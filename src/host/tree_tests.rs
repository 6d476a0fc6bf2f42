//! Tests of `tree` in a temporary directory.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::super::left::find_trees;
use super::*;

#[test]
fn made_marked_nested_and_removed() {
    let disk = tempfile::tempdir().unwrap();
    let tree = RunTree::create(disk.path(), "r1", &TreeSpec::of_depth(3)).unwrap();
    assert_eq!(tree.root_path(), disk.path().join(".jbodbench-r1/d1/d2/d3"));
    let meta = fs::metadata(disk.path().join(".jbodbench-r1")).unwrap();
    assert_eq!((meta.dev(), meta.ino()), (tree.dev(), tree.ino()));
    assert_eq!(meta.permissions().mode() & 0o777, 0o755);
    assert!(Identity::of(tree.root_fd()).is_ok());
    fs::write(tree.root_path().join("file"), "x").unwrap();
    let found = find_trees(disk.path()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].marker.as_ref().unwrap().run_id, "r1");
    let report = tree.remove().unwrap();
    assert_eq!((report.removed, report.failed), (6, 0));
    assert_eq!(fs::read_dir(disk.path()).unwrap().count(), 0);
}

/// Nobody else gets at what clients share.
#[test]
fn a_shared_directory_is_closed_to_others() {
    let disk = tempfile::tempdir().unwrap();
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    for (name, inner, at) in [("r1", None, "d1/SHARED"), ("r2", Some((uid, gid)), "d1/c/SHARED")] {
        let spec = TreeSpec { shared: true, inner, ..TreeSpec::of_depth(1) };
        let tree = RunTree::create(disk.path(), name, &spec).unwrap();
        let shared = disk.path().join(tree.name()).join(at);
        assert_eq!(shared.parent(), Some(tree.root_path()));
        let meta = fs::metadata(&shared).unwrap();
        assert_eq!((meta.mode() & 0o7777, meta.uid(), meta.gid()), (0o700, uid, gid));
        tree.remove().unwrap();
    }
    assert_eq!(fs::read_dir(disk.path()).unwrap().count(), 0);
}

#[test]
fn without_depth_the_root_is_the_run_directory() {
    let disk = tempfile::tempdir().unwrap();
    let tree = RunTree::create(disk.path(), "r1", &TreeSpec::of_depth(0)).unwrap();
    assert_eq!(tree.root_path(), disk.path().join(".jbodbench-r1"));
    let again = RunTree::create(disk.path(), "r1", &TreeSpec::of_depth(0)).unwrap_err();
    assert!(again.to_string().contains("EEXIST"), "{again}");
    tree.remove().unwrap();
}

#[test]
fn too_deep_leaves_nothing() {
    let disk = tempfile::tempdir().unwrap();
    for bad in ["", "a/b", "..\0", "x y"] {
        assert!(RunTree::create(disk.path(), bad, &TreeSpec::of_depth(0)).is_err(), "{bad:?}");
    }
    assert!(RunTree::create(&disk.path().join("missing"), "r1", &TreeSpec::of_depth(0)).is_err());
    assert_eq!(fs::read_dir(disk.path()).unwrap().count(), 0);
}

#[test]
fn another_process_removes_it_by_name_and_identity() {
    let disk = tempfile::tempdir().unwrap();
    let tree = RunTree::create(disk.path(), "r1", &TreeSpec::of_depth(1)).unwrap();
    let (name, dev, ino) = (tree.name().to_owned(), tree.dev(), tree.ino());
    drop(tree);
    let wrong = remove_tree(disk.path(), &name, dev, ino + 1).unwrap_err();
    assert!(matches!(wrong, HostError::NotOurs { .. }), "{wrong}");
    assert!(disk.path().join(&name).exists());
    assert_eq!(remove_tree(disk.path(), &name, dev, ino).unwrap().removed, 3);
    assert_eq!(remove_tree(disk.path(), &name, dev, ino).unwrap(), RemoveReport::default());
    assert!(remove_tree(disk.path(), OsStr::new("home"), dev, ino).is_err());
}

#[test]
fn a_link_or_another_marker_or_none_is_left_alone() {
    let disk = tempfile::tempdir().unwrap();
    let elsewhere = disk.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("precious"), "x").unwrap();
    let meta = fs::metadata(&elsewhere).unwrap();
    let id = (meta.dev(), meta.ino());
    symlink(&elsewhere, disk.path().join(".jbodbench-l")).unwrap();
    assert!(remove_tree(disk.path(), OsStr::new(".jbodbench-l"), id.0, id.1).is_err());
    assert!(find_trees(disk.path()).unwrap().is_empty());

    let other = disk.path().join(".jbodbench-o");
    fs::rename(&elsewhere, &other).unwrap();
    let unmarked = remove_tree(disk.path(), OsStr::new(".jbodbench-o"), id.0, id.1).unwrap_err();
    assert!(unmarked.to_string().contains("no marker"), "{unmarked}");
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let fd = rustix::fs::open(&other, flags, Mode::empty()).unwrap();
    Marker::of_this_process("another").write(fd.as_fd()).unwrap();
    assert!(remove_tree(disk.path(), OsStr::new(".jbodbench-o"), id.0, id.1).is_err());
    assert!(other.join("precious").exists());
}

#[test]
fn an_empty_directory_without_marker_goes() {
    let disk = tempfile::tempdir().unwrap();
    let path = disk.path().join(".jbodbench-e");
    fs::create_dir(&path).unwrap();
    let meta = fs::metadata(&path).unwrap();
    let report = remove_tree(disk.path(), OsStr::new(".jbodbench-e"), meta.dev(), meta.ino());
    assert_eq!(report.unwrap().removed, 1);
}

#[test]
fn what_stays_keeps_the_marker() {
    let disk = tempfile::tempdir().unwrap();
    let tree = RunTree::create(disk.path(), "r1", &TreeSpec::of_depth(0)).unwrap();
    fs::create_dir(tree.root_path().join("sub")).unwrap();
    let path = tree.root_path().to_owned();
    let remover = Remover::new(tree.disk.as_fd(), disk.path()).keep_until_last(marker::FILE_NAME);
    let dir = openat(&tree.disk, &tree.name, directory_flags(), Mode::empty()).unwrap();
    // Another mount id stands for a mount point inside.
    let foreign = Identity { mount: tree.identity.mount + 1, ..tree.identity };
    let report = remover.remove_opened(&tree.name, dir, foreign).unwrap();
    assert_eq!((report.removed, report.failed), (0, 1));
    let failure = report.first_failure.unwrap();
    assert_eq!((failure.path, failure.errno), (path.join("sub"), Errno::XDEV));
    assert_eq!(tree.remove().unwrap().failed, 0);
    assert!(!path.exists());
}
