//! The small loadfiles of tests/cases: each broke some dbench.

use super::super::check::check;
use super::super::load;
use super::super::program::{Action, Expect, OperandKind};
use super::*;
use crate::op::OpKind;

fn file(name: &str) -> Result<Loaded, LoadError> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/");
    load(Some(&std::path::Path::new(dir).join(name)), &Options::default())
}

fn program(name: &str) -> Program {
    file(name).unwrap_or_else(|error| panic!("{error}")).program
}

fn faults(name: &str) -> Vec<Diagnostic> {
    match file(name) {
        Err(LoadError::Lines(faults)) => faults.kept,
        other => panic!("{other:?}"),
    }
}

#[test]
fn loops_and_repeats() {
    let tail = |name| executed(&program(name)).split_off(3);
    let qfs = "QUERY_FS_INFORMATION";
    assert_eq!(tail("endloop.load"), [qfs, qfs, "NTCreateX", "Close"]);
    assert_eq!(tail("endloop2.load"), [qfs, qfs]);
    assert_eq!(tail("nested.load"), [qfs; 6]);
    assert_eq!(tail("rep1.load"), [qfs; 3]);
    let faults = faults("rep2.load");
    assert_eq!((faults.len(), faults[0].line, faults[0].column), (1, 5, 1));
}

#[test]
fn bad_strings_and_patterns_have_their_place() {
    for (name, place) in
        [("rsunb.load", (4, 18)), ("rsempty.load", (4, 18)), ("wpempty.load", (4, 13))]
    {
        let faults = faults(name);
        assert_eq!((faults.len(), faults[0].line, faults[0].column), (1, place.0, place.1));
    }
}

#[test]
fn line_ends_do_not_matter() {
    for name in ["nonl.load", "crlf.load"] {
        let program = program(name);
        assert!(program.insts.iter().all(|inst| inst.expect == Expect::Success), "{name}");
        assert_eq!(program.insts.len(), 6);
    }
}

#[test]
fn an_unquoted_path_is_absolute() {
    let program = program("unq.load");
    let Some(Action::Unlink { path: id }) = program.insts.last().map(|inst| inst.action) else {
        panic!();
    };
    assert_eq!(path(&program, id.0 as usize), "/clients/<c>/zz");
}

#[test]
fn a_dbench_1_file_is_named() {
    let faults = faults("v1.load");
    assert_eq!(faults.len(), 1);
    assert!(faults[0].message.contains("dbench 1"), "{}", faults[0].message);
}

#[test]
fn every_operation_is_there() {
    for (name, sleeps) in [("all4.load", 1), ("all5.load", 0)] {
        let program = program(name);
        // dbench's words come first.
        for &kind in &OpKind::ALL[..=OpKind::SetFile.index()] {
            assert!(program.has(kind), "{name} {kind}");
        }
        let pauses = program.insts.iter().filter(|i| matches!(i.action, Action::Pause { .. }));
        assert_eq!(pauses.count(), sleeps);
        let report = check(&program);
        assert_eq!((report.total_ops, report.write_bytes, report.read_bytes), (22, 4096, 100));
        assert_eq!((report.live_bytes_max, report.live_bytes_end), (4096, 0));
        assert_eq!((report.open_handles_max, report.open_handles_end), (1, 0));
    }
}

#[test]
fn large_offsets_stay_whole() {
    for (name, offset) in [("big.load", 1i64 << 31), ("big4.load", 1 << 32)] {
        let program = program(name);
        let write = program.insts.iter().find_map(|inst| match inst.action {
            Action::Write { offset, .. } => Some(offset.kind()),
            _ => None,
        });
        assert_eq!(write, Some(OperandKind::Literal(offset)));
        assert_eq!(check(&program).largest_file_bytes, offset as u64 + 1);
    }
}

#[test]
fn errors_are_expected_as_written() {
    let expects: Vec<_> = program("errs.load").insts.iter().map(|inst| inst.expect).collect();
    assert_eq!(expects.iter().filter(|e| **e == Expect::Failure).count(), 1);
    assert_eq!(expects[6], Expect::Failure);
    assert_eq!(check(&program("errs.load")).expected_failures, 1);
}

/// max.load opens 201 files beside the directory and closes none of them.
#[test]
fn many_handles() {
    let opens = include_str!("../../../tests/cases/max.load")
        .lines()
        .filter(|line| line.starts_with("NTCreateX") && line.contains("\\f"))
        .count() as u64;
    let report = check(&program("max.load"));
    assert!(opens > 200);
    assert_eq!((report.open_handles_max, report.open_handles_end), (opens, opens));
}

/// nospc.load writes 20 times 65536 bytes, so 1.25 MiB, as its README says.
#[test]
fn space_needed_is_known_before() {
    assert_eq!(check(&program("nospc.load")).live_bytes_max, 5 * 1024 * 1024 / 4);
}

#[test]
fn the_others_parse() {
    for name in ["one", "meta4", "slow", "slow4", "waitsp", "del", "del4"] {
        assert!(!program(&format!("{name}.load")).insts.is_empty());
    }
}

#[test]
fn the_built_in_loads_are_what_their_heads_say() {
    let report = |name: &str| {
        let loaded = load(Some(name.as_ref()), &Options::default());
        let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(loaded.program.name, name);
        check(&loaded.program)
    };
    assert!(report("default").total_ops > 0);
    let small = report("small");
    assert_eq!((small.total_ops, small.live_bytes_max, small.live_bytes_end), (734, 348_088, 0));
    assert_eq!((small.open_handles_max, small.prepare_ops), (1, 0));
    // 64 MiB in pieces of 1 MiB; two Mkdir, open, fsync and close.
    let random = report("randread");
    assert_eq!((random.prepare_write_bytes, random.prepare_ops), (64 << 20, 64 + 5));
    assert_eq!((random.total_ops, random.read_bytes), (10_002, 10_000 * 4096));
    assert_eq!(report("randwrite").write_bytes, 10_000 * 4096);
    let sequential = report("seqread");
    assert_eq!(sequential.prepare_write_bytes, 256 << 20);
    assert_eq!((sequential.read_bytes, sequential.files_not_made), (16 * (256 << 20), 0));
    let sequential = report("seqwrite");
    assert_eq!((sequential.write_bytes, sequential.largest_file_bytes), (256 << 20, 256 << 20));
}
