//! The ring itself: setup, submission, waiting, completion.

use std::io;
use std::time::Duration;

use io_uring::{IoUring, Probe, opcode, squeue, types};

use super::enter::Enter;
use super::entry::OPCODES;
use super::fixed::Fixed;
use super::seat::Seat;

/// Longest submission queue. What it holds goes to the kernel with one call; how many calls can
/// be in flight does not depend on it.
const SQ_MAX: u32 = 128;
/// So many queued entries go to the kernel without waiting for the end of the turn. With all at its
/// end the disk idles while clients are polled: 32 direct reads of 4 KiB in flight on a loop device
/// gave 141,000 a second so, 192,000 with 4 (medians of 3; 2 and 1 were within 5 % of that, for more
/// CPU time a read).
const EAGER: usize = 4;
/// Longest completion queue that the kernel makes.
const CQ_MAX: u32 = 65_536;
/// Pauses before a setup without memory is tried again: the kernel takes rings down later than
/// their descriptors are closed.
const PAUSES_MS: [u64; 3] = [50, 100, 200];
/// user_data of what belongs to no client.
pub(super) const NOBODY: u64 = u64::MAX;

/// A ring, which only the thread that built it may use.
pub(super) struct Ring {
    uring: IoUring,
    enter: Enter,
    supported: [bool; 256],
    enters: u64,
    pub(super) fixed: Fixed,
    io_wq_max: Option<u32>,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("enters", &self.enters).finish_non_exhaustive()
    }
}

impl Ring {
    /// A ring for calls of that many clients.
    pub(super) fn new(clients: u32) -> io::Result<Self> {
        let uring = set_up(clients.max(1))?;
        if !uring.params().is_feature_ext_arg() || !uring.params().is_feature_nodrop() {
            return Err(io::Error::from_raw_os_error(libc::ENOSYS)); // before Linux 5.11
        }
        let supported = probe(&uring)?;
        let io_wq_max = limit_workers(&uring, clients);
        let enter = Enter::new(&uring);
        Ok(Self { uring, enter, supported, enters: 0, fixed: Fixed::default(), io_wq_max })
    }

    /// Whether the kernel knows an operation.
    #[inline]
    pub(super) fn knows(&self, opcode: u8) -> bool {
        self.supported[usize::from(opcode)]
    }

    /// Lets the kernel know the seats' data buffers, where it knows how to use them.
    ///
    /// # Safety
    ///
    /// As of [`Fixed::register`].
    #[allow(unsafe_code)]
    pub(super) unsafe fn fix_buffers(&mut self, seats: &[Seat]) {
        if self.knows(opcode::ReadFixed::CODE) && self.knows(opcode::WriteFixed::CODE) {
            // SAFETY: the caller's promise.
            self.fixed = unsafe { Fixed::register(&self.uring.submitter(), seats) };
        }
    }

    /// Takes the buffers back from the kernel. No call may be in flight.
    pub(super) fn forget_buffers(&mut self) {
        self.fixed.forget(&self.uring.submitter());
    }

    /// How often the kernel was entered.
    pub(super) fn enters(&self) -> u64 {
        self.enters
    }

    /// Completions that found no room.
    pub(super) fn overflow(&mut self) -> u64 {
        u64::from(self.uring.completion().overflow())
    }

    /// Limit of kernel workers, where it could be set.
    pub(super) fn io_wq_max(&self) -> Option<u32> {
        self.io_wq_max
    }

    /// Queues an entry.
    ///
    /// # Safety
    ///
    /// What the entry points to must stay valid, and be touched by nobody, until its completion
    /// was seen.
    #[allow(unsafe_code)]
    pub(super) unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: the caller's promise.
        while unsafe { self.uring.submission().push(entry) }.is_err() {
            self.submit()?;
        }
        if self.uring.submission().len() >= EAGER {
            self.submit()?;
        }
        Ok(())
    }

    /// Whether [`Ring::flush`] or [`Ring::drain`] would do something.
    pub(super) fn has_work(&mut self) -> bool {
        let queue = self.uring.submission();
        let to_enter = !queue.is_empty() || queue.taskrun() || queue.cq_overflow();
        drop(queue);
        to_enter || !self.uring.completion().is_empty()
    }

    /// Hands queued entries to the kernel, if there are any, and takes completions in, without
    /// waiting.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let queue = self.uring.submission();
        if queue.is_empty() && !queue.taskrun() && !queue.cq_overflow() {
            return Ok(());
        }
        drop(queue);
        self.submit()
    }

    fn submit(&mut self) -> io::Result<()> {
        self.enter(0, None)
    }

    /// Hands queued entries to the kernel and waits for a completion, at most for a time.
    pub(super) fn wait(&mut self, limit: Option<Duration>) -> io::Result<()> {
        self.enter(1, limit)
    }

    fn enter(&mut self, want: u32, limit: Option<Duration>) -> io::Result<()> {
        self.enters += 1;
        let queue = self.uring.submission(); // what was pushed is seen by the kernel from here on
        let submit = queue.len() as u32;
        drop(queue);
        tolerate(self.enter.enter(submit, want, limit))
    }

    /// Names everything that has completed: user_data and result.
    #[inline]
    pub(super) fn drain(&mut self, mut each: impl FnMut(u64, i32)) {
        for entry in self.uring.completion() {
            each(entry.user_data(), entry.result());
        }
    }

    /// Asks the kernel to give up whatever is in flight.
    #[allow(unsafe_code)]
    pub(super) fn cancel_all(&mut self) -> io::Result<()> {
        let any = types::CancelBuilder::any();
        let entry = opcode::AsyncCancel2::new(any).build().user_data(NOBODY);
        // SAFETY: a cancellation points to nothing.
        unsafe { self.push(&entry) }?;
        self.flush()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.enter.forget();
    }
}

/// An interrupted wait, one that ran out of time, or a full completion queue is looked at by the
/// caller, who takes completions next. Anything else would repeat for ever.
fn tolerate(result: io::Result<usize>) -> io::Result<()> {
    match result {
        Err(error) => match error.raw_os_error() {
            Some(libc::EINTR | libc::ETIME | libc::EBUSY | libc::EAGAIN) => Ok(()),
            _ => Err(error),
        },
        Ok(_) => Ok(()),
    }
}

/// An error of the ring itself is a defect: the thread ends, and its disk's result says so.
pub(super) fn expect_ring(result: io::Result<()>) {
    if let Err(error) = result {
        panic!("io_uring_enter: {error}");
    }
}

/// Sets a ring up with what makes it fastest, or with the most of it that the kernel knows; and
/// with less memory if there is not enough.
fn set_up(clients: u32) -> io::Result<IoUring> {
    let mut pauses = PAUSES_MS.iter();
    let mut sq = clients.next_power_of_two().min(SQ_MAX);
    loop {
        match climb_down(sq, clients) {
            Err(error) if error.raw_os_error() == Some(libc::ENOMEM) => {
                if let Some(pause) = pauses.next() {
                    std::thread::sleep(Duration::from_millis(*pause));
                } else if sq > 8 {
                    sq /= 4;
                } else {
                    return Err(error);
                }
            }
            other => return other,
        }
    }
}

fn climb_down(sq: u32, clients: u32) -> io::Result<IoUring> {
    // Every client's call, one cancellation, and never less than twice the submission queue.
    let cq = (clients + 1).next_power_of_two().max(2 * sq).min(CQ_MAX);
    let mut last = io::Error::from_raw_os_error(libc::EINVAL);
    for step in 0..4 {
        let mut builder = IoUring::builder();
        builder.setup_cqsize(cq);
        if step < 3 {
            builder.setup_submit_all(); // 5.18
        }
        match step {
            0 => drop(builder.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag()), // 6.1
            1 => drop(builder.setup_coop_taskrun().setup_taskrun_flag()), // 5.19
            _ => {}
        }
        match builder.build(sq) {
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => last = error,
            other => return other,
        }
    }
    Err(last)
}

fn probe(uring: &IoUring) -> io::Result<[bool; 256]> {
    let mut probe = Probe::new();
    uring.submitter().register_probe(&mut probe)?;
    let mut supported = [false; 256];
    for opcode in OPCODES {
        supported[usize::from(*opcode)] = probe.is_supported(*opcode);
    }
    Ok(supported)
}

/// The kernel's own limit, min(submission queue, 4 x CPUs), would hold calls of many clients back
/// without a word. Says what is in force.
fn limit_workers(uring: &IoUring, clients: u32) -> Option<u32> {
    let mut wanted = [clients, 0];
    uring.submitter().register_iowq_max_workers(&mut wanted).ok()?; // 5.15
    let mut now = [0, 0];
    uring.submitter().register_iowq_max_workers(&mut now).ok()?;
    Some(now[0])
}
