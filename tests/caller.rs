//! Threads that act as somebody else, on the real kernel.

#![allow(clippy::unwrap_used)]

mod common;

use std::io::ErrorKind;

use common::{need_root, or_skip, skip};
use jbodbench::host::caller::{Caller, CallerError, make_dumpable};
use rustix::io::Errno;
use rustix::thread::{Uid, set_thread_res_uid};

fn user(id: u32) -> Caller {
    Caller { uid: id, gid: id, groups: vec![] }
}

/// One thread becomes another user, for good; the others stay who they are.
#[test]
fn a_thread_alone_changes() {
    or_skip!(need_root());
    let file = tempfile::NamedTempFile::new().unwrap(); // mode 0600, root's
    let path = file.path().to_owned();
    let dropped = std::thread::spawn(move || {
        let held = user(65534).take().unwrap();
        assert_eq!(held, user(65534).take().unwrap(), "nothing is left to do");
        let regained = set_thread_res_uid(Uid::ROOT, Uid::ROOT, Uid::ROOT);
        (held, std::fs::read(path), regained)
    });
    let (held, read, regained) = dropped.join().unwrap();
    make_dumpable();
    assert_eq!((held.uids, held.gids), ([65534; 4], [65534; 4]));
    assert_eq!((held.effective, held.groups.len()), (0, 0));
    assert_eq!(read.unwrap_err().kind(), ErrorKind::PermissionDenied);
    assert_eq!(regained, Err(Errno::PERM));
    assert!(std::fs::read(file.path()).is_ok());
}

/// Who is not root can be nobody but himself.
#[test]
fn without_privilege_only_oneself() {
    or_skip!(need_root());
    let refused = std::thread::spawn(|| {
        user(65534).take().unwrap();
        user(1).take()
    });
    let refused = refused.join().unwrap();
    make_dumpable();
    assert!(matches!(refused, Err(CallerError::Call { call: "setgroups", .. })));
}

/// Supplementary groups are those asked for, none of root's.
#[test]
fn groups_are_replaced() {
    or_skip!(need_root());
    let wanted = Caller { uid: 4000, gid: 4001, groups: vec![7, 9] };
    let held = std::thread::spawn(move || wanted.take().unwrap()).join().unwrap();
    make_dumpable();
    assert_eq!((held.groups, held.gids), (vec![7, 9], [4001; 4]));
}
