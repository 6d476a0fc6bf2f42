//! C's `%g`, which Rust has no form for.

/// Significant digits.
const DIGITS: i32 = 6;

/// A number as `printf("%g")` writes it: six significant digits without zeroes at the end, in
/// scientific form below 1e-4 and from 1e6 on.
#[must_use]
pub fn general(number: f64) -> String {
    if !number.is_finite() {
        return "0".into();
    }
    let scientific = format!("{number:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..DIGITS).contains(&exponent) {
        let decimals = (DIGITS - 1 - exponent).max(0) as usize;
        return trimmed(&format!("{number:.decimals$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}
