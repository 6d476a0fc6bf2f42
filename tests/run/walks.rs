//! How the kernel walks to what the load names: which paths are asked about, and when.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use crate::common::tool::{
    BINARY, Running, assert_clean, jbodbench, label, run_dir, run_on, wait_for,
};
use crate::common::{LoopFs, TmpFs, or_skip, run, skip};

const LOAD: &str = "PREPARE\n\
    Mkdir \"\\clients\" NT_STATUS_OK\n\
    Mkdir \"\\clients\\client1\" NT_STATUS_OK\n\
    NTCreateX \"\\clients\\client1\\a\" 0x40 2 1 NT_STATUS_OK\n\
    END\n\
    QUERY_PATH_INFORMATION \"\\clients\\client1\\a\" 1004 NT_STATUS_OK\n\
    QUERY_PATH_INFORMATION \"\\clients\\client1\\no\\such\\file\" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND\n\
    FIND_FIRST \"\\clients\\client1\\*\" 259 10 10 NT_STATUS_OK\n";

/// Paths behind the clients' directory that strace saw asked about, and how often; and whether all
/// were relative.
fn asked(disk: &Path, arguments: &str) -> Result<(BTreeMap<String, u32>, bool), String> {
    let files = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (load, trace) = (files.path().join("walk.load"), files.path().join("trace"));
    fs::write(&load, LOAD).unwrap();
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-s", "500", "-e", "trace=openat2", "-o"]).arg(&trace);
    command.arg(BINARY).args(["run", "-c", "2", "--passes", "1", "--as", "4000:4001", "-l"]);
    command.arg(&load).args(arguments.split_whitespace()).arg(disk);
    run("strace", &["-V"])?;
    Running::start(command).finish().expect(0);
    let (mut found, mut relative) = (BTreeMap::new(), true);
    for line in fs::read_to_string(trace).unwrap().lines() {
        if !line.contains("O_PATH") || !line.contains("RESOLVE_CACHED") {
            continue;
        }
        let path = line.split('"').nth(1).unwrap();
        relative &= path.starts_with('.');
        let tail = path.strip_prefix("./").or(path.split_once("/c/").map(|(_, tail)| tail));
        *found.entry(tail.unwrap().to_owned()).or_default() += 1;
    }
    Ok((found, relative))
}

/// Each of the load's paths once before and once after the window, for each client; what is not there
/// counts by the directory above it.
#[test]
fn the_loads_own_paths_are_asked_about() {
    let disk = or_skip!(TmpFs::new("64m"));
    let names =
        ["clients", "clients/client0", "clients/client0/a", "clients/client1", "clients/client1/a"];
    for engine in ["sync", "hybrid", "uring"] {
        for path in ["absolute", "cwd", "dirfd"] {
            let arguments = format!("--engine {engine} --path {path} --threads-per-disk 1");
            let arguments = match engine {
                "sync" => format!("--engine sync --path {path}"),
                _ => arguments,
            };
            let (found, relative) = or_skip!(asked(&disk.path(), &arguments));
            // Two threads both ask about the directory that they share.
            let times = |name: &str| {
                if engine == "sync" && name == "clients" { 4 } else { 2 }
            };
            let expected: BTreeMap<String, u32> =
                names.map(|name| (name.to_owned(), times(name))).into();
            assert_eq!(found, expected, "{engine} {path}");
            assert_eq!(relative, path != "absolute", "{engine} {path}");
        }
    }
    assert_clean(&[&disk.path()]);
}

/// Asked of the kernel by other code than ours: whether it would have to leave RCU mode for a stranger,
/// with what it has in memory now, but for the way to the second path, which is looked at first.
const ASK: &str = "
import ctypes, os, sys
os.setgroups([]); os.setgid(5000); os.setuid(5000)
os.stat(sys.argv[2])
class How(ctypes.Structure):
    _fields_ = [('flags', ctypes.c_uint64), ('mode', ctypes.c_uint64), ('resolve', ctypes.c_uint64)]
how = How(os.O_PATH, 0, 0x20)
libc = ctypes.CDLL(None, use_errno=True)
fd = libc.syscall(437, -100, os.fsencode(sys.argv[1]), ctypes.byref(how), ctypes.sizeof(how))
print('cached' if fd >= 0 else os.strerror(ctypes.get_errno()))
";

/// While a load of their owner runs, which brings no ACL into memory: does a stranger find them there?
fn stranger_finds(disk: &Path, arguments: &str) -> Result<String, String> {
    let mut command = jbodbench(["run", "-t", "10m", "-c", "1", "--warmup", "0", "--depth", "3"]);
    command.args(["--as", "root", "--dir-owner", "root"]);
    command.args(arguments.split_whitespace()).arg(disk);
    let running = Running::start(command);
    // Whoever looks at the directories before the threads are there brings their names in.
    let tasks = format!("/proc/{}/task", running.worker());
    wait_for("the clients", || {
        let comm = |task: fs::DirEntry| fs::read_to_string(task.path().join("comm")).ok();
        let mut names = fs::read_dir(&tasks).ok()?.flatten().filter_map(comm);
        names.any(|name| name.starts_with("disk0-t")).then_some(())
    });
    // The owner's walk brings in the names, and no ACL.
    let dirs = run_dir(disk).unwrap().join("d1/d2/d3");
    wait_for("the load", || fs::metadata(dirs.join("c/clients/client0")).ok());
    let (top, dirs) = (run_dir(disk).unwrap().join("."), dirs.join("."));
    let answer = run("python3", &["-c", ASK, label(&dirs), label(&top)]);
    running.signal(Signal::INT);
    let table = running.finish().expect(130).table();
    let row = table.summary(label(disk), "all");
    let cache = if arguments.contains("cold") { "cold" } else { "warm" };
    let word = (cache, if arguments.contains("--drop-caches") { "1" } else { "0" });
    assert_eq!((row.text("acl_cache"), row.text("drop_caches")), word);
    assert_eq!((row.int("errors"), row.text("relation"), row.int("depth")), (0, "owner", 3));
    assert_clean(&[disk]);
    answer
}

/// Only this test drops caches: beside it none that wants warm ones may run. All in one, therefore.
#[test]
fn cold_is_cold_or_refused() {
    const COLD: &str = "--acl-cache cold --drop-caches";
    let ext4 = or_skip!(LoopFs::new("ext4", 128));
    assert_eq!(or_skip!(stranger_finds(&ext4.path(), "")).trim(), "cached");
    let found = or_skip!(stranger_finds(&ext4.path(), COLD));
    assert_eq!(found.trim(), "Resource temporarily unavailable");
    // The same steps, and warm again: the other cell of a matrix.
    let found = or_skip!(stranger_finds(&ext4.path(), "--acl-cache warm --drop-caches"));
    assert_eq!(found.trim(), "cached");

    // As somebody else, by every engine: that nobody is root is proved beside the way.
    for engine in ["sync", "hybrid", "uring"] {
        let arguments = format!("{COLD} --as nobody --passes 1 -c 3 --engine {engine} --dir-acl 2");
        let finished = run_on(&arguments, &[&ext4.path()]).expect(0);
        finished.says("for the whole machine");
        let table = finished.table();
        let row = table.summary(label(&ext4.path()), "all");
        assert_eq!((row.int("uid"), row.int("errors"), row.int("acl_entries")), (65_534, 0, 2));
        assert!(row.float("walk_rcu") > 0.0);
    }

    let refused = |disk: &Path, why: &str| {
        run_on(&format!("{COLD} -t 1s"), &[disk]).expect(3).says(why);
        assert_clean(&[disk]);
    };
    refused(&or_skip!(TmpFs::new("64m")).path(), "tmpfs keeps its directories in memory");
    refused(&or_skip!(LoopFs::new("btrfs", 128)).path(), "btrfs knows the ACLs");

    let only = |arguments: &str, code: i32, why: &str| {
        run_on(arguments, &[&ext4.path()]).expect(code).says(why);
        assert_clean(&[&ext4.path()]);
    };
    only("--acl-cache cold -t 1s", 3, "add --drop-caches");
    only("--drop-caches -t 1s", 2, "--acl-cache");
    only(&format!("{COLD} --path cwd -t 1s"), 2, "only absolute paths");
    only(&format!("{COLD} --depth 0 -t 1s"), 2, "--depth 1 or more");
}
