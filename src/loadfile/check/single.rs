//! What words that are one system call make of sizes and names.

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
            _ => {}
        }
    }

    fn cut(&mut self, handle: i64, size: u64) {
        if let Some(&Some(file)) = self.handles.get(&handle) {
            self.set_size(file, size);
        }
    }
}
