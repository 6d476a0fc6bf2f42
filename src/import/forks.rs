//! The first reading: which process each fork made, and where the recording took place.
//!
//! A child's lines may come before its parent's fork returns, and then what it has of its parent
//! must be known already.

use std::collections::HashMap;

use super::call::Call;
use super::feed::{Place, Watch};

/// What a fork made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fork {
    pub(super) child: u32,
    /// Whether both have one table of descriptors.
    pub(super) shares_files: bool,
    /// Whether both have one working directory.
    pub(super) shares_cwd: bool,
}

impl Fork {
    /// The fork that a call is, if it is one and made a process.
    pub(super) fn of(call: &Call<'_>) -> Option<Self> {
        if !matches!(call.name, "clone" | "clone3" | "fork" | "vfork") {
            return None;
        }
        let child = u32::try_from(call.value?).ok().filter(|child| *child > 0)?;
        let has = |flag| call.mentions(flag);
        Some(Self { child, shares_files: has("CLONE_FILES"), shares_cwd: has("CLONE_FS") })
    }
}

/// What the first reading finds.
#[derive(Default)]
pub(super) struct Forks {
    /// Those that stand on two lines, by the first.
    pub(super) split: HashMap<Place, Fork>,
    /// Begun and not come back, by process.
    begun: HashMap<u32, Place>,
    /// The first working directory that is named.
    pub(super) cwd: Option<Vec<u8>>,
}

impl Watch for Forks {
    fn begin(&mut self, pid: u32, at: Place) {
        self.begun.insert(pid, at);
    }

    fn call(&mut self, pid: u32, at: Place, call: &Call<'_>) {
        if self.begun.get(&pid) == Some(&at)
            && let Some(fork) = Fork::of(call)
        {
            self.split.insert(at, fork);
        }
        if self.cwd.is_none()
            && let Some(fd) = call.fd(0).filter(|fd| fd.number.is_none())
        {
            self.cwd = fd.path;
        }
    }

    fn exit(&mut self, pid: u32) {
        self.begun.remove(&pid);
    }
}
