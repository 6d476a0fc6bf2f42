//! What a permission check looks at in whoever asks: ids, groups, and the two capabilities that
//! override it.

use rustix::io::Errno;
use serde::Serialize;

use super::HostError;
use super::caller::{Caller, CallerError, Held, make_dumpable};
use super::users::Account;

const CAP_DAC_OVERRIDE: u64 = 1 << 1;
const CAP_DAC_READ_SEARCH: u64 = 1 << 2;

/// What a permission check looks at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Credentials {
    /// The uid that file access is checked with (fsuid).
    pub uid: u32,
    /// The gid that file access is checked with (fsgid).
    pub gid: u32,
    /// Supplementary groups.
    pub groups: Vec<u32>,
    /// CAP_DAC_OVERRIDE is effective: read, write and search anything.
    pub dac_override: bool,
    /// CAP_DAC_READ_SEARCH is effective: read anything and search any directory.
    pub dac_read_search: bool,
}

impl Credentials {
    /// Those of the calling thread, as the kernel reports them.
    ///
    /// # Errors
    /// ENODATA where /proc is not mounted or does not say.
    pub fn of_this_thread() -> Result<Self, HostError> {
        let doing = "read the credentials in /proc/thread-self/status";
        let held = Held::of_this_thread();
        held.as_ref().map(Self::of_held).ok_or(HostError::Call { doing, errno: Errno::NODATA })
    }

    /// What a check makes of what a thread holds.
    #[must_use]
    pub fn of_held(held: &Held) -> Self {
        Self {
            uid: held.uids[3],
            gid: held.gids[3],
            groups: held.groups.clone(),
            dac_override: held.effective & CAP_DAC_OVERRIDE != 0,
            dac_read_search: held.effective & CAP_DAC_READ_SEARCH != 0,
        }
    }

    /// Those of an account after a login: uid 0 has all capabilities, others none.
    #[must_use]
    pub fn of_account(account: &Account) -> Self {
        let (uid, gid, groups) = (account.uid, account.gid, account.groups.clone());
        Self::of_caller(&Caller { uid, gid, groups })
    }

    /// Those of a thread that has become somebody: uid 0 has all capabilities, others none.
    #[must_use]
    pub fn of_caller(caller: &Caller) -> Self {
        let (uid, gid, groups) = (caller.uid, caller.gid, caller.groups.clone());
        let root = uid == 0;
        Self { uid, gid, groups, dac_override: root, dac_read_search: root }
    }

    /// Whether the kernel's group test says yes for a group.
    #[must_use]
    pub fn in_group(&self, gid: u32) -> bool {
        self.gid == gid || self.groups.contains(&gid)
    }

    /// Whether a permission check cannot tell them apart: the order of groups does not count, nor
    /// whether the gid is among them once more.
    #[must_use]
    pub fn same_rights(&self, other: &Self) -> bool {
        let plain = |of: &Self| {
            let mut groups = of.caller().groups;
            groups.retain(|gid| *gid != of.gid);
            Self { groups, ..of.clone() }
        };
        plain(self) == plain(other)
    }

    fn caller(&self) -> Caller {
        let mut groups = self.groups.clone();
        groups.sort_unstable();
        groups.dedup();
        Caller { uid: self.uid, gid: self.gid, groups }
    }

    /// Runs something in a thread that has these credentials, checked with the kernel first.
    ///
    /// # Errors
    /// EPERM where they cannot be taken; EIO where the kernel then reports others than asked for, or
    /// the thread cannot be started or panicked.
    pub fn run_as<T: Send>(&self, body: impl FnOnce() -> T + Send) -> Result<T, Errno> {
        let taken = || {
            let held = self.caller().take().map_err(|error| match error {
                CallerError::Call { errno, .. } => errno,
                _ => Errno::IO,
            })?;
            if Self::of_held(&held).same_rights(self) { Ok(body()) } else { Err(Errno::IO) }
        };
        let answer = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("as user".into());
            let thread = thread.spawn_scoped(scope, taken).map_err(|_| Errno::IO)?;
            thread.join().unwrap_or(Err(Errno::IO))
        });
        make_dumpable();
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_for_files() {
        let held = Held {
            uids: [1, 2, 3, 4],
            gids: [5, 6, 7, 8],
            groups: vec![10, 20],
            effective: 4,
            permitted: 0xffff,
        };
        let has = Credentials::of_held(&held);
        assert_eq!((has.uid, has.gid, has.groups.as_slice()), (4, 8, [10, 20].as_slice()));
        assert_eq!((has.dac_override, has.dac_read_search), (false, true));
        assert!(has.in_group(8) && has.in_group(20) && !has.in_group(5));
        let again = Credentials { groups: vec![20, 8, 10, 20], ..has.clone() };
        assert!(has.same_rights(&again) && has != again);
        assert!(!has.same_rights(&Credentials { gid: 20, ..again }));
    }

    #[test]
    fn taken_by_one_thread_only() {
        let before = Credentials::of_this_thread().unwrap();
        let (groups, off) = (vec![7, 5], false);
        let user =
            Credentials { uid: 4000, gid: 4001, groups, dac_override: off, dac_read_search: off };
        let seen = user.run_as(|| Credentials::of_this_thread().unwrap());
        if before.uid == 0 {
            let seen = seen.unwrap();
            assert_eq!((seen.uid, seen.gid, seen.groups), (4000, 4001, vec![5, 7]));
        } else {
            assert_eq!(seen, Err(Errno::PERM));
        }
        assert_eq!(Credentials::of_this_thread().unwrap(), before);
    }
}
