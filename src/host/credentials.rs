//! Whose rights a thread has: read back from the kernel, or taken for good.
//!
//! The kernel keeps credentials per thread. libc's set*id functions change all threads at once; the
//! calls here change only the calling one.

use rustix::io::Errno;
use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use serde::Serialize;

use super::users::Account;
use super::{HostError, procfs};

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
        procfs::raw("/proc/thread-self/status")
            .and_then(|status| Self::parse(&status))
            .ok_or(HostError::Call { doing, errno: Errno::NODATA })
    }

    fn parse(status: &str) -> Option<Self> {
        let field = |key| procfs::text_after(status, key);
        // Real, effective, saved, and that of file access.
        let last = |key| field(key)?.split_whitespace().nth(3)?.parse().ok();
        let effective = u64::from_str_radix(field("CapEff")?, 16).ok()?;
        Some(Self {
            uid: last("Uid")?,
            gid: last("Gid")?,
            groups: field("Groups")?
                .split_whitespace()
                .filter_map(|gid| gid.parse().ok())
                .collect(),
            dac_override: effective & CAP_DAC_OVERRIDE != 0,
            dac_read_search: effective & CAP_DAC_READ_SEARCH != 0,
        })
    }

    /// Those of an account after a login: uid 0 has all capabilities, others none.
    #[must_use]
    pub fn of_account(account: &Account) -> Self {
        let (uid, gid, groups) = (account.uid, account.gid, account.groups.clone());
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
            let mut plain = of.sorted();
            plain.groups.dedup();
            plain.groups.retain(|gid| *gid != of.gid);
            plain
        };
        plain(self) == plain(other)
    }

    /// Gives them to the calling thread alone, in all three forms (real, effective, saved), so that
    /// there is no way back for any uid but 0. Groups go first: afterwards the right is gone.
    ///
    /// Capabilities follow from the uid: all that the process has for 0, none for others. The kernel
    /// marks the whole process as not dumpable.
    ///
    /// # Errors
    /// EPERM without CAP_SETUID and CAP_SETGID. The thread may then have lost its groups already.
    pub fn take(&self) -> Result<(), Errno> {
        let groups: Vec<Gid> = self.groups.iter().map(|gid| Gid::from_raw(*gid)).collect();
        let (uid, gid) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        set_thread_groups(&groups)?;
        set_thread_res_gid(gid, gid, gid)?;
        set_thread_res_uid(uid, uid, uid)
    }

    /// Runs something in a thread that has these credentials, checked with the kernel first.
    ///
    /// # Errors
    /// EPERM where they cannot be taken; EIO where the kernel then reports others than asked for, or
    /// the thread cannot be started or panicked.
    pub fn run_as<T: Send>(&self, body: impl FnOnce() -> T + Send) -> Result<T, Errno> {
        let taken = || {
            self.take()?;
            let has = Self::of_this_thread().map_err(|_| Errno::IO)?;
            if has == self.sorted() { Ok(body()) } else { Err(Errno::IO) }
        };
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("as user".into());
            let thread = thread.spawn_scoped(scope, taken).map_err(|_| Errno::IO)?;
            thread.join().unwrap_or(Err(Errno::IO))
        })
    }

    /// The kernel shows groups in ascending order.
    fn sorted(&self) -> Self {
        let mut sorted = self.clone();
        sorted.groups.sort_unstable();
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tx\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nGroups:\t10 20 \n\
                          CapPrm:\t000001ffffffffff\nCapEff:\t0000000000000004\n";

    #[test]
    fn what_counts_for_files() {
        let has = Credentials::parse(STATUS).unwrap();
        assert_eq!((has.uid, has.gid, has.groups.as_slice()), (4, 8, [10, 20].as_slice()));
        assert_eq!((has.dac_override, has.dac_read_search), (false, true));
        assert!(has.in_group(8) && has.in_group(20) && !has.in_group(5));
        assert_eq!(Credentials::parse("Uid:\t1\n"), None);
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
        let seen = user.run_as(|| {
            let back = Credentials { uid: 0, ..user.clone() };
            (Credentials::of_this_thread().unwrap(), back.take())
        });
        if before.uid == 0 {
            let (seen, back) = seen.unwrap();
            assert_eq!((seen.uid, seen.gid, seen.groups), (4000, 4001, vec![5, 7]));
            assert_eq!(back, Err(Errno::PERM));
        } else {
            assert_eq!(seen, Err(Errno::PERM));
        }
        assert_eq!(Credentials::of_this_thread().unwrap(), before);
    }
}
