//! `--profile`: perf names what makes cells differ, or says why it cannot.

use std::fs;
use std::time::Duration;

use crate::common::tool::{Running, Table, assert_clean, temp_disk};
use crate::common::{LoopFs, need_root, or_skip, run, skip};
use crate::{command, matrix, runs};

const SHORT: &str = "-l small -t 50ms --warmup 0 --interval 0 -c 1 --idle 0";

/// Whether perf may look at the kernel here.
fn need_perf() -> Result<(), String> {
    need_root()?;
    let data = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
    let path = data.path().to_string_lossy().into_owned();
    run("perf", &["record", "-q", "-e", "cycles", "-o", &path, "true"]).map(drop)
}

/// Somebody who owns none of the directories, whose ACLs have 16 entries before the one for him:
/// the kernel goes through them in posix_acl_permission(), for each directory of the path.
#[test]
fn acl_entries_are_scanned_by_the_function_that_does_so() {
    or_skip!(need_perf());
    let disk = or_skip!(LoopFs::new("ext4", 64));
    let (path, dir) = (disk.path(), temp_disk());
    let file = dir.path().join("r.csv");
    // Passes, not a time: on a busy machine samples come more slowly, but as many.
    let arguments = format!(
        "--profile --vary dir-acl=0,16 --as nobody --depth 14 -l pathwalk -c 1 --blocks 1 --passes 5 \
         --warmup 0 --interval 100ms --idle 0 -o {}",
        file.display()
    );
    let running = Running::start(command(&arguments, &[&path]));
    let finished = running.finish_within(Duration::from_secs(120)).expect(0);
    let table = Table::read(&file);
    assert_eq!(runs(&table).len(), 2, "what runs under perf is not measured\n{finished}");
    let profile = table.of("profile");
    assert!((2..=20).contains(&profile.len()) && profile.len().is_multiple_of(2), "{finished}");
    // Inlined, it is part of one of its callers.
    let callers = ["posix_acl_permission", "generic_permission", "inode_permission"];
    assert!(callers.contains(&profile[0].text("function")), "{finished}");
    let cells: Vec<&str> = profile[..2].iter().map(|row| row.text("cell")).collect();
    assert_eq!(cells, ["dir-acl=0", "dir-acl=16"]);
    assert!(profile[0].float("self_per_op") < profile[1].float("self_per_op"), "{finished}");
    assert!(profile.iter().all(|row| !row.text("profile_event").is_empty()));
    // Two columns of numbers after each stack, and the function at the end of some.
    let folded = dir.path().join("r.csv.cell2.folded");
    assert_eq!(profile[1].text("folded"), folded.to_str().unwrap());
    let text = fs::read_to_string(&folded).unwrap();
    for line in text.lines() {
        let columns: Vec<&str> = line.rsplitn(3, ' ').collect();
        assert!(
            columns.len() == 3 && columns[..2].iter().all(|n| n.parse::<u64>().is_ok()),
            "{line}"
        );
    }
    let scan = |line: &&str| line.contains(&format!("{}_[k] ", profile[0].text("function")));
    assert!(text.lines().any(|line| scan(&line)), "{text}");
    assert_clean(&[&path]);
}

/// What is in the file is as without, and nothing is left to be done after an interruption.
#[test]
fn without_perf_it_says_so_and_goes_on() {
    let (disk, none) = (temp_disk(), temp_disk());
    let mut command =
        command(&format!("--profile --vary depth=0,1 --blocks 2 {SHORT}"), &[disk.path()]);
    command.env("PATH", none.path());
    let finished = Running::start(command).finish().expect(0);
    finished.says("no profile: there is no perf in PATH");
    let table = finished.table();
    assert_eq!((runs(&table).len(), table.of("profile").len()), (4, 0));
    assert_clean(&[disk.path()]);
    matrix(&format!("--profile --vary kernel=1 --blocks 2 {SHORT}"), &[disk.path()])
        .expect(2)
        .says("it says what differs between cells");
}
