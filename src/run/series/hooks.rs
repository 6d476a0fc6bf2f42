//! Commands of the user's around a measured window.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;

use super::perf::Perf;
use crate::front::{Link, ToWorker};
use crate::run::window::Cut;

/// When a command is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Before anything of a run is made.
    Prepare,
    /// When all clients are ready, before the first of them does anything.
    AtStart,
    /// As soon as all clients have come back.
    AtStop,
    /// When the run directories are gone.
    Conclude,
}

impl Moment {
    /// The option that names its command, without the dashes.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::AtStart => "at-start",
            Self::AtStop => "at-stop",
            Self::Conclude => "conclude",
        }
    }
}

/// Commands, each for `sh -c`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// Before anything of a run is made: as mkfs and mount.
    pub prepare: Option<String>,
    /// When all clients are ready, warm-up included: as `perf record &`.
    pub at_start: Option<String>,
    /// When all clients have come back.
    pub at_stop: Option<String>,
    /// When the run directories are gone.
    pub conclude: Option<String>,
}

impl Hooks {
    fn at(&self, moment: Moment) -> Option<&str> {
        match moment {
            Moment::Prepare => self.prepare.as_deref(),
            Moment::AtStart => self.at_start.as_deref(),
            Moment::AtStop => self.at_stop.as_deref(),
            Moment::Conclude => self.conclude.as_deref(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// All of them in a line, as the result records them; empty without any.
    #[must_use]
    pub fn text(&self) -> String {
        let all = [Moment::Prepare, Moment::AtStart, Moment::AtStop, Moment::Conclude];
        let line = |moment: Moment| Some(format!("{}={}", moment.word(), self.at(moment)?));
        all.into_iter().filter_map(line).collect::<Vec<_>>().join("; ")
    }
}

/// Why a command came to no good end.
#[derive(Debug)]
pub(in crate::run) enum HookEnd {
    /// It failed.
    Failed(String),
    /// The run was ended meanwhile; the command was killed.
    Cut(Cut),
}

/// The commands of one run, with what they are told in their environment.
#[derive(Debug, Default)]
pub(in crate::run) struct Around {
    pub(in crate::run) hooks: Hooks,
    /// JB_CELL, JB_BLOCK, JB_NAME of free factors.
    pub(in crate::run) env: Vec<(OsString, OsString)>,
    /// The disks, where their run directories are not there.
    pub(in crate::run) disks: Vec<PathBuf>,
    /// perf, which is nearer to the window than the commands.
    pub(in crate::run) perf: Option<Perf>,
}

impl Around {
    /// Runs a moment's command for each disk, one after the other. `dirs` are disks with their run
    /// directories, where these exist.
    pub(in crate::run) async fn run(
        &mut self,
        moment: Moment,
        dirs: Option<&[(PathBuf, PathBuf)]>,
        link: &mut Link,
    ) -> Result<(), HookEnd> {
        if let (Moment::AtStop, Some(perf)) = (moment, &mut self.perf) {
            perf.stop(link).await.map_err(HookEnd::Cut)?;
        }
        self.commands(moment, dirs, link).await?;
        if let (Moment::AtStart, Some(perf)) = (moment, &mut self.perf) {
            perf.start(link).await.map_err(HookEnd::Cut)?;
        }
        Ok(())
    }

    async fn commands(
        &self,
        moment: Moment,
        dirs: Option<&[(PathBuf, PathBuf)]>,
        link: &mut Link,
    ) -> Result<(), HookEnd> {
        let Some(command) = self.hooks.at(moment) else { return Ok(()) };
        let bare: Vec<_> = self.disks.iter().map(|disk| (disk.clone(), PathBuf::new())).collect();
        for (number, (disk, dir)) in dirs.unwrap_or(&bare).iter().enumerate() {
            let place = Place { number: number + 1, disk, dir };
            self.run_on(moment, command, &place, link).await?;
        }
        Ok(())
    }

    async fn run_on(
        &self,
        moment: Moment,
        command: &str,
        place: &Place<'_>,
        link: &mut Link,
    ) -> Result<(), HookEnd> {
        let word = moment.word();
        let disk = place.disk.display();
        let failed = |why: String| HookEnd::Failed(format!("--{word}, {disk}: {why}"));
        let mut child = Command::new("/bin/sh")
            .arg("-c")
            .arg(command)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env("JB_DISK", place.disk)
            .env("JB_DIR", place.dir)
            .env("JB_NUMBER", place.number.to_string())
            .env_remove(crate::front::WORKER)
            .stdin(Stdio::null())
            .stdout(to_stderr())
            .kill_on_drop(true)
            .process_group(0)
            .spawn()
            .map_err(|error| failed(format!("cannot start /bin/sh: {error}")))?;
        tokio::select! {
            biased;
            status = child.wait() => match status {
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(failed(format!("`{command}` ended with {status}"))),
                Err(error) => Err(failed(error.to_string())),
            },
            message = link.receive::<ToWorker>() => {
                // With all that it has started.
                let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
                let _ = group.map(|group| kill_process_group(group, Signal::KILL));
                Err(HookEnd::Cut(Cut::of(message.as_ref())))
            }
        }
    }
}

struct Place<'a> {
    number: usize,
    disk: &'a Path,
    dir: &'a Path,
}

/// Standard output is data: what a command has to say goes where messages go.
fn to_stderr() -> Stdio {
    std::io::stderr().as_fd().try_clone_to_owned().map_or_else(|_| Stdio::null(), Stdio::from)
}
