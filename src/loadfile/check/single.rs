//! What words that are one system call make of sizes and names.

use super::held::Held;
use super::simulate::{Disk, unsigned};
use crate::loadfile::program::{Action, Inst};
use crate::op::OpKind;

impl Disk<'_> {
    /// What changes sizes or names.
    pub(super) fn one_call(&mut self, inst: &Inst, numbers: [i64; 4]) {
        match (inst.action, inst.op) {
            (Action::OnPath { path, .. }, Some(OpKind::Truncate)) => {
                if let Some(&file) = self.named.get(&self.names[path.0 as usize]) {
                    self.set_size(file, unsigned(numbers[0]));
                }
            }
            (Action::OnPath { path, .. }, Some(OpKind::Mkdirat)) => {
                self.dirs.insert(self.name(path));
            }
            (Action::OnPath { path, .. }, Some(OpKind::Unlinkat)) => {
                let name = self.name(path);
                if self.dirs.contains(&name) { self.deltree(name) } else { self.unlink(&name) }
            }
            (Action::OnPaths { path, second, .. }, Some(OpKind::Renameat)) => {
                let (old, new) = (self.name(path), self.name(second));
                if numbers[0] & i64::from(libc::RENAME_EXCHANGE) == 0 {
                    self.rename(old, new);
                } else {
                    // By way of a name that no path can be.
                    let aside = vec![0];
                    self.rename(old.clone(), aside.clone());
                    self.rename(new.clone(), old);
                    self.rename(aside, new);
                }
            }
            (Action::OnPaths { path, second, .. }, Some(OpKind::Link)) => {
                if let Some(&file) = self.named.get(&self.names[path.0 as usize]) {
                    self.files[file].names += 1;
                    self.named.insert(self.name(second), file);
                }
            }
            (_, Some(OpKind::Ftruncate)) => self.cut(numbers[0], unsigned(numbers[1])),
            (_, Some(OpKind::Fallocate))
                if numbers[1] & !i64::from(libc::FALLOC_FL_ZERO_RANGE) == 0 =>
            {
                let end = unsigned(numbers[2]).saturating_add(unsigned(numbers[3]));
                self.grow(numbers[0], end);
            }
            (_, Some(OpKind::Lseek)) => self.seek(numbers[0], unsigned(numbers[1])),
            (_, Some(OpKind::ListStat)) => self.seek(numbers[0], 0),
            (_, Some(OpKind::Write)) => self.write_next(numbers[0], unsigned(numbers[1])),
            (_, Some(OpKind::Read)) => {
                self.read_next(numbers[0], unsigned(numbers[1]));
            }
            (_, Some(OpKind::CopyRange | OpKind::Sendfile)) => {
                let len = self.read_next(numbers[0], unsigned(numbers[2]));
                self.write_next(numbers[1], len);
            }
            _ => {}
        }
    }

    fn seek(&mut self, handle: i64, to: u64) {
        if let Some(held) = self.handles.get_mut(&handle) {
            held.position = to;
        }
    }

    /// Moves a position on by what can be read there; by all that is asked for in a file of which
    /// nothing is known.
    fn read_next(&mut self, handle: i64, len: u64) -> u64 {
        let Some(held) = self.handles.get_mut(&handle) else { return 0 };
        let size = held.file.map_or(0, |file| self.files[file].size);
        let moved = match size {
            0 => len,
            size => len.min(size.saturating_sub(held.position)),
        };
        held.position = held.position.saturating_add(moved);
        moved
    }

    fn write_next(&mut self, handle: i64, len: u64) {
        let Some(&Held { position, .. }) = self.handles.get(&handle) else { return };
        let end = self.write_at(handle, position, len);
        self.seek(handle, end);
    }

    /// Writes at an offset, or at the end of a file that is opened with O_APPEND, as Linux does whatever
    /// the offset; says where it ends.
    pub(super) fn write_at(&mut self, handle: i64, offset: u64, len: u64) -> u64 {
        let start = match self.handles.get(&handle) {
            Some(&Held { file: Some(file), appends: true, .. }) => self.files[file].size,
            _ => offset,
        };
        let end = start.saturating_add(len);
        if len > 0 {
            self.grow(handle, end);
        }
        end
    }

    fn cut(&mut self, handle: i64, size: u64) {
        if let Some(&Held { file: Some(file), .. }) = self.handles.get(&handle) {
            self.set_size(file, size);
        }
    }
}
