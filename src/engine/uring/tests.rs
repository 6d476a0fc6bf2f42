//! Calls by a ring of this machine's kernel.

use std::os::unix::ffi::OsStrExt;

use super::*;
use crate::engine::{Errno, PathSlot, RawFd};

/// An engine for clients below a directory, or `None` where there is no io_uring.
fn engine<'a>(
    dir: &std::path::Path,
    clients: usize,
    control: &'a Control,
) -> Option<UringEngine<'a>> {
    let layout = SlotLayout {
        prefix: dir.as_os_str().as_bytes().to_vec(),
        max_path: 64,
        max_read: 4096,
        max_write: 4096,
        ..SlotLayout::default()
    };
    UringEngine::new(&vec![layout; clients], control).ok()
}

fn control(clients: u32) -> Control {
    let control = Control::new(clients);
    control.set_window(0, u64::MAX);
    control
}

fn path(engine: &UringEngine<'_>, client: ClientIndex, name: &str) {
    let mut slot = engine.slot(client);
    slot.first.reset();
    slot.first.push(name.as_bytes());
}

/// Makes one call and waits for it.
fn call(engine: &UringEngine<'_>, client: ClientIndex, call: Call) -> CallResult {
    match engine.start(client, call) {
        Step::Done(result) => result,
        Step::Pending => {
            let mut ready = Vec::new();
            engine.reap(&mut ready);
            assert_eq!(ready, [client]);
            engine.take(client).unwrap()
        }
    }
}

fn create(engine: &UringEngine<'_>, client: ClientIndex, name: &str) -> RawFd {
    path(engine, client, name);
    let flags = libc::O_RDWR | libc::O_CREAT;
    call(engine, client, Call::Open { path: PathSlot::First, flags, mode: 0o600 }).unwrap() as RawFd
}

#[test]
fn a_file_from_beginning_to_end() {
    let (dir, control) = (tempfile::tempdir().unwrap(), control(1));
    let Some(engine) = engine(dir.path(), 1, &control) else { return };
    let fd = create(&engine, 0, "/file");
    engine.slot(0).write[..4].copy_from_slice(b"abcd");
    assert_eq!(call(&engine, 0, Call::Write { fd, offset: 2, from: 1, len: 3 }), Ok(3));
    assert_eq!(call(&engine, 0, Call::Fsync(fd)), Ok(0));
    assert_eq!(call(&engine, 0, Call::Fdatasync(fd)), Ok(0));
    assert_eq!(call(&engine, 0, Call::Read { fd, offset: 0, len: 100 }), Ok(5));
    assert_eq!(&engine.slot(0).read[..5], b"\0\0bcd");
    assert_eq!(call(&engine, 0, Call::Futimens { fd, atime_s: 1000, mtime_s: 2000 }), Ok(0));
    assert_eq!(call(&engine, 0, Call::Fstat(fd)), Ok(0));
    let stat = engine.slot(0).stat;
    assert_eq!((stat.is_dir, stat.atime_s, stat.mtime_s), (false, 1000, 2000));
    engine.slot(0).second.push(b"/other");
    assert_eq!(call(&engine, 0, Call::Rename), Ok(0));
    assert_eq!(call(&engine, 0, Call::Stat(PathSlot::First)), Err(Errno(libc::ENOENT as u16)));
    assert_eq!(call(&engine, 0, Call::Stat(PathSlot::Second)), Ok(0));
    assert_eq!(call(&engine, 0, Call::Unlink(PathSlot::Second)), Ok(0));
    assert_eq!(call(&engine, 0, Call::Close(fd)), Ok(0));
    assert_eq!(call(&engine, 0, Call::Close(fd)), Err(Errno(libc::EBADF as u16)));
    assert_eq!(call(&engine, 0, Call::Mkdir { path: PathSlot::First, mode: 0o700 }), Ok(0));
    assert_eq!(call(&engine, 0, Call::Stat(PathSlot::First)), Ok(0));
    assert!(engine.slot(0).stat.is_dir);
    assert_eq!(call(&engine, 0, Call::Rmdir(PathSlot::First)), Ok(0));
    assert_eq!(engine.traffic().unwrap().overflow, 0);
}

#[test]
fn clients_of_one_thread_lock_each_other_out() {
    let (dir, control) = (tempfile::tempdir().unwrap(), control(2));
    let Some(engine) = engine(dir.path(), 2, &control) else { return };
    let (first, second) = (create(&engine, 0, "/f"), create(&engine, 1, "/f"));
    let lock = |fd, lock| Call::Lock { fd, offset: 0, len: 10, lock };
    assert_eq!(call(&engine, 0, lock(first, true)), Ok(0));
    assert_eq!(engine.start(1, lock(second, true)), Step::Pending);
    assert_eq!(call(&engine, 0, lock(first, false)), Ok(0));
    let mut ready = Vec::new();
    engine.reap(&mut ready);
    assert_eq!((ready, engine.take(1)), (vec![1], Some(Ok(0))));
}

#[test]
fn a_stop_ends_waits_and_a_point_ends_one() {
    let (dir, control) = (tempfile::tempdir().unwrap(), control(3));
    let Some(engine) = engine(dir.path(), 3, &control) else { return };
    let await_point = Call::Await { client: 0, value: 5 };
    assert_eq!(engine.start(1, await_point), Step::Pending);
    assert_eq!(engine.start(2, Call::Sleep { until_ns: u64::MAX }), Step::Pending);
    control.points().set(0, 7);
    let mut ready = Vec::new();
    engine.reap(&mut ready);
    assert_eq!((ready.as_slice(), engine.take(1)), ([1].as_slice(), Some(Ok(1))));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(30));
            control.stop();
        });
        ready.clear();
        engine.reap(&mut ready);
    });
    assert_eq!((ready.as_slice(), engine.take(2)), ([2].as_slice(), Some(Ok(0))));
    let awaiting = Call::Await { client: 0, value: 8 };
    assert_eq!(engine.start(1, awaiting), Step::Done(Ok(0)), "the disk has stopped");
}

#[test]
fn a_client_that_never_waits_lets_the_others_in() {
    let (dir, control) = (tempfile::tempdir().unwrap(), control(2));
    let Some(engine) = engine(dir.path(), 2, &control) else { return };
    let statfs = Call::Statfs(PathSlot::Root);
    let done = (0..2000).take_while(|_| engine.start(0, statfs) == Step::Done(Ok(0))).count();
    assert_eq!(done, share::BUDGET as usize);
    let mut ready = Vec::new();
    engine.reap(&mut ready);
    assert_eq!((ready, engine.take(0)), (vec![0], Some(Ok(0))));
}

#[test]
fn a_call_of_the_ring_cuts_the_turn_of_one_that_never_waits() {
    let (dir, control) = (tempfile::tempdir().unwrap(), control(2));
    let Some(engine) = engine(dir.path(), 2, &control) else { return };
    path(&engine, 1, "");
    assert_eq!(engine.start(1, Call::Stat(PathSlot::First)), Step::Pending);
    let statfs = Call::Statfs(PathSlot::Root);
    let done = (0..2000).take_while(|_| engine.start(0, statfs) == Step::Done(Ok(0))).count();
    assert_eq!(done, share::LOOK_EVERY as usize);
    let mut ready = Vec::new();
    engine.glance(&mut ready);
    if ready.is_empty() {
        engine.wait(); // a worker of the kernel has it still
        engine.collect(&mut ready);
    }
    assert_eq!((ready, engine.take(1)), (vec![1], Some(Ok(0))));
}

#[test]
fn dropping_an_engine_with_calls_in_flight_returns() {
    let (dir, control) = (tempfile::tempdir().unwrap(), control(9));
    let Some(engine) = engine(dir.path(), 9, &control) else { return };
    // A pipe that nobody writes to: a read of it never ends.
    let (reader, _writer) = std::io::pipe().unwrap();
    let fd = std::os::fd::AsRawFd::as_raw_fd(&reader);
    for client in 0..8 {
        assert_eq!(engine.start(client, Call::Read { fd, offset: 0, len: 10 }), Step::Pending);
    }
    path(&engine, 8, "");
    assert_eq!(call(&engine, 8, Call::Stat(PathSlot::First)), Ok(0));
    let start = std::time::Instant::now();
    drop(engine);
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
#[should_panic(expected = "may be writing")]
fn memory_that_the_kernel_may_write_to_is_not_lent() {
    let (dir, control) = (tempfile::tempdir().unwrap(), control(1));
    let engine = engine(dir.path(), 1, &control).expect("may be writing: no io_uring here");
    assert_eq!(engine.start(0, Call::Stat(PathSlot::First)), Step::Pending);
    let _slot = engine.slot(0);
}

/// Two clients, each with its own bytes: a wrong place in the table would mix them up.
#[test]
fn registered_buffers_are_the_clients_own() {
    let (dir, control) = (tempfile::tempdir().unwrap(), control(2));
    let Some(engine) = engine(dir.path(), 2, &control) else { return };
    let engine = engine.with_fixed_buffers(true);
    let fixed = engine.lane().ring.borrow().fixed;
    // As root, or where 16 KiB may be locked, they are registered.
    assert_eq!((fixed.read(1), fixed.write(1)), (Some(1), Some(3)));
    for (client, name, bytes) in [(0, "/a", b"abcd"), (1, "/b", b"efgh")] {
        let fd = create(&engine, client, name);
        engine.slot(client).write[8..12].copy_from_slice(bytes);
        assert_eq!(call(&engine, client, Call::Write { fd, offset: 0, from: 8, len: 4 }), Ok(4));
        assert_eq!(call(&engine, client, Call::Read { fd, offset: 0, len: 100 }), Ok(4));
        assert_eq!(&engine.slot(client).read[..4], bytes);
        assert_eq!(std::fs::read(dir.path().join(&name[1..])).unwrap(), bytes);
    }
    drop(engine);
    // A client that never reads has an empty place.
    let layout = SlotLayout { max_write: 4096, ..SlotLayout::default() };
    let engine = UringEngine::new(&[layout], &control).unwrap().with_fixed_buffers(true);
    assert_eq!(engine.lane().ring.borrow().fixed.write(0), Some(1));
}
