//! One contract, three engines: the same loads do the same on each of them, on every file system.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{LoopFs, OverlayFs, TmpFs, or_skip, skip};

const ENGINES: [&str; 3] = ["sync", "uring", "hybrid"];

/// What a run did: by operation its counts, and by operation and error how often.
#[derive(Debug, Default, PartialEq, Eq)]
struct Deeds {
    counts: BTreeMap<String, [String; 4]>,
    errors: BTreeMap<(String, String), String>,
}

/// A finished run.
struct Run {
    deeds: Deeds,
    /// The summary row of its disk, by column.
    summary: BTreeMap<String, String>,
    code: Option<i32>,
    said: String,
}

fn command(dir: &Path, engine: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_jbodbench"));
    command
        .arg("run")
        .arg(dir)
        .args(["--engine", engine, "--format", "csv", "--interval", "0", "--progress", "none"])
        .args(arguments);
    command
}

fn jbodbench(dir: &Path, engine: &str, arguments: &[&str]) -> Run {
    finish(dir, &mut command(dir, engine, arguments))
}

fn finish(dir: &Path, command: &mut Command) -> Run {
    let output = command.output().unwrap();
    let mut run = Run {
        deeds: Deeds::default(),
        summary: BTreeMap::new(),
        code: output.status.code(),
        said: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    let disk = dir.to_str().unwrap();
    for row in csv::Reader::from_reader(output.stdout.as_slice()).deserialize() {
        let row: BTreeMap<String, String> = row.unwrap();
        if row["disk"] != disk {
            continue;
        }
        let op = row["op"].clone();
        match (row["row"].as_str(), row["status"].as_str()) {
            ("summary", _) => {
                let counts = ["ops", "errors", "skipped", "bytes"].map(|name| row[name].clone());
                run.deeds.counts.insert(op.clone(), counts);
                if op == "all" {
                    run.summary = row;
                }
            }
            ("error", "total") => {
                run.deeds.errors.insert((op, row["errno"].clone()), row["errors"].clone());
            }
            _ => {}
        }
    }
    run
}

/// Whether io_uring can be used here; the reason if not.
fn need_uring() -> Result<(), String> {
    jbodbench::engine::rings_are_usable(1, 1).map_err(|why| why.to_string())
}

/// The cases that are loadfiles, but for the one whose clients wait for each other for ever.
fn cases() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "load"))
        .filter(|path| !path.ends_with("waitsp.load"))
        .filter(|path| {
            let text = std::fs::read(path).unwrap();
            jbodbench::loadfile::parse_bytes("case", &text, &Default::default()).is_ok()
        })
        .collect();
    files.sort();
    files
}

/// Runs all cases, and the built-in load, on each engine, and compares.
fn conforms(dir: &Path, more: &[&str]) {
    let cases = cases();
    assert!(cases.len() > 15);
    let list: Vec<_> = cases.iter().map(|path| path.to_str().unwrap()).collect();
    let (list, clients) = (list.join(","), (2 * cases.len()).to_string());
    let all = ["-l", &list, "-c", &clients, "--passes", "1", "-t", "60s"];
    let built_in = ["-c", "5", "--passes", "1", "-t", "60s"];
    let walks = ["-l", "pathwalk,pathwalk-shared-dir,pathwalk-shared-file"];
    let walks = [walks.as_slice(), &built_in].concat();
    for load in [all.as_slice(), built_in.as_slice(), walks.as_slice()] {
        let arguments = [load, more].concat();
        let runs = ENGINES.map(|engine| jbodbench(dir, engine, &arguments));
        let [sync, others @ ..] = &runs;
        assert!(sync.deeds.counts["all"][0] != "0", "{}", sync.said);
        for (run, engine) in others.iter().zip(&ENGINES[1..]) {
            assert_eq!(run.summary["engine"], *engine);
            assert_eq!(run.deeds, sync.deeds, "{engine} {arguments:?}: {}", run.said);
            assert_eq!(run.code, sync.code, "{engine}: {}", run.said);
            assert!(!run.said.contains("internal error"), "{}", run.said);
        }
        if load != all.as_slice() {
            assert_eq!(sync.code, Some(0), "{}", sync.said);
        }
    }
    assert_eq!(
        std::fs::read_dir(dir).unwrap().count(),
        usize::from(dir.join("lost+found").exists())
    );
}

#[test]
fn tmpfs() {
    or_skip!(need_uring());
    let disk = or_skip!(TmpFs::new("512m"));
    conforms(&disk.path(), &[]);
    conforms(&disk.path(), &["--path", "dirfd"]);
}

#[test]
fn ext4() {
    or_skip!(need_uring());
    let disk = or_skip!(LoopFs::new("ext4", 512));
    conforms(&disk.path(), &[]);
    conforms(&disk.path(), &["--xattr", "--fsync", "--sync-dir", "--path", "cwd"]);
}

#[test]
fn xfs() {
    or_skip!(need_uring());
    let disk = or_skip!(LoopFs::new("xfs", 512));
    conforms(&disk.path(), &[]);
}

#[test]
fn btrfs() {
    or_skip!(need_uring());
    let disk = or_skip!(LoopFs::new("btrfs", 512));
    conforms(&disk.path(), &[]);
}

#[test]
fn overlay() {
    or_skip!(need_uring());
    let disk = or_skip!(OverlayFs::new());
    conforms(&disk.path(), &[]);
}

/// The end of the window ends sleeps and waits for another client that will never be there.
#[test]
fn waits_end_with_the_window() {
    or_skip!(need_uring());
    let disk = or_skip!(TmpFs::new("64m"));
    let load = disk.path().join("wait.load");
    let text = "Mkdir \"\\clients\" NT_STATUS_OK\nWAITSP 0 1\nSETSP 1\n";
    std::fs::write(&load, text).unwrap();
    let sleeps = disk.path().join("sleep.load");
    std::fs::write(&sleeps, "Mkdir \"\\clients\" NT_STATUS_OK\nSLEEP 60000000\n").unwrap();
    let list = format!("{},{}", load.display(), sleeps.display());
    let arguments = ["-l", &list, "-c", "6", "-t", "1s", "--warmup", "0"];
    for engine in ENGINES {
        let start = std::time::Instant::now();
        let run = jbodbench(&disk.path(), engine, &arguments);
        assert_eq!(run.code, Some(0), "{engine}: {}", run.said);
        assert_eq!(run.deeds.counts["Mkdir"][0], "6", "{engine}: {}", run.said);
        assert!(start.elapsed().as_secs() < 8, "{engine}");
    }
}

/// A client in a write to a frozen disk hangs; nobody waits for its thread, and the others' figures
/// are there.
#[test]
fn a_frozen_disk_hangs_alone() {
    or_skip!(need_uring());
    let ext4 = or_skip!(LoopFs::in_memory("ext4", 64));
    let memory = or_skip!(TmpFs::new("256m"));
    for engine in ["uring", "hybrid"] {
        let (frozen, good) = (ext4.path(), memory.path());
        let run = std::thread::spawn({
            let (frozen, good) = (frozen.clone(), good.display().to_string());
            move || {
                let times = ["-c", "4", "-t", "3s", "--warmup", "0", "--grace", "1s"];
                jbodbench(&frozen, engine, &[[good.as_str()].as_slice(), &times].concat())
            }
        });
        let works = || {
            let made = |entry: std::io::Result<std::fs::DirEntry>| {
                entry.is_ok_and(|entry| entry.path().join("clients/client3").exists())
            };
            std::fs::read_dir(&frozen).unwrap().any(made)
        };
        wait_for(works);
        let freeze = ext4.freeze().unwrap();
        // It comes back although the disk does not.
        let run = run.join().unwrap();
        drop(freeze);
        assert_eq!(run.summary["status"], "hung", "{engine}: {}", run.said);
        assert_eq!(run.code, Some(1), "{engine}: {}", run.said);
        // What it made is removed once it answers.
        wait_for(|| {
            let mut entries = std::fs::read_dir(&frozen).unwrap();
            entries.all(|entry| entry.unwrap().file_name() == "lost+found")
        });
    }
}

fn wait_for(what: impl Fn() -> bool) {
    for _ in 0..1000 {
        if what() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("waited in vain");
}

#[test]
fn threads_are_as_many_as_asked_for() {
    or_skip!(need_uring());
    let disk = or_skip!(TmpFs::new("64m"));
    let once = ["-c", "7", "--passes", "1"];
    let threads = |engine, more: &[&str]| {
        jbodbench(&disk.path(), engine, &[&once, more].concat()).summary["threads"].clone()
    };
    assert_eq!(threads("sync", &[]), "7");
    assert_eq!(threads("uring", &["--threads-per-disk", "3"]), "3");
    assert_eq!(threads("hybrid", &["--threads-per-disk", "100"]), "7");
    let refused = jbodbench(&disk.path(), "sync", &["--threads-per-disk", "3"]);
    assert_eq!(refused.code, Some(2));
    // As many completions as were given away, and never more than there was room for.
    let run = jbodbench(&disk.path(), "uring", &["-c", "7", "--passes", "1"]);
    assert!(run.said.contains("by the ring") && !run.said.contains("no room"), "{}", run.said);
    let one_each = jbodbench(&disk.path(), "hybrid", &["-c", "2", "--passes", "1"]);
    assert!(!one_each.said.contains("by the ring"), "no ring at all: {}", one_each.said);
}

/// Lets `io_uring_setup` fail with an errno in a command and all that it starts.
#[allow(unsafe_code)]
fn deny_uring(command: &mut Command, errno: i32) {
    use std::os::unix::process::CommandExt;
    let code =
        |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut filter = [
        code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0), // the number of the call
        code(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_io_uring_setup as u32),
        code(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | errno as u32),
        code(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let deny = move || {
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
        // SAFETY: two calls into the kernel, which reads `program` and keeps nothing of it.
        let results = unsafe {
            [
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
                libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program),
            ]
        };
        if results == [0, 0] { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec it only makes system calls.
    unsafe { command.pre_exec(deny) };
}

fn without_uring(errno: i32, name: &str, remedy: &str) {
    let disk = or_skip!(TmpFs::new("64m"));
    let dir = disk.path();
    let once = ["-c", "4", "--passes", "1", "--threads-per-disk", "2"];
    let run = |engine| {
        let mut command = command(&dir, engine, &once);
        deny_uring(&mut command, errno);
        finish(&dir, &mut command)
    };
    let hybrid = run("hybrid");
    assert_eq!(hybrid.code, Some(0), "{}", hybrid.said);
    assert!(hybrid.said.contains(name) && hybrid.said.contains(remedy), "{}", hybrid.said);
    let cell = |column: &str| hybrid.summary[column].as_str();
    assert_eq!((cell("engine"), cell("threads")), ("sync", "4"));
    assert!(cell("engine_fallback").starts_with(name), "{}", cell("engine_fallback"));
    let uring = run("uring");
    assert_eq!(uring.code, Some(3), "{}", uring.said);
    assert!(uring.said.contains(name) && uring.said.contains(remedy), "{}", uring.said);
    assert_eq!(std::fs::read_dir(dir).unwrap().count(), 0);
}

#[test]
fn a_container_without_uring() {
    without_uring(libc::EPERM, "EPERM", "seccomp");
}

#[test]
fn a_kernel_without_uring() {
    without_uring(libc::ENOSYS, "ENOSYS", "io_uring");
}

#[test]
fn no_memory_for_a_ring() {
    without_uring(libc::ENOMEM, "ENOMEM", "ulimit -l");
}

/// An ordinary user whose locked memory is limited: rings fit, or it is said before the start that
/// they do not.
#[test]
fn little_memory_for_rings() {
    or_skip!(need_uring());
    let disk = or_skip!(TmpFs::with_options("size=512m,mode=1777"));
    let dir = disk.path();
    std::fs::set_permissions(dir.parent().unwrap(), PermissionsExt::from_mode(0o755)).unwrap();
    let binary = dir.join("jbodbench");
    std::fs::copy(env!("CARGO_BIN_EXE_jbodbench"), &binary).unwrap();
    let run = |engine: &str, threads: &str| {
        let limited = format!(
            "ulimit -l 64; exec {} run {} --engine {engine} -c 64 --threads-per-disk {threads} \
             --passes 1 --format csv --interval 0 --progress none",
            binary.display(),
            dir.display()
        );
        let arguments = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "sh", "-c"];
        let mut command = Command::new("setpriv");
        finish(&dir, command.args(arguments).arg(limited))
    };
    let few = run("uring", "2");
    assert_eq!(few.code, Some(0), "{}", few.said);
    let many = run("uring", "32");
    assert_eq!(many.code, Some(3), "{}", many.said);
    assert!(many.said.contains("ulimit -l"), "{}", many.said);
    let hybrid = run("hybrid", "32");
    assert_eq!(hybrid.code, Some(0), "{}", hybrid.said);
    assert_eq!(hybrid.summary["engine"], "sync");
}

/// An engine whose call hangs on a frozen disk goes away without waiting for it, and leaves alone
/// what the kernel may still write to.
#[test]
fn an_engine_can_be_dropped_while_its_disk_hangs() {
    use jbodbench::engine::{
        Call, Control, Engine, PathSlot, SlotLayout, Step, UringEngine, now_ns,
    };
    or_skip!(need_uring());
    let disk = or_skip!(LoopFs::in_memory("ext4", 64));
    let frozen = disk.freeze().unwrap();
    let (sender, dropped) = std::sync::mpsc::channel();
    let prefix = disk.path().into_os_string().into_encoded_bytes();
    let thread = std::thread::spawn(move || {
        let control = Control::new(1);
        control.set_window(0, u64::MAX);
        let layout = SlotLayout { prefix, max_path: 16, ..SlotLayout::default() };
        let engine = UringEngine::new(&[layout.clone(), layout], &control).unwrap();
        engine.slot(0).first.push(b"/new");
        let make = Call::Mkdir { path: PathSlot::First, mode: 0o700 };
        assert_eq!(engine.start(0, make), Step::Pending);
        // Meanwhile a kernel worker begins with it: what has begun cannot be cancelled.
        let sleep = Call::Sleep { until_ns: now_ns() + 100_000_000 };
        assert_eq!(engine.start(1, sleep), Step::Pending);
        let mut ready = Vec::new();
        engine.reap(&mut ready);
        assert_eq!(ready, [1]);
        drop(engine);
        sender.send(()).unwrap();
    });
    // Only the end of the thread waits for the disk.
    dropped.recv_timeout(std::time::Duration::from_secs(5)).unwrap();
    drop(frozen);
    thread.join().unwrap();
}
