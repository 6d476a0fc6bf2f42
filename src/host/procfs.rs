//! Small readers for the one-value and `name value` files below /proc and /sys.

use std::path::Path;

/// The text of a file without the white space around it; `None` if it cannot be read or is empty.
#[must_use]
pub fn text(path: impl AsRef<Path>) -> Option<String> {
    let bytes = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// The whole of a file as it is; `None` if it cannot be read.
#[must_use]
pub fn raw(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The file's number.
#[must_use]
pub fn number<T: std::str::FromStr>(path: impl AsRef<Path>) -> Option<T> {
    text(path)?.parse().ok()
}

/// The number after a key, in lines of `key value` or `key: value`.
#[must_use]
pub fn value_after(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let first = words.next()?;
        (first.strip_suffix(':').unwrap_or(first) == key).then(|| words.next()?.parse().ok())?
    })
}

/// The text after a key and a colon, as /proc/cpuinfo and /proc/*/status have it.
#[must_use]
pub fn text_after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim())
    })
}

/// A CPU or node list (`0-3,8,10-11`) as numbers; `None` if it is not one.
#[must_use]
pub fn number_list(text: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last - first > 1 << 16 {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// The chosen word of a list: `none [mq-deadline] bfq`, or the word itself if it stands alone.
#[must_use]
pub fn bracketed(text: &str) -> Option<&str> {
    if let Some((_, rest)) = text.split_once('[') {
        return rest.split_once(']').map(|(word, _)| word);
    }
    let mut words = text.split_whitespace();
    words.next().filter(|_| words.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_key() {
        let meminfo = "MemTotal:  2048 kB\nDirty: 12 kB\n";
        assert_eq!(value_after(meminfo, "Dirty"), Some(12));
        assert_eq!(value_after(meminfo, "Mem"), None);
        assert_eq!(value_after("pgscan_kswapd 7\n", "pgscan_kswapd"), Some(7));
        assert_eq!(text_after("model name\t: Some CPU: X\n", "model name"), Some("Some CPU: X"));
    }

    #[test]
    fn cpu_lists() {
        assert_eq!(number_list("0-2,5\n"), Some(vec![0, 1, 2, 5]));
        assert_eq!(number_list(""), Some(vec![]));
        assert_eq!(number_list("3-1"), None);
        assert_eq!(number_list("a"), None);
    }

    #[test]
    fn chosen_words() {
        assert_eq!(bracketed("none [mq-deadline] bfq"), Some("mq-deadline"));
        assert_eq!(bracketed("none"), Some("none"));
        assert_eq!(bracketed("a b"), None);
    }
}
