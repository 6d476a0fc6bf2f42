//! What is written, under which names, and how deep.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::{Compression, write::GzEncoder};

use crate::common::tool::{loadfile, one_pass, run_dir, run_on, temp_disk};

/// Runs and keeps the tree; returns the directory and what it holds.
#[track_caller]
fn kept(load: &Path, arguments: &str) -> (tempfile::TempDir, PathBuf) {
    let disk = temp_disk();
    run_on(&format!("--keep -l {} {arguments}", load.display()), &[disk.path()]).expect(0);
    let dir = run_dir(disk.path()).unwrap();
    (disk, dir)
}

/// The same seed makes the same choices.
#[test]
fn a_seed_repeats_the_choices() {
    let files = temp_disk();
    let load = loadfile(
        files.path(),
        "random.load",
        "NTCreateX \"\\clients\\client1\\a\" 0x40 2 7 NT_STATUS_OK\nLOOP 20\n\
         WriteX 7 0 *%65536 0 NT_STATUS_OK\nENDLOOP\nClose 7 NT_STATUS_OK",
    );
    let bytes = |seed: u64| {
        let table = one_pass(&load, &format!("-c 2 --seed {seed}"));
        (table.ops(), table.summary("all", "WriteX").int("bytes"))
    };
    let (five, again, six) = (bytes(5), bytes(5), bytes(6));
    assert_eq!(five, again);
    assert_eq!(five.0, six.0);
    assert_ne!(five.1, six.1);
    // 40 numbers below 65536: their mean is near the middle, 10 standard deviations allowed.
    let mean = five.1 as f64 / 40.0;
    assert!((32_768.0 - mean).abs() < 10.0 * 18_918.0 / 40.0_f64.sqrt(), "{mean}");
}

const WRITES: &str = "NTCreateX \"\\clients\\client1\\a\" 0x40 2 7 NT_STATUS_OK\n\
    WriteX 7 0 65536 65536 NT_STATUS_OK\nWriteX 7 65536 65536 65536 NT_STATUS_OK\n\
    Close 7 NT_STATUS_OK";

#[test]
fn written_data_neither_compresses_nor_repeats() {
    let files = temp_disk();
    let load = loadfile(files.path(), "w.load", WRITES);
    let read = |arguments: &str| {
        let (_disk, dir) = kept(&load, &format!("-c 2 {arguments}"));
        [0, 1].map(|client| fs::read(dir.join(format!("clients/client{client}/a"))).unwrap())
    };
    let once = read("--passes 1");
    let twice = read("--passes 2");
    let mut blocks = std::collections::BTreeSet::new();
    for file in once.iter().chain(&twice) {
        assert_eq!(file.len(), 131_072);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(file).unwrap();
        let packed = encoder.finish().unwrap().len();
        assert!(packed * 100 > file.len() * 95, "{packed} of {}", file.len());
        for block in file.chunks(4096) {
            assert!(blocks.insert(block.to_vec()), "a block that was written before");
        }
    }
    // The same seed, the same bytes; another one, others.
    assert!(read("--passes 1") == once);
    assert!(read("--passes 1 --seed 2") != once);

    for file in read("--passes 1 --data zero") {
        assert_eq!(file.len(), 131_072);
        assert!(file.iter().all(|byte| *byte == 0));
    }
}

/// WRITEPATTERN fills with its text and a line end, over and over.
#[test]
fn a_pattern_is_written_as_it_stands() {
    let files = temp_disk();
    let load = loadfile(files.path(), "w.load", &format!("WRITEPATTERN two words\n{WRITES}"));
    let (_disk, dir) = kept(&load, "-c 1 --passes 1");
    let file = fs::read(dir.join("clients/client0/a")).unwrap();
    let pattern = b"two words\n";
    assert!(file[..65_536].iter().zip(pattern.iter().cycle()).all(|(a, b)| a == b));
    assert!(file[..65_536] == file[65_536..]);
}

/// RANDOMSTRING and `+child` in a path: files that the text allows, and no others.
#[test]
fn strings_and_numbers_in_paths() {
    let files = temp_disk();
    let load = loadfile(
        files.path(),
        "s.load",
        "RANDOMSTRING 1 \"n[ab]\"\nNTCreateX \"\\clients\\client1\\$1\" 0x40 2 7 NT_STATUS_OK\n\
         WriteX 7 +child 1 1 NT_STATUS_OK\nClose 7 NT_STATUS_OK",
    );
    let (_disk, dir) = kept(&load, "-c 4 --passes 1");
    for client in 0..4_u64 {
        let dir = dir.join(format!("clients/client{client}"));
        let files: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap()).collect();
        assert_eq!(files.len(), 1);
        assert!(["na", "nb"].contains(&files[0].file_name().to_str().unwrap()));
        assert_eq!(files[0].metadata().unwrap().len(), client + 1);
    }
}

#[test]
fn depth_puts_directories_above_the_clients() {
    let files = temp_disk();
    let load = loadfile(files.path(), "w.load", WRITES);
    for (depth, path) in [(0, "absolute"), (3, "absolute"), (3, "cwd"), (3, "dirfd")] {
        let arguments = format!("-c 1 --passes 1 --depth {depth} --path {path}");
        let (_disk, dir) = kept(&load, &arguments);
        let mut below = dir;
        for _ in 0..depth {
            assert!(!below.join("clients").exists());
            let dirs = fs::read_dir(&below).unwrap().map(|entry| entry.unwrap().path());
            let dirs: Vec<_> = dirs.filter(|path| path.is_dir()).collect();
            assert_eq!(dirs.len(), 1);
            below = dirs[0].clone();
        }
        assert_eq!(fs::metadata(below.join("clients/client0/a")).unwrap().len(), 131_072);
    }
}
