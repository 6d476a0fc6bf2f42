//! The display while a load runs, on stderr: bars on a terminal, or a plain line now and then.
//!
//! It shows the frames it is given and asks nobody for figures, so that sampling does not depend
//! on it. No colours are used, and stdout is never touched.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::frame::{Frame, Phase};
use super::text::shorten;

/// Between two plain lines.
const PLAIN_EVERY: Duration = Duration::from_secs(10);
/// Resolution of a bar.
const STEPS: u64 = 1000;
/// Lines of the terminal that disks leave free: "n more", total, phase, two of what was there.
const SPARE: usize = 5;

/// A line with a bar.
const WITH_BAR: &str = "{prefix} [{bar:10}]  {wide_msg}";

/// What is asked for with `--progress`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Bars when stderr is a terminal (plain lines on a dumb one), else nothing.
    Auto,
    /// A line every 10 s.
    Plain,
    /// Nothing.
    None,
}

/// The display of a run.
pub struct Progress {
    kind: Kind,
    /// Of which series of runs this is one, and the share of the series that is done.
    series: Option<(String, f64)>,
}

enum Kind {
    Bars(Bars),
    Lines(Lines),
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match &self.kind {
            Kind::Bars(_) => "Progress(bars)",
            Kind::Lines(lines) if lines.ticks => "Progress(plain)",
            Kind::Lines(_) => "Progress(none)",
        })
    }
}

impl Progress {
    /// A display on stderr.
    #[must_use]
    pub fn new(mode: Mode) -> Self {
        let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
        match mode {
            Mode::Auto if io::stderr().is_terminal() && !dumb => {
                let (rows, columns) = console_size();
                Self::bars(ProgressDrawTarget::stderr_with_hz(10), rows, columns)
            }
            Mode::Auto => Self::lines(Box::new(io::stderr()), io::stderr().is_terminal()),
            Mode::Plain => Self::lines(Box::new(io::stderr()), true),
            Mode::None => Self::lines(Box::new(io::stderr()), false),
        }
    }

    /// Bars on any terminal of this size.
    #[must_use]
    pub fn bars(target: ProgressDrawTarget, rows: usize, columns: usize) -> Self {
        let multi = MultiProgress::with_draw_target(target);
        Self::of(Kind::Bars(Bars { multi, rows, columns, shown: None }))
    }

    /// Plain lines to anything: messages, and with `ticks` the state every 10 s.
    #[must_use]
    pub fn lines(target: Box<dyn Write + Send>, ticks: bool) -> Self {
        Self::of(Kind::Lines(Lines { target, ticks, last: None, series_at: None }))
    }

    const fn of(kind: Kind) -> Self {
        Self { kind, series: None }
    }

    /// Sets what is shown beside the run at hand: of which series it is a part, and the share of
    /// that, from 0 to 1, that is done. Plain lines say it at most every 10 s.
    pub fn series(&mut self, text: String, share: f64) {
        if let Kind::Lines(lines) = &mut self.kind
            && lines.ticks
            && lines.series_at.is_none_or(|at| at.elapsed() >= PLAIN_EVERY)
        {
            lines.series_at = Some(Instant::now());
            lines.write(&text);
        }
        self.series = Some((text, share));
    }

    /// Whether [`Progress::tick`] shows anything: frames need not be made otherwise.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        match &self.kind {
            Kind::Bars(_) => true,
            Kind::Lines(lines) => lines.ticks,
        }
    }

    /// Shows the state of things.
    pub fn tick(&mut self, frame: &Frame) {
        match &mut self.kind {
            Kind::Bars(bars) => bars.tick(frame, self.series.as_ref()),
            Kind::Lines(lines) => lines.tick(frame),
        }
    }

    /// Writes a message, above the bars if there are any. Messages are shown in every mode.
    pub fn note(&mut self, message: &str) {
        match &mut self.kind {
            Kind::Bars(bars) => drop(bars.multi.println(message)),
            Kind::Lines(lines) => lines.write(message),
        }
    }

    /// Removes the bars from the screen; later frames show them again.
    pub fn finish(&mut self) {
        if let Kind::Bars(bars) = &mut self.kind {
            bars.clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Rows and columns of the terminal at stderr.
fn console_size() -> (usize, usize) {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stderr()).ok();
    size.filter(|s| s.ws_row > 0 && s.ws_col > 0)
        .map_or((24, 80), |s| (s.ws_row.into(), s.ws_col.into()))
}

struct Lines {
    target: Box<dyn Write + Send>,
    ticks: bool,
    /// Phase and time of the last line.
    last: Option<(Phase, Duration)>,
    /// When a line about the series was written.
    series_at: Option<Instant>,
}

impl Lines {
    fn tick(&mut self, frame: &Frame) {
        let due = match self.last {
            Some((phase, at)) if phase == frame.phase => frame.elapsed >= at + PLAIN_EVERY,
            _ => {
                // The first line of a phase comes when it has run for a while.
                self.last = Some((frame.phase, Duration::ZERO));
                frame.elapsed >= PLAIN_EVERY
            }
        };
        if due && self.ticks {
            self.write(&frame.plain_line());
            // Multiples of the step, so that a late frame does not shift all later lines.
            let step = frame.elapsed.as_secs() / PLAIN_EVERY.as_secs() * PLAIN_EVERY.as_secs();
            self.last = Some((frame.phase, Duration::from_secs(step)));
        }
    }

    fn write(&mut self, line: &str) {
        // A closed stderr is no reason to end a measurement.
        let _ = self.target.write_all(format!("{line}\n").as_bytes());
        let _ = self.target.flush();
    }
}

struct Bars {
    multi: MultiProgress,
    rows: usize,
    columns: usize,
    shown: Option<Shown>,
}

/// What is on the screen, from top to bottom.
struct Shown {
    disks: Vec<ProgressBar>,
    more: Option<ProgressBar>,
    total: ProgressBar,
    phase: ProgressBar,
    series: Option<ProgressBar>,
    /// Width of the first column.
    label: usize,
}

impl Bars {
    /// A disk's bar is its ops/s next to the fastest disk's: a slow one is seen at a glance.
    fn tick(&mut self, frame: &Frame, series: Option<&(String, f64)>) {
        let (multi, rows, columns) = (&self.multi, self.rows, self.columns);
        let shown = self.shown.get_or_insert_with(|| {
            Shown::new(multi, rows - usize::from(series.is_some()).min(rows), columns, frame)
        });
        let fastest = frame.disks.iter().map(|disk| disk.ops_per_s).fold(0.0, f64::max);
        for (bar, disk) in shown.disks.iter().zip(&frame.disks) {
            bar.set_position(steps(disk.ops_per_s / fastest));
            bar.set_message(disk.numbers());
        }
        if let Some(more) = &shown.more {
            let hidden = frame.disks.iter().skip(shown.disks.len());
            more.set_message(more_text(hidden.map(|disk| disk.state.as_str())));
        }
        shown.total.set_message(frame.total.numbers());
        shown.phase.set_position(steps(frame.share()));
        shown.phase.set_prefix(format!("{:<1$}", frame.phase.word(), shown.label));
        shown.phase.set_message(frame.progress());
        if let Some((text, share)) = series {
            let label = shown.label;
            let bar = shown.series.get_or_insert_with(|| bar(multi, WITH_BAR, "matrix", label));
            bar.set_position(steps(*share));
            bar.set_message(text.clone());
        }
    }

    fn clear(&mut self) {
        if let Some(shown) = self.shown.take() {
            let Shown { disks, more, total, phase, series, .. } = shown;
            for bar in disks.into_iter().chain(more).chain([total, phase]).chain(series) {
                bar.finish_and_clear();
                self.multi.remove(&bar);
            }
        }
        drop(self.multi.clear());
    }
}

impl Shown {
    fn new(multi: &MultiProgress, rows: usize, columns: usize, frame: &Frame) -> Self {
        let room = rows.saturating_sub(SPARE).max(1);
        let count = frame.disks.len().min(room);
        // A bar takes 14 columns, rates, an error count and a state some 45.
        let longest = frame.disks.iter().map(|d| d.label.chars().count()).max().unwrap_or(0);
        let label = longest.min(columns.saturating_sub(60).clamp(12, 40)).max(7);
        let add = |template: &str, prefix: &str| bar(multi, template, prefix, label);
        Self {
            disks: frame.disks[..count].iter().map(|disk| add(WITH_BAR, &disk.label)).collect(),
            more: (count < frame.disks.len()).then(|| add("{prefix} {wide_msg}", "...")),
            total: add("{prefix}               {wide_msg}", "total"),
            phase: add(WITH_BAR, ""),
            series: None,
            label,
        }
    }
}

fn bar(multi: &MultiProgress, template: &str, prefix: &str, label: usize) -> ProgressBar {
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("#--");
    let prefix = format!("{:<label$}", shorten(prefix, label));
    multi.add(ProgressBar::new(STEPS).with_style(style).with_prefix(prefix))
}

fn steps(share: f64) -> u64 {
    if share.is_finite() { (share.clamp(0.0, 1.0) * STEPS as f64).round() as u64 } else { 0 }
}

/// `17 more`, and how many of them are in a state of their own.
fn more_text<'a>(states: impl Iterator<Item = &'a str>) -> String {
    let (mut count, mut odd) = (0, 0);
    for state in states {
        count += 1;
        odd += usize::from(!state.is_empty());
    }
    if odd == 0 { format!("{count} more") } else { format!("{count} more, {odd} not ok") }
}

#[cfg(test)]
#[path = "bars_tests.rs"]
mod tests;
