//! What a loadfile compiles to: an immutable instruction list, shared by all clients.
//!
//! Nothing here is text that has to be looked at again. Paths are lists of segments that are
//! rendered into a buffer of the client's, numbers are literals or small expressions, handles are
//! dense slots. The memory a client needs does not grow with the number of names.

use std::ops::Range;

pub use super::group::{Block, Group, Kind};
pub use super::operand::{Expr, HandleRef, Mod, Operand, OperandKind, Register};
pub use super::phase::Phase;
pub use super::pool::{Draw, Order, Pick, Pool};
pub use super::segment::{PathSpec, Piece, Segment, Template, Wild};
use crate::op::OpKind;

/// Index of a path in [`Program::paths`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PathId(pub u32);

/// Index of an expression in [`Program::exprs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExprId(pub u32);

/// Index of an instruction in [`Program::insts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pc(pub u32);

/// A compiled loadfile.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Program {
    /// Name to show: the file's path, or `default` for the embedded load.
    pub name: String,
    /// SHA-256 of the canonical text, lower-case hex: equal for files that do equal work.
    pub sha256: String,
    /// Instructions in order: those of PREPARE, then those of one pass.
    pub insts: Box<[Inst]>,
    /// Where a pass starts; 0 without a PREPARE.
    pub start: Pc,
    /// Start time of each instruction in nanoseconds after the start of the pass, or
    /// [`Program::NO_TIME`]; `None` when no line has a timestamp.
    pub times: Option<Box<[u64]>>,
    /// Paths that instructions name.
    pub paths: Box<[PathSpec]>,
    /// Segments of all paths and of numbers that contain `$n`.
    pub segments: Box<[Segment]>,
    /// Literal bytes of all segments.
    pub bytes: Box<[u8]>,
    /// Numbers that are not literals.
    pub exprs: Box<[Expr]>,
    /// What `+n` refers to: see [`Register`].
    pub registers: Box<[Register]>,
    /// Handle number of each slot, as the loadfile spells it, in ascending order.
    pub handles: Box<[i64]>,
    /// What RANDOMSTRING lines make.
    pub templates: Box<[Template]>,
    /// What WRITEPATTERN lines fill the write buffer with; never empty ones.
    pub patterns: Box<[Box<[u8]>]>,
    /// What arguments that are text give the kernel: names of extended attributes, ACLs.
    pub texts: Box<[Box<[u8]>]>,
    /// Sets of names that paths draw from.
    pub pools: Box<[Pool]>,
    /// Deepest nesting of loops.
    pub loop_depth: usize,
    /// Largest length in bytes that a WriteX, or another word that takes its buffer, can ask for.
    pub max_write: u64,
    /// Largest length in bytes that a ReadX, or another word that fills its buffer, can ask for.
    pub max_read: u64,
    /// Whether a path lies in the tree that all clients of a disk share, which the run then makes.
    pub shared: bool,
    /// The phases of a pass, in their order.
    pub phases: Box<[Phase]>,
    /// Groups of blocks, CHOOSE and SHUFFLE.
    pub groups: Box<[Group]>,
}

/// One instruction. Kept small: a long loadfile has half a million of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inst {
    /// What to do.
    pub action: Action,
    /// The status that the line expects.
    pub expect: Expect,
    /// Line number in the loadfile, from 1.
    pub line: u32,
    /// The operation to count, `None` for control instructions.
    pub op: Option<OpKind>,
    /// Whether operands of this instruction are stored in registers (some `+n` refers to them).
    pub records: bool,
}

/// The outcome that a line expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Expect {
    /// `NT_STATUS_OK`, `0x0`, `SUCCESS`.
    Success,
    /// `*`.
    Any,
    /// Any other status.
    Failure,
    /// An errno name: exactly this error.
    Errno(u16),
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Remove a tree.
    Deltree {
        /// Its root.
        path: PathId,
    },
    /// Create a directory.
    Mkdir {
        /// Its path.
        path: PathId,
    },
    /// Remove a directory.
    Rmdir {
        /// Its path.
        path: PathId,
    },
    /// Open or create.
    Create {
        /// The file's path.
        path: PathId,
        /// NT create options; bit 0x1 means directory.
        options: Operand,
        /// NT create disposition, 0 to 5.
        disposition: Operand,
        /// The handle it gets.
        handle: HandleRef,
    },
    /// Close a handle.
    Close {
        /// The handle.
        handle: HandleRef,
    },
    /// Write.
    Write {
        /// The handle.
        handle: HandleRef,
        /// Offset in bytes.
        offset: Operand,
        /// Length in bytes.
        len: Operand,
        /// Bytes that shall be written (`ret_size`).
        want: Operand,
    },
    /// Read.
    Read {
        /// The handle.
        handle: HandleRef,
        /// Offset in bytes.
        offset: Operand,
        /// Length in bytes.
        len: Operand,
        /// Bytes that shall be read (`ret_size`).
        want: Operand,
    },
    /// fsync.
    Flush {
        /// The handle.
        handle: HandleRef,
    },
    /// Rename.
    Rename {
        /// Old path.
        old: PathId,
        /// New path.
        new: PathId,
    },
    /// Unlink.
    Unlink {
        /// The file's path.
        path: PathId,
    },
    /// Take a lock, waiting for it.
    Lock {
        /// The handle.
        handle: HandleRef,
        /// First byte.
        offset: Operand,
        /// Length in bytes.
        len: Operand,
    },
    /// Release a lock.
    Unlock {
        /// The handle.
        handle: HandleRef,
        /// First byte.
        offset: Operand,
        /// Length in bytes.
        len: Operand,
    },
    /// FIND_FIRST.
    Find {
        /// Pattern, below a directory.
        path: PathId,
        /// Number of entries to read at most.
        max: Operand,
    },
    /// stat.
    QueryPath {
        /// The path.
        path: PathId,
    },
    /// fstat.
    QueryFile {
        /// The handle.
        handle: HandleRef,
    },
    /// statfs.
    QueryFs,
    /// Set time stamps.
    SetFile {
        /// The handle.
        handle: HandleRef,
    },
    /// open.
    Open {
        /// The path.
        path: PathId,
        /// `O_*` flags.
        flags: i32,
        /// Permission bits of a new file.
        mode: u32,
        /// The handle it gets.
        handle: HandleRef,
    },
    /// The one call that the operation is, on a path: see [`crate::op::Word::call`].
    OnPath {
        /// The path.
        path: PathId,
        /// Its numbers; those that its row does not have are 0.
        numbers: [Operand; 3],
    },
    /// The one call that the operation is, on two paths.
    OnPaths {
        /// The first path.
        path: PathId,
        /// The second path.
        second: PathId,
        /// Its number, 0 if it has none.
        number: Operand,
    },
    /// The one call that the operation is, on a handle.
    OnHandle {
        /// The handle.
        handle: HandleRef,
        /// Its numbers behind the handle.
        numbers: [Operand; 3],
    },
    /// `Sleep` and `SLEEP`: not an operation, nothing is measured.
    Pause {
        /// Microseconds.
        micros: Operand,
    },
    /// Start of a loop: run the body `count` times (at least 1).
    LoopStart {
        /// Rounds.
        count: u32,
        /// Its [`Action::LoopEnd`].
        end: Pc,
    },
    /// End of a loop body.
    LoopEnd {
        /// Its [`Action::LoopStart`].
        start: Pc,
    },
    /// Start of a group of blocks: go to the first one that is drawn.
    Enter {
        /// Index in [`Program::groups`].
        group: u32,
    },
    /// End of a block: go to the next one that is drawn, or behind the group.
    Leave {
        /// Index in [`Program::groups`].
        group: u32,
    },
    /// SETSP: publish the client's synchronisation point.
    SetSp {
        /// The value.
        value: Operand,
    },
    /// WAITSP: wait until another client's point has reached a value.
    WaitSp {
        /// Client number within the disk.
        child: Operand,
        /// The value to reach.
        value: Operand,
    },
    /// WRITEPATTERN: what writes write from here on.
    WritePattern {
        /// Index in [`Program::patterns`].
        pattern: u32,
    },
    /// RANDOMSTRING: give string slot `slot` a new value.
    RandomString {
        /// Slot 0 to 9.
        slot: u8,
        /// Index in [`Program::templates`].
        template: u32,
    },
    /// PHASE: wait until all clients of the run have come here.
    Phase {
        /// Index in [`Program::phases`] of the one that begins.
        phase: u16,
    },
}

impl Program {
    /// In [`Program::times`]: this instruction has no timestamp.
    pub const NO_TIME: u64 = u64::MAX;
    /// Longest value of a string slot in bytes.
    pub const MAX_STRING: usize = 255;

    /// Segments of a path.
    #[inline]
    #[must_use]
    pub fn path(&self, id: PathId) -> (&[Segment], Wild) {
        let spec = &self.paths[id.0 as usize];
        (self.segment_range(spec.first, spec.count), spec.wild)
    }

    /// `count` segments from index `first` on.
    #[inline]
    #[must_use]
    pub fn segment_range(&self, first: u32, count: u16) -> &[Segment] {
        let Range { start, end } = first as usize..first as usize + usize::from(count);
        &self.segments[start..end]
    }

    /// Bytes of a literal segment.
    #[inline]
    #[must_use]
    pub fn literal(&self, start: u32, len: u16) -> &[u8] {
        &self.bytes[start as usize..start as usize + usize::from(len)]
    }

    /// The instructions that a client executes once, before its first pass.
    #[must_use]
    pub fn preparation(&self) -> Range<usize> {
        0..self.start.0 as usize
    }

    /// The instructions of a pass.
    #[must_use]
    pub fn pass(&self) -> Range<usize> {
        self.start.0 as usize..self.insts.len()
    }

    /// Whether some instruction counts as `kind`.
    #[must_use]
    pub fn has(&self, kind: OpKind) -> bool {
        self.insts.iter().any(|inst| inst.op == Some(kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_stays_small() {
        assert!(size_of::<Inst>() <= 56, "{}", size_of::<Inst>());
    }
}
