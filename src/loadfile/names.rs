//! Paths: checked, normalised, and each different one kept once.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::ast::{Names, Special};
use super::error::{LineResult, fault};
use super::lexer::Token;
use super::pool::Pool;
use super::pool_names;
use super::program::{Draw, PathId, PathSpec, Segment, Wild};

/// Longest path below the run directory in bytes; Linux takes 4095 with the directory in front.
pub(super) const MAX_PATH: usize = 3000;
/// Longest component in bytes, as in Linux.
pub(super) const MAX_COMPONENT: usize = 255;

/// The tree that all clients of a disk share, as a path.
pub(super) const SHARED: &[u8] = b"/SHARED";

const EXPECTED: &str = "a path below the run directory, like \"/clients/client1/file\"";

/// All paths so far, found again by the bytes of their token.
pub(super) struct NameTable<'t> {
    pub(super) names: Names,
    /// By the token as it stands in the text: the quick way.
    raw: HashMap<&'t [u8], PathId, Fast>,
    /// By what the token means: two spellings of a path are one path.
    meant: HashMap<Box<[u8]>, PathId, Fast>,
    /// String slots that a RANDOMSTRING above has given a value.
    defined: [bool; 10],
    /// Pools that a POOL above declares.
    pub(super) pools: Vec<Pool>,
    /// The run directory itself, when some line names it.
    root: Option<PathId>,
    /// The shared tree itself, likewise.
    shared: Option<PathId>,
    /// Whether some path lies in it, or is it.
    pub(super) has_shared: bool,
}

impl<'t> NameTable<'t> {
    pub(super) fn new() -> Self {
        Self {
            names: Names::default(),
            raw: HashMap::default(),
            meant: HashMap::default(),
            defined: [false; 10],
            pools: Vec::new(),
            root: None,
            shared: None,
            has_shared: false,
        }
    }

    /// From here on `$slot` is a string.
    pub(super) fn define(&mut self, slot: u8) {
        let seen = std::mem::replace(&mut self.defined[usize::from(slot)], true);
        if !seen {
            // The same token may mean something else from now on.
            self.raw.clear();
        }
    }

    /// The path that a token names.
    #[inline]
    pub(super) fn path(&mut self, token: Token, line: &'t [u8]) -> LineResult<PathId> {
        let raw = token.raw(line);
        if let Some(&id) = self.raw.get(raw) {
            return Ok(id);
        }
        let id = self.add(&token.text(line), token.at())?;
        self.raw.insert(raw, id);
        Ok(id)
    }

    /// The path of a text that is no token of a line; `None` when it is none.
    pub(super) fn built(&mut self, text: &[u8]) -> Option<PathId> {
        if let Some(&id) = self.meant.get(text) {
            return Some(id);
        }
        self.add(text, 0).ok()
    }

    fn add(&mut self, text: &[u8], at: usize) -> LineResult<PathId> {
        if text.len() > MAX_PATH {
            return fault(
                at,
                format!("the path has {} bytes", text.len()),
                format!("a path of at most {MAX_PATH} bytes"),
            );
        }
        let pieces = self.pieces(text, at)?;
        let key = key(&pieces);
        if let Some(&id) = self.meant.get(&key) {
            return Ok(id);
        }
        pool_names::check_length(&pieces, at)?;
        let first = self.names.segments.len() as u32;
        let (mut wild, mut draw) = (Wild::No, None);
        for piece in &pieces {
            match piece {
                Piece::Literal(bytes) => {
                    if bytes.iter().any(|b| b"<>*?\"".contains(b)) {
                        wild = Wild::Yes;
                    }
                    self.names.push_literal(bytes);
                }
                Piece::Client => self.names.segments.push(Segment::Client),
                Piece::Slot(slot) => {
                    if wild == Wild::No {
                        wild = Wild::Ask;
                    }
                    self.names.segments.push(Segment::Slot(*slot));
                }
                Piece::Drawn(drawn) => {
                    draw = Some(*drawn);
                    self.names.segments.push(Segment::Drawn(*drawn));
                }
            }
        }
        let count = (self.names.segments.len() - first as usize) as u16;
        let id = PathId(self.names.specs.len() as u32);
        self.names.specs.push(PathSpec { first, count, wild, draw });
        match key.as_ref() {
            b"/" => self.root = Some(id),
            SHARED => (self.shared, self.has_shared) = (Some(id), true),
            key => self.has_shared |= is_below(key, SHARED),
        }
        self.meant.insert(key, id);
        Ok(id)
    }

    /// The path's pieces: slashes single, none at the end, one in front.
    pub(super) fn pieces(&self, text: &[u8], at: usize) -> LineResult<Vec<Piece>> {
        if text.is_empty() {
            return fault(at, "an empty path", EXPECTED);
        }
        let mut plain = Vec::with_capacity(text.len() + 1);
        let (mut pieces, text) = self.drawn(text, at)?;
        // What stands right behind a `}` goes on with the name.
        let mut goes_on = !pieces.is_empty();
        for component in text.split(|&b| b == b'/' || b == b'\\') {
            let is_rest = std::mem::take(&mut goes_on);
            if component.is_empty() {
                continue;
            }
            if !self.pools.is_empty() && component.contains(&b'{') {
                return fault(at, "a `{` that does not start the path", pool_names::FIRST);
            }
            if is_rest {
                check_component(&[b"0", component].concat(), at)?;
                self.strings(component, &mut plain, &mut pieces);
                continue;
            }
            check_component(component, at)?;
            plain.push(b'/');
            if component == b"client1" {
                pieces.push(Piece::Literal(std::mem::take(&mut plain)));
                pieces.push(Piece::Client);
            } else {
                self.strings(component, &mut plain, &mut pieces);
            }
        }
        if pieces.is_empty() && plain.is_empty() {
            plain.push(b'/');
        }
        if !plain.is_empty() {
            pieces.push(Piece::Literal(plain));
        }
        Ok(pieces)
    }

    /// Takes text apart at each `$n` whose string exists; any other `$` is text.
    fn strings(&self, text: &[u8], plain: &mut Vec<u8>, pieces: &mut Vec<Piece>) {
        let mut i = 0;
        while i < text.len() {
            let slot = match text[i..] {
                [b'$', digit, ..] if digit.is_ascii_digit() => Some(digit - b'0'),
                _ => None,
            };
            match slot {
                Some(slot) if self.defined[usize::from(slot)] => {
                    if !plain.is_empty() {
                        pieces.push(Piece::Literal(std::mem::take(plain)));
                    }
                    pieces.push(Piece::Slot(slot));
                    i += 2;
                }
                _ => {
                    plain.push(text[i]);
                    i += 1;
                }
            }
        }
    }

    /// A number that contains `$n`; `None` when there is none in it or it cannot be a number.
    pub(super) fn number_text(&mut self, text: &[u8]) -> Option<Special> {
        let (mut plain, mut pieces) = (Vec::new(), Vec::new());
        if text.len() > MAX_COMPONENT {
            return None;
        }
        self.strings(text, &mut plain, &mut pieces);
        if pieces.is_empty() {
            return None;
        }
        pieces.push(Piece::Literal(plain));
        let good = |piece: &Piece| match piece {
            Piece::Literal(bytes) => bytes.iter().all(u8::is_ascii_alphanumeric),
            _ => true,
        };
        if !pieces.iter().all(good) {
            return None;
        }
        let first = self.names.segments.len();
        for piece in &pieces {
            match piece {
                Piece::Literal(bytes) => self.names.push_literal(bytes),
                Piece::Client | Piece::Drawn(_) => {}
                Piece::Slot(slot) => self.names.segments.push(Segment::Slot(*slot)),
            }
        }
        let count = (self.names.segments.len() - first) as u16;
        Some(Special::Text { first: first as u32, count })
    }

    /// Whether a path has a string in it, so that it must be looked at once all are known.
    pub(super) fn has_string(&self, id: PathId) -> bool {
        self.names.path(id).iter().any(|s| matches!(s, Segment::Slot(_)))
    }

    /// What the run makes and a load can only look at, if the path is that.
    pub(super) fn of_the_run(&self, id: PathId) -> Option<&'static str> {
        let is = |fixed: Option<PathId>| fixed == Some(id);
        if is(self.root) {
            Some("the run directory")
        } else {
            is(self.shared).then_some("the shared tree")
        }
    }
}

pub(super) enum Piece {
    Literal(Vec<u8>),
    Client,
    Slot(u8),
    Drawn(Draw),
}

/// Whether a path, or its text, lies below a directory.
pub(super) fn is_below(path: &[u8], dir: &[u8]) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.first() == Some(&b'/'))
}

/// One spelling for one meaning. Literals have no NUL, so NUL can mark the rest.
pub(super) fn key(pieces: &[Piece]) -> Box<[u8]> {
    let mut key = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Literal(bytes) => key.extend_from_slice(bytes),
            Piece::Client => key.extend_from_slice(&[0, u8::MAX]),
            Piece::Slot(slot) => key.extend_from_slice(&[0, *slot]),
            Piece::Drawn(Draw { pool, pick }) => {
                key.extend_from_slice(&[0, b'p', *pool]);
                key.extend_from_slice(pick.sign());
                key.push(0);
            }
        }
    }
    key.into()
}

fn check_component(component: &[u8], at: usize) -> LineResult<()> {
    if component == b"." || component == b".." {
        return fault(at, "`.` and `..` would lead out of the run directory", EXPECTED);
    }
    if component.contains(&0) {
        return fault(at, "a NUL byte in a path", EXPECTED);
    }
    if component.len() > MAX_COMPONENT {
        return fault(
            at,
            format!("a component of the path has {} bytes", component.len()),
            format!("components of at most {MAX_COMPONENT} bytes"),
        );
    }
    Ok(())
}

/// A hash for short byte strings, some five times as fast as the standard one.
type Fast = BuildHasherDefault<FastHasher>;

#[derive(Default)]
struct FastHasher(u64);

impl FastHasher {
    fn mix(&mut self, word: u64) {
        // The odd constant is 2^64 divided by the golden ratio.
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for FastHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.mix(u64::from_le_bytes(last));
    }

    fn write_usize(&mut self, len: usize) {
        self.mix(len as u64);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}
