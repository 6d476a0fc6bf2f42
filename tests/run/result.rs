//! What comes out: files, forms, rows that agree with each other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::tool::{
    BINARY, Running, Table, assert_clean, jbodbench, label, loadfile, run_on, temp_disk,
};
use crate::common::{or_skip, run, skip};

const SHORT: &str = "-t 300ms --warmup 0 -c 2";

#[test]
fn a_result_file_grows_only_when_asked() {
    let (disk, results) = (temp_disk(), temp_disk());
    let out = results.path().join("out.csv");
    let into = format!("{SHORT} -o {}", out.display());
    let finished = run_on(&format!("{into} --label first"), &[disk.path()]).expect(0);
    assert_eq!(finished.stdout, "");
    finished.says(&format!("result: {}", out.display()));
    let first = fs::read_to_string(&out).unwrap();

    run_on(&into, &[disk.path()]).expect(2).says("--append");
    assert_eq!(fs::read_to_string(&out).unwrap(), first);

    run_on(&format!("{into} --append --label second"), &[disk.path()]).expect(0);
    let both = fs::read_to_string(&out).unwrap();
    assert!(both.starts_with(&first) && both.len() > first.len());
    assert_eq!(both.lines().filter(|line| line.starts_with("schema,")).count(), 1);
    let table = Table::parse(&both);
    let labels: BTreeSet<_> = table.rows.iter().map(|row| row.text("run_label")).collect();
    assert_eq!(labels, BTreeSet::from(["first", "second"]));
    let runs: BTreeSet<_> = table.rows.iter().map(|row| row.text("run_id")).collect();
    assert_eq!(runs.len(), 2);

    // host.json tells of both runs, and of the one host that the rows name.
    let host = fs::read(results.path().join("out.csv.host.json")).unwrap();
    let host: Value = serde_json::from_slice(&host).unwrap();
    assert_eq!(host["runs"].as_object().unwrap().len(), 2);
    let sha256 = table.rows[0].text("host_sha256");
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_eq!(table.rows[0].text("kernel"), release.trim());
    assert!(host["hosts"][sha256].to_string().contains(release.trim()));

    // Other columns, or a torn line: refused, and nothing is written.
    for (changed, says) in [
        (both.replacen(",ops,", ",operations,", 1), "operations"),
        (both[..both.len() - 3].into(), "truncate"),
    ] {
        fs::write(&out, &changed).unwrap();
        let finished = run_on(&format!("{into} --append"), &[disk.path()]).expect(2);
        finished.says(says);
        assert_eq!(fs::read_to_string(&out).unwrap(), changed);
    }
    assert_clean(&[disk.path()]);
}

#[test]
fn a_table_is_told_beside_the_csv() {
    let disk = temp_disk();
    let finished = run_on(SHORT, &[disk.path()]).expect(0);
    finished.says(label(disk.path()));
    finished.says("WriteX");
    finished.says("2 clients each, load default, 300ms measured");
    assert!(finished.stdout.starts_with("schema,tool_version,run_id,"));
    // Neither bars nor colours where there is no terminal.
    assert!(!finished.stderr.contains('\u{1b}'));
}

/// The same load as CSV and as JSON: the same rows with the same counts.
#[test]
fn json_holds_the_same() {
    let files = temp_disk();
    let load = loadfile(
        files.path(),
        "mixed.load",
        "NTCreateX \"\\clients\\client1\\a\" 0x40 2 7 NT_STATUS_OK\n\
         WriteX 7 0 65536 65536 NT_STATUS_OK\nReadX 7 0 100 100 NT_STATUS_OK\n\
         ReadX 7 65536 1 1 NT_STATUS_OK\nClose 7 NT_STATUS_OK",
    );
    let disks = [temp_disk(), temp_disk()];
    let disks: Vec<&Path> = disks.iter().map(|disk| disk.path()).collect();
    let arguments = format!("--passes 2 -c 2 --interval 0 --pass-rows -l {}", load.display());
    let csv = run_on(&format!("{arguments} --format csv"), &disks).expect(1).table();
    let json = run_on(&format!("{arguments} --format json"), &disks).expect(1);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(json["schema"], 1);
    assert!(json["host"]["hosts"].is_object());

    let keys = ["row", "disk", "op", "status", "client", "line", "errno"];
    let counts = ["ops", "errors", "skipped", "bytes", "passes"];
    // Clients run at once: which of them has the first error is chance.
    let tell = |cell: &dyn Fn(&str) -> String| -> String {
        let sample = cell("status") == "sample";
        let keys = keys.iter().filter(|column| !sample || **column != "client");
        let cells = keys.chain(&counts).map(|column| cell(column));
        cells.collect::<Vec<_>>().join(" ")
    };
    let mut from_csv: Vec<String> =
        csv.rows.iter().map(|row| tell(&|column| row.text(column).to_owned())).collect();
    let mut from_json: Vec<String> = rows
        .iter()
        .map(|row| {
            tell(&|column| match &row[column] {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            })
        })
        .collect();
    from_csv.sort();
    from_json.sort();
    assert_eq!(from_csv, from_json);

    // 2 disks x 2 clients x 2 passes, of each line.
    let lines = [("Mkdir", 1), ("NTCreateX", 2), ("Close", 2), ("WriteX", 1), ("ReadX", 2)];
    let expected = lines.map(|(op, lines)| (op.to_owned(), lines * 8));
    assert_eq!(csv.ops(), BTreeMap::from(expected));
    assert_eq!(csv.summary("all", "ReadX").int("bytes"), 8 * 100);

    // What has to be there: 2 disks and all, 5 operations and all; 2 passes by 2 clients on each;
    // a kind of error a disk, and the first of it.
    let count = |kind: &str| csv.of(kind).len();
    assert_eq!((count("summary"), count("pass"), count("error")), (3 * 6, 8, 2 * (1 + 1)));
    let kinds: BTreeSet<_> = csv.rows[0].0.keys().map(String::as_str).collect();
    let row = rows[0].as_object().unwrap();
    assert!(row.keys().all(|column| kinds.contains(column.as_str())));
}

/// clients = disk = all, op by op, and interval by interval.
#[test]
fn sums_agree() {
    let disks = [temp_disk(), temp_disk(), temp_disk()];
    let disks: Vec<&Path> = disks.iter().map(|disk| disk.path()).collect();
    let arguments = "-t 2s --warmup 200ms -c 3 --interval 400ms --interval-ops";
    let table = run_on(arguments, &disks).expect(0).table();
    let columns = ["ops", "errors", "skipped", "bytes"];
    let ops: Vec<String> = table.summaries("all").map(|row| row.text("op").to_owned()).collect();
    assert!(ops.len() > 3, "{ops:?}");
    for column in columns {
        for op in &ops {
            let of = |disk: &Path| {
                let mut rows = table.summaries(label(disk));
                rows.find(|row| row.text("op") == op).map_or(0, |row| row.int(column))
            };
            let sum: u64 = disks.iter().map(|disk| of(disk)).sum();
            assert_eq!(table.summary("all", op).int(column), sum, "{column} of {op}");
        }
        for disk in disks.iter().map(|disk| label(disk)).chain(["all"]) {
            let single = table.summaries(disk).filter(|row| row.text("op") != "all");
            let sum: u64 = single.map(|row| row.int(column)).sum();
            assert_eq!(table.summary(disk, "all").int(column), sum, "{column} of {disk}");
        }
    }

    // Every interval begins and ends for all disks at once.
    let mut intervals = BTreeMap::<(String, String), Vec<_>>::new();
    for row in table.of("interval") {
        let key = (row.text("t_start_s").to_owned(), row.text("op").to_owned());
        intervals.entry(key).or_default().push(row);
    }
    let whole: Vec<_> = intervals.iter().filter(|((_, op), _)| op == "all").collect();
    assert!(whole.len() >= 3, "{}", whole.len());
    let mut from = 0.0;
    let mut starts: Vec<f64> = whole.iter().map(|((start, _), _)| start.parse().unwrap()).collect();
    starts.sort_by(f64::total_cmp);
    for start in starts {
        let ((_, _), rows) =
            whole.iter().find(|((text, _), _)| text.parse::<f64>().unwrap() == start).unwrap();
        assert_eq!(rows.len(), disks.len() + 1);
        let durations: BTreeSet<_> = rows.iter().map(|row| row.text("duration_s")).collect();
        assert_eq!(durations.len(), 1);
        // One follows the other without a gap.
        assert!((start - from).abs() < 1e-5, "{start} after {from}");
        from = start + rows[0].float("duration_s");
        let all = rows.iter().find(|row| row.text("disk") == "all").unwrap();
        let disks = rows.iter().filter(|row| row.text("disk") != "all");
        assert_eq!(disks.map(|row| row.int("ops")).sum::<u64>(), all.int("ops"));
    }
    for ((_, op), rows) in intervals.iter().filter(|((_, op), _)| op != "all") {
        let single: u64 =
            rows.iter().filter(|row| row.text("disk") != "all").map(|row| row.int("ops")).sum();
        let all = rows.iter().find(|row| row.text("disk") == "all").unwrap();
        assert_eq!(all.int("ops"), single, "{op}");
    }
}

/// Percentiles lie between the extremes and in order, and are empty with too few samples.
#[test]
fn latencies_are_in_order() {
    let disk = temp_disk();
    let table = run_on("-t 1s --warmup 0 --hist", &[disk.path()]).expect(0).table();
    let columns = [
        "lat_min_us",
        "lat_p50_us",
        "lat_p90_us",
        "lat_p95_us",
        "lat_p99_us",
        "lat_p999_us",
        "lat_max_us",
    ];
    // 10 / (1 - p)
    let needed = [1, 20, 100, 200, 1000, 10_000, 1];
    for row in table.summaries("all") {
        let mut last = 0.0;
        for (column, needed) in columns.iter().zip(needed) {
            if row.int("ops") < needed {
                assert_eq!(row.text(column), "", "{column}");
                continue;
            }
            assert!(row.float(column) >= last, "{column} of {}", row.text("op"));
            last = row.float(column);
        }
        let mean = row.float("lat_mean_us");
        assert!(row.float("lat_min_us") <= mean && mean <= row.float("lat_max_us"));
        let rate = row.int("ops") as f64 / row.float("window_s");
        assert!((row.float("ops_per_s") / rate - 1.0).abs() < 1e-3);
        assert!(!row.text("hist").is_empty());
    }
}

/// CPU time of the clients cannot exceed what the CPUs had, and is not nothing.
#[test]
fn costs_are_of_this_world() {
    let disk = temp_disk();
    let table = run_on("-t 1s --warmup 0 -c 2", &[disk.path()]).expect(0).table();
    let row = table.summary(label(disk.path()), "all");
    let cpu = row.float("cpu_user_s") + row.float("cpu_sys_s");
    let cpus = std::thread::available_parallelism().unwrap().get() as f64;
    assert!(cpu > 0.0 && cpu < 2.0_f64.min(cpus) * 1.5 * row.float("duration_s") + 0.5, "{cpu}");
    let per_op = row.float("cpu_sys_s") * 1e6 / row.int("ops") as f64;
    assert!((row.float("sys_us_per_op") - per_op).abs() < per_op * 0.01 + 1e-3);
}

#[test]
fn plain_progress_and_none() {
    let disk = temp_disk();
    let finished = run_on(&format!("--progress none {SHORT}"), &[disk.path()]).expect(0);
    assert!(!finished.stderr.contains('\r'));
    let mut command = jbodbench(["run", "-t", "300ms", "--warmup", "0", "--progress", "plain"]);
    command.arg(disk.path());
    assert!(!Running::start(command).finish().expect(0).stderr.contains('\u{1b}'));
}

/// On a terminal the table is the result, and says how to get the CSV.
#[test]
fn a_terminal_gets_the_table() {
    let disk = temp_disk();
    or_skip!(run("script", &["--version"]));
    let command = format!("{BINARY} run {SHORT} {}", disk.path().display());
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).env("TERM", "xterm").env("NO_COLOR", "1");
    let finished = Running::start(script).finish().expect(0);
    assert!(!finished.stdout.contains("schema,"), "{finished}");
    for text in ["WriteX", "for the same as CSV, pipe it or add --out FILE"] {
        assert!(finished.stdout.contains(text), "{finished}");
    }
    // With a file for the result, the terminal has only messages and the table.
    let out = disk.path().join("out.csv");
    let command = format!("{command} -o {}", out.display());
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).env("TERM", "xterm");
    Running::start(script).finish().expect(0);
    assert!(Table::read(&out).summary("all", "all").int("ops") > 0);
    assert_clean(&[disk.path()]);
}

/// What a slow client does after the others are done is in no rate, in the table neither.
#[test]
fn the_table_has_the_rates_of_the_result() {
    let files = temp_disk();
    let short = loadfile(files.path(), "a.load", "QUERY_FS_INFORMATION 1 NT_STATUS_OK");
    let long = loadfile(
        files.path(),
        "b.load",
        "REPEAT 50\nSleep 2000 NT_STATUS_OK\nREPEAT 50000\nQUERY_FS_INFORMATION 1 NT_STATUS_OK",
    );
    let disk = temp_disk();
    let arguments = format!("--passes 1 -c 2 -l {},{}", short.display(), long.display());
    let finished = run_on(&arguments, &[disk.path()]).expect(0);
    let row = finished.table().summary(label(disk.path()), "all").clone();
    let shown = jbodbench::units::format_count(row.float("ops_per_s"));
    let line = finished.stderr.lines().find(|line| line.starts_with(label(disk.path())));
    assert_eq!(line.unwrap().split_whitespace().nth(2), Some(shown.as_str()), "{line:?}");
    assert!(row.float("ops_per_s") * row.float("window_s") < 1000.0, "the short client's time");
}

/// A closed standard output is no place for a result; the runtime would put /dev/null there.
#[test]
fn a_closed_stdout_is_refused_at_the_start() {
    let disk = temp_disk();
    let (path, out) = (label(disk.path()), disk.path().join("out.csv"));
    let closed = |arguments: &str| {
        let mut command = std::process::Command::new("sh");
        command.arg("-c").arg(format!("exec {BINARY} {arguments} >&-"));
        Running::start(command).finish()
    };
    for arguments in [format!("run --passes 1 {path}"), "check".into()] {
        closed(&arguments).expect(2).says("stdout is closed");
    }
    assert_eq!(fs::read_dir(path).unwrap().count(), 0);
    closed(&format!("run --passes 1 -o {} {path}", out.display())).expect(0);
    assert!(Table::read(&out).summary("all", "all").int("ops") > 0);
}
