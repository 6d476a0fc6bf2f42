//! What needs a simulation: sizes of files, open handles. A PREPARE runs before the pass.
//!
//! A loop runs its first two rounds and its last one. Between them registers (`+n`) move on by
//! what the second round added, so that a file that grows in each round ends as large as it would.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::held::{File, Held, How, Live};
use super::{Maxima, Report, render};
use crate::loadfile::names::{SHARED, is_below};
use crate::loadfile::program::{
    Action, Expect, Expr, Group, HandleRef, Inst, Kind, Operand, OperandKind, PathId, Program,
    Segment,
};

/// Simulates a PREPARE and one pass, and writes what it found to `report`.
pub(super) fn simulate(program: &Program, maxima: &Maxima, report: &mut Report) {
    let names = (0..program.paths.len()).map(|i| render(program, i)).collect();
    let mut disk = Disk { program, maxima, names, ..Disk::new(program, maxima) };
    disk.run(0, program.start.0 as usize);
    // A client closes what a PREPARE left open, as at the end of a pass.
    disk.close_all();
    disk.run(program.start.0 as usize, program.insts.len());
    report.live_bytes_max = disk.live.max;
    report.live_bytes_end = disk.live.now;
    report.own_bytes_max = disk.own.max;
    report.shared_bytes_max = disk.shared.max;
    report.largest_file_bytes = disk.largest;
    report.open_handles_max = disk.handles_max;
    report.open_handles_end = disk.handles_open();
    report.files_not_made = disk.not_made;
}

pub(super) struct Disk<'a> {
    pub(super) program: &'a Program,
    maxima: &'a Maxima,
    /// Paths as text.
    pub(super) names: Vec<Vec<u8>>,
    pub(super) files: Vec<File>,
    pub(super) named: BTreeMap<Vec<u8>, usize>,
    pub(super) dirs: BTreeSet<Vec<u8>>,
    pub(super) handles: HashMap<i64, Held>,
    /// Handles that rounds of loops have opened that were not run.
    pub(super) skipped_handles: u64,
    opens: u64,
    pub(super) registers: Vec<i64>,
    live: Live,
    /// What of it is the client's own, and what is shared.
    own: Live,
    shared: Live,
    largest: u64,
    handles_max: u64,
    not_made: u64,
    pub(super) steps: u64,
    /// Files that were open for appending.
    pub(super) appended: Vec<usize>,
}

impl<'a> Disk<'a> {
    fn new(program: &'a Program, maxima: &'a Maxima) -> Self {
        Self {
            program,
            maxima,
            names: Vec::new(),
            files: Vec::new(),
            named: BTreeMap::new(),
            dirs: BTreeSet::new(),
            handles: HashMap::new(),
            skipped_handles: 0,
            opens: 0,
            registers: vec![0; program.registers.len()],
            live: Live::default(),
            own: Live::default(),
            shared: Live::default(),
            largest: 0,
            handles_max: 0,
            not_made: 0,
            steps: 0,
            appended: Vec::new(),
        }
    }

    /// Runs the instructions from `pc` up to `end`.
    pub(super) fn run(&mut self, mut pc: usize, end: usize) {
        let program = self.program;
        while pc < end {
            let inst = &program.insts[pc];
            self.steps += 1;
            match inst.action {
                Action::LoopStart { count, end } => {
                    self.rounds(count, pc + 1, end.0 as usize);
                    pc = end.0 as usize;
                }
                Action::Enter { group } => pc = self.blocks(&program.groups[group as usize]),
                _ => self.step(inst),
            }
            pc += 1;
        }
    }

    /// All blocks of a group in the order of their lines, also of a CHOOSE: each makes its files as
    /// large as it can. Returns the last instruction.
    fn blocks(&mut self, group: &Group) -> usize {
        for block in &group.blocks {
            let rounds = if group.kind == Kind::Shuffle { block.weight } else { 1 };
            self.rounds(rounds, block.start.0 as usize, block.end.0 as usize);
        }
        group.end.0 as usize - 1
    }

    fn value(&self, operand: Operand) -> i64 {
        match operand.kind() {
            OperandKind::Literal(value) => value,
            OperandKind::Expr(id) => self.expr(id.0 as usize),
        }
    }

    fn expr(&self, id: usize) -> i64 {
        match self.program.exprs[id] {
            Expr::Previous { register, add } => {
                self.registers[usize::from(register)].saturating_add(add)
            }
            _ => self.maxima.exprs[id],
        }
    }

    fn handle(&self, handle: HandleRef) -> i64 {
        match handle {
            HandleRef::Slot(slot) => self.program.handles[slot as usize],
            HandleRef::Dynamic(id) => self.expr(id.0 as usize),
        }
    }

    pub(super) fn name(&self, path: PathId) -> Vec<u8> {
        self.names[path.0 as usize].clone()
    }

    fn step(&mut self, inst: &Inst) {
        let numbers = self.numbers(&inst.action);
        if inst.records {
            self.record(inst, numbers);
        }
        let fails = matches!(inst.expect, Expect::Failure | Expect::Errno(_));
        match inst.action {
            Action::Create { path, .. } if !fails => {
                let [options, disposition, handle, _] = numbers;
                let directory = options & 1 != 0;
                let makes = directory || disposition != 1;
                let cuts = matches!(disposition, 4 | 5);
                self.open(path, How { directory, makes, cuts, appends: false }, handle);
            }
            Action::Open { path, flags, .. } if !fails => {
                let has = |flag| flags & flag != 0;
                let directory = has(libc::O_DIRECTORY);
                let (makes, cuts) = (has(libc::O_CREAT), has(libc::O_TRUNC));
                let appends = has(libc::O_APPEND);
                self.open(path, How { directory, makes, cuts, appends }, numbers[2]);
            }
            Action::Close { .. } => self.close(numbers[0]),
            Action::Write { .. } => {
                self.write_at(numbers[0], unsigned(numbers[1]), unsigned(numbers[2]));
            }
            Action::OnPath { .. } | Action::OnPaths { .. } | Action::OnHandle { .. } if !fails => {
                self.one_call(inst, numbers);
            }
            Action::Mkdir { path } => {
                self.dirs.insert(self.name(path));
            }
            Action::Rmdir { path } if !fails => {
                self.dirs.remove(&self.name(path));
            }
            Action::Unlink { path } if !fails => self.unlink(&self.name(path)),
            Action::Rename { old, new } if !fails => self.rename(self.name(old), self.name(new)),
            Action::Deltree { path } => self.deltree(self.name(path)),
            _ => {}
        }
        self.handles_max = self.handles_max.max(self.handles_open());
    }

    /// The numbers of an action by their position on the line.
    fn numbers(&self, action: &Action) -> [i64; 4] {
        match *action {
            Action::Create { options, disposition, handle, .. } => {
                [self.value(options), self.value(disposition), self.handle(handle), 0]
            }
            Action::Close { handle }
            | Action::Flush { handle }
            | Action::QueryFile { handle }
            | Action::SetFile { handle } => [self.handle(handle), 0, 0, 0],
            Action::Write { handle, offset, len, want }
            | Action::Read { handle, offset, len, want } => {
                [self.handle(handle), self.value(offset), self.value(len), self.value(want)]
            }
            Action::Lock { handle, offset, len } | Action::Unlock { handle, offset, len } => {
                [self.handle(handle), self.value(offset), self.value(len), 0]
            }
            Action::Find { max, .. } => [0, self.value(max), 0, 0],
            Action::Open { flags, mode, handle, .. } => {
                [flags.into(), mode.into(), self.handle(handle), 0]
            }
            Action::OnPath { numbers: [a, b, c], .. } => {
                [self.value(a), self.value(b), self.value(c), 0]
            }
            Action::OnPaths { number, .. } => [self.value(number), 0, 0, 0],
            Action::OnHandle { handle, numbers: [a, b, c] } => {
                [self.handle(handle), self.value(a), self.value(b), self.value(c)]
            }
            _ => [0; 4],
        }
    }

    fn record(&mut self, inst: &Inst, numbers: [i64; 4]) {
        for (value, register) in self.registers.iter_mut().zip(&self.program.registers) {
            if Some(register.op) == inst.op {
                *value = numbers[usize::from(register.position)];
            }
        }
    }

    fn open(&mut self, path: PathId, how: How, handle: i64) {
        let name = &self.names[path.0 as usize];
        let target = if how.directory || self.dirs.contains(name) {
            if !self.dirs.contains(name) {
                self.dirs.insert(name.clone());
            }
            None
        } else if let Some(&file) = self.named.get(name) {
            Some(file)
        } else {
            self.not_made += u64::from(!how.makes);
            let shared = self.is_shared(path);
            let copies = self.copies(path);
            self.files.push(File { names: 1, shared, copies, ..File::default() });
            self.named.insert(name.clone(), self.files.len() - 1);
            Some(self.files.len() - 1)
        };
        if let Some(file) = target {
            self.files[file].open += 1;
            self.note_appends(file, how.appends);
            if how.makes && self.is_made(path) {
                self.files[file].size = 0;
            }
            if how.cuts {
                self.resize(file, 0);
            }
        }
        // A handle that is given again is closed first.
        self.close(handle);
        self.opens += 1;
        let opened = self.opens;
        let held = Held { file: target, position: 0, appends: how.appends, opened };
        self.handles.insert(handle, held);
    }

    /// Whether a path names the same file for all clients of a disk.
    fn is_shared(&self, path: PathId) -> bool {
        let one_name =
            |segment: &Segment| matches!(segment, Segment::Literal { .. } | Segment::Drawn(_));
        is_below(&self.names[path.0 as usize], SHARED)
            && self.program.path(path).0.iter().all(one_name)
    }

    pub(super) fn set_size(&mut self, file: usize, size: u64) {
        self.resize(file, size);
        self.largest = self.largest.max(size);
    }

    fn resize(&mut self, file: usize, size: u64) {
        let file = &mut self.files[file];
        file.size = size;
        let before = file.counted.saturating_mul(file.copies);
        file.counted = if file.copies > 1 { file.counted.max(size) } else { size };
        let after = file.counted.saturating_mul(file.copies);
        self.live.change(before, after);
        let part = if file.shared { &mut self.shared } else { &mut self.own };
        part.change(before, after);
    }

    fn close(&mut self, handle: i64) {
        if let Some(Held { file: Some(file), .. }) = self.handles.remove(&handle) {
            self.files[file].open -= 1;
            self.release(file);
        }
    }

    fn close_all(&mut self) {
        let open: Vec<i64> = self.handles.keys().copied().collect();
        open.into_iter().for_each(|handle| self.close(handle));
        self.skipped_handles = 0;
    }

    pub(super) fn grow(&mut self, handle: i64, end: u64) {
        let Some(&Held { file: Some(file), .. }) = self.handles.get(&handle) else {
            return;
        };
        if end > self.files[file].size {
            self.set_size(file, end);
        }
    }

    /// Gives a file's bytes back once it has neither name nor handle.
    fn release(&mut self, file: usize) {
        if self.files[file].names == 0 && self.files[file].open == 0 {
            self.resize(file, 0);
        }
    }

    pub(super) fn unlink(&mut self, name: &[u8]) {
        if self.start_anew(name).is_some() {
            return;
        }
        if let Some(file) = self.named.remove(name) {
            self.files[file].names = self.files[file].names.saturating_sub(1);
            self.release(file);
        }
    }

    pub(super) fn rename(&mut self, old: Vec<u8>, new: Vec<u8>) {
        if old == new || self.rename_drawn(&old, &new) {
            return;
        }
        if let Some(file) = self.named.remove(&old) {
            self.unlink(&new);
            self.named.insert(new, file);
        } else if self.dirs.remove(&old) {
            for name in below(&self.named, &old) {
                if let Some(file) = self.named.remove(&name) {
                    self.named.insert([&new, &name[old.len()..]].concat(), file);
                }
            }
            self.dirs.insert(new);
        }
    }

    pub(super) fn deltree(&mut self, root: Vec<u8>) {
        for name in below(&self.named, &root) {
            self.unlink(&name);
        }
        self.dirs.retain(|dir| *dir != root && !is_below(dir, &root));
    }
}

/// Names of files below a directory.
fn below(named: &BTreeMap<Vec<u8>, usize>, root: &[u8]) -> Vec<Vec<u8>> {
    let start = [root, b"/"].concat();
    let names = named.range(start..).map(|(name, _)| name);
    names.take_while(|name| is_below(name, root)).cloned().collect()
}

pub(super) fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}
