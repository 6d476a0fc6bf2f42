//! Processes of this program that only undo one thing. What a worker leaves is undone by them, since a
//! disk that killed nobody yet may still hold up whoever touches it.

use std::ffi::OsStr;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};

use super::WORKER;

/// How long the front waits for one.
const WAIT: Duration = Duration::from_secs(60);

/// Starts one: its role is the value of [`WORKER`], what it is to undo its only argument. What it
/// has to tell it writes to stdout.
pub(super) fn start(role: &str, argument: impl AsRef<OsStr>) -> std::io::Result<Child> {
    let program = std::env::current_exe().unwrap_or_else(|_| "/proc/self/exe".into());
    Command::new(program)
        .arg(argument)
        .env(WORKER, role)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
}

/// Waits for one; the lines that it wrote, or `stuck` when it did not end in time.
pub(super) async fn wait(
    helper: std::io::Result<Child>,
    what: &str,
    stuck: impl FnOnce() -> String,
) -> Vec<String> {
    let waited = match helper {
        Ok(helper) => tokio::time::timeout(WAIT, helper.wait_with_output()).await,
        Err(error) => Ok(Err(error)),
    };
    match waited {
        Ok(Ok(output)) => {
            String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
        }
        Ok(Err(error)) => vec![format!("cannot {what}: {error}")],
        Err(_) => vec![stuck()],
    }
}
