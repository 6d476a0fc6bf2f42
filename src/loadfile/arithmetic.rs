//! What stands between `${` and `}`: whole numbers, names of parameters, `+ - * / % ( )`.

use super::error::{LineResult, fault};
use super::number;

/// Deepest nesting of parentheses and signs: each level takes a part of the stack.
const MAX_DEPTH: u32 = 64;
const EXPECTED: &str = "names and whole numbers with + - * / % ( ) between, as in ${size/4k}";

/// Reads a whole number as a loadfile spells it, or a size: `4k`, `1g`, in powers of 1024.
pub(super) fn whole(text: &[u8]) -> Option<i64> {
    let unit = match text.last()?.to_ascii_lowercase() {
        b'k' => 10,
        b'm' => 20,
        b'g' => 30,
        b't' => 40,
        _ => return number::literal(text).or_else(|| wide(text)),
    };
    let digits = &text[..text.len() - 1];
    if !digits.iter().all(u8::is_ascii_digit) || digits.is_empty() {
        return None;
    }
    let count: i64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    count.checked_mul(1 << unit)
}

/// A decimal number of up to 64 bits, more than an argument of a line can be.
fn wide(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_decimal = !digits.starts_with(b"0") && digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| is_decimal)?.parse().ok()
}

/// Whether a text is a name that SET can give a value.
pub(super) fn is_name(text: &[u8]) -> bool {
    text.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && text.iter().all(|&byte| is_word(byte))
        && text.len() <= 64
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The value of an expression. `at` is its offset in the line, `value_of` knows the names.
pub(super) fn evaluate(
    text: &[u8],
    at: usize,
    value_of: &dyn Fn(&[u8], usize) -> LineResult<i64>,
) -> LineResult<i64> {
    let mut reader = Reader { text, at, next: 0, depth: 0, value_of };
    let value = reader.sum()?;
    match reader.peek() {
        None => Ok(value),
        Some(byte) => {
            let message = format!("`{}` does not belong there", (byte as char).escape_debug());
            fault(at + reader.next, message, EXPECTED)
        }
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    next: usize,
    depth: u32,
    value_of: &'a dyn Fn(&[u8], usize) -> LineResult<i64>,
}

impl Reader<'_> {
    /// The next byte that is no blank.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.next).is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
            self.next += 1;
        }
        self.text.get(self.next).copied()
    }

    fn sum(&mut self) -> LineResult<i64> {
        let mut left = self.product()?;
        while let Some(sign @ (b'+' | b'-')) = self.peek() {
            let at = self.next;
            self.next += 1;
            let right = self.product()?;
            left = self.combine(at, sign, left, right)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> LineResult<i64> {
        let mut left = self.single()?;
        while let Some(sign @ (b'*' | b'/' | b'%')) = self.peek() {
            let at = self.next;
            self.next += 1;
            let right = self.single()?;
            left = self.combine(at, sign, left, right)?;
        }
        Ok(left)
    }

    fn combine(&self, at: usize, sign: u8, left: i64, right: i64) -> LineResult<i64> {
        let value = match sign {
            b'+' => left.checked_add(right),
            b'-' => left.checked_sub(right),
            b'*' => left.checked_mul(right),
            _ if right == 0 => {
                return fault(self.at + at, "a division by zero", "a divisor that is not 0");
            }
            b'/' => left.checked_div(right),
            _ => left.checked_rem(right),
        };
        match value {
            Some(value) => Ok(value),
            None => {
                let message = format!("{left} {} {right} does not fit 64 bits", sign as char);
                fault(self.at + at, message, "numbers from -2^63 to 2^63 - 1")
            }
        }
    }

    /// A number, a name, or something in parentheses; a minus may stand before each.
    fn single(&mut self) -> LineResult<i64> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let expected = format!("at most {MAX_DEPTH} levels");
            return fault(self.at + self.next, "this is nested too deep", expected);
        }
        let value = match self.peek() {
            Some(b'(') => {
                self.next += 1;
                let value = self.sum()?;
                if self.peek() != Some(b')') {
                    return fault(self.at + self.next, "a parenthesis is not closed", "`)`");
                }
                self.next += 1;
                value
            }
            Some(b'-') => {
                let at = self.next;
                self.next += 1;
                let value = self.single()?;
                self.combine(at, b'-', 0, value)?
            }
            Some(byte) if is_word(byte) => self.word()?,
            Some(byte) => {
                let message = format!("`{}` is no number", (byte as char).escape_debug());
                return fault(self.at + self.next, message, EXPECTED);
            }
            None => return fault(self.at + self.next, "a number is missing", EXPECTED),
        };
        self.depth -= 1;
        Ok(value)
    }

    fn word(&mut self) -> LineResult<i64> {
        let rest = &self.text[self.next..];
        let len = rest.iter().position(|&byte| !is_word(byte)).unwrap_or(rest.len());
        let (word, at) = (&rest[..len], self.at + self.next);
        self.next += len;
        if is_name(word) {
            return (self.value_of)(word, at);
        }
        match whole(word) {
            Some(value) => Ok(value),
            None => {
                let message = format!("`{}` is no number", String::from_utf8_lossy(word));
                fault(at, message, "a whole number, or one with k, m, g or t behind it")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of `a` (7), `big` (2^63 - 1) and `none`; the offset where it fails.
    fn value(text: &str) -> Result<i64, usize> {
        let known = |name: &[u8], at| match name {
            b"a" => Ok(7),
            b"big" => Ok(i64::MAX),
            _ => fault(at, "", ""),
        };
        evaluate(text.as_bytes(), 0, &known).map_err(|fault| fault.at)
    }

    #[test]
    fn the_usual_precedence() {
        for (text, expected) in [
            ("1+2*3", 7),
            ("(1+2)*3", 9),
            ("10-2-3", 5),
            ("100/7/2", 7),
            ("100/(7/2)", 33),
            ("17%5*2", 4),
            ("-a + 10", 3),
            ("2 - -3", 5),
            ("-7/2", -3),
            ("-7%2", -1),
            (" a*1k ", 7168),
            ("1g/4K", 262_144),
            ("0x10+010", 24),
            ("-big - 1", i64::MIN),
            ("2t", 2_199_023_255_552),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_computed_has_its_place() {
        for (text, at) in [
            ("", 0),
            ("1+", 2),
            ("1/0", 1),
            ("a % (a-7)", 2),
            ("big+1", 3),
            ("-2 - big", 3),
            ("big*2", 3),
            ("(1", 2),
            ("1)", 1),
            ("1 2", 2),
            ("x+1", 0),
            ("1+nope", 2),
            ("4q", 0),
            ("08", 0),
            ("9000000000g", 0),
            ("1.5", 1),
            ("+1", 0),
        ] {
            assert_eq!(value(text), Err(at), "{text}");
        }
        assert_eq!(value(&("(".repeat(65) + "1")), Err(64));
        assert_eq!(value(&("-".repeat(60_000) + "1")), Err(64));
        assert_eq!(value(&("(".repeat(63) + "1" + &")".repeat(63))), Ok(1));
        assert_eq!(value("(-big-1)/(0-1)"), Err(8));
    }

    #[test]
    fn sizes_are_powers_of_1024() {
        assert_eq!(whole(b"1k"), Some(1024));
        assert_eq!(whole(b"3M"), Some(3 << 20));
        assert_eq!(whole(b"0x1k"), None);
        assert_eq!(whole(b"k"), None);
        assert_eq!(whole(b"-1k"), None);
        assert_eq!(whole(b"-1"), Some(-1));
        assert_eq!(whole(b""), None);
        assert_eq!(whole(b"9223372036854775807"), Some(i64::MAX));
        assert_eq!(whole(b"9223372036854775808"), None);
    }
}
