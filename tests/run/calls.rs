//! Options that change the system calls of a client, as strace sees them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::tool::{
    BINARY, Running, assert_clean, label, loadfile, run_dir, run_on, temp_disk,
};
use crate::common::{LoopFs, or_skip, run, skip};

/// Whether strace is there and may look at processes; the reason if not.
pub(super) fn need_strace() -> Result<(), String> {
    run("strace", &["-o", "/dev/null", "true"]).map(drop)
}

const LINES: &str = "NTCreateX \"\\clients\\client1\\a\" 0x40 2 7 NT_STATUS_OK
WriteX 7 0 8192 8192 NT_STATUS_OK
WriteX 7 8192 8192 8192 NT_STATUS_OK
ReadX 7 0 4096 4096 NT_STATUS_OK
QUERY_FILE_INFORMATION 7 258 NT_STATUS_OK
SET_FILE_INFORMATION 7 1013 NT_STATUS_OK
LockX 7 100 10 NT_STATUS_OK
Close 7 NT_STATUS_OK
QUERY_PATH_INFORMATION \"\\clients\\client1\\missing\" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND
Rename \"\\clients\\client1\\a\" \"\\clients\\client1\\b\" NT_STATUS_OK
Unlink \"\\clients\\client1\\b\" 0x16 NT_STATUS_OK";

/// The calls that one client makes for some lines, in order, as strace writes them.
pub(super) struct Calls(pub(super) Vec<String>);

/// The calls of a thread, each on one line: strace breaks one off when another thread's comes between.
fn whole<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<String> {
    let (mut calls, mut begun) = (Vec::new(), String::new());
    for line in lines {
        if let Some(start) = line.strip_suffix("<unfinished ...>") {
            begun = start.trim_end().to_owned();
        } else if let Some((_, rest)) = line.split_once(" resumed>") {
            calls.push(std::mem::take(&mut begun) + rest);
        } else {
            calls.push(line.to_owned());
        }
    }
    calls
}

/// Whether a call is none of the load's, but one of those that ask how the kernel walks: an openat2
/// with O_PATH, or the close of what it opened.
fn is_a_walk(call: &str, opened: &mut Option<String>) -> bool {
    if call.starts_with("openat2(") && call.contains("O_PATH") {
        let result = call.rsplit("= ").next().unwrap();
        *opened = Some(result.split('<').next().unwrap().trim().to_owned());
        return true;
    }
    let fd = opened.as_deref().unwrap_or("-");
    if call.starts_with("fcntl(") && call.contains("F_GETFD") && call[6..].starts_with(fd) {
        return true; // the standard library's own check before a close, in a debug build
    }
    let closed = opened.take();
    closed.is_some_and(|fd| call.starts_with(&format!("close({fd}")))
}

impl Calls {
    #[track_caller]
    fn of(arguments: &str, disk: &Path) -> Self {
        Self::of_lines(LINES, arguments, disk)
    }

    /// The same for other lines.
    #[track_caller]
    pub(super) fn of_lines(lines: &str, arguments: &str, disk: &Path) -> Self {
        let files = temp_disk();
        let load = loadfile(files.path(), "calls.load", lines);
        let log = files.path().join("log");
        let mut command = Command::new("strace");
        // With -y a descriptor is written with its path.
        command.args(["-f", "-y", "-qq", "-o"]).arg(&log).args([BINARY, "run", "-c", "1"]);
        command.args(["--passes", "1", "-l"]).arg(&load);
        command.args(arguments.split_whitespace()).arg(disk);
        Running::start(command).finish().expect(0);
        assert_clean(&[disk]);
        let log = fs::read_to_string(log).unwrap();
        let first = log.lines().find(|line| line.contains(" mkdir") && line.contains("/clients\""));
        let thread = first.unwrap().split_whitespace().next().unwrap();
        let mine = log.lines().filter_map(|line| line.strip_prefix(thread)?.strip_prefix(' '));
        let calls = whole(mine.map(str::trim_start));
        let mut walk = None;
        let calls = calls.iter().map(String::as_str).filter(|line| !is_a_walk(line, &mut walk));
        // It looks up its own CPU time, too.
        let mut calls = calls.filter(|line| !line.contains("/proc/"));
        // What comes before is the thread's start.
        let mut kept = Vec::new();
        let start = calls.by_ref().find(|line| line.contains("/clients\""));
        kept.extend(start.map(str::to_owned));
        kept.extend(calls.map(str::to_owned));
        Self(kept)
    }

    /// Calls of a name about something that ends so.
    fn count(&self, name: &str, about: &str) -> usize {
        self.0.iter().filter(|call| Self::name(call) == name && call.contains(about)).count()
    }

    fn name(call: &str) -> &str {
        // With and without a descriptor of a directory it is the same call.
        match call.split('(').next().unwrap() {
            "open" => "openat",
            "mkdir" => "mkdirat",
            "rename" => "renameat",
            "unlink" => "unlinkat",
            name => name,
        }
    }

    /// How often each call was made.
    fn counts(&self) -> BTreeMap<&str, usize> {
        let mut counts = BTreeMap::new();
        self.0.iter().for_each(|call| *counts.entry(Self::name(call)).or_default() += 1);
        counts
    }

    /// Paths that were handed to the kernel: quoted, with a slash.
    fn paths(&self) -> Vec<&str> {
        let quoted = self.0.iter().filter(|call| !Self::name(call).starts_with('p'));
        quoted
            .flat_map(|call| call.split('"').skip(1).step_by(2))
            .filter(|p| p.contains('/'))
            .collect()
    }
}

#[test]
fn calls_of_a_plain_run_are_the_documented_ones() {
    or_skip!(need_strace());
    let disk = temp_disk();
    let calls = Calls::of("", disk.path());
    // docs/loadfile.md, by hand. R is a stat; where that fails, a look through the directory above.
    // R fails for clients (whose directory is the run's), client0, a, missing and b (the new name).
    let counts = calls.counts();
    assert_eq!(counts["newfstatat"], 7, "clients, client0, a, missing, a, b, b");
    assert_eq!(counts["mkdirat"], 2);
    assert_eq!(counts["openat"], 5 + 2, "five searches, the directory and the file");
    assert_eq!(counts["fstat"], 5 + 2 + 1 + 1, "searches, opens, query, set");
    assert_eq!(counts["close"], 5 + 2);
    assert_eq!((counts["pwrite64"], counts["pread64"]), (2, 1));
    assert_eq!((counts["utimensat"], counts["fcntl"]), (1, 1));
    assert_eq!((counts["renameat"], counts["unlinkat"]), (1, 1));
    for name in ["fsync", "fdatasync", "fgetxattr", "getxattr", "fsetxattr"] {
        assert!(!counts.contains_key(name), "{name}");
    }
    // Nothing else than clock, memory and waiting.
    let expected = [
        "newfstatat",
        "mkdirat",
        "openat",
        "fstat",
        "close",
        "pwrite64",
        "pread64",
        "utimensat",
        "fcntl",
        "renameat",
        "unlinkat",
        "getdents64",
        "futex",
        "mmap",
        "munmap",
        "mprotect",
        "brk",
        "madvise",
        "exit",
        "getrusage",
        "openat",
        "read",
        "lseek",
        "clock_gettime",
        "sigaltstack",
        "rt_sigprocmask",
        "set_robust_list",
        "rseq",
        "sched_yield",
        "gettid",
        "+++ exited with 0 +++",
    ];
    let other: Vec<_> = counts.keys().filter(|name| !expected.contains(name)).collect();
    assert!(other.is_empty(), "{other:?}");
    assert!(calls.paths().iter().all(|path| path.starts_with(label(disk.path()))));
}

#[test]
fn no_resolve_leaves_the_searches_out() {
    or_skip!(need_strace());
    let disk = temp_disk();
    let counts = Calls::of("--no-resolve", disk.path());
    let counts = counts.counts();
    assert!(!counts.contains_key("getdents64"));
    assert_eq!((counts["openat"], counts["newfstatat"]), (2, 7));
}

#[test]
fn fake_io_moves_no_data() {
    or_skip!(need_strace());
    let disk = temp_disk();
    let calls = Calls::of("--fake-io", disk.path());
    assert!(!calls.counts().contains_key("pwrite64") && !calls.counts().contains_key("pread64"));
    assert_eq!(calls.count("fcntl", "client0/a"), 1);
}

#[test]
fn files_and_directories_are_synced_when_asked() {
    or_skip!(need_strace());
    let disk = temp_disk();
    let calls = Calls::of("-s", disk.path());
    assert_eq!(calls.count("openat", "client0/a\", O_RDWR|O_CREAT|O_SYNC"), 1);
    assert_eq!(calls.counts().get("fdatasync"), None);

    let calls = Calls::of("-F", disk.path());
    assert_eq!(calls.count("fsync", "client0/a>"), 2, "one for every write");

    // Made or moved: clients, client0, a, b, and b again when it goes.
    let calls = Calls::of("-S", disk.path());
    let synced =
        calls.0.iter().filter(|call| call.starts_with("fdatasync") || call.starts_with("fsync"));
    let synced: Vec<&str> = synced
        .map(|call| call.split('<').nth(1).unwrap().split('>').next().unwrap())
        .map(|path| path.rsplit('/').next().unwrap())
        .map(|name| if name.starts_with(".jbodbench") { "run" } else { name })
        .collect();
    assert_eq!(synced, ["run", "clients", "client0", "client0", "client0"]);
}

#[test]
fn attributes_are_kept_as_samba_does() {
    or_skip!(need_strace());
    // The temporary directory may be on a file system without user attributes.
    let fs = or_skip!(LoopFs::new("ext4", 64));
    let calls = Calls::of("-x", &fs.path());
    assert_eq!(calls.count("fsetxattr", "user.DosAttrib"), 2, "opened, and set");
    assert!(calls.count("fgetxattr", "user.DosAttrib") >= 2);

    let files = temp_disk();
    let lines = "NTCreateX \"\\clients\\client1\\a\" 0x40 2 7 NT_STATUS_OK";
    let load = loadfile(files.path(), "a.load", lines);
    for (option, length) in [("-x", Some(44)), ("", None)] {
        let arguments = format!("--keep --passes 1 -c 1 -l {} {option}", load.display());
        run_on(&arguments, &[&fs.path()]).expect(0);
        let dir = run_dir(&fs.path()).unwrap();
        let mut value = [0_u8; 256];
        let file = dir.join("clients/client0/a");
        let got = rustix::fs::getxattr(&file, "user.DosAttrib", &mut value[..]).ok();
        assert_eq!(got, length, "{option}");
        fs::remove_dir_all(dir).unwrap();
    }
}

#[test]
fn direct_opens_with_o_direct() {
    or_skip!(need_strace());
    let fs = or_skip!(LoopFs::new("ext4", 64));
    let calls = Calls::of("--direct", &fs.path());
    let flag =
        calls.0.iter().filter(|call| call.contains("client0/a\"") && call.contains("O_DIRECT|"));
    assert_eq!(flag.count(), 1);
    // The data went to the device, not to the page cache: the loop device counts it.
    let files = temp_disk();
    let lines = "NTCreateX \"\\clients\\client1\\a\" 0x40 2 7 NT_STATUS_OK\n\
                 LOOP 16\nWriteX 7 0 1048576 1048576 NT_STATUS_OK\nENDLOOP";
    let load = loadfile(files.path(), "d.load", lines);
    let arguments = format!("--direct --passes 1 -c 1 -l {}", load.display());
    let table = run_on(&arguments, &[&fs.path()]).expect(0).table();
    let row = table.summary(label(&fs.path()), "all");
    assert!(row.int("dev_write_bytes") >= 16 << 20, "{}", row.int("dev_write_bytes"));
}

/// The three ways to name a file.
#[test]
fn paths_are_absolute_or_from_the_run_directory() {
    or_skip!(need_strace());
    let disk = temp_disk();
    let calls = Calls::of("--path cwd", disk.path());
    assert!(calls.paths().iter().all(|path| path.starts_with("./clients")), "{:?}", calls.paths());
    assert_eq!(calls.count("mkdirat", "\"./clients"), 2);

    let calls = Calls::of("--path dirfd", disk.path());
    assert!(calls.paths().iter().all(|path| path.starts_with("./clients")), "{:?}", calls.paths());
    let from_run_dir = format!("<{}/.jbodbench-", disk.path().display());
    assert_eq!(calls.count("mkdirat", &from_run_dir), 2);
    assert_eq!(calls.count("renameat", &from_run_dir), 1);
    assert_eq!(calls.0.iter().filter(|call| call.contains("AT_FDCWD")).count(), 0);
}
