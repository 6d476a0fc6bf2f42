//! Tests of `remove`: links, exchanged directories, depth, and things that will not go.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

struct Place {
    dir: tempfile::TempDir,
    fd: OwnedFd,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let fd = rustix::fs::open(dir.path(), flags, Mode::empty()).unwrap();
        Self { dir, fd }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    fn file(&self, below: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }

    fn delete(&self, name: &CStr) -> Result<u64, Errno> {
        delete_tree_at(self.fd.as_fd(), name)
    }
}

/// As clients that share a tree do.
#[test]
fn several_may_remove_one_tree_at_a_time() {
    let place = Place::new();
    for _ in 0..20 {
        for file in 0..60 {
            place.file(&format!("t/d{}/e{}/f{file}", file % 6, file % 3));
        }
        let start = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            let remove = || {
                start.wait();
                place.delete(c"t")
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(remove)).collect();
            // t, 6 directories with 3 in each that 60 files come to, and those: once each.
            let removed: u64 = threads.into_iter().map(|t| t.join().unwrap().unwrap()).sum();
            assert_eq!(removed, 1 + 6 + 6 + 60);
        });
        assert!(!place.path("t").exists());
    }
}

#[test]
fn counts_what_goes_and_takes_a_missing_name() {
    let place = Place::new();
    place.file("t/a/b/c");
    place.file("t/a/d");
    place.file("t/e");
    place.file("other");
    fs::create_dir(place.path("t/empty")).unwrap();
    assert_eq!(place.delete(c"t"), Ok(7));
    assert!(!place.path("t").exists() && place.path("other").exists());
    assert_eq!(place.delete(c"t"), Ok(0));
    assert_eq!(place.delete(c"other"), Ok(1));
}

#[test]
fn links_go_and_what_they_point_to_stays() {
    let place = Place::new();
    place.file("elsewhere/precious");
    fs::create_dir_all(place.path("t/sub")).unwrap();
    symlink(place.path("elsewhere"), place.path("t/sub/dir-link")).unwrap();
    symlink(place.path("elsewhere/precious"), place.path("t/file-link")).unwrap();
    symlink("/", place.path("t/root-link")).unwrap();
    symlink("nowhere", place.path("t/broken")).unwrap();
    assert_eq!(place.delete(c"t"), Ok(6));
    symlink(place.path("elsewhere"), place.path("t")).unwrap();
    assert_eq!(place.delete(c"t"), Ok(1));
    assert!(place.path("elsewhere/precious").exists());
}

/// The step between reading a directory and opening one in it, with a link put there meanwhile.
#[test]
fn a_link_in_the_place_of_a_directory_is_unlinked() {
    let place = Place::new();
    place.file("elsewhere/precious");
    place.file("t/sub/x");
    let mut remover = Remover::new(place.fd.as_fd(), Path::new(""));
    remover.enter(c"t".to_owned()).unwrap();
    let noted = remover.levels[0].subdirectories.clone();
    assert_eq!(noted, [c"sub".to_owned()]);
    fs::rename(place.path("t/sub"), place.path("moved")).unwrap();
    symlink(place.path("elsewhere"), place.path("t/sub")).unwrap();
    let report = remover.run().unwrap();
    assert_eq!((report.removed, report.failed), (2, 0));
    assert!(place.path("elsewhere/precious").exists());
    assert!(place.path("moved/x").exists());
    assert!(!place.path("t").exists());
}

#[test]
fn a_race_with_a_link_never_reaches_the_other_tree() {
    let place = Place::new();
    for n in 0..50 {
        place.file(&format!("elsewhere/{n}"));
    }
    symlink(place.path("elsewhere"), place.path("link")).unwrap();
    let stop = AtomicBool::new(false);
    let (dir, link) = (place.path("t/sub"), place.path("link"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let flags = rustix::fs::RenameFlags::EXCHANGE;
            let cwd = rustix::fs::CWD;
            while !stop.load(Ordering::Relaxed) {
                let _ = rustix::fs::renameat_with(cwd, &dir, cwd, &link, flags);
            }
        });
        for _ in 0..300 {
            place.file("t/other/x");
            let _ = fs::create_dir(&dir);
            let _ = place.delete(c"t");
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(fs::read_dir(place.path("elsewhere")).unwrap().count(), 50);
}

#[test]
fn deeper_than_the_descriptors_that_may_be_open() {
    let place = Place::new();
    let mut fd = place.fd.try_clone().unwrap();
    for _ in 0..1200 {
        rustix::fs::mkdirat(&fd, c"a-name-that-makes-the-path-too-long", Mode::RWXU).unwrap();
        rustix::fs::mkdirat(&fd, c"beside", Mode::RWXU).unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        fd = openat(&fd, c"a-name-that-makes-the-path-too-long", flags, Mode::empty()).unwrap();
    }
    assert_eq!(place.delete(c"a-name-that-makes-the-path-too-long"), Ok(2399));
    assert_eq!(fs::read_dir(place.dir.path()).unwrap().count(), 1);
}

#[test]
fn paths_and_slashes_at_the_end() {
    let place = Place::new();
    place.file("elsewhere/precious");
    place.file("a/b/c");
    symlink(place.path("elsewhere"), place.path("a/link")).unwrap();
    assert_eq!(place.delete(c"a/link//"), Ok(1));
    assert_eq!(place.delete(c"a/b/"), Ok(2));
    assert_eq!(place.delete(c"a/none/deeper"), Ok(0));
    let absolute = CString::new(place.path("a").as_os_str().as_bytes()).unwrap();
    assert_eq!(delete_tree_at(rustix::fs::CWD, &absolute), Ok(1));
    assert_eq!(place.delete(c"/"), Ok(0));
    assert!(place.path("elsewhere/precious").exists());
}

#[test]
fn a_level_that_was_moved_away_stops_the_removal() {
    let place = Place::new();
    let mut path = String::from("t");
    for level in 0..OPEN_LEVELS + 4 {
        path += &format!("/{level}");
    }
    place.file(&format!("{path}/x"));
    let mut remover = Remover::new(place.fd.as_fd(), Path::new(""));
    remover.enter(c"t".to_owned()).unwrap();
    while let Some(name) = remover.levels.last_mut().unwrap().subdirectories.pop() {
        remover.enter(name).unwrap();
        let open = remover.levels.iter().filter(|level| level.fd.is_some()).count();
        assert!(open <= OPEN_LEVELS);
    }
    assert!(remover.levels[0].fd.is_none() && remover.levels[1].fd.is_none());
    // t/0/1 goes elsewhere: its `..` is no longer t/0.
    fs::create_dir(place.path("elsewhere")).unwrap();
    place.file("elsewhere/precious");
    fs::rename(place.path("t/0/1"), place.path("elsewhere/1")).unwrap();
    assert_eq!(remover.run(), Err(Errno::STALE));
    assert!(place.path("elsewhere/precious").exists());
}

#[test]
fn many_entries_in_one_directory() {
    let place = Place::new();
    for n in 0..3000 {
        place.file(&format!("t/a-rather-long-name-so-that-one-buffer-is-not-enough-{n}"));
    }
    assert_eq!(place.delete(c"t"), Ok(3001));
}

#[test]
fn forbidden_directories_go_only_by_force() {
    let place = Place::new();
    place.file("t/closed/x");
    place.file("t/frozen/y");
    let set = |below: &str, mode| {
        fs::set_permissions(place.path(below), fs::Permissions::from_mode(mode)).unwrap();
    };
    set("t/closed", 0o000);
    set("t/frozen", 0o555);
    if !rustix::process::geteuid().is_root() {
        assert_eq!(place.delete(c"t"), Err(Errno::ACCESS));
    }
    let report = Remover::new(place.fd.as_fd(), Path::new("/m")).force().remove(c"t").unwrap();
    assert!(!place.path("t").exists(), "{report:?}");
    assert_eq!(report.failed, 0);
}
