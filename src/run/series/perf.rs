//! `perf record`, attached to this process for one window.
//!
//! perf attaches when all client threads are there, begins when it is told to, and its samples are
//! cut to the measured window by their time: it keeps the clock of the run. What it records stays in
//! memory that has no name, so that nothing is left behind whoever is killed.

use std::io::{PipeReader, PipeWriter, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::front::{Link, ToWorker, WORKER};
use crate::host::limits;
use crate::profile::{Recording, ScriptReader};
use crate::run::RunRequest;
use crate::run::window::{Cut, Window};

/// Samples of all CPUs together at most: what a person can wait for `perf script` to print.
const MOST_SAMPLES: u64 = 200_000;
/// Samples a second and CPU: a prime, so that nothing that comes every millisecond is in step.
const MOST_HERTZ: u64 = 997;
const LEAST_HERTZ: u64 = 49;
/// How long perf may take to begin, and to end.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is asked whether it has.
const LOOK: Duration = Duration::from_millis(5);

/// perf of one run.
#[derive(Debug)]
pub(in crate::run) struct Perf {
    hertz: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    Waiting,
    Recording(Box<Recorder>),
    Recorded(Memory),
    Failed(String),
}

#[derive(Debug)]
struct Recorder {
    child: Child,
    data: Memory,
    errors: Memory,
}

/// A file without a name.
#[derive(Debug)]
struct Memory(std::fs::File);

impl Memory {
    fn new() -> Result<Self, String> {
        let fd = memfd_create("jbodbench-perf", MemfdFlags::CLOEXEC);
        Ok(Self(fd.map_err(|error| format!("no memory for it: {error}"))?.into()))
    }

    /// How another process of this user can open it.
    fn path(&self) -> String {
        path_of(&self.0)
    }

    /// For the standard error of a child.
    fn stdio(&self) -> Stdio {
        self.0.try_clone().map_or_else(|_| Stdio::null(), Stdio::from)
    }

    /// What was written there, in one line.
    fn text(&mut self) -> String {
        let mut bytes = Vec::new();
        let _ = self.0.rewind().and_then(|()| self.0.read_to_end(&mut bytes));
        let text = String::from_utf8_lossy(&bytes);
        text.split_whitespace().take(60).collect::<Vec<_>>().join(" ")
    }
}

fn path_of(file: &impl AsRawFd) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}

impl Perf {
    /// For runs of a request.
    pub(in crate::run) fn new(request: &RunRequest) -> Self {
        let cpus = limits::affinity().map_or(1, |cpus| cpus.len()) as u64;
        let seconds = request.time.map_or(60, |time| time.as_secs().max(1));
        let hertz = MOST_SAMPLES / (cpus.max(1) * seconds);
        Self { hertz: hertz.clamp(LEAST_HERTZ, MOST_HERTZ), state: State::Waiting }
    }

    /// Attaches to all threads of this process, and returns when samples are taken. What goes wrong
    /// is told by [`Perf::read`]: the run goes on without.
    pub(in crate::run) async fn start(&mut self, link: &mut Link) -> Result<(), Cut> {
        let begun = or_cut(link, begin(self.hertz)).await?;
        self.state = match begun {
            Ok(recorder) => State::Recording(Box::new(recorder)),
            Err(why) => State::Failed(why),
        };
        Ok(())
    }

    /// Ends the recording.
    pub(in crate::run) async fn stop(&mut self, link: &mut Link) -> Result<(), Cut> {
        let state = std::mem::replace(&mut self.state, State::Waiting);
        self.state = match state {
            State::Recording(recorder) => match or_cut(link, end(*recorder)).await? {
                Ok(data) => State::Recorded(data),
                Err(why) => State::Failed(why),
            },
            other => other,
        };
        Ok(())
    }

    /// What was recorded within the window.
    pub(in crate::run) async fn read(
        self,
        window: Window,
        link: &mut Link,
    ) -> Result<Result<Recording, String>, Cut> {
        match self.state {
            State::Recorded(data) => or_cut(link, script(&data, window)).await,
            State::Failed(why) => Ok(Err(why)),
            State::Waiting | State::Recording(_) => Ok(Err("it was not recorded".into())),
        }
    }
}

/// The end of some work, or of the run that it is for.
async fn or_cut<T>(link: &mut Link, work: impl Future<Output = T>) -> Result<T, Cut> {
    tokio::select! {
        biased;
        done = work => Ok(done),
        message = link.receive::<ToWorker>() => Err(Cut::of(message.as_ref())),
    }
}

fn perf(arguments: &[&str]) -> Command {
    let mut command = Command::new("perf");
    command
        .args(arguments)
        .env_remove(WORKER)
        .env("PERF_PAGER", "cat")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        // A Ctrl-C is for this process to decide on.
        .process_group(0);
    command
}

fn not_started(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            "there is no perf in PATH: install it (Debian: apt install linux-perf)".into()
        }
        _ => format!("cannot start perf: {error}"),
    }
}

async fn begin(hertz: u64) -> Result<Recorder, String> {
    let (data, mut errors) = (Memory::new()?, Memory::new()?);
    let pipe = || std::io::pipe().map_err(|error| error.to_string());
    let ((orders, order), (answer, answers)) = (pipe()?, pipe()?);
    let control = format!("fifo:{},{}", path_of(&orders), path_of(&answers));
    let (hertz, pid) = (hertz.to_string(), std::process::id().to_string());
    let path = data.path();
    let child = perf(&["record", "-q", "-e", "cycles", "-g", "-k", "CLOCK_MONOTONIC", "-D", "-1"])
        .args(["-F", &hertz, "-p", &pid, "--control", &control, "-o", &path])
        .stdout(Stdio::null())
        .stderr(errors.stdio())
        .spawn();
    let mut child = child.map_err(|error| not_started(&error))?;
    match tokio::time::timeout(PATIENCE, enabled(&mut child, order, answer)).await {
        Ok(Ok(())) => Ok(Recorder { child, data, errors }),
        Ok(Err(status)) => Err(format!("perf record ended with {status}: {}", errors.text())),
        Err(_) => Err(format!("perf record did not begin within {} s", PATIENCE.as_secs())),
    }
}

/// Tells perf to begin, and waits until it says that it has; or how it ended.
async fn enabled(
    child: &mut Child,
    mut order: PipeWriter,
    mut answer: PipeReader,
) -> Result<(), String> {
    order.write_all(b"enable\n").map_err(|error| error.to_string())?;
    rustix::io::ioctl_fionbio(&answer, true).map_err(|error| error.to_string())?;
    let mut said = [0; 16];
    loop {
        if answer.read(&mut said).is_ok_and(|length| length > 0) {
            return Ok(());
        }
        if let Ok(Some(status)) = child.try_wait() {
            return Err(status.to_string());
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn end(mut recorder: Recorder) -> Result<Memory, String> {
    let pid = recorder.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let _ = pid.map(|pid| kill_process(pid, Signal::INT));
    match tokio::time::timeout(PATIENCE, recorder.child.wait()).await {
        Ok(Ok(status)) if is_end(status) => Ok(recorder.data),
        Ok(Ok(status)) => {
            Err(format!("perf record ended with {status}: {}", recorder.errors.text()))
        }
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("perf record did not end within {} s", PATIENCE.as_secs())),
    }
}

/// perf dies of the signal that ends it, after all is written.
fn is_end(status: ExitStatus) -> bool {
    status.success() || status.signal() == Some(libc::SIGINT)
}

async fn script(data: &Memory, window: Window) -> Result<Recording, String> {
    let mut errors = Memory::new()?;
    // Inlined functions would be looked up one by one, for minutes.
    let mut child = perf(&["script", "--no-inline", "--ns", "-F", "time,period,event,ip,sym,dso"])
        .args(["-i", &data.path()])
        .stdout(Stdio::piped())
        .stderr(errors.stdio())
        .spawn()
        .map_err(|error| not_started(&error))?;
    let mut reader = ScriptReader::new(window.start_ns, window.end_ns);
    if let Some(stdout) = child.stdout.take() {
        let mut lines = BufReader::new(stdout);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).await.map_err(|error| error.to_string())? > 0 {
            reader.line(String::from_utf8_lossy(&line).trim_end_matches('\n'));
            line.clear();
        }
    }
    let status = child.wait().await.map_err(|error| error.to_string())?;
    if !status.success() {
        return Err(format!("perf script ended with {status}: {}", errors.text()));
    }
    let recording = reader.finish();
    if recording.kernel.keys().all(|name| name == "[unknown]") {
        return Err(no_kernel(&recording));
    }
    Ok(recording)
}

/// Why no function of the kernel is known.
fn no_kernel(recording: &Recording) -> String {
    if recording.all.samples == 0 {
        return format!(
            "perf took no sample in the window, and {} before and after it: is it too short?",
            recording.outside
        );
    }
    let setting = |name: &str| {
        let value = crate::host::procfs::text(format!("/proc/sys/kernel/{name}"));
        format!("kernel.{name} is {}", value.as_deref().map_or("unknown", str::trim))
    };
    let what = if recording.kernel.is_empty() { "samples" } else { "names of functions" };
    format!(
        "perf sees no {what} of the kernel ({}, {}): run as root, or ask for 1 and 0 there",
        setting("perf_event_paranoid"),
        setting("kptr_restrict")
    )
}
