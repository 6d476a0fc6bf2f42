//! The command line: what is wrong with it, and its help.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::common::tool::{Finished, Running, jbodbench, label, temp_disk};

fn try_run(arguments: &[&str]) -> Finished {
    Running::start(jbodbench(arguments)).finish()
}

#[test]
fn wrong_arguments_exit_2_and_make_nothing() {
    let disk = temp_disk();
    let path = label(disk.path());
    let before = fs::metadata(path).unwrap();
    for arguments in [
        "--nope",
        "--clients 0",
        "--clients x",
        "--time 0",
        "--time -1",
        "--time 5x",
        "--passes 0",
        "--rate 0",
        "--rate -5",
        "--rate nan",
        "--timestamps fast",
        "--timestamps 0",
        "--load-for x",
        "--load-for /nowhere=x.load",
        "--loadfile /nowhere/x.load",
        "--append",
        "--format xml",
        "--engine warp",
        "--data ones",
        "--path relative",
        "--depth 201",
        "--share everything",
        "--cpus 5-2",
        "--cpus x",
        "--interval 1ns",
        "--progress loud",
    ] {
        let mut all = vec!["run"];
        all.extend(arguments.split_whitespace());
        all.push(path);
        let finished = try_run(&all);
        assert_eq!(finished.code, 2, "{arguments}: {finished}");
        assert_eq!(finished.stdout, "", "{arguments}");
        assert!(!finished.stderr.is_empty(), "{arguments}");
        assert!(!finished.stderr.contains("panicked"), "{arguments}: {finished}");
    }
    let after = fs::metadata(path).unwrap();
    assert_eq!((before.mtime(), before.mtime_nsec()), (after.mtime(), after.mtime_nsec()));
    let out = disk.path().join("out.json");
    let json = ["run", "--append", "--format", "json", "-o", label(&out), path];
    try_run(&json).expect(2).says("CSV only");
    assert_eq!(fs::read_dir(path).unwrap().count(), 0);
    assert_eq!(try_run(&[]).code, 2);
    assert_eq!(try_run(&["fly"]).code, 2);
    assert_eq!(try_run(&["check", "/nowhere"]).code, 2);
}

#[test]
fn short_help_is_short_and_long_help_has_examples() {
    let options = |text: &str| {
        // Wrapped lines stand further right.
        let begins = |line: &&str| line.starts_with("  -") || line.starts_with("      --");
        text.lines().filter(begins).filter(|line| !line.contains("--help")).count()
    };
    let short = try_run(&["run", "-h"]).expect(0);
    let long = try_run(&["run", "--help"]).expect(0);
    assert!(options(&short.stdout) <= 15, "{}", short.stdout);
    assert!(options(&long.stdout) > options(&short.stdout));
    for help in [short, long] {
        assert!(help.stdout.contains("Examples:\n  jbodbench run "), "{}", help.stdout);
        assert_eq!(help.stderr, "");
    }
    let version = try_run(&["--version"]).expect(0);
    assert_eq!(version.stdout.trim(), format!("jbodbench {}", env!("CARGO_PKG_VERSION")));
}
