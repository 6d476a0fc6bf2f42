//! Tests of the sink: what other programs read, and what happens when writing fails.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use super::*;
use crate::output::Column;

/// Memory that can be looked at while a sink owns it, and that fails from some length on.
#[derive(Clone)]
struct Memory {
    bytes: Arc<Mutex<Vec<u8>>>,
    limit: usize,
    error: ErrorKind,
}

impl Memory {
    fn new(limit: usize, error: ErrorKind) -> Self {
        Self { bytes: Arc::default(), limit, error }
    }

    fn text(&self) -> String {
        String::from_utf8(self.bytes.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Memory {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let mut bytes = self.bytes.lock().unwrap();
        if bytes.len() + data.len() > self.limit {
            return Err(self.error.into());
        }
        bytes.extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn row(disk: &str, ops: u64) -> Row {
    let mut row = Row::new();
    row.set(Column::ToolVersion, "0.1").set(Column::Disk, disk).set(Column::Ops, ops);
    row.set(Column::OpsPerS, ops as f64 / 3.0).set(Column::Steady, true);
    row
}

/// Says that a test is skipped, or fails where that is not allowed.
fn missing(program: &str) -> Option<String> {
    let strict = std::env::var_os("JBODBENCH_NO_SKIP").is_some_and(|v| v == "1");
    assert!(!strict, "{program} is needed and not there");
    let _ = writeln!(io::stderr(), "skipped: {program} is not there");
    None
}

/// Runs a python script on a file; `None` when there is no python.
fn python(script: &str, file: &Path) -> Option<String> {
    let run = Command::new("python3").arg("-c").arg(script).arg(file).stdin(Stdio::null()).output();
    let Ok(output) = run else { return missing("python3") };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

const NASTY: &str = "/mnt/a,b \"c\"\nd\re\\f\u{e9}";

fn written(format: Format, name: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    let mut sink = Sink::file(&path, format, false).unwrap();
    sink.set_host(serde_json::json!({"kernel": "6.18"}));
    sink.write(&row(NASTY, 7)).unwrap();
    sink.write(&row("all", 0)).unwrap();
    sink.finish().unwrap();
    (dir, path)
}

#[test]
fn python_reads_the_csv() {
    let (_dir, path) = written(Format::Csv, "r.csv");
    let script = "import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline='')))
lines = open(sys.argv[1], 'rb').read().count(b'\\n')
print(len(rows), lines, sorted({len(r) for r in rows}))
head = rows[0]
for r in rows[1:]:
    print([(n, c) for n, c in zip(head, r) if c])";
    let Some(out) = python(script, &path) else { return };
    let expected = format!(
        "3 3 [{}]\n\
         [('schema', '1'), ('tool_version', '0.1'), ('disk', '/mnt/a,b \"c\"\\\\nd\\\\re\\\\\\\\fé'), ('ops', '7'), \
         ('ops_per_s', '2.333333'), ('steady', '1')]\n\
         [('schema', '1'), ('tool_version', '0.1'), ('disk', 'all'), ('ops', '0'), ('ops_per_s', '0'), ('steady', '1')]\n",
        Column::COUNT
    );
    assert_eq!(out, expected);
}

#[test]
fn python_reads_the_json() {
    let (_dir, path) = written(Format::Json, "r.json");
    let script = "import json, sys
d = json.load(open(sys.argv[1]))
print(list(d), d['schema'], d['host'], [list(r.values()) for r in d['rows']])
assert d['rows'][0]['disk'] == '/mnt/a,b \"c\"\\nd\\re\\\\f\\u00e9', d";
    let Some(out) = python(script, &path) else { return };
    assert!(
        out.starts_with("['schema', 'tool_version', 'rows', 'host'] 1 {'kernel': '6.18'} [[1, ")
    );
    assert!(out.ends_with("7, 2.333333, True], [1, '0.1', 'all', 0, 0.0, True]]\n"), "{out}");
}

#[test]
fn a_json_document_is_whole_in_every_case() {
    for (rows, finish) in [(0, true), (0, false), (1, false), (3, true)] {
        let memory = Memory::new(usize::MAX, ErrorKind::Other);
        let mut sink = Sink::writer(Box::new(memory.clone()), Format::Json).unwrap();
        for ops in 0..rows {
            sink.write(&row("d", ops)).unwrap();
        }
        if finish {
            sink.finish().unwrap();
        } else {
            drop(sink);
        }
        let document: Value = serde_json::from_str(&memory.text()).unwrap();
        assert_eq!(document["rows"].as_array().unwrap().len() as u64, rows);
        assert_eq!(document["tool_version"], env!("CARGO_PKG_VERSION"));
    }
}

#[test]
fn the_header_leaves_at_once_and_rows_with_flush() {
    let memory = Memory::new(usize::MAX, ErrorKind::Other);
    let mut sink = Sink::writer(Box::new(memory.clone()), Format::Csv).unwrap();
    assert!(memory.text().starts_with("schema,tool_version,run_id,"));
    assert_eq!(memory.text().lines().count(), 1);
    sink.write(&row("d", 1)).unwrap();
    assert_eq!(memory.text().lines().count(), 1);
    sink.flush().unwrap();
    assert_eq!((memory.text().lines().count(), sink.rows()), (2, 1));
}

#[test]
fn a_full_device_is_an_error() {
    let full = Path::new("/dev/full");
    let error = Sink::file(full, Format::Csv, false).unwrap_err();
    assert!(matches!(&error, SinkError::Io { path, .. } if path == full) && !error.is_usage());
    assert!(error.to_string().contains("No space left"), "{error}");
    // Later as well: rows are accepted, and flush is what fails, then and ever after.
    let file = OpenOptions::new().write(true).open(full).unwrap();
    let mut sink = Sink::over(Box::new(file), full.into(), Format::Csv);
    sink.write(&row("d", 1)).unwrap();
    assert!(matches!(sink.flush(), Err(SinkError::Io { .. })));
    assert!(matches!(sink.write(&row("d", 1)), Err(SinkError::Io { .. })));
    assert!(matches!(sink.finish(), Err(SinkError::Io { .. })));
}

#[test]
fn a_reader_that_left_is_told_apart() {
    let memory = Memory::new(10_000, ErrorKind::BrokenPipe);
    let mut sink = Sink::writer(Box::new(memory.clone()), Format::Csv).unwrap();
    let result = (0..).find_map(|ops| sink.write(&row("d", ops)).and_then(|()| sink.flush()).err());
    assert!(matches!(result, Some(SinkError::BrokenPipe)));
    let before = memory.text();
    assert!(before.ends_with('\n') && matches!(sink.finish(), Err(SinkError::BrokenPipe)));
    assert_eq!(memory.text(), before, "nothing is written after a failure");
}

#[test]
fn an_existing_file_is_left_alone() {
    let (_dir, path) = written(Format::Csv, "r.csv");
    let before = fs::read(&path).unwrap();
    let error = Sink::file(&path, Format::Csv, false).unwrap_err();
    assert!(matches!(error, SinkError::Exists { .. }) && error.is_usage());
    assert!(matches!(Sink::file(&path, Format::Json, true), Err(SinkError::AppendJson { .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn appending_adds_rows_under_the_one_header() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.csv");
    fs::write(&path, "").unwrap(); // an empty file gets its header
    for ops in 1..=3 {
        let mut sink = Sink::file(&path, Format::Csv, true).unwrap();
        sink.write(&row("d", ops)).unwrap();
        sink.finish().unwrap();
    }
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 4);
    assert_eq!(text.lines().filter(|line| line.starts_with("schema,")).count(), 1);
}

#[test]
fn appending_to_what_does_not_fit_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("r.csv");
    let header = Column::names().collect::<Vec<_>>().join(",");
    let renamed = header.replacen("run_id", "run", 1);
    let (short, _) = header.rsplit_once(',').unwrap();
    let last = Column::COUNT;
    for (content, expected) in [
        (format!("{renamed}\n"), "its column 3 is \"run\", this version writes \"run_id\"".into()),
        (format!("{short}\n"), format!("its column {last} is missing, this version writes")),
        (format!("{header},more\n"), format!("its column {} is \"more\", this", last + 1)),
        ("\n".into(), "its column 1 is missing, this version writes \"schema\"".into()),
        ("\u{0}\u{1}\n".into(), "its column 1 is \"\\0\\u{1}\"".into()),
        (format!("{header}\n1,2"), format!("`truncate -s {} FILE`", header.len() + 1)),
        (header.clone(), "`truncate -s 0 FILE`".into()),
    ] {
        fs::write(&path, &content).unwrap();
        let error = Sink::file(&path, Format::Csv, true).unwrap_err();
        assert!(error.to_string().contains(&expected), "{error}");
        assert!(error.is_usage());
        assert_eq!(fs::read_to_string(&path).unwrap(), content, "left alone");
    }
    let long = format!("{header}\n{}", "x".repeat(10_000));
    fs::write(&path, long).unwrap();
    let error = Sink::file(&path, Format::Csv, true).unwrap_err();
    assert!(
        matches!(error, SinkError::TornLine { good_bytes, .. } if good_bytes as usize == header.len() + 1)
    );
}

#[test]
fn a_directory_that_is_not_there_is_an_error_with_its_name() {
    let error = Sink::file(Path::new("/nonexistent/r.csv"), Format::Csv, false).unwrap_err();
    assert!(error.to_string().starts_with("cannot write /nonexistent/r.csv: "), "{error}");
}

/// The page's own example, as a stranger would paste it; `None` when its program is missing.
fn documented(program: &str, dir: &Path) -> Option<String> {
    let page = include_str!("../../docs/output.md");
    let start = page.find(&format!("```sh\n{program} ")).unwrap() + "```sh\n".len();
    let script = &page[start..start + page[start..].find("\n```").unwrap()];
    let output = Command::new("sh").args(["-c", script]).current_dir(dir).output().unwrap();
    if output.status.code() == Some(127) {
        return missing(program);
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_documented_examples_work() {
    let dir = tempfile::tempdir().unwrap();
    let mut sink = Sink::file(&dir.path().join("result.csv"), Format::Csv, false).unwrap();
    for (op, disk) in [("all", "/mnt/a"), ("ReadX", "/mnt/a"), ("all", "/mnt/b")] {
        let mut row = row(disk, 300);
        row.set(Column::Row, "summary").set(Column::Op, op).set(Column::Status, "ok");
        row.set(Column::MountOptions, "rw,noatime,\"x\",y").set(Column::LatP99Us, 12.5);
        sink.write(&row).unwrap();
    }
    sink.finish().unwrap();
    if let Some(out) = documented("awk", dir.path()) {
        assert_eq!(out, "/mnt/a 100\n/mnt/b 100\n");
    }
    if let Some(out) = documented("python3", dir.path()) {
        assert_eq!(out, "/mnt/a ok 100 12.5\n/mnt/b ok 100 12.5\n");
    }
}
