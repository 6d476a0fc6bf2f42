//! What all engines have to agree on, one call at a time.

use super::*;
use crate::plan::{Pin, Routes};

/// Answers to the three for a link that leads nowhere.
fn asked<E: Engine>(engine: &E) -> [Option<u16>; 3] {
    let calls = [CallKind::Stat, CallKind::Lstat, CallKind::Access];
    engine.slot(0).first.push(b"/link");
    calls.map(|kind| {
        let mut future = std::pin::pin!(call(engine, 0, Call::of(kind, -1, [0; 3])));
        let mut context = Context::from_waker(std::task::Waker::noop());
        loop {
            if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
                return result.err().map(|errno| errno.0);
            }
            engine.reap(&mut Vec::new());
        }
    })
}

/// By stat and access, and not by lstat, on every engine and way.
#[test]
fn links_are_followed_or_not() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("nowhere", dir.path().join("link")).unwrap();
    let prefix = dir.path().to_owned().into_os_string().into_encoded_bytes();
    let layouts = [SlotLayout { prefix, max_path: 16, ..SlotLayout::default() }];
    let control = Control::new(1);
    control.set_window(0, u64::MAX);
    let expected = [Some(libc::ENOENT as u16), None, Some(libc::ENOENT as u16)];
    assert_eq!(asked(&SyncEngine::new(&layouts[0], &control)), expected);
    if rings_are_usable(1, 1).is_err() {
        return;
    }
    assert_eq!(asked(&UringEngine::new(&layouts, &control).unwrap()), expected);
    for pin in [Pin::Auto, Pin::Inline, Pin::Ring] {
        let (backing, routes) = (Backing::default(), Routes::all(pin));
        let engine = HybridEngine::new(&layouts, &control, backing, &routes, None).unwrap();
        assert_eq!(asked(&engine), expected, "{pin:?}");
    }
}
