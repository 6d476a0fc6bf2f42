//! What belongs to one client: its memory, and how far its call is.

use std::cell::{Cell, RefCell, UnsafeCell};

use crate::engine::{CallResult, DOS_ATTRIBUTE_LEN, Errno, Slot, SlotLayout, Stat};

/// How far a client's call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It has none.
    Idle,
    /// The kernel works on it, and may touch the seat's memory.
    Flying,
    /// It waits for time, another client, or a lock.
    Waiting,
    /// Its result can be taken.
    Done(CallResult),
}

/// The memory of one client that the kernel may touch.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) slot: RefCell<Slot>,
    pub(super) stage: Cell<Stage>,
    /// Whether the call in flight fills `stat`.
    pub(super) stats: Cell<bool>,
    pub(super) kernel: UnsafeCell<KernelMemory>,
    /// Since when a result waits to be taken, in nanoseconds.
    pub(super) ready_ns: Cell<u64>,
}

/// What calls fill or read beside paths and data.
pub(super) struct KernelMemory {
    pub(super) stat: libc::statx,
    pub(super) attribute: [u8; DOS_ATTRIBUTE_LEN],
}

impl std::fmt::Debug for KernelMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KernelMemory").finish_non_exhaustive()
    }
}

impl Seat {
    #[allow(unsafe_code)]
    pub(super) fn new(layout: &SlotLayout) -> Self {
        // SAFETY: all fields of `statx` are integers, for which zero is a value.
        let stat = unsafe { std::mem::zeroed() };
        Self {
            slot: RefCell::new(Slot::new(layout)),
            stage: Cell::new(Stage::Idle),
            stats: Cell::new(false),
            kernel: UnsafeCell::new(KernelMemory { stat, attribute: [0; DOS_ATTRIBUTE_LEN] }),
            ready_ns: Cell::new(0),
        }
    }

    /// Takes in what the kernel says of the call in flight: a count, or minus an errno.
    #[allow(unsafe_code)]
    pub(super) fn land(&self, result: i32) {
        let result = u64::try_from(result).map_err(|_| Errno(result.unsigned_abs() as u16));
        if self.stats.take() && result.is_ok() {
            // SAFETY: the kernel has completed the call, and this thread is the only other one
            // that looks at the seat; no reference to this memory is ever handed out.
            let stat = unsafe { (*self.kernel.get()).stat };
            self.slot.borrow_mut().stat = Stat {
                is_dir: u32::from(stat.stx_mode) & libc::S_IFMT == libc::S_IFDIR,
                atime_s: stat.stx_atime.tv_sec,
                mtime_s: stat.stx_mtime.tv_sec,
            };
        }
        self.stage.set(Stage::Done(result));
    }
}
