//! What a loadfile expects to be there, made before the first pass and, where a pass takes it, again.

use super::tally::Tally;
use super::tokens::is_own;
use super::world::{Kind, Node, World};

/// Pieces in which files are filled, in bytes.
const PIECE: u64 = 1 << 20;
/// Of a larger file the rest is a hole, in bytes.
const MOST_FILLED: u64 = 1 << 30;

/// The PREPARE, and the lines that each pass begins with.
pub(super) fn lines(world: &World, tally: &mut Tally) -> Vec<u8> {
    let mut out = Vec::new();
    for (path, node) in world.start() {
        tally.start += 1;
        if node.kind == Kind::Any {
            tally.bytes += node.size;
        }
        make(path, node, &mut out);
    }
    if !out.is_empty() {
        out = [b"PREPARE\n", out.as_slice(), b"END\n"].concat();
    }
    let mut again = Vec::new();
    for path in world.new_names() {
        again.extend([b"Deltree \"", path, b"\" *\n"].concat());
    }
    let taken: Vec<_> =
        world.start().filter(|(path, node)| !node.untouched && is_own(path)).collect();
    for (path, node) in taken {
        if node.kind != Kind::Dir {
            again.extend([b"Deltree \"", path, b"\" *\n"].concat());
        }
        make(path, node, &mut again);
    }
    tally.restoring = again.split(|byte| *byte == b'\n').count() as u64 - 1;
    out.extend(again);
    out
}

fn make(path: &[u8], node: &Node, out: &mut Vec<u8>) {
    let mut line = |parts: &[&[u8]]| {
        out.extend(parts.concat());
        out.push(b'\n');
    };
    match node.kind {
        Kind::Dir => line(&[b"Mkdir \"", path, b"\" *"]),
        Kind::Link => line(&[b"symlink \"/clients/client1.outside\" \"", path, b"\" *"]),
        Kind::Any => {
            // What all clients share, one must not truncate under another.
            let flags: &[u8] = if is_own(path) { b"|O_TRUNC" } else { b"" };
            line(&[b"open \"", path, b"\" O_WRONLY|O_CREAT", flags, b" 0644 1 NT_STATUS_OK"]);
            let filled = node.size.min(MOST_FILLED);
            for at in (0..filled).step_by(PIECE as usize) {
                let len = PIECE.min(filled - at);
                line(&[format!("WriteX 1 {at} {len} {len} NT_STATUS_OK").as_bytes()]);
            }
            if node.size > filled {
                line(&[format!("ftruncate 1 {} NT_STATUS_OK", node.size).as_bytes()]);
            }
            line(&[b"Close 1 NT_STATUS_OK"]);
        }
    }
}
