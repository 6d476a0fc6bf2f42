//! Names of Linux error numbers, both ways. Floor 0: knows nothing else.
//!
//! A loadfile line may expect one certain error by name, and results name errors rather than
//! number them: numbers differ between architectures, names do not.

macro_rules! errno_names {
    ($($name:ident),+ $(,)?) => {
        const TABLE: &[(&str, i32)] = &[$((stringify!($name), libc::$name)),+];
    };
}

errno_names! {
    EPERM, ENOENT, ESRCH, EINTR, EIO, ENXIO, E2BIG, ENOEXEC, EBADF, ECHILD, EAGAIN, ENOMEM,
    EACCES, EFAULT, ENOTBLK, EBUSY, EEXIST, EXDEV, ENODEV, ENOTDIR, EISDIR, EINVAL, ENFILE,
    EMFILE, ENOTTY, ETXTBSY, EFBIG, ENOSPC, ESPIPE, EROFS, EMLINK, EPIPE, EDOM, ERANGE, EDEADLK,
    ENAMETOOLONG, ENOLCK, ENOSYS, ENOTEMPTY, ELOOP, ENOMSG, EIDRM, ENOSTR, ENODATA, ETIME, ENOSR,
    ENONET, ENOLINK, ECOMM, EPROTO, EMULTIHOP, EBADMSG, EOVERFLOW, EBADFD, EREMCHG, EILSEQ,
    ERESTART, EUSERS, ENOTSOCK, EOPNOTSUPP, EADDRINUSE, ENETDOWN, ENETUNREACH, ECONNABORTED,
    ECONNRESET, ENOBUFS, EISCONN, ENOTCONN, ESHUTDOWN, ETIMEDOUT, ECONNREFUSED, EHOSTDOWN,
    EHOSTUNREACH, EALREADY, EINPROGRESS, ESTALE, EUCLEAN, EREMOTEIO, EDQUOT, ENOMEDIUM,
    EMEDIUMTYPE, ECANCELED, ENOKEY, EKEYEXPIRED, EKEYREVOKED, EKEYREJECTED, EOWNERDEAD,
    ENOTRECOVERABLE, ERFKILL, EHWPOISON,
}

/// Names that are a second spelling of a number in [`TABLE`].
const ALIASES: &[(&str, i32)] = &[
    ("EWOULDBLOCK", libc::EWOULDBLOCK),
    ("EDEADLOCK", libc::EDEADLOCK),
    ("ENOTSUP", libc::ENOTSUP),
    ("ENOATTR", libc::ENODATA),
    ("EFSCORRUPTED", libc::EUCLEAN),
    ("EFSBADCRC", libc::EBADMSG),
];

/// The number of an error name such as `ENOENT`; names are written in capitals.
#[must_use]
pub fn from_name(name: &str) -> Option<i32> {
    let named = |table: &[(&str, i32)]| table.iter().find(|row| row.0 == name).map(|row| row.1);
    named(TABLE).or_else(|| named(ALIASES))
}

/// The name of an error number.
#[must_use]
pub fn name(errno: i32) -> Option<&'static str> {
    TABLE.iter().find(|row| row.1 == errno).map(|row| row.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of asm-generic/errno.h, which x86-64 and arm64 share.
    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn numbers_are_the_kernels() {
        for (text, number) in
            [("EPERM", 1), ("ENOENT", 2), ("EEXIST", 17), ("ENOSPC", 28), ("EUCLEAN", 117)]
        {
            assert_eq!(from_name(text), Some(number));
            assert_eq!(name(number), Some(text));
        }
    }

    #[test]
    fn second_spellings_are_read_but_not_written() {
        assert_eq!(from_name("EWOULDBLOCK"), from_name("EAGAIN"));
        assert_eq!(name(libc::EWOULDBLOCK), Some("EAGAIN"));
        assert_eq!(name(libc::ENOTSUP), Some("EOPNOTSUPP"));
        assert_eq!(from_name("enoent"), None);
        assert_eq!(name(0), None);
    }

    #[test]
    fn no_number_has_two_names() {
        for (i, row) in TABLE.iter().enumerate() {
            assert!(TABLE[i + 1..].iter().all(|other| other.1 != row.1), "{}", row.0);
        }
    }
}
