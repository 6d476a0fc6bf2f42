//! What strace escapes in strings and annotations, taken back.

/// The bytes that an escaped text means. What is no escape stands for itself.
pub(super) fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        at += 1;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let Some(&next) = text.get(at) else {
            out.push(byte);
            break;
        };
        match next {
            b'0'..=b'7' => at += digits(&text[at..], 3, 8, &mut out),
            b'x' => at += 1 + digits(&text[at + 1..], 2, 16, &mut out),
            _ => {
                out.push(plain(next));
                at += 1;
            }
        }
    }
    out
}

fn plain(letter: u8) -> u8 {
    match letter {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'v' => 11,
        b'f' => 12,
        b'a' => 7,
        b'b' => 8,
        b'e' => 27,
        other => other,
    }
}

/// Reads a number of at most `most` digits; returns how many it had.
fn digits(text: &[u8], most: usize, radix: u32, out: &mut Vec<u8>) -> usize {
    let mut value = 0_u32;
    let mut count = 0;
    for &byte in text.iter().take(most) {
        let Some(digit) = char::from(byte).to_digit(radix) else { break };
        value = value * radix + digit;
        count += 1;
    }
    if count > 0 {
        out.push(value as u8);
    }
    count
}

/// A string argument: its bytes, or `None` when it is none, or was cut by strace.
pub(super) fn string(argument: &[u8]) -> Option<Vec<u8>> {
    let inner = argument.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    Some(unescape(inner))
}

/// A number, decimal, hexadecimal or octal; what follows it (an annotation) does not matter.
pub(super) fn number(argument: &[u8]) -> Option<i64> {
    let (negative, digits) = match argument.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, argument),
    };
    let (radix, digits) = match digits {
        [b'0', b'x', rest @ ..] => (16, rest),
        [b'0', rest @ ..] if rest.first().is_some_and(u8::is_ascii_digit) => (8, rest),
        digits => (10, digits),
    };
    let end = digits.iter().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(digits.len());
    let text = std::str::from_utf8(&digits[..end]).ok()?;
    let value = i64::from_str_radix(text, radix).ok().or_else(|| {
        // 64 bits all in use: what is meant is negative.
        u64::from_str_radix(text, radix).ok().map(|value| value as i64)
    })?;
    Some(if negative { value.wrapping_neg() } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `printf '%b'` and strace's manual have them.
    #[test]
    fn escapes_are_taken_back() {
        for (text, means) in [
            (&b"a b"[..], &b"a b"[..]),
            (b"\\303\\244", "ä".as_bytes()),
            (b"\\xc3\\xa4", "ä".as_bytes()),
            (b"\\1x\\0", b"\x01x\0"),
            (b"\\\"\\\\\\n\\t", b"\"\\\n\t"),
            (b"\\74deleted\\76", b"<deleted>"),
            (b"end\\", b"end\\"),
        ] {
            assert_eq!(unescape(text), means);
        }
        assert_eq!(string(b"\"x\""), Some(b"x".to_vec()));
        assert_eq!(string(b"\"x\"..."), None);
        assert_eq!(string(b"NULL"), None);
    }

    #[test]
    fn numbers_in_three_bases() {
        for (text, value) in
            [("10", 10), ("0644", 0o644), ("0x1f", 31), ("-100", -100), ("3</a>", 3), ("0", 0)]
        {
            assert_eq!(number(text.as_bytes()), Some(value), "{text}");
        }
        assert_eq!(number(b"0xffffffffffffffff"), Some(-1));
        assert_eq!(number(b"NULL"), None);
        assert_eq!(number(b""), None);
    }
}
