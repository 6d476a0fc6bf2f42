//! The marker file in a run directory: who made it, so that nobody else's is ever removed.

use std::ffi::CStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use super::owner::Owner;
use super::{errno, procfs};

/// The marker's name in the run directory.
pub const FILE_NAME: &CStr = c".jbodbench-run";
/// A marker is a few lines; anything longer is not one.
const LONGEST: u64 = 4096;

/// A run on another host that has not touched its marker for so long is over.
pub const SILENCE: Duration = Duration::from_secs(600);

/// Who may still work in a run directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Nobody: its processes have ended.
    Nobody,
    /// This process of this host.
    Process(u32),
    /// Processes in a container of this host, which are not to be seen from here; its host name.
    Container(String),
    /// Processes of another host, which touched the marker this long ago.
    Host(String, Duration),
}

/// What a marker says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marker {
    /// The run it belongs to.
    pub run_id: String,
    /// The host that made it.
    pub host: String,
    /// The process that made it, and the one that watches that; with a start time of 0 where an
    /// older version did not say it.
    pub owners: [Owner; 2],
    /// The boot in which that process ran.
    pub boot_id: String,
    /// When it was made, in seconds since 1970.
    pub started_unix_s: u64,
}

impl Marker {
    /// The marker of a run of this process, made now.
    #[must_use]
    pub fn of_this_process(run_id: &str) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            run_id: run_id.to_owned(),
            host: procfs::text("/proc/sys/kernel/hostname").unwrap_or_default(),
            owners: Owner::this_and_its_parent(),
            boot_id: procfs::text("/proc/sys/kernel/random/boot_id").unwrap_or_default(),
            started_unix_s: now.as_secs(),
        }
    }

    /// Who may still work in the directory; `beat` is how long ago the marker was last touched, where
    /// other hosts have the file system mounted as well.
    #[must_use]
    pub fn holder(&self, beat: Option<Duration>) -> Holder {
        let here = Self::of_this_process("");
        match (self.boot_id == here.boot_id, self.host == here.host, beat) {
            (true, true, _) => match self.owners.iter().find(|owner| owner.may_run()) {
                Some(owner) => Holder::Process(owner.pid),
                None => Holder::Nobody,
            },
            // The same kernel by another name: a container, whose processes have other numbers.
            (true, false, _) => Holder::Container(self.host.clone()),
            (false, _, Some(beat)) if beat < SILENCE => Holder::Host(self.host.clone(), beat),
            (false, ..) => Holder::Nobody,
        }
    }

    fn to_text(&self) -> String {
        let [own, watcher] = self.owners;
        format!(
            "run_id={}\nhost={}\npid={}\nboot_id={}\nstarted_unix_s={}\nstart_ticks={}\n\
             watcher_pid={}\nwatcher_start_ticks={}\n",
            self.run_id,
            self.host,
            own.pid,
            self.boot_id,
            self.started_unix_s,
            own.start,
            watcher.pid,
            watcher.start
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let value =
            |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        fn number<T: FromStr>(text: Option<&str>) -> Option<T> {
            text?.parse().ok()
        }
        Some(Self {
            run_id: value("run_id")?.to_owned(),
            host: value("host")?.to_owned(),
            owners: [
                Owner {
                    pid: number(value("pid"))?,
                    start: number(value("start_ticks")).unwrap_or(0),
                },
                Owner {
                    pid: number(value("watcher_pid")).unwrap_or(0),
                    start: number(value("watcher_start_ticks")).unwrap_or(0),
                },
            ],
            boot_id: value("boot_id")?.to_owned(),
            started_unix_s: value("started_unix_s")?.parse().ok()?,
        })
    }

    /// Writes it into a directory; the open file is returned to look at its owner.
    pub(super) fn write(&self, dir: BorrowedFd<'_>) -> Result<File, Errno> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        let mut file = File::from(openat(dir, FILE_NAME, flags, mode)?);
        file.write_all(self.to_text().as_bytes()).map_err(|e| errno::of_io(&e))?;
        Ok(file)
    }

    /// Reads the marker of a directory; `None` if there is none that can be understood.
    #[must_use]
    pub fn read(dir: BorrowedFd<'_>) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd: OwnedFd = openat(dir, FILE_NAME, flags, Mode::empty()).ok()?;
        let mut text = String::new();
        File::from(fd).take(LONGEST).read_to_string(&mut text).ok()?;
        Self::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        let marker = Marker::of_this_process("r1");
        assert_eq!(Marker::parse(&marker.to_text()), Some(marker.clone()));
        assert_eq!(Marker::parse("run_id=x\n"), None);
        assert_eq!(Marker::parse(""), None);
    }
    /// By rank: a living process of this host, a container, another host that was heard of.
    #[test]
    fn who_holds_it() {
        let own = Marker::of_this_process("r1");
        assert_eq!(own.holder(None), Holder::Process(std::process::id()));
        // Another process has the number now.
        let [mut first, watcher] = own.owners;
        first.start += 1;
        let reused = Marker { owners: [first, Owner::default()], ..own.clone() };
        assert_eq!(reused.holder(None), Holder::Nobody);
        let watched = Marker { owners: [first, watcher], ..own.clone() };
        assert_eq!(watched.holder(None), Holder::Process(watcher.pid));
        // A marker of an older version has no start time, and is believed.
        let old = Marker { owners: [Owner { start: 0, ..first }, Owner::default()], ..own.clone() };
        assert_eq!(old.holder(None), Holder::Process(first.pid));
        let boxed = Marker { host: "box".into(), ..own.clone() };
        assert_eq!(boxed.holder(None), Holder::Container("box".into()));
        let minute = Duration::from_secs(60);
        let other = Marker { boot_id: "other".into(), ..boxed };
        assert_eq!(other.holder(Some(minute)), Holder::Host("box".into(), minute));
        assert_eq!(other.holder(Some(10 * minute)), Holder::Nobody);
        // Nobody else can have a local disk mounted: it was moved here, or is of an earlier boot.
        assert_eq!(other.holder(None), Holder::Nobody);
    }
}
