//! Shell patterns over the file system: `*`, `?` and `[...]`, no more.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Whether a text has a character that makes it a pattern.
#[must_use]
pub fn is_pattern(text: &OsStr) -> bool {
    text.as_bytes().iter().any(|byte| b"*?[".contains(byte))
}

/// The directories whose paths match a pattern, sorted. As in a shell, `*` stops at slashes and
/// does not match a leading dot.
#[must_use]
pub fn directories(pattern: &OsStr) -> Vec<PathBuf> {
    let absolute = pattern.as_bytes().starts_with(b"/");
    let mut found = vec![PathBuf::from(if absolute { "/" } else { "" })];
    for part in pattern.as_bytes().split(|&byte| byte == b'/').filter(|part| !part.is_empty()) {
        found = found.iter().flat_map(|dir| step(dir, part)).collect();
    }
    found.retain(|path| path.is_dir());
    found.sort();
    found
}

/// One component further.
fn step(dir: &Path, part: &[u8]) -> Vec<PathBuf> {
    if !is_pattern(OsStr::from_bytes(part)) {
        let next = dir.join(OsStr::from_bytes(part));
        return if next.exists() { vec![next] } else { Vec::new() };
    }
    let listed = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let entries = std::fs::read_dir(listed).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name())
        .filter(|name: &OsString| matches(part, name.as_bytes()))
        .map(|name| dir.join(name))
        .collect()
}

/// Whether a name matches a pattern without slashes.
#[must_use]
pub fn matches(pattern: &[u8], name: &[u8]) -> bool {
    if name.starts_with(b".") && !pattern.starts_with(b".") {
        return false;
    }
    // The place after the last star, and how much of the name that star has taken.
    let mut star: Option<(&[u8], &[u8])> = None;
    let (mut pattern, mut name) = (pattern, name);
    loop {
        if let Some((&b'*', rest)) = pattern.split_first() {
            star = Some((rest, name));
            pattern = rest;
            continue;
        }
        match (one(pattern, name), name.split_first()) {
            (Some(rest), Some((_, after))) => (pattern, name) = (rest, after),
            (_, None) if pattern.is_empty() => return true,
            _ => {
                // Let the star take one byte more.
                let Some((after_star, taken)) = star else { return false };
                let Some((_, shorter)) = taken.split_first() else { return false };
                star = Some((after_star, shorter));
                (pattern, name) = (after_star, shorter);
            }
        }
    }
}

/// The pattern's rest if its first element matches the name's first byte.
fn one<'a>(pattern: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (&first, rest) = pattern.split_first()?;
    let &byte = name.first()?;
    match first {
        b'?' => Some(rest),
        b'[' => match class(rest, byte) {
            Some((true, rest)) => Some(rest),
            Some((false, _)) => None,
            // Without an end it is a plain bracket.
            None => (byte == b'[').then_some(rest),
        },
        plain => (plain == byte).then_some(rest),
    }
}

/// A class after its bracket: whether it holds the byte, and what follows it.
fn class(text: &[u8], byte: u8) -> Option<(bool, &[u8])> {
    let negated = text.first().is_some_and(|first| b"!^".contains(first));
    let body = &text[usize::from(negated)..];
    // A bracket that comes first stands for itself.
    let end = 1 + body.iter().skip(1).position(|&b| b == b']')?;
    let (mut set, rest) = (&body[..end], &body[end + 1..]);
    let mut held = false;
    while let Some((&low, tail)) = set.split_first() {
        set = tail;
        let mut high = low;
        if let [b'-', last, tail @ ..] = set {
            (high, set) = (*last, tail);
        }
        held |= (low..=high).contains(&byte);
    }
    Some((held != negated, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let yes = [
            ("d*", "d"),
            ("d*", "d12"),
            ("*", "abc"),
            ("*c", "abcabc"),
            ("a*b*c", "a-b-b-c"),
            ("d?", "d1"),
            ("d[0-9]", "d7"),
            ("d[!a-z]", "d7"),
            ("d[]]", "d]"),
            ("d[-x]", "d-"),
            ("d[", "d["),
            (".*", ".hidden"),
        ];
        let no = [
            ("d*", "xd"),
            ("*", ".hidden"),
            ("?x", ".x"),
            ("d?", "d"),
            ("d?", "d12"),
            ("d[0-9]", "dx"),
            ("d[^a-z]", "dx"),
            ("a*b", "a-c"),
            ("", "x"),
        ];
        for (pattern, name) in yes {
            assert!(matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        for (pattern, name) in no {
            assert!(!matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
    }

    #[test]
    fn paths() {
        let dir = tempfile::tempdir().unwrap();
        for sub in ["a1/x", "a2/x", "b/x", ".a3/x"] {
            std::fs::create_dir_all(dir.path().join(sub)).unwrap();
        }
        std::fs::write(dir.path().join("a9"), "a file").unwrap();
        let found = |pattern: &str| {
            let paths = directories(dir.path().join(pattern).as_os_str());
            let short = |path: &PathBuf| path.strip_prefix(dir.path()).unwrap().to_owned();
            paths.iter().map(short).collect::<Vec<_>>()
        };
        assert_eq!(found("a*"), [PathBuf::from("a1"), "a2".into()]);
        assert_eq!(found("*/x"), [PathBuf::from("a1/x"), "a2/x".into(), "b/x".into()]);
        assert!(found("c*").is_empty());
    }
}
