//! The lines next to those of Debian's dbench, and figures in them that are known beforehand.

use std::path::Path;

use crate::common::tool::{assert_clean, temp_disk};
use crate::common::{or_skip, skip};
use crate::{case, debians, need_dbench, ours, start};

/// What is the same in every run: numbers count as one word, blanks as one blank, repeated lines as one.
/// Who it says it is, on the first line, is left out.
fn shape(text: &str) -> Vec<String> {
    let mut shapes: Vec<String> = Vec::new();
    for line in text.lines().skip(1) {
        let number = |word: &str| word.parse::<f64>().is_ok();
        let words = line.split_whitespace();
        let word = |word: &str| match word.split_once('=') {
            Some((key, value)) if number(value) => format!("{key}=#"),
            _ if number(word) => "#".to_owned(),
            _ => word.to_owned(),
        };
        let shape = words.map(word).collect::<Vec<_>>().join(" ");
        if shapes.last() != Some(&shape) {
            shapes.push(shape);
        }
    }
    shapes
}

/// Columns at which the words of a line end: numbers grow to the left. Lines of operations and seconds
/// only.
fn ends(line: &str) -> Vec<usize> {
    let bytes = line.as_bytes();
    let end = |at: &usize| bytes[*at] != b' ' && bytes.get(at + 1).is_none_or(|next| *next == b' ');
    (0..bytes.len()).filter(end).collect()
}

/// Names of operations have places of their own in the order, which Deltree shows as well as any.
#[test]
fn both_print_the_same_lines() {
    or_skip!(need_dbench());
    let commands = [
        "-t 2 2",
        "3 -t2 -sS --per-client-results",
        "-t 2 -F --skip-cleanup --clients-per-process=2 2",
        // The warm-up is 2 s, and one line of it is seen.
        "-t 10 -x --no-resolve 1",
    ];
    // Passes with every operation of dbench, 0.4 s of rest behind each.
    let load = case("all4.load");
    let started: Vec<_> = commands
        .iter()
        .map(|words| {
            let (here, there) = (temp_disk(), temp_disk());
            let theirs = debians(words, there.path(), &load).unwrap();
            (words, start(words, here.path(), &load), theirs, here, there)
        })
        .collect();
    for (words, ours, theirs, ..) in started {
        let (ours, theirs) = (ours.finish().expect(0), theirs.finish().expect(0));
        assert_eq!(shape(&ours.stdout), shape(&theirs.stdout), "{words}\n{ours}\n{theirs}");
        assert_same_columns(&ours.stdout, &theirs.stdout);
        ours.says("not comparable");
    }
}

fn assert_same_columns(ours: &str, theirs: &str) {
    let tables = |text: &str| -> Vec<Vec<usize>> {
        let wanted = |line: &&str| line.starts_with(" Flush  ") || line.contains(" execute ");
        text.lines().filter(wanted).map(|line| ends(&line[..line.len().min(41)])).collect()
    };
    assert_eq!(tables(ours).first(), tables(theirs).first());
    assert!(!tables(ours).is_empty(), "{ours}");
}

/// One pass is what the loadfile says, and the throughput is not 0 because it was short.
#[test]
fn one_pass_by_hand() {
    let disk = temp_disk();
    let words = "--run-once 3 --per-client-results";
    let finished = ours(words, disk.path(), &case("slow4.load")).expect(0);
    let text = &finished.stdout;
    let counts: Vec<(&str, &str)> = text
        .lines()
        .skip_while(|line| !line.contains("Operation"))
        .skip(2)
        .take_while(|line| !line.is_empty())
        .map(|line| {
            (line.split_whitespace().next().unwrap(), line.split_whitespace().nth(1).unwrap())
        })
        .collect();
    // The file has Mkdir, two NTCreateX, two Close and a WriteX of 64 KiB.
    assert_eq!(counts, [("Close", "6"), ("Mkdir", "3"), ("WriteX", "3"), ("NTCreateX", "6")]);
    for client in 0..3 {
        let head = format!("Client {client} did 6 lines and 65536 bytes");
        assert!(text.contains(&head), "{finished}");
    }
    let last = text.lines().last().unwrap();
    let rate: f64 = last.split(' ').nth(1).unwrap().parse().unwrap();
    // 3 x 64 KiB in at least the 50 ms that the file sleeps.
    assert!(rate > 0.0 && rate <= 3.0 * 0.065536 / 0.05, "{last}");
    assert!(!text.contains("cleanup"), "nobody was told to stop: {text}");
    assert_clean(&[disk.path()]);
}

/// The warm-up is not in the table, and counts as work done all the same.
#[test]
fn the_warm_up_is_not_measured() {
    let disk = temp_disk();
    // 50 ms a pass: some 40 passes in 2 s of warm-up, some 20 in the second that is measured.
    let words = "--warmup 2 -t 1 1 --per-client-results";
    let finished = ours(words, disk.path(), &case("slow4.load")).expect(0);
    let text = &finished.stdout;
    let warm = text.lines().filter(|line| line.contains(" MB/sec  warmup "));
    assert_eq!(warm.count(), 1, "the warm-up ends with its second second: {text}");
    let line = text.lines().find(|line| line.starts_with(" Mkdir")).unwrap();
    let passes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!((1..=20).contains(&passes), "{line}");
    let head = text.lines().find(|line| line.starts_with("Client 0 did")).unwrap();
    let words: Vec<u64> = head.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [0, lines, bytes] = words[..] else { panic!("{head}") };
    assert!(lines > 6 * passes + 6, "{head}");
    assert_eq!(bytes / 65_536, bytes.div_ceil(65_536));
    assert!(bytes.abs_diff(passes * 65_536) <= 65_536, "{head}, {line}");
}

/// Several loadfiles are dealt to the clients, and what was written is gone.
#[test]
fn a_list_of_loadfiles_is_dealt() {
    let (disk, files) = (temp_disk(), temp_disk());
    let write = |name: &str, text: &str| {
        let file = files.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let a = write("a.load", "Mkdir \"\\a\" NT_STATUS_OK\n");
    let b = write("b.load", "QUERY_FS_INFORMATION 1 NT_STATUS_OK\n");
    let list = format!("{a},{b}");
    let finished = ours("--run-once 3", disk.path(), Path::new(&list)).expect(0);
    let count = |name: &str| {
        let line = finished.stdout.lines().find(|line| line.starts_with(&format!(" {name} ")));
        line.unwrap().split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!((count("Mkdir"), count("QUERY_FS_INFORMATION")), ("2".into(), "1".into()));
    assert!(finished.stdout.contains(&format!("with load '{list}'")));
    assert_clean(&[disk.path()]);
}
