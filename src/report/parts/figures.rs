//! How numbers stand in tables and at axes.

use crate::units::{format_count, format_ns, format_number};

fn or_dash(value: Option<f64>, format: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), format)
}

/// `45.6k`.
pub(super) fn count(value: Option<f64>) -> String {
    or_dash(value, format_count)
}

/// Three digits.
pub(super) fn number(value: Option<f64>) -> String {
    or_dash(value, format_number)
}

/// A whole number.
pub(super) fn whole(value: Option<f64>) -> String {
    or_dash(value, |value| format!("{value:.0}"))
}

/// Bytes per second as the number of MB/s.
pub(super) fn megabytes(value: Option<f64>) -> String {
    or_dash(value, |bytes| format_number(bytes / 1e6))
}

/// Microseconds as `85.0us` or `1.50s`.
pub(super) fn micros(value: Option<f64>) -> String {
    or_dash(value, |us| format_ns(us * 1000.0))
}

/// The same for an axis: round numbers without the digits that say nothing.
pub(super) fn micros_tick(us: f64) -> String {
    let (value, unit) = match us {
        v if v < 0.9995 => (v * 1e3, "ns"),
        v if v < 999.5 => (v, "us"),
        v if v < 999_500.0 => (v / 1e3, "ms"),
        v => (v / 1e6, "s"),
    };
    format!("{} {unit}", plain(value))
}

/// A round number of an axis: `200`, `0.5`, `2k`.
pub(super) fn tick(value: f64) -> String {
    let (value, letter) = match value.abs() {
        v if v >= 999_500_000.0 => (value / 1e9, "G"),
        v if v >= 999_500.0 => (value / 1e6, "M"),
        v if v >= 9_995.0 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    format!("{}{letter}", plain(value))
}

/// Without zeroes at the end.
fn plain(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// `+3.10`.
pub(super) fn signed(value: f64) -> String {
    format!("{}{}", if value >= 0.0 { "+" } else { "" }, format_number(value))
}

/// `+3.10 %`.
pub(super) fn change(value: Option<f64>) -> String {
    or_dash(value, |value| format!("{} %", signed(value)))
}

/// `-1.20 .. +3.40 %`.
pub(super) fn interval(low: Option<f64>, high: Option<f64>) -> String {
    match low.zip(high) {
        Some((low, high)) => format!("{} .. {} %", signed(low), signed(high)),
        None => "-".to_owned(),
    }
}

/// `1 run`, `3 runs`.
pub(super) fn many(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_axes() {
        assert_eq!(tick(0.0), "0");
        assert_eq!(tick(0.5), "0.5");
        assert_eq!(tick(2000.0), "2000");
        assert_eq!(tick(20_000.0), "20k");
        assert_eq!(tick(1_500_000.0), "1.5M");
        assert_eq!(micros_tick(0.5), "500 ns");
        assert_eq!(micros_tick(2.0), "2 us");
        assert_eq!(micros_tick(1000.0), "1 ms");
        assert_eq!(micros_tick(5_000_000.0), "5 s");
        assert_eq!(interval(Some(-1.25), Some(113.0)), "-1.25 .. +113 %");
    }
}
