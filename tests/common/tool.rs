//! The real binary: started, watched with a deadline, its result read.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// More than any run of these tests takes, on a machine that has other things to do as well.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// The binary under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_jbodbench");

/// A command line of it.
pub fn jbodbench<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(BINARY);
    command.args(arguments);
    command
}

/// `run` with these arguments, words apart by blanks, on these disks, to its end.
pub fn run_on(arguments: &str, disks: &[&Path]) -> Finished {
    let mut command = jbodbench(["run"]);
    command.args(arguments.split_whitespace()).args(disks);
    Running::start(command).finish()
}

/// One pass of each client on a fresh directory.
#[track_caller]
pub fn one_pass(load: &Path, arguments: &str) -> Table {
    let disk = temp_disk();
    let arguments = format!("--passes 1 -l {} {arguments}", load.display());
    let finished = run_on(&arguments, &[disk.path()]).expect(0);
    assert_clean(&[disk.path()]);
    finished.table()
}

/// What a process has left when it has ended.
#[derive(Debug)]
pub struct Finished {
    /// Its exit code; minus the signal that killed it.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// Fails unless it ended with this code; returns itself.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self}");
        self
    }

    /// Its standard output as CSV.
    #[track_caller]
    pub fn table(&self) -> Table {
        Table::parse(&self.stdout)
    }

    /// Fails unless its messages hold this text.
    #[track_caller]
    pub fn says(&self, text: &str) {
        assert!(self.stderr.contains(text), "nowhere `{text}` in {self}");
    }
}

impl std::fmt::Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {}\n--- stderr\n{}\n--- stdout\n", self.code, self.stderr)?;
        // Rows are long; their first words are enough to see what is there.
        self.stdout
            .lines()
            .take(40)
            .try_for_each(|line| writeln!(f, "{}", line.chars().take(300).collect::<String>()))
    }
}

/// A process in a group of its own, with all that it has started. Dropping it kills the group.
#[derive(Debug)]
pub struct Running {
    child: Child,
    started: Instant,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
    ended: bool,
}

impl Running {
    /// Starts it; its standard output is read unless the command says where it goes.
    pub fn start(command: Command) -> Self {
        Self::start_with(command, Stdio::piped())
    }

    /// Starts it with a standard output.
    pub fn start_with(mut command: Command, stdout: Stdio) -> Self {
        command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().unwrap();
        let stdout = child.stdout.take().map(read_all);
        let stderr = child.stderr.take().map(read_all);
        Self { child, started: Instant::now(), stdout, stderr, ended: false }
    }

    /// Its process id, that of its group too.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// When it was started.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Sends a signal to the first process alone.
    pub fn signal(&self, signal: Signal) {
        rustix::process::kill_process(pid(self.pid()), signal).unwrap();
    }

    /// Sends a signal to all of the group, as a terminal does.
    pub fn signal_group(&self, signal: Signal) {
        kill_process_group(pid(self.pid()), signal).unwrap();
    }

    /// The worker process.
    #[track_caller]
    pub fn worker(&self) -> i32 {
        wait_for("the worker", || children(self.pid()).first().copied())
    }

    /// Waits for its end and that of its outputs.
    #[track_caller]
    pub fn finish(self) -> Finished {
        self.finish_within(DEADLINE)
    }

    /// The same with another deadline, counted from now.
    #[track_caller]
    pub fn finish_within(mut self, time: Duration) -> Finished {
        let deadline = Instant::now() + time;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "still running after {time:?}");
            std::thread::sleep(Duration::from_millis(10));
        };
        self.ended = true;
        let text = |reader: Option<JoinHandle<String>>| {
            let Some(reader) = reader else { return String::new() };
            while !reader.is_finished() {
                assert!(Instant::now() < deadline, "its output has no end");
                std::thread::sleep(Duration::from_millis(10));
            }
            reader.join().unwrap()
        };
        Finished {
            code: status.code().unwrap_or_else(|| -status.signal().unwrap_or(0)),
            stdout: text(self.stdout.take()),
            stderr: text(self.stderr.take()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            let _ = kill_process_group(pid(self.pid()), Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

fn read_all(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn pid(number: i32) -> Pid {
    Pid::from_raw(number).unwrap()
}

/// Asks again and again until there is an answer; fails when there is none in time.
#[track_caller]
pub fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + DEADLINE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// State letter and parent of a process.
fn state(pid: i32) -> Option<(char, i32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut rest = stat.rsplit_once(')')?.1.split_whitespace();
    Some((rest.next()?.chars().next()?, rest.next()?.parse().ok()?))
}

/// Processes that one has started.
pub fn children(of: i32) -> Vec<i32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| state(*pid).is_some_and(|(_, parent)| parent == of)).collect()
}

/// Whether a process runs; one that has ended and is not yet waited for does not.
pub fn runs(pid: i32) -> bool {
    state(pid).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

/// The run directory on a disk, if there is one.
pub fn run_dir(disk: &Path) -> Option<PathBuf> {
    run_dirs(disk).pop()
}

/// All directories of this program on a disk.
pub fn run_dirs(disk: &Path) -> Vec<PathBuf> {
    let names = std::fs::read_dir(disk).unwrap().map(|entry| entry.unwrap().path());
    let ours = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().contains("jbodbench");
    names.filter(ours).collect()
}

/// Fails unless a disk holds nothing of this program.
#[track_caller]
pub fn assert_clean(disks: &[&Path]) {
    for disk in disks {
        assert_eq!(run_dirs(disk), Vec::<PathBuf>::new(), "left on {}", disk.display());
    }
}

/// Waits until a run has begun its load on a disk; returns the run directory.
#[track_caller]
pub fn wait_for_load(disk: &Path) -> PathBuf {
    wait_for("the load", || run_dir(disk).filter(|dir| dir.join("clients").is_dir()))
}

/// Rows of a result.
#[derive(Debug)]
pub struct Table {
    pub rows: Vec<Row>,
}

/// A row by column.
#[derive(Clone, Debug, PartialEq)]
pub struct Row(pub BTreeMap<String, String>);

impl Table {
    /// Reads CSV; fails unless every row has every column.
    #[track_caller]
    pub fn parse(text: &str) -> Self {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
        assert!(header.contains(&"ops_per_s".to_owned()), "no header: {text}");
        let row = |record: Result<csv::StringRecord, csv::Error>| {
            let record = record.unwrap();
            Row(header.iter().cloned().zip(record.iter().map(str::to_owned)).collect())
        };
        Self { rows: reader.records().map(row).collect() }
    }

    /// Reads a CSV file.
    #[track_caller]
    pub fn read(path: &Path) -> Self {
        Self::parse(&std::fs::read_to_string(path).unwrap())
    }

    /// Rows of a kind.
    pub fn of(&self, kind: &str) -> Vec<&Row> {
        self.rows.iter().filter(|row| row.text("row") == kind).collect()
    }

    /// The one summary row of a disk (or `all`) and an operation (or `all`).
    #[track_caller]
    pub fn summary(&self, disk: &str, op: &str) -> &Row {
        let rows: Vec<_> = self.summaries(disk).filter(|row| row.text("op") == op).collect();
        assert_eq!(rows.len(), 1, "summary rows of {disk} {op}");
        rows[0]
    }

    /// All summary rows of a disk.
    pub fn summaries(&self, disk: &str) -> impl Iterator<Item = &Row> + use<'_> {
        let disk = disk.to_owned();
        let is = move |row: &&Row| row.text("row") == "summary" && row.text("disk") == disk;
        self.rows.iter().filter(is)
    }

    /// Operations by word, as counted over all disks.
    pub fn ops(&self) -> BTreeMap<String, u64> {
        let named = self.summaries("all").filter(|row| row.text("op") != "all");
        named.map(|row| (row.text("op").to_owned(), row.int("ops"))).collect()
    }

    /// Errors by operation and name, as counted over all disks.
    pub fn errors(&self) -> BTreeMap<(String, String), u64> {
        let mut sums = BTreeMap::new();
        for row in self.of("error").iter().filter(|row| row.text("status") == "total") {
            let key = (row.text("op").to_owned(), row.text("errno").to_owned());
            *sums.entry(key).or_default() += row.int("errors");
        }
        sums
    }
}

impl Row {
    /// A cell.
    #[track_caller]
    pub fn text(&self, column: &str) -> &str {
        self.0.get(column).unwrap_or_else(|| panic!("no column {column}"))
    }

    /// A cell with a whole number.
    #[track_caller]
    pub fn int(&self, column: &str) -> u64 {
        let text = self.text(column);
        text.parse().unwrap_or_else(|_| panic!("{column} is `{text}`"))
    }

    /// A cell with a number.
    #[track_caller]
    pub fn float(&self, column: &str) -> f64 {
        let text = self.text(column);
        text.parse().unwrap_or_else(|_| panic!("{column} is `{text}`"))
    }
}

/// A disk's label in results: these tests only use absolute paths.
pub fn label(disk: &Path) -> &str {
    disk.to_str().unwrap()
}

/// A loadfile of these lines, with dbench's three lines that make the client's directory before.
pub fn loadfile(dir: &Path, name: &str, lines: &str) -> PathBuf {
    let head = "Mkdir \"\\clients\" NT_STATUS_OK\n\
                NTCreateX \"\\clients\\client1\" 0x1 0x2 5 NT_STATUS_OK\nClose 5 NT_STATUS_OK\n";
    let path = dir.join(name);
    std::fs::write(&path, format!("{head}{lines}\n")).unwrap();
    path
}

/// An empty directory that serves as a disk, and goes with the value.
pub fn temp_disk() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("jbodb-test-").tempdir().unwrap()
}
