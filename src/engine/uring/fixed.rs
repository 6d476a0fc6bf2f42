//! Registered buffers: memory that the kernel has pinned once, and need not find the pages of for
//! every direct read or write. docs/engines.md says what that saves.

use io_uring::Submitter;

use super::seat::Seat;
use crate::engine::ClientIndex;

/// Which buffers of which clients are registered, by their index in the kernel's table: all read
/// buffers, then all write buffers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fixed {
    clients: u16,
    buffers: u16,
}

impl Fixed {
    /// Registers the data buffers of all seats; only the smaller part, those of reads, where
    /// RLIMIT_MEMLOCK has no room for all; none where the kernel or the limit says so.
    ///
    /// # Safety
    ///
    /// The seats must stay where they are until the buffers are taken back by [`Fixed::forget`],
    /// or the ring is closed.
    #[allow(unsafe_code)]
    pub(super) unsafe fn register(submitter: &Submitter<'_>, seats: &[Seat]) -> Self {
        let Ok(clients) = u16::try_from(seats.len()) else { return Self::default() };
        let buffer = |bytes: &mut [u8]| {
            // An empty one is an empty place in the table: it must have no address.
            let base = if bytes.is_empty() { std::ptr::null_mut() } else { bytes.as_mut_ptr() };
            libc::iovec { iov_base: base.cast(), iov_len: bytes.len() }
        };
        let reads = seats.iter().map(|seat| buffer(&mut seat.slot.borrow_mut().read));
        let writes = seats.iter().map(|seat| buffer(&mut seat.slot.borrow_mut().write));
        let all: Vec<_> = reads.chain(writes).collect();
        for table in [&all[..], &all[..seats.len()]] {
            let Ok(buffers) = u16::try_from(table.len()) else { continue };
            // SAFETY: the addresses are those of the seats' own allocations, which the caller
            // keeps.
            if unsafe { submitter.register_buffers(table) }.is_ok() {
                return Self { clients, buffers };
            }
        }
        Self::default()
    }

    /// Takes the buffers back. No call may be in flight.
    pub(super) fn forget(&mut self, submitter: &Submitter<'_>) {
        if self.buffers > 0 {
            *self = Self::default();
            // It fails only when there are none.
            let _ = submitter.unregister_buffers();
        }
    }

    /// Where a client's read buffer stands in the table.
    #[inline]
    pub(super) fn read(self, client: ClientIndex) -> Option<u16> {
        (self.buffers > 0).then_some(client as u16)
    }

    /// Where a client's write buffer stands in the table.
    #[inline]
    pub(super) fn write(self, client: ClientIndex) -> Option<u16> {
        (self.buffers > self.clients).then_some(self.clients + client as u16)
    }
}
