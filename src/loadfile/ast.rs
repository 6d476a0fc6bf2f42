//! The syntax tree: what the lines of a loadfile say, in their order, nothing resolved but names.
//!
//! It borrows nothing from the text. Blank lines, comments, spelling and spacing are gone:
//! module `print` writes the one canonical text of a tree.

use super::pool::Pool;
use super::program::{Expect, Mod, Operand, PathId, PathSpec, Program, Segment, Template};
use super::texts::Texts;
use crate::op::OpKind;

/// A parsed loadfile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ast {
    /// The lines that say something.
    pub lines: Vec<Line>,
    /// The paths that lines name.
    pub names: Names,
    /// Numbers that are not literals: an [`super::program::ExprId`] in this tree indexes them.
    pub specials: Vec<Special>,
    /// Texts of RANDOMSTRING lines.
    pub templates: Vec<Template>,
    /// Texts of WRITEPATTERN lines, line end included.
    pub patterns: Vec<Box<[u8]>>,
    /// Arguments that are text: their operands are numbers in this list.
    pub texts: Texts,
    /// Names of PHASE lines.
    pub phases: Vec<Box<str>>,
    /// What POOL lines declare.
    pub pools: Vec<Pool>,
    /// Whether a path lies in the tree that a disk's clients share.
    pub shared: bool,
}

/// One line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Its number, from 1.
    pub number: u32,
    /// Its timestamp in nanoseconds, or [`Program::NO_TIME`].
    pub time: u64,
    /// What it says.
    pub node: Node,
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {
    /// An operation.
    Op(Op),
    /// `Sleep` and `SLEEP`.
    Pause(Operand),
    /// `LOOP n`.
    Loop(u32),
    /// `ENDLOOP`.
    EndLoop,
    /// `REPEAT n`, for the line that follows.
    Repeat(u32),
    /// `SETSP n`.
    SetSp(Operand),
    /// `WAITSP child n`.
    WaitSp(Operand, Operand),
    /// `WRITEPATTERN`: index in [`Ast::patterns`].
    WritePattern(u32),
    /// `RANDOMSTRING`: slot, and index in [`Ast::templates`].
    RandomString(u8, u32),
    /// `PREPARE`: what stands up to its END is no part of a pass.
    Prepare,
    /// The END of a PREPARE.
    EndPrepare,
    /// `POOL`: index in [`Ast::pools`].
    Pool(u32),
    /// `PHASE name`: index in [`Ast::phases`].
    Phase(u32),
    /// `CHOOSE weight`, up to its [`Node::EndBlock`].
    Choose(u32),
    /// `SHUFFLE runs`, up to its [`Node::EndBlock`].
    Shuffle(u32),
    /// The END of a CHOOSE or SHUFFLE.
    EndBlock,
}

/// An operation's line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Op {
    /// Which one.
    pub kind: OpKind,
    /// The status at its end.
    pub expect: Expect,
    /// Its paths; as many as its signature has.
    pub paths: [PathId; 2],
    /// Its numbers; as many as its signature has.
    pub numbers: [Operand; 4],
}

/// A number that is not a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Special {
    /// `*` and its changes.
    Random(Box<[Mod]>),
    /// `+n`.
    Previous(i64),
    /// `+child`.
    Child,
    /// `+num_children`.
    Children,
    /// Spelled with `$n`: segments of [`Names::segments`].
    Text {
        /// First index.
        first: u32,
        /// Number of segments.
        count: u16,
    },
}

/// Paths, laid out as in a [`Program`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    /// One for each different path.
    pub specs: Vec<PathSpec>,
    /// Segments of all.
    pub segments: Vec<Segment>,
    /// Literal bytes of all.
    pub bytes: Vec<u8>,
}

impl Names {
    /// Segments of a path.
    #[must_use]
    pub fn path(&self, id: PathId) -> &[Segment] {
        let spec = self.specs[id.0 as usize];
        self.range(spec.first, spec.count)
    }

    /// `count` segments from index `first` on.
    #[must_use]
    pub fn range(&self, first: u32, count: u16) -> &[Segment] {
        let first = first as usize;
        &self.segments[first..first + usize::from(count)]
    }

    /// Bytes of a literal segment.
    #[must_use]
    pub fn literal(&self, start: u32, len: u16) -> &[u8] {
        let start = start as usize;
        &self.bytes[start..start + usize::from(len)]
    }

    /// Adds literal bytes.
    pub(super) fn push_literal(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        // The text has at most 1 GiB and a segment at most a path's length.
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        self.segments.push(Segment::Literal { start, len: bytes.len() as u16 });
    }
}

impl Line {
    pub(super) fn new(number: u32, time: Option<u64>, node: Node) -> Self {
        Self { number, time: time.unwrap_or(Program::NO_TIME), node }
    }
}
