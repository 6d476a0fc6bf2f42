//! Names of pools in the simulation: all of a pool are one file, which counts as often as the pool
//! has names, each time with the largest size that it had.

use super::held::File;
use super::simulate::Disk;
use crate::loadfile::program::{PathId, Pick};

impl Disk<'_> {
    /// How many files a path stands for.
    pub(super) fn copies(&self, path: PathId) -> u64 {
        let draw = self.program.paths[path.0 as usize].draw;
        draw.map_or(1, |draw| self.program.pools[usize::from(draw.pool)].count.into())
    }

    /// Whether a path stands for a name that did not exist.
    pub(super) fn is_made(&self, path: PathId) -> bool {
        let draw = self.program.paths[path.0 as usize].draw;
        self.copies(path) > 1 && draw.is_some_and(|draw| draw.pick == Pick::Make)
    }

    /// One of a pool's names goes: the others stay, and the next one starts empty. Its size, if it
    /// was such a name.
    pub(super) fn start_anew(&mut self, name: &[u8]) -> Option<u64> {
        let file = &mut self.files[*self.named.get(name)?];
        (file.copies > 1).then(|| std::mem::take(&mut file.size))
    }

    /// A name of a pool becomes another name; `false` when it was none of a pool.
    pub(super) fn rename_drawn(&mut self, old: &[u8], new: &[u8]) -> bool {
        let Some(size) = self.start_anew(old) else {
            return false;
        };
        let File { copies, shared, .. } = self.files[self.named[old]];
        let target = self.named.get(new).copied().unwrap_or_else(|| {
            // A drawn number is rendered as this byte.
            let copies = if new.contains(&0) { copies } else { 1 };
            self.files.push(File { names: 1, copies, shared, ..File::default() });
            self.named.insert(new.to_vec(), self.files.len() - 1);
            self.files.len() - 1
        });
        self.set_size(target, size);
        true
    }
}
