//! Disks on which root is somebody else: NFS servers do that (root_squash), FUSE file systems, mounts
//! with other ids. What root makes there is not root's, or root may make nothing.

use rustix::io::Errno;

use super::caller::Caller;
use super::credentials::Credentials;
use super::errno;
use super::preflight::{DiskCheck, Trial, Unusable, probe};

/// What becomes of root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Squashed {
    /// What it makes belongs to this user.
    As(u32),
    /// It may make nothing.
    Refused(Errno),
}

impl std::fmt::Display for Squashed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::As(uid) => {
                write!(f, "what root makes there belongs to uid {uid} (root squashed)")
            }
            Self::Refused(errno) => {
                let why = errno::describe(*errno);
                write!(f, "root may make nothing there: {why} (root squashed)")
            }
        }
    }
}

impl DiskCheck {
    /// Whether the run directory can be made as the user whom clients act as, where root is nobody:
    /// tries it, and notes it.
    pub fn try_as(&mut self, who: &Caller) {
        let refused = self.unusable.map(Unusable::errno);
        let refused = refused
            .filter(|errno| [Errno::ACCESS, Errno::PERM, Errno::OVERFLOW].contains(errno))
            .map(Squashed::Refused);
        let Some(squashed) = self.squashed.or(refused) else { return };
        let is_root = rustix::process::geteuid().is_root();
        if !is_root || who.uid == 0 {
            return;
        }
        let user = Credentials::of_caller(who);
        let probed = user.run_as(|| probe(&self.label, Trial::Make)).and_then(|answer| answer);
        self.squashed = Some(squashed);
        self.unusable = match probed {
            // It has to be the user himself, not what all become.
            Ok(Some(uid)) if uid != who.uid => return,
            Ok(_) => None,
            Err(errno) => Some(Unusable::from_errno(errno)),
        };
        self.maker = Some(who.clone());
    }
}
