//! Recordings become loads: by hand, of real programs, and of anything at all.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::io::{self, BufRead, Cursor};
use std::path::Path;
use std::process::Command;

use common::{LoopFs, TmpFs, or_skip, run, skip};
use jbodbench::import::{ImportError, Report, Source, Wish, import};
use jbodbench::loadfile::{Options, parse_bytes};
use proptest::prelude::*;

fn convert(text: &[u8], wish: &Wish) -> Result<(Report, Vec<u8>), ImportError> {
    let mut open = || Ok(Box::new(Cursor::new(text.to_vec())) as Box<dyn BufRead>);
    let mut source = Source::One(Box::new(&mut open));
    let mut out = Vec::new();
    import(&mut source, wish, &mut Cursor::new(Vec::new()), &mut out).map(|report| (report, out))
}

fn rooted() -> Wish {
    Wish { root: Some(b"/r".to_vec()), ..Wish::default() }
}

/// The lines of the load behind those that make the start, and those.
fn parts(out: &[u8]) -> (Vec<String>, Vec<String>) {
    let text = String::from_utf8(out.to_vec()).unwrap();
    let (start, pass) = text.split_once("# The recording").unwrap();
    let lines = |text: &str| {
        let lines = text.lines().map(|line| line.replace("/clients/client1", "~"));
        lines.filter(|line| !line.starts_with('#')).collect::<Vec<_>>()
    };
    (lines(start), lines(&pass[pass.find('\n').unwrap()..])[1..].to_vec())
}

/// A child that runs before its parent's fork returns has its descriptors, its directory and its
/// offset; a close is the last one; what was there before is made before. Worked out by hand.
const FAMILY: &str = "\
10 1.000001 execve(\"/bin/x\", [...], 0x7f /* 4 vars */) = 0 <0.000100>
10 1.000002 openat(AT_FDCWD</r>, \"log\", O_RDWR|O_CLOEXEC) = 3</r/log> <0.000100>
10 1.000003 fstat(3</r/log>, {st_mode=S_IFREG|0640, st_size=300, ...}) = 0 <0.000100>
10 1.000004 read(3</r/log>, \"\"..., 100) = 100 <0.000100>
10 1.000005 vfork( <unfinished ...>
11 1.000006 read(3</r/log>, \"\"..., 100) = 100 <0.000100>
11 1.000007 chdir(\"sub\")          = 0 <0.000100>
11 1.000008 openat(AT_FDCWD</r/sub>, \"new\", O_WRONLY|O_CREAT|O_APPEND, 0644 <unfinished ...>
12 1.000009 --- SIGCHLD {si_signo=SIGCHLD} ---
11 1.000010 <... openat resumed>)      = 4</r/sub/new> <0.000100>
11 1.000011 write(4</r/sub/new>, \"\"..., 7) = 7 <0.000100>
11 1.000012 close(3</r/log>)       = 0 <0.000100>
11 1.000013 access(\"../none\", F_OK) = -1 ENOENT (No such file or directory) <0.000100>
11 1.000014 execve(\"/bin/y\", [...], 0x7f /* 4 vars */) = 0 <0.000100>
10 1.000015 <... vfork resumed>)       = 11 <0.000100>
10 1.000016 read(3</r/log>, \"\"..., 200) = 100 <0.000100>
10 1.000017 unlink(\"sub/new\")     = 0 <0.000100>
11 1.000018 write(4</r/sub/new>, \"\"..., 3) = 3 <0.000100>
11 1.000019 +++ exited with 0 +++
10 1.000020 rename(\"log\", \"sub/old\") = 0 <0.000100>
10 1.000021 what is this
10 1.000022 stat(\"/etc/passwd\", {st_mode=S_IFREG|0644, st_size=5, ...}) = 0 <0.000100>
10 1.000023 lgetxattr(\"sub\", \"\"..., NULL, 0) = -1 ENODATA (No data available) <0.000100>
10 1.000024 newfstatat(3</r/sub/old>, \"\", {st_mode=S_IFREG|0640, st_size=300, ...}, AT_EMPTY_PATH) = 0 <0.000100>
10 1.000025 read(9<pipe:[77]>, \"\"..., 5) = 5 <0.000100>
10 1.000026 exit_group(0)          = ?
10 1.000027 +++ exited with 0 +++
";

#[test]
fn a_family_of_processes_by_hand() {
    let (report, out) = convert(FAMILY.as_bytes(), &rooted()).unwrap();
    let (start, pass) = parts(&out);
    let expected_start = [
        "PREPARE",
        "Mkdir \"/clients\" *",
        "Mkdir \"~\" *",
        "open \"~/log\" O_WRONLY|O_CREAT|O_TRUNC 0640 1 NT_STATUS_OK",
        "WriteX 1 0 300 300 NT_STATUS_OK",
        "Close 1 NT_STATUS_OK",
        "mkdirat \"~/sub\" 0755 *",
        "END",
        // Again in each pass: the rename took the file elsewhere.
        "Deltree \"~/sub/old\" *",
        "Deltree \"~/log\" *",
        "open \"~/log\" O_WRONLY|O_CREAT|O_TRUNC 0640 1 NT_STATUS_OK",
        "WriteX 1 0 300 300 NT_STATUS_OK",
        "Close 1 NT_STATUS_OK",
    ];
    assert_eq!(start, expected_start);
    let expected = [
        "open \"~/log\" O_RDWR|O_CLOEXEC 0000 1 NT_STATUS_OK",
        "fstat 1 NT_STATUS_OK",
        "ReadX 1 0 100 100 NT_STATUS_OK",
        "ReadX 1 100 100 100 NT_STATUS_OK",
        "open \"~/sub/new\" O_WRONLY|O_CREAT|O_APPEND 0644 2 NT_STATUS_OK",
        "WriteX 2 0 7 7 NT_STATUS_OK",
        "access \"~/none\" F_OK ENOENT",
        "ReadX 1 200 200 100 NT_STATUS_OK",
        "unlinkat \"~/sub/new\" 0 NT_STATUS_OK",
        "WriteX 2 7 3 3 NT_STATUS_OK",
        "Close 2 NT_STATUS_OK",
        "renameat2 \"~/log\" \"~/sub/old\" 0 NT_STATUS_OK",
        "fstat 1 NT_STATUS_OK",
        "Close 1 NT_STATUS_OK",
    ];
    assert_eq!(pass, expected);
    // Two of these lines are of ends of processes.
    assert_eq!((report.ops, report.tasks, report.files, report.dirs), (14, 2, 1, 1));
    let lines = report.lines;
    assert_eq!((lines.lines, lines.calls, lines.split), (27, 21, 2));
    assert_eq!((lines.unfinished, lines.other, lines.unknown), (0, 3, 1));
    let complaint = &report.complaints[0];
    assert_eq!((complaint.line, complaint.column), (21, 13));
    let total = report.total();
    // vfork, chdir and the first close go into others; 2 execve, exit, the pipe and /etc are elsewhere.
    assert_eq!((total.calls(), total.played, total.folded), (21, 12, 3));
    assert_eq!((total.outside, total.dropped, total.failed, total.order), (5, 1, 0, 0));
}

#[test]
fn names_can_be_hidden() {
    let wish = Wish { hide_names: true, ..rooted() };
    let (_, out) = convert(FAMILY.as_bytes(), &wish).unwrap();
    let text = String::from_utf8(out).unwrap();
    for name in ["log", "sub", "new", "old", "none"] {
        assert!(!text.contains(&format!("/{name}")), "{name}");
    }
    // As many components, as long as they were.
    assert!(
        text.contains("renameat2 \"/clients/client1/__0\" \"/clients/client1/__1/__"),
        "{text}"
    );
    assert!(text.contains("access \"/clients/client1/___") && text.contains(" F_OK ENOENT"));
}

#[test]
fn what_is_no_recording_is_said_to_be_none() {
    let none = convert(b"hello\nworld\n", &rooted()).unwrap_err();
    assert!(none.to_string().contains("no system call"), "{none}");
    let elsewhere = Wish { root: Some(b"/other".to_vec()), ..Wish::default() };
    let elsewhere = convert(FAMILY.as_bytes(), &elsewhere).unwrap_err();
    assert!(elsewhere.to_string().contains("of the 21 calls"), "{elsewhere}");
    let unknown = convert(b"10 close(3) = 0\n", &Wish::default()).unwrap_err();
    assert!(unknown.to_string().contains("--root"), "{unknown}");
}

/// As `find` sees the trees of the program and of the replays; see the script.
fn prove(name: &str, tool: &str) {
    or_skip!(run("strace", &["-V"]));
    or_skip!(run(tool, &["--version"]));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/prove-import");
    let mut command = Command::new(script);
    command.env("JBODBENCH", env!("CARGO_BIN_EXE_jbodbench")).args(["-p", "2", name]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.lines().last().unwrap().ends_with("0  equal"), "{said}");
}

#[test]
fn tar_leaves_the_same_tree() {
    prove("tar", "tar");
}

#[test]
fn cp_leaves_the_same_tree() {
    prove("cp", "cp");
}

#[test]
fn a_shell_script_leaves_the_same_tree() {
    prove("shell", "sed");
}

#[test]
fn git_leaves_the_same_tree() {
    prove("git", "git");
}

#[test]
fn sqlite_leaves_the_same_tree() {
    prove("sqlite", "sqlite3");
}

#[test]
fn make_leaves_the_same_tree() {
    prove("make", "make");
}

/// Where the file systems differ: one keeps its names in memory, one in blocks on a device.
#[test]
fn every_recording_leaves_the_same_tree_on_tmpfs_and_ext4() {
    let names = ["tar", "git", "cp", "cargo", "sqlite", "make"];
    for tool in ["strace", "tar", "git", "cargo", "sqlite3", "make", "cc"] {
        or_skip!(run(tool, &[if tool == "strace" { "-V" } else { "--version" }]));
    }
    let memory = or_skip!(TmpFs::new("256m"));
    let device = or_skip!(LoopFs::in_memory("ext4", 256));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/prove-import");
    let mut command = Command::new(script);
    command.env("JBODBENCH", env!("CARGO_BIN_EXE_jbodbench")).args(["-p", "2"]);
    command.arg("-d").arg(memory.path()).arg("-d").arg(device.path()).args(names);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let mut lines = said.lines().skip(1);
    for name in names {
        let line = lines.next().unwrap();
        assert!(line.starts_with(name) && line.ends_with(" 0  equal"), "{said}");
    }
}

/// What the command says, and that it takes nothing away.
#[test]
fn the_command_writes_new_files_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("r.strace"), FAMILY).unwrap();
    let import = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jbodbench"));
        let output = command.args(["import", "strace"]).args(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), said)
    };
    let (code, text, said) = import(&[&path("r.strace"), "--root", "/r"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("r.strace:21:13: not understood: 10 1.000021 what is this"), "{said}");
    assert!(said.contains("         1  the language has no word for the call"), "{said}");
    let (code, _, said) = import(&[&path("r.strace"), "--root", "/r", "-o", &path("a.load.gz")]);
    assert_eq!(code, Some(0), "{said}");
    let packed = std::fs::read(path("a.load.gz")).unwrap();
    let load = |bytes: &[u8]| parse_bytes("a", bytes, &Options::default()).unwrap().program.sha256;
    assert_eq!(load(&packed), load(text.as_bytes()));
    let (code, _, said) = import(&[&path("r.strace"), "--root", "/r", "-o", &path("a.load.gz")]);
    assert_eq!(code, Some(2), "{said}");
    assert_eq!(std::fs::read(path("a.load.gz")).unwrap(), packed);
    let (code, _, said) = import(&[&path("none"), "-o", &path("b")]);
    assert!(code == Some(2) && said.contains("none: No such file"), "{said}");
    std::fs::write(path("c.strace"), "nothing\n").unwrap();
    let (code, _, said) = import(&[&path("c.strace"), "-o", &path("c")]);
    assert!(code == Some(2) && said.contains("c.strace:1:1: not understood"), "{said}");
    // Neither a half load nor anything else is left.
    let mut names: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.load.gz", "c.strace", "r.strace"]);
}

/// A file for each process says the same as one for all.
#[test]
fn files_of_single_processes_are_put_in_order() {
    let whole = "10 1.0 openat(AT_FDCWD</r>, \"a\", O_RDONLY) = 3</r/a> <0.1>\n\
                 10 2.0 clone(child_stack=NULL, flags=SIGCHLD) = 11 <9.0>\n\
                 11 3.0 read(3</r/a>, \"\"..., 5) = 5 <1.0>\n10 11.5 close(3</r/a>) = 0 <0.1>\n";
    let of = |pid: &str| -> String {
        let lines = whole.lines().filter_map(|line| line.strip_prefix(pid));
        lines.map(|line| format!("{}\n", line.trim_start())).collect()
    };
    let files = vec![(11, of("11").into_bytes()), (10, of("10").into_bytes())];
    let mut out = Vec::new();
    let mut spool = Cursor::new(Vec::new());
    import(&mut Source::Each(files), &rooted(), &mut spool, &mut out).unwrap();
    let (_, one) = convert(whole.as_bytes(), &rooted()).unwrap();
    assert_eq!(out, one);
    let untimed = Source::Each(vec![(1, b"close(3) = 0\n".to_vec())]);
    let mut untimed = untimed;
    let error = import(&mut untimed, &rooted(), &mut Cursor::new(Vec::new()), &mut Vec::new());
    assert!(error.unwrap_err().to_string().contains("-ttt"));
}

#[test]
fn a_reader_that_fails_is_an_error() {
    let mut source = Source::One(Box::new(|| Err(io::Error::other("gone"))));
    let made = import(&mut source, &rooted(), &mut Cursor::new(Vec::new()), &mut Vec::new());
    assert!(matches!(made, Err(ImportError::Read(why)) if why.to_string().contains("gone")));
}

/// It is the load that is named then, not the recording.
#[test]
fn a_full_disk_is_an_error_of_the_load() {
    let dir = tempfile::tempdir().unwrap();
    let recording = dir.path().join("r.strace");
    std::fs::write(&recording, FAMILY).unwrap();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_jbodbench"));
    command.args(["import", "strace", "--root", "/r"]).arg(&recording).stdout(full);
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("cannot write the load: No space left"), "{said}");
    assert!(!said.contains("r.strace"), "{said}");
}

/// Calls as strace writes them, to be put in any order.
const CALLS: &str = "\
openat(AT_FDCWD</r>, \"a\", O_RDWR|O_CREAT, 0644) = 3</r/a>
openat(AT_FDCWD</r>, \"a/b\", O_RDWR|O_CREAT|O_EXCL, 0644) = 4</r/a/b>
openat(AT_FDCWD</r>, \"b\", O_RDONLY|O_DIRECTORY) = 4</r/c>
openat(AT_FDCWD</r>, \"a\", O_RDONLY) = -1 ENOENT (No such file or directory)
open(\"b/../c\\n\\\"\\\\\", O_WRONLY|O_TRUNC) = 3
read(3</r/a>, \"\"..., 9000000000000000000) = 9000000000000000000
read(3, \"\"..., 100) = 7
pwrite64(4</r/a/b>, \"\"..., 100, 9223372036854775807) = 100
pread64(3</r/a>, \"\"..., 100, -5) = 3
write(3</r/a>, \"\"..., 4) = 4
lseek(3</r/a>, 0, SEEK_END) = 9223372036854775807
mkdir(\"a\", 0777) = 0
mkdir(\"a/b\", 0777) = -1 EEXIST (File exists)
rmdir(\"a\") = 0
rmdir(\"/r\") = 0
unlink(\"a\") = 0
unlinkat(4</r/c>, \"../b\", 0) = 0
rename(\"a\", \"b\") = 0
rename(\"a\", \"a/b\") = 0
rename(\"/r\", \"/r/a\") = 0
renameat2(AT_FDCWD</r>, \"a\", AT_FDCWD</r>, \"b\", RENAME_EXCHANGE) = 0
link(\"a\", \"b\") = 0
symlink(\"a\", \"b\") = 0
symlink(\"../b\", \"a\") = 0
readlink(\"a\", \"\"..., 100) = 5
stat(\"a\", {st_mode=S_IFDIR|0755, st_size=4096, ...}) = 0
lstat(\"b\", {st_mode=S_IFLNK|0777, st_size=1, ...}) = 0
stat(\"a/b/client1\", {st_mode=S_IFREG|0644, st_size=9223372036854775807, ...}) = 0
stat(\"a/b\", 0x7f) = -1 ENOTDIR (Not a directory)
chdir(\"a\") = 0
fchdir(4) = 0
dup2(3</r/a>, 4</r/c>) = 4</r/a>
dup2(9, 3) = 3
close(3) = 0
close_range(0, 4294967295, 0) = 0
clone(child_stack=NULL, flags=CLONE_FILES|CLONE_FS) = 11
vfork( <unfinished ...>
<... vfork resumed>) = 11
clone3({flags=CLONE_VM}, 88) = 10
execve(\"a\", [\"a\"], 0x7f /* 3 vars */) = 0
ftruncate(3</r/a>, -5) = 0
ftruncate(3</r/a>, 9223372036854775807) = 0
fallocate(4, 0, 9223372036854775807, 9223372036854775807) = 0
copy_file_range(3</r/a>, NULL, 4</r/b>, NULL, 5000000, 0) = 3000000
sendfile(4</r/b>, 3</r/a>, NULL, 5) = 5
fcntl(3</r/a>, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=5, l_len=0}) = 0
getdents64(4</r/c>, 0x5 /* 3 entries */, 32768) = 96
unshare(CLONE_FILES) = 0
mknod(\"b\", S_IFIFO|0644) = 0
+++ exited with 0 +++
+++ superseded by execve in pid 10 +++";

fn check(text: &[u8]) {
    for hide_names in [false, true] {
        let Ok((report, out)) = convert(text, &Wish { hide_names, ..rooted() }) else { continue };
        // Every call is in exactly one column, and the load can be read.
        assert_eq!(report.total().calls(), report.lines.calls);
        let Ok(loaded) = parse_bytes("t", &out, &Options::default()) else {
            panic!("{}", String::from_utf8_lossy(&out));
        };
        assert_eq!(loaded.skipped_lines, 0);
    }
}

proptest! {
    #![proptest_config(common::props::config(400))]

    #[test]
    fn calls_in_any_order_make_a_load(
        picks in proptest::collection::vec((10_u32..13, 0..CALLS.lines().count()), 1..60)
    ) {
        let lines: Vec<&str> = CALLS.lines().collect();
        let text: String =
            picks.iter().map(|(pid, at)| format!("{pid} 1.5 {}\n", lines[*at])).collect();
        check(text.as_bytes());
    }

    #[test]
    fn damaged_recordings_do_no_harm(
        cuts in proptest::collection::vec((0..FAMILY.len(), any::<u8>(), 0_usize..3), 1..30)
    ) {
        let mut text = FAMILY.as_bytes().to_vec();
        for (at, byte, how) in cuts {
            let at = at.min(text.len().saturating_sub(1));
            match how {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                _ => { text.remove(at); }
            }
        }
        check(&text);
    }

    #[test]
    fn any_bytes_do_no_harm(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&text);
    }
}
