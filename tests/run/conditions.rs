//! Permission conditions: whom clients act as, what their path is like, whether ACLs are in force.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;

use crate::common::tool::{
    Finished, Running, assert_clean, jbodbench, label, run_dir, run_on, wait_for, wait_for_load,
};
use crate::common::{LoopFs, OverlayFs, TmpFs, need_root, or_skip, run, skip};

/// Lines of a status file of every pool thread of a worker.
fn status_of_pool_threads(worker: i32) -> Vec<String> {
    let mut found = Vec::new();
    for task in fs::read_dir(format!("/proc/{worker}/task")).unwrap().flatten() {
        let text = |name: &str| fs::read_to_string(task.path().join(name)).unwrap_or_default();
        if text("comm").starts_with("disk0-t") {
            found.push(text("status"));
        }
    }
    found
}

/// Every thread of every engine, stand-ins and kernel workers too, is the other user; files belong to
/// him, and the result says so.
#[test]
fn clients_act_as_another_user() {
    let disk = or_skip!(LoopFs::new("ext4", 128));
    for engine in ["sync", "hybrid", "uring"] {
        let mut command = jbodbench(["run", "-t", "10m", "-c", "4", "--warmup", "0"]);
        command.args(["--as", "4000:4001", "--engine", engine]).arg(disk.path());
        let running = Running::start(command);
        let clients = wait_for("the clients' directory", || {
            let own = run_dir(&disk.path())?.join("c/clients/client0");
            fs::metadata(own).ok()
        });
        assert_eq!((clients.uid(), clients.gid()), (4000, 4001));
        let threads = status_of_pool_threads(running.worker());
        assert!(threads.len() >= 2, "{engine}: {}", threads.len());
        for status in threads {
            let line = |key: &str| {
                let line = status.lines().find(|line| line.starts_with(key)).unwrap();
                line.split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
            };
            assert_eq!(line("Uid:"), "4000 4000 4000 4000");
            assert_eq!(line("Gid:"), "4001 4001 4001 4001");
            assert_eq!((line("Groups:"), line("CapEff:")), (String::new(), "0".repeat(16)));
        }
        // The run directory itself stays root's, and so does the worker.
        let top = fs::metadata(run_dir(&disk.path()).unwrap()).unwrap();
        assert_eq!((top.uid(), top.mode() & 0o777), (0, 0o755));
        running.signal(Signal::INT);
        let table = running.finish().expect(130).table();
        let row = table.summary(label(&disk.path()), "all");
        assert_eq!((row.int("uid"), row.int("gid"), row.text("cred")), (4000, 4001, "4000:4001"));
        assert_eq!((row.int("errors"), row.float("walk_rcu")), (0, 1.0));
        assert_eq!((row.text("acl_effective"), row.text("relation")), ("1", "other"));
        assert_clean(&[&disk.path()]);
    }
}

/// What was found is recorded, whether or not anything was asked for.
#[test]
fn a_plain_run_records_what_it_found() {
    let btrfs = or_skip!(LoopFs::with_options("btrfs", 128, "noacl"));
    let ext4 = or_skip!(LoopFs::new("ext4", 128));
    let disks = [btrfs.path(), ext4.path()];
    let mut command = jbodbench(["run", "--passes", "1", "-c", "2"]);
    command.args(&disks);
    let table = Running::start(command).finish().expect(0).table();
    for (disk, effective) in disks.iter().zip(["0", "1"]) {
        let row = table.summary(label(disk), "all");
        assert_eq!((row.text("acl_effective"), row.text("relation")), (effective, "owner"));
        assert_eq!((row.int("uid"), row.float("walk_rcu")), (0, 1.0));
    }
}

/// Owner, mode and ACL of the directories are what was asked for, as others see them.
#[test]
fn directories_are_as_asked_for() {
    let disk = or_skip!(LoopFs::new("ext4", 64));
    let mut command = jbodbench(["run", "-t", "10m", "-c", "1", "--warmup", "0", "--as", "nobody"]);
    command.args(["--dir-acl", "2", "--depth", "3", "--dir-mode", "0711"]).arg(disk.path());
    let running = Running::start(command);
    let own = wait_for("the clients' directory", || {
        Some(run_dir(&disk.path())?.join("d1/d2/d3/c")).filter(|own| own.join("clients").exists())
    });
    for dir in own.ancestors().skip(1).take(3) {
        let text = or_skip!(run("getfacl", &["-n", "-c", "-p", dir.to_str().unwrap()]));
        let lines: Vec<_> = text.lines().filter(|line| !line.is_empty()).collect();
        let expected = [
            "user::rwx",
            "user:2000000000:r-x",
            "user:2000000001:r-x",
            "group::--x",
            "mask::r-x",
            "other::--x",
        ];
        assert_eq!(lines, expected, "{}", dir.display());
        assert_eq!(fs::metadata(dir).unwrap().uid(), 65_533);
    }
    let acl = run("getfacl", &["-n", "-c", "-p", own.to_str().unwrap()]).unwrap();
    assert!(!acl.contains("mask"), "the clients' own has none: {acl}");
    running.signal(Signal::INT);
    let table = running.finish().expect(130).table();
    let row = table.summary(label(&disk.path()), "all");
    assert_eq!((row.int("acl_entries"), row.int("dir_acl"), row.int("depth")), (2, 2, 3));
    assert_eq!((row.text("dir_owner"), row.text("relation")), ("third", "other"));
    assert_eq!(row.text("dir_mode"), "0711");
    assert_clean(&[&disk.path()]);
}

#[test]
fn who_owns_the_directories_is_the_owner() {
    let disk = or_skip!(TmpFs::new("64m"));
    let relation = |arguments: &str| {
        let arguments = format!("--passes 1 -c 1 {arguments}");
        let table = run_on(&arguments, &[&disk.path()]).expect(0).table();
        table.summary(label(&disk.path()), "all").text("relation").to_owned()
    };
    assert_eq!(relation("--as nobody --dir-owner caller"), "owner");
    assert_eq!(relation("--as nobody --dir-owner root"), "other");
    assert_eq!(relation("--as root --dir-owner root"), "owner");
    assert_eq!(relation("--as root --dir-owner third"), "other");
    assert_eq!(relation("--as root --dir-owner third --dir-mode 0700"), "capability");
    assert_eq!(relation("--as 4000:65533"), "other");
    assert_eq!(relation("--as 4000:65532 --dir-owner caller"), "owner");
}

/// A path that the user cannot walk ends the run before the load.
#[test]
fn a_closed_path_is_refused() {
    let disk = or_skip!(TmpFs::new("64m"));
    let finished = run_on("--as nobody --dir-mode 0700 -t 1s", &[&disk.path()]).expect(3);
    finished.says("uid 65534 cannot reach");
    assert_clean(&[&disk.path()]);
}

fn options(point: &Path) -> BTreeSet<String> {
    let point = point.to_str().unwrap();
    let text = run("findmnt", &["-n", "-o", "VFS-OPTIONS,FS-OPTIONS", point]).unwrap();
    text.split([',', ' ', '\n']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn btrfs() -> Result<LoopFs, String> {
    LoopFs::with_options("btrfs", 256, "nosuid,nodev,noatime")
}

#[test]
fn acls_are_off_for_the_time_of_the_run() {
    let disk = or_skip!(btrfs());
    let point = disk.path();
    let before = options(&point);
    let mut command = jbodbench(["run", "-t", "10m", "-c", "2", "--warmup", "0", "--as", "nobody"]);
    command.args(["--mount-acl", "off", "--dir-acl", "1"]).arg(&point);
    let running = Running::start(command);
    wait_for("the load", || run_dir(&point)?.join("d1/d2/d3/d4/c/clients").exists().then_some(()));
    let mut during = before.clone();
    during.insert("noacl".into());
    assert_eq!(options(&point), during);
    running.signal(Signal::INT);
    let finished = running.finish().expect(130);
    finished.says("remounts");
    let table = finished.table();
    let row = table.summary(label(&point), "all");
    assert_eq!((row.text("mount_acl"), row.text("acl_effective")), ("off", "0"));
    assert_eq!(row.text("acl_entries"), "", "what is on disk cannot be asked for under noacl");
    assert_eq!(options(&point), before);
    assert_clean(&[&point]);
}

/// SIGKILL of the worker: the front sets the mount back within moments. Of both: `restore` does.
#[test]
fn a_killed_run_leaves_no_remount() {
    let disk = or_skip!(btrfs());
    let point = disk.path();
    let before = options(&point);
    let start = || {
        let mut command = jbodbench(["run", "-t", "10m", "-c", "1", "--warmup", "0"]);
        command.args(["--mount-acl", "off"]).arg(&point);
        let running = Running::start(command);
        wait_for_load(&point);
        assert!(options(&point).contains("noacl"));
        running
    };
    let running = start();
    let worker = rustix::process::Pid::from_raw(running.worker()).unwrap();
    rustix::process::kill_process(worker, Signal::KILL).unwrap();
    let killed = std::time::Instant::now();
    wait_for("the mount to be set back", || (options(&point) == before).then_some(()));
    assert!(killed.elapsed() < Duration::from_secs(5), "{:?}", killed.elapsed());
    running.finish().expect(1).says("ACLs are in force again");
    assert_clean(&[&point]);

    let running = start();
    let worker = rustix::process::Pid::from_raw(running.worker()).unwrap();
    running.signal(Signal::KILL);
    rustix::process::kill_process(worker, Signal::KILL).unwrap();
    running.finish();
    assert!(options(&point).contains("noacl"));
    let restored = Running::start(jbodbench(["restore"])).finish().expect(0);
    assert!(restored.stdout.contains("ACLs are in force again"), "{restored}");
    assert_eq!(options(&point), before);
    // Other tests run beside this one: what theirs have changed is none of ours.
    let again = Running::start(jbodbench(["restore"])).finish().expect(0);
    assert!(!again.stdout.contains(label(&point)), "{again}");
    fs::remove_dir_all(run_dir(&point).unwrap()).unwrap();
}

/// Where there is no such option, or it lies: the reason, and nothing has changed.
#[test]
fn file_systems_without_noacl_are_refused() {
    let refused = |point: &Path, reason: &str| {
        let before = options(point);
        let finished = run_on("--mount-acl off -t 1s", &[point]).expect(3);
        finished.says(reason);
        finished.says("--mount-acl off");
        assert_eq!(options(point), before);
        assert_clean(&[point]);
    };
    refused(&or_skip!(LoopFs::new("ext4", 64)).path(), "since Linux 6.1");
    refused(&or_skip!(LoopFs::new("xfs", 320)).path(), "xfs has no option noacl");
    refused(&or_skip!(TmpFs::new("64m")).path(), "tmpfs has no option noacl");
    refused(&or_skip!(OverlayFs::new()).path(), "its layers decide");
    let noacl = or_skip!(LoopFs::with_options("btrfs", 256, "noacl"));
    run_on("--dir-acl 1 -t 1s", &[&noacl.path()]).expect(3).says("ACLs are not in force");
}

#[test]
fn a_file_system_in_use_is_left_alone() {
    let disk = or_skip!(btrfs());
    let point = disk.path();
    let mut sleeper = std::process::Command::new("sleep");
    let mut sleeper = sleeper.arg("100").current_dir(&point).spawn().unwrap();
    let refused = run_on("--mount-acl off -t 1s", &[&point]);
    let forced = run_on("--mount-acl off --force -t 1s", &[&point]);
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    refused.expect(3).says("in use by sleep");
    forced.expect(0);
    assert_clean(&[&point]);
}

/// As an ordinary user: only oneself, and nothing that needs root.
fn as_nobody(arguments: &str, disk: &Path) -> Result<Finished, String> {
    need_root()?;
    run("setpriv", &["--version"])?;
    // The binary lies where nobody may not go.
    let place = tempfile::Builder::new().prefix("jbodbench-test-").tempdir().unwrap();
    let binary = place.path().join("jbodbench");
    fs::copy(crate::common::tool::BINARY, &binary).unwrap();
    run("chmod", &["755", place.path().to_str().unwrap()])?;
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&binary);
    command.arg("run").args(arguments.split_whitespace()).arg(disk);
    Ok(Running::start(command).finish())
}

#[test]
fn an_ordinary_user_is_himself() {
    let disk = or_skip!(TmpFs::with_options("size=64m,mode=1777"));
    let run = |arguments: &str| as_nobody(&format!("--passes 1 -c 2 {arguments}"), &disk.path());
    let table = or_skip!(run("")).expect(0).table();
    assert_eq!(table.summary("all", "all").int("uid"), 65_534);
    let table = or_skip!(run("--as nobody --dir-owner caller")).expect(0).table();
    let row = table.summary(label(&disk.path()), "all");
    assert_eq!((row.int("uid"), row.text("relation")), (65_534, "owner"));
    or_skip!(run("--as root")).expect(3).says("only root can act as uid 0");
    or_skip!(run("--as 65534:0")).expect(3).says("only root can act as");
    or_skip!(run("--mount-acl off")).expect(3).says("only root can remount");
    or_skip!(run("--dir-acl 1")).expect(3).says("give a directory away");
    or_skip!(run("--as nosuchuser")).expect(2).says("no such user");
    assert_clean(&[&disk.path()]);
}
