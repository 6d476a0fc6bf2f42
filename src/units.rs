//! Durations and sizes: from what people type, and back to what people read. Floor 0.
//!
//! Text goes in with exact integer arithmetic. What comes out has about three significant digits
//! and is for eyes only; result files never contain it.

use std::time::Duration;

const SECOND: u64 = 1_000_000_000;

/// Units of time in nanoseconds, by the words that are accepted.
const TIMES: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("sec", SECOND),
    ("m", 60 * SECOND),
    ("min", 60 * SECOND),
    ("h", 3_600 * SECOND),
    ("d", 86_400 * SECOND),
];

const DURATION_HELP: &str = "a duration such as 10s, 500ms, 20us, 1.5s, 2m or 1h30m (units: ns us \
                             ms s m h d; a bare number is seconds)";
const SIZE_HELP: &str = "a size such as 4096, 4k, 4KiB (both 4096 bytes), 4kB (4000 bytes), 1.5G \
                         or 2TiB";

/// Why a duration or a size could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\": {reason}; expected {expected}")]
pub struct UnitError {
    /// What was given.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
    /// What would have been right.
    pub expected: &'static str,
}

/// Reads a duration: numbers with units, the largest unit first (`1h30m`), or bare seconds.
///
/// # Errors
/// When the text is no duration, or one of more than 584 years.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let fail = |reason: String| UnitError { text: text.into(), reason, expected: DURATION_HELP };
    let mut rest = text.trim();
    let (mut total, mut last) = (0u64, u64::MAX);
    if rest.is_empty() {
        return Err(fail("nothing there".into()));
    }
    while !rest.is_empty() {
        let (number, after) = take_number(rest).map_err(&fail)?;
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (word, after) = after.split_at(end);
        let unit = match TIMES.iter().find(|(name, _)| *name == word) {
            Some((_, unit)) => *unit,
            None if word.is_empty() && after.is_empty() && last == u64::MAX => SECOND,
            None if word.is_empty() => return Err(fail("a number has no unit".into())),
            None => return Err(fail(format!("unknown unit \"{word}\""))),
        };
        if unit >= last {
            return Err(fail("units must get smaller from left to right".into()));
        }
        last = unit;
        let (ns, _) = number.times(unit).ok_or_else(|| fail("too long".into()))?;
        total = total.checked_add(ns).ok_or_else(|| fail("too long".into()))?;
        rest = after;
    }
    Ok(Duration::from_nanos(total))
}

/// Reads a size in bytes. A single letter and the `iB` form are powers of 1024, `kB` and the like
/// powers of 1000; case does not matter.
///
/// # Errors
/// When the text is no size, is not a whole number of bytes, or does not fit 64 bits.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    let fail = |reason: String| UnitError { text: text.into(), reason, expected: SIZE_HELP };
    let (number, word) = take_number(text.trim()).map_err(&fail)?;
    let word = word.trim_start().to_ascii_lowercase();
    let unit = size_unit(&word).ok_or_else(|| fail(format!("unknown unit \"{word}\"")))?;
    match number.times(unit) {
        Some((bytes, true)) => Ok(bytes),
        Some(_) => Err(fail("not a whole number of bytes".into())),
        None => Err(fail("too large".into())),
    }
}

/// Bytes in a unit of size, lower case.
fn size_unit(word: &str) -> Option<u64> {
    let (letter, form) = match word {
        "" | "b" => return Some(1),
        _ => word.split_at_checked(1)?,
    };
    let power = 1 + "kmgtpe".find(letter)? as u32;
    match form {
        "" | "i" | "ib" => Some(1024u64.pow(power)),
        "b" => Some(1000u64.pow(power)),
        _ => None,
    }
}

/// An unsigned decimal number, kept exactly: `digits` / 10^`decimals`.
struct Decimal {
    digits: u128,
    decimals: u32,
}

impl Decimal {
    /// Number x unit rounded down, and whether nothing was lost; `None` when it does not fit.
    fn times(&self, unit: u64) -> Option<(u64, bool)> {
        let product = self.digits.checked_mul(u128::from(unit))?;
        let scale = 10u128.pow(self.decimals);
        Some((u64::try_from(product / scale).ok()?, product % scale == 0))
    }
}

/// Takes a number off the front.
fn take_number(text: &str) -> Result<(Decimal, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.len() + fraction.len() == 0 {
        return Err("a number is missing".into());
    }
    if fraction.contains('.') || whole.len() + fraction.len() > 19 {
        return Err(format!("\"{number}\" is no number that fits"));
    }
    let digits = format!("{whole}{fraction}").parse().map_err(|e| format!("{number}: {e}"))?;
    Ok((Decimal { digits, decimals: fraction.len() as u32 }, rest))
}

/// A number with three significant digits and no exponent: `0.0123`, `1.23`, `12.3`, `1234`.
#[must_use]
pub fn format_number(value: f64) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    // 9.996 has three significant digits as 10.0, not as 10.00.
    let decimals = match value.abs() {
        0.0 => 0,
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 => 2,
        v if v >= 0.1 => 3,
        _ => 4,
    };
    format!("{value:.decimals$}")
}

/// Divides by `base` until three digits before the point are enough, and adds the unit's name.
fn scaled(value: f64, base: f64, limit: f64, names: &[&str]) -> String {
    let (mut value, mut step) = (value, 0);
    while value.abs() >= limit && step + 1 < names.len() {
        value /= base;
        step += 1;
    }
    let number = if step == 0 && value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format_number(value)
    };
    format!("{number}{}", names[step])
}

/// A number of bytes in powers of 1024 with their right names: `512 B`, `4.00 KiB`, `1.50 GiB`.
#[must_use]
pub fn format_bytes(bytes: u64) -> String {
    let names = [" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"];
    scaled(bytes as f64, 1024.0, 1023.5, &names)
}

/// A rate as the number of MB/s, 1 MB being 1,000,000 bytes, with the unit: `530 MB/s`.
#[must_use]
pub fn format_rate(bytes_per_s: f64) -> String {
    format!("{} MB/s", format_number(bytes_per_s / 1e6))
}

/// A count or a count per second with the SI letter: `999`, `1.23k`, `45.6M`.
#[must_use]
pub fn format_count(count: f64) -> String {
    if !count.is_finite() {
        return "-".into();
    }
    scaled(count, 1000.0, 999.5, &["", "k", "M", "G", "T", "P"])
}

/// A duration such as `850ns`, `12.3us`, `1.50s`, `2m05s`, `1h30m`, `2d03h`;
/// [`parse_duration`] reads it.
#[must_use]
pub fn format_duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 59.95 {
        return scaled(duration.as_nanos() as f64, 1000.0, 999.5, &["ns", "us", "ms", "s"]);
    }
    let whole = seconds.round() as u64;
    let (minutes, hours) = (whole / 60, whole / 3600);
    match whole {
        0..3_600 => format!("{minutes}m{:02}s", whole % 60),
        3_600..86_400 => format!("{hours}h{:02}m", minutes % 60),
        _ => format!("{}d{:02}h", hours / 24, hours % 24),
    }
}

/// A latency given in nanoseconds.
#[must_use]
pub fn format_ns(ns: f64) -> String {
    if ns.is_finite() {
        format_duration(Duration::from_nanos(ns.round() as u64))
    } else {
        "-".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_by_hand() {
        for (text, ns) in [
            ("10s", 10_000_000_000),
            ("10", 10_000_000_000),
            ("0.25", 250_000_000),
            ("500ms", 500_000_000),
            ("2m", 120_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1.5s", 1_500_000_000),
            ("20us", 20_000),
            ("20\u{b5}s", 20_000),
            ("7ns", 7),
            ("1d", 86_400_000_000_000),
            (" 2min ", 120_000_000_000),
            ("1m0.5s", 60_500_000_000),
            ("0", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_nanos(ns)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused_with_help() {
        for (text, reason) in [
            ("", "nothing there"),
            ("10x", "unknown unit \"x\""),
            ("-5s", "a number is missing"),
            ("1h30", "a number has no unit"),
            ("30m1h", "units must get smaller"),
            ("1m1m", "units must get smaller"),
            ("1.2.3s", "no number"),
            ("99999999999h", "too long"),
            ("s", "a number is missing"),
            ("1 2", "a number has no unit"),
        ] {
            let message = parse_duration(text).unwrap_err().to_string();
            assert!(message.contains(reason), "{text}: {message}");
            assert!(message.contains("expected a duration such as 10s"), "{message}");
        }
    }

    #[test]
    fn sizes_by_hand() {
        for (text, bytes) in [
            ("4096", 4096),
            ("4k", 4096),
            ("4K", 4096),
            ("4KiB", 4096),
            ("4kB", 4000),
            ("4 KB", 4000),
            ("3b", 3),
            ("1.5k", 1536),
            ("1M", 1_048_576),
            ("1MB", 1_000_000),
            ("2G", 2_147_483_648),
            ("2GB", 2_000_000_000),
            ("1TiB", 1_099_511_627_776),
            ("0", 0),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for (text, reason) in [
            ("0.3k", "not a whole number of bytes"),
            ("4kk", "unknown unit \"kk\""),
            ("k", "a number is missing"),
            ("17E", "too large"),
            ("\u{e9}4", "a number is missing"),
            ("4\u{e9}", "unknown unit"),
        ] {
            let message = parse_size(text).unwrap_err().to_string();
            assert!(message.contains(reason) && message.contains("4kB"), "{text}: {message}");
        }
    }

    #[test]
    fn bytes_rates_and_counts_for_people() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (1536, "1.50 KiB"),
            (1_048_575, "1.00 MiB"),
            (12_897_485, "12.3 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(format_bytes(bytes), text, "{bytes}");
        }
        assert_eq!(format_rate(530_400_000.0), "530 MB/s");
        assert_eq!(format_rate(1_234_000_000.0), "1234 MB/s");
        assert_eq!(format_rate(1_048_576.0), "1.05 MB/s");
        for (count, text) in
            [(0.0, "0"), (7.0, "7"), (7.25, "7.25"), (999.0, "999"), (999.7, "1.00k")]
        {
            assert_eq!(format_count(count), text);
        }
        assert_eq!(format_count(12_345.0), "12.3k");
        assert_eq!(format_count(123_456_789.0), "123M");
        assert_eq!(format_count(f64::NAN), "-");
        assert_eq!([0.99951, 9.996, 0.0123].map(format_number), ["1.00", "10.0", "0.0123"]);
    }

    #[test]
    fn durations_for_people_are_read_back() {
        for (ns, text) in [
            (0, "0ns"),
            (850, "850ns"),
            (12_345, "12.3us"),
            (999_700, "1.00ms"),
            (1_500_000_000, "1.50s"),
            (59_960_000_000, "1m00s"),
            (125_000_000_000, "2m05s"),
            (5_400_000_000_000, "1h30m"),
            (183_600_000_000_000, "2d03h"),
        ] {
            let shown = format_duration(Duration::from_nanos(ns));
            assert_eq!(shown, text);
            let read = parse_duration(&shown).unwrap().as_nanos() as f64;
            assert!((read - ns as f64).abs() <= 0.005 * ns as f64, "{text}");
        }
        assert_eq!(format_ns(1234.4), "1.23us");
    }
}
