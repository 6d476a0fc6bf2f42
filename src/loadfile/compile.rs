//! Tree to [`Program`]: loops get their ends, handles their slots, `+n` its registers.
//!
//! Nothing can fail here: the parser has refused what cannot be compiled.

use sha2::{Digest, Sha256};

use super::ast::{Ast, Line, Node, Op};
use super::bounds::{self, Slots};
use super::group::{self, Kind};
use super::numbering::{Handles, registers};
use super::phase;
use super::program::{Action, Expect, Expr, Inst, Operand, OperandKind, Pc, Program, Register};
use crate::op::argument::Role;
use crate::op::{Data, OpKind};

/// Compiles a tree.
pub(super) fn compile(ast: Ast, name: &str) -> Program {
    let (sha256, mut compiler) = beside_hash(&ast, || {
        let mut compiler = Compiler::new(&ast);
        for line in &ast.lines {
            compiler.line(line);
        }
        compiler
    });
    let insts = std::mem::take(&mut compiler.insts).into_boxed_slice();
    let times = compiler.timed.then(|| std::mem::take(&mut compiler.times).into());
    let phases = phase::phases(&ast, &insts);
    let Compiler { handles, registers, exprs, start, groups, depth, max_write, max_read, .. } =
        compiler;
    Program {
        name: name.to_owned(),
        sha256,
        insts,
        start,
        times,
        handles: handles.numbers.into(),
        registers: registers.into(),
        texts: ast.texts.into_bytes(),
        exprs: exprs.into(),
        loop_depth: depth,
        max_write,
        max_read,
        shared: ast.shared,
        groups: groups.into_groups().into(),
        phases,
        paths: ast.names.specs.into(),
        segments: ast.names.segments.into(),
        bytes: ast.names.bytes.into(),
        templates: ast.templates.into(),
        patterns: ast.patterns.into(),
        pools: ast.pools.into(),
    }
}

/// Lines from which on a second thread pays.
const MANY: usize = 10_000;

/// Hashes a tree while something else is done with it: of half a million lines the hash takes a
/// fifth of the time from text to program.
fn beside_hash<T>(ast: &Ast, other: impl FnOnce() -> T) -> (String, T) {
    std::thread::scope(|scope| {
        let hash = || sha256(ast);
        let thread = match ast.lines.len() {
            0..MANY => None,
            _ => std::thread::Builder::new().spawn_scoped(scope, hash).ok(),
        };
        let done = other();
        (thread.and_then(|thread| thread.join().ok()).unwrap_or_else(hash), done)
    })
}

fn sha256(ast: &Ast) -> String {
    let mut hash = Sha256::new();
    ast.write_canonical(|piece| hash.update(piece));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

struct Compiler<'a> {
    ast: &'a Ast,
    slots: Slots<'a>,
    handles: Handles,
    registers: Vec<Register>,
    exprs: Vec<Expr>,
    insts: Vec<Inst>,
    times: Vec<u64>,
    timed: bool,
    /// Where a pass starts: behind the PREPARE.
    start: Pc,
    groups: group::Builder,
    /// Starts of the loops that are open.
    open: Vec<usize>,
    depth: usize,
    /// Rounds and time of a REPEAT that waits for its operation.
    repeat: Option<Line>,
    max_write: u64,
    max_read: u64,
}

impl<'a> Compiler<'a> {
    fn new(ast: &'a Ast) -> Self {
        let (registers, exprs) = registers(ast);
        let (handles, timed) = Handles::of(ast);
        Self {
            ast,
            slots: bounds::slots(ast),
            handles,
            registers,
            exprs,
            insts: Vec::with_capacity(ast.lines.len()),
            times: Vec::with_capacity(if timed { ast.lines.len() } else { 0 }),
            timed,
            start: Pc(0),
            groups: group::Builder::default(),
            open: Vec::new(),
            depth: 0,
            repeat: None,
            max_write: 0,
            max_read: 0,
        }
    }

    #[inline]
    fn line(&mut self, line: &Line) {
        let here = self.insts.len();
        let action = match line.node {
            Node::Choose(weight) => self.groups.start(Kind::Choose, weight, here),
            Node::Shuffle(runs) => self.groups.start(Kind::Shuffle, runs, here),
            Node::EndBlock => self.groups.end(here),
            _ => {
                self.groups.between();
                return self.plain(line);
            }
        };
        if let Some(action) = action {
            self.emit(control(action, line.number), line.time);
        }
    }

    #[inline]
    fn plain(&mut self, line: &Line) {
        let action = match line.node {
            Node::Op(op) => {
                let action = self.action(&op);
                let kind = op.kind;
                let records = self.registers.iter().any(|register| register.op == kind);
                let inst =
                    Inst { action, expect: op.expect, line: line.number, op: Some(kind), records };
                return self.repeated(inst, line);
            }
            Node::Pause(micros) => {
                let inst = control(Action::Pause { micros }, line.number);
                return self.repeated(inst, line);
            }
            Node::Repeat(_) => {
                self.repeat = Some(*line);
                return;
            }
            Node::Loop(count) => return self.loop_start(count, line),
            Node::EndLoop => return self.loop_end(line),
            Node::SetSp(value) => Action::SetSp { value },
            Node::WaitSp(child, value) => Action::WaitSp { child, value },
            Node::WritePattern(pattern) => Action::WritePattern { pattern },
            Node::RandomString(slot, template) => Action::RandomString { slot, template },
            Node::Phase(phase) => Action::Phase { phase: phase as u16 }, // 1,000 at most
            Node::Prepare | Node::Pool(_) | Node::Choose(_) | Node::Shuffle(_) | Node::EndBlock => {
                return;
            }
            Node::EndPrepare => {
                self.start = Pc(self.insts.len() as u32);
                return;
            }
        };
        self.emit(control(action, line.number), line.time);
    }

    #[inline]
    fn emit(&mut self, inst: Inst, time: u64) {
        self.insts.push(inst);
        if self.timed {
            self.times.push(time);
        }
    }

    /// Emits an instruction, within a loop of its own when a REPEAT stands before it.
    #[inline]
    fn repeated(&mut self, inst: Inst, line: &Line) {
        match self.repeat.take() {
            Some(repeat) => {
                let Node::Repeat(count) = repeat.node else {
                    return;
                };
                self.loop_start(count, &repeat);
                self.emit(inst, line.time);
                self.loop_end(&Line { time: Program::NO_TIME, ..*line });
            }
            None => self.emit(inst, line.time),
        }
    }

    fn loop_start(&mut self, count: u32, line: &Line) {
        self.open.push(self.insts.len());
        self.depth = self.depth.max(self.open.len());
        // Its end is filled in when it is known.
        self.emit(control(Action::LoopStart { count, end: Pc(0) }, line.number), line.time);
    }

    fn loop_end(&mut self, line: &Line) {
        let Some(start) = self.open.pop() else {
            return;
        };
        if start + 1 == self.insts.len() {
            // Nothing in it: 4 billion rounds of nothing would only keep a processor busy.
            self.insts.pop();
            if self.timed {
                self.times.pop();
            }
            return;
        }
        let here = Pc(self.insts.len() as u32);
        if let Action::LoopStart { end, .. } = &mut self.insts[start].action {
            *end = here;
        }
        let end = Action::LoopEnd { start: Pc(start as u32) };
        self.emit(control(end, line.number), line.time);
    }

    #[inline]
    fn action(&mut self, op: &Op) -> Action {
        let [path, new] = op.paths;
        let [a, b, c, d] = op.numbers;
        match op.kind {
            OpKind::Deltree => Action::Deltree { path },
            OpKind::Mkdir => Action::Mkdir { path },
            OpKind::Rmdir => Action::Rmdir { path },
            OpKind::NtCreateX => {
                let handle = self.handles.get(c);
                Action::Create { path, options: a, disposition: b, handle }
            }
            OpKind::Close => Action::Close { handle: self.handles.get(a) },
            OpKind::WriteX => {
                self.max_write = self.max_write.max(self.upper(c));
                Action::Write { handle: self.handles.get(a), offset: b, len: c, want: d }
            }
            OpKind::ReadX => {
                self.max_read = self.max_read.max(self.upper(c));
                Action::Read { handle: self.handles.get(a), offset: b, len: c, want: d }
            }
            OpKind::Flush => Action::Flush { handle: self.handles.get(a) },
            OpKind::Rename => Action::Rename { old: path, new },
            OpKind::Unlink => Action::Unlink { path },
            OpKind::LockX => Action::Lock { handle: self.handles.get(a), offset: b, len: c },
            OpKind::UnlockX => Action::Unlock { handle: self.handles.get(a), offset: b, len: c },
            OpKind::FindFirst => Action::Find { path, max: b },
            OpKind::QueryPath => Action::QueryPath { path },
            OpKind::QueryFile => Action::QueryFile { handle: self.handles.get(a) },
            OpKind::QueryFs => Action::QueryFs,
            OpKind::SetFile => Action::SetFile { handle: self.handles.get(a) },
            OpKind::Open => {
                let (flags, mode) = (written(a) as i32, written(b) as u32);
                Action::Open { path, flags, mode, handle: self.handles.get(c) }
            }
            // One call, on a path or on a handle.
            kind => {
                self.make_room(op);
                match kind.row().paths.len() {
                    0 => Action::OnHandle { handle: self.handles.get(a), numbers: [b, c, d] },
                    1 => Action::OnPath { path, numbers: [a, b, c] },
                    _ => Action::OnPaths { path, second: new, number: a },
                }
            }
        }
    }

    /// Sees to it that the buffer that a word fills or takes is long enough.
    fn make_room(&mut self, op: &Op) {
        let row = op.kind.row();
        let is_length = |(role, _): &(Role, &str)| matches!(role, Role::Length | Role::ValueLength);
        let Some(at) = row.numbers.iter().position(is_length) else { return };
        match row.data {
            Data::In => self.max_read = self.max_read.max(self.upper(op.numbers[at])),
            Data::Out => self.max_write = self.max_write.max(self.upper(op.numbers[at])),
            Data::None => {}
        }
    }

    /// Upper bound of a length. `+0` repeats the length of another line, which counts itself.
    fn upper(&self, length: Operand) -> u64 {
        let bound = match length.kind() {
            OperandKind::Literal(value) => Some(value),
            OperandKind::Expr(id) => {
                bounds::upper(self.ast, &self.ast.specials[id.0 as usize], &self.slots)
            }
        };
        bound.and_then(|bound| u64::try_from(bound).ok()).unwrap_or(0)
    }
}

/// A number of a role that is never computed.
fn written(number: Operand) -> i64 {
    match number.kind() {
        OperandKind::Literal(value) => value,
        OperandKind::Expr(_) => 0,
    }
}

fn control(action: Action, line: u32) -> Inst {
    Inst { action, expect: Expect::Success, line, op: None, records: false }
}
