//! A sign of life for other hosts that have the same file system mounted.
//!
//! They see neither our processes nor our boot. So where others can see a run directory, its
//! marker is touched every minute, and `clean` on another host leaves alone what was touched of late.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Timespec, Timestamps, UTIME_NOW, fstatfs, utimensat};

/// Between two touches; [`super::marker::SILENCE`] is ten of them.
const BEAT: Duration = Duration::from_secs(60);

/// Kinds of file systems, by the number that `statfs` gives, that several hosts can have mounted: NFS,
/// CIFS and SMB2, Ceph, Lustre, AFS, GFS2, OCFS2, 9p and FUSE (virtiofs among them), of which one
/// cannot tell. The numbers are those of linux/magic.h and of Lustre.
const SHARED: [u64; 11] = [
    0x6969,
    0xFF53_4D42,
    0xFE53_4D42,
    0x00C3_6400,
    0x0BD0_0BD0,
    0x5346_414F,
    0x0116_1970,
    0x7461_636F,
    0x0102_1997,
    0x6573_5546,
    0x6B41_4653,
];

/// Whether other hosts may have the file system of an open file mounted as well.
#[must_use]
pub fn others_may_see(file: BorrowedFd<'_>) -> bool {
    fstatfs(file).is_ok_and(|stat| SHARED.contains(&((stat.f_type as u64) & 0xFFFF_FFFF)))
}

/// Touches a file until it is dropped.
#[derive(Debug)]
pub struct Heartbeat {
    /// Hangs up when dropped. The thread is not waited for: its file system may not answer.
    _alive: Sender<()>,
}

impl Heartbeat {
    /// Touches a file in a directory every minute, as the user who calls this. `None` where there is
    /// no thread. By name: on NFS a file that is held open could not be removed.
    #[must_use]
    pub fn of(dir: OwnedFd, name: &'static CStr) -> Option<Self> {
        Self::every(dir, name, BEAT)
    }

    fn every(dir: OwnedFd, name: &'static CStr, beat: Duration) -> Option<Self> {
        let (alive, over) = channel::<()>();
        let touch = move || {
            while over.recv_timeout(beat) == Err(RecvTimeoutError::Timeout) {
                // Told by nothing but its absence.
                let _ = utimensat(&dir, name, &now(), AtFlags::SYMLINK_NOFOLLOW);
            }
        };
        std::thread::Builder::new().name("heartbeat".into()).spawn(touch).ok()?;
        Some(Self { _alive: alive })
    }
}

/// How long ago a file was touched; nothing for a time to come.
pub(super) fn since_touched(file: &File) -> Option<Duration> {
    let touched = file.metadata().ok()?.modified().ok()?;
    Some(SystemTime::now().duration_since(touched).unwrap_or_default())
}

/// The time of whoever keeps the file.
fn now() -> Timestamps {
    let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
    Timestamps { last_access: now, last_modification: now }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn it_touches_until_it_is_dropped() {
        let dir = tempfile::tempdir().unwrap();
        let file = File::create(dir.path().join("marker")).unwrap();
        let old = SystemTime::now() - Duration::from_secs(3600);
        file.set_modified(old).unwrap();
        let is_old = || since_touched(&file).unwrap() > Duration::from_secs(3000);
        let beat = {
            let dir = File::open(dir.path()).unwrap().into();
            Heartbeat::every(dir, c"marker", Duration::from_millis(5)).unwrap()
        };
        while is_old() {
            std::thread::sleep(Duration::from_millis(2));
        }
        drop(beat);
        // One touch may have been under way.
        std::thread::sleep(Duration::from_millis(50));
        file.set_modified(old).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        assert!(is_old());
    }

    #[test]
    fn a_local_disk_is_ours_alone() {
        let file = File::open("/proc/self/stat").unwrap();
        assert!(!others_may_see(file.as_fd()));
    }
}
