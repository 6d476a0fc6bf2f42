//! Paths as bytes: joined, without `.`, `..` and empty components.

/// The absolute path that `path` means from the directory `base`. `..` is taken by the letters: it goes
/// back over a component, wherever a link of that name leads.
pub(super) fn absolute(base: &[u8], path: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(base.len() + path.len() + 1);
    let from_base = if path.starts_with(b"/") { &b""[..] } else { base };
    for component in from_base.split(|b| *b == b'/').chain(path.split(|b| *b == b'/')) {
        match component {
            b"" | b"." => {}
            b".." => {
                let end = out.iter().rposition(|b| *b == b'/').unwrap_or(0);
                out.truncate(end);
            }
            name => {
                out.push(b'/');
                out.extend_from_slice(name);
            }
        }
    }
    if out.is_empty() {
        out.push(b'/');
    }
    out
}

/// What lies below `root`, without a slash in front; `None` outside. The root itself is empty.
pub(super) fn below<'p>(root: &[u8], path: &'p [u8]) -> Option<&'p [u8]> {
    if root == b"/" {
        return path.strip_prefix(b"/");
    }
    match path.strip_prefix(root)? {
        [] => Some(&[]),
        [b'/', rest @ ..] => Some(rest),
        _ => None,
    }
}

/// The components of a path below the root.
pub(super) fn components(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|b| *b == b'/').filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `realpath -ms` has them.
    #[test]
    fn paths_are_put_together() {
        for (base, path, whole) in [
            ("/a/b", "c", "/a/b/c"),
            ("/a/b", "../c/./d//e/", "/a/c/d/e"),
            ("/a", "/x/../..", "/"),
            ("/a", "../../..", "/"),
            ("", "x", "/x"),
        ] {
            let made = absolute(base.as_bytes(), path.as_bytes());
            assert_eq!(String::from_utf8(made).unwrap(), whole);
        }
        assert_eq!(below(b"/a", b"/a/b"), Some(b"b".as_slice()));
        assert_eq!(below(b"/a", b"/a"), Some(b"".as_slice()));
        assert_eq!(below(b"/a", b"/ab"), None);
        assert_eq!(below(b"/", b"/ab"), Some(b"ab".as_slice()));
    }
}
