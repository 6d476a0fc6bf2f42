//! Tree to [`Program`]: loops get their ends, handles their slots, `+n` its registers.
//!
//! Nothing can fail here: the parser has refused what cannot be compiled.

use sha2::{Digest, Sha256};

use super::ast::{Ast, Line, Node, Op, Special};
use super::bounds::{self, Slots};
use super::group::{self, Kind};
use super::parser::has_time;
use super::program::{
    Action, Expect, Expr, ExprId, HandleRef, Inst, Operand, OperandKind, Pc, Program, Register,
    Reserved,
};
use crate::op::OpKind;

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
    let Compiler {
        handles,
        registers,
        exprs,
        start,
        groups,
        reserved,
        depth,
        max_write,
        max_read,
        ..
    } = compiler;
    Program {
        name: name.to_owned(),
        sha256,
        insts,
        start,
        times,
        handles: handles.numbers.into(),
        registers: registers.into(),
        exprs: exprs.into(),
        loop_depth: depth,
        max_write,
        max_read,
        shared: ast.shared,
        groups: groups.into_groups().into(),
        reserved: reserved.into(),
        paths: ast.names.specs.into(),
        segments: ast.names.segments.into(),
        bytes: ast.names.bytes.into(),
        templates: ast.templates.into(),
        patterns: ast.patterns.into(),
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
    reserved: Vec<Reserved>,
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
            reserved: Vec::new(),
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
            Node::Prepare | Node::Choose(_) | Node::Shuffle(_) | Node::EndBlock => return,
            Node::EndPrepare => {
                self.start = Pc(self.insts.len() as u32);
                return;
            }
            Node::Reserved(reserved) => {
                let entry = Reserved { word: reserved.word(), line: line.number };
                self.reserved.push(entry);
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
            kind if kind.row().paths.is_empty() => {
                Action::OnHandle { handle: self.handles.get(a), numbers: [b, c, d] }
            }
            kind if kind.row().paths.len() == 2 => Action::OnPaths { path, second: new, number: a },
            _ => Action::OnPath { path, numbers: [a, b, c] },
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

/// The expressions of a program, one for each special number of the tree, and the registers that
/// `+n` needs: one for each operation and position that has a `+n` somewhere.
fn registers(ast: &Ast) -> (Vec<Register>, Vec<Expr>) {
    let mut exprs: Vec<Expr> = ast
        .specials
        .iter()
        .map(|special| match special {
            Special::Random(mods) => Expr::Random { mods: mods.clone() },
            Special::Previous(add) => Expr::Previous { register: 0, add: *add },
            Special::Child => Expr::Child,
            Special::Children => Expr::Children,
            Special::Text { first, count } => Expr::Text { first: *first, count: *count },
        })
        .collect();
    let mut registers: Vec<Register> = Vec::new();
    if exprs.is_empty() {
        return (registers, exprs);
    }
    for line in &ast.lines {
        let Node::Op(op) = line.node else {
            continue;
        };
        for (position, number) in op.numbers.iter().enumerate() {
            let OperandKind::Expr(ExprId(id)) = number.kind() else {
                continue;
            };
            if let Expr::Previous { register, .. } = &mut exprs[id as usize] {
                let wanted = Register { op: op.kind, position: position as u8 };
                let index = registers.iter().position(|r| *r == wanted).unwrap_or_else(|| {
                    registers.push(wanted);
                    registers.len() - 1
                });
                *register = index as u16;
            }
        }
    }
    (registers, exprs)
}

/// The handle numbers of a loadfile, in ascending order; the position is the slot.
struct Handles {
    numbers: Vec<i64>,
    /// The last one that was looked up: lines come in runs of the same handle.
    last: (i64, u32),
}

impl Handles {
    /// The handles of a tree, and whether it has timestamps: in one go, since half a million
    /// lines are 30 MB.
    fn of(ast: &Ast) -> (Self, bool) {
        let mut numbers: Vec<i64> = Vec::new();
        let mut timed = false;
        for line in &ast.lines {
            timed |= has_time(line.time);
            let Node::Op(op) = line.node else {
                continue;
            };
            let Some(position) = op.kind.row().handle_position() else {
                continue;
            };
            if let OperandKind::Literal(number) = op.numbers[position].kind()
                && numbers.last() != Some(&number)
            {
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        let last = (numbers.first().copied().unwrap_or(0), 0);
        (Self { numbers, last }, timed)
    }

    #[inline]
    fn get(&mut self, number: Operand) -> HandleRef {
        match number.kind() {
            OperandKind::Expr(id) => HandleRef::Dynamic(id),
            OperandKind::Literal(number) => {
                if self.last.0 != number {
                    // It is there: the list was made from the same lines.
                    let slot = self.numbers.binary_search(&number).unwrap_or(0);
                    self.last = (number, slot as u32);
                }
                HandleRef::Slot(self.last.1)
            }
        }
    }
}
