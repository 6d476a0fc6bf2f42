//! Small limits, as an ordinary user has them: a run works within them, or says what it needs.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::tool::{BINARY, Finished, Running, assert_clean, label, loadfile};
use crate::common::{TmpFs, or_skip, run, skip};

/// A file system that everybody may write to, with the binary and a few directories as disks; and
/// a user of this test alone, since locked memory counts by user.
struct Place {
    fs: TmpFs,
    user: u32,
}

impl Place {
    fn new(user: u32) -> Result<Self, String> {
        let fs = TmpFs::with_options("size=512m,mode=1777")?;
        run("setpriv", &["--version"])?;
        let dir = fs.path();
        fs::set_permissions(dir.parent().unwrap(), PermissionsExt::from_mode(0o755)).unwrap();
        fs::copy(BINARY, dir.join("jbodbench")).unwrap();
        Ok(Self { fs, user })
    }

    fn disks(&self, count: usize) -> Vec<PathBuf> {
        let disks: Vec<_> = (0..count).map(|n| self.fs.path().join(format!("d{n}"))).collect();
        for disk in &disks {
            if !disk.exists() {
                fs::create_dir(disk).unwrap();
                fs::set_permissions(disk, PermissionsExt::from_mode(0o1777)).unwrap();
            }
        }
        disks
    }

    fn load(&self, name: &str, lines: &str) -> PathBuf {
        loadfile(&self.fs.path(), name, lines)
    }

    /// `run` as that user, within limits as `ulimit` sets them.
    fn run(&self, limits: &str, arguments: &str, disks: &[PathBuf]) -> Finished {
        let disks: Vec<_> = disks.iter().map(|disk| label(disk)).collect();
        let binary = self.fs.path().join("jbodbench");
        let line = format!(
            "{limits}; exec {} run --progress none --interval 0 {arguments} {}",
            binary.display(),
            disks.join(" ")
        );
        let mut command = Command::new("setpriv");
        let user = self.user.to_string();
        command.args(["--reuid", &user, "--regid", &user, "--clear-groups", "bash", "-c", &line]);
        let finished = Running::start(command).finish();
        assert_clean(&disks.iter().map(Path::new).collect::<Vec<_>>());
        finished
    }
}

/// The number behind a text in the messages.
#[track_caller]
fn number_after(finished: &Finished, text: &str) -> u64 {
    let (_, rest) = finished.stderr.split_once(text).unwrap_or_else(|| panic!("{finished}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

const ENGINES: [&str; 3] = ["--engine sync", "--engine hybrid", "--engine uring"];

#[test]
fn a_small_run_fits_into_64_files_and_64_kib_of_locked_memory() {
    let place = or_skip!(Place::new(61_001));
    let one = ["--engine hybrid --threads-per-disk 1", "--engine uring --threads-per-disk 1"];
    for engine in ENGINES.iter().chain(&one) {
        for (disks, clients) in [(1, 5), (4, 4), (12, 2)] {
            let arguments = format!("--passes 1 -c {clients} {engine}");
            let disks = place.disks(disks);
            let finished = place.run("ulimit -n 64 -l 64", &arguments, &disks);
            let wanted = engine.split(' ').nth(1).unwrap();
            if finished.code == 3 {
                // A ring takes two pages at least: 64 KiB have room for 8 of them.
                assert!(wanted == "uring" && disks.len() > 1, "{arguments}: {finished}");
                finished.says("ulimit -l");
                continue;
            }
            let table = finished.expect(0).table();
            let all = table.summary("all", "all");
            assert_eq!(all.int("passes"), clients * disks.len() as u64, "{arguments}");
            if all.text("engine") != wanted {
                assert!(wanted == "hybrid" && disks.len() > 1, "{arguments}");
                assert!(all.text("engine_fallback").starts_with("ENOMEM"), "{arguments}");
            }
        }
    }
    let refused = place.run("ulimit -n 10", "--passes 1", &place.disks(1));
    refused.expect(3).says("`ulimit -n 64`");
}

/// What a refusal names is enough, and one less is not.
#[test]
fn the_number_of_files_that_is_asked_for_is_the_one_that_is_needed() {
    let place = or_skip!(Place::new(61_002));
    for engine in ENGINES {
        for disks in [1, 20] {
            let arguments = format!("--passes 1 -c 2 {engine}");
            let disks = place.disks(disks);
            let refused = place.run("ulimit -n 14", &arguments, &disks).expect(3);
            let need = number_after(&refused, "`ulimit -n ");
            assert!((15..100).contains(&need), "{refused}");
            place.run(&format!("ulimit -n {need}"), &arguments, &disks).expect(0);
            let less = place.run(&format!("ulimit -n {}", need - 1), &arguments, &disks);
            assert_eq!(number_after(&less.expect(3), "`ulimit -n "), need, "{engine}");
        }
    }
}

/// A tree is removed with the descriptors there are, by a client and at the end, however deep it is.
#[test]
fn deep_trees_are_removed_with_few_descriptors() {
    let place = or_skip!(Place::new(61_003));
    let mut lines = String::from("Deltree \"\\clients\\client1\\d\" NT_STATUS_OK\n");
    let mut path = String::from("\\clients\\client1");
    for _ in 0..30 {
        path.push_str("\\d");
        let _ = writeln!(lines, "Mkdir \"{path}\" NT_STATUS_OK");
    }
    let load = place.load("deep.load", &lines);
    let disks = place.disks(1);
    for engine in ENGINES {
        let arguments = format!("--passes 2 -c 2 -l {} {engine}", load.display());
        let refused = place.run("ulimit -n 13", &arguments, &disks).expect(3);
        let need = number_after(&refused, "`ulimit -n ");
        let finished = place.run(&format!("ulimit -n {need}"), &arguments, &disks).expect(0);
        assert_eq!(finished.table().ops()["Mkdir"], 2 * 2 * (1 + 30), "{engine}");
    }
}

/// 8 clients hold 20 files each at the same time: more than one table of 64 has room for.
#[test]
fn threads_are_enough_for_the_files_of_their_clients() {
    let place = or_skip!(Place::new(61_004));
    let mut lines = String::new();
    for handle in 10..30 {
        let file = format!("\\clients\\client1\\f{handle}");
        let _ = writeln!(lines, "NTCreateX \"{file}\" 0x40 2 {handle} NT_STATUS_OK");
    }
    // All have all of theirs open before one of them goes on.
    let _ = writeln!(lines, "Sleep 500000 NT_STATUS_OK");
    let load = place.load("handles.load", &lines);
    let disks = place.disks(1);
    for engine in ["hybrid", "uring"] {
        let arguments = format!("--passes 1 -c 8 -l {} --engine {engine}", load.display());
        let finished = place.run("ulimit -n 64", &arguments, &disks).expect(0);
        let table = finished.table();
        let all = table.summary("all", "all");
        assert_eq!((all.int("errors"), table.ops()["NTCreateX"]), (0, 8 * (20 + 1)));
        // Two clients with 40 files fit into a table, three with 60, a directory and a ring hardly.
        assert_eq!(all.int("threads"), 8 / 2, "{engine}");

        let one = format!("--threads-per-disk 1 {arguments}");
        let refused = place.run("ulimit -n 64", &one, &disks).expect(3);
        assert_eq!(number_after(&refused, "use --threads-per-disk "), 4);
        let need = number_after(&refused, "`ulimit -n ");
        assert!((8 * 20..8 * 23).contains(&need), "{refused}");
        place.run(&format!("ulimit -n {need}"), &one, &disks).expect(0);
    }
    // A thread per client needs no more than the files of one.
    let arguments = format!("--passes 1 -c 8 -l {} --engine sync", load.display());
    place.run("ulimit -n 64", &arguments, &disks).expect(0);
    // One table for all of them does.
    let refused = place.run("ulimit -n 64", &format!("{arguments} --share fd"), &disks).expect(3);
    assert!(number_after(&refused, "`ulimit -n ") > 8 * 20, "{refused}");
}
