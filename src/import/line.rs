//! One line of a recording: whose it is, and what kind of line.

/// A line that says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'t> {
    /// Whose it is; `None` in files with one process each.
    pub(super) pid: Option<u32>,
    /// When, in microseconds; `None` without `-t`.
    pub(super) time: Option<u64>,
    /// Where `body` starts, from 0.
    pub(super) at: usize,
    pub(super) body: Body<'t>,
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body<'t> {
    /// A whole call, from its name on.
    Call(&'t [u8]),
    /// The first half of a call.
    Unfinished(&'t [u8]),
    /// The second half, behind `resumed>`.
    Resumed(&'t [u8]),
    /// The process ended.
    Exit,
    /// The process goes on with another number.
    Superseded(u32),
    /// Signals, and what strace says about itself.
    Noise,
    /// None of these.
    Unknown,
}

const UNFINISHED: &[u8] = b"<unfinished ...>";

/// Takes a line apart; `None` for an empty one.
pub(super) fn parse(line: &[u8]) -> Option<Line<'_>> {
    let mut rest = trim(line);
    if rest.is_empty() {
        return None;
    }
    let mut pid = None;
    if let Some(inner) = rest.strip_prefix(b"[pid")
        && let Some(end) = inner.iter().position(|b| *b == b']')
    {
        pid = decimal(trim(&inner[..end]));
        rest = trim(&inner[end + 1..]);
    } else if let Some((word, more)) = word(rest)
        && let Some(number) = decimal(word)
    {
        (pid, rest) = (Some(number), trim(more));
    }
    let mut time = None;
    if let Some((word, more)) = word(rest)
        && let Some(micros) = timestamp(word)
    {
        (time, rest) = (Some(micros), trim(more));
    }
    let at = line.len() - rest.len();
    Some(Line { pid, time, at, body: body(rest) })
}

fn body(text: &[u8]) -> Body<'_> {
    if let Some(text) = text.strip_prefix(b"+++ superseded by execve in pid ") {
        return word(text).and_then(|(w, _)| decimal(w)).map_or(Body::Exit, Body::Superseded);
    }
    if text.starts_with(b"+++ ") {
        return Body::Exit;
    }
    if text.starts_with(b"--- ") || text.starts_with(b"strace: ") {
        return Body::Noise;
    }
    if let Some(rest) = text.strip_prefix(b"<... ") {
        const MARK: &[u8] = b" resumed>";
        let mark = rest.windows(MARK.len()).position(|w| w == MARK);
        return mark.map_or(Body::Unknown, |at| {
            let rest = &rest[at + MARK.len()..];
            // A task that was killed within its call.
            Body::Resumed(rest.strip_prefix(b" <unfinished ...>").unwrap_or(rest))
        });
    }
    let name = text.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    if name == 0 || text.get(name) != Some(&b'(') {
        return Body::Unknown;
    }
    match text.strip_suffix(UNFINISHED) {
        Some(head) => Body::Unfinished(trim_end(head)),
        None => Body::Call(text),
    }
}

pub(super) fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = text {
        text = rest;
    }
    trim_end(text)
}

fn trim_end(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., b' ' | b'\t' | b'\r'] = text {
        text = rest;
    }
    text
}

fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|b| *b == b' ')?;
    Some((&text[..end], &text[end..]))
}

fn decimal(text: &[u8]) -> Option<u32> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| digits)?.parse().ok()
}

/// `1700000000.123456`, `12:34:56.123456` or `12:34:56`, in microseconds.
fn timestamp(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    if !text.contains(['.', ':']) {
        return None;
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut seconds = 0_u64;
    for part in whole.split(':') {
        seconds = seconds.checked_mul(60)?.checked_add(part.parse().ok()?)?;
    }
    seconds.checked_mul(1_000_000)?.checked_add(micros(fraction)?)
}

/// The digits behind a point, in millionths.
fn micros(digits: &str) -> Option<u64> {
    let digits = digits.get(..digits.len().min(6))?;
    let value: u64 = digits.parse().ok()?;
    Some(value * 10_u64.pow(6 - digits.len() as u32))
}

/// How long a call took, in microseconds: `<0.000123>` at its end.
pub(super) fn took(call: &[u8]) -> Option<u64> {
    let start = call.iter().rposition(|b| *b == b'<')?;
    let text = call[start + 1..].strip_suffix(b">")?;
    text.contains(&b'.').then(|| timestamp(text))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line() {
        let call = b"close(3) = 0".as_slice();
        for (text, pid, time, body) in [
            ("close(3) = 0", None, None, Body::Call(call)),
            ("17 close(3) = 0\r", Some(17), None, Body::Call(call)),
            ("17    1.000002 close(3) = 0", Some(17), Some(1_000_002), Body::Call(call)),
            ("1:00.5 close(3) = 0", None, Some(60_500_000), Body::Call(call)),
            ("[pid  17] close(3) = 0", Some(17), None, Body::Call(call)),
            ("17 read(3,  <unfinished ...>", Some(17), None, Body::Unfinished(b"read(3,")),
            ("17 <... read resumed>, 5) = 5", Some(17), None, Body::Resumed(b", 5) = 5")),
            ("17 +++ exited with 0 +++", Some(17), None, Body::Exit),
            ("17 --- SIGCHLD {} ---", Some(17), None, Body::Noise),
            ("strace: Process 5 attached", None, None, Body::Noise),
            ("17 +++ superseded by execve in pid 16 +++", Some(17), None, Body::Superseded(16)),
            ("17 what is this", Some(17), None, Body::Unknown),
        ] {
            let line = parse(text.as_bytes()).unwrap();
            assert_eq!((line.pid, line.time, line.body), (pid, time, body), "{text}");
        }
        assert_eq!(parse(b"  "), None);
        assert_eq!(parse(b"17 1.5 x y").unwrap().at, 7);
    }
}
