//! Which names exist, as far as the lines of a loadfile tell, and which there must have been before the first.

use std::collections::{BTreeMap, HashSet};
use std::ops::Bound;

use super::tokens::{is_own, parent};

/// Bytes that a file is taken to have at most: more than that is on few file systems, and in no recording.
const MOST_BYTES: u64 = 1 << 43;

/// What a name is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// A file, as long as nothing says otherwise.
    #[default]
    Any,
    Dir,
    Link,
}

/// Whether a name exists now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Now {
    There,
    Gone,
    Maybe,
}

/// What is known of a name.
#[derive(Clone, Debug)]
pub(super) struct Node {
    now: Now,
    pub(super) kind: Kind,
    /// Whether it must exist before the first line.
    pub(super) first: bool,
    /// Of such a one: bytes that reads have found.
    pub(super) size: u64,
    /// It is still the one that was there first.
    pub(super) untouched: bool,
    /// Everything in it is known.
    whole: bool,
    /// The lines themselves begin with its removal.
    cleared: bool,
}

/// All names.
#[derive(Debug, Default)]
pub(super) struct World {
    nodes: BTreeMap<Vec<u8>, Node>,
    /// From here on `$0` to `$9` in a name are strings that are drawn anew each time.
    pub(super) has_strings: bool,
}

impl World {
    /// Whether a name exists now; `None` when nothing tells.
    pub(super) fn known(&self, path: &[u8]) -> Option<bool> {
        if self.is_drawn(path) {
            return None;
        }
        if let Some(node) = self.nodes.get(path) {
            return match node.now {
                Now::There => Some(true),
                Now::Gone => Some(false),
                Now::Maybe => None,
            };
        }
        let Some(above) = parent(path) else { return Some(true) };
        match self.nodes.get(above) {
            None => self.known(above).filter(|there| !there),
            Some(node) if node.now == Now::Gone || node.whole => Some(false),
            Some(_) => None,
        }
    }

    fn is_drawn(&self, path: &[u8]) -> bool {
        self.has_strings && path.windows(2).any(|pair| pair[0] == b'$' && pair[1].is_ascii_digit())
    }

    fn insert(&mut self, path: &[u8], now: Now, kind: Kind, first: bool) {
        if self.is_drawn(path) {
            return;
        }
        let whole = !first && kind == Kind::Dir;
        let node = Node { now, kind, first, size: 0, untouched: first, whole, cleared: false };
        self.nodes.insert(path.to_vec(), node);
    }

    fn found_above(&mut self, path: &[u8]) {
        if let Some(above) = parent(path).map(<[u8]>::to_vec) {
            self.found(&above, Kind::Dir);
        }
    }

    /// An operation found a name; `false` if it cannot be there.
    pub(super) fn found(&mut self, path: &[u8], kind: Kind) -> bool {
        if parent(path).is_none() {
            return true;
        }
        if self.known(path) == Some(false) {
            return false;
        }
        match self.nodes.get_mut(path) {
            Some(node) => {
                node.now = Now::There;
                if node.kind == Kind::Any {
                    node.kind = kind;
                }
            }
            None => {
                self.found_above(path);
                self.insert(path, Now::There, kind, true);
            }
        }
        true
    }

    /// An operation did not find a name; `false` if it must be there.
    pub(super) fn missing(&mut self, path: &[u8]) -> bool {
        let known = self.known(path);
        if known.is_none() && !self.nodes.contains_key(path) && parent(path).is_some() {
            self.insert(path, Now::Gone, Kind::Any, false);
        }
        known != Some(true)
    }

    /// A name was made; or was there and is so still.
    pub(super) fn made(&mut self, path: &[u8], kind: Kind) {
        if parent(path).is_none() {
            return;
        }
        self.found_above(path);
        match self.nodes.get_mut(path) {
            Some(node) => {
                node.untouched &= node.now != Now::Gone;
                node.whole = kind == Kind::Dir && node.now == Now::Gone;
                (node.now, node.kind) = (Now::There, kind);
            }
            None => self.insert(path, Now::There, kind, false),
        }
    }

    /// A name was removed.
    pub(super) fn removed(&mut self, path: &[u8], kind: Kind) {
        self.found(path, kind);
        if let Some(node) = self.nodes.get_mut(path) {
            (node.now, node.untouched, node.whole) = (Now::Gone, false, false);
        }
    }

    /// Nobody knows whether a name was removed or made.
    pub(super) fn blurred(&mut self, path: &[u8]) {
        match self.nodes.get_mut(path) {
            Some(node) => (node.now, node.untouched, node.whole) = (Now::Maybe, false, false),
            None if parent(path).is_some() => self.insert(path, Now::Maybe, Kind::Any, false),
            None => {}
        }
    }

    fn below(&self, path: &[u8]) -> Vec<Vec<u8>> {
        let start = [path, b"/"].concat();
        let range =
            self.nodes.range::<[u8], _>((Bound::Included(start.as_slice()), Bound::Unbounded));
        range.map(|(name, _)| name).take_while(|name| name.starts_with(&start)).cloned().collect()
    }

    /// A name and everything below it were removed, if they were there.
    pub(super) fn cleared(&mut self, path: &[u8]) {
        let below = self.below(path);
        let is_first = below.is_empty() && !self.nodes.contains_key(path);
        if is_first && parent(path).is_some() {
            self.insert(path, Now::Gone, Kind::Dir, false);
        }
        for name in below.iter().map(Vec::as_slice).chain([path]) {
            if let Some(node) = self.nodes.get_mut(name) {
                (node.now, node.untouched, node.whole) = (Now::Gone, false, false);
                node.cleared |= is_first;
            }
        }
    }

    /// A name became another one, with everything below it.
    pub(super) fn moved(&mut self, old: &[u8], new: &[u8], kind: Kind) {
        self.found(old, kind);
        let mut pairs = vec![(old.to_vec(), new.to_vec())];
        if !new.starts_with(&[old, b"/"].concat()) {
            let into = |name: &Vec<u8>| [new, &name[old.len()..]].concat();
            pairs.extend(self.below(old).into_iter().map(|name| (name.clone(), into(&name))));
        }
        for (from, to) in pairs {
            let Some(node) = self.nodes.get(&from) else { continue };
            let (now, kind) = (node.now, node.kind);
            self.removed_if_there(&from);
            if now == Now::There {
                self.made(&to, kind);
                if let Some(node) = self.nodes.get_mut(&to) {
                    node.untouched = false;
                }
            }
        }
    }

    fn removed_if_there(&mut self, path: &[u8]) {
        if let Some(node) = self.nodes.get_mut(path) {
            (node.now, node.untouched, node.whole) = (Now::Gone, false, false);
        }
    }

    /// A read found bytes up to `end`.
    pub(super) fn grown(&mut self, path: &[u8], end: u64) {
        if let Some(node) = self.nodes.get_mut(path)
            && node.first
            && node.untouched
        {
            node.size = node.size.max(end.min(MOST_BYTES));
        }
    }

    /// What must exist before the first line, directories before what is in them.
    pub(super) fn start(&self) -> impl Iterator<Item = (&[u8], &Node)> {
        self.nodes.iter().filter(|(_, node)| node.first).map(|(path, node)| (path.as_slice(), node))
    }

    /// What the lines leave behind and do not clear away themselves: the topmost names.
    pub(super) fn new_names(&self) -> Vec<&[u8]> {
        let mut tops: Vec<&[u8]> = Vec::new();
        let mut inside: HashSet<&[u8]> = HashSet::new();
        for (path, node) in &self.nodes {
            // Directories come before what is in them.
            let covered = node.cleared || parent(path).is_some_and(|above| inside.contains(above));
            let is_new = !node.first && node.now != Now::Gone && is_own(path);
            if covered || is_new {
                inside.insert(path);
            }
            if is_new && !covered {
                tops.push(path);
            }
        }
        tops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_first_is_told_from_what_is_made() {
        let mut world = World::default();
        let own = |name: &str| format!("/c/client1/{name}").into_bytes();
        assert_eq!(world.known(&own("a")), None);
        assert!(world.found(&own("a"), Kind::Any) && world.missing(&own("b")));
        world.grown(&own("a"), 70);
        world.made(&own("d"), Kind::Dir);
        // A new directory has nothing in it that nobody made.
        assert_eq!(world.known(&own("d/x/y")), Some(false));
        world.made(&own("d/x"), Kind::Any);
        world.moved(&own("d"), &own("e"), Kind::Dir);
        assert_eq!((world.known(&own("d")), world.known(&own("e/x"))), (Some(false), Some(true)));
        world.removed(&own("a"), Kind::Any);
        assert!(!world.found(&own("a"), Kind::Any) && world.missing(&own("a")));
        let start: Vec<_> = world.start().map(|(path, node)| (path.to_vec(), node.size)).collect();
        assert_eq!(start, [(b"/c".to_vec(), 0), (b"/c/client1".to_vec(), 0), (own("a"), 70)]);
        assert_eq!(world.new_names(), [own("e")]);
    }

    #[test]
    fn a_load_that_clears_its_directory_needs_no_help() {
        let mut world = World::default();
        world.cleared(b"/c/client1");
        assert_eq!(world.known(b"/c/client1/x"), Some(false));
        world.made(b"/c/client1", Kind::Dir);
        world.made(b"/c/client1/x", Kind::Any);
        assert!(world.new_names().is_empty());
    }
}
