//! The status at the end of an operation's line.

use super::program::Expect;
use crate::errno;

/// What may stand at the end of a line, for messages.
pub(super) const EXPECTED: &str = "a status at the end of the line: NT_STATUS_OK, another \
     NT_STATUS_ name, a number like 0xC0000034, SUCCESS, ERROR, * or an errno name like ENOENT";

/// Reads a status; `None` when it is none.
///
/// Strict on purpose: a misspelt `NT_STATUS_ok` would otherwise mean "must fail".
pub(super) fn parse(text: &[u8]) -> Option<Expect> {
    match text {
        b"NT_STATUS_OK" | b"SUCCESS" => return Some(Expect::Success),
        b"*" => return Some(Expect::Any),
        b"ERROR" => return Some(Expect::Failure),
        _ => {}
    }
    if let Some(name) = text.strip_prefix(b"NT_STATUS_") {
        let good = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_';
        return (!name.is_empty() && name.iter().all(good)).then_some(Expect::Failure);
    }
    if let Some(digits) = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")) {
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let zero = digits.iter().all(|&b| b == b'0');
        return Some(if zero { Expect::Success } else { Expect::Failure });
    }
    let number = errno::from_name(std::str::from_utf8(text).ok()?)?;
    u16::try_from(number).ok().map(Expect::Errno)
}

/// The canonical spelling; one that dbench 3 and 4 read too, where there is one.
pub(super) fn spell(expect: Expect) -> &'static str {
    match expect {
        Expect::Success => "NT_STATUS_OK",
        Expect::Any => "*",
        Expect::Failure => "NT_STATUS_UNSUCCESSFUL",
        Expect::Errno(number) => errno::name(i32::from(number)).unwrap_or("ERROR"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_reference_1_3() {
        let cases: [(&str, Option<Expect>); 16] = [
            ("NT_STATUS_OK", Some(Expect::Success)),
            ("0x0", Some(Expect::Success)),
            ("0x00000000", Some(Expect::Success)),
            ("SUCCESS", Some(Expect::Success)),
            ("*", Some(Expect::Any)),
            ("ERROR", Some(Expect::Failure)),
            ("0xC0000034", Some(Expect::Failure)),
            ("NT_STATUS_OBJECT_NAME_NOT_FOUND", Some(Expect::Failure)),
            ("ENOENT", Some(Expect::Errno(2))),
            ("EEXIST", Some(Expect::Errno(17))),
            ("NT_STATUS_", None),
            ("NT_STATUS_ok", None),
            ("NT_STATUS_OK\r", None),
            ("0x", None),
            ("0", None),
            ("", None),
        ];
        for (text, expect) in cases {
            assert_eq!(parse(text.as_bytes()), expect, "{text}");
            if let Some(expect) = expect {
                assert_eq!(parse(spell(expect).as_bytes()), Some(expect));
            }
        }
    }
}
