//! Lines of the kernel log that name a disk: the other half of an I/O error's report.

use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use serde::Serialize;

/// More lines than this say nothing new; the first ones tell the cause.
const MOST_LINES: usize = 100;
/// The log's clock and the boot clock drift apart by less than this.
const CLOCK_SLACK: Duration = Duration::from_secs(1);

/// A line of the kernel log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KernelLine {
    /// When, by the log's clock: about the time since boot.
    pub at: Duration,
    /// The level: 0 emergency, 3 error, 6 information.
    pub level: u8,
    /// The message.
    pub text: String,
}

/// The lines after a time since boot that name one of the devices (`sda`; its partitions too).
/// At most 100, the first ones. Empty where the log may not be read: it needs root on most hosts.
#[must_use]
pub fn kernel_lines_naming<S: AsRef<str>>(devices: &[S], since: Duration) -> Vec<KernelLine> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(log) = rustix::fs::open("/dev/kmsg", flags, Mode::empty()) else { return Vec::new() };
    let since = since.saturating_sub(CLOCK_SLACK);
    let mut lines = Vec::new();
    // One read gives one record; the kernel makes none longer.
    let mut record = vec![0_u8; 8192];
    while lines.len() < MOST_LINES {
        match rustix::io::read(&log, record.as_mut_slice()) {
            Ok(0) => break,
            Ok(length) => {
                let text = String::from_utf8_lossy(&record[..length]);
                lines.extend(parse(&text).filter(|line| {
                    line.at >= since && devices.iter().any(|name| names(&line.text, name.as_ref()))
                }));
            }
            // The record was overwritten while it was waited for: the next one is read next.
            Err(Errno::PIPE | Errno::INTR) => {}
            Err(_) => break,
        }
    }
    lines
}

/// `level,sequence,microseconds,flags;message`, then lines of key and value.
fn parse(record: &str) -> Option<KernelLine> {
    let (head, rest) = record.split_once(';')?;
    let mut fields = head.split(',');
    let priority: u32 = fields.next()?.parse().ok()?;
    let at = Duration::from_micros(fields.nth(1)?.parse().ok()?);
    let text = rest.lines().next().unwrap_or_default().to_owned();
    // Below the level stands the facility.
    Some(KernelLine { at, level: u8::try_from(priority & 7).ok()?, text })
}

/// Whether a text names a device or a partition of it, and not one whose name only begins alike.
fn names(text: &str, device: &str) -> bool {
    if device.is_empty() {
        return false;
    }
    text.match_indices(device).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = &text[at + device.len()..];
        // sda is followed by a partition's number, nvme0n1 and loop1 by `p` and a number.
        let rest = match device.chars().next_back() {
            Some(last) if last.is_ascii_digit() => match after.strip_prefix('p') {
                Some(number) if number.starts_with(|c: char| c.is_ascii_digit()) => {
                    number.trim_start_matches(|c: char| c.is_ascii_digit())
                }
                _ => after,
            },
            _ => after.trim_start_matches(|c: char| c.is_ascii_digit()),
        };
        !before.is_some_and(char::is_alphanumeric) && !rest.starts_with(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record() {
        let record =
            "3,812,94340123,-;blk_update_request: I/O error, dev sdb, sector 8\n DEVICE=b8\n";
        let line = parse(record).unwrap();
        assert_eq!((line.level, line.at), (3, Duration::from_micros(94_340_123)));
        assert_eq!(line.text, "blk_update_request: I/O error, dev sdb, sector 8");
        assert_eq!(parse("30,1,5,-;x").unwrap().level, 6);
        assert_eq!(parse("no record"), None);
    }

    #[test]
    fn names_end_where_they_end() {
        for (text, device) in [
            ("I/O error, dev sda, sector", "sda"),
            ("EXT4-fs (sda1): error", "sda"),
            ("EXT4-fs (sda1): error", "sda1"),
            ("XFS (nvme0n1p2): log", "nvme0n1"),
            ("EXT4-fs (loop1): x", "loop1"),
            ("dev loop1", "loop1"),
        ] {
            assert!(names(text, device), "{device} in {text}");
        }
        for (text, device) in [
            ("dev sdab, sector", "sda"),
            ("dev sda12", "sda1"),
            ("dev loop10", "loop1"),
            ("dev loop10p1", "loop1"),
            ("dev xsda", "sda"),
            ("dev nvme0n12", "nvme0n1"),
            ("anything", ""),
        ] {
            assert!(!names(text, device), "{device} in {text}");
        }
    }

    #[test]
    fn nothing_names_a_device_that_is_not_there() {
        assert_eq!(kernel_lines_naming(&["no-such-device"], Duration::ZERO), []);
    }
}
