//! Lines of foreign loadfiles, taken apart.

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// Without its quotes.
    pub(super) text: Vec<u8>,
    /// Its column, from 1.
    pub(super) column: usize,
}

/// The parts of a line, by blanks and tabs. A quote at the start of a part goes to the next one; elsewhere it
/// is a letter, as it is in names of DOS (where it means a dot).
pub(super) fn split(line: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < line.len() {
        if is_blank(line[at]) {
            at += 1;
            continue;
        }
        let column = at + 1;
        let quoted = line[at] == b'"';
        let start = at + usize::from(quoted);
        let ends = |byte: &u8| if quoted { *byte == b'"' } else { is_blank(*byte) };
        let end = line[start..].iter().position(ends).map_or(line.len(), |len| start + len);
        tokens.push(Token { text: line[start..end].to_vec(), column });
        at = end + 1;
    }
    tokens
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// A number as dbench reads it: decimal, hexadecimal, octal, with a sign.
pub(super) fn number(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let hexadecimal = digits.strip_prefix(b"0x").or_else(|| digits.strip_prefix(b"0X"));
    let good = match hexadecimal {
        Some(digits) => !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit),
        None => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
    };
    if good { crate::import::text::number(&text.to_ascii_lowercase()) } else { None }
}

/// The largest value that a number of dbench 5 can take: itself, or of `*%y+z` what the modulo leaves.
pub(super) fn largest(text: &[u8]) -> Option<u64> {
    if let Some(value) = number(text) {
        return u64::try_from(value).ok();
    }
    let text = std::str::from_utf8(text.strip_prefix(b"*")?).ok()?;
    let (_, after) = text.rsplit_once('%')?;
    let (modulo, plus) = after.split_once('+').unwrap_or((after, "0"));
    let modulo = modulo.split_once('/').map_or(modulo, |(modulo, _)| modulo);
    let value = |text: &str| u64::try_from(number(text.as_bytes())?).ok();
    value(modulo)?.checked_sub(1)?.checked_add(value(plus)?)
}

/// A path as ours: slashes in front and between, none behind.
pub(super) fn path(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 1);
    for name in text.split(|byte| matches!(byte, b'\\' | b'/')).filter(|name| !name.is_empty()) {
        out.push(b'/');
        out.extend(name.iter().map(|byte| if *byte == b'"' { b'.' } else { *byte }));
    }
    if out.is_empty() {
        out.push(b'/');
    }
    out
}

/// The directory of a path; `None` of the root.
pub(super) fn parent(path: &[u8]) -> Option<&[u8]> {
    match path.iter().rposition(|byte| *byte == b'/')? {
        0 if path.len() == 1 => None,
        0 => Some(b"/"),
        at => Some(&path[..at]),
    }
}

/// Whether a path is each client's own.
pub(super) fn is_own(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|name| name == b"client1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart() {
        let texts = |line: &str| {
            let tokens = split(line.as_bytes());
            tokens.iter().map(|t| String::from_utf8(t.text.clone()).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(texts("NTCreateX \"\\a b\" 0x1\t2 *"), ["NTCreateX", "\\a b", "0x1", "2", "*"]);
        assert_eq!(texts("FIND_FIRST \\a\\FILLER\"*"), ["FIND_FIRST", "\\a\\FILLER\"*"]);
        assert_eq!(texts("Unlink \"/a"), ["Unlink", "/a"]);
        assert_eq!(split(b"a  \"b\"")[1].column, 4);
        assert_eq!(path(b"\\a\\b\\"), b"/a/b");
        assert_eq!(path(b"a\"x"), b"/a.x");
        assert_eq!(path(b"\\"), b"/");
        assert_eq!(
            (parent(b"/a/b"), parent(b"/a"), parent(b"/")),
            (Some(&b"/a"[..]), Some(&b"/"[..]), None)
        );
        assert_eq!(
            (number(b"0x10"), number(b"-1"), number(b"1x"), number(b"-")),
            (Some(16), Some(-1), None, None)
        );
    }

    /// By hand: a remainder is less than what is divided by.
    #[test]
    fn computed_numbers_have_a_largest_value() {
        for (text, most) in [
            ("7", Some(7)),
            ("*%100+25", Some(124)),
            ("*/4096%1048576", Some(1_048_575)),
            ("*", None),
            ("+5", None),
        ] {
            assert_eq!(largest(text.as_bytes()), most, "{text}");
        }
    }
}
