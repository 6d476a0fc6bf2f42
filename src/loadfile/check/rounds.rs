//! Loops of the simulation, and what grows in them by itself: files that are appended to.

use super::simulate::Disk;

/// Loops run one round only when the simulation has become this long: nesting multiplies.
const MAX_STEPS: u64 = 4_000_000;

impl Disk<'_> {
    /// Runs a loop's first two rounds and its last one; what moved on in the second moves on as
    /// much in each between.
    pub(super) fn rounds(&mut self, count: u32, start: usize, end: usize) {
        self.run(start, end);
        if count == 1 || self.steps > MAX_STEPS {
            return;
        }
        let before = self.registers.clone();
        let sizes: Vec<_> =
            self.appended.iter().map(|&file| (file, self.files[file].size)).collect();
        self.run(start, end);
        if count == 2 {
            return;
        }
        let skipped = i64::from(count) - 3;
        for (register, before) in self.registers.iter_mut().zip(before) {
            let step = register.saturating_sub(before);
            *register = register.saturating_add(step.saturating_mul(skipped));
        }
        for (file, before) in sizes {
            let size = self.files[file].size;
            let step = size.saturating_sub(before);
            self.set_size(file, size.saturating_add(step.saturating_mul(u64::from(count) - 3)));
        }
        self.run(start, end);
    }

    /// Remembers how a file was opened. Of a pool's names each is appended to by another round.
    pub(super) fn note_appends(&mut self, file: usize, appends: bool) {
        self.files[file].appends = appends;
        if appends && self.files[file].copies == 1 && !self.appended.contains(&file) {
            self.appended.push(file);
        }
    }

    /// Where a write through a handle goes that was opened for appending.
    pub(super) fn end_of_appended(&self, handle: i64) -> Option<u64> {
        let file = &self.files[(*self.handles.get(&handle)?)?];
        file.appends.then_some(file.size)
    }
}
