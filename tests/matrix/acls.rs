//! ACLs as factors: the same steps in all cells, and what is said of root.

use std::time::Duration;

use crate::common::tool::{BINARY, Running, Table, assert_clean};
use crate::common::{LoopFs, need_root, or_skip, run, skip};
use crate::{command, runs};

const SHORT: &str = "-l small -t 50ms --warmup 0 --interval 0 -c 1 --idle 0";

/// Cells whose ACLs are already as asked for are remounted all the same, as strace sees it: once
/// into the state, once back.
#[test]
fn every_run_is_remounted_if_one_is() {
    or_skip!(need_root());
    if run("strace", &["-V"]).is_err() {
        skip!("needs strace");
    }
    let disk = or_skip!(LoopFs::new("btrfs", 128));
    let path = disk.path();
    let log = tempfile::NamedTempFile::new().unwrap();
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("r.csv");
    let mut arguments = vec!["-f", "-o", log.path().to_str().unwrap(), "-e", "trace=fsconfig"];
    let words = format!("matrix --vary mount-acl=on,off,keep --blocks 2 {SHORT}");
    arguments.push(BINARY);
    arguments.extend(words.split(' '));
    arguments.extend(["-o", file.to_str().unwrap(), path.to_str().unwrap()]);
    or_skip!(run("strace", &arguments));
    let table = Table::read(&file);
    for run in runs(&table) {
        let disk = table
            .rows
            .iter()
            .find(|row| row.text("run_id") == run.text("run_id") && row.text("disk") != "all");
        let effective = disk.unwrap().text("acl_effective");
        assert_eq!(effective, if run.text("cell") == "mount-acl=off" { "0" } else { "1" });
    }
    let text = std::fs::read_to_string(log.path()).unwrap();
    let done = text.lines().filter(|line| {
        line.contains("FSCONFIG_CMD_RECONFIGURE") && line.trim_end().ends_with("= 0")
    });
    assert_eq!(done.count(), 2 * 6, "{text}");
    let options = run("findmnt", &["-n", "-o", "OPTIONS", path.to_str().unwrap()]).unwrap();
    assert!(!options.contains("noacl"), "{options}");
    assert_clean(&[&path]);
}

/// btrfs can switch ACLs off; ext4 cannot, and the factor is named for what it is there. No line
/// about a user stands without the relation.
#[test]
fn the_permission_preset() {
    or_skip!(need_root());
    for (fstype, size, factor) in [("btrfs", 128, "mount-acl"), ("ext4", 64, "dir-acl")] {
        let disk = or_skip!(LoopFs::new(fstype, size));
        let arguments = format!("--preset permission --blocks 2 {SHORT}");
        let running = Running::start(command(&arguments, &[&disk.path()]));
        let finished = running.finish_within(Duration::from_secs(180)).expect(0);
        let table = finished.table();
        assert_eq!(runs(&table).len(), 16, "{fstype}");
        let effects = table.of("effect");
        assert!(effects.iter().any(|row| row.text("factor") == factor), "{fstype}");
        let other = if factor == "dir-acl" { "mount-acl" } else { "dir-acl" };
        assert!(effects.iter().all(|row| row.text("factor") != other), "{fstype}");
        for row in effects.iter().filter(|row| row.text("effect") == "simple") {
            let held = row.text("held");
            assert!(held.contains("owner)") || held.contains("other)"), "{held}");
            let owner = held.contains("dir-owner=caller") && row.text("factor") != "dir-owner";
            assert_eq!(owner, held.ends_with("(owner)"), "{held}");
        }
        for row in table.of("summary").iter().filter(|row| row.text("disk") != "all") {
            let relation =
                if row.text("cell").contains("dir-owner=caller") { "owner" } else { "other" };
            assert_eq!((row.text("relation"), row.text("engine")), (relation, "sync"));
        }
        if factor == "dir-acl" {
            finished.says("the ACL factor is dir-acl, entries on the path against none");
        }
    }
}
