//! The exact calls of each operation, as `strace` shows them of dbench 4 on Debian 12.

mod groups;
mod names;
mod pools;

use super::{Client, ClientReport, ClientSetup, Doing, ErrorLog};
use crate::engine::{Control, Errno, Reply, ScriptedEngine, SlotLayout};
use crate::fault::Fault;
use crate::loadfile::{Options, Program, parse_bytes};
use crate::metrics::Shard;
use crate::op::OpKind;
use crate::plan::Load;

const ENOENT: Reply = Reply::Now(Err(Errno(2)));
const OK: Reply = Reply::Now(Ok(0));
const fn fd(number: u64) -> Reply {
    Reply::Now(Ok(number))
}

/// One pass of a loadfile over scripted answers: the calls, the client's report, the first errors.
fn replay(text: &str, load: Load, replies: Vec<Reply>) -> (Vec<String>, ClientReport, ErrorLog) {
    let program = parse_bytes("test", text.as_bytes(), &Options::default()).unwrap().program;
    let load = Load { passes: Some(1), ..load };
    let layout = SlotLayout {
        prefix: b"/d".to_vec(),
        max_path: super::max_path_len(&program),
        max_read: program.max_read as usize,
        max_write: program.max_write as usize,
        ..SlotLayout::default()
    };
    let engine = ScriptedEngine::new(&layout, replies);
    let (control, shard, errors) = (Control::new(1), Shard::new(false), ErrorLog::default());
    control.set_window(0, u64::MAX);
    let setup = setup(&program, &load, &control, &shard, &errors);
    let report = to_the_end(Client::new(&engine, 0, setup).run());
    (engine.log(), report, errors)
}

/// Nobody watches the clients here.
static DOING: Doing = Doing::new();

/// The only client of a disk.
fn setup<'a>(
    program: &'a Program,
    load: &'a Load,
    control: &'a Control,
    shard: &'a Shard,
    errors: &'a ErrorLog,
) -> ClientSetup<'a> {
    ClientSetup {
        program,
        load,
        control,
        shard,
        errors,
        doing: &DOING,
        at_window: &|| (),
        prepared: None,
        barrier: None,
        phase_shards: None,
        disk: 0,
        client: 0,
        clients: 1,
        keep_passes: false,
    }
}

/// Polls a future until it is ready: a scripted answer is late by one poll at most.
fn to_the_end<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

/// A preparation and then two passes over answers that are all good.
#[test]
fn a_preparation_is_made_once_and_not_counted() {
    let text = "PREPARE\nNTCreateX \"/f\" 0 2 7 NT_STATUS_OK\nREPEAT 2\nWriteX 7 +8 8 8 *\nEND\n\
                WriteX 7 +8 8 8 *\nQUERY_FS_INFORMATION 1 *";
    let program = parse_bytes("test", text.as_bytes(), &Options::default()).unwrap().program;
    let load = Load { passes: Some(2), ..Load::default() };
    let layout =
        SlotLayout { prefix: b"/d".to_vec(), max_path: 9, max_write: 8, ..SlotLayout::default() };
    let engine = ScriptedEngine::new(&layout, [OK, fd(5), OK, fd(8), fd(8)]);
    let (control, shard, errors) = (Control::new(1), Shard::new(false), ErrorLog::default());
    let setup = setup(&program, &load, &control, &shard, &errors);
    let ready = std::sync::atomic::AtomicU32::new(0);
    let prepared = || {
        ready.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    };
    control.set_window(0, u64::MAX); // although the window is open
    let client = Client::new(&engine, 0, ClientSetup { prepared: Some(&prepared), ..setup });
    let report = to_the_end(client.run());
    let made = [
        "stat /d/f",
        "open /d/f 0o102 600",
        "fstat 5",
        "pwrite 5 8 8",
        "pwrite 5 16 8",
        "close 5",
        "await 1 1", // behind the only client: the start
    ];
    assert_eq!(engine.log()[..made.len()], made);
    assert_eq!((control.preparation(), ready.into_inner()), (3, 1));
    // The handle is closed, and the numbers go on.
    assert_eq!(engine.log()[made.len()..], ["statfs /d", "statfs /d"]);
    assert_eq!((report.passes.count, report.warmup_errors), (2, 0));
    let tally = |kind: OpKind| report.tallies[kind.index()];
    assert_eq!((tally(OpKind::QueryFs).ops, tally(OpKind::WriteX).ops), (2, 0));
    assert_eq!((tally(OpKind::WriteX).skipped, tally(OpKind::NtCreateX).ops), (2, 0));
}

fn calls(text: &str, replies: Vec<Reply>) -> Vec<String> {
    replay(text, Load::default(), replies).0
}

const OPEN_DIR: &str = "0o2204000 0"; // O_DIRECTORY | O_CLOEXEC | O_NONBLOCK

#[test]
fn creating_a_file_looks_for_it_first() {
    let seen = calls(
        "NTCreateX \"/clients/client1/f.dat\" 0x40 0x2 9 NT_STATUS_OK\nClose 9 NT_STATUS_OK",
        vec![ENOENT, fd(5), OK, Reply::Names(&[".", ".."]), fd(0), OK, fd(6), OK],
    );
    assert_eq!(
        seen,
        [
            "stat /d/clients/client0/f.dat",
            &format!("open /d/clients/client0 {OPEN_DIR}"),
            "fstat 5",
            "getdents 5",
            "getdents 5",
            "close 5",
            "open /d/clients/client0/f.dat 0o102 600", // O_RDWR | O_CREAT
            "fstat 6",
            "close 6",
        ]
    );
}

#[test]
fn a_name_in_another_case_ends_the_search() {
    let seen = calls(
        "QUERY_PATH_INFORMATION \"/F.DAT\" 1004 NT_STATUS_OBJECT_NAME_NOT_FOUND",
        vec![ENOENT, fd(5), OK, Reply::Names(&[".", "f.dat", ".."])],
    );
    let open = format!("open /d {OPEN_DIR}");
    assert_eq!(seen, ["stat /d/F.DAT", &open, "fstat 5", "getdents 5", "close 5"]);
}

#[test]
fn a_wildcard_reads_the_directory_twice() {
    let text = "FIND_FIRST \"/c/*\" 260 1366 1 NT_STATUS_NO_SUCH_FILE";
    let names = || Reply::Names(&[".", "..", "a"]);
    let seen =
        calls(text, vec![ENOENT, fd(5), OK, names(), fd(0), OK, fd(5), OK, names(), fd(0), OK]);
    let open = format!("open /d/c {OPEN_DIR}");
    let scan: [&str; 5] = [&open, "fstat 5", "getdents 5", "getdents 5", "close 5"];
    assert_eq!(seen[0], "stat /d/c/*");
    assert_eq!(
        (&seen[1..6], &seen[6..]),
        (&scan.map(String::from)[..], &scan.map(String::from)[..])
    );
}

#[test]
fn a_directory_is_made_and_opened() {
    let seen = calls(
        "NTCreateX \"/c\" 0x1 0x2 7 NT_STATUS_OK\nClose 7 NT_STATUS_OK",
        vec![OK, Reply::Now(Err(Errno(17))), fd(5)],
    );
    // O_DIRECTORY is 0o200000; what exists already is opened.
    assert_eq!(
        seen,
        ["stat /d/c", "mkdir /d/c 700", "open /d/c 0o200000 600", "fstat 5", "close 5"]
    );
}

#[test]
fn a_plain_open_of_a_directory_is_tried_again_as_one() {
    let seen = calls(
        "NTCreateX \"/c\" 0x0 0x1 7 NT_STATUS_OK",
        vec![OK, Reply::Now(Err(Errno(21))), fd(5)],
    );
    assert_eq!(
        seen,
        ["stat /d/c", "open /d/c 0o2 600", "open /d/c 0o200000 600", "fstat 5", "close 5"],
        "and it is closed at the end of the pass"
    );
}

#[test]
fn a_partial_write_goes_on_and_a_second_failure_is_the_error() {
    let text = "NTCreateX \"/f\" 0 2 7 NT_STATUS_OK\nWriteX 7 100 10 10 NT_STATUS_OK";
    let open = vec![OK, fd(5), OK];
    let (seen, report, errors) = replay(
        text,
        Load::default(),
        open.into_iter().chain([fd(4), Reply::Now(Err(Errno(28)))]).collect(),
    );
    assert_eq!(seen[3..5], ["pwrite 5 100 10", "pwrite 5 104 6"]);
    let write = report.tallies[OpKind::WriteX.index()];
    assert_eq!((write.ops, write.errors, write.bytes), (1, 1, 4));
    let first = &errors.first()[0];
    assert_eq!((first.fault, first.line, first.path.as_str()), (Fault::Errno(28), 2, "/d/f"));
}

#[test]
fn a_short_read_is_short_and_counts_what_was_read() {
    let text = "NTCreateX \"/f\" 0 1 7 NT_STATUS_OK\nReadX 7 0 100 100 NT_STATUS_OK";
    let (_, report, errors) = replay(text, Load::default(), vec![OK, fd(5), OK, fd(10)]);
    let read = report.tallies[OpKind::ReadX.index()];
    assert_eq!((read.errors, read.bytes), (1, 10));
    assert_eq!(errors.first()[0].fault, Fault::Short);
}

#[test]
fn a_failed_open_makes_later_operations_skipped() {
    let text = "NTCreateX \"/f\" 0 1 7 NT_STATUS_OK\nFlush 7 NT_STATUS_OK\nClose 7 NT_STATUS_OK";
    let load = Load { resolve: false, ..Load::default() };
    let (seen, report, _) = replay(text, load, vec![ENOENT, ENOENT]);
    assert_eq!(seen, ["stat /d/f", "open /d/f 0o2 600"]);
    assert_eq!(report.tallies[OpKind::NtCreateX.index()].errors, 1);
    for op in [OpKind::Flush, OpKind::Close] {
        let tally = report.tallies[op.index()];
        assert_eq!((tally.ops, tally.skipped, tally.errors), (0, 1, 0));
    }
}

#[test]
fn an_open_that_fails_as_expected_leaves_its_number_alone() {
    let text = "NTCreateX \"/f\" 0 1 7 NT_STATUS_OK\n\
                NTCreateX \"/g\" 0 1 7 NT_STATUS_OBJECT_NAME_NOT_FOUND\nFlush 7 NT_STATUS_OK";
    let load = Load { resolve: false, ..Load::default() };
    let (seen, report, _) = replay(text, load, vec![OK, fd(5), OK, ENOENT, ENOENT]);
    assert_eq!(seen[5..], ["fsync 5", "close 5"]);
    assert_eq!(report.tallies[OpKind::NtCreateX.index()].errors, 0);
}

#[test]
fn times_go_back_by_ten_and_twelve_seconds() {
    let text = "NTCreateX \"/f\" 0 1 7 NT_STATUS_OK\nSET_FILE_INFORMATION 7 1013 NT_STATUS_OK";
    let seen = calls(text, vec![OK, fd(5), OK]);
    assert_eq!(seen[3..], ["fstat 5", "futimens 5 -10 -12", "close 5"]);
}

#[test]
fn datasync_takes_the_place_of_fsync() {
    let text = "NTCreateX \"/f\" 0 1 7 NT_STATUS_OK\nWriteX 7 0 4 4 NT_STATUS_OK\n\
                Flush 7 NT_STATUS_OK\nClose 7 NT_STATUS_OK";
    let load = Load { datasync: true, ..Load::default() };
    let (seen, ..) = replay(text, load, vec![OK, fd(5), OK, fd(4), OK, OK]);
    assert_eq!(seen[3..], ["pwrite 5 0 4", "fdatasync 5", "close 5"]);
}

#[test]
fn options_add_their_calls() {
    let text = "NTCreateX \"/f\" 0 2 7 NT_STATUS_OK\nWriteX 7 0 4 4 NT_STATUS_OK\n\
                Close 7 NT_STATUS_OK\nUnlink \"/f\" 0 NT_STATUS_OK";
    let load =
        Load { fsync: true, sync_open: true, sync_dir: true, xattr: true, ..Load::default() };
    let replies = vec![
        ENOENT,
        fd(9),
        OK,
        fd(0),
        OK, // the search
        fd(5),
        OK,
        ENOENT,
        OK, // open, fstat, fgetxattr, fsetxattr
        fd(8),
        OK,
        OK, // a new file: its directory is synced
        fd(4),
        OK,
        OK, // pwrite, fsync, close
        OK,
        OK,
        OK,
        fd(8),
        OK,
        OK, // stat, getxattr, unlink, its directory
    ];
    let (seen, report, _) = replay(text, load, replies);
    let rest = [
        "open /d/f 0o4010102 600", // O_SYNC | O_RDWR | O_CREAT
        "fstat 5",
        "fgetxattr 5",
        "fsetxattr 5",
        "open /d 0o0 0",
        "fdatasync 8",
        "close 8",
        "pwrite 5 0 4",
        "fsync 5",
        "close 5",
        "stat /d/f",
        "getxattr /d/f",
        "unlink /d/f",
        "open /d 0o0 0",
        "fdatasync 8",
        "close 8",
    ];
    assert_eq!(seen[5..], rest);
    assert!(report.tallies.iter().all(|tally| tally.errors == 0));
}

#[test]
fn a_pending_call_changes_nothing() {
    let text = "QUERY_FS_INFORMATION 1 NT_STATUS_OK";
    let (seen, report, _) = replay(text, Load::default(), vec![Reply::Later(Ok(0))]);
    assert_eq!(seen, ["statfs /d"]);
    assert_eq!(report.tallies[OpKind::QueryFs.index()].ops, 1);
}

#[test]
fn loops_repeat_and_numbers_move_on() {
    let text = "NTCreateX \"/f\" 0 2 7 NT_STATUS_OK\nLOOP 3\n\
                WriteX 7 +8 8 8 NT_STATUS_OK\nFlush 7 NT_STATUS_OK\nENDLOOP";
    let write = || fd(8);
    let seen = calls(text, vec![OK, fd(5), OK, write(), OK, write(), OK, write(), OK]);
    let expected =
        ["pwrite 5 8 8", "fsync 5", "pwrite 5 16 8", "fsync 5", "pwrite 5 24 8", "fsync 5"];
    assert_eq!(seen[3..9], expected);
}

/// Each of these words is one call, whatever is there.
#[test]
fn single_calls_are_single() {
    let text = "stat /a ENOENT\nlstat /a *\naccess /a R_OK|X_OK NT_STATUS_OK\n\
                open /a O_RDWR|O_CREAT 0640 7 NT_STATUS_OK\nfstat 7 *\nfdatasync 7 *\nfchmod 7 0700 *\n\
                chmod /client1/b 0644 *\ntruncate /a 512 *\nClose 7 *\nfstat 7 *";
    let answers = vec![ENOENT, ENOENT, OK, fd(5)];
    let (log, report, errors) = replay(text, Load { xattr: true, ..Load::default() }, answers);
    let expected = [
        "stat /d/a",
        "lstat /d/a",
        "access /d/a [5, 0, 0]",
        "open /d/a 0o102 640",
        "fstat 5",
        "fdatasync 5",
        "fchmod 5 [448, 0, 0]",
        "chmod /d/client0/b [420, 0, 0]",
        "truncate /d/a [512, 0, 0]",
        "close 5",
    ];
    assert_eq!(log, expected);
    assert_eq!(errors.first(), []);
    let fstat = report.tallies[OpKind::Fstat.index()];
    assert_eq!((fstat.ops, fstat.skipped, fstat.errors), (1, 1, 0));
}

/// What is expected is judged both ways; a failing open gives its handle as NTCreateX does.
#[test]
fn single_calls_are_judged_both_ways() {
    let text = "stat /a ENOENT\naccess /a W_OK EACCES\nopen /a O_RDONLY 0 1 *\n\
                open /b O_RDONLY 0 1 NT_STATUS_OK\nClose 1 *";
    let (log, report, errors) = replay(text, Load::default(), vec![OK, ENOENT, fd(4), ENOENT, OK]);
    let faults: Vec<_> = errors.first().iter().map(|e| (e.op, e.line, e.fault)).collect();
    let expected = [
        (OpKind::Stat, 1, Fault::Succeeded),
        (OpKind::Access, 2, Fault::Errno(2)),
        (OpKind::Open, 4, Fault::Errno(2)),
    ];
    assert_eq!(faults, expected);
    // The handle stands for none now: what it was open on is closed.
    assert_eq!(log[2..], ["open /d/a 0o0 0", "open /d/b 0o0 0", "close 4"]);
    assert_eq!(report.tallies[OpKind::Close.index()].skipped, 1);
}

/// Options that concern every open of a file; a directory or a bare name cannot take them.
#[test]
fn opens_follow_direct_and_sync_open() {
    let text = "open /a O_RDONLY 0 1 *\nopen /a O_RDONLY|O_DIRECTORY 0 2 *\nopen /a O_PATH 0 3 *";
    let load = Load { direct: true, sync_open: true, ..Load::default() };
    let (log, ..) = replay(text, load, vec![fd(4), fd(5), fd(6)]);
    let both = libc::O_DIRECT | libc::O_SYNC;
    let expected = [
        format!("open /d/a {both:#o} 0"),
        format!("open /d/a {:#o} 0", libc::O_DIRECTORY),
        format!("open /d/a {:#o} 0", libc::O_PATH),
    ];
    assert_eq!(log[..3], expected);
}
