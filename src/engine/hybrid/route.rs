//! Where each kind of call starts: docs/engines.md has the table.

use crate::plan::{CallKind, Pin, Routes};

/// What lies behind a disk's calls, as far as routes depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backing {
    /// A block device: calls may wait for it.
    pub device: bool,
    /// Reads and writes go to it past the page cache.
    pub direct: bool,
    /// A write ends when it is stored.
    pub sync_writes: bool,
}

/// How calls of a kind are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// They hardly ever wait, or somebody wants it so.
    Inline,
    /// They wait.
    Ring,
    /// It depends: see [`super::rule`]. Where io_uring has no operation, those that wait are made
    /// while a stand-in serves the other clients.
    Measured,
    /// A read of what is in memory, else the ring.
    TryRead,
    /// An open by cached names, else as measured.
    TryOpen,
}

/// Where calls of a kind start.
pub(super) fn route(kind: CallKind, backing: Backing, pins: &Routes) -> Route {
    match pins.of(kind) {
        Pin::Auto => auto(kind, backing),
        Pin::Inline => Route::Inline,
        Pin::Ring if kind.has_operation() => Route::Ring,
        Pin::Ring => Route::Inline,
    }
}

fn auto(kind: CallKind, backing: Backing) -> Route {
    let Backing { device, direct, sync_writes } = backing;
    match kind {
        CallKind::Close | CallKind::Fstat | CallKind::Fstatat | CallKind::Lock | CallKind::Wait => {
            Route::Inline
        }
        _ if !kind.has_operation() && !device => Route::Inline,
        CallKind::Fsync | CallKind::Fdatasync if device => Route::Ring,
        CallKind::Read | CallKind::ReadNext if device && direct => Route::Ring,
        CallKind::Write | CallKind::WriteNext if device && (direct || sync_writes) => Route::Ring,
        CallKind::Read if device => Route::TryRead,
        CallKind::Open if device => Route::TryOpen,
        _ => Route::Measured,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(kind: CallKind, backing: Backing) -> Route {
        route(kind, backing, &Routes::default())
    }

    #[test]
    fn in_memory_nothing_has_to_go_by_the_ring() {
        for kind in CallKind::ALL {
            let route = starts(*kind, Backing { direct: true, ..Backing::default() });
            assert!(matches!(route, Route::Inline | Route::Measured), "{}", kind.word());
        }
    }

    #[test]
    fn what_waits_for_a_device_goes_by_the_ring() {
        let disk = Backing { device: true, ..Backing::default() };
        let direct = Backing { direct: true, ..disk };
        assert_eq!(starts(CallKind::Fsync, disk), Route::Ring);
        assert_eq!(starts(CallKind::Read, disk), Route::TryRead);
        assert_eq!(starts(CallKind::Read, direct), Route::Ring);
        assert_eq!(starts(CallKind::Write, disk), Route::Measured);
        assert_eq!(starts(CallKind::Write, Backing { sync_writes: true, ..disk }), Route::Ring);
    }

    #[test]
    fn pins_win() {
        let disk = Backing { device: true, ..Backing::default() };
        for kind in CallKind::ALL {
            assert_eq!(route(*kind, disk, &Routes::all(Pin::Inline)), Route::Inline);
            let ring = route(*kind, disk, &Routes::all(Pin::Ring));
            assert_eq!(ring == Route::Ring, kind.has_operation(), "{}", kind.word());
        }
    }
}
