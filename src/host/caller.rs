//! Whom a thread acts as. In the kernel credentials belong to a thread; glibc's functions change
//! those of all threads at once, so the calls are made raw, and what the kernel says afterwards is
//! read back and compared: a run whose threads are not who they should be says nothing.

use std::fmt;

use rustix::io::Errno;
use rustix::thread::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

use super::procfs;

/// A user, a group, and the further groups of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Supplementary groups, ascending and once each.
    pub groups: Vec<u32>,
}

/// What the kernel says that a thread is, in /proc/thread-self/status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Real, effective, saved and file-system user id.
    pub uids: [u32; 4],
    /// The same of the group.
    pub gids: [u32; 4],
    /// Supplementary groups, ascending and once each.
    pub groups: Vec<u32>,
    /// Capabilities in force, a bit each.
    pub effective: u64,
    /// Capabilities that the thread may put in force.
    pub permitted: u64,
}

/// Why a thread is not whom it should be.
#[derive(Debug, thiserror::Error)]
pub enum CallerError {
    /// A call failed.
    #[error("{call}: {}", super::errno::describe(*.errno))]
    Call {
        /// The system call.
        call: &'static str,
        /// Its error.
        errno: Errno,
    },
    /// The kernel reports something else.
    #[error("asked to be {wanted}, the kernel says {held}")]
    Differs {
        /// What was asked for.
        wanted: Caller,
        /// What was found.
        held: Held,
    },
    /// There is no /proc to ask.
    #[error("/proc/thread-self/status cannot be read")]
    Unknown,
}

impl Held {
    /// Of the calling thread.
    ///
    /// It opens and closes a file below /proc, which gets the lowest free descriptor number.
    #[must_use]
    pub fn of_this_thread() -> Option<Self> {
        Self::parse(&procfs::raw("/proc/thread-self/status")?)
    }

    fn parse(status: &str) -> Option<Self> {
        let numbers = |key| -> Option<Vec<u32>> {
            let text = procfs::text_after(status, key)?;
            text.split_whitespace().map(|word| word.parse().ok()).collect()
        };
        let bits = |key| u64::from_str_radix(procfs::text_after(status, key)?, 16).ok();
        let mut groups = numbers("Groups")?;
        groups.sort_unstable();
        groups.dedup();
        Some(Self {
            uids: numbers("Uid")?.try_into().ok()?,
            gids: numbers("Gid")?.try_into().ok()?,
            groups,
            effective: bits("CapEff")?,
            permitted: bits("CapPrm")?,
        })
    }
}

impl Caller {
    /// Those of this process.
    #[must_use]
    pub fn of_this_process() -> Option<Self> {
        let Held { uids, gids, groups, .. } = Held::of_this_thread()?;
        Some(Self { uid: uids[3], gid: gids[3], groups })
    }

    /// Makes the calling thread act with them, for good: groups, group, user, in this order. Then
    /// asks the kernel, and returns what it says: all four ids are the wished ones, no other group is
    /// left, and who is not root has no capability.
    ///
    /// The process becomes undumpable by it, as far as it changes anything: see
    /// [`make_dumpable`].
    ///
    /// # Errors
    /// EPERM without the privilege; or that the kernel did something else.
    pub fn take(&self) -> Result<Held, CallerError> {
        let failed = |call| move |errno| CallerError::Call { call, errno };
        let before = Held::of_this_thread().ok_or(CallerError::Unknown)?;
        if !self.are(&before) {
            let groups: Vec<Gid> = self.groups.iter().map(|gid| Gid::from_raw(*gid)).collect();
            let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
            set_thread_groups(&groups).map_err(failed("setgroups"))?;
            set_thread_res_gid(gid, gid, gid).map_err(failed("setresgid"))?;
            set_thread_res_uid(uid, uid, uid).map_err(failed("setresuid"))?;
        }
        let held = Held::of_this_thread().ok_or(CallerError::Unknown)?;
        if self.are(&held) {
            Ok(held)
        } else {
            Err(CallerError::Differs { wanted: self.clone(), held })
        }
    }

    fn are(&self, held: &Held) -> bool {
        let powerless = held.effective == 0 && held.permitted == 0;
        held.uids == [self.uid; 4]
            && held.gids == [self.gid; 4]
            && held.groups == self.groups
            && (self.uid == 0 || powerless)
    }
}

/// Makes the process dumpable and traceable again after its threads have changed their users: the
/// kernel takes that away from all threads at once.
pub fn make_dumpable() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    // Without it core dumps and strace are missing, nothing else.
    let _ = set_dumpable_behavior(DumpableBehavior::Dumpable);
}

fn list(groups: &[u32]) -> String {
    let words: Vec<_> = groups.iter().map(ToString::to_string).collect();
    if words.is_empty() { "no other group".into() } else { format!("groups {}", words.join(",")) }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "uid {} gid {} with {}", self.uid, self.gid, list(&self.groups))
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { uids, gids, groups, effective, permitted } = self;
        let groups = list(groups);
        write!(
            f,
            "uids {uids:?} gids {gids:?} with {groups}, capabilities {effective:x}/{permitted:x}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of a status file as proc(5) describes them.
    const STATUS: &str = "Name:\tx\nUid:\t0\t65534\t0\t65534\nGid:\t1\t2\t3\t4\n\
                          Groups:\t27 4 27 \nCapPrm:\t00000000a80425fb\nCapEff:\t0000000000000000\n";

    #[test]
    fn a_status_file() {
        let held = Held::parse(STATUS).unwrap();
        assert_eq!(held.uids, [0, 65534, 0, 65534]);
        assert_eq!(held.gids, [1, 2, 3, 4]);
        assert_eq!(held.groups, [4, 27]);
        assert_eq!((held.effective, held.permitted), (0, 0xa804_25fb));
        assert_eq!(Held::parse("Uid:\t0\n"), None);
    }
}
