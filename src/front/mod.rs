//! The front process: starts the worker, forwards signals, owns the exit code. Floor 6.
//!
//! A thread in a write to a frozen disk cannot be killed, and its process stays until the disk
//! answers. So the process that the shell waits for has no such thread: it leaves as soon as the
//! worker has said that all results are written, and when the worker dies it removes what the
//! worker has made.

mod helper;
mod link;
mod mounts;
mod trees;

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Stdio;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;

pub use link::{FromWorker, Link, MadeTree, ToWorker};

use crate::host::limits;
use crate::host::process::{self, STARTED};
use crate::host::signals::stays_ignored;
use mounts::Mounts;
pub use mounts::{RESTORER, restore, undo};
use trees::Trees;
pub use trees::{CLEANER, clean, removal_text, remove_left};

/// Set in the environment of the worker: how it knows that it is one.
pub const WORKER: &str = "JBODBENCH_WORKER";

/// After a second signal the worker has this long to hand over its results.
const LEAVE_AFTER: Duration = Duration::from_secs(2);

/// A worker that is done exits within this time, thousands of threads and their memory included.
const EXIT_WITHIN: Duration = Duration::from_secs(10);

/// Open files without which neither process gets as far as to say what a run needs.
const FEWEST_FILES: u64 = 12;

/// Signals that end a run.
const SIGNALS: [(i32, fn() -> SignalKind); 3] =
    [(1, SignalKind::hangup), (2, SignalKind::interrupt), (15, SignalKind::terminate)];

/// Runs this program again as a worker with the same arguments, and returns the exit code.
/// Messages go to `say`.
///
/// # Errors
///
/// When the worker cannot be started.
pub fn run(args: &[OsString], say: &mut dyn FnMut(&str)) -> std::io::Result<u8> {
    need_files()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let code = runtime.block_on(async {
        let (link, child) = start_worker(args)?;
        Front {
            link,
            child,
            signals: Signals::new()?,
            first: None,
            trees: Trees::default(),
            mounts: Mounts::default(),
        }
        .watch(say)
        .await
    });
    runtime.shutdown_background();
    code
}

fn need_files() -> std::io::Result<()> {
    let soft = || rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= FEWEST_FILES);
    if enough(soft()) || limits::raise_nofile().is_ok_and(|limit| enough(limit.soft)) {
        return Ok(());
    }
    let limit = soft().unwrap_or(0);
    Err(std::io::Error::other(format!(
        "the limit of open files is {limit}; raise it with `ulimit -n 64`, enough for a small run"
    )))
}

fn start_worker(args: &[OsString]) -> std::io::Result<(Link, Child)> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    // By its real path, so that the worker has the program's name and not "exe".
    let program = std::env::current_exe().unwrap_or_else(|_| "/proc/self/exe".into());
    let mut command = std::process::Command::new(program);
    if let Some((name, rest)) = args.split_first() {
        command.arg0(name).args(rest);
    }
    command.env(WORKER, "1").env(STARTED, process::now()).stdin(Stdio::from(OwnedFd::from(theirs)));
    let child = Command::from(command).spawn()?;
    ours.set_nonblocking(true)?;
    Ok((Link::new(UnixStream::from_std(ours)?), child))
}

struct Signals(Vec<(i32, Signal)>);

impl Signals {
    /// What `nohup` let this process ignore stays ignored.
    fn new() -> std::io::Result<Self> {
        SIGNALS
            .iter()
            .filter(|(n, _)| !stays_ignored(*n))
            .map(|(n, kind)| Ok((*n, signal(kind())?)))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Number of the next signal.
    async fn next(&mut self) -> i32 {
        std::future::poll_fn(|context| {
            for (number, signal) in &mut self.0 {
                if signal.poll_recv(context).is_ready() {
                    return std::task::Poll::Ready(*number);
                }
            }
            std::task::Poll::Pending
        })
        .await
    }
}

struct Front {
    link: Link,
    child: Child,
    signals: Signals,
    /// The first signal that came, which decides the exit code.
    first: Option<i32>,
    trees: Trees,
    mounts: Mounts,
}

impl Front {
    async fn watch(mut self, say: &mut dyn FnMut(&str)) -> std::io::Result<u8> {
        let far = Instant::now() + Duration::from_secs(1 << 30);
        let mut leave_at = far;
        loop {
            tokio::select! {
                message = self.link.receive::<FromWorker>() => match message {
                    Some(FromWorker::Made(tree)) => self.trees.made(tree),
                    Some(FromWorker::Removed(tree)) => self.trees.removed(&tree),
                    Some(FromWorker::Remounts(journal)) => self.mounts.remounts(journal),
                    Some(FromWorker::SetBack(journal)) => self.mounts.set_back(&journal),
                    Some(FromWorker::Done { code, stays }) => {
                        if !stays {
                            // Reaps it, which not every process 1 would do.
                            let _ = tokio::time::timeout(EXIT_WITHIN, self.child.wait()).await;
                        }
                        return Ok(self.code(code));
                    }
                    None => {
                        return Ok(self.bury(say).await);
                    }
                },
                number = self.signals.next() => {
                    let second = self.first.is_some();
                    self.first.get_or_insert(number);
                    let message = if second { ToWorker::Leave } else { ToWorker::Signal { number } };
                    self.link.send(&message).await;
                    if second && leave_at == far {
                        leave_at = Instant::now() + LEAVE_AFTER;
                    }
                }
                () = tokio::time::sleep_until(leave_at) => {
                    say("leaving: the worker removes what is left when the disks answer");
                    return Ok(self.code(1));
                }
            }
        }
    }

    /// A signal decides the exit code, whatever came of the run.
    fn code(&self, code: u8) -> u8 {
        self.first.map_or(code, |signal| 128 + signal as u8)
    }

    /// The worker is dead without a word: undo and remove what it had done and made.
    async fn bury(mut self, say: &mut dyn FnMut(&str)) -> u8 {
        // Its threads may still be stuck, then it cannot be waited for.
        let status = tokio::time::timeout(LEAVE_AFTER, self.child.wait()).await;
        let status = status.ok().and_then(Result::ok);
        if let Some(signal) = status.and_then(|status| status.signal()) {
            // Without memory the allocator aborts, or the kernel kills; neither says so on stderr.
            let why = match signal {
                6 | 9 => "; if nobody sent it, memory ran out: use fewer clients",
                _ => "",
            };
            say(&format!("the worker died of signal {signal}{why}"));
        }
        // First what concerns others, too: that ends within moments of the worker.
        for line in self.mounts.set_all_back().await {
            say(&line);
        }
        for line in self.trees.remove_all().await {
            say(&line);
        }
        let code = status.and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok());
        self.code(code.unwrap_or(1))
    }
}
