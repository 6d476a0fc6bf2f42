//! What client threads share, and where they run.

use std::fs;

use crate::common::tool::{
    BINARY, Running, assert_clean, jbodbench, label, loadfile, temp_disk, wait_for, wait_for_load,
};
use crate::common::{TmpFs, or_skip, run, skip};

/// Client threads have descriptor tables of their own, or one for the disk with `--share fd`.
#[test]
fn a_descriptor_table_can_be_shared() {
    let files = temp_disk();
    let load = loadfile(
        files.path(),
        "open.load",
        "NTCreateX \"\\clients\\client1\\a\" 0x40 2 7 NT_STATUS_OK\nSleep 600000000 NT_STATUS_OK",
    );
    for (share, open) in [("", 1), ("--share fd", 3), ("--share cred,fd,fs", 3)] {
        let disk = temp_disk();
        let mut command = jbodbench(["run", "-c", "3", "-t", "10m", "--warmup", "0"]);
        command
            .args(["--engine", "sync", "-l"])
            .arg(&load)
            .args(share.split_whitespace())
            .arg(disk.path());
        let running = Running::start(command);
        wait_for_load(disk.path());
        let worker = running.worker();
        let open_files = || -> Option<Vec<usize>> {
            let mut counts = Vec::new();
            for task in fs::read_dir(format!("/proc/{worker}/task")).ok()?.flatten() {
                if !fs::read_to_string(task.path().join("comm")).ok()?.starts_with("disk0-t") {
                    continue;
                }
                let links = fs::read_dir(task.path().join("fd")).ok()?.flatten();
                let links = links.filter_map(|file| fs::read_link(file.path()).ok());
                counts.push(links.filter(|path| path.starts_with(disk.path())).count());
            }
            Some(counts)
        };
        wait_for(share, || (open_files()? == vec![open; 3]).then_some(()));
        running.signal(rustix::process::Signal::TERM);
        let finished = running.finish().expect(143);
        let word = if share.is_empty() { "none" } else { &share[8..] };
        assert_eq!(finished.table().summary("all", "all").text("share"), word);
        assert_clean(&[disk.path()]);
    }
}

/// Says for each pair of threads whether the kernel has one object for both: kcmp(2).
const SAME: &str = "
import ctypes, itertools, sys
libc = ctypes.CDLL(None)
for kind in (2, 3):  # KCMP_FILES, KCMP_FS
    pairs = itertools.combinations(map(int, sys.argv[1:]), 2)
    print(*[int(libc.syscall(312, a, b, kind, 0, 0) == 0) for a, b in pairs])
";

/// What is shared is one object in the kernel, what is not is as many as there are threads. The
/// process's main thread shares neither with them.
#[test]
fn the_kernel_says_what_is_shared() {
    if !cfg!(target_arch = "x86_64") {
        return; // the number of kcmp above
    }
    for (share, files, fs_struct) in
        [("", "0 0 0", "0 0 0"), ("--share fd", "0 0 1", "0 0 0"), ("--share fs", "0 0 0", "0 0 1")]
    {
        let disk = temp_disk();
        let mut command = jbodbench(["run", "-c", "2", "-t", "10m", "--engine", "sync"]);
        command.args(share.split_whitespace()).arg(disk.path());
        let running = Running::start(command);
        wait_for_load(disk.path());
        let worker = running.worker();
        let mut threads = vec!["-c".to_owned(), SAME.to_owned(), worker.to_string()];
        for task in fs::read_dir(format!("/proc/{worker}/task")).unwrap().flatten() {
            if fs::read_to_string(task.path().join("comm")).unwrap().starts_with("disk0-t") {
                threads.push(task.file_name().into_string().unwrap());
            }
        }
        assert_eq!(threads.len(), 5);
        let threads: Vec<&str> = threads.iter().map(String::as_str).collect();
        let said = run("python3", &threads);
        running.signal(rustix::process::Signal::INT);
        running.finish().expect(130);
        assert_eq!(or_skip!(said), format!("{files}\n{fs_struct}\n"), "{share}");
    }
}

/// Who shares credentials is made somebody else once, for all; who does not, each for himself.
#[test]
fn shared_credentials_are_taken_once() {
    let disk = or_skip!(TmpFs::new("64m"));
    or_skip!(run("strace", &["-V"]));
    let place = tempfile::tempdir().unwrap();
    for (share, times) in [("", 3), ("--share cred", 1), ("--share cred,fd,fs", 1)] {
        for path in ["absolute", "cwd", "dirfd"] {
            let trace = place.path().join("trace");
            let mut command = std::process::Command::new("strace");
            command.args(["-f", "-qq", "-e", "trace=setgroups,setresuid", "-o"]).arg(&trace);
            command.arg(BINARY).args(["run", "-c", "3", "--passes", "1", "--engine", "sync"]);
            command.args(["--as", "4000:4001", "--path", path]).args(share.split_whitespace());
            let table = Running::start(command_on(command, &disk)).finish().expect(0).table();
            let row = table.summary("all", "all");
            assert_eq!(row.text("share"), if share.is_empty() { "none" } else { &share[8..] });
            assert_eq!(table.summary(label(&disk.path()), "all").int("uid"), 4000);
            let text = fs::read_to_string(&trace).unwrap();
            for call in ["setgroups(", "setresuid("] {
                assert_eq!(text.matches(call).count(), times, "{share} {path}: {text}");
            }
        }
    }
}

fn command_on(mut command: std::process::Command, disk: &TmpFs) -> std::process::Command {
    command.arg(disk.path());
    command
}

/// The affinity of client threads is what was asked for.
#[test]
fn clients_stay_on_their_cpus() {
    let disk = temp_disk();
    let mut command = jbodbench(["run", "-t", "10m", "-c", "2", "--cpus", "0"]);
    command.arg(disk.path());
    let running = Running::start(command);
    wait_for_load(disk.path());
    let worker = running.worker();
    let mut clients = 0;
    for task in fs::read_dir(format!("/proc/{worker}/task")).unwrap().flatten() {
        if fs::read_to_string(task.path().join("comm")).unwrap().starts_with("disk0-t") {
            let status = fs::read_to_string(task.path().join("status")).unwrap();
            let cpus = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:")).unwrap();
            assert_eq!(cpus.trim(), "0");
            clients += 1;
        }
    }
    assert_eq!(clients, 2);
    running.signal(rustix::process::Signal::INT);
    running.finish().expect(130);
}
