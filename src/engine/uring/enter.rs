//! Entering the kernel for a ring, by the ring's registered descriptor where the kernel has that.
//!
//! A registered ring saves the look-up of its descriptor on every enter, and in a table that is
//! shared with kernel workers a reference, too (Linux 5.18). The binding registers descriptors, but
//! does not enter by them (io-uring 0.7.16), so the two calls are made here.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::thread::ThreadId;
use std::time::Duration;

use io_uring::{IoUring, types};

const REGISTER_RING_FDS: u32 = 20;
const UNREGISTER_RING_FDS: u32 = 21;
const GET_EVENTS: u32 = 1;
const EXT_ARG: u32 = 1 << 3;
const REGISTERED_RING: u32 = 1 << 4;

/// `struct io_uring_rsrc_update` of the kernel.
#[repr(C)]
struct Update {
    offset: u32,
    resv: u32,
    data: u64,
}

/// `struct io_uring_getevents_arg` of the kernel.
#[repr(C)]
struct Events {
    sigmask: u64,
    sigmask_size: u32,
    min_wait_us: u32,
    timeout: u64,
}

/// How to name a ring to the kernel.
#[derive(Debug)]
pub(super) struct Enter {
    ring: RawFd,
    /// Number of the registration, which only the thread that made it can use.
    registered: Option<(u32, ThreadId)>,
}

impl Enter {
    /// For a ring that this thread has built and alone enters.
    pub(super) fn new(uring: &IoUring) -> Self {
        let ring = uring.as_raw_fd();
        let mut update = Update { offset: u32::MAX, resv: 0, data: ring as u64 };
        let done = register(ring, REGISTER_RING_FDS, &mut update) == 1;
        let registered = done.then(|| (update.offset, std::thread::current().id()));
        Self { ring, registered }
    }

    /// Hands `submit` queued entries over and waits for `want` completions, at most for a time.
    pub(super) fn enter(
        &self,
        submit: u32,
        want: u32,
        limit: Option<Duration>,
    ) -> io::Result<usize> {
        let (ring, mut flags) = match self.registered {
            Some((number, _)) => (number as RawFd, GET_EVENTS | REGISTERED_RING),
            None => (self.ring, GET_EVENTS),
        };
        let limit = limit.map(types::Timespec::from);
        let timeout = limit.as_ref().map_or(0, |limit| std::ptr::from_ref(limit) as u64);
        let events = Events { sigmask: 0, sigmask_size: 0, min_wait_us: 0, timeout };
        let (arg, size) = if timeout == 0 {
            (std::ptr::null(), 0)
        } else {
            flags |= EXT_ARG;
            (std::ptr::from_ref(&events), size_of::<Events>())
        };
        // SAFETY: the kernel reads `events`, and the time that it points to, within the call; what
        // queued entries point to is the promise of whoever pushed them.
        let done = unsafe {
            libc::syscall(libc::SYS_io_uring_enter, ring, submit, want, flags, arg, size)
        };
        usize::try_from(done).map_err(|_| io::Error::last_os_error())
    }

    /// Takes the registration back: it would keep the ring for as long as the thread lives.
    pub(super) fn forget(&mut self) {
        if let Some((offset, thread)) = self.registered.take()
            && thread == std::thread::current().id()
        {
            let mut update = Update { offset, resv: 0, data: 0 };
            register(self.ring, UNREGISTER_RING_FDS, &mut update);
        }
    }
}

fn register(ring: RawFd, opcode: u32, update: &mut Update) -> i64 {
    // SAFETY: the kernel reads and writes one `update` within the call.
    unsafe { libc::syscall(libc::SYS_io_uring_register, ring, opcode, update, 1) }
}
