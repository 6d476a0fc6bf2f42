//! Disks that cannot be used, and what may be a disk.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;

use crate::common::tool::{
    BINARY, Running, assert_clean, jbodbench, label, loadfile, run_on, temp_disk,
};
use crate::common::{Bind, TmpFs, need_root, or_skip, run, skip};

const SHORT: &str = "-t 300ms --warmup 0 -c 2";
const NOBODY: u32 = 65534;

#[test]
fn a_read_only_disk_among_three_is_left_out() {
    let disks =
        [or_skip!(TmpFs::new("16m")), or_skip!(TmpFs::new("16m")), or_skip!(TmpFs::new("16m"))];
    let [a, b, c] = disks.each_ref().map(TmpFs::path);
    run("mount", &["-o", "remount,ro", label(&b)]).unwrap();
    let finished = run_on(SHORT, &[&a, &b, &c]).expect(1);
    let table = finished.table();
    finished.says(&format!("{} is left out: ", b.display()));
    let row = table.summary(label(&b), "all");
    assert_eq!((row.text("status"), row.text("errno")), ("readonly", "EROFS"));
    assert_eq!((row.text("ops"), row.text("ops_per_s")), ("", ""));
    let mut ops = 0;
    for disk in [&a, &c] {
        let row = table.summary(label(disk), "all");
        assert_eq!(row.text("status"), "ok");
        assert_eq!(row.text("fstype"), "tmpfs");
        ops += row.int("ops");
    }
    assert!(ops > 0);
    assert_eq!(table.summary("all", "all").int("ops"), ops);
    assert_clean(&[&a, &b, &c]);

    let finished = run_on(SHORT, &[&b]).expect(3);
    finished.says(label(&b));
    finished.says("no disk can be used");
    assert_eq!(finished.stdout, "");
}

/// A disk can also turn read-only, here by the administrator, while the load runs.
#[test]
fn a_disk_that_turns_read_only_has_that_status() {
    let (a, b) = (or_skip!(TmpFs::new("16m")), or_skip!(TmpFs::new("16m")));
    let (a, b) = (a.path(), b.path());
    let load = temp_disk();
    // No handles stay open for long, else it could not be remounted; it is tried until it works.
    let lines = "Mkdir \"\\clients\\client1\\d\" NT_STATUS_OK\n\
                 Rmdir \"\\clients\\client1\\d\" NT_STATUS_OK";
    let load = loadfile(load.path(), "dirs.load", lines);
    let mut command = jbodbench(["run", "-c", "1", "-t", "2s", "--warmup", "0", "-l"]);
    command.arg(&load).args([&a, &b]);
    let running = Running::start(command);
    crate::common::tool::wait_for_load(&a);
    crate::common::tool::wait_for("remount", || {
        run("mount", &["-o", "remount,ro", label(&a)]).ok()
    });
    let finished = running.finish().expect(1);
    let table = finished.table();
    assert_eq!(table.summary(label(&a), "all").text("status"), "readonly");
    assert_eq!(table.summary(label(&b), "all").text("status"), "ok");
    assert_clean(&[&b]);
    // What stays on a read-only disk is told, since it has to be removed by hand.
    finished.says(".jbodbench-");
}

/// The binary, in a place that everybody can reach.
fn public_binary(dir: &Path) -> std::path::PathBuf {
    let binary = dir.join("jbodbench");
    fs::copy(BINARY, &binary).unwrap();
    binary
}

#[test]
fn an_unwritable_directory_as_nobody() {
    or_skip!(need_root());
    let parent = temp_disk();
    fs::set_permissions(parent.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let binary = public_binary(parent.path());
    let (bad, good) = (parent.path().join("bad"), parent.path().join("good"));
    fs::create_dir(&bad).unwrap();
    fs::create_dir(&good).unwrap();
    fs::set_permissions(&good, fs::Permissions::from_mode(0o777)).unwrap();
    let start = |disks: &[&Path]| {
        let mut command = std::process::Command::new(&binary);
        command.arg("run").args(SHORT.split_whitespace()).args(disks);
        command.uid(NOBODY).gid(NOBODY).current_dir("/");
        Running::start(command).finish()
    };
    let finished = start(&[&bad, &good]).expect(1);
    finished.says(&format!("{} is left out: ", bad.display()));
    finished.says("EACCES");
    let table = finished.table();
    let row = table.summary(label(&bad), "all");
    assert_eq!((row.text("status"), row.text("errno")), ("skipped", "EACCES"));
    let row = table.summary(label(&good), "all");
    assert_eq!((row.text("status"), row.int("uid")), ("ok", u64::from(NOBODY)));
    assert!(row.int("ops") > 0);

    let finished = start(&[&bad]).expect(3);
    finished.says(label(&bad));
    finished.says("EACCES");
    assert_clean(&[&bad, &good]);
}

#[test]
fn a_missing_directory_and_a_file_are_no_disks() {
    let dir = temp_disk();
    let (missing, file) = (dir.path().join("missing"), dir.path().join("file"));
    fs::write(&file, "").unwrap();
    for (path, errno) in [(&missing, "ENOENT"), (&file, "ENOTDIR")] {
        let good = temp_disk();
        let finished = run_on(SHORT, &[path, good.path()]).expect(1);
        let row = finished.table().summary(label(path), "all").clone();
        assert_eq!((row.text("status"), row.text("errno")), ("skipped", errno));
        run_on(SHORT, &[path]).expect(3).says(label(path));
    }
}

#[test]
fn require_mounts_refuses_what_is_none() {
    let dir = temp_disk();
    let finished = run_on(&format!("--require-mounts {SHORT}"), &[dir.path()]).expect(3);
    finished.says(&format!("{} is not a mount point", dir.path().display()));
    assert_clean(&[dir.path()]);
    // Without it, a warning and columns.
    let finished = run_on(SHORT, &[dir.path()]).expect(0);
    finished.says(&format!("warning: {} is not a mount point", dir.path().display()));
    assert_eq!(finished.table().summary("all", "all").text("is_mount_point"), "");
    let table = finished.table();
    assert_eq!(table.summary(label(dir.path()), "all").text("is_mount_point"), "0");

    let (a, b) = (or_skip!(TmpFs::new("16m")), or_skip!(TmpFs::new("16m")));
    let (a, b) = (a.path(), b.path());
    let table = run_on(&format!("--require-mounts {SHORT}"), &[&a, &b]).expect(0).table();
    let row = table.summary(label(&a), "all");
    assert_eq!((row.text("is_mount_point"), row.text("same_fs")), ("1", "0"));
    assert_eq!(row.text("mount_point"), label(&a));

    let twin = or_skip!(Bind::new(&a));
    let twin = twin.path();
    let finished = run_on(&format!("--require-mounts {SHORT}"), &[&a, &twin]).expect(3);
    finished.says("are on the same file system");
    let finished = run_on(SHORT, &[&a, &twin, &b]).expect(0);
    finished.says("are on the same file system");
    let table = finished.table();
    let same = |disk: &Path| table.summary(label(disk), "all").text("same_fs").to_owned();
    assert_eq!([same(&a), same(&twin), same(&b)], ["1", "1", "0"]);
    assert_clean(&[&a, &b]);
}

#[test]
fn ranges_and_globs() {
    let parent = temp_disk();
    for name in ["d1", "d2", "d3", "d4", "e1", "e2"] {
        fs::create_dir(parent.path().join(name)).unwrap();
    }
    let disks = |pattern: &str| {
        let table = run_on(SHORT, &[&parent.path().join(pattern)]).expect(0).table();
        let rows = table.rows.iter().filter(|row| row.text("op") == "all");
        let mut names: Vec<_> = rows
            .filter(|row| row.text("row") == "summary")
            .map(|row| row.text("disk").rsplit('/').next().unwrap().to_owned())
            .collect();
        names.sort();
        names.join(" ")
    };
    assert_eq!(disks("d[1-3]"), "all d1 d2 d3");
    assert_eq!(disks("e*"), "all e1 e2");
    run_on(SHORT, &[&parent.path().join("f[1-3]")]).expect(2).says("f[1-3]");
    run_on(SHORT, &[&parent.path().join("d[3-1]")]).expect(2);
    run_on(SHORT, &[&parent.path().join("d1"), &parent.path().join("d1")]).expect(2);
}

/// The default disk is the current directory.
/// Names are bytes: blanks, line ends and what is no UTF-8.
#[test]
fn odd_names_are_names() {
    let parent = temp_disk();
    let names = [&b"a b"[..], b"n\nl", b"x\xff"];
    let disks = names.map(|name| parent.path().join(OsStr::from_bytes(name)));
    disks.iter().for_each(|disk| fs::create_dir(disk).unwrap());
    let load = loadfile(parent.path(), "q.load", "QUERY_FS_INFORMATION 1 NT_STATUS_OK");
    let mut own = OsString::from("--load-for=");
    own.extend([disks[2].as_os_str(), OsStr::new("="), load.as_os_str()]);
    let mut command = jbodbench(["run", "--passes", "1", "-c", "1"]);
    command.arg(own).args(&disks);
    let table = Running::start(command).finish().expect(0).table();
    let rows: Vec<_> = table.of("summary").into_iter().filter(|r| r.text("op") == "all").collect();
    let ends = ["/a b", "/n\\nl", "/x\u{fffd}", "all"];
    assert_eq!(rows.len(), ends.len());
    for (row, end) in rows.iter().zip(ends) {
        assert!(row.text("disk").ends_with(end), "{}", row.text("disk"));
    }
    assert_eq!(rows[2].text("loadfile"), "q.load");
    assert_clean(&disks.each_ref().map(|disk| disk.as_path()));
}

#[test]
fn the_current_directory() {
    let dir = temp_disk();
    let mut command = jbodbench(["run", "-t", "300ms", "--warmup", "0"]);
    command.current_dir(dir.path());
    let table = Running::start(command).finish().expect(0).table();
    assert_eq!(table.summary(label(dir.path()), "all").text("status"), "ok");
    assert_clean(&[dir.path()]);
}

#[test]
fn a_dry_run_makes_nothing() {
    let (disk, results) = (temp_disk(), temp_disk());
    let out = results.path().join("out.csv");
    // Two handles at most, and a file of 100,000 bytes for each of 3 clients.
    let lines = "NTCreateX \"\\clients\\client1\\a\" 0x40 2 7 NT_STATUS_OK\n\
                 NTCreateX \"\\clients\\client1\\a\" 0x40 1 8 NT_STATUS_OK\n\
                 WriteX 7 90000 10000 10000 NT_STATUS_OK";
    let load = loadfile(results.path(), "a.load", lines);
    let arguments =
        format!("--dry-run -c 3 --engine sync -l {} -o {}", load.display(), out.display());
    let finished = run_on(&arguments, &[disk.path()]).expect(0);
    finished.says(": up to 293 KiB of files at a time, 97.7 KiB a client");
    finished
        .says("engine sync, 3 threads per disk, 3 in all; each client has up to 2 open handles");
    finished.says("it takes 12.0s");
    finished.says(label(disk.path()));
    finished.says("10.0s measured after 2.00s of warm-up");
    assert_eq!(finished.stdout, "");
    assert!(!out.exists());
    assert_eq!(fs::read_dir(disk.path()).unwrap().count(), 0);
}

#[test]
fn kept_trees_stay_and_are_named() {
    let disk = temp_disk();
    let one = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/one.load");
    let arguments = format!("--keep --passes 1 -c 2 -l {}", one.display());
    let finished = run_on(&arguments, &[disk.path()]).expect(0);
    let kept = crate::common::tool::run_dirs(disk.path());
    assert_eq!(kept.len(), 1);
    finished.says(&format!("kept: {}", kept[0].display()));
    let names = fs::read_dir(kept[0].join("clients")).unwrap();
    let mut names: Vec<_> = names.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["client0", "client1"]);
    let meta = fs::metadata(kept[0].join("clients/client0")).unwrap();
    assert_eq!(meta.mode() & 0o7777, 0o700);
    let marker = fs::read_to_string(kept[0].join(".jbodbench-run")).unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    assert!(marker.contains(boot.trim()), "{marker}");
}

/// As root, an absolute path through a directory that others can change is not safe.
#[test]
fn unsafe_parents_are_refused_as_root() {
    or_skip!(need_root());
    let parent = temp_disk();
    let (open, disk) = (parent.path().join("open"), parent.path().join("open/disk"));
    fs::create_dir_all(&disk).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let finished = run_on(SHORT, &[&disk]).expect(3);
    finished.says(label(&open));
    finished.says("--path cwd");
    run_on(&format!("--path cwd {SHORT}"), &[&disk]).expect(0);
    fs::set_permissions(&open, fs::Permissions::from_mode(0o1777)).unwrap();
    run_on(SHORT, &[&disk]).expect(0);
    assert_clean(&[&disk]);
}

/// More clients than descriptors, threads or disks allow is found before anything is made.
#[test]
fn too_few_descriptors_are_told_before_the_run() {
    let disk = temp_disk();
    let max = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/max.load");
    let shell =
        format!("ulimit -n 100; exec {BINARY} run -l {} {}", max.display(), disk.path().display());
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &shell]);
    let finished = Running::start(command).finish().expect(3);
    finished.says("ulimit -n ");
    assert_clean(&[disk.path()]);
    assert_eq!(finished.stdout, "");
}

/// The built-in load needs under 2 MiB for 4 clients: there is room for one disk, not for two.
#[test]
fn disks_on_one_file_system_share_its_space() {
    let fs = or_skip!(TmpFs::new("4000k"));
    let disks = ["a", "b"].map(|name| fs.path().join(name));
    disks.iter().for_each(|disk| fs::create_dir(disk).unwrap());
    let warning = "use fewer clients or a smaller loadfile";
    let one = run_on("--dry-run", &[&disks[0]]).expect(0);
    assert!(!one.stderr.contains(warning), "{one}");
    let both = run_on("--dry-run", &[&disks[0], &disks[1]]).expect(0);
    assert_eq!(both.stderr.matches(warning).count(), 1, "{both}");
}

/// The kernel takes a list with CPUs that are not there; the result would claim them.
#[test]
fn missing_cpus_are_told_before_the_run() {
    let disk = temp_disk();
    for list in ["60000", "0,60000"] {
        let finished = run_on(&format!("{SHORT} --cpus {list}"), &[disk.path()]).expect(3);
        finished.says("--cpus: CPU 60000 is offline, or not allowed here");
    }
    assert_clean(&[disk.path()]);
}
