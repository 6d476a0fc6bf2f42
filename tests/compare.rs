//! `compare` on files whose answer is known: made by hand, or real ones with a planted effect.
//!
//! Expected intervals are those of `scripts/stats-reference` (numpy and scipy), turned into percent.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may end with a panic")]

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use common::tool::{Finished, Running, jbodbench, run_on, temp_disk};
use serde_json::Value;

/// A log ratio per block; its mean is -0.0265, its interval -0.04403 .. -0.00897.
const D: [f64; 10] = [-0.041, -0.012, -0.055, 0.008, -0.033, -0.027, -0.061, -0.019, 0.013, -0.038];
/// Logarithms of two sides; Welch's interval of the difference is -0.11189 .. 0.00674.
const A: [f64; 5] = [6.91, 6.95, 6.88, 6.93, 6.9];
const B: [f64; 7] = [6.85, 6.97, 6.79, 6.9, 6.81, 6.88, 6.83];

/// A run by hand: only what is said about it is in its rows.
#[derive(Clone)]
struct Made {
    minute: u32,
    cells: BTreeMap<&'static str, String>,
    /// (disk, op) with the cells of that row alone.
    rows: Vec<MadeRow>,
}

type MadeRow = (&'static str, &'static str, Vec<(&'static str, f64)>);

impl Made {
    fn new(minute: u32, ops_per_s: f64) -> Self {
        let rows = vec![("/d1", "all", vec![]), ("all", "all", vec![("ops_per_s", ops_per_s)])];
        let cells = BTreeMap::from([("boot_id", "boot".to_owned()), ("status", "ok".to_owned())]);
        Self { minute, cells, rows }
    }

    fn with(mut self, column: &'static str, value: &str) -> Self {
        self.cells.insert(column, value.to_owned());
        self
    }

    fn in_block(self, experiment: &str, block: usize) -> Self {
        self.with("experiment_id", experiment).with("block", &block.to_string())
    }

    fn row(mut self, disk: &'static str, op: &'static str, column: &'static str, v: f64) -> Self {
        self.rows.push((disk, op, vec![(column, v)]));
        self
    }
}

const COLUMNS: [&str; 27] = [
    "schema",
    "run_id",
    "experiment_id",
    "boot_id",
    "run_label",
    "row",
    "ts_utc",
    "host",
    "kernel",
    "disk",
    "fstype",
    "mount_options",
    "lsm",
    "cred",
    "uid",
    "time_s",
    "block",
    "cell",
    "op",
    "ops_per_s",
    "lat_p99_us",
    "pass_mean_s",
    "status",
    "steady",
    "blocks_planned",
    "flags",
    "host_sha256",
];

fn csv(runs: &[Made]) -> String {
    let mut text = COLUMNS.join(",") + "\n";
    for (index, run) in runs.iter().enumerate() {
        for (disk, op, own) in &run.rows {
            let cell = |column: &&str| match *column {
                "schema" => "1".to_owned(),
                "run_id" => format!("run{index}-{}", run.minute),
                "row" => "summary".to_owned(),
                "ts_utc" => {
                    format!("2026-11-30T{:02}:{:02}:00.000Z", run.minute / 60, run.minute % 60)
                }
                "disk" => (*disk).to_owned(),
                "op" => (*op).to_owned(),
                name => own
                    .iter()
                    .find(|(column, _)| *column == name)
                    .map(|(_, value)| value.to_string())
                    .or_else(|| run.cells.get(name).cloned())
                    .unwrap_or_default(),
            };
            writeln!(text, "{}", COLUMNS.iter().map(cell).collect::<Vec<_>>().join(",")).unwrap();
        }
    }
    text
}

struct Shelf {
    dir: tempfile::TempDir,
}

impl Shelf {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn put(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

fn compare(files: &[&Path], arguments: &str) -> Finished {
    let mut command = jbodbench(["compare"]);
    command.args(files).args(arguments.split_whitespace());
    Running::start(command).finish()
}

/// The JSON form.
#[track_caller]
fn json(files: &[&Path], arguments: &str) -> Value {
    let finished = compare(files, &format!("{arguments} --format json")).expect(0);
    serde_json::from_str(&finished.stdout).unwrap()
}

#[track_caller]
fn near(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap();
    assert!((found - expected).abs() < 1e-6, "{found}, {expected}");
}

/// Ten blocks of one experiment, both sides in turn, with the differences `D`.
fn blocks() -> (Vec<Made>, Vec<Made>) {
    let side = |late: u32, sign: f64| {
        (0..10)
            .map(|i| {
                // The machine drifts by 3 % a block: pairing takes that out.
                let base = 1000.0 * (0.03 * i as f64).exp();
                let value = base * (sign * D[i]).exp();
                Made::new(10 * i as u32 + late, value).in_block("e", i + 1)
            })
            .collect()
    };
    (side(0, 0.0), side(1, 1.0))
}

#[test]
fn blocks_run_in_turn_are_paired() {
    let shelf = Shelf::new();
    let (a, b) = blocks();
    let (a, b) = (shelf.put("a.csv", &csv(&a)), shelf.put("b.csv", &csv(&b)));
    let found = json(&[&a, &b], "");
    let row = &found["rows"][0];
    near(&row["change_percent"], -2.615_195_616_4);
    near(&row["low_percent"], -4.307_464_889_4);
    near(&row["high_percent"], -0.892_999_502_4);
    near(&row["p_value"], 0.007_631_424_4);
    assert_eq!((&row["unit"], &row["n_a"]), (&"block".into(), &10.into()));
    assert_eq!(row["verdict"], "regression");
    // The other way round every ratio is the inverse.
    let back = json(&[&b, &a], "");
    near(&back["rows"][0]["change_percent"], 100.0 * (0.0265f64.exp() - 1.0));
    near(&back["rows"][0]["low_percent"], 100.0 * (0.008_970_106_404f64.exp() - 1.0));
    assert_eq!(back["rows"][0]["verdict"], "improvement");

    compare(&[&a, &b], "--fail-on regression").expect(4);
    compare(&[&b, &a], "--fail-on regression").expect(0);
    // Within 5 % it is the same, though 0 is outside the interval.
    let text = compare(&[&a, &b], "--margin 5% --strict --fail-on regression").expect(0).stdout;
    assert!(text.contains("-2.6 %") && text.contains("-4.3 .. -0.89 %"), "{text}");
    assert!(text.contains("  same\n") && !text.contains("unpaired"), "{text}");
    // The CSV form has the same figures.
    let csv = compare(&[&a, &b], "--format csv").expect(0).stdout;
    let mut lines = csv.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let cells: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = head.iter().position(|name| *name == "high_percent").unwrap();
    assert!(cells[place].starts_with("-0.89299950"), "{csv}");
}

#[test]
fn one_after_the_other_is_no_pairing() {
    let shelf = Shelf::new();
    let (a, mut b) = blocks();
    b.iter_mut().for_each(|run| run.minute += 200);
    let (a, b) = (shelf.put("a.csv", &csv(&a)), shelf.put("b.csv", &csv(&b)));
    let text = compare(&[&a, &b], "").expect(0).stdout;
    assert!(
        text.contains("unpaired") && text.contains("drift") && text.contains("10+10"),
        "{text}"
    );
    assert!(text.contains("inconclusive (needs ~"), "{text}");
}

#[test]
fn plain_runs_are_compared_by_welch() {
    let shelf = Shelf::new();
    let runs = |logs: &[f64], label: &str| -> Vec<Made> {
        let minutes = logs.iter().zip(0..);
        minutes.map(|(log, i)| Made::new(i, log.exp()).with("run_label", label)).collect()
    };
    let mut all = runs(&A, "old");
    all.extend(runs(&B, "new"));
    let file = shelf.put("all.csv", &csv(&all));
    let found = json(&[&file], "--by run_label --base old");
    let row = &found["rows"][0];
    assert_eq!((&row["a"], &row["b"]), (&"old".into(), &"new".into()));
    near(&row["a_value"], (A.iter().sum::<f64>() / 5.0).exp());
    near(&row["change_percent"], -5.121_345_183_2);
    near(&row["low_percent"], -10.585_393_242_3);
    near(&row["high_percent"], 0.676_606_052_0);
    near(&row["df"], 8.743_342_549_9);
    assert_eq!(row["verdict"], "inconclusive");
    assert!(row["needs"].as_u64().unwrap() > 7);
    compare(&[&file], "--by run_label --strict").expect(5);
    // One cell, and nothing said of what differs.
    compare(&[&file], "").expect(2).says("--by run_label");
    compare(&[&file], "--by cell").expect(2).says("all runs have cell = no cell");
    compare(&[&file], "--by run_label --base other").expect(2).says("there are old, new");
    let three = shelf.put("three.csv", &csv(&runs(&A[..3], "old")));
    let text = compare(&[&three, &file], "").expect(0).stdout;
    assert!(text.contains("too few: 3 and 12 runs, at least 4 a side"), "{text}");
}

#[test]
fn between_boots_the_boot_is_the_unit() {
    let shelf = Shelf::new();
    // Five runs a boot; boots differ by 1 %, sides by 10 %.
    let side = |name: &str, boots: usize, shift: f64| {
        let runs: Vec<Made> = (0..5 * boots)
            .map(|i| {
                let boot = i / 5;
                let log = 7.0 + shift + 0.01 * boot as f64;
                Made::new(i as u32, log.exp())
                    .with("boot_id", &format!("{name}{boot}"))
                    .with("kernel", name)
            })
            .collect();
        shelf.put(&format!("{name}{boots}.csv"), &csv(&runs))
    };
    let (old, new) = (side("6.1", 2, 0.0), side("6.2", 2, -0.1));
    let text = compare(&[&old, &new], "--fail-on regression").expect(0).stdout;
    let why = "inconclusive (boot-to-boot variance not measured: 2 and 2 boots, at least 3 a side)";
    assert!(text.contains(why), "{text}");
    assert!(text.contains("differs: kernel: 6.1 against 6.2"), "{text}");
    let (old, new) = (side("6.1", 3, 0.0), side("6.2", 3, -0.1));
    let found = json(&[&old, &new], "");
    let row = &found["rows"][0];
    // Means 7.01 and 6.91, variances 0.0001 each: se sqrt(2 x 0.0001 / 3), 4 degrees of freedom,
    // t(0.975; 4) = 2.776445: -0.1 -+ 0.022670.
    near(&row["df"], 4.0);
    near(
        &row["low_percent"],
        100.0 * ((-0.1f64 - 2.776_445_105_2 * 0.008_164_965_809).exp() - 1.0),
    );
    assert_eq!((&row["unit"], &row["verdict"]), (&"boot".into(), &"regression".into()));
    compare(&[&old, &new], "--fail-on regression").expect(4);
}

#[test]
fn other_conditions_are_refused() {
    let shelf = Shelf::new();
    let side = |cred: &str, uid: &str, time: &str| {
        let runs: Vec<Made> = (0..5)
            .map(|i| {
                let run = Made::new(i, 1000.0 + f64::from(i));
                run.with("cred", cred).with("uid", uid).with("time_s", time).with("kernel", "6.1")
            })
            .collect();
        shelf.put(&format!("{cred}{time}.csv"), &csv(&runs))
    };
    let (root, user, long) =
        (side("", "0", "10"), side("nobody", "65534", "10"), side("", "0", "20"));
    let refused = compare(&[&root, &user], "").expect(3);
    refused.says("cred: nothing against nobody");
    refused.says("uid: 0 against 65534");
    refused.says("--by NAME");
    assert_eq!(refused.stdout, "");
    compare(&[&root, &user], "--by as").expect(0);
    compare(&[&root, &user], "--by cred").expect(0);
    compare(&[&root, &long], "--by as").expect(3).says("time_s: 10 against 20");
    let forced = compare(&[&root, &long], "--force").expect(0).stdout;
    assert!(forced.contains("compared by --force, though time_s: 10 against 20"), "{forced}");
    // Pooled into one side they are not one thing either.
    let mut command = jbodbench(["compare"]);
    command.args([&root, &long]).arg("--with").arg(&root);
    Running::start(command).finish().expect(3).says("time_s: 10, 20 against 10");
}

#[test]
fn a_file_that_is_no_result_is_named_with_the_place() {
    let shelf = Shelf::new();
    let good = csv(&[Made::new(0, 1000.0), Made::new(1, 1001.0)]);
    let a = shelf.put("a.csv", &good);
    let torn = shelf.put("torn.csv", &good[..good.len() - 5]);
    let kept = good[..good.len() - 5].rfind('\n').unwrap() + 1;
    compare(&[&a, &torn], "").expect(2).says(&format!("truncate -s {kept} {}", torn.display()));
    let bad = shelf.put("bad.csv", &good.replace("1001", "fast"));
    let line = good.lines().nth(4).unwrap();
    let column = line.find("1001").unwrap() + 1;
    let said = format!("{}:5:{column}: ops_per_s is \"fast\", which is no number", bad.display());
    compare(&[&a, &bad], "").expect(2).says(&said);
    let cut = shelf.put("cut.csv", &good.replace(",1001,", ","));
    compare(&[&a, &cut], "").expect(2).says("cut.csv:5:1: 26 fields where the header has 27");
    let other = shelf.put("other.csv", "a,b\n1,2\n");
    compare(&[&a, &other], "").expect(2).says("other.csv:1:1: no column run_id");
    let empty = shelf.put("empty.csv", "");
    compare(&[&a, &empty], "").expect(2).says("is empty");
    compare(&[&a, &shelf.dir.path().join("none.csv")], "").expect(2).says("No such file");
    let later = good.replace("\n1,run", "\n2,run");
    let later = shelf.put("later.csv", &later);
    compare(&[&a, &later], "").expect(2).says("written by a later version");
    // Columns of a later version at the end do no harm.
    let more: String = good.lines().map(|line| format!("{line},new\n")).collect();
    compare(&[&a, &shelf.put("more.csv", &more)], "").expect(0);
    compare(&[&a, &a], "").expect(2).says("same file is given twice");
    compare(&[&a, &torn], "--metric pass_mean").expect(2).says("there is no column pass_mean");
    let none = compare(&[&a, &shelf.put("b.csv", &good)], "--metric pass_mean_s").expect(2);
    none.says("no run has a pass_mean_s");
}

/// A matrix of two by two with eight blocks; the last cell is changed by `planted`.
fn matrix(kernel: &str, planted: f64) -> Vec<Made> {
    let cells = [
        "as=nobody;mount-acl=off",
        "as=nobody;mount-acl=on",
        "as=root;mount-acl=off",
        "as=root;mount-acl=on",
    ];
    let mut runs = Vec::new();
    for block in 0..8 {
        for (index, cell) in cells.iter().enumerate() {
            // Noise of up to 1 %, another one in every run.
            let noise =
                0.01 * (f64::from((7 * block + 3 * index as u32 + kernel.len() as u32) % 5) - 2.0);
            let log = 7.0 - 0.2 * index as f64 + noise + if index == 1 { planted } else { 0.0 };
            let user = if index < 2 { "nobody" } else { "root" };
            runs.push(
                Made::new(4 * block + index as u32, log.exp())
                    .in_block(kernel, block as usize + 1)
                    .with("cell", cell)
                    .with("cred", user)
                    .with("kernel", kernel),
            );
        }
    }
    runs
}

#[test]
fn two_matrices_give_differences_of_differences() {
    let shelf = Shelf::new();
    let old = shelf.put("old.csv", &csv(&matrix("6.1", 0.0)));
    let new = shelf.put("new.csv", &csv(&matrix("6.10", -0.2)));
    let found = json(&[&old, &new], "");
    let rows = found["rows"].as_array().unwrap();
    let of = |question: &'static str| rows.iter().filter(move |row| row["question"] == question);
    let verdicts: Vec<(&str, &str)> = of("headline")
        .map(|row| (row["cell"].as_str().unwrap(), row["verdict"].as_str().unwrap()))
        .collect();
    assert_eq!(
        verdicts,
        [
            ("as=nobody;mount-acl=off", "same"),
            ("as=nobody;mount-acl=on", "regression"),
            ("as=root;mount-acl=off", "same"),
            ("as=root;mount-acl=on", "same"),
        ]
    );
    let effects: Vec<(&str, &str)> = of("effect")
        .map(|row| (row["effect"].as_str().unwrap(), row["verdict"].as_str().unwrap()))
        .collect();
    let both = "kernel x as (nobody -> root) x mount-acl (off -> on)";
    assert_eq!(
        effects,
        [
            ("kernel, average of the cells", "inconclusive"),
            ("kernel x as (nobody -> root)", "effect"),
            ("kernel x mount-acl (off -> on)", "effect"),
            (both, "effect"),
        ]
    );
    let why = of("effect").next().unwrap()["why"].as_str().unwrap();
    assert_eq!(why, "not the same in all cells");
    // -0.2 in one cell: ACLs cost nobody 0.2 more than root, and the new kernel brought that.
    let last = of("effect").next_back().unwrap();
    let change = last["change_percent"].as_f64().unwrap();
    assert!((change - 100.0 * (0.2f64.exp() - 1.0)).abs() < 3.0, "{change}");
    // The same twice: no effect anywhere.
    let twin = shelf.put("twin.csv", &csv(&matrix("6.20", 0.0)));
    let text = compare(&[&old, &twin], "--fail-on regression --margin 4").expect(0).stdout;
    assert!(!text.contains("regression") && !text.contains("  effect\n"), "{text}");
    // The cells of one matrix against each other, in blocks.
    let text = compare(&[&old], "").expect(0).stdout;
    assert!(text.contains("A: as=nobody;mount-acl=off") && !text.contains("unpaired"), "{text}");
}

#[test]
fn limits_and_outliers_decide_the_exit_code() {
    let shelf = Shelf::new();
    let disks = ["/d1", "/d2", "/d3", "/d4", "/d5"];
    let side = |name: &str, third: f64, flush: f64| {
        let runs: Vec<Made> = (0..5)
            .map(|i| {
                let mut run = Made::new(i, 5000.0).row("all", "Flush", "lat_p99_us", flush);
                run.rows.remove(0);
                for (disk, more) in disks.iter().zip(0..) {
                    let rate = if *disk == "/d3" { third } else { 1000.0 };
                    run = run.row(disk, "all", "ops_per_s", rate + f64::from(more + i));
                }
                run
            })
            .collect();
        shelf.put(name, &csv(&runs))
    };
    let (well, sick) = (side("well.csv", 1000.0, 9000.0), side("sick.csv", 500.0, 12_000.0));
    let limit = "--fail-if lat_p99_us{op=Flush}>10000";
    compare(&[&well, &sick], "").expect(0);
    let broken = compare(&[&well, &sick], limit).expect(1).stdout;
    assert!(
        broken.contains("lat_p99_us{op=Flush} is 12000 (lat_p99_us{op=Flush}>10000)"),
        "{broken}"
    );
    assert_eq!(broken.matches("limit broken: ").count(), 5, "each run is named: {broken}");
    compare(&[&sick, &well], limit).expect(0);
    compare(&[&well, &sick], "--fail-if ops_per_s{disk=*}<800").expect(1);
    compare(&[&well, &sick], "--fail-if lat_p99_us{op=Rename}>1").expect(1);
    let named = compare(&[&well, &sick], "--fail-on outlier").expect(1).stdout;
    assert!(named.contains("outlier: disk /d3: ops_per_s changed by -49.8 %"), "{named}");
    assert!(
        named.contains("disk /d3 of ") && named.contains(" 0.50 of the median of 5"),
        "{named}"
    );
    compare(&[&well, &side("twin.csv", 1000.0, 9000.0)], "--fail-on outlier").expect(0);
}

#[test]
fn many_files_share_the_risk() {
    let shelf = Shelf::new();
    let (a, b) = blocks();
    let base = shelf.put("a.csv", &csv(&a));
    let once = shelf.put("b.csv", &csv(&b));
    let twice = shelf.put("c.csv", &csv(&b));
    let found = json(&[&base, &once, &twice], "");
    let rows = found["rows"].as_array().unwrap();
    // Two equal p-values: both judged, the smaller rank at 0.025; 0.00763 x 2 for both by Holm.
    near(&rows[0]["p_holm"], 0.015_262_848_8);
    near(&rows[0]["level_percent"], 97.5);
    near(&rows[1]["level_percent"], 95.0);
    let text = compare(&[&base, &once, &twice], "").expect(0).stdout;
    assert!(text.contains("of all 2 headline rows together (Holm)"), "{text}");
}

#[test]
fn runs_that_were_not_steady_are_looked_at_twice() {
    let shelf = Shelf::new();
    let (mut a, b) = blocks();
    a[3] = a[3].clone().with("steady", "0");
    a[5] = a[5].clone().with("status", "interrupted");
    a[6] = a[6].clone().with("flags", "failed");
    a[7] = a[7].clone().with("flags", "busy_device");
    let (a, b) = (shelf.put("a.csv", &csv(&a)), shelf.put("b.csv", &csv(&b)));
    let text = compare(&[&a, &b], "").expect(0).stdout;
    assert!(text.contains("1 runs were not steady; without them ops_per_s changes by"), "{text}");
    assert!(text.contains("left out, because it was ended before its window closed"), "{text}");
    assert!(text.contains("left out, because the matrix calls it failed"), "{text}");
    assert!(text.contains("flagged busy_device: "), "{text}");
}

#[test]
fn blocks_that_were_added_after_a_look_cost_something() {
    let shelf = Shelf::new();
    let (mut a, mut b) = blocks();
    for side in [&mut a, &mut b] {
        for (index, run) in side.iter_mut().enumerate() {
            *run = run.clone().with("blocks_planned", if index < 6 { "6" } else { "10" });
        }
    }
    let (a, b) = (shelf.put("a.csv", &csv(&a)), shelf.put("b.csv", &csv(&b)));
    let found = json(&[&a, &b], "");
    near(&found["rows"][0]["level_percent"], 97.5);
    let text = compare(&[&a, &b], "").expect(0).stdout;
    assert!(text.contains("2 looks share the risk"), "{text}");
}

#[test]
fn security_modules_must_be_the_same() {
    let shelf = Shelf::new();
    let side = |name: &str, lsm: &str, mitigation: &str| {
        let runs: Vec<Made> =
            (0..5).map(|i| Made::new(i, 1000.0 + f64::from(i)).with("host_sha256", name)).collect();
        let facts = serde_json::json!({"hosts": {name: {
            "boot_id": name, "kernel": {"lsm": lsm, "audit": {"in_kernel": true}},
            "cpu": {"mitigations": {"retbleed": mitigation}},
        }}});
        shelf.put(&format!("{name}.csv.host.json"), &facts.to_string());
        shelf.put(&format!("{name}.csv"), &csv(&runs))
    };
    let plain = side("plain", "capability", "Not affected");
    let strict = side("strict", "capability,selinux", "Not affected");
    let slower = side("slower", "capability", "Vulnerable");
    let silent = side("silent", "unknown", "Not affected");
    compare(&[&plain, &strict], "")
        .expect(3)
        .says("kernel.lsm: capability against capability,selinux");
    compare(&[&plain, &strict], "--by lsm").expect(0);
    compare(&[&plain, &silent], "").expect(0);
    let text = compare(&[&plain, &slower], "").expect(0).stdout;
    let told = "differs on the host: cpu.mitigations.retbleed: Not affected against Vulnerable";
    assert!(text.contains(told) && !text.contains("boot_id"), "{text}");
    fs::remove_file(shelf.dir.path().join("slower.csv.host.json")).unwrap();
    let text = compare(&[&plain, &slower], "").expect(0).stdout;
    assert!(text.contains("host settings differ; which ones stands in"), "{text}");
}

/// A kernel brings defaults of mounts, and an old one does not name its security modules.
#[test]
fn another_kernel_is_what_is_compared() {
    let shelf = Shelf::new();
    let side = |name: &str, kernel: &str, lsm: &str, options: &str| {
        let run = |i: u32| {
            Made::new(i, 1000.0 + f64::from(i))
                .with("kernel", kernel)
                .with("lsm", lsm)
                .with("mount_options", options)
        };
        shelf.put(&format!("{name}.csv"), &csv(&(0..5).map(run).collect::<Vec<_>>()))
    };
    let old = side("old", "6.1", "", "relatime");
    let new = side("new", "6.12", "capability", "noatime");
    let text = compare(&[&old, &new], "").expect(0).stdout;
    let told = "differs: mount_options: relatime against noatime";
    assert!(text.contains(told), "{text}");
    let strict = side("strict", "6.12", "selinux", "relatime");
    let refused = compare(&[&new, &strict], "").expect(3);
    refused.says("mount_options: ");
    refused.says("lsm: capability against selinux");
}

/// Real results, with a fifth taken off every rate of a copy that carries the same blocks.
#[test]
fn a_planted_effect_in_a_real_result_is_found() {
    let (disk, other) = (temp_disk(), temp_disk());
    let shelf = Shelf::new();
    let path = shelf.dir.path().join("real.csv");
    for _ in 0..4 {
        let arguments = format!("-t 200ms --warmup 0 -c 1 --append -o {}", path.display());
        run_on(&arguments, &[disk.path(), other.path()]).expect(0);
    }
    let planted = |name: &str, factor: f64| {
        let mut reader = csv::Reader::from_path(&path).unwrap();
        let head = reader.headers().unwrap().clone();
        let place = |name: &str| head.iter().position(|column| column == name).unwrap();
        let (rate, experiment, block) =
            (place("ops_per_s"), place("experiment_id"), place("block"));
        let id = place("run_id");
        let copy = shelf.dir.path().join(name);
        let mut writer = csv::Writer::from_path(&copy).unwrap();
        writer.write_record(&head).unwrap();
        let mut ids: Vec<String> = Vec::new();
        for record in reader.records() {
            let mut cells: Vec<String> = record.unwrap().iter().map(str::to_owned).collect();
            if !ids.contains(&cells[id]) {
                ids.push(cells[id].clone());
            }
            cells[block] = ids.len().to_string();
            cells[experiment] = "planted".to_owned();
            if let Ok(value) = cells[rate].parse::<f64>() {
                cells[rate] = (value * factor).to_string();
            }
            writer.write_record(&cells).unwrap();
        }
        writer.flush().unwrap();
        copy
    };
    let (a, b) = (planted("a.csv", 1.0), planted("b.csv", 0.8));
    let found = json(&[&a, &b], "");
    near(&found["rows"][0]["change_percent"], -20.0);
    assert_eq!(found["rows"][0]["verdict"], "regression");
    compare(&[&a, &b], "--fail-on regression").expect(4);
    let twin = planted("twin.csv", 1.0);
    let found = json(&[&a, &twin], "--fail-on regression --strict");
    assert_eq!(found["rows"][0]["verdict"], "same");
    let per_disk = found["rows"].as_array().unwrap().iter().filter(|row| row["disk"] == "mean");
    assert_eq!(per_disk.count(), 1);
}
