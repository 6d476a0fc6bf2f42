//! Signals that a process was started to ignore.

use super::procfs;

/// Whether a signal that would end a run shall not: SIGHUP below `nohup`. To be asked before
/// anything handles it.
///
/// SIGINT is not among them: a shell without job control lets all that it starts in the background
/// ignore it, and yet scripts end their runs with `kill -INT`.
#[must_use]
pub fn stays_ignored(number: i32) -> bool {
    number == libc::SIGHUP && is_ignored(number)
}

/// Whether this process ignores a signal.
fn is_ignored(number: i32) -> bool {
    let status = procfs::raw("/proc/self/status").unwrap_or_default();
    mask(&status).is_some_and(|mask| mask.checked_shr(number as u32 - 1).unwrap_or(0) & 1 == 1)
}

/// The line `SigIgn`: bit n - 1 is signal n.
fn mask(status: &str) -> Option<u64> {
    u64::from_str_radix(procfs::text_after(status, "SigIgn")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_is_hexadecimal() {
        assert_eq!(mask("SigBlk:\t00\nSigIgn:\t0000000000001001\n"), Some(0x1001));
        // The standard library ignores SIGPIPE, 13, before main.
        assert!(is_ignored(13) && !is_ignored(15) && !is_ignored(64));
    }
}
