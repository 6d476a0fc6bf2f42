//! Words that move data at the position, speak of attributes and ACLs, or hold many handles.

use super::super::check::check;
use super::super::{Source, parse_tree};
use super::*;

fn canonical(text: &str) -> String {
    let source = Source { name: "t".into(), bytes: text.as_bytes().to_vec(), gzip: false };
    parse_tree(&source, &Options::default()).unwrap().to_string()
}

#[test]
fn texts_are_kept_and_acls_have_one_spelling() {
    let text = "getxattr a \"user.a b\" 0x10 *\nfsetxattr 1 user.a 4 XATTR_REPLACE *\n\
                setacl a other::r-x,u:007:r--,user::rwx,m::rwx,group::--- ENOTSUP\n\
                setacl b u::rwx,u:7:r--,g::---,m::rwx,o::r-x *\nremovexattr a security.x *\n";
    let expected = "getxattr \"/a\" \"user.a b\" 16 *\nfsetxattr 1 \"user.a\" 4 XATTR_REPLACE *\n\
                    setacl \"/a\" \"u::rwx,u:7:r--,g::---,m::rwx,o::r-x\" EOPNOTSUPP\n\
                    setacl \"/b\" \"u::rwx,u:7:r--,g::---,m::rwx,o::r-x\" *\n\
                    removexattr \"/a\" \"security.x\" *\n";
    assert_eq!(canonical(text), expected);
    assert_eq!(canonical(expected), expected);
    let program = good(text);
    // The ACL is there once: 4 bytes and 8 an entry.
    let lengths: Vec<_> = program.texts.iter().map(|text| text.len()).collect();
    assert_eq!(lengths, [8, 6, 4 + 5 * 8, 10]);
    assert_eq!((program.max_read, program.max_write), (16, 4));
}

#[test]
fn mistakes_have_their_column() {
    for (text, column, said) in [
        ("getxattr /a x 10 *", 13, "no namespace"),
        ("getxattr /a user. 10 *", 13, "nothing follows"),
        ("getxattr /a user.x 65537 *", 20, "65537"),
        ("setxattr /a user.x *%65538 0 *", 20, "too large"),
        ("setxattr /a user.x 1 2 *", 22, "`2`"),
        ("setacl /a u::rwx,g::r-x *", 11, "others"),
        ("setacl /a u::rwx,g::r-x,o::---,u:1:r-- *", 11, "mask"),
        ("setacl /a u:root:rwx *", 11, "`root` is no number"),
        ("setacl / u::rwx,g::r-x,o::--- *", 8, "the run directory"),
        ("removexattr /SHARED user.a *", 13, "the shared tree"),
        ("read 1 *%8 *", 12, "without its ret_size"),
        ("read 1 * 8 *", 8, "too large"),
        ("copy_file_range 1 2 10 *", 24, "without its ret_size"),
        ("sync_file_range 1 0 0 SYNC *", 23, "SYNC"),
    ] {
        let faults = bad(text);
        assert_eq!((faults.len(), faults[0].column), (1, column), "{text}: {faults:?}");
        assert!(faults[0].message.contains(said), "{text}: {}", faults[0].message);
    }
}

/// By hand: 10 times 100 one behind the other, 50 over its middle, 30 at the end of what is appended to;
/// 1000 copied behind 7, and the last 300 of it sent.
#[test]
fn positions_are_followed() {
    let report = check(&good(
        "open /a O_RDWR|O_CREAT 0600 1 *\nLOOP 10\nwrite 1 100 100 *\nENDLOOP\nlseek 1 500 *\n\
         write 1 50 50 *\nopen /b O_WRONLY|O_CREAT 0600 2 *\nWriteX 2 0 7 7 *\nlseek 2 7 *\n\
         lseek 1 0 *\ncopy_file_range 1 2 4000 1000 *\nopen /c O_RDWR|O_CREAT|O_APPEND 0600 3 *\n\
         write 3 20 20 *\nlseek 3 0 *\nwrite 3 5 5 *\nWriteX 3 0 5 5 *\n\
         lseek 1 700 *\nopen /d O_RDWR|O_CREAT 0600 4 *\nsendfile 1 4 9999 300 *\nread 1 10 0 *\n\
         setxattr /a user.x 100 0 *\nmmapread 1 0 64 *\n",
    ));
    assert_eq!((report.live_bytes_max, report.live_bytes_end), (1000 + 1007 + 30 + 300, 2337));
    assert_eq!((report.largest_file_bytes, report.open_handles_max), (1007, 4));
    // Asked for: read 10, mmapread 64, 4000 and 9999 copied; written 1000, 50, 7, 20, 5, 5 and the copies.
    assert_eq!((report.read_bytes, report.write_bytes), (14_073, 1087 + 13_999));
}

/// A loop that opens a thousand files holds a thousand, though only three of its rounds are run.
#[test]
fn handles_of_loops_are_counted() {
    let held = |text: &str| {
        let report = check(&good(text));
        (report.open_handles_max, report.open_handles_end)
    };
    let open = "open /f O_RDONLY|O_CREAT 0600 +1 *\n";
    assert_eq!(held(&format!("LOOP 1000\n{open}ENDLOOP\n")), (1000, 1000));
    let all = format!("LOOP 1000\n{open}ENDLOOP\nLOOP 1000\nClose +1 *\nENDLOOP\n");
    assert_eq!(held(&all), (1000, 0));
    assert_eq!(held(&format!("LOOP 10\nLOOP 100\n{open}ENDLOOP\nENDLOOP\n")), (1000, 1000));
    assert_eq!(held(&format!("LOOP 1000\n{open}Close +1 *\nENDLOOP\n")), (1, 0));
    let prepared = format!("PREPARE\nLOOP 500\n{open}ENDLOOP\nEND\nopen /f O_RDONLY 0 1 *\n");
    assert_eq!(held(&prepared), (500, 1));
}
