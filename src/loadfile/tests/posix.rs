//! Words that are one system call each, and the tree that clients share.

use super::super::check::check;
use super::super::{Source, parse_tree};
use super::*;
use crate::loadfile::program::{Expect, HandleRef, OperandKind};
use crate::op::OpKind;

fn canonical(text: &str) -> String {
    let source = Source { name: "t".into(), bytes: text.as_bytes().to_vec(), gzip: false };
    parse_tree(&source, &Options::default()).unwrap().to_string()
}

#[test]
fn flags_are_names_and_modes_octal() {
    let program = good(
        "open \"/a b\" O_CREAT|O_RDWR|O_EXCL 0640 -3 EEXIST\nopen \\c\\ O_WRONLY 0 7 *\n\
         ACCESS /a F_OK 0xC0000022\nchmod /a 07555 SUCCESS\n",
    );
    let Action::Open { flags, mode, handle: HandleRef::Slot(slot), .. } = program.insts[0].action
    else {
        panic!("{:?}", program.insts[0]);
    };
    // O_RDWR 2, O_CREAT 0100, O_EXCL 0200: the numbers of x86-64, arm64 and most others.
    assert_eq!((flags, mode, program.handles[slot as usize]), (0o302, 0o640, -3));
    assert_eq!(program.insts[0].expect, Expect::Errno(17));
    assert_eq!(words(&program), ["open", "open", "access", "chmod"]);
    let Action::OnPath { numbers: [mode, ..], .. } = program.insts[3].action else {
        panic!("{:?}", program.insts[3]);
    };
    assert_eq!(mode.kind(), OperandKind::Literal(0o7555));
    assert_eq!((path(&program, 0), path(&program, 1)), ("/a b".to_owned(), "/c".to_owned()));
}

#[test]
fn the_canonical_text_keeps_the_names() {
    let text = "Open a O_CREAT|O_DSYNC|O_WRONLY|O_CREAT 00644 0x10 0x0\nACCESS \\a\\b W_OK|F_OK|R_OK *\n\
                STAT client1 ENOENT\nlstat /a ERROR\nfstat 016 *\nFDATASYNC 1 *\nfchmod +child 0600 *\n\
                truncate \"a\" *%4096 *\naccess /a F_OK *\nopen /a O_RDONLY 0 1 *\n";
    let expected = "open \"/a\" O_WRONLY|O_CREAT|O_DSYNC 0644 16 NT_STATUS_OK\n\
                    access \"/a/b\" R_OK|W_OK *\nstat \"/client1\" ENOENT\n\
                    lstat \"/a\" NT_STATUS_UNSUCCESSFUL\nfstat 14 *\nfdatasync 1 *\n\
                    fchmod +child 0600 *\ntruncate \"/a\" *%4096 *\naccess \"/a\" F_OK *\n\
                    open \"/a\" O_RDONLY 0000 1 *\n";
    assert_eq!(canonical(text), expected);
    assert_eq!(canonical(expected), expected);
}

#[test]
fn mistakes_have_their_column() {
    for (text, column, said) in [
        ("open /a O_RDWR|O_CRAET 0600 1 *", 9, "O_CRAET"),
        ("open /a O_RDWR|O_WRONLY 0600 1 *", 9, "O_WRONLY"),
        ("open /a 66 0600 1 *", 9, "66"),
        ("open /a O_RDWR 600 1 *", 16, "600"),
        ("open /a O_RDWR 0x180 1 *", 16, "0x180"),
        ("open /a O_RDWR 010000 1 *", 16, "010000"),
        ("open /a O_RDWR *%8 1 *", 16, "*%8"),
        ("open /a O_RDWR 0600 *", 21, "without its handle"),
        ("access /a r_ok *", 11, "r_ok"),
        ("access /a *", 11, "without its mode"),
        ("stat *", 6, "without its path"),
        ("stat /a 1 *", 9, "too many"),
        ("chown /a -2 0 *", 10, "-2"),
        ("unlinkat /a 1 *", 13, "`1`"),
        ("renameat2 /a / 0 *", 14, "the run directory"),
        ("link /a *", 9, "new path"),
        ("truncate /a -1 *", 13, "-1"),
        ("chmod / 0700 *", 7, "the run directory"),
        ("truncate /SHARED 0 *", 10, "the shared tree"),
        ("open / O_RDONLY 0 1 *", 6, "the run directory"),
        ("Deltree \\SHARED\\ *", 9, "the shared tree"),
        ("Mkdir SHARED *", 7, "the shared tree"),
        ("Rename /a \"/SHARED\" *", 11, "the shared tree"),
    ] {
        let faults = bad(text);
        assert_eq!((faults.len(), faults[0].column), (1, column), "{text}: {faults:?}");
        assert!(faults[0].message.contains(said), "{text}: {}", faults[0].message);
    }
}

#[test]
fn what_only_looks_may_name_what_the_run_made() {
    let program =
        good("stat / *\nlstat /SHARED *\naccess / X_OK *\nFIND_FIRST /SHARED/* 1 9 9 *\n");
    assert!(program.shared);
}

/// The first component says it, in capitals, and nothing else.
#[test]
fn shared_paths_are_known() {
    for (path, shared) in [
        ("/SHARED/a", true),
        ("SHARED\\client1", true),
        ("//SHARED//", true),
        ("/SHAREDx/a", false),
        ("/shared/a", false),
        ("/a/SHARED", false),
        ("/client1/SHARED/a", false),
    ] {
        assert_eq!(good(&format!("stat \"{path}\" *\n")).shared, shared, "{path}");
    }
    // `$1` is another component's beginning once it is a string.
    assert!(!good("RANDOMSTRING 1 \"[ab]\"\nstat /SHARED$1/a *\n").shared);
}

/// By hand: 100 in a shared file; 10 and, cut to 7, at most 10 in the client's own; 30 in a file of
/// the client's in a shared directory.
#[test]
fn shared_files_are_there_once() {
    let report = check(&good(
        "PREPARE\nopen /SHARED/f O_RDWR|O_CREAT 0600 1 *\nWriteX 1 0 100 100 *\nEND\n\
         open /client1/f O_RDWR|O_CREAT 0600 1 *\nWriteX 1 0 10 10 *\ntruncate /client1/f 7 *\n\
         open /SHARED/client1 O_RDWR|O_CREAT 0600 2 *\nWriteX 2 0 30 30 *\nstat /SHARED/none ENOENT\n\
         open /none O_RDONLY 0 3 ENOENT\nopen /gone O_RDONLY 0 4 *\naccess /SHARED/f R_OK ERROR\n",
    ));
    assert_eq!((report.live_bytes_max, report.live_bytes_end), (137, 137));
    assert_eq!((report.own_bytes_max, report.shared_bytes_max), (37, 100));
    assert_eq!((report.open_handles_max, report.files_not_made), (3, 1));
    assert_eq!((report.expected_failures, report.largest_file_bytes), (3, 100));
    assert!(report.features.contains(&"SHARED"));
    let text = report.to_string();
    assert!(text.contains("in shared files           100 B, once for all clients"), "{text}");
}

/// By hand: 100, with a second name; 40 cut to 5 and filled up to 64; the first name goes, the
/// second is moved over the other file.
#[test]
fn second_names_and_lengths_of_open_files_count() {
    let report = check(&good(
        "mkdirat /d 0700 *\nopen /d/a O_RDWR|O_CREAT 0600 1 *\nWriteX 1 0 100 100 *\nClose 1 *\n\
         link /d/a /d/b *\nunlinkat /d/a 0 *\nopen /d/c O_RDWR|O_CREAT 0600 2 *\n\
         WriteX 2 0 40 40 *\nftruncate 2 5 *\nfallocate 2 0 60 4 *\n\
         fallocate 2 FALLOC_FL_KEEP_SIZE 60 4000 *\nClose 2 *\nrenameat2 /d/b /d/c 0 *\n\
         symlink /d/c /d/l *\nchown /d/c -1 5 *\nlseek 2 0 *\n",
    ));
    assert_eq!((report.live_bytes_max, report.live_bytes_end), (164, 100));
    assert_eq!((report.largest_file_bytes, report.files_not_made), (100, 0));
}

/// By hand: 100 and 40 change places, so that 100 goes with the second name; of directories all that is
/// below goes along.
#[test]
fn names_that_are_exchanged_keep_what_they_are() {
    let report = check(&good(
        "open /a O_RDWR|O_CREAT 0600 1 *\nWriteX 1 0 100 100 *\nClose 1 *\n\
         open /b O_RDWR|O_CREAT 0600 1 *\nWriteX 1 0 40 40 *\nClose 1 *\n\
         renameat2 /a /b RENAME_EXCHANGE *\nunlinkat /b 0 *\n",
    ));
    assert_eq!((report.live_bytes_max, report.live_bytes_end), (140, 40));
    let report = check(&good(
        "Mkdir /d *\nopen /d/f O_RDWR|O_CREAT 0600 1 *\nWriteX 1 0 7 7 *\nClose 1 *\nMkdir /e *\n\
         renameat2 /e /d RENAME_EXCHANGE *\nunlinkat /d/f 0 ENOENT\nunlinkat /e/f 0 *\n",
    ));
    assert_eq!((report.live_bytes_max, report.live_bytes_end), (7, 0));
}

#[test]
fn opening_cuts_and_directories_have_no_size() {
    let report = check(&good(
        "open /f O_RDWR|O_CREAT 0600 1 *\nWriteX 1 0 50 50 *\nopen /f O_WRONLY|O_TRUNC 0 1 *\n\
         WriteX 1 0 20 20 *\nMkdir /d *\nopen /d O_RDONLY|O_DIRECTORY 0 2 *\nUnlink /f 0 *\nClose 1 *\n",
    ));
    assert_eq!((report.live_bytes_max, report.live_bytes_end), (50, 0));
    assert_eq!((report.files_not_made, report.open_handles_max), (0, 2));
}

/// The rows of what can expect failure, beside dbench's: every word that is one call.
#[test]
fn both_directions_count_for_single_calls() {
    let both: Vec<_> =
        OpKind::ALL.iter().filter(|k| k.row().can_expect_failure).map(|k| k.word()).collect();
    let expected = [
        "Rmdir",
        "NTCreateX",
        "Rename",
        "Unlink",
        "QUERY_PATH_INFORMATION",
        "stat",
        "lstat",
        "access",
        "open",
        "fstat",
        "fdatasync",
        "chmod",
        "fchmod",
        "truncate",
        "ftruncate",
        "fallocate",
        "lseek",
        "getdents",
        "mkdirat",
        "unlinkat",
        "renameat2",
        "link",
        "symlink",
        "readlink",
        "utimes",
        "lutimes",
        "futimes",
        "chown",
        "lchown",
        "fchown",
        "fstatat",
        "read",
        "write",
        "copy_file_range",
        "sendfile",
        "mmapread",
        "liststat",
        "mkfifo",
        "syncfs",
        "sync_file_range",
        "getxattr",
        "fgetxattr",
        "setxattr",
        "fsetxattr",
        "removexattr",
        "fremovexattr",
        "listxattr",
        "flistxattr",
        "getacl",
        "setacl",
        "removeacl",
    ];
    assert_eq!(both, expected);
}

/// The figures in the heads of the files and in docs/loadfile.md.
#[test]
fn the_walks_do_what_their_heads_say() {
    for (name, own, shared) in
        [("pathwalk", 4096, 0), ("pathwalk-shared-dir", 4096, 0), ("pathwalk-shared-file", 0, 4096)]
    {
        let text = crate::loadfile::builtin::builtin(name).unwrap().text;
        let report = check(&good(std::str::from_utf8(text).unwrap()));
        assert_eq!((report.own_bytes_max, report.shared_bytes_max), (own, shared), "{name}");
        let counts: Vec<_> =
            report.ops.iter().map(|op| (op.op, op.count, op.expected_failures)).collect();
        let expected = [
            ("NTCreateX", 1000, 0),
            ("Close", 2000, 0),
            ("stat", 4000, 0),
            ("lstat", 1000, 1000),
            ("access", 2000, 0),
            ("open", 1000, 0),
        ];
        assert_eq!(counts, expected, "{name}");
        assert_eq!((report.write_bytes, report.files_not_made), (0, 0), "{name}");
        assert_eq!(report.live_bytes_max, report.live_bytes_end, "{name}");
    }
}
