//! A call: its name, its arguments, what it returned.

use super::line::trim;
use super::text::{number, unescape};

/// A call that came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call<'t> {
    pub(super) name: &'t str,
    pub(super) arguments: Vec<&'t [u8]>,
    /// What it returned; `None` for `?`.
    pub(super) value: Option<i64>,
    /// The path of the descriptor that it returned.
    pub(super) annotation: Option<Vec<u8>>,
    /// The name of the error that it failed with.
    pub(super) error: Option<&'t str>,
}

/// A descriptor argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fd {
    /// Its number; `None` for `AT_FDCWD`.
    pub(super) number: Option<i32>,
    /// What strace says that it is open on.
    pub(super) path: Option<Vec<u8>>,
    /// Whether that has no name any more.
    pub(super) deleted: bool,
}

impl<'t> Call<'t> {
    /// Reads a call; the error is the place where it stops to be one.
    pub(super) fn parse(text: &'t [u8]) -> Result<Self, usize> {
        let open = text.iter().position(|b| *b == b'(').ok_or(0_usize)?;
        let name = std::str::from_utf8(&text[..open]).map_err(|_| 0_usize)?;
        let (arguments, close) = split(text, open + 1)?;
        let rest = trim(&text[close + 1..]);
        let rest = trim(rest.strip_prefix(b"=").ok_or(close + 1)?);
        let mut call = Self { name, arguments, value: None, annotation: None, error: None };
        let end = rest.iter().position(|b| matches!(b, b' ' | b'<')).unwrap_or(rest.len());
        let (value, mut rest) = rest.split_at(end);
        if value != b"?" {
            call.value = Some(number(value).ok_or(close + 1)?);
        }
        if rest.first() == Some(&b'<') {
            let (path, after) = annotation(rest).ok_or(close + 1)?;
            call.annotation = Some(unescape(path));
            rest = after.strip_prefix(b"(deleted)").unwrap_or(after);
        }
        let rest = trim(rest);
        let word = rest.split(|b| *b == b' ').next().unwrap_or_default();
        if word.first() == Some(&b'E') && word.iter().all(|b| b.is_ascii_alphanumeric()) {
            call.error = std::str::from_utf8(word).ok();
        }
        Ok(call)
    }

    /// An argument; empty where there is none.
    pub(super) fn argument(&self, index: usize) -> &'t [u8] {
        self.arguments.get(index).copied().unwrap_or_default()
    }

    /// An argument that is a number.
    pub(super) fn number(&self, index: usize) -> Option<i64> {
        number(self.argument(index))
    }

    /// An argument that is a descriptor.
    pub(super) fn fd(&self, index: usize) -> Option<Fd> {
        let text = self.argument(index);
        let end = text.iter().position(|b| *b == b'<').unwrap_or(text.len());
        let number = match &text[..end] {
            b"AT_FDCWD" => None,
            digits => Some(i32::try_from(number(digits)?).ok()?),
        };
        let (path, deleted) = match annotation(&text[end..]) {
            Some((path, after)) => (Some(unescape(path)), after.starts_with(b"(deleted)")),
            None => (None, false),
        };
        Some(Fd { number, path, deleted })
    }

    /// Whether an argument has one of the words that `|` joins.
    pub(super) fn has(&self, index: usize, word: &str) -> bool {
        self.argument(index).split(|b| *b == b'|').any(|part| part == word.as_bytes())
    }

    /// Whether any argument holds a text.
    pub(super) fn mentions(&self, text: &str) -> bool {
        let text = text.as_bytes();
        self.arguments.iter().any(|a| a.windows(text.len()).any(|window| window == text))
    }

    /// The number behind `key` in a structure among the arguments.
    pub(super) fn field(&self, key: &str) -> Option<i64> {
        let key = key.as_bytes();
        self.arguments.iter().find_map(|argument| {
            let at = argument.windows(key.len()).position(|window| window == key)?;
            number(&argument[at + key.len()..])
        })
    }

    /// The last argument, where offsets stand.
    pub(super) fn last_number(&self, from_end: usize) -> Option<i64> {
        self.arguments.len().checked_sub(1 + from_end).and_then(|index| self.number(index))
    }
}

/// What stands in `<...>` at the start of a text, and what follows.
fn annotation(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = text.strip_prefix(b"<")?;
    // Sockets say `<TCP:[1.2.3.4:5->6.7.8.9:10]>`; names have their `>` escaped.
    let kind = inner.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'-').count();
    let end = if inner[kind..].starts_with(b":[") {
        inner.windows(2).position(|pair| pair == b"]>").map(|at| at + 1)?
    } else {
        inner.iter().position(|b| *b == b'>')?
    };
    Some((&inner[..end], &inner[end + 1..]))
}

/// The arguments from `start` on, and where their bracket closes; else where they stop to make
/// sense.
fn split(text: &[u8], start: usize) -> Result<(Vec<&[u8]>, usize), usize> {
    let (mut arguments, mut from, mut depth, mut at) = (Vec::new(), start, 0_usize, start);
    while at < text.len() {
        match text[at] {
            b'"' => at = quoted(text, at).ok_or(at)?,
            b'<' if starts_annotation(text, at) => {
                let (_, after) = annotation(&text[at..]).ok_or(at)?;
                at = text.len() - after.len() - 1;
            }
            b'/' if text[at..].starts_with(b"/*") => {
                let end = text[at..].windows(2).position(|w| w == b"*/").ok_or(at)?;
                at += end + 1;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                let last = trim(&text[from..at]);
                if !last.is_empty() {
                    arguments.push(last);
                }
                return Ok((arguments, at));
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                arguments.push(trim(&text[from..at]));
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    Err(text.len())
}

/// The closing quote of the string that opens at `at`.
fn quoted(text: &[u8], mut at: usize) -> Option<usize> {
    at += 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 1,
            b'"' => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Whether `<` follows a descriptor, rather than being half of a shift.
fn starts_annotation(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| text[at]);
    before.is_some_and(|b| b.is_ascii_digit() || b == b'D') && text.get(at + 1) != Some(&b'<')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::line;

    #[test]
    fn a_call_with_everything() {
        let text = b"openat(AT_FDCWD</a \\74b\\76>, \"x,)\\\"\", O_RDWR|O_CREAT, 0644) = 3</a/x>(deleted) <0.000012>";
        let call = Call::parse(text).unwrap();
        assert_eq!(call.name, "openat");
        assert_eq!(call.arguments.len(), 4);
        let fd = call.fd(0).unwrap();
        assert_eq!((fd.number, fd.path.as_deref()), (None, Some(b"/a <b>".as_slice())));
        assert!(call.has(2, "O_CREAT") && !call.has(2, "O_RDONLY"));
        assert_eq!(call.number(3), Some(0o644));
        assert_eq!((call.value, line::took(text)), (Some(3), Some(12)));
        assert_eq!(call.annotation.as_deref(), Some(b"/a/x".as_slice()));
    }

    #[test]
    fn results_of_all_forms() {
        let error =
            Call::parse(b"stat(\"x\", 0x7f) = -1 ENOENT (No such file or directory)").unwrap();
        assert_eq!((error.value, error.error), (Some(-1), Some("ENOENT")));
        let again =
            Call::parse(b"read(3<pipe:[1]>, 0x1, 5) = ? ERESTARTSYS (To be) <0.5>").unwrap();
        assert_eq!((again.value, again.error), (None, Some("ERESTARTSYS")));
        let dents = Call::parse(b"getdents64(3</d>, 0x5 /* 42 entries, */, 32768) = 1304").unwrap();
        assert_eq!(dents.arguments.len(), 3);
        let socket = Call::parse(b"read(3<TCP:[1.2.3.4:5->6.7.8.9:1]>, \"\"..., 9) = 0").unwrap();
        assert_eq!(socket.arguments.len(), 3);
        let flags =
            Call::parse(b"fcntl(3</a>, F_GETFL) = 0x8401 (flags O_WRONLY|O_APPEND)").unwrap();
        assert_eq!((flags.value, flags.error), (Some(0x8401), None));
        let stat =
            Call::parse(b"fstat(3</a>, {st_mode=S_IFREG|0644, st_size=7, ...}) = 0").unwrap();
        assert_eq!(stat.field("st_size="), Some(7));
        assert!(Call::parse(b"f(1<<3, 2) = 0").unwrap().arguments.len() == 2);
    }

    #[test]
    fn what_is_no_call_has_a_place() {
        assert_eq!(Call::parse(b"read(3, \"abc"), Err(8));
        assert_eq!(Call::parse(b"read(3, 4"), Err(9));
        assert_eq!(Call::parse(b"read(3) 5"), Err(7));
        assert_eq!(Call::parse(b""), Err(0));
    }
}
