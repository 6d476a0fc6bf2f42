//! Tests of the display on a terminal in memory.

use std::sync::{Arc, Mutex};

use indicatif::InMemoryTerm;

use super::*;
use crate::output::frame::{FrameDisk, FrameTotal, Goal};

fn frame(disks: usize, seconds: u64) -> Frame {
    let disk = |i: usize| FrameDisk {
        label: format!("/mnt/d{i}"),
        ops_per_s: if i == 1 { 5_000.0 } else { 10_000.0 },
        bytes_per_s: 53e6,
        errors: if i == 1 { 3 } else { 0 },
        state: if i == 1 { "stalled".into() } else { String::new() },
    };
    Frame {
        elapsed: Duration::from_secs(seconds),
        phase: Phase::Measure,
        goal: Goal::Time(Duration::from_secs(60)),
        disks: (0..disks).map(disk).collect(),
        total: FrameTotal {
            ops_per_s: 123_456.0,
            bytes_per_s: 1.5e9,
            p99_us: Some(1234.0),
            errors: 3,
        },
    }
}

fn on_terminal(rows: u16, columns: u16) -> (InMemoryTerm, Progress) {
    let terminal = InMemoryTerm::new(rows, columns);
    let target = ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), 255);
    (terminal, Progress::bars(target, rows.into(), columns.into()))
}

#[test]
fn a_bar_per_disk_and_a_total() {
    let (terminal, mut progress) = on_terminal(24, 100);
    progress.tick(&frame(2, 15));
    let expected = "\
/mnt/d0 [##########]  10.0k ops/s  53.0 MB/s
/mnt/d1 [#####-----]  5.00k ops/s  53.0 MB/s  errors 3  stalled
total                  123k ops/s  1500 MB/s  p99 1.23ms  errors 3
measure [##--------]  15s of 1m00s";
    assert_eq!(terminal.contents(), expected);
    progress.note("disk /mnt/d1 does not answer");
    assert_eq!(terminal.contents(), format!("disk /mnt/d1 does not answer\n{expected}"));
    progress.finish();
    assert_eq!(terminal.contents(), "disk /mnt/d1 does not answer");
}

#[test]
fn more_disks_than_lines_are_counted() {
    let (terminal, mut progress) = on_terminal(10, 80);
    let mut many = frame(112, 1);
    many.disks[50].state = "hung".into();
    progress.tick(&many);
    let lines: Vec<String> = terminal.contents().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 8, "{lines:#?}");
    assert!(lines[4].starts_with("/mnt/d4 "));
    assert_eq!(lines[5], "...       107 more, 1 not ok");
    assert!(lines[6].starts_with("total ") && lines[7].starts_with("measure "));
}

#[test]
fn nothing_wraps_on_a_narrow_terminal() {
    let (terminal, mut progress) = on_terminal(24, 60);
    let mut narrow = frame(3, 1);
    narrow.disks[0].label = "/srv/".to_owned() + &"x".repeat(80);
    progress.tick(&narrow);
    assert_eq!(terminal.contents().lines().count(), 5, "{}", terminal.contents());
    assert!(terminal.contents().starts_with("/srv...xxxxx ["), "{}", terminal.contents());
}

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Memory {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

#[test]
fn a_plain_line_every_ten_seconds() {
    let memory = Memory::default();
    let mut progress = Progress::lines(Box::new(memory.clone()), true);
    for second in 0..=25 {
        progress.tick(&frame(2, second));
    }
    let line = |time: &str| {
        format!(
            "measure {time} of 1m00s:  123k ops/s  1500 MB/s  p99 1.23ms  errors 3; /mnt/d1 stalled\n"
        )
    };
    assert_eq!(memory.text(), line("10s") + &line("20s"));
}

#[test]
fn without_display_only_messages_are_written() {
    let memory = Memory::default();
    let mut progress = Progress::lines(Box::new(memory.clone()), false);
    (0..60).for_each(|second| progress.tick(&frame(2, second)));
    progress.note("a warning");
    progress.finish();
    assert_eq!(memory.text(), "a warning\n");
}

#[test]
fn progress_is_told_in_words() {
    let mut passes = frame(1, 75);
    passes.goal = Goal::Passes { done: 2, wanted: 8 };
    assert_eq!((passes.progress().as_str(), passes.share()), ("1m15s, pass 2 of 8", 0.25));
    passes.goal = Goal::Open;
    passes.phase = Phase::Drain;
    passes.elapsed = Duration::from_millis(250);
    assert_eq!((passes.progress().as_str(), passes.share()), ("250ms", 0.0));
    passes.goal = Goal::Time(Duration::ZERO);
    assert_eq!(passes.share(), 0.0);
}
