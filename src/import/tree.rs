//! The file tree while the recording goes on, and what it must have been at the start.
//!
//! Nobody has looked at the tree before the recording: the first call on a name tells whether it
//! was there. So a name in a directory that was there already is [`Kind::Unknown`] until then; in a
//! directory that the recording made, a name that it did not make is not there.

use std::collections::HashMap;

use super::place;

/// A node: an index in [`Tree::nodes`].
pub(super) type Id = usize;

/// The directory that the recording is mapped from.
pub(super) const ROOT: Id = 0;
/// Links that a walk follows, as in Linux.
const MOST_LINKS: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nobody has said.
    Unknown,
    /// It is not there.
    Absent,
    /// It is there; what it is, nobody has said.
    Exists,
    Dir,
    File,
    /// A symbolic link, to an absolute path where that is known.
    Link(Option<Vec<u8>>),
    /// A device, a socket, a pipe: not part of a load.
    Other,
}

/// What is known of a node's data.
#[derive(Clone, Debug, Default)]
pub(super) struct Data {
    /// Its size at the start, as far as calls have shown.
    pub(super) start: u64,
    /// How far it has been written; its size, if `exact`.
    pub(super) written: u64,
    pub(super) exact: bool,
    /// Made by an open that may as well have found it, and not touched since.
    pub(super) undecided: bool,
    /// Whether its data was read, and so has to be there.
    pub(super) read: bool,
    /// Whether its size is another than at the start.
    pub(super) changed: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Directory and name at the start, if it was there.
    pub(super) origin: Option<(Id, Box<[u8]>)>,
    /// Whether the recording made it.
    made: bool,
    pub(super) children: HashMap<Box<[u8]>, Id>,
    pub(super) data: Data,
    /// Permission bits at the start, and whether they were changed.
    pub(super) mode: Option<u32>,
    pub(super) mode_changed: bool,
}

impl Node {
    fn new(kind: Kind, made: bool) -> Self {
        Self {
            kind,
            origin: None,
            made,
            children: HashMap::new(),
            data: Data::default(),
            mode: None,
            mode_changed: false,
        }
    }

    pub(super) fn is_there(&self) -> bool {
        !matches!(self.kind, Kind::Unknown | Kind::Absent)
    }
}

/// Where a walk ended.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) node: Id,
    pub(super) parent: Id,
    pub(super) name: Box<[u8]>,
    /// The directories above it, from the root on.
    above: Vec<Id>,
}

impl Spot {
    /// The directories above it, from the root on.
    pub(super) fn above(&self) -> &[Id] {
        &self.above
    }
}

/// Why a walk led to no spot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// Through a link out of the root.
    Outside,
    /// Through a link of which nobody knows where it leads.
    Blind,
    /// Around in circles.
    Loop,
}

#[derive(Debug)]
pub(super) struct Tree {
    pub(super) nodes: Vec<Node>,
    root: Vec<u8>,
}

impl Tree {
    pub(super) fn new(root: &[u8]) -> Self {
        Self { nodes: vec![Node::new(Kind::Dir, false)], root: root.to_vec() }
    }

    /// Walks to a path below the root.
    pub(super) fn walk(&mut self, path: &[u8], follow: bool) -> Result<Spot, Lost> {
        let mut path = path.to_vec();
        for _ in 0..MOST_LINKS {
            match self.walk_once(&path, follow) {
                Ok(spot) => return Ok(spot),
                Err(Ok(onwards)) => path = onwards,
                Err(Err(lost)) => return Err(lost),
            }
        }
        Err(Lost::Loop)
    }

    /// A spot, or the path that a link on the way makes of it.
    fn walk_once(&mut self, path: &[u8], follow: bool) -> Result<Spot, Result<Vec<u8>, Lost>> {
        let mut spot = Spot { node: ROOT, parent: ROOT, name: Box::default(), above: Vec::new() };
        let mut names = place::components(path).peekable();
        let mut walked = self.root.clone();
        while let Some(name) = names.next() {
            spot.above.push(spot.node);
            spot.parent = spot.node;
            spot.name = name.into();
            spot.node = self.child(spot.parent, name);
            if let Kind::Link(target) = &self.nodes[spot.node].kind
                && (follow || names.peek().is_some())
            {
                let target = target.as_ref().ok_or(Err(Lost::Blind))?;
                let mut whole = place::absolute(&walked, target);
                for name in names {
                    whole.push(b'/');
                    whole.extend_from_slice(name);
                }
                let inside = place::below(&self.root, &whole).ok_or(Err(Lost::Outside))?;
                return Err(Ok(inside.to_vec()));
            }
            walked.push(b'/');
            walked.extend_from_slice(name);
        }
        Ok(spot)
    }

    /// What a name in a directory stands for.
    fn child(&mut self, dir: Id, name: &[u8]) -> Id {
        if let Some(&id) = self.nodes[dir].children.get(name) {
            return id;
        }
        let closed = self.nodes[dir].made || self.nodes[dir].kind == Kind::Absent;
        let id = self.add(Node::new(if closed { Kind::Absent } else { Kind::Unknown }, closed));
        self.nodes[dir].children.insert(name.into(), id);
        id
    }

    fn add(&mut self, node: Node) -> Id {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Whether it can be that a directory above is none.
    pub(super) fn has_no_way(&self, spot: &Spot) -> bool {
        let no_dir = |id: &Id| !matches!(self.nodes[*id].kind, Kind::Unknown | Kind::Dir);
        spot.above.iter().any(no_dir)
    }

    /// All above it are directories; those that nobody knew of were there from the start.
    pub(super) fn settle_way(&mut self, spot: &Spot) -> bool {
        let good =
            |id: &Id| matches!(self.nodes[*id].kind, Kind::Unknown | Kind::Exists | Kind::Dir);
        if !spot.above.iter().all(good) {
            return false;
        }
        for pair in spot.above.windows(2) {
            let (parent, id) = (pair[0], pair[1]);
            if self.nodes[id].kind == Kind::Unknown {
                let name = self.name_in(parent, id);
                self.nodes[id].origin = Some((parent, name));
            }
            self.nodes[id].kind = Kind::Dir;
        }
        true
    }

    fn name_in(&self, dir: Id, id: Id) -> Box<[u8]> {
        let found = self.nodes[dir].children.iter().find(|(_, child)| **child == id);
        found.map(|(name, _)| name.clone()).unwrap_or_default()
    }

    /// Something is there, of a kind if `kind` is more than [`Kind::Exists`]. `false` when that
    /// contradicts what is known.
    pub(super) fn settle(&mut self, spot: &Spot, kind: Kind) -> bool {
        if !self.settle_way(spot) {
            return false;
        }
        let node = &mut self.nodes[spot.node];
        match (&node.kind, &kind) {
            (Kind::Absent, _) => return false,
            (Kind::Unknown, _) => {
                node.kind = kind;
                node.origin = Some((spot.parent, spot.name.clone()));
            }
            (Kind::Exists, _) => node.kind = kind,
            (Kind::Link(None), Kind::Link(Some(_))) => node.kind = kind,
            (_, Kind::Exists) | (Kind::Link(_), Kind::Link(_)) => {}
            (known, said) if known == said => {}
            _ => return false,
        }
        true
    }

    /// Nothing is there. `false` when that contradicts what is known.
    pub(super) fn refuse(&mut self, spot: &Spot) -> bool {
        let way = |id: &Id| matches!(self.nodes[*id].kind, Kind::Absent);
        if spot.above.iter().any(way) {
            return true;
        }
        let node = &mut self.nodes[spot.node];
        if node.kind == Kind::Unknown {
            node.kind = Kind::Absent;
        }
        node.kind == Kind::Absent
    }

    /// A new node where there is none; `None` when there is one.
    pub(super) fn make(&mut self, spot: &Spot, kind: Kind) -> Option<Id> {
        let free = matches!(self.nodes[spot.node].kind, Kind::Unknown | Kind::Absent);
        if !free || !self.settle_way(spot) {
            return None;
        }
        let mut node = Node::new(kind, true);
        node.data.exact = true;
        let id = self.add(node);
        self.put(spot.parent, &spot.name, id);
        Some(id)
    }

    /// As [`Tree::make`] of a file that may have been there, too.
    pub(super) fn make_undecided(&mut self, spot: &Spot) -> Option<Id> {
        let maybe = self.nodes[spot.node].kind == Kind::Unknown;
        let id = self.make(spot, Kind::File)?;
        self.nodes[id].data.undecided = maybe;
        if maybe {
            self.nodes[id].origin = Some((spot.parent, spot.name.clone()));
        }
        Some(id)
    }

    fn put(&mut self, dir: Id, name: &[u8], id: Id) {
        self.nodes[dir].children.insert(name.into(), id);
    }

    /// A name is gone.
    pub(super) fn remove(&mut self, spot: &Spot) {
        let gone = self.add(Node::new(Kind::Absent, true));
        self.put(spot.parent, &spot.name, gone);
    }

    /// A second name.
    pub(super) fn link(&mut self, node: Id, to: &Spot) {
        self.put(to.parent, &to.name, node);
    }

    /// Another name.
    pub(super) fn rename(&mut self, from: &Spot, to: &Spot) {
        self.remove(from);
        self.put(to.parent, &to.name, from.node);
    }

    /// Each gets the name of the other.
    pub(super) fn exchange(&mut self, one: &Spot, other: &Spot) {
        self.put(one.parent, &one.name, other.node);
        self.put(other.parent, &other.name, one.node);
    }

    /// Whether a directory has an entry that is known.
    pub(super) fn has_entries(&self, dir: Id) -> bool {
        self.nodes[dir].children.values().any(|id| self.nodes[*id].is_there())
    }

    /// Whether it was there at the start.
    pub(super) fn was_there(&self, id: Id) -> bool {
        let node = &self.nodes[id];
        node.origin.is_some() && !node.data.undecided
    }

    /// The path at the start of what was there, below the root.
    pub(super) fn start_path(&self, id: Id) -> Vec<u8> {
        let mut names: Vec<&[u8]> = Vec::new();
        let mut at = id;
        while let Some((parent, name)) = &self.nodes[at].origin {
            names.push(name);
            at = *parent;
        }
        names.reverse();
        names.join(&b'/')
    }
}
