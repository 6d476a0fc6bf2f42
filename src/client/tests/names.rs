//! Words that are one system call on names: the calls that a client makes for them.

use super::{OK, fd, replay};
use crate::plan::Load;

/// The rest of them, by hand; the text of a link is the way from it to its target.
#[test]
fn single_calls_on_names_are_single() {
    let text = "mkdirat /a 0750 *\nunlinkat /a AT_REMOVEDIR *\nunlinkat /a 0 *\nrenameat2 /a /b RENAME_NOREPLACE *\n\
                link /a /b *\nsymlink /x/client1/t /client1/l *\nreadlink /client1/l EINVAL\nutimes /a *\n\
                lutimes /a *\nchown /a 1 -1 *\nlchown /a -1 -1 *\nopen /a O_RDWR 0 7 *\nftruncate 7 9 *\n\
                fallocate 7 FALLOC_FL_KEEP_SIZE 1 2 *\nlseek 7 5 *\ngetdents 7 *\nfutimes 7 *\nfchown 7 2 3 *";
    let answers = vec![OK, OK, OK, OK, OK, OK, OK, OK, OK, OK, OK, fd(5)];
    let (log, _, errors) = replay(text, Load { xattr: true, ..Load::default() }, answers);
    let expected = [
        "mkdir /d/a 750",
        "rmdir /d/a",
        "unlink /d/a",
        "renameat /d/a /d/b 1",
        "link /d/a /d/b",
        "symlink ../x/client0/t /d/client0/l",
        "readlink /d/client0/l",
        "utimes /d/a [0, 0, 0]",
        "lutimes /d/a [0, 0, 0]",
        "chown /d/a [1, 18446744073709551615, 0]",
        "lchown /d/a [18446744073709551615, 18446744073709551615, 0]",
        "open /d/a 0o2 0",
        "ftruncate 5 [9, 0, 0]",
        "fallocate 5 [1, 1, 2]",
        "lseek 5 [5, 0, 0]",
        "getdents 5",
        "futimes 5 [0, 0, 0]",
        "fchown 5 [2, 3, 0]",
        "close 5",
    ];
    assert_eq!(log, expected);
    // The one that the line did not expect to succeed.
    assert_eq!(errors.first().len(), 1);
}
