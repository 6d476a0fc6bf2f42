//! Words that are one system call each, the tree that clients share, and the loads made of both.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

use super::calls::{Calls, need_strace};
use crate::common::tool::{
    Running, assert_clean, jbodbench, label, loadfile, run_dir, run_on, temp_disk, wait_for,
};
use crate::common::{LoopFs, TmpFs, need_root, or_skip, run, skip};

const FILE: &str = "/clients/client1/a";
const WALKS: [&str; 3] = ["pathwalk", "pathwalk-shared-dir", "pathwalk-shared-file"];

/// The calls about the client's `a` and what is below it: with one blank for several, as before
/// results, and without a flag that a 64-bit kernel sets anyway.
#[track_caller]
fn calls_about_a(lines: &str, path: &str, disk: &Path) -> Vec<String> {
    let calls = Calls::of_lines(lines, &format!("--path {path}"), disk);
    let own = calls.0.iter().filter(|call| call.contains("client0/a"));
    let spaced = own.map(|call| call.split_whitespace().collect::<Vec<_>>().join(" "));
    spaced.map(|call| call.replace("|O_LARGEFILE", "")).collect()
}

/// How each call begins, and what it holds.
#[track_caller]
fn assert_begin_and_hold(made: &[String], expected: &[(&str, &str)], path: &str) {
    for ((start, end), call) in expected.iter().zip(made) {
        assert!(call.starts_with(start) && call.contains(end), "{path}: {call}: {start} {end}");
    }
}

/// Each line is one call with the arguments that docs/loadfile.md states.
#[test]
fn strace_sees_one_call_for_each_line() {
    or_skip!(need_strace());
    let lines = format!(
        "open {FILE} O_RDWR|O_CREAT|O_EXCL 0640 1 NT_STATUS_OK\nstat {FILE} NT_STATUS_OK\n\
         lstat {FILE} NT_STATUS_OK\naccess {FILE} R_OK|W_OK NT_STATUS_OK\naccess {FILE} F_OK *\n\
         fstat 1 *\nfdatasync 1 *\nfchmod 1 0600 *\nchmod {FILE} 0755 *\ntruncate {FILE} 10 *\n\
         lstat {FILE}x ENOENT\nopen {FILE} O_RDONLY|O_NOFOLLOW 0 2 *\nClose 1 *\nClose 2 *"
    );
    for (path, at, from) in
        [("absolute", "AT_FDCWD", ""), ("cwd", "AT_FDCWD", "./"), ("dirfd", "/.jbodbench-", "./")]
    {
        let disk = temp_disk();
        // There is no truncate that starts at a descriptor.
        let lines = match path {
            "dirfd" => lines.replace(&format!("truncate {FILE} 10 *"), "fstat 1 *"),
            _ => lines.clone(),
        };
        let made = calls_about_a(&lines, path, disk.path());
        let expected = [
            ("openat(", "O_RDWR|O_CREAT|O_EXCL, 0640) = "),
            ("newfstatat(", ", 0) = 0"),
            ("newfstatat(", ", AT_SYMLINK_NOFOLLOW) = 0"),
            ("faccessat(", ", R_OK|W_OK) = 0"),
            ("faccessat(", ", F_OK) = 0"),
            ("fstat(", ") = 0"),
            ("fdatasync(", ") = 0"),
            ("fchmod(", ", 0600) = 0"),
            ("fchmodat(", ", 0755) = 0"),
            if path == "dirfd" { ("fstat(", ") = 0") } else { ("truncate(", ", 10) = 0") },
            ("newfstatat(", "AT_SYMLINK_NOFOLLOW) = -1 ENOENT"),
            ("openat(", "O_RDONLY|O_NOFOLLOW) = "),
            ("close(", ") = 0"),
            ("close(", ") = 0"),
        ];
        assert_begin_and_hold(&made, &expected, path);
        for ((start, _), call) in expected.iter().zip(&made) {
            if start.ends_with("at(") && *start != "fstat(" {
                assert!(call.contains(at) && call.contains(&format!("\"{from}")), "{path}: {call}");
            }
        }
        assert_eq!(made.len(), expected.len(), "{path}: {made:#?}");
    }
}

/// The rest of the words, as docs/loadfile.md states them.
#[test]
fn strace_sees_one_call_for_each_name() {
    or_skip!(need_strace());
    let lines = format!(
        "mkdirat {FILE} 0750 NT_STATUS_OK\nopen {FILE}/f O_RDWR|O_CREAT 0600 1 NT_STATUS_OK\n\
         ftruncate 1 4096 NT_STATUS_OK\nfallocate 1 FALLOC_FL_KEEP_SIZE 4096 4096 NT_STATUS_OK\n\
         futimes 1 NT_STATUS_OK\nfchown 1 -1 -1 NT_STATUS_OK\nlink {FILE}/f {FILE}/g NT_STATUS_OK\n\
         link {FILE}/f {FILE}/g EEXIST\nrenameat2 {FILE}/g {FILE}/h RENAME_NOREPLACE NT_STATUS_OK\n\
         symlink {FILE}/h {FILE}/l NT_STATUS_OK\nreadlink {FILE}/l NT_STATUS_OK\n\
         readlink {FILE}/h EINVAL\nutimes {FILE}/l NT_STATUS_OK\nlutimes {FILE}/l NT_STATUS_OK\n\
         chown {FILE}/l -1 -1 NT_STATUS_OK\nlchown {FILE}/l -1 -1 NT_STATUS_OK\nstat {FILE}/l NT_STATUS_OK\n\
         open {FILE} O_RDONLY|O_DIRECTORY 0 2 NT_STATUS_OK\ngetdents 2 NT_STATUS_OK\n\
         lseek 2 0 NT_STATUS_OK\nClose 2 NT_STATUS_OK\nunlinkat {FILE} AT_REMOVEDIR ENOTEMPTY\n\
         unlinkat {FILE}/h 0 NT_STATUS_OK\nstat {FILE}/l ENOENT\nDeltree {FILE} NT_STATUS_OK"
    );
    let expected = [
        ("mkdir", "0750) = 0"),
        ("openat(", "O_RDWR|O_CREAT, 0600) = "),
        ("ftruncate(", ", 4096) = 0"),
        ("fallocate(", "FALLOC_FL_KEEP_SIZE, 4096, 4096) = 0"),
        ("utimensat(", ", NULL, NULL, 0) = 0"),
        ("fchown(", ", -1, -1) = 0"),
        ("linkat(", "client0/a/g\", 0) = 0"),
        ("linkat(", "= -1 EEXIST"),
        ("renameat2(", ", RENAME_NOREPLACE) = 0"),
        ("symlinkat(\"h\"", "client0/a/l\") = 0"),
        ("readlinkat(", "\"h\", 32768) = 1"),
        ("readlinkat(", "= -1 EINVAL"),
        ("utimensat(", ", NULL, 0) = 0"),
        ("utimensat(", ", NULL, AT_SYMLINK_NOFOLLOW) = 0"),
        ("fchownat(", ", -1, -1, 0) = 0"),
        ("fchownat(", ", -1, -1, AT_SYMLINK_NOFOLLOW) = 0"),
        ("newfstatat(", ", 0) = 0"),
        ("openat(", "O_RDONLY|O_DIRECTORY) = "),
        ("getdents64(", ", 32768) = "),
        ("lseek(", ", 0, SEEK_SET) = 0"),
        ("close(", ") = 0"),
    ];
    for path in ["absolute", "cwd", "dirfd"] {
        let disk = temp_disk();
        let made = calls_about_a(&lines, path, disk.path());
        assert_begin_and_hold(&made, &expected, path);
        assert!(made[expected.len()].contains("= -1 ENOTEMPTY"), "{path}: {made:#?}");
    }
}

/// The same figures that fstat of another program sees.
#[test]
fn files_are_as_they_were_asked_for() {
    for fs_type in ["ext4", "xfs", "btrfs"] {
        let disk = or_skip!(LoopFs::new(fs_type, if fs_type == "ext4" { 64 } else { 512 }));
        let files = temp_disk();
        let lines = format!(
            "open {FILE} O_RDWR|O_CREAT 0640 1 NT_STATUS_OK\nWriteX 1 0 5000 5000 NT_STATUS_OK\n\
             fchmod 1 0604 NT_STATUS_OK\nopen {FILE}2 O_WRONLY|O_CREAT 0620 2 NT_STATUS_OK\n\
             chmod {FILE}2 0711 NT_STATUS_OK\ntruncate {FILE}2 70000 NT_STATUS_OK\n\
             truncate {FILE} 123 NT_STATUS_OK\naccess {FILE} X_OK EACCES"
        );
        let load = loadfile(files.path(), "p.load", &lines);
        let arguments = format!("--keep --passes 1 -c 1 -l {}", load.display());
        run_on(&arguments, &[&disk.path()]).expect(0);
        let own = run_dir(&disk.path()).unwrap().join("clients/client0");
        let look = |name: &str| fs::metadata(own.join(name)).unwrap();
        assert_eq!((look("a").mode() & 0o7777, look("a").len()), (0o604, 123), "{fs_type}");
        assert_eq!((look("a2").mode() & 0o7777, look("a2").len()), (0o711, 70_000), "{fs_type}");
    }
}

/// What misses its status is an error of its word, by errno, in both directions.
#[test]
fn errors_have_rows_of_their_words() {
    let disk = temp_disk();
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/posix.load");
    let arguments = format!("--passes 1 -c 3 -l {}", case.display());
    let table = run_on(&arguments, &[disk.path()]).expect(1).table();
    let count = |op: &str, errno: &str| ((op.to_owned(), errno.to_owned()), 3);
    let expected = [
        count("access", "ENOENT"),
        count("lstat", "SUCCEEDED"),
        count("open", "ENOENT"),
        count("stat", "ENOENT"),
    ];
    assert_eq!(table.errors().into_iter().collect::<Vec<_>>(), expected);
    let all = table.summary("all", "all");
    // The read of what was not opened.
    assert_eq!((all.int("errors"), all.int("skipped")), (12, 3));
    assert_eq!(table.ops()["stat"], 3 * 7);
    assert_clean(&[disk.path()]);
}

/// A client's descriptors that are open below a directory: device and inode of each.
fn open_below(worker: i32, dir: &Path) -> Vec<(u64, u64)> {
    let tasks = fs::read_dir(format!("/proc/{worker}/task")).unwrap().flatten();
    let files = tasks.filter_map(|task| fs::read_dir(task.path().join("fd")).ok()).flatten();
    let below = files.flatten().map(|file| file.path()).filter(|file| {
        fs::read_link(file).is_ok_and(|target| target.starts_with(dir) && target != dir)
    });
    below.filter_map(|file| fs::metadata(file).ok()).map(|meta| (meta.dev(), meta.ino())).collect()
}

/// All clients of a disk have one file, those of two disks have two; nobody else gets at it.
#[test]
fn a_shared_file_is_one_inode() {
    or_skip!(need_root());
    let (memory, ext4) = (or_skip!(TmpFs::new("64m")), or_skip!(LoopFs::new("ext4", 64)));
    let disks = [memory.path(), ext4.path()];
    let files = temp_disk();
    let load = files.path().join("s.load");
    let text = "PREPARE\nMkdir /SHARED/a *\nMkdir /SHARED/a/b NT_STATUS_OK\n\
                open /SHARED/a/b/f O_RDWR|O_CREAT 0600 1 NT_STATUS_OK\nWriteX 1 0 4096 4096 NT_STATUS_OK\n\
                NTCreateX /SHARED/a/g 0x40 2 2 NT_STATUS_OK\nEND\n\
                open /SHARED/a/b/f O_RDWR|O_CREAT 0600 1 NT_STATUS_OK\nstat /SHARED/a/g NT_STATUS_OK\n\
                SLEEP 600000000\n";
    fs::write(&load, text).unwrap();
    for engine in ["sync", "hybrid", "uring"] {
        let mut command = jbodbench(["run", "-c", "4", "-t", "10m", "--warmup", "0"]);
        command.args(["--as", "4000:4001", "--engine", engine, "--depth", "3", "-l"]);
        command.arg(&load).args(&disks);
        let running = Running::start(command);
        let mut inodes = BTreeSet::new();
        for disk in &disks {
            let shared = wait_for("the shared tree", || {
                Some(run_dir(disk)?.join("d1/d2/d3/c/SHARED")).filter(|path| path.exists())
            });
            let meta = fs::metadata(&shared).unwrap();
            assert_eq!((meta.uid(), meta.gid(), meta.mode() & 0o7777), (4000, 4001, 0o700));
            let open = wait_for("an open file of each client", || {
                Some(open_below(running.worker(), &shared)).filter(|open| open.len() >= 4)
            });
            let file = fs::metadata(shared.join("a/b/f")).unwrap();
            // A thread and its stand-in have the same table: more than four may be seen.
            let same = |one: &(u64, u64)| *one == (file.dev(), file.ino());
            assert!(open.iter().all(same), "{engine}: {open:?}");
            assert_eq!((file.uid(), file.nlink(), file.len()), (4000, 1, 4096));
            inodes.insert(open[0]);
            let other = ["--reuid", "4002", "--regid", "4001", "--clear-groups", "ls"];
            let mut ls = Command::new("setpriv");
            let ls = ls.args(other).arg(&shared).output().unwrap();
            let said = String::from_utf8_lossy(&ls.stderr).into_owned();
            assert!(!ls.status.success() && said.contains("Permission denied"), "{said}");
        }
        assert_eq!(inodes.len(), 2);
        running.signal(rustix::process::Signal::INT);
        let table = running.finish().expect(130).table();
        assert_eq!(table.errors().len(), 0, "{engine}: {:?}", table.errors());
        assert_clean(&[&disks[0], &disks[1]]);
    }
}

/// Without a shared path there is no shared tree.
#[test]
fn what_is_not_asked_for_is_not_made() {
    let disk = temp_disk();
    run_on("-l pathwalk --keep --passes 1 -c 2", &[disk.path()]).expect(0);
    let dir = run_dir(disk.path()).unwrap();
    assert!(dir.join("clients/client1/file").exists() && !dir.join("SHARED").exists());
    fs::remove_dir_all(dir).unwrap();
}

/// Many clients prepare one tree at a time, use it, and take it away all at once.
#[test]
fn shared_trees_are_made_and_removed_by_all_at_once() {
    let disk = or_skip!(TmpFs::new("64m"));
    let files = temp_disk();
    let load = files.path().join("s.load");
    let mut text = String::from("PREPARE\n");
    for dir in ["x", "x/y", "x/y/z"] {
        text += &format!("Mkdir /SHARED/{dir} NT_STATUS_OK\n");
        text += &format!("NTCreateX /SHARED/{dir}/n 0x1 2 1 NT_STATUS_OK\nClose 1 NT_STATUS_OK\n");
        text += &format!("open /SHARED/{dir}/f O_RDWR|O_CREAT 0600 1 NT_STATUS_OK\n");
        text += "WriteX 1 0 4096 4096 NT_STATUS_OK\nClose 1 NT_STATUS_OK\n";
        text += &format!("open /SHARED/{dir}/client1 O_RDWR|O_CREAT|O_EXCL 0600 1 NT_STATUS_OK\n");
    }
    text += "END\nLOOP 50\nstat /SHARED/x/y/z/f NT_STATUS_OK\naccess /SHARED/x/client1 R_OK SUCCESS\n\
             ENDLOOP\n";
    // All have looked before the first one removes: client n waits for all others.
    text += "SETSP 1\n";
    (0..8).for_each(|client| text += &format!("WAITSP {client} 1\n"));
    text += "Deltree /SHARED/x NT_STATUS_OK\nstat /SHARED/x ENOENT\n";
    fs::write(&load, text).unwrap();
    for engine in ["sync", "hybrid", "uring"] {
        for threads in ["", "--threads-per-disk 2"] {
            if engine == "sync" && !threads.is_empty() {
                continue;
            }
            let arguments =
                format!("-l {} -c 8 --passes 1 --engine {engine} {threads}", load.display());
            let table = run_on(&arguments, &[&disk.path()]).expect(0).table();
            let row = table.summary(label(&disk.path()), "all");
            assert_eq!((row.int("errors"), row.int("skipped")), (0, 0), "{engine} {threads}");
            assert_eq!((table.ops()["stat"], table.ops()["Deltree"]), (8 * 51, 8));
            assert_clean(&[&disk.path()]);
        }
    }
}

/// Two disks, several clients, another user, ACLs on the way: nothing unexpected, and rows for what is
/// to be read.
#[test]
fn walks_run_as_another_user_on_two_disks() {
    or_skip!(need_root());
    let (memory, ext4) = (or_skip!(TmpFs::new("64m")), or_skip!(LoopFs::new("ext4", 64)));
    let disks = [memory.path(), ext4.path()];
    for load in WALKS {
        for engine in ["sync", "hybrid", "uring"] {
            let arguments = format!(
                "-l {load} -c 3 --passes 2 --as nobody --dir-acl 1 --depth 5 --engine {engine}"
            );
            let table = run_on(&arguments, &[&disks[0], &disks[1]]).expect(0).table();
            assert_eq!(table.errors().len(), 0, "{load} {engine}: {:?}", table.errors());
            for disk in &disks {
                let ops = |word: &str| {
                    let row = table.summary(label(disk), word);
                    assert!(row.float("lat_mean_us") > 0.0, "{load} {engine} {word}");
                    (row.int("ops"), row.int("errors"), row.int("skipped"), row.text("status"))
                };
                // Three clients and two passes of what the heads of the files say.
                for (word, count) in
                    [("stat", 4000), ("access", 2000), ("open", 1000), ("NTCreateX", 1000)]
                {
                    assert_eq!(ops(word), (6 * count, 0, 0, "ok"), "{load} {engine} {word}");
                }
                assert_eq!(ops("lstat"), (6000, 0, 0, "ok"));
                let all = table.summary(label(disk), "all");
                assert_eq!((all.text("loadfile"), all.text("status")), (load, "ok"));
                assert_eq!(all.int("uid"), 65_534);
            }
            assert_clean(&[&disks[0], &disks[1]]);
        }
    }
}

/// Nothing of the measured part makes, changes or removes: after a pass all is as after the
/// preparation, and absolute walks go through the directories of --depth.
#[test]
fn walks_only_look() {
    or_skip!(need_strace());
    for load in WALKS {
        let (disk, files) = (temp_disk(), temp_disk());
        let log = files.path().join("log");
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o"]).arg(&log).args([crate::common::tool::BINARY, "run"]);
        command.args(["-l", load, "-c", "1", "--passes", "2", "--depth", "7"]).arg(disk.path());
        Running::start(command).finish_within(std::time::Duration::from_secs(120)).expect(0);
        let log = fs::read_to_string(log).unwrap();
        let below = format!("{}/.jbodbench-", label(disk.path()));
        // The first look at a name that is not there ends the preparation.
        let pass =
            log.lines().skip_while(|line| !(line.contains("SYMLINK") && line.contains("ENOENT")));
        let own = pass.skip(1).filter(|line| line.contains(&below) && line.contains("/d7/"));
        // How the kernel walks is asked after the window.
        let own = own.filter(|line| !line.contains(" openat2("));
        let mut names = BTreeSet::new();
        let mut count = 0;
        for line in own {
            let call = line.split_whitespace().nth(1).unwrap();
            names.insert(call.split('(').next().unwrap().to_owned());
            assert!(line.contains("/d1/d2/d3/d4/d5/d6/d7/"), "{line}");
            assert!(!line.contains("O_TRUNC"), "{line}");
            count += 1;
        }
        let expected = ["faccessat", "newfstatat", "openat"].map(str::to_owned);
        assert_eq!(names, BTreeSet::from(expected), "{load}");
        // By two passes: 4000 stat, 2000 access, 1000 open, 1000 lstat, 1000 NTCreateX of a stat and an
        // openat.
        assert_eq!(count, 2 * 10_000, "{load}");
        assert_clean(&[disk.path()]);
    }
}

/// A user without root has shared trees, too.
#[test]
fn an_ordinary_user_shares_as_well() {
    or_skip!(need_root());
    let disk = or_skip!(TmpFs::with_options("size=512m,mode=1777"));
    let dir = disk.path();
    run("chmod", &["755", label(dir.parent().unwrap())]).unwrap();
    let binary = dir.join("jbodbench");
    fs::copy(crate::common::tool::BINARY, &binary).unwrap();
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&binary);
    command.args(["run", "-l", "pathwalk-shared-file", "-c", "2", "--passes", "1"]).arg(&dir);
    Running::start(command).finish().expect(0);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "only the program is there");
}
