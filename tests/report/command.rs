//! Arguments, refusals, and what stands on the page.

use std::fs;
use std::path::Path;

use crate::common::tool::{Table, run_on, temp_disk};
use crate::{report, result};

/// A short run on a fresh directory of this name.
fn run_of(name: &str, into: &Path) -> tempfile::TempDir {
    let disk = temp_disk();
    let place = disk.path().join(name);
    fs::create_dir(&place).unwrap();
    let arguments = "-l small -c 1 -t 300ms --warmup 0 --interval 100ms";
    result(into, run_on(arguments, &[&place]));
    disk
}

#[test]
fn a_page_that_is_there_stays() {
    let dir = temp_disk();
    let (csv, page) = (dir.path().join("run.csv"), dir.path().join("page.html"));
    let _disk = run_of("d", &csv);
    let (csv, out) = (csv.to_str().unwrap(), page.to_str().unwrap());
    report([csv, "-o", out]).expect(0);
    fs::write(&page, "mine").unwrap();
    report([csv, "-o", out])
        .expect(2)
        .says("exists; choose another name, or replace it with --force");
    assert_eq!(fs::read_to_string(&page).unwrap(), "mine");
    report([csv, "-o", out, "--force", "--title", "Shelf 7"]).expect(0);
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.contains("<h1>Shelf 7</h1>") && text.contains("<title>Shelf 7</title>"));
    // The same page on standard output, and never over a result.
    assert_eq!(report([csv, "--title", "Shelf 7"]).expect(0).stdout, text);
    report([csv, "-o", csv, "--force"]).expect(2).says("is one of the results");
    report([csv, "-o", "/dev/full"]).expect(1).says("cannot write /dev/full");
}

#[test]
fn what_is_no_result_is_named_with_its_place() {
    let dir = temp_disk();
    let csv = dir.path().join("run.csv");
    let _disk = run_of("d", &csv);
    let text = fs::read_to_string(&csv).unwrap();
    let put = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    report(["/nowhere.csv"]).expect(2).says("cannot read /nowhere.csv");
    report([put("empty.csv", "")]).expect(2).says("empty.csv:1:1: the file is empty");
    report([put("other.csv", "a,b\n1,2\n")]).expect(2).says("other.csv:1:1: no column run_id");
    let header = text.lines().next().unwrap().to_owned() + "\n";
    report([put("none.csv", &header)]).expect(2).says("none.csv:1:1: no summary rows");
    // The last line but its last ten characters, as a killed run leaves it.
    let lines = text.lines().count();
    let torn = put("torn.csv", &text[..text.len() - 10]);
    let cut = format!("truncate -s {}", text[..text.len() - 1].rfind('\n').unwrap() + 1);
    let finished = report([torn]).expect(2);
    finished.says(&format!("torn.csv:{lines}:1: the last line is not complete"));
    finished.says(&cut);
    // A word where a number should be: line 2, and the character where the field begins.
    let place = header.trim_end().split(',').position(|name| name == "clients").unwrap();
    let row = text.lines().nth(1).unwrap();
    let start: usize = quoted_fields(row).iter().take(place).map(|field| field.len() + 1).sum();
    let wrong: Vec<String> = header
        .trim_end()
        .split(',')
        .zip(quoted_fields(row))
        .map(|(name, field)| if name == "schema" { "x".into() } else { field })
        .collect();
    assert!(start > 0);
    let wrong = put("wrong.csv", &format!("{header}{}\n", wrong.join(",")));
    report([wrong]).expect(2).says("wrong.csv:2:1: schema is \"x\", which is no number");
}

/// Fields of a line as they are written, quotes and all.
fn quoted_fields(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        quoted ^= c == '"';
        match c {
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}

/// Labels come from users: what is markup in them must not be any in the page.
#[test]
fn names_are_text() {
    let dir = temp_disk();
    let csv = dir.path().join("run.csv");
    let name = "<img src=x onerror=alert(1)>&\"'";
    let _disk = run_of(name, &csv);
    let text = report([csv.to_str().unwrap(), "--title", "<b>&"]).expect(0).stdout;
    assert!(!text.contains("<img") && !text.contains("<b>"), "{text}");
    assert!(text.contains("&lt;img src=x onerror=alert(1)&gt;&amp;&quot;&#39;"), "{text}");
    assert!(text.contains("<h1>&lt;b&gt;&amp;</h1>"));
}

/// What the page says of a run is what its rows say; it holds nothing that could be loaded or run.
#[test]
fn the_figures_are_those_of_the_rows() {
    let dir = temp_disk();
    let csv = dir.path().join("run.csv");
    let _disk = run_of("d", &csv);
    let text = report([csv.to_str().unwrap()]).expect(0).stdout;
    let table = Table::read(&csv);
    for op in ["NTCreateX", "Close", "WriteX"] {
        let row = table.summary("all", op);
        let found = text.lines().find(|line| line.starts_with(&format!("<tr><td>{op}</td>")));
        let cells: Vec<&str> = found.unwrap().split("</td>").collect();
        let count = cells[1].rsplit('>').next().unwrap();
        // Three digits and a letter, as 1.23k.
        let ops = row.int("ops") as f64;
        let shown = count.trim_end_matches(['k', 'M']).parse::<f64>().unwrap();
        let scale = if count.ends_with('M') {
            1e6
        } else if count.ends_with('k') {
            1e3
        } else {
            1.0
        };
        assert!((shown * scale / ops - 1.0).abs() < 0.006, "{op}: {count} for {ops}");
    }
    for word in ["<script", "src=", "href=", "url(", "@import", "@font-face", "<link"] {
        assert!(!text.contains(word), "{word} in the page");
    }
    assert!(text.contains("default-src 'none'"));
}

/// Two files are compared as `compare` does; what must not be compared is said, not hidden.
#[test]
fn two_files_are_compared_or_the_page_says_why_not() {
    let dir = temp_disk();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let disk = temp_disk();
    for (name, clients) in [("a.csv", 1), ("b.csv", 1), ("c.csv", 2)] {
        let arguments = format!("-l small -c {clients} -t 200ms --warmup 0");
        result(Path::new(&path(name)), run_on(&arguments, &[disk.path()]));
    }
    let alike = report([path("a.csv"), path("b.csv")]).expect(0).stdout;
    assert!(alike.contains("<h2>Comparison</h2>") && alike.contains("too few"), "{alike}");
    let unlike = report([path("a.csv"), path("c.csv")]).expect(0).stdout;
    assert!(unlike.contains("Not compared: these results are not of the same conditions"));
    assert!(unlike.contains("clients: 1 against 2"), "{unlike}");
}
