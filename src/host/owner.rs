//! A process to whom something belongs, told from a later one with the same number.

use serde::{Deserialize, Serialize};

use super::procfs;

/// A process of this boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Its number.
    pub pid: u32,
    /// When it was started, in the kernel's ticks since boot: no step of a clock changes that.
    pub start: u64,
}

impl Owner {
    /// This process, and the one that started it: in a worker the front, which undoes what the
    /// worker leaves.
    #[must_use]
    pub fn this_and_its_parent() -> [Self; 2] {
        [Self::of(std::process::id()), Self::of(std::os::unix::process::parent_id())]
    }

    /// The process that has this number now.
    #[must_use]
    pub fn of(pid: u32) -> Self {
        Self { pid, start: state_and_start(pid).map_or(0, |(_, start)| start) }
    }

    /// Whether it may still run, where a start time of 0 says that it is not known.
    #[must_use]
    pub fn may_run(&self) -> bool {
        match self.start {
            0 => self.pid != 0 && state_and_start(self.pid).is_some(),
            _ => self.runs(),
        }
    }

    /// Whether it still runs: one that is dead and waits to be reaped does not.
    #[must_use]
    pub fn runs(&self) -> bool {
        state_and_start(self.pid)
            .is_some_and(|(state, start)| start == self.start && !matches!(state, 'Z' | 'X'))
    }
}

/// State and start time in /proc/PID/stat: fields 3 and 22; the name before them may hold anything.
fn state_and_start(pid: u32) -> Option<(char, u64)> {
    let stat = procfs::raw(format!("/proc/{pid}/stat"))?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Alive, dead and not yet waited for, gone; and another one under its number.
    #[test]
    fn a_process_runs_until_it_has_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let owner = Owner::of(child.id());
        assert!(owner.runs() && owner.start > 0);
        assert!(!Owner { start: owner.start - 1, ..owner }.runs());
        child.kill().unwrap();
        while owner.runs() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(state_and_start(child.id()).unwrap().0, 'Z');
        child.wait().unwrap();
        assert!(!owner.runs());
    }
}
