//! Names of errno values: results and messages say `ENOSPC`, not 28.

use rustix::io::Errno;

/// The name of an errno value: `ENOSPC`, or `errno 4000` for one without a name.
#[must_use]
pub fn name(errno: Errno) -> String {
    let raw = errno.raw_os_error();
    crate::errno::name(raw).map_or_else(|| format!("errno {raw}"), str::to_owned)
}

/// Name and meaning: `ENOSPC (No space left on device)`.
#[must_use]
pub fn describe(errno: Errno) -> String {
    let text = errno.to_string();
    let meaning = text.split_once(" (os error").map_or(text.as_str(), |(meaning, _)| meaning);
    format!("{} ({meaning})", name(errno))
}

/// The errno value of an `io::Error`, EIO where it carries none.
#[must_use]
pub fn of_io(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// What a user can do about an error; empty where there is no general advice.
#[must_use]
pub fn advice(errno: Errno) -> &'static str {
    match errno {
        Errno::ACCESS => "; run as a user who may do this, or name another directory",
        Errno::PERM => "; root or a capability is needed, or the file is immutable (see lsattr)",
        Errno::NOENT => "; check the spelling and that the file system is mounted",
        Errno::NOTDIR => "; name a directory",
        Errno::ROFS => "; the file system is read-only: remount it read-write or leave it out",
        Errno::NOSPC => "; free some space",
        Errno::DQUOT => "; the disk quota is used up",
        Errno::MFILE => "; raise the limit of open files (ulimit -n)",
        Errno::NFILE => "; raise the sysctl fs.file-max",
        Errno::NAMETOOLONG => "; use a shorter path or a smaller --depth",
        Errno::NOSYS => "; this kernel lacks the system call, or a sandbox forbids it",
        Errno::IO => "; see the kernel log: the device may be failing",
        Errno::STALE => "; the network file system lost this directory: mount it again",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_known_and_unknown_numbers() {
        assert_eq!(name(Errno::NOSPC), "ENOSPC");
        assert_eq!(name(Errno::OPNOTSUPP), "EOPNOTSUPP");
        assert_eq!(name(Errno::from_raw_os_error(4000)), "errno 4000");
        assert_eq!(describe(Errno::NOSPC), "ENOSPC (No space left on device)");
    }

    #[test]
    fn io_errors_keep_their_number() {
        assert_eq!(of_io(&std::io::Error::from_raw_os_error(libc::EROFS)), Errno::ROFS);
        assert_eq!(of_io(&std::io::Error::other("x")), Errno::IO);
    }
}
