//! Damaged results: whatever was done to a file, reading it ends with rows or with the place of the mistake,
//! and so do those who read it.

#![allow(clippy::unwrap_used, reason = "a test may end with a panic")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use jbodbench::compare::{self, compare};
use jbodbench::output::Column;
use jbodbench::report::{self, report};
use jbodbench::results::{ReadError, ResultFile};
use proptest::prelude::*;

use common::props::config;
use common::tool::{Running, jbodbench, temp_disk};

/// A result of two runs with rows of every kind that a plain run has.
static RESULT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let (disk, out) = (temp_disk(), temp_disk());
    let out = out.path().join("out.csv");
    let mut command = jbodbench(["matrix", "--vary", "clients=1,2", "--blocks", "2", "-t", "50ms"]);
    command
        .args(["--idle", "0", "--warmup", "0", "--interval", "20ms", "-o"])
        .arg(&out)
        .arg(disk.path());
    let _ = Running::start(command).finish().expect(0);
    fs::read(out).unwrap()
});

/// Every cell of every line, as text and as a number.
fn read(path: &Path) -> Result<usize, ReadError> {
    let mut file = ResultFile::open(path)?;
    let mut rows = 0;
    while let Some(line) = file.next_line()? {
        rows += 1;
        for column in Column::ALL {
            let _ = (line.text(*column).len(), line.number(*column).map_err(drop));
        }
    }
    Ok(rows)
}

/// A mistake is told with file, line and column, or with what the system said of the file.
fn check(bytes: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    let path: PathBuf = dir.path().join("damaged.csv");
    fs::write(&path, bytes).unwrap();
    if let Err(error) = read(&path) {
        let text = error.to_string();
        let place = text.split_once("damaged.csv:").map(|(_, rest)| rest.to_owned());
        assert!(place.is_some_and(|rest| rest.len() > 3), "{text}");
    }
    let request = compare::Request {
        files: vec![path.clone()],
        with: Vec::new(),
        by: Vec::new(),
        base: None,
        metrics: vec![compare::Metric::parse("ops_per_s").unwrap()],
        better: None,
        margin_percent: 3.0,
        alpha: 0.05,
        force: true,
        limits: Vec::new(),
    };
    let _ = compare(&request).map_err(|error| error.to_string());
}

fn check_page(bytes: &[u8]) {
    let dir = tempfile::tempdir().unwrap();
    let path: PathBuf = dir.path().join("damaged.csv");
    fs::write(&path, bytes).unwrap();
    let request = report::Request { files: vec![path], title: None };
    let _ = report(&request).map_err(|error| error.to_string());
}

/// Where, which byte, and what is done there.
type Damage = (prop::sample::Index, u8, usize);

fn damage(mut text: Vec<u8>, damages: &[Damage]) -> Vec<u8> {
    for (at, byte, how) in damages {
        let at = at.index(text.len().max(1)).min(text.len().saturating_sub(1));
        // Bytes of the file are likelier to mean something than others.
        let byte = if byte % 2 == 0 { b",\n\"0.eE-"[usize::from(*byte) % 8] } else { *byte };
        match how {
            0 if !text.is_empty() => text[at] = byte,
            1 => text.insert(at, byte),
            2 if !text.is_empty() => drop(text.remove(at)),
            3 => text.truncate(at),
            // A line twice, or a line gone.
            _ => {
                let lines: Vec<Vec<u8>> =
                    text.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
                let which = at % lines.len().max(1);
                text = lines
                    .iter()
                    .enumerate()
                    .flat_map(|(number, line)| {
                        line.repeat(if number == which { how % 2 * 2 } else { 1 })
                    })
                    .collect();
            }
        }
    }
    text
}

/// A text, and the cell that it goes to.
type Filling = (String, prop::sample::Index, prop::sample::Index);

/// The result with other texts in some cells.
fn filled(cells: &[Filling]) -> Vec<u8> {
    let text = String::from_utf8(RESULT.clone()).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let mut rows: Vec<Vec<String>> =
        reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
    for (value, row, column) in cells {
        let row = row.index(rows.len());
        let column = column.index(rows[row].len());
        rows[row][column].clone_from(value);
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&header).unwrap();
    rows.iter().for_each(|row| writer.write_record(row).unwrap());
    writer.into_inner().unwrap()
}

proptest! {
    #![proptest_config(config(25))]

    #[test]
    fn damaged_results_do_no_harm(
        damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_usize..6), 1..8)
    ) {
        check(&damage(RESULT.clone(), &damages));
    }

    #[test]
    fn any_cell_may_hold_anything(
        cells in prop::collection::vec(("[ -~]{0,12}", any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..5)
    ) {
        check(&filled(&cells));
    }
}

proptest! {
    // A page takes a while without optimisation.
    #![proptest_config(config(4))]

    #[test]
    fn a_page_of_anything_is_no_harm(
        cells in prop::collection::vec(("[ -~]{0,12}", any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..5),
        damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_usize..6), 0..3)
    ) {
        check_page(&damage(filled(&cells), &damages));
    }
}
