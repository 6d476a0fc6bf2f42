//! Loops of the simulation, and what moves on in rounds that are not run.

use std::collections::HashMap;

use super::held::Held;
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
        let (handles, held) = (self.handles_open(), self.handles.clone());
        let sizes: Vec<_> =
            self.appended.iter().map(|&file| (file, self.files[file].size)).collect();
        self.run(start, end);
        if count == 2 {
            return;
        }
        let skipped = i64::from(count) - 3;
        self.skip_handles(handles, &held, skipped.unsigned_abs());
        for (register, before) in self.registers.iter_mut().zip(before) {
            let step = register.saturating_sub(before);
            *register = register.saturating_add(step.saturating_mul(skipped));
        }
        for (file, before) in sizes {
            let size = self.files[file].size;
            let step = size.saturating_sub(before);
            self.set_size(file, size.saturating_add(step.saturating_mul(skipped.unsigned_abs())));
        }
        self.run(start, end);
    }

    /// Rounds that are not run open and close as many handles as the one before, and move positions on as far.
    fn skip_handles(&mut self, open: u64, held: &HashMap<i64, Held>, rounds: u64) {
        let now = self.handles_open();
        self.skipped_handles += now.saturating_sub(open).saturating_mul(rounds);
        let closed = open.saturating_sub(now).saturating_mul(rounds);
        self.skipped_handles = self.skipped_handles.saturating_sub(closed);
        for (number, handle) in &mut self.handles {
            if let Some(before) = held.get(number).filter(|old| old.opened == handle.opened) {
                let step = handle.position.saturating_sub(before.position);
                handle.position = handle.position.saturating_add(step.saturating_mul(rounds));
            }
        }
    }

    pub(super) fn handles_open(&self) -> u64 {
        self.handles.len() as u64 + self.skipped_handles
    }

    /// Remembers a file that is appended to. Of a pool's names each is by another round.
    pub(super) fn note_appends(&mut self, file: usize, appends: bool) {
        if appends && self.files[file].copies == 1 && !self.appended.contains(&file) {
            self.appended.push(file);
        }
    }
}
