//! The host floor on real file systems: loop devices and tmpfs. Needs root.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use common::{LoopFs, TmpFs, or_skip, run, skip};
use jbodbench::host::device::Sysfs;
use jbodbench::host::mounts::{mount_of, mounts};
use jbodbench::host::preflight::{Trial, Unusable, check_disk, mark_shared};
use jbodbench::host::remove::delete_tree_at;
use jbodbench::host::tree::{RunTree, TreeSpec, remove_tree};
use jbodbench::host::{kmsg, sample};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

fn device_facts(fs: &LoopFs) {
    let mount = mount_of(&fs.path()).unwrap();
    assert!(mount.is_mount_point);
    assert_eq!(mount.source, fs.device());
    let facts = Sysfs::default().device_of_mount(&mount).unwrap();
    assert_eq!(format!("/dev/{}", facts.name), fs.device());
    assert_eq!(facts.backing_file.as_deref(), Some(fs.image().as_path()));
    assert!(!facts.members.is_empty() || mount_of(Path::new("/tmp")).unwrap().major == 0);
    assert!(facts.scheduler.is_some() && facts.rotational.is_some());

    let sysfs = Sysfs::default();
    let before = sysfs.counters_below(&facts).unwrap();
    let mut file = fs::File::create(fs.path().join("data")).unwrap();
    file.write_all(&vec![7; 4 << 20]).unwrap();
    file.sync_all().unwrap();
    let delta = sysfs.counters_below(&facts).unwrap()[0].delta(&before[0]);
    assert!(delta.write_bytes >= 4 << 20, "{delta:?}");
    assert!(delta.writes > 0 && delta.utilisation(Duration::from_secs(60), 1).unwrap() < 1.0);
}

#[test]
fn ext4_on_a_loop_device() {
    device_facts(&or_skip!(LoopFs::new("ext4", 64)));
}

#[test]
fn xfs_on_a_loop_device() {
    device_facts(&or_skip!(LoopFs::new("xfs", 300)));
}

#[test]
fn btrfs_has_its_device_although_stat_does_not_say() {
    let fs = or_skip!(LoopFs::new("btrfs", 128));
    device_facts(&fs);
    let path = fs.path();
    let sub = path.join("sub");
    or_skip!(run("btrfs", &["subvolume", "create", sub.to_str().unwrap()]));
    let mount = mount_of(&sub).unwrap();
    assert!(!mount.is_mount_point);
    assert_eq!(mount.source, fs.device());
    let stat = rustix::fs::stat(&sub).unwrap().st_dev;
    assert_ne!((rustix::fs::major(stat), rustix::fs::minor(stat)), (mount.major, mount.minor));
    let mut checks =
        [check_disk(&path, 1, Trial::Make).unwrap(), check_disk(&sub, 1, Trial::Make).unwrap()];
    mark_shared(&mut checks);
    assert_eq!(checks[1].same_fs_as, Some(0));

    // A subvolume inside a run directory is somebody's, and is left.
    let tree = RunTree::create(&path, "r1", &TreeSpec::of_depth(0)).unwrap();
    let inside = tree.root_path().join("inside");
    or_skip!(run("btrfs", &["subvolume", "create", inside.to_str().unwrap()]));
    let report = tree.remove().unwrap();
    assert_eq!(report.first_failure.unwrap().errno, Errno::XDEV);
    assert!(inside.exists());
}

#[test]
fn btrfs_over_two_devices() {
    let first = or_skip!(LoopFs::new("btrfs", 128));
    let image = first.image().with_extension("second");
    fs::File::create(&image).unwrap().set_len(128 << 20).unwrap();
    let second = or_skip!(run("losetup", &["-f", "--show", image.to_str().unwrap()]));
    let second = second.trim();
    let path = first.path();
    let added = run("btrfs", &["device", "add", "-f", second, path.to_str().unwrap()]);
    let facts = Sysfs::default().device_of_mount(&mount_of(&path).unwrap()).unwrap();
    // Detached as soon as the file system lets go of it.
    run("losetup", &["-d", second]).unwrap();
    or_skip!(added);
    let mut names: Vec<_> = facts.members.iter().map(|m| format!("/dev/{}", m.name)).collect();
    names.sort();
    let mut expected = [first.device().to_owned(), second.to_owned()];
    expected.sort();
    assert_eq!(names, expected);
    assert!(facts.spans_members);
    assert_eq!(Sysfs::default().counters_below(&facts).unwrap().len(), 2);
}

#[test]
fn tmpfs_has_no_device_and_overmounts_are_told_apart() {
    let fs = or_skip!(TmpFs::new("16m"));
    let below = mount_of(&fs.path()).unwrap();
    assert_eq!(Sysfs::default().device_of_mount(&below), None);
    let point = fs.path();
    let point = point.to_str().unwrap();
    run("mount", &["-t", "tmpfs", "-o", "size=8m", "second", point]).unwrap();
    let above = mount_of(&fs.path()).unwrap();
    let same = mounts().unwrap().into_iter().filter(|m| m.mount_point == fs.path()).count();
    run("umount", &[point]).unwrap();
    assert_eq!((above.source.as_str(), same), ("second", 2));
    assert_ne!(above.mount_id, below.mount_id);
    assert_eq!(mount_of(&fs.path()).unwrap().mount_id, below.mount_id);
}

#[test]
fn a_mount_inside_a_run_directory_is_left() {
    let fs = or_skip!(TmpFs::new("16m"));
    let tree = RunTree::create(&fs.path(), "r1", &TreeSpec::of_depth(0)).unwrap();
    let (name, dev, ino) = (tree.name().to_owned(), tree.dev(), tree.ino());
    let elsewhere = fs.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("precious"), "x").unwrap();
    let inside = tree.root_path().join("sub/inside");
    fs::create_dir_all(&inside).unwrap();
    // A bind mount of the same file system has the same device number.
    let (from, to) = (elsewhere.to_str().unwrap(), inside.to_str().unwrap());
    run("mount", &["--bind", from, to]).unwrap();
    let root = rustix::fs::open(inside.parent().unwrap(), OFlags::RDONLY, Mode::empty()).unwrap();
    let deltree = delete_tree_at(std::os::fd::AsFd::as_fd(&root), c"inside");
    let report = tree.remove();
    run("umount", &[to]).unwrap();
    assert_eq!(deltree, Err(Errno::XDEV));
    let report = report.unwrap();
    let failure = report.first_failure.unwrap();
    assert_eq!((failure.path, failure.errno), (inside, Errno::XDEV));
    assert_eq!(report.failed, 1);
    assert!(elsewhere.join("precious").exists());
    // The marker is still there, so a second attempt may finish.
    assert_eq!(remove_tree(&fs.path(), &name, dev, ino).unwrap().failed, 0);
    assert!(!fs.path().join(name).exists());
}

#[test]
fn immutable_files_are_named() {
    let fs = or_skip!(LoopFs::new("ext4", 64));
    let tree = RunTree::create(&fs.path(), "r1", &TreeSpec::of_depth(0)).unwrap();
    let (name, dev, ino) = (tree.name().to_owned(), tree.dev(), tree.ino());
    let file = tree.root_path().join("sub/kept");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "x").unwrap();
    fs::write(tree.root_path().join("gone"), "x").unwrap();
    or_skip!(run("chattr", &["+i", file.to_str().unwrap()]));
    let report = tree.remove();
    run("chattr", &["-i", file.to_str().unwrap()]).unwrap();
    let report = report.unwrap();
    assert_eq!((report.removed, report.failed), (1, 1));
    let failure = report.first_failure.unwrap();
    assert!(failure.to_string().contains("it is immutable: chattr -i"), "{failure}");
    assert_eq!((failure.path, failure.errno), (file, Errno::PERM));
    assert_eq!(remove_tree(&fs.path(), &name, dev, ino).unwrap().failed, 0);
}

#[test]
fn delete_tree_on_each_file_system() {
    for (fstype, size) in [("ext4", 64), ("xfs", 300), ("btrfs", 128)] {
        let fs = or_skip!(LoopFs::new(fstype, size));
        for dir in 0..20 {
            let dir = fs.path().join(format!("t/d{dir}/e"));
            fs::create_dir_all(&dir).unwrap();
            for file in 0..60 {
                fs::write(dir.join(format!("f{file}")), "x").unwrap();
            }
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let fd = rustix::fs::open(fs.path(), flags, Mode::empty()).unwrap();
        let removed = delete_tree_at(std::os::fd::AsFd::as_fd(&fd), c"t");
        assert_eq!(removed, Ok(20 * 62 + 1), "{fstype}");
    }
}

#[test]
fn read_only_and_full_disks() {
    let read_only = or_skip!(TmpFs::with_options("size=1m,ro"));
    let check = check_disk(&read_only.path(), 1, Trial::Make).unwrap();
    assert_eq!(check.unusable, Some(Unusable::ReadOnly));
    assert!(check.mount.unwrap().is_mount_point);

    let full = or_skip!(TmpFs::with_options("size=1m,nr_inodes=3"));
    fs::create_dir(full.path().join("a")).unwrap();
    fs::create_dir(full.path().join("b")).unwrap();
    let check = check_disk(&full.path(), 2 << 20, Trial::Make).unwrap();
    assert_eq!(check.unusable, Some(Unusable::Full(Errno::NOSPC)));
    assert_eq!(check.space.unwrap().free_inodes, Some(0));
    assert_eq!(check.space_warning.unwrap().reserve_bytes, (1 << 20) / 20);
}

#[test]
fn a_directory_of_root_is_not_writable_for_nobody() {
    let fs = or_skip!(TmpFs::with_options("size=1m,mode=755"));
    let path = fs.path();
    // A thread of its own, since credentials are one thread's.
    let thread = std::thread::spawn(move || {
        let nobody = rustix::process::Uid::from_raw(65534);
        rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
        check_disk(&path, 1, Trial::Make).unwrap()
    });
    let check = thread.join().unwrap();
    assert_eq!(check.unusable, Some(Unusable::NotWritable));
    assert_eq!(check.unsafe_parent, None);
    assert!(check_disk(&fs.path(), 1, Trial::Make).unwrap().unusable.is_none());
}

#[test]
fn dirty_pages_are_seen() {
    let fs = or_skip!(LoopFs::new("ext4", 64));
    fs::write(fs.path().join("x"), vec![1_u8; 16 << 20]).unwrap();
    assert!(sample::dirty_bytes().is_some());
}

#[test]
fn the_kernel_log_names_a_mounted_loop_device() {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let since = Duration::from_secs(u64::try_from(now.tv_sec).unwrap());
    let fs = or_skip!(LoopFs::new("ext4", 64));
    if fs::File::open("/dev/kmsg").is_err() {
        skip!("the kernel log cannot be read");
    }
    let name = fs.device().trim_start_matches("/dev/").to_owned();
    let lines = kmsg::kernel_lines_naming(&[name.as_str()], since);
    assert!(lines.iter().any(|line| line.text.contains("mounted")), "{name} {lines:?}");
    let later = since + Duration::from_secs(1000);
    assert_eq!(kmsg::kernel_lines_naming(&[name.as_str()], later), []);
}

/// A loop device that goes when the test ends.
struct BareLoop(String);

impl Drop for BareLoop {
    fn drop(&mut self) {
        let _ = run("losetup", &["--detach", &self.0]);
    }
}

#[test]
fn parts_of_one_device_share_it() {
    let base = or_skip!(LoopFs::new("ext4", 64));
    let part = |number: u64| {
        let offset = format!("--offset={}", number << 24);
        let words = ["--find", "--show", "--read-only", &offset, "--sizelimit=8388608"];
        let device = run("losetup", &[&words[..], &[base.device()]].concat())?;
        Ok::<_, String>(BareLoop(device.trim().to_owned()))
    };
    let parts = [or_skip!(part(0)), or_skip!(part(1))];
    let sysfs = Sysfs::default();
    let shared = format!("device {}", base.device().trim_start_matches("/dev/"));
    for BareLoop(device) in &parts {
        let rdev = fs::metadata(device).unwrap().rdev();
        let facts = sysfs.device(rustix::fs::major(rdev), rustix::fs::minor(rdev)).unwrap();
        assert_eq!(facts.backing_file.as_deref(), Some(Path::new(base.device())));
        let places = sysfs.places(&facts);
        let own = format!("device {}", device.trim_start_matches("/dev/"));
        assert_eq!(places[..2], [own, shared.clone()]);
        assert_eq!(sysfs.size_bytes(&facts), Some(8 << 20));
    }
}
