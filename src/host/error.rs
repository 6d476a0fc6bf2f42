//! What can go wrong on the host side: each error names a path, the errno and what to do.

use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::errno;

/// An error of this floor. Nothing here is about the load: ops that fail are counted, not returned.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A system call on a path failed.
    #[error("cannot {doing} {}: {}{}", path.display(), errno::describe(*errno), errno::advice(*errno))]
    Path {
        /// What was tried, as it stands after "cannot".
        doing: &'static str,
        /// The path it was tried on.
        path: PathBuf,
        /// The kernel's answer.
        errno: Errno,
    },
    /// A system call without a path failed.
    #[error("cannot {doing}: {}{}", errno::describe(*errno), errno::advice(*errno))]
    Call {
        /// What was tried, as it stands after "cannot".
        doing: &'static str,
        /// The kernel's answer.
        errno: Errno,
    },
    /// A directory is not the one that this run made.
    #[error("{}: {reason}; it was left alone, look at it and remove it by hand", path.display())]
    NotOurs {
        /// The directory.
        path: PathBuf,
        /// How it differs.
        reason: String,
    },
    /// The mount of a path is not in this process's mount table.
    #[error(
        "{}: its mount (id {mount_id}) is not in /proc/self/mountinfo; run outside the chroot",
        path.display()
    )]
    NoMount {
        /// The path.
        path: PathBuf,
        /// The id the kernel gave for it, 0 where it gave none.
        mount_id: u64,
    },
    /// A DISK pattern names nothing.
    #[error(
        "{pattern}: no directory matches; quote it only if it is a pattern, and check its mount"
    )]
    NoMatch {
        /// The argument.
        pattern: String,
    },
    /// A DISK pattern cannot be understood.
    #[error("{pattern}: {reason}")]
    BadPattern {
        /// The argument.
        pattern: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// One directory was named twice.
    #[error("{} and {} are the same directory; name each disk once", first.display(), second.display())]
    Duplicate {
        /// The earlier argument.
        first: PathBuf,
        /// The later argument.
        second: PathBuf,
    },
}

impl HostError {
    /// Wraps an errno of a call on a path; for `map_err`.
    pub fn on(doing: &'static str, path: &Path) -> impl FnOnce(Errno) -> Self {
        let path = path.to_owned();
        move |errno| Self::Path { doing, path, errno }
    }

    /// The errno behind the error, where there is one.
    #[must_use]
    pub fn errno(&self) -> Option<Errno> {
        match self {
            Self::Path { errno, .. } | Self::Call { errno, .. } => Some(*errno),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_path_errno_and_advice() {
        let text = HostError::on("create", Path::new("/mnt/d1/x"))(Errno::ROFS).to_string();
        assert!(text.starts_with("cannot create /mnt/d1/x: EROFS ("), "{text}");
        assert!(text.contains("remount it read-write"), "{text}");
    }
}
