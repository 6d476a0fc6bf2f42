//! Loadfiles of other kinds become loads: by hand, played, and of anything at all.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::process::Command;

use jbodbench::import::dialects::{Dialect, DialectError, Tally, convert};
use jbodbench::loadfile::{Options, parse_bytes};
use proptest::prelude::*;

fn made(dialect: Dialect, text: &str) -> (Tally, Vec<String>) {
    let (tally, out) = convert(dialect, text.as_bytes(), &[]).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    (tally, lines)
}

/// Plays a load with two clients, twice, on one disk; no operation may miss its status.
fn play(lines: &[String]) {
    let dir = tempfile::tempdir().unwrap();
    let load = dir.path().join("made.load");
    let disk = dir.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    std::fs::write(&load, lines.join("\n")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_jbodbench"));
    command.args([
        "run",
        "-c",
        "2",
        "--passes",
        "2",
        "--progress",
        "none",
        "--engine",
        "sync",
        "-l",
    ]);
    let output = command.arg(&load).arg(&disk).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}\n{said}", lines.join("\n"));
    assert_eq!(std::fs::read_dir(&disk).unwrap().count(), 0);
}

/// dbench 2: no quotes, no status, a handle of -1 where an open failed; as its manual and files have it.
const DBENCH2: &str = "\
QUERY_PATH_INFORMATION \\clients\\client1
NTCreateX \\clients 0x1 0x2 100
Close 100
NTCreateX \\clients\\client1 0x1 0x2 101
Close 101
NTCreateX \\clients\\client1\\mix 0x40 0x1 -1
FIND_FIRST \\clients\\client1\\FILL\"*
NTCreateX \\clients\\client1\\fill.000 0x40 0x2 102
QUERY_FS_INFORMATION 1
WriteX 102 4095 1 1
ReadX 102 0 8192 4096
Flush 102
QUERY_FILE_INFORMATION 102
Close 102
Rename \\clients\\client1\\fill.000 \\clients\\client1\\b
Unlink \\clients\\client1\\b
Unlink \\clients\\client1\\b
Close 999
Frobnicate 1
Rename \\clients\\client1\\b
";

#[test]
fn dbench_2_by_hand() {
    let (tally, lines) = made(Dialect::Nbench, DBENCH2);
    let expected = [
        "Deltree \"/clients/client1\" *",
        "QUERY_PATH_INFORMATION \"/clients/client1\" 0 *",
        "NTCreateX \"/clients\" 0x1 0x2 100 NT_STATUS_OK",
        "Close 100 NT_STATUS_OK",
        "NTCreateX \"/clients/client1\" 0x1 0x2 101 NT_STATUS_OK",
        "Close 101 NT_STATUS_OK",
        "NTCreateX \"/clients/client1/mix\" 0x40 0x1 0 ERROR",
        "FIND_FIRST \"/clients/client1/FILL.*\" 0 1000000 0 NT_STATUS_OK",
        "NTCreateX \"/clients/client1/fill.000\" 0x40 0x2 102 NT_STATUS_OK",
        "QUERY_FS_INFORMATION 1 NT_STATUS_OK",
        "WriteX 102 4095 1 1 NT_STATUS_OK",
        "ReadX 102 0 8192 4096 NT_STATUS_OK",
        "Flush 102 NT_STATUS_OK",
        "QUERY_FILE_INFORMATION 102 0 NT_STATUS_OK",
        "Close 102 NT_STATUS_OK",
        "Rename \"/clients/client1/fill.000\" \"/clients/client1/b\" NT_STATUS_OK",
        "Unlink \"/clients/client1/b\" 0 NT_STATUS_OK",
        // Nothing says whether it was there, but the lines before say that it is not.
        "Unlink \"/clients/client1/b\" 0 *",
    ];
    assert_eq!(lines, expected);
    let total = tally.total();
    assert_eq!(
        (tally.lines, total.lines(), total.kept, total.no_word, total.unclear),
        (20, 20, 17, 2, 1)
    );
    assert_eq!((tally.complaints[0].line, tally.complaints[0].column), (20, 8));
    assert!(tally.complaints[0].text.contains("expected 2 paths"), "{}", tally.complaints[0].text);
    play(&lines);
}

/// Samba's recorder and smbtorture: words that dbench never had, on a share with files in it.
const SAMBA: &str = "\
# a comment
Chkpath \"\\clients\\client1\\docs\" NT_STATUS_OK
QUERY_PATH_INFORMATION \"\\clients\\client1\\docs\\a b.doc\" 1004 NT_STATUS_OK
1.5 NTCreateX \"\\clients\\client1\\docs\\a b.doc\" 0x40 0x1 7 NT_STATUS_OK
ReadX 7 1000 500 200 NT_STATUS_OK
Write 7 0 10 10 NT_STATUS_OK
Write 7 4096 0 0 NT_STATUS_OK
LockX 7 0 1 0xc0000055
Close 7 NT_STATUS_OK
SET_PATH_INFORMATION \"\\clients\\client1\\docs\\a b.doc\" 4 NT_STATUS_OK
NTCreateX \"\\clients\\client1\\docs\\a b.doc\" 0x40 0x2 0 NT_STATUS_OBJECT_NAME_COLLISION
NTCreateX \"\\clients\\client1\\none\" 0x40 0x1 0 NT_STATUS_OBJECT_NAME_NOT_FOUND
NTCreateX \"\\clients\\client1\\docs\" 0x40 0x1 0 NT_STATUS_SHARING_VIOLATION
Copy - NOT HANDLED
Unlink \"\\clients\\client1\\docs\\a b.doc\" 0x6 NT_STATUS_OK
Unlink \"\\clients\\client1\\docs\\*.tmp\" 0x6 NT_STATUS_OK
";

#[test]
fn sambas_words_by_hand() {
    let (tally, lines) = made(Dialect::Nbench, SAMBA);
    let doc = "\"/clients/client1/docs/a b.doc\"";
    let file = [
        format!("open {doc} O_WRONLY|O_CREAT|O_TRUNC 0644 1 NT_STATUS_OK"),
        "WriteX 1 0 1200 1200 NT_STATUS_OK".to_owned(),
        "Close 1 NT_STATUS_OK".to_owned(),
    ];
    let mut expected = vec![
        "PREPARE".to_owned(),
        "Mkdir \"/clients\" *".to_owned(),
        "Mkdir \"/clients/client1\" *".to_owned(),
        "Mkdir \"/clients/client1/docs\" *".to_owned(),
    ];
    expected.extend(file.clone());
    expected.extend(["END".to_owned(), format!("Deltree {doc} *")]);
    expected.extend(file);
    expected.extend([
        "QUERY_PATH_INFORMATION \"/clients/client1/docs\" 0 NT_STATUS_OK".to_owned(),
        format!("QUERY_PATH_INFORMATION {doc} 1004 NT_STATUS_OK"),
        format!("1.5 NTCreateX {doc} 0x40 0x1 7 NT_STATUS_OK"),
        "ReadX 7 1000 500 200 NT_STATUS_OK".to_owned(),
        "WriteX 7 0 10 10 NT_STATUS_OK".to_owned(),
        "ftruncate 7 4096 NT_STATUS_OK".to_owned(),
        "Close 7 NT_STATUS_OK".to_owned(),
        format!("utimes {doc} NT_STATUS_OK"),
        format!("open {doc} O_RDWR|O_CREAT|O_EXCL 0600 0 EEXIST"),
        "NTCreateX \"/clients/client1/none\" 0x40 0x1 0 ERROR".to_owned(),
        format!("Unlink {doc} 0x6 NT_STATUS_OK"),
    ]);
    assert_eq!(lines, expected);
    let total = tally.total();
    assert_eq!((total.lines(), total.kept, total.no_word, total.failed), (15, 11, 2, 2));
    assert_eq!((tally.comments, tally.start, tally.bytes, tally.restoring), (1, 4, 1200, 4));
    let untimed: Vec<_> = lines.iter().map(|line| line.replacen("1.5 ", "", 1)).collect();
    play(&untimed);
}

/// dbench 1: requests and replies of SMB; a reply comes behind another request, raw reads have none.
const DBENCH1: &str = "\
SMBmkdir REQUEST Path \\CLIENTS
SMBmkdir REPLY 
SMBmkdir REQUEST Path \\CLIENTS\\CLIENT1
SMBmkdir REPLY 
SMBgetatr REQUEST  Path \\CLIENTS\\CLIENT1\\logout.sem
SMBgetatr REPLY  ERRbadfile
SMBtrans2 REQUEST  TRANSACT2_FINDFIRST DataOff 0 File \\CLIENTS\\CLIENT1\\*.SEM
SMBtrans2 REPLY  ERRbadfile TRANSACT2_FINDFIRST
CREATE REQUEST Path \\CLIENTS\\CLIENT1\\OLD.XLS Size 300
SMBopenX REQUEST  Size 0 Path \\CLIENTS\\CLIENT1\\old.xls
SMBlockingX REQUEST  Handle 4
SMBopenX REPLY  Handle 5 Size 300
SMBreadbraw REQUEST  Handle 5 Offset 100 MaxCount 400
SMBread REQUEST  Handle 5 ByteCount 50 Offset 280
SMBread REPLY  Count 20
SMBopenX REQUEST  Size 0 Path \\CLIENTS\\CLIENT1\\NEW
SMBopenX REPLY  Handle 6 Size 0
SMBwrite REQUEST  Handle 6 ByteCount 16 Offset 8
SMBwrite REPLY  Count 16
SMBwritebraw REQUEST  Handle 6 Offset 24 DataSize 6 DataOff 60
SMBwrite REQUEST  Handle 6 ByteCount 0 Offset 64
SMBflush REQUEST  Handle 6
SMBclose REQUEST  Handle 6
SMBclose REPLY 
SMBmv REQUEST  OldPath \\CLIENTS\\CLIENT1\\NEW NewPath \\CLIENTS\\CLIENT1\\B
SMBmv REPLY 
SMBunlink REQUEST  Path \\CLIENTS\\CLIENT1\\B
SMBunlink REPLY 
SMBwrite REQUEST  Handle 6 ByteCount 1 Offset 0
SMBdskattr REQUEST 
SMBwhatever REQUEST 
SMBclose REPLY 
";

#[test]
fn dbench_1_by_hand() {
    let (tally, lines) = made(Dialect::Nbench, DBENCH1);
    let expected = [
        "Deltree \"/CLIENTS/client1\" *",
        "Mkdir \"/CLIENTS\" NT_STATUS_OK",
        "Mkdir \"/CLIENTS/client1\" NT_STATUS_OK",
        "stat \"/CLIENTS/client1/LOGOUT.SEM\" ENOENT",
        "FIND_FIRST \"/CLIENTS/client1/*.SEM\" 0 1000000 0 *",
        "open \"/CLIENTS/client1/OLD.XLS\" O_RDWR|O_CREAT|O_TRUNC 0600 0 NT_STATUS_OK",
        "ftruncate 0 300 NT_STATUS_OK",
        "Close 0 NT_STATUS_OK",
        "open \"/CLIENTS/client1/OLD.XLS\" O_RDWR 0600 5 NT_STATUS_OK",
        "ReadX 5 100 400 0 NT_STATUS_OK",
        "ReadX 5 280 50 20 NT_STATUS_OK",
        "open \"/CLIENTS/client1/NEW\" O_RDWR|O_CREAT|O_TRUNC 0600 6 NT_STATUS_OK",
        "WriteX 6 8 16 16 NT_STATUS_OK",
        "WriteX 6 24 6 6 NT_STATUS_OK",
        "ftruncate 6 64 NT_STATUS_OK",
        "Flush 6 NT_STATUS_OK",
        "Close 6 NT_STATUS_OK",
        "renameat2 \"/CLIENTS/client1/NEW\" \"/CLIENTS/client1/B\" 0 NT_STATUS_OK",
        "unlinkat \"/CLIENTS/client1/B\" 0 NT_STATUS_OK",
        "QUERY_FS_INFORMATION 1 NT_STATUS_OK",
    ];
    assert_eq!(lines, expected);
    // A lock without a range, a closed handle, an unknown request, a reply too many.
    let total = tally.total();
    assert_eq!((total.lines(), total.kept, total.folded, total.no_word), (32, 17, 11, 4));
    play(&lines);
}

/// Each NFS call as a server does it: RFC 1813 for the calls and their numbers.
const NFS: &str = "\
0.0 Deltree \"/clients/client1\" 0x00000000
MKDIR3 \"/clients\" *
MKDIR3 \"/clients/client1\" 0x00000000
LOOKUP3 \"/clients/client1/none\" 0x00000002
CREATE3 \"/clients/client1/a\" 0x00000000
WRITE3 \"/clients/client1/a\" 0 1024 0 0x00000000
WRITE3 \"/clients/client1/a\" 1024 1024 1 0x00000000
WRITE3 \"/clients/client1/a\" 2048 1024 2 0x00000000
COMMIT3 \"/clients/client1/a\" 0x00000000
REPEAT 3
READ3 \"/clients/client1/a\" */512%4096 512 0x00000000
REPEAT 2
GETATTR3 \"/clients/client1/a\" 0x00000000
ACCESS3 \"/clients/client1/a\" 0x3f 0xd 0x00000000
SETATTR3 \"/clients/client1/a\" 0x00000000
READLINK3 \"/clients/client1/a\" 0x00000016
LINK3 \"/clients/client1/h\" \"/clients/client1/a\" 0x00000000
SYMLINK3 \"/clients/client1/s\" \"a\" 0x00000000
READDIRPLUS3 \"/clients/client1\" 0x00000000
RENAME3 \"/clients/client1/a\" \"/clients/client1/b\" 0x00000000
REMOVE3 \"/clients/client1/h\" 0x00000000
RMDIR3 \"/clients/client1\" 0x00000042
FSSTAT3 0x00000000
LOCK4 \"/clients/client1/b\" 5 15 0x00000000
UNLOCK4 \"/clients/client1/b\" 5 15 0x00000000
TEST4 \"/clients/client1/b\" 5 15 0x00000000
GETATTR3 \"/clients/client1/b\" 0x00002711
READ3 \"/clients/client1/b\" 0 x
MKNOD3 \"/clients/client1/b\" 0x00000000
";

#[test]
fn nfs_by_hand() {
    let (tally, lines) = made(Dialect::Nfs, NFS);
    let a = "\"/clients/client1/a\"";
    let (b, h) = ("\"/clients/client1/b\"", "\"/clients/client1/h\"");
    let (root, ok) = ("\"/clients/client1\"", "NT_STATUS_OK");
    let mut expected = vec![
        format!("0.0 Deltree {root} {ok}"),
        "mkdirat \"/clients\" 0777 *".to_owned(),
        format!("mkdirat {root} 0777 {ok}"),
        "lstat \"/clients/client1/none\" ENOENT".to_owned(),
        format!("open {a} O_WRONLY|O_CREAT 0666 0 {ok}"),
        format!("Close 0 {ok}"),
    ];
    for (flags, at) in [("O_WRONLY", 0), ("O_WRONLY|O_DSYNC", 1024), ("O_WRONLY|O_SYNC", 2048)] {
        expected.push(format!("open {a} {flags} 0 0 {ok}"));
        expected.push(format!("WriteX 0 {at} 1024 1024 {ok}"));
        expected.push(format!("Close 0 {ok}"));
    }
    expected.extend([
        format!("open {a} O_WRONLY 0 0 {ok}"),
        format!("Flush 0 {ok}"),
        format!("Close 0 {ok}"),
        "LOOP 3".to_owned(),
        format!("open {a} O_RDONLY 0 0 {ok}"),
        format!("ReadX 0 */512%4096 512 0 {ok}"),
        format!("Close 0 {ok}"),
        "ENDLOOP".to_owned(),
        "REPEAT 2".to_owned(),
        format!("lstat {a} {ok}"),
        // Of 0xd: read 1, modify 4, extend 8.
        format!("access {a} R_OK|W_OK {ok}"),
        format!("lutimes {a} {ok}"),
        format!("readlink {a} EINVAL"),
        format!("link {a} {h} {ok}"),
        format!("symlink {a} \"/clients/client1/s\" {ok}"),
        format!("open {root} O_RDONLY|O_DIRECTORY 0 0 {ok}"),
        format!("getdents 0 {ok}"),
        format!("getdents 0 {ok}"),
        format!("Close 0 {ok}"),
        format!("renameat2 {a} {b} 0 {ok}"),
        format!("unlinkat {h} 0 {ok}"),
        // NFS's number 66 is Linux' 39.
        format!("unlinkat {root} AT_REMOVEDIR ENOTEMPTY"),
        format!("QUERY_FS_INFORMATION 1 {ok}"),
        format!("open {b} O_RDWR 0 1 {ok}"),
        format!("LockX 1 5 15 {ok}"),
        format!("UnlockX 1 5 15 {ok}"),
    ]);
    // The parent is there for all clients before the first of them makes its own.
    let lines: Vec<_> = lines.into_iter().collect();
    assert_eq!(lines, expected);
    let total = tally.total();
    assert_eq!(
        (total.lines(), total.kept, total.no_word, total.failed, total.unclear),
        (29, 25, 2, 1, 1)
    );
    assert_eq!(tally.complaints[0].line, 28);
    play(&lines);
}

/// What the lines find without having made it, is made; `+n` and other computed numbers stay what they are.
#[test]
fn what_an_nfs_load_reads_is_there() {
    let (tally, lines) = made(
        Dialect::Nfs,
        "READ3 \"/clients/client1/d/f\" *%1000+24 4096 0x0\nREMOVE3 \"/clients/client1/d/f\" 0x0\n",
    );
    let start: Vec<_> =
        lines.iter().take_while(|line| *line != "END").map(String::as_str).collect();
    // 999 + 24 + 4096.
    assert_eq!(
        start,
        [
            "PREPARE",
            "Mkdir \"/clients\" *",
            "Mkdir \"/clients/client1\" *",
            "Mkdir \"/clients/client1/d\" *",
            "open \"/clients/client1/d/f\" O_WRONLY|O_CREAT|O_TRUNC 0644 1 NT_STATUS_OK",
            "WriteX 1 0 5119 5119 NT_STATUS_OK",
            "Close 1 NT_STATUS_OK",
        ]
    );
    assert_eq!((tally.start, tally.bytes), (4, 5119));
    play(&lines);
}

#[test]
fn what_is_no_loadfile_is_said_to_be_none() {
    for dialect in [Dialect::Nbench, Dialect::Nfs] {
        let error = convert(dialect, b"hello\nworld 1\n", &[]).unwrap_err();
        assert!(
            matches!(&error, DialectError::Nothing(tally, _) if tally.total().no_word == 2),
            "{error}"
        );
        assert!(error.to_string().contains("none of its 2 lines"), "{error}");
    }
}

#[test]
fn the_commands_write_new_files_only_and_the_refusal_names_them() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let run = |arguments: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_jbodbench")).args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for (kind, text) in [("nbench", DBENCH2), ("nbench", DBENCH1), ("nfs", NFS)] {
        let (from, to) = (path("from"), path("to.load.gz"));
        std::fs::write(&from, text).unwrap();
        let (code, said) = run(&["check", &from]);
        assert!(
            code == Some(2) && said.contains(&format!("jbodbench import {kind} FILE")),
            "{said}"
        );
        let (code, said) = run(&["import", kind, &from, "-o", &to]);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("\nall "), "{said}");
        assert_eq!(run(&["check", &to]).0, Some(0));
        let before = std::fs::read(&to).unwrap();
        assert_eq!(run(&["import", kind, &from, "-o", &to]).0, Some(2));
        assert_eq!(std::fs::read(&to).unwrap(), before);
        std::fs::remove_file(&to).unwrap();
    }
    let (code, said) = run(&["import", "nfs", &path("none")]);
    assert!(code == Some(2) && said.contains("none: No such file"), "{said}");
    assert!(Path::new(&path("from")).exists());
}

fn check(dialect: Dialect, text: &[u8]) {
    match convert(dialect, text, &[]) {
        Ok((tally, out)) => {
            // Every line is in one column, and the load can be read.
            assert_eq!(tally.total().lines() + tally.comments, tally.lines);
            assert!(parse_bytes("t", &out, &Options::default()).is_ok());
        }
        Err(DialectError::Nothing(tally, _)) => {
            assert_eq!(tally.total().lines() + tally.comments, tally.lines);
        }
        // What a load may not have as a whole: loops with nothing in them are not among it.
        Err(DialectError::Load(error)) => panic!("{error}\n{}", String::from_utf8_lossy(text)),
    }
}

const DIRECTIVES: &str = "\
LOOP 3
ENDLOOP
REPEAT 2
REPEAT 0
LOOP x
SLEEP 1
SETSP 1
WAITSP 0 1
RANDOMSTRING 1 \"a[bc]d\"
WRITEPATTERN abc
Unlink \"/clients/client1/$1\" 0 NT_STATUS_OK
REMOVE3 \"/clients/client1/$1\" 0x0
CREATE3 \"/clients/client1/$1\" 0x0
Rename \"/a\" \"/a/b\" NT_STATUS_OK
RENAME3 \"/\" \"/a\" 0x0
Deltree \"/\" NT_STATUS_OK
Mkdir \"/SHARED\" NT_STATUS_OK
NTCreateX \"/SHARED/x/../y\" 0 0 0 0
ReadX 0 9223372036854775807 99999999999999999999 -1 NT_STATUS_OK
READ3 \"/a\" 4611686018427387903 1073741824 0x0
READ3 \"/a/b\" +4096 +1 *
SMBopenX REQUEST Path
SMBopenX REPLY Handle 6 Size 99999999999999
SMBmv REQUEST OldPath \\a NewPath
1.5
.5 GETATTR3 \"/\" 0x0";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn lines_in_any_order_make_a_load(picks in proptest::collection::vec(any::<proptest::sample::Index>(), 1..60)) {
        let all: Vec<&str> =
            [DBENCH1, DBENCH2, SAMBA, NFS, DIRECTIVES].iter().flat_map(|text| text.lines()).collect();
        let text: String = picks.iter().map(|at| format!("{}\n", at.get(&all))).collect();
        check(Dialect::Nbench, text.as_bytes());
        check(Dialect::Nfs, text.as_bytes());
    }

    #[test]
    fn damaged_loadfiles_do_no_harm(
        cuts in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>(), 0_usize..3), 1..30),
        which in 0_usize..4,
    ) {
        let mut text = [DBENCH1, DBENCH2, SAMBA, NFS][which].as_bytes().to_vec();
        for (at, byte, how) in cuts {
            let at = at.index(text.len());
            match how {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                _ => { text.remove(at); }
            }
        }
        check(Dialect::Nbench, &text);
        check(Dialect::Nfs, &text);
    }

    #[test]
    fn any_bytes_do_no_harm(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(Dialect::Nbench, &text);
        check(Dialect::Nfs, &text);
    }
}
