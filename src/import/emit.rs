//! Lines of the load: names of files, and a tree that is printed in pieces.

use std::collections::HashMap;

use crate::loadfile::ast::Node;
use crate::loadfile::build::Builder;
use crate::loadfile::program::Expect;
use crate::op::OpKind;

use super::place;

/// Lines after which a tree is printed, so that a long load is never in memory as a whole.
const PIECE: usize = 50_000;
/// What the recording's root becomes.
const BASE: &[u8] = b"/clients/client1";
/// Where links lead that lead out of the root.
const NOWHERE: &[u8] = b"/clients/client1.outside";

/// Where text goes.
pub(super) type Sink<'s> = dyn FnMut(&[u8]) -> std::io::Result<()> + 's;

/// Names of the recording, as the load spells them.
#[derive(Debug, Default)]
pub(super) struct Names {
    hide: bool,
    known: HashMap<Box<[u8]>, Box<[u8]>>,
    /// How many had to be changed because a loadfile cannot hold them.
    pub(super) changed: u64,
}

impl Names {
    pub(super) fn new(hide: bool) -> Self {
        Self { hide, ..Self::default() }
    }

    /// The load's path for one below the root.
    pub(super) fn path(&mut self, path: &[u8]) -> Vec<u8> {
        let mut out = BASE.to_vec();
        for name in place::components(path) {
            out.push(b'/');
            self.push(name, &mut out);
        }
        out
    }

    fn push(&mut self, name: &[u8], out: &mut Vec<u8>) {
        let odd = |byte: &u8| byte.is_ascii_control() || matches!(byte, b'"' | b'\\');
        let kept = !self.hide && name != b"client1" && !name.iter().any(odd);
        if kept {
            return out.extend_from_slice(name);
        }
        if let Some(other) = self.known.get(name) {
            return out.extend_from_slice(other);
        }
        let number = self.known.len() as u64;
        let other = if self.hide { hidden(number, name.len()) } else { stand_in(number) };
        self.changed += u64::from(!self.hide);
        out.extend_from_slice(&other);
        self.known.insert(name.into(), other.into());
    }
}

/// A name that tells nothing but its length and whether it is another one's: the how manieth, filled
/// up with underscores. A short one becomes longer where there are too many.
fn hidden(number: u64, len: usize) -> Vec<u8> {
    let mut digits = Vec::new();
    let mut rest = number;
    loop {
        digits.push(b"0123456789abcdefghijklmnopqrstuvwxyz"[(rest % 36) as usize]);
        rest /= 36;
        if rest == 0 {
            break;
        }
    }
    digits.reverse();
    let mut name = vec![b'_'; len.min(255).saturating_sub(digits.len())];
    name.extend_from_slice(&digits);
    name
}

fn stand_in(number: u64) -> Vec<u8> {
    format!("jbodbench-name-{number}").into_bytes()
}

/// Prints a load piece by piece.
pub(super) struct Printer<'s> {
    builder: Builder,
    sink: &'s mut Sink<'s>,
    /// The first error of the sink; nothing is printed after it.
    pub(super) failed: std::io::Result<()>,
    /// Operations so far.
    pub(super) ops: u64,
}

impl<'s> Printer<'s> {
    pub(super) fn new(sink: &'s mut Sink<'s>) -> Self {
        Self { builder: Builder::default(), sink, failed: Ok(()), ops: 0 }
    }

    /// An operation; `false` when a loadfile cannot say it.
    pub(super) fn op(
        &mut self,
        kind: OpKind,
        paths: &[&[u8]],
        numbers: &[i64],
        expect: Expect,
    ) -> bool {
        let added = self.builder.op(kind, paths, numbers, expect);
        self.ops += u64::from(added);
        if self.builder.len() >= PIECE {
            self.flush();
        }
        added
    }

    pub(super) fn node(&mut self, node: Node) {
        self.builder.push(node);
    }

    /// A comment.
    pub(super) fn comment(&mut self, text: &str) {
        self.flush();
        let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.write(format!("# {line}\n").as_bytes());
    }

    fn write(&mut self, piece: &[u8]) {
        if self.failed.is_ok() {
            self.failed = (self.sink)(piece);
        }
    }

    /// Prints what there is.
    pub(super) fn flush(&mut self) {
        let tree = self.builder.take();
        let mut text = Vec::new();
        tree.write_canonical(|piece| text.extend_from_slice(piece));
        self.write(&text);
    }
}

/// What a link to an absolute path has to lead to in the load, if `inside` says where below the root.
pub(super) fn link_target(names: &mut Names, inside: Option<&[u8]>) -> Vec<u8> {
    inside.map_or_else(|| NOWHERE.to_vec(), |path| names.path(path))
}
