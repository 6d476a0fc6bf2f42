//! Numbers as a loadfile spells them: literals, timestamps, and the ones made anew each time.

use super::ast::Special;
use super::error::{LineResult, fault};
use super::program::{Mod, Operand};

pub(super) const EXPECTED: &str = "a number: decimal, 0x hexadecimal or 0 octal, up to 2^62 - 1";

/// Nanoseconds of a second.
const NANOS: u64 = 1_000_000_000;
/// Latest timestamp: some 31 years, far below what u64 nanoseconds hold.
const MAX_SECONDS: u64 = NANOS;

/// Reads a literal as strtoll with base 0 does, but all of it must be a number and fit.
pub(super) fn literal(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let (base, digits) = match digits {
        [b'0', b'x' | b'X', rest @ ..] => (16, rest),
        [b'0', rest @ ..] if !rest.is_empty() => (8, rest),
        _ => (10, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut value: i64 = 0;
    for &byte in digits {
        let digit = i64::from((byte as char).to_digit(base)?);
        value = value.checked_mul(i64::from(base))?.checked_add(digit)?;
    }
    (value <= Operand::MAX_LITERAL).then_some(if negative { -value } else { value })
}

/// Reads a plain decimal number of at most 17 digits, as nearly all are.
#[inline]
pub(super) fn small(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > 17 || (text[0] == b'0' && text.len() > 1) {
        return None;
    }
    let mut value = 0;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(value)
}

/// Reads seconds with a fraction to nanoseconds, exactly; digits after the ninth are dropped.
pub(super) fn timestamp(text: &[u8]) -> Option<u64> {
    if text.iter().any(|b| matches!(b, b'e' | b'E')) {
        let seconds: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
        let good = (0.0..=MAX_SECONDS as f64).contains(&seconds);
        return good.then_some((seconds * NANOS as f64).round() as u64);
    }
    let dot = text.iter().position(|&b| b == b'.').unwrap_or(text.len());
    let (whole, fraction) = (&text[..dot], text.get(dot + 1..).unwrap_or(&[]));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut seconds: u64 = 0;
    for byte in whole {
        let digit = (*byte as char).to_digit(10)?;
        seconds = seconds.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    let (mut nanos, mut unit) = (0, NANOS / 10);
    for byte in fraction {
        nanos += u64::from((*byte as char).to_digit(10)?) * unit;
        unit /= 10;
    }
    (seconds <= MAX_SECONDS).then(|| seconds * NANOS + nanos)
}

/// Reads `*...` and `+...`; `None` when the text starts otherwise.
pub(super) fn special(text: &[u8], at: usize) -> Option<LineResult<Special>> {
    match text {
        [b'*', mods @ ..] => Some(changes(mods, at + 1).map(Special::Random)),
        b"+child" => Some(Ok(Special::Child)),
        // dbench's manual has the second spelling, its code the first.
        b"+num_children" | b"+num_childred" => Some(Ok(Special::Children)),
        [b'+', digits @ ..] => Some(match literal(digits) {
            Some(add) if add >= 0 => Ok(Special::Previous(add)),
            _ => fault(
                at,
                format!("`{}` is not a number", String::from_utf8_lossy(text).escape_debug()),
                "+n with a number n, +child or +num_children",
            ),
        }),
        _ => None,
    }
}

/// Reads `/y`, `%y` and `+y`, one after the other.
fn changes(mut text: &[u8], mut at: usize) -> LineResult<Box<[Mod]>> {
    let mut mods = Vec::new();
    while let [sign, rest @ ..] = text {
        let len = rest.iter().position(|b| b"/%+".contains(b)).unwrap_or(rest.len());
        let value = literal(&rest[..len]);
        match (sign, value) {
            // Adding nothing is no change.
            (b'+', Some(0)) => {}
            (b'/', Some(y)) if y > 0 => mods.push(Mod::Align(y)),
            (b'%', Some(y)) if y > 0 => mods.push(Mod::Modulo(y)),
            (b'+', Some(y)) if y > 0 => mods.push(Mod::Add(y)),
            _ => {
                let shown = String::from_utf8_lossy(&text[..=len.min(40)]).into_owned();
                return fault(
                    at,
                    format!("`{}` does not change a random number", shown.escape_debug()),
                    "/y, %y or +y, with a number y that is not 0 and not negative",
                );
            }
        }
        text = &rest[len..];
        at += len + 1;
    }
    if upper_random(&mods).is_none() {
        return fault(at, "this number can become too large", "a sum below 2^63");
    }
    Ok(mods.into_boxed_slice())
}

/// Largest value of a random number after its changes; `None` beyond 2^63 - 1.
pub(super) fn upper_random(mods: &[Mod]) -> Option<i64> {
    let (mut low, mut high) = (0i64, Operand::MAX_LITERAL);
    for change in mods {
        match *change {
            Mod::Align(y) => {
                low -= low % y;
                high -= high % y;
            }
            Mod::Modulo(y) => {
                if high >= y {
                    (low, high) = (0, y - 1);
                }
            }
            Mod::Add(y) => {
                low = low.checked_add(y)?;
                high = high.checked_add(y)?;
            }
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_strtolls() {
        for (text, value) in [
            ("0", 0),
            ("42", 42),
            ("-1", -1),
            ("0x40", 64),
            ("0XfF", 255),
            ("010", 8),
            ("4294967296", 1 << 32),
            ("0x3fffffffffffffff", (1 << 62) - 1),
        ] {
            assert_eq!(literal(text.as_bytes()), Some(value), "{text}");
            assert!(small(text.as_bytes()).is_none_or(|small| small == value), "{text}");
        }
        for text in ["", "-", "0x", "08", "1k", "1.5", "--1", "0x4000000000000000", "+1", " 1"] {
            assert_eq!(literal(text.as_bytes()), None, "{text}");
            assert_eq!(small(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn timestamps_are_exact() {
        for (text, nanos) in [
            ("0", 0),
            (".5", 500_000_000),
            ("1.", 1_000_000_000),
            ("0.1", 100_000_000),
            ("12345.678901234", 12_345_678_901_234),
            ("0.0000000019", 1),
            ("1e-3", 1_000_000),
        ] {
            assert_eq!(timestamp(text.as_bytes()), Some(nanos), "{text}");
        }
        for text in [".", "", "1.2.3", "1000000001", "1e99", "12a"] {
            assert_eq!(timestamp(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn specials_of_reference_1_5() {
        let read = |text: &str| special(text.as_bytes(), 0).unwrap().unwrap();
        assert_eq!(read("*"), Special::Random([].into()));
        assert_eq!(read("*%1024"), Special::Random([Mod::Modulo(1024)].into()));
        assert_eq!(
            read("*/4096%1048576"),
            Special::Random([Mod::Align(4096), Mod::Modulo(1 << 20)].into())
        );
        assert_eq!(read("*%100+25"), Special::Random([Mod::Modulo(100), Mod::Add(25)].into()));
        assert_eq!(read("+8192"), Special::Previous(8192));
        assert_eq!(read("+child"), Special::Child);
        assert_eq!(read("+num_childred"), Special::Children);
        for text in ["*%0", "*/0", "*%", "*x", "*%-1", "+x", "+", "+-5", "*%1+4611686018427387904"]
        {
            assert!(special(text.as_bytes(), 0).unwrap().is_err(), "{text}");
        }
        assert_eq!(special(b"*%8/z", 10).unwrap().unwrap_err().at, 13);
        assert!(special(b"7", 0).is_none());
    }

    #[test]
    fn upper_bounds_by_hand() {
        for (text, bound) in [
            ("*%1024", 1023),
            ("*%100+25", 124),
            ("*/4096%1048576", (1 << 20) - 1),
            ("*%1048576/4096", (1 << 20) - 4096),
            ("*%10%100", 9),
            ("*+5%8", 7),
        ] {
            let Special::Random(mods) = special(text.as_bytes(), 0).unwrap().unwrap() else {
                panic!("{text}");
            };
            assert_eq!(upper_random(&mods), Some(bound), "{text}");
        }
    }
}
