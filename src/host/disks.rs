//! DISK arguments to directories: patterns that the shell left alone, and numbered ranges.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::{HostError, glob, preflight};

/// Nobody has more disks; a longer range is a slip.
const MOST_DISKS: u64 = 100_000;

/// The directories that DISK arguments name, in their order; without arguments the current one.
///
/// `d[1-12]` is twelve directories, `d[01-12]` the same with two digits each; `*`, `?` and other
/// brackets are shell patterns over existing directories. A path that exists as it stands is taken
/// as it stands. Directories of a range that do not exist are kept, so that they can be reported.
///
/// # Errors
/// For a pattern that matches nothing, a range that makes no sense, and a directory named twice.
pub fn expand<S: AsRef<OsStr>>(arguments: &[S]) -> Result<Vec<PathBuf>, HostError> {
    let mut disks = Vec::new();
    for argument in arguments {
        disks.extend(expand_one(argument.as_ref())?);
    }
    if arguments.is_empty() {
        disks.push(PathBuf::from("."));
    }
    refuse_duplicates(&disks)?;
    Ok(disks)
}

fn expand_one(argument: &OsStr) -> Result<Vec<PathBuf>, HostError> {
    if !glob::is_pattern(argument) || Path::new(argument).exists() {
        return Ok(vec![PathBuf::from(argument)]);
    }
    let mut disks = Vec::new();
    for text in ranges(argument)? {
        if glob::is_pattern(&text) && !Path::new(&text).exists() {
            disks.extend(glob::directories(&text));
        } else {
            disks.push(PathBuf::from(text));
        }
    }
    // A range of which nothing exists is a pattern that matches nothing.
    if disks.iter().any(|disk| disk.exists()) {
        return Ok(disks);
    }
    Err(HostError::NoMatch { pattern: argument.to_string_lossy().into_owned() })
}

/// The texts that an argument's ranges stand for, the last range counting fastest.
fn ranges(argument: &OsStr) -> Result<Vec<OsString>, HostError> {
    let bad = |reason: String| HostError::BadPattern {
        pattern: argument.to_string_lossy().into_owned(),
        reason,
    };
    let mut texts = vec![Vec::new()];
    let mut rest = argument.as_bytes();
    while let Some((before, range, after)) = next_range(rest) {
        let count = range.count().filter(|count| *count > 0).ok_or_else(|| {
            bad(format!("the range ends at {} before it begins at {}", range.last, range.first))
        })?;
        let texts_so_far = u64::try_from(texts.len()).unwrap_or(u64::MAX);
        if count.saturating_mul(texts_so_far) > MOST_DISKS {
            return Err(bad(format!("more than {MOST_DISKS} directories; write a smaller range")));
        }
        let numbered = |text: &Vec<u8>, number: u64| {
            let number = format!("{number:0width$}", width = range.width);
            [text.as_slice(), before, number.as_bytes()].concat()
        };
        texts = texts
            .iter()
            .flat_map(|text| (range.first..=range.last).map(move |n| numbered(text, n)))
            .collect();
        rest = after;
    }
    Ok(texts.into_iter().map(|text| OsString::from_vec([&text, rest].concat())).collect())
}

struct Range {
    first: u64,
    last: u64,
    /// Digits of each number; 0 where they are not padded.
    width: usize,
}

impl Range {
    /// `1-12`: digits on both sides and nothing else.
    fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let (first, last) = text.split_once('-')?;
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(first) || !digits(last) {
            return None;
        }
        let width = if first.len() > 1 && first.starts_with('0') { first.len() } else { 0 };
        Some(Self { first: first.parse().ok()?, last: last.parse().ok()?, width })
    }

    fn count(&self) -> Option<u64> {
        self.last.checked_sub(self.first)?.checked_add(1)
    }
}

/// The text before the first range, the range, and the text after it.
fn next_range(text: &[u8]) -> Option<(&[u8], Range, &[u8])> {
    let opens = text.iter().enumerate().filter(|(_, byte)| **byte == b'[').map(|(at, _)| at);
    opens.into_iter().find_map(|open| {
        let inner = &text[open + 1..];
        let close = inner.iter().position(|&byte| byte == b']')?;
        let range = Range::parse(&inner[..close])?;
        Some((&text[..open], range, &inner[close + 1..]))
    })
}

/// Two names of one directory, by path or through symlinks, would run the load twice on a disk.
fn refuse_duplicates(disks: &[PathBuf]) -> Result<(), HostError> {
    let mut seen: HashMap<PathBuf, &PathBuf> = HashMap::new();
    for disk in disks {
        let identity = match std::fs::canonicalize(disk) {
            Ok(path) => path,
            Err(_) => preflight::label(disk)?,
        };
        if let Some(first) = seen.insert(identity, disk) {
            return Err(HostError::Duplicate { first: first.clone(), second: disk.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn texts(argument: &str) -> Vec<String> {
        let texts = ranges(OsStr::new(argument)).unwrap();
        texts.into_iter().map(|text| text.into_string().unwrap()).collect()
    }

    #[test]
    fn ranges_count() {
        assert_eq!(texts("/m/d[1-12]").len(), 12);
        assert_eq!(texts("/m/d[9-11]"), ["/m/d9", "/m/d10", "/m/d11"]);
        assert_eq!(texts("d[08-10]x"), ["d08x", "d09x", "d10x"]);
        assert_eq!(texts("d[0-1]"), ["d0", "d1"]);
        assert_eq!(texts("s[1-2]/d[1-2]"), ["s1/d1", "s1/d2", "s2/d1", "s2/d2"]);
        assert_eq!(texts("d[abc]"), ["d[abc]"]);
        assert_eq!(texts("d[[1-2]"), ["d[1", "d[2"]);
        assert_eq!(texts("plain"), ["plain"]);
    }

    #[test]
    fn ranges_without_sense() {
        let backwards = ranges(OsStr::new("d[3-1]")).unwrap_err();
        assert!(backwards.to_string().contains("d[3-1]"), "{backwards}");
        assert!(ranges(OsStr::new("d[1-99999999]")).is_err());
        assert!(ranges(OsStr::new("d[1-18446744073709551615]")).is_err());
        assert!(ranges(OsStr::new("d[1-1000]/e[1-1000]")).is_err());
    }

    struct Disks(tempfile::TempDir);

    impl Disks {
        fn new(names: &[&str]) -> Self {
            let dir = tempfile::tempdir().unwrap();
            for name in names {
                fs::create_dir(dir.path().join(name)).unwrap();
            }
            Self(dir)
        }

        fn expand(&self, arguments: &[&str]) -> Result<Vec<String>, HostError> {
            let paths: Vec<_> = arguments.iter().map(|name| self.0.path().join(name)).collect();
            let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
            Ok(expand(&paths)?.into_iter().map(name).collect())
        }
    }

    #[test]
    fn patterns_ranges_and_plain_names() {
        let disks = Disks::new(&["d1", "d2", "d10", "e"]);
        assert_eq!(disks.expand(&["d*"]).unwrap(), ["d1", "d10", "d2"]);
        assert_eq!(disks.expand(&["e", "d[1-2]"]).unwrap(), ["e", "d1", "d2"]);
        assert_eq!(disks.expand(&["d[1-3]"]).unwrap(), ["d1", "d2", "d3"]);
        assert_eq!(disks.expand(&["[de]"]).unwrap(), ["e"]);
        assert_eq!(disks.expand(&["missing"]).unwrap(), ["missing"]);
    }

    #[test]
    fn a_name_with_brackets_wins() {
        let disks = Disks::new(&["d[1-2]", "d1"]);
        assert_eq!(disks.expand(&["d[1-2]"]).unwrap(), ["d[1-2]"]);
    }

    #[test]
    fn nothing_and_twice() {
        let disks = Disks::new(&["d1"]);
        for pattern in ["x*", "x[1-3]"] {
            let error = disks.expand(&[pattern]).unwrap_err().to_string();
            assert!(error.contains(pattern), "{error}");
        }
        std::os::unix::fs::symlink("d1", disks.0.path().join("same")).unwrap();
        for twice in [["d1", "d1/"], ["d1", "same"], ["d*", "d1"], ["no", "./no"]] {
            let error = disks.expand(&twice).unwrap_err();
            assert!(matches!(error, HostError::Duplicate { .. }), "{error}");
        }
        assert_eq!(expand::<&str>(&[]).unwrap(), [PathBuf::from(".")]);
    }
}
