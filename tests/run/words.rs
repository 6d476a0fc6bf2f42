//! Words of one call that move data, list, or speak of attributes and ACLs.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::FileTypeExt;

use super::calls::{Calls, need_strace};
use crate::common::tool::{assert_clean, label, loadfile, run_dir, run_on, temp_disk};
use crate::common::{LoopFs, TmpFs, or_skip, run, skip};

const FILE: &str = "/clients/client1/a";
/// Three clients each: of one thread, where there is a choice of ways.
const ENGINES: [&str; 4] = [
    "-c 3 --engine sync",
    "-c 3 --engine hybrid --threads-per-disk 1",
    "-c 3 --engine hybrid --threads-per-disk 1 --route ring",
    "-c 3 --engine uring --threads-per-disk 1",
];

/// The calls about the client's `a` and what is below it, one blank for several.
#[track_caller]
fn calls_about_a(lines: &str, arguments: &str, disk: &std::path::Path) -> Vec<String> {
    let calls = Calls::of_lines(lines, arguments, disk);
    // A mapping is taken away by its address.
    let own = calls.0.iter().filter(|call| call.contains("client0/a") || call.contains("POPULATE"));
    let spaced = own.map(|call| call.split_whitespace().collect::<Vec<_>>().join(" "));
    // A flag that a 64-bit kernel sets anyway.
    spaced.map(|call| call.replace("|O_LARGEFILE", "")).collect()
}

#[track_caller]
fn assert_calls(made: &[String], expected: &[(&str, &str)]) {
    for (call, (start, end)) in made.iter().zip(expected) {
        assert!(call.starts_with(start) && call.contains(end), "{call}: {start} {end}");
    }
    assert_eq!(made.len(), expected.len(), "{made:#?}");
}

/// As docs/loadfile.md states them.
#[test]
fn strace_sees_the_calls_that_move_data() {
    or_skip!(need_strace());
    let lines = format!(
        "open {FILE} O_RDWR|O_CREAT 0600 1 NT_STATUS_OK\nfstatat 1 NT_STATUS_OK\n\
         write 1 5000 5000 NT_STATUS_OK\nlseek 1 4096 NT_STATUS_OK\nread 1 4096 904 NT_STATUS_OK\n\
         lseek 1 0 NT_STATUS_OK\nopen {FILE}2 O_RDWR|O_CREAT 0600 2 NT_STATUS_OK\n\
         copy_file_range 1 2 4000 4000 NT_STATUS_OK\nsendfile 1 2 9000 1000 NT_STATUS_OK\n\
         mmapread 2 4096 904 NT_STATUS_OK\nsyncfs 2 NT_STATUS_OK\n\
         sync_file_range 2 0 4096 SYNC_FILE_RANGE_WRITE|SYNC_FILE_RANGE_WAIT_BEFORE NT_STATUS_OK\n\
         mkfifo {FILE}3 0640 NT_STATUS_OK\nmkfifo {FILE}3 0640 EEXIST\nClose 1 *\nClose 2 *"
    );
    let disk = temp_disk();
    let made = calls_about_a(&lines, "", disk.path());
    assert_calls(
        &made,
        &[
            ("openat(", "O_RDWR|O_CREAT, 0600) = "),
            ("newfstatat(", ", \"\", {"),
            ("write(", ", 5000) = 5000"),
            ("lseek(", ", 4096, SEEK_SET) = 4096"),
            ("read(", ", 4096) = 904"),
            ("lseek(", ", 0, SEEK_SET) = 0"),
            ("openat(", "client0/a2"),
            ("copy_file_range(", ", 4000, 0) = 4000"),
            ("sendfile(", ", NULL, 9000) = 1000"),
            ("mmap(NULL, 904, PROT_READ, MAP_PRIVATE, ", ", 0x1000) = 0x"),
            ("madvise(", ", 904, MADV_POPULATE_READ) = 0"),
            ("syncfs(", ") = 0"),
            (
                "sync_file_range(",
                ", 0, 4096, SYNC_FILE_RANGE_WAIT_BEFORE|SYNC_FILE_RANGE_WRITE) = 0",
            ),
            ("mknodat(", "client0/a3\", S_IFIFO|0640) = 0"),
            ("mknodat(", "= -1 EEXIST"),
            ("close(", ""),
            ("close(", ""),
        ],
    );
    assert!(made[1].contains("AT_EMPTY_PATH) = 0"), "{}", made[1]);
    assert!(made[7].contains("client0/a>, NULL, ") && made[7].contains("client0/a2>, NULL"));
    assert!(made[8].contains("client0/a2>, ") && made[8].contains("client0/a>, NULL"));
}

#[test]
fn strace_sees_the_calls_about_attributes() {
    or_skip!(need_strace());
    let disk = or_skip!(LoopFs::new("ext4", 64));
    let lines = format!(
        "open {FILE} O_RDWR|O_CREAT 0640 1 NT_STATUS_OK\n\
         setxattr {FILE} user.one 10 XATTR_CREATE NT_STATUS_OK\n\
         setxattr {FILE} user.one 10 XATTR_CREATE EEXIST\nfsetxattr 1 \"user.t w o\" 0 0 SUCCESS\n\
         getxattr {FILE} user.one 64 NT_STATUS_OK\nfgetxattr 1 user.one 5 ERANGE\n\
         listxattr {FILE} 1000 NT_STATUS_OK\nflistxattr 1 0 NT_STATUS_OK\n\
         removexattr {FILE} user.one NT_STATUS_OK\nfremovexattr 1 user.one ENODATA\n\
         getacl {FILE} ENODATA\nsetacl {FILE} u::rw-,u:4000:r--,g::r--,m::r--,o::--- NT_STATUS_OK\n\
         getacl {FILE} NT_STATUS_OK\nremoveacl {FILE} NT_STATUS_OK\nClose 1 *"
    );
    let made = calls_about_a(&lines, "", &disk.path());
    assert_calls(
        &made,
        &[
            ("openat(", ""),
            ("setxattr(", "\"user.one\", \""),
            ("setxattr(", "XATTR_CREATE) = -1 EEXIST"),
            ("fsetxattr(", "\"user.t w o\", \"\", 0, 0) = 0"),
            ("getxattr(", ", 64) = 10"),
            ("fgetxattr(", ", 5) = -1 ERANGE"),
            ("listxattr(", ", 1000) = "),
            ("flistxattr(", ", 0) = "),
            ("removexattr(", "\"user.one\") = 0"),
            ("fremovexattr(", "= -1 ENODATA"),
            ("getxattr(", "\"system.posix_acl_access\", "),
            // Version and five entries of 8 bytes.
            ("setxattr(", ", 44, 0) = 0"),
            ("getxattr(", ", 32768) = 44"),
            ("removexattr(", "\"system.posix_acl_access\") = 0"),
            ("close(", ""),
        ],
    );
    assert!(made[10].contains("ENODATA"), "{}", made[10]);
}

/// Other programs see what was asked for, on each file system and by each engine.
#[test]
fn getfattr_and_getfacl_see_what_was_set() {
    or_skip!(run("getfattr", &["--version"]));
    or_skip!(run("getfacl", &["--version"]));
    let lines = format!(
        "open {FILE} O_RDWR|O_CREAT 0640 1 NT_STATUS_OK\nwrite 1 3000 3000 NT_STATUS_OK\n\
         setxattr {FILE} user.one 16 0 NT_STATUS_OK\nfsetxattr 1 user.two 300 0 NT_STATUS_OK\n\
         setacl {FILE} o::---,u::rwx,u:4000:r-x,g::r--,g:50:-w-,m::rw- NT_STATUS_OK\n\
         open {FILE}2 O_RDWR|O_CREAT|O_APPEND 0600 2 NT_STATUS_OK\nwrite 2 100 100 NT_STATUS_OK\n\
         lseek 2 0 NT_STATUS_OK\nwrite 2 20 20 NT_STATUS_OK\nlseek 1 1000 NT_STATUS_OK\n\
         copy_file_range 1 2 5000 2000 EBADF\nsendfile 1 2 5000 2000 EINVAL\n\
         lseek 1 0 NT_STATUS_OK\nread 1 3000 3000 NT_STATUS_OK\nread 1 1 0 NT_STATUS_OK\n\
         setacl {FILE}2 u::rw-,u:1:r--,g::---,m::r--,o::--- NT_STATUS_OK\n\
         removeacl {FILE}2 NT_STATUS_OK\nmkfifo {FILE}3 0620 NT_STATUS_OK\n\
         open /clients/client1 O_RDONLY|O_DIRECTORY 0 3 NT_STATUS_OK\nliststat 3 NT_STATUS_OK\n\
         liststat 3 NT_STATUS_OK\nliststat 1 *"
    );
    // The kernel copies to no handle with O_APPEND.
    let files = temp_disk();
    let load = loadfile(files.path(), "w.load", &lines);
    for fs_type in ["ext4", "xfs", "btrfs"] {
        let disk = or_skip!(LoopFs::new(fs_type, if fs_type == "ext4" { 64 } else { 512 }));
        for engine in ENGINES {
            let arguments = format!("--keep --passes 1 {engine} -l {}", load.display());
            let table = run_on(&arguments, &[&disk.path()]).expect(0).table();
            assert_eq!(table.summary("all", "all").int("errors"), 0, "{fs_type} {engine}");
            assert_eq!((table.ops()["write"], table.ops()["setacl"]), (9, 6));
            let bytes = |op: &str| table.summary("all", op).int("bytes");
            assert_eq!((bytes("write"), bytes("read")), (3 * (3000 + 100 + 20), 3 * 3000));
            let own = run_dir(&disk.path()).unwrap().join("clients/client0");
            let (file, other) = (own.join("a"), own.join("a2"));
            let seen = run("getfattr", &["--absolute-names", "-d", "-e", "hex", label(&file)]);
            let seen = seen.unwrap();
            let length = |name: &str| {
                let line = seen.lines().find(|line| line.starts_with(name)).unwrap();
                (line.split("=0x").nth(1).unwrap().len() / 2) as u64
            };
            assert_eq!((length("user.one"), length("user.two")), (16, 300), "{seen}");
            let acl = |path| run("getfacl", &["-cEnp", label(path)]).unwrap();
            let wanted =
                "user::rwx\nuser:4000:r-x\ngroup::r--\ngroup:50:-w-\nmask::rw-\nother::---";
            assert_eq!(acl(&file).trim(), wanted, "{fs_type} {engine}");
            // The mode stays, so that what was the mask is the group's.
            assert_eq!(acl(&other).trim(), "user::rw-\ngroup::r--\nother::---");
            let metadata = |path| fs::metadata(path).unwrap();
            assert_eq!((metadata(&file).len(), metadata(&other).len()), (3000, 120), "{engine}");
            assert!(metadata(&own.join("a3")).file_type().is_fifo());
            fs::remove_dir_all(run_dir(&disk.path()).unwrap()).unwrap();
        }
    }
}

/// Copies arrive, whole and with the source's bytes.
#[test]
fn copies_are_equal() {
    let disk = or_skip!(LoopFs::new("ext4", 64));
    let files = temp_disk();
    let lines = format!(
        "open {FILE} O_RDWR|O_CREAT 0600 1 NT_STATUS_OK\nwrite 1 300000 300000 NT_STATUS_OK\n\
         lseek 1 0 NT_STATUS_OK\nopen {FILE}2 O_RDWR|O_CREAT 0600 2 NT_STATUS_OK\n\
         copy_file_range 1 2 300000 300000 NT_STATUS_OK\nlseek 1 0 NT_STATUS_OK\n\
         open {FILE}3 O_RDWR|O_CREAT 0600 3 NT_STATUS_OK\nsendfile 1 3 300000 300000 NT_STATUS_OK\n\
         sendfile 1 3 300000 300000 NT_STATUS_OK\nmmapread 3 4096 290000 NT_STATUS_OK\n\
         mmapread 3 409600 1 EFAULT\nmmapread 3 1 1 EINVAL"
    );
    let load = loadfile(files.path(), "c.load", &lines);
    for engine in ENGINES {
        let arguments = format!("--keep --passes 1 {engine} -l {}", load.display());
        let table = run_on(&arguments, &[&disk.path()]).expect(1).table();
        // The second sendfile starts at the end: it is short.
        let short = (("sendfile".to_owned(), "SHORT".to_owned()), 3);
        assert_eq!(table.errors().into_iter().collect::<Vec<_>>(), [short], "{engine}");
        let own = run_dir(&disk.path()).unwrap().join("clients/client0");
        let bytes = fs::read(own.join("a")).unwrap();
        assert_eq!(bytes.len(), 300_000);
        assert!(bytes == fs::read(own.join("a2")).unwrap(), "copy_file_range, {engine}");
        assert!(bytes == fs::read(own.join("a3")).unwrap(), "sendfile, {engine}");
        fs::remove_dir_all(run_dir(&disk.path()).unwrap()).unwrap();
    }
}

/// What a file system does not have is an error of its name.
#[test]
fn a_file_system_without_attributes_says_so() {
    let disk = or_skip!(TmpFs::ramfs());
    let files = temp_disk();
    let lines = format!(
        "open {FILE} O_RDWR|O_CREAT 0600 1 NT_STATUS_OK\nsetxattr {FILE} user.one 4 0 SUCCESS\n\
         setacl {FILE} u::rw-,u:1:r--,g::---,m::r--,o::--- NT_STATUS_OK\ngetacl {FILE} EOPNOTSUPP"
    );
    let load = loadfile(files.path(), "n.load", &lines);
    for engine in ENGINES {
        let arguments = format!("--passes 1 {engine} -l {}", load.display());
        let finished = run_on(&arguments, &[&disk.path()]).expect(1);
        let count = |op: &str| ((op.to_owned(), "EOPNOTSUPP".to_owned()), 3);
        let errors: Vec<_> = finished.table().errors().into_iter().collect();
        assert_eq!(errors, [count("setacl"), count("setxattr")], "{engine}");
        assert_clean(&[&disk.path()]);
    }
}

/// One getdents64 more than there are batches, and a look at each entry but the two that are no entries.
#[test]
fn a_listing_looks_at_each_entry() {
    or_skip!(need_strace());
    let disk = temp_disk();
    let lines = format!(
        "mkdirat {FILE} 0700 NT_STATUS_OK\nLOOP 300\nRANDOMSTRING 1 \"[ab][cd][ef][gh][ij][kl][mn][op]\"\n\
         open {FILE}/$1 O_RDWR|O_CREAT 0600 1 NT_STATUS_OK\nClose 1 *\nENDLOOP\n\
         open {FILE} O_RDONLY|O_DIRECTORY 0 2 NT_STATUS_OK\nliststat 2 NT_STATUS_OK\nClose 2 *"
    );
    let made = calls_about_a(&lines, "--seed 7", disk.path());
    let names = made.iter().filter(|call| call.starts_with("openat(") && call.contains("O_CREAT"));
    let names: BTreeSet<_> = names.map(|call| call.split(", ").nth(1).unwrap()).collect();
    let entries = names.len();
    let looks = |call: &&String| call.starts_with("newfstatat(") && call.contains("NOFOLLOW) = 0");
    assert_eq!(made.iter().filter(looks).count(), entries);
    assert!(entries > 100, "{entries}");
    let lists = made.iter().filter(|call| call.starts_with("getdents64("));
    assert_eq!(lists.count(), 2, "one batch, and the end");
}
