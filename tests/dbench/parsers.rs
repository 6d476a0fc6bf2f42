//! What the scripts of others read from the output, by their own patterns (parsers.py).

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::tool::temp_disk;
use crate::common::{or_skip, skip};
use crate::{case, debians, ours};

/// Findings by reader and key, in the order of the text.
type Found = BTreeMap<String, Vec<String>>;

/// What all readers find; the reason if they cannot run.
fn read(text: &str) -> Result<Found, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/dbench/parsers.py");
    let mut command = Command::new("python3");
    command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("python3: {error}"))?;
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "a reader gave up on:\n{text}");
    let mut found = Found::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let (key, value) = line.rsplit_once(' ').unwrap();
        found.entry(key.to_owned()).or_default().push(value.to_owned());
    }
    Ok(found)
}

#[track_caller]
fn one(found: &Found, key: &str) -> String {
    match found.get(key).map(Vec::as_slice) {
        Some([value]) => value.clone(),
        other => panic!("{key}: {other:?} in {found:?}"),
    }
}

/// The same findings in both outputs, but for the figures.
#[test]
fn scripts_read_what_they_read_from_dbench() {
    let (here, there) = (temp_disk(), temp_disk());
    let load = case("all4.load");
    let theirs = or_skip!(debians("-t 3 2", there.path(), &load));
    let mine = ours("-t 3 2", here.path(), &load).expect(0);
    let theirs = theirs.finish().expect(0);
    let (mine, theirs) = (or_skip!(read(&mine.stdout)), or_skip!(read(&theirs.stdout)));
    assert_eq!(mine.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    for found in [&mine, &theirs] {
        let throughput = one(found, "lkp throughput");
        assert!(throughput.parse::<f64>().unwrap() > 0.0);
        for reader in ["autotest", "lizardfs", "phoronix", "xfstests"] {
            assert_eq!(one(found, &format!("{reader} throughput")), throughput);
        }
        assert_eq!((one(found, "lkp clients"), one(found, "lkp procs")), ("2".into(), "2".into()));
        assert_eq!(one(found, "autotest procs"), "2");
        assert!(one(found, "lkp latency").parse::<f64>().unwrap() > 0.0);
        assert_eq!(found["mmtests second"], ["1", "2"]);
    }
    assert_eq!(mine["mmtests op"], theirs["mmtests op"]);
    assert_eq!(mine["mmtests op"].len(), 17, "every operation of dbench");
}

/// The commands of mmtests, whose readers look at passes.
#[test]
fn passes_are_read_by_mmtests() {
    let disk = temp_disk();
    let words = "--warmup 0 -t 2 --show-execute-time 2";
    let finished = ours(words, disk.path(), &case("slow4.load")).expect(0);
    let found = or_skip!(read(&finished.stdout));
    let numbers =
        |key: &str| -> Vec<f64> { found[key].iter().map(|n| n.parse().unwrap()).collect() };
    let (took, at) = (numbers("mmtests pass_ms"), numbers("mmtests pass_at_s"));
    // The file sleeps for 50 ms: of two clients, at most 80 passes in 2 s.
    assert!((2..=80).contains(&took.len()), "{}", took.len());
    assert!(took.iter().all(|ms| *ms >= 50.0), "{took:?}");
    assert!(at.iter().all(|s| (0.05..3.0).contains(s)), "{at:?}");
    let each = |client: &str| {
        let begins = format!("   {client} completed in ");
        finished.stdout.lines().filter(|line| line.starts_with(&begins)).count()
    };
    assert_eq!(each("0") + each("1"), took.len());
    assert_eq!(found["mmtests op"], ["Close", "Mkdir", "WriteX", "NTCreateX"]);
}

#[test]
fn lines_for_programs_are_those_of_dbench_5() {
    let disk = temp_disk();
    let words = "--machine-readable --warmup 2 -t 3 2";
    let finished = ours(words, disk.path(), &case("slow4.load")).expect(0);
    let found = or_skip!(read(&finished.stdout));
    assert_eq!(found["machine phase"], ["W", "R", "R", "C", "C"], "{finished}");
    assert_eq!(found["machine op"], ["Close", "Mkdir", "WriteX", "NTCreateX"]);
    assert!(one(&found, "machine throughput").parse::<f64>().unwrap() > 0.0, "dbench 5 says 0");
    let told = (one(&found, "machine clients"), one(&found, "machine procs"));
    assert_eq!(told, ("2".into(), "2".into()));
}
