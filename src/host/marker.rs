//! The marker file in a run directory: who made it, so that nobody else's is ever removed.

use std::ffi::CStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use super::{errno, procfs};

/// The marker's name in the run directory.
pub const FILE_NAME: &CStr = c".jbodbench-run";
/// A marker is a few lines; anything longer is not one.
const LONGEST: u64 = 4096;

/// What a marker says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marker {
    /// The run it belongs to.
    pub run_id: String,
    /// The host that made it.
    pub host: String,
    /// The process that made it.
    pub pid: u32,
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
            pid: std::process::id(),
            boot_id: procfs::text("/proc/sys/kernel/random/boot_id").unwrap_or_default(),
            started_unix_s: now.as_secs(),
        }
    }

    /// Whether the process that made it may still run: on this host and boot, with that id.
    #[must_use]
    pub fn may_be_alive(&self) -> bool {
        let here = Self::of_this_process("");
        (&self.host, &self.boot_id) == (&here.host, &here.boot_id)
            && std::path::Path::new(&format!("/proc/{}", self.pid)).exists()
    }

    fn to_text(&self) -> String {
        format!(
            "run_id={}\nhost={}\npid={}\nboot_id={}\nstarted_unix_s={}\n",
            self.run_id, self.host, self.pid, self.boot_id, self.started_unix_s
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let value =
            |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        Some(Self {
            run_id: value("run_id")?.to_owned(),
            host: value("host")?.to_owned(),
            pid: value("pid")?.parse().ok()?,
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
        assert!(marker.may_be_alive());
        let dead = Marker { boot_id: "other".to_owned(), ..marker };
        assert!(!dead.may_be_alive());
        assert_eq!(Marker::parse("run_id=x\n"), None);
        assert_eq!(Marker::parse(""), None);
    }
}
