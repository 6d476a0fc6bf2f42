//! scripts/jbod: makes, lists and removes disks of each kind, and leaves nothing. Needs root, python3.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::tool::{Finished, Running, jbodbench, run_on, wait_for};
use common::{need_root, or_skip, run, skip};
use jbodbench::host::mounts::{MountFacts, mounts};

/// A place for one, with nothing in it at the end.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Result<Self, String> {
        need_root()?;
        run("python3", &["--version"])?;
        let dir = tempfile::Builder::new().prefix("jbodbench-jbod-").tempdir();
        Ok(Self { dir: dir.map_err(|error| error.to_string())? })
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("jbod")
    }

    fn start(&self, command: &str, arguments: &str) -> Running {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/jbod");
        let mut python = Command::new("python3");
        python.arg(script).arg(command).arg(self.root()).args(arguments.split_whitespace());
        Running::start(python)
    }

    fn jbod(&self, command: &str, arguments: &str) -> Finished {
        self.start(command, arguments).finish()
    }

    fn mounts(&self) -> Vec<MountFacts> {
        let all = mounts().unwrap().into_iter();
        all.filter(|mount| mount.mount_point.starts_with(self.dir.path())).collect()
    }

    /// Loop devices on images below here.
    fn loops(&self) -> Vec<String> {
        let all = run("losetup", &["--noheadings", "--output", "NAME,DIO,BACK-FILE"]).unwrap();
        let here = self.dir.path().to_str().unwrap();
        all.lines().filter(|line| line.contains(here)).map(str::to_owned).collect()
    }

    #[track_caller]
    fn assert_nothing_left(&self) {
        assert_eq!(self.mounts(), []);
        assert_eq!(self.loops(), Vec::<String>::new());
        let names: Vec<_> = fs::read_dir(self.dir.path()).unwrap().collect();
        assert!(names.is_empty(), "{names:?}");
    }
}

impl Drop for Place {
    /// After a test that failed.
    fn drop(&mut self) {
        for mount in self.mounts().iter().rev() {
            let _ = run("umount", &["-l", mount.mount_point.to_str().unwrap_or_default()]);
        }
        for line in self.loops() {
            let _ = run("losetup", &["-d", line.split_whitespace().next().unwrap_or_default()]);
        }
    }
}

/// Makes two, looks, removes them.
fn made_listed_removed(arguments: &str, fstype: &str, look: impl Fn(&Place, &Path)) {
    let place = or_skip!(Place::new());
    let made = place.jbod("make", &format!("-n 2 {arguments}")).expect(0);
    let points = [place.root().join("d1"), place.root().join("d2")];
    let listed = format!("{}\n{}\n", points[0].display(), points[1].display());
    assert_eq!(made.stdout, listed);
    assert_eq!(place.jbod("list", "").expect(0).stdout, listed);
    for point in &points {
        let mounts = place.mounts();
        let mount = mounts.iter().find(|mount| mount.mount_point == *point).unwrap();
        assert_eq!(mount.fstype, fstype);
        fs::write(point.join("file"), [1; 4096]).unwrap();
        look(&place, point);
    }
    // Not even an empty directory of the name is taken over, while there is one.
    place.jbod("make", "--tmpfs").expect(1).says("no empty directory");
    place.jbod("remove", "").expect(0);
    place.assert_nothing_left();
}

fn on_loops(place: &Place, _: &Path) {
    let loops = place.loops();
    assert_eq!(loops.len(), 2);
    assert!(loops.iter().all(|line| line.split_whitespace().nth(1) == Some("1")), "{loops:?}");
}

/// What mke2fs wrote into the superblock.
fn features(point: &Path) -> String {
    let mounts = mounts().unwrap();
    let mount = mounts.iter().find(|mount| mount.mount_point == point).unwrap();
    let text = run("dumpe2fs", &["-h", &mount.source]).unwrap();
    text.lines().find(|line| line.starts_with("Filesystem features")).unwrap().to_owned()
}

#[test]
fn ext4() {
    made_listed_removed("--size 64M", "ext4", |place, point| {
        on_loops(place, point);
        assert!(features(point).contains("has_journal"));
        // With lazy initialisation the kernel would have a thread for it.
        let mounts = mounts().unwrap();
        let mount = mounts.iter().find(|mount| mount.mount_point == point).unwrap();
        let groups = run("dumpe2fs", &[&mount.source]).unwrap();
        let groups: Vec<_> = groups.lines().filter(|line| line.contains("(Blocks ")).collect();
        let zeroed = |line: &&str| line.contains("ITABLE_ZEROED");
        assert!(!groups.is_empty() && groups.iter().all(zeroed), "{groups:?}");
    });
}

#[test]
fn ext4_without_anything() {
    made_listed_removed("--size 64M --type ext4-plain", "ext4", |place, point| {
        on_loops(place, point);
        let features = features(point);
        for name in ["has_journal", "metadata_csum", "dir_index", "resize_inode"] {
            assert!(!features.contains(name), "{features}");
        }
    });
}

#[test]
fn xfs() {
    made_listed_removed("--size 320M --type xfs", "xfs", on_loops);
}

#[test]
fn btrfs() {
    made_listed_removed("--size 128M --type btrfs", "btrfs", on_loops);
}

#[test]
fn tmpfs() {
    made_listed_removed("--size 16M --tmpfs", "tmpfs", |place, _| {
        assert!(place.loops().is_empty())
    });
}

/// The kernel maps ids there, and a user's walks leave RCU mode where the owner's do not.
#[test]
fn overlay_on_an_idmapped_layer() {
    made_listed_removed("--size 64M --overlay-idmapped", "overlay", |place, point| {
        on_loops(place, point);
        assert_eq!(place.mounts().iter().filter(|mount| mount.is_idmapped()).count(), 2);
        let dir = point.join("a/b/c");
        fs::create_dir_all(&dir).unwrap();
        for (user, walk) in [("65534:65534", "0"), ("0:0", "1")] {
            let mut command = jbodbench(["audit", "--format", "csv", "--as", user]);
            command.arg(&dir);
            let csv = Running::start(command).finish().expect(0).stdout;
            let mut reader = csv::Reader::from_reader(csv.as_bytes());
            let header = reader.headers().unwrap().clone();
            let at = |name: &str| header.iter().position(|column| column == name).unwrap();
            let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
            let row = rows.iter().find(|row| &row[at("row")] == "walk").unwrap();
            assert_eq!(&row[at("walk_rcu")], walk, "{user}");
            let layers: Vec<_> = rows.iter().filter(|row| &row[at("row")] == "layer").collect();
            assert_eq!(layers.len(), 2);
            assert!(layers.iter().all(|row| &row[at("idmapped")] == "true"), "{csv}");
            // The same of a run's own paths.
            let run = run_on(&format!("--passes 1 -c 2 --as {user}"), &[point]).expect(0).table();
            let row = run.summary(point.to_str().unwrap(), "all");
            assert_eq!((row.text("walk_rcu"), row.int("errors")), (walk, 0), "{user}");
        }
    });
}

#[test]
fn a_size_that_fails_leaves_nothing() {
    let place = or_skip!(Place::new());
    place.jbod("make", "--size 1M --type btrfs").expect(1).says("mkfs.btrfs");
    place.assert_nothing_left();
    // The third of three, after two that are mounted.
    let failed = place.jbod("make", "-n 3 --size 64M,64M,4K").expect(1);
    failed.says("mkfs.ext4");
    failed.says("nothing of it is left");
    place.assert_nothing_left();
    // A directory that was there stays, as it was.
    fs::create_dir(place.root()).unwrap();
    place.jbod("make", "--size 4K").expect(1);
    assert_eq!(fs::read_dir(place.root()).unwrap().count(), 0);
    fs::remove_dir(place.root()).unwrap();
}

#[test]
fn a_make_that_is_stopped_leaves_nothing() {
    let place = or_skip!(Place::new());
    let running = place.start("make", "-n 200 --size 64M");
    wait_for("the second disk", || (place.mounts().len() > 1).then_some(()));
    running.signal(rustix::process::Signal::TERM);
    running.finish().expect(128 + 15);
    place.assert_nothing_left();
}

/// Killed for good, it leaves a list by which all goes.
#[test]
fn a_make_that_was_killed_is_removed_afterwards() {
    let place = or_skip!(Place::new());
    let running = place.start("make", "-n 200 --size 64M");
    wait_for("the second disk", || (place.mounts().len() > 1).then_some(()));
    running.signal_group(rustix::process::Signal::KILL);
    running.finish().expect(-9);
    place.jbod("remove", "").expect(0);
    place.assert_nothing_left();
}

#[test]
fn what_it_did_not_make_is_left_alone() {
    let place = or_skip!(Place::new());
    fs::create_dir(place.root()).unwrap();
    place.jbod("remove", "").expect(1).says("did not make");
    let file = place.root().join(".jbod.json");
    fs::write(&file, "{\"magic\": \"x\"}").unwrap();
    place.jbod("remove", "").expect(1).says("another program");
    fs::remove_dir_all(place.root()).unwrap();

    // A list that was copied from elsewhere.
    place.jbod("make", "-n 1 --tmpfs --size 16M").expect(0);
    let copy = place.dir.path().join("copy");
    fs::create_dir(&copy).unwrap();
    fs::copy(&file, copy.join(".jbod.json")).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/jbod");
    let mut python = Command::new("python3");
    python.arg(script).arg("remove").arg(&copy);
    Running::start(python).finish().expect(1).says("copy is left alone");
    fs::remove_dir_all(&copy).unwrap();

    // Another mount in the place of ours; then ours is busy. What was there goes at the next try.
    let point = place.root().join("d1");
    let point = point.to_str().unwrap();
    run("mount", &["-t", "tmpfs", "tmpfs", point]).unwrap();
    place.jbod("remove", "").expect(1).says("another mount");
    run("umount", &[point]).unwrap();
    let open = fs::File::open(point).unwrap();
    assert!(open.as_raw_fd() >= 0);
    place.jbod("remove", "").expect(1).says("busy");
    drop(open);
    place.jbod("remove", "").expect(0);
    place.assert_nothing_left();
}
