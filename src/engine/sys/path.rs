//! A path that is rendered again and again into the same memory.

use std::ffi::CStr;

/// A buffer that holds a prefix, what was rendered behind it, and always a NUL at the end.
#[derive(Debug)]
pub struct PathBuffer {
    bytes: Box<[u8]>,
    prefix: usize,
    len: usize,
}

impl PathBuffer {
    /// Room for `prefix` and `max` bytes behind it; `prefix` must not contain a NUL.
    #[must_use]
    pub fn new(prefix: &[u8], max: usize) -> Self {
        let prefix = prefix.split(|byte| *byte == 0).next().unwrap_or_default();
        let mut bytes = vec![0; prefix.len() + max + 1].into_boxed_slice();
        bytes[..prefix.len()].copy_from_slice(prefix);
        Self { bytes, prefix: prefix.len(), len: prefix.len() }
    }

    /// Goes back to the prefix alone.
    #[inline]
    pub fn reset(&mut self) {
        self.truncate(self.prefix);
    }

    /// Appends bytes; what does not fit, or follows a NUL, is left out (a path longer than the
    /// buffer was refused when the loadfile was compiled).
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        let room = self.bytes.len() - 1 - self.len;
        let take = bytes.len().min(room);
        self.bytes[self.len..self.len + take].copy_from_slice(&bytes[..take]);
        self.len += take;
        self.bytes[self.len] = 0;
    }

    /// Cuts the path to `len` bytes.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.len = len.min(self.len);
        self.bytes[self.len] = 0;
    }

    /// The path, prefix included.
    #[inline]
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// What stands behind the prefix.
    #[must_use]
    pub fn tail(&self) -> &[u8] {
        &self.bytes[self.prefix..self.len]
    }

    /// Takes over another path, prefix included, up to its last slash.
    #[inline]
    pub fn set_parent_of(&mut self, path: &Self) {
        let whole = path.as_bytes();
        let slash = whole.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        self.len = 0;
        self.push(&whole[..slash.max(1).min(whole.len())]);
    }

    /// Becomes the way from the directory of `link` to `target`, both below the same prefix: what a
    /// symbolic link there has to say. It means the same wherever the prefix starts.
    pub fn set_way(&mut self, link: &Self, target: &Self) {
        let (from, to) = (link.tail(), target.tail());
        let same = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        // Up to the last slash that both have: what follows it differs.
        let slash = |path: &[u8]| path[..same.min(path.len())].iter().rposition(|b| *b == b'/');
        let common = if to.len() == same && from.get(same) == Some(&b'/') {
            // The target is a directory above the link.
            same
        } else {
            slash(from).unwrap_or(0)
        };
        let ups = from[common..].iter().filter(|byte| **byte == b'/').count().saturating_sub(1);
        self.len = 0;
        for _ in 0..ups {
            self.push(b"../");
        }
        let rest = to.get(common..).unwrap_or_default();
        self.push(rest.strip_prefix(b"/").unwrap_or(rest));
        match (self.len, self.as_bytes().last()) {
            (0, _) => self.push(b"."),
            (_, Some(b'/')) => self.truncate(self.len - 1),
            _ => {}
        }
    }

    /// The path for a system call.
    #[inline]
    #[must_use]
    pub fn as_c_str(&self) -> &CStr {
        debug_assert!(!self.as_bytes().contains(&0));
        // SAFETY: every method leaves a NUL at `len`, and none of the bytes before it is one:
        // the prefix was cut at its first NUL, and loadfile paths with a NUL are refused.
        // A NUL among them would only shorten what the kernel reads.
        unsafe { CStr::from_ptr(self.bytes.as_ptr().cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `ln -sr` of coreutils makes them.
    #[test]
    fn the_way_from_a_link_to_its_target() {
        for (link, target, way) in [
            ("/c/a", "/c/b", "b"),
            ("/c/d/a", "/c/b", "../b"),
            ("/c/d/a", "/c/d2", "../d2"),
            ("/c/d/e/a", "/c", "../.."),
            ("/c/d/e/a", "/c/d/e", "."),
            ("/c/a", "/c/a/b", "a/b"),
            ("/c/a", "/x/y/z", "../x/y/z"),
            ("/a", "/a", "a"),
            ("/c/ab", "/c/a", "a"),
        ] {
            let path = |text: &str| {
                let mut path = PathBuffer::new(b"/mnt", 30);
                path.push(text.as_bytes());
                path
            };
            let mut text = path("");
            text.set_way(&path(link), &path(target));
            assert_eq!(text.as_c_str().to_str().unwrap(), way, "{link} {target}");
        }
    }

    #[test]
    fn renders_behind_the_prefix() {
        let mut path = PathBuffer::new(b"/mnt/a", 16);
        path.push(b"/clients");
        assert_eq!(path.as_c_str(), c"/mnt/a/clients");
        let mut parent = PathBuffer::new(b"/mnt/a", 16);
        parent.set_parent_of(&path);
        assert_eq!(parent.as_c_str(), c"/mnt/a");
        path.reset();
        path.push(b"/more than sixteen bytes");
        assert_eq!(path.tail().len(), 16, "never beyond the buffer");
        path.reset();
        assert_eq!(path.as_c_str(), c"/mnt/a");
    }
}
