//! Which loadfile a client replays, and in what form it may come.

use std::fs;
use std::io::Write;

use flate2::{Compression, write::GzEncoder};

use crate::common::tool::{Table, label, loadfile, one_pass, run_on, temp_disk};

#[test]
fn a_disk_may_have_a_load_of_its_own() {
    let (files, a, b) = (temp_disk(), temp_disk(), temp_disk());
    let common = loadfile(files.path(), "common.load", "QUERY_FS_INFORMATION 1 NT_STATUS_OK");
    let own =
        loadfile(files.path(), "own.load", "QUERY_PATH_INFORMATION \"\\clients\" 1 NT_STATUS_OK");
    let arguments = format!(
        "--passes 3 -c 2 -l {} --load-for {}={}",
        common.display(),
        b.path().display(),
        own.display()
    );
    let table = run_on(&arguments, &[a.path(), b.path()]).expect(0).table();
    let (a, b) = (label(a.path()), label(b.path()));
    let words = |disk| table.summaries(disk).map(|row| row.text("op")).collect::<Vec<_>>();
    assert_eq!(table.summary(a, "QUERY_FS_INFORMATION").int("ops"), 6);
    assert!(!words(a).contains(&"QUERY_PATH_INFORMATION"));
    assert_eq!(table.summary(b, "QUERY_PATH_INFORMATION").int("ops"), 6);
    assert!(!words(b).contains(&"QUERY_FS_INFORMATION"));
    let names = [a, b].map(|disk| table.summary(disk, "all").text("loadfile"));
    assert_eq!(names, ["common.load", "own.load"]);
    let sums = [a, b].map(|disk| table.summary(disk, "all").text("program_sha256"));
    assert!(sums[0] != sums[1] && sums.iter().all(|sum| sum.len() == 64));
}

#[test]
fn several_loads_are_dealt_to_the_clients() {
    let files = temp_disk();
    let first = loadfile(files.path(), "a.load", "QUERY_FS_INFORMATION 1 NT_STATUS_OK");
    let second = loadfile(
        files.path(),
        "b.load",
        "REPEAT 10\nQUERY_PATH_INFORMATION \"\\clients\" 1 NT_STATUS_OK",
    );
    let disk = temp_disk();
    let arguments = format!("--passes 1 -c 5 -l {},{}", first.display(), second.display());
    let table = run_on(&arguments, &[disk.path()]).expect(0).table();
    // Clients 0, 2 and 4 have the first, 1 and 3 the second.
    assert_eq!(table.ops()["QUERY_FS_INFORMATION"], 3);
    assert_eq!(table.ops()["QUERY_PATH_INFORMATION"], 2 * 10);
}

/// Of ten clients 3 to 1: A B A A A B A A A B.
#[test]
fn a_mix_deals_by_weight() {
    let (files, disk, other) = (temp_disk(), temp_disk(), temp_disk());
    let first = loadfile(files.path(), "a.load", "QUERY_FS_INFORMATION 1 NT_STATUS_OK");
    let second =
        loadfile(files.path(), "b.load", "QUERY_PATH_INFORMATION \"\\clients\" 1 NT_STATUS_OK");
    let arguments = format!(
        "--passes 1 -c 10 --pass-rows --mix {}:3,{}:1 --load-for {}={}",
        first.display(),
        second.display(),
        other.path().display(),
        second.display()
    );
    let table = run_on(&arguments, &[disk.path(), other.path()]).expect(0).table();
    let all = table.summary(label(disk.path()), "all");
    assert_eq!(all.text("loadfile"), "a.load:3,b.load:1");
    assert_eq!(all.text("program_sha256").split(',').count(), 2);
    assert!(all.text("options").ends_with(" mix=3:1"), "{}", all.text("options"));
    let ops = |disk: &std::path::Path, op| table.summary(label(disk), op).int("ops");
    assert_eq!(ops(disk.path(), "QUERY_FS_INFORMATION"), 7);
    assert_eq!(ops(disk.path(), "QUERY_PATH_INFORMATION"), 3);
    assert_eq!(ops(other.path(), "QUERY_PATH_INFORMATION"), 10);
    assert_eq!(table.summary(label(other.path()), "all").text("loadfile"), "b.load");
}

/// A gzip file is one by its first bytes.
#[test]
fn a_compressed_load_is_the_same() {
    let files = temp_disk();
    let plain = loadfile(files.path(), "a.load", "REPEAT 7\nQUERY_FS_INFORMATION 1 NT_STATUS_OK");
    let packed = files.path().join("b.load");
    let mut encoder = GzEncoder::new(fs::File::create(&packed).unwrap(), Compression::best());
    encoder.write_all(&fs::read(&plain).unwrap()).unwrap();
    encoder.finish().unwrap();
    let (plain, packed) = (one_pass(&plain, ""), one_pass(&packed, ""));
    assert_eq!(plain.ops(), packed.ops());
    assert_eq!(packed.ops()["QUERY_FS_INFORMATION"], 4 * 7);
    let hash = |table: &Table| table.of("summary")[0].text("program_sha256").to_owned();
    assert_eq!(hash(&plain), hash(&packed));
}

#[test]
fn lenient_skips_and_counts() {
    let files = temp_disk();
    let load = loadfile(
        files.path(),
        "bad.load",
        "Fly \"\\moon\" NT_STATUS_OK\nQUERY_FS_INFORMATION 1 NT_STATUS_OK\nFlush",
    );
    let disk = temp_disk();
    let arguments = format!("--passes 1 -c 1 -l {}", load.display());
    let finished = run_on(&arguments, &[disk.path()]).expect(2);
    finished.says("bad.load:4:1:");
    finished.says("bad.load:6:");
    let finished = run_on(&format!("--lenient {arguments}"), &[disk.path()]).expect(0);
    finished.says("2 bad lines skipped");
    assert_eq!(finished.table().ops()["QUERY_FS_INFORMATION"], 1);
}
