//! What client threads share, and where they run.

use std::fs;

use crate::common::tool::{
    Running, assert_clean, jbodbench, loadfile, temp_disk, wait_for, wait_for_load,
};

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
