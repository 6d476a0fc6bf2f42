//! Paths that draw from a pool: `{name}` and what follows it.

use super::error::{LineResult, fault};
use super::names::{MAX_COMPONENT, MAX_PATH, NameTable, Piece, key};
use super::pool::{MAX_DIGITS, Order, Pool, collide, split_sign};
use super::program::{Draw, Pick, Segment};

/// Where a name that is drawn stands.
pub(super) const FIRST: &str =
    "{name} in front: it stands for the pool's whole path; as in \"{name}/file\"";
const PATH: &str =
    "a path up to the number of its names, like \"/clients/client1/file\", that draws from no pool";

impl NameTable<'_> {
    /// The path of the pool that a text starts with and its number, then the rest of the text.
    pub(super) fn drawn<'a>(
        &self,
        text: &'a [u8],
        at: usize,
    ) -> LineResult<(Vec<Piece>, &'a [u8])> {
        let start = text.iter().position(|b| !matches!(b, b'/' | b'\\')).unwrap_or(0);
        if self.pools.is_empty() || text[start] != b'{' {
            return Ok((Vec::new(), text));
        }
        let inside = &text[start + 1..];
        let Some(len) = inside.iter().position(|&b| b == b'}') else {
            return fault(at, "this `{` is not closed", "{name}, {name+}, {name-} or {name=}");
        };
        let (name, pick) = split_sign(&inside[..len]);
        let Some(pool) = self.pools.iter().position(|pool| *pool.name == *name) else {
            let message = format!("there is no pool `{}`", name.escape_ascii());
            return fault(at, message, format!("one of {}", self.pool_names()));
        };
        let mut pieces = self.pieces_of(&self.pools[pool]);
        // There are at most 100.
        pieces.push(Piece::Drawn(Draw { pool: pool as u8, pick }));
        Ok((pieces, &inside[len + 1..]))
    }

    fn pool_names(&self) -> String {
        let names = self.pools.iter().map(|pool| pool.name.escape_ascii().to_string());
        names.collect::<Vec<_>>().join(", ")
    }

    fn pieces_of(&self, pool: &Pool) -> Vec<Piece> {
        let piece = |segment: &Segment| match *segment {
            Segment::Literal { start, len } => {
                Piece::Literal(self.names.literal(start, len).to_vec())
            }
            Segment::Slot(slot) => Piece::Slot(slot),
            Segment::Client => Piece::Client,
            Segment::Drawn(draw) => Piece::Drawn(draw),
        };
        self.names.range(pool.first, pool.segments).iter().map(piece).collect()
    }

    /// Adds a pool; its names are a path followed by a number.
    pub(super) fn define_pool(
        &mut self,
        name: &[u8],
        count: u32,
        order: Order,
        path: &[u8],
        at: usize,
    ) -> LineResult<()> {
        if path.contains(&b'{') || matches!(path.last(), Some(b'/' | b'\\')) {
            return fault(at, "not how the names of a pool can begin", PATH);
        }
        let mut pieces = self.pieces(path, at)?;
        // The numbers of the client and of the name would run together.
        if matches!(pieces.last(), Some(Piece::Client)) {
            return fault(at, "a number right behind `client1`", PATH);
        }
        let own = key(&pieces);
        for pool in &self.pools {
            if collide((&own, count), (&key(&self.pieces_of(pool)), pool.count)) {
                let message = format!("names of the pool {} among these", pool.name.escape_ascii());
                return fault(at, message, "names that no other pool has");
            }
        }
        pieces.push(Piece::Drawn(Draw { pool: 0, pick: Pick::Existing }));
        check_length(&pieces, at)?;
        pieces.pop();
        let first = self.names.segments.len();
        for piece in &pieces {
            match piece {
                Piece::Literal(bytes) => self.names.push_literal(bytes),
                Piece::Client => self.names.segments.push(Segment::Client),
                Piece::Slot(_) | Piece::Drawn(_) => {}
            }
        }
        let segments = (self.names.segments.len() - first) as u16;
        self.pools.push(Pool { name: name.into(), count, first: first as u32, segments, order });
        Ok(())
    }
}

/// Refuses a drawn name that can become too long; all else has been looked at, or will be once the
/// strings are known.
pub(super) fn check_length(pieces: &[Piece], at: usize) -> LineResult<()> {
    let (mut drawn, mut total, mut component) = (false, 0, 0);
    let mut longest = 0;
    for piece in pieces {
        match piece {
            Piece::Literal(bytes) => {
                total += bytes.len();
                for byte in bytes {
                    component = if *byte == b'/' { 0 } else { component + 1 };
                    longest = longest.max(component);
                }
            }
            Piece::Client => total += "client1000000".len(),
            Piece::Slot(_) => {}
            Piece::Drawn(_) => {
                drawn = true;
                (total, component) = (total + MAX_DIGITS, component + MAX_DIGITS);
                longest = longest.max(component);
            }
        }
    }
    if drawn && (longest > MAX_COMPONENT || total > MAX_PATH) {
        let expected = format!(
            "components of at most {MAX_COMPONENT} and a path of at most {MAX_PATH} bytes, the \
             pool's path and six digits included"
        );
        return fault(at, "this path can become too long", expected);
    }
    Ok(())
}
