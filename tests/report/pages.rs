//! Pages of real results in a browser: one disk, a matrix with effects, 112 disks.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::browser::Browser;
use crate::common::tool::{Running, jbodbench, run_on, temp_disk};
use crate::common::{TmpFs, or_skip, skip};
use crate::{report, result};

/// A page of a result file beside it.
fn page_of(csv: &Path) -> PathBuf {
    let page = csv.with_extension("html");
    report([csv.as_os_str(), "-o".as_ref(), page.as_os_str()]).expect(0);
    page
}

fn texts<'v>(measured: &'v Value, what: &str) -> Vec<&'v str> {
    measured[what].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

/// Opens the page as it is and as a script sees it, light, dark and narrow; draws it.
fn look(browser: &Browser, page: &Path, name: &str) -> Value {
    assert_eq!(browser.console(page), Vec::<String>::new(), "{name}: messages on the console");
    let light = browser.measure(page, "1100,900", &[]);
    let dark = browser.measure(page, "1100,900", &["--force-dark-mode"]);
    for measured in [&light, &dark] {
        assert_eq!(texts(measured, "bad"), Vec::<&str>::new(), "{name}");
        assert_eq!(texts(measured, "loaded"), Vec::<&str>::new(), "{name}: requests");
    }
    assert_eq!(
        (&light["back"], &dark["back"]),
        (&"rgb(255, 255, 255)".into(), &"rgb(22, 24, 28)".into())
    );
    assert_ne!(light["ink"], dark["ink"], "texts of plots follow the scheme");
    let size = format!("1100,{}", light["height"].as_u64().unwrap().min(8000));
    browser.shoot(page, &format!("{name}-light.png"), &size, &[]);
    browser.shoot(page, &format!("{name}-dark.png"), &size, &["--force-dark-mode"]);
    browser.shoot(page, &format!("{name}.pdf"), &size, &["--no-pdf-header-footer"]);
    light
}

#[test]
fn the_watch_sees_a_request_and_a_text_outside() {
    let browser = or_skip!(Browser::new());
    let dir = temp_disk();
    let (disk, csv) = (temp_disk(), dir.path().join("run.csv"));
    result(&csv, run_on("-l small -c 1 -t 200ms --warmup 0 --interval 50ms", &[disk.path()]));
    let page = page_of(&csv);
    let text = fs::read_to_string(&page).unwrap();
    let planted = "<img src=\"https://example.invalid/x.png\"></body>";
    fs::write(&page, text.replace("</body>", planted).replacen("<text x=\"", "<text x=\"-9", 1))
        .unwrap();
    assert!(
        !browser.console(&page).is_empty(),
        "a request that the policy forbids is on the console"
    );
    assert!(!texts(&browser.measure(&page, "1100,900", &[]), "bad").is_empty());
}

#[test]
fn one_disk() {
    let browser = or_skip!(Browser::new());
    let dir = temp_disk();
    let (disk, csv) = (temp_disk(), dir.path().join("run.csv"));
    result(&csv, run_on("-c 2 -t 2s --warmup 100ms --interval 200ms", &[disk.path()]));
    let measured = look(&browser, &page_of(&csv), "one");
    let headings = ["Result", "Throughput over time", "Latency", "Disks", "Conditions"];
    assert_eq!(texts(&measured, "headings"), headings);
    assert_eq!((measured["plots"].as_u64(), measured["tables"].as_u64()), (Some(2), Some(5)));
    let words = texts(&measured, "words");
    for word in
        ["ops/s", "seconds since the window opened", "latency (logarithmic)", "p99.9", "ReadX"]
    {
        assert!(words.contains(&word), "no {word} in {words:?}");
    }
}

#[test]
fn a_matrix_with_effects_and_a_scaling_curve() {
    let browser = or_skip!(Browser::new());
    let (one, other) = (or_skip!(TmpFs::new("64m")), or_skip!(TmpFs::new("64m")));
    let dir = temp_disk();
    let csv = dir.path().join("matrix.csv");
    let mut command = jbodbench(["matrix"]);
    let arguments = "--vary clients=1,2,4 --vary spin=0,20us --blocks 6 -l small -t 300ms --warmup 20ms \
                     --interval 100ms";
    command.args(arguments.split_whitespace()).args([one.path(), other.path()]);
    result(&csv, Running::start(command).finish());
    let measured = look(&browser, &page_of(&csv), "matrix");
    let headings =
        ["Result", "Effects", "Scaling", "Throughput over time", "Latency", "Disks", "Conditions"];
    assert_eq!(texts(&measured, "headings"), headings);
    // Effects twice (declared and exploratory), the curve, six cells over time, percentiles.
    assert!(measured["plots"].as_u64().unwrap() >= 10, "{measured}");
    let words = texts(&measured, "words");
    for word in [
        "spin: 0 → 20us",
        "at clients=1",
        "mean over the others",
        "interaction: ratio of ratios",
        "change in percent; equal ratios at equal distances",
        "ideal",
        "speed-up of ops_per_s",
    ] {
        assert!(words.contains(&word), "no {word} in {words:?}");
    }
    // Each declared effect has its change and interval beside its line, as the rows have them.
    let table = crate::common::tool::Table::read(&csv);
    let row =
        table.of("effect").into_iter().find(|row| row.text("factor") == "spin").unwrap().clone();
    let near = |text: &str, value: f64| {
        let number = text.trim_end_matches(" %").parse::<f64>();
        number.is_ok_and(|shown| (shown - value).abs() <= 0.006 * value.abs() + 0.0005)
    };
    assert!(words.iter().any(|word| near(word, row.float("change_pct"))), "{words:?}");
    let ends = |word: &&str| {
        word.split_once(" .. ").is_some_and(|(low, high)| {
            near(low, row.float("low_pct")) && near(high, row.float("high_pct"))
        })
    };
    assert!(words.iter().any(ends), "{words:?}");
}

/// A shelf of 112 file systems of their own: no plot has a line per disk, each disk has a row.
#[test]
fn many_disks() {
    let browser = or_skip!(Browser::new());
    let mut shelf = Vec::new();
    for _ in 0..112 {
        shelf.push(or_skip!(TmpFs::new("16m")));
    }
    let paths: Vec<PathBuf> = shelf.iter().map(TmpFs::path).collect();
    let disks: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let dir = temp_disk();
    let csv = dir.path().join("shelf.csv");
    result(&csv, run_on("-l small -c 1 -t 4s --warmup 100ms --interval 500ms", &disks));
    let page = page_of(&csv);
    let measured = look(&browser, &page, "many");
    let words = texts(&measured, "words");
    assert!(
        words.contains(&"median disk") && words.iter().any(|word| word.starts_with("slowest: "))
    );
    let captions = texts(&measured, "captions");
    assert!(
        captions.iter().any(|text| text.starts_with("Each disk against the median disk")),
        "{captions:?}"
    );
    // Every disk has a row in the table of disks.
    let text = fs::read_to_string(&page).unwrap();
    let rows = text.split("Each disk (112 rows)").nth(1).unwrap().split("</table>").next().unwrap();
    assert_eq!(rows.matches("<tr><td>").count(), 112);
    let size = fs::metadata(&page).unwrap().len();
    assert!(size < 1_500_000, "{size} bytes");
}
