//! Sizes of files: what calls tell of them, and what they make of them.

use super::tree::{Data, Id, Tree};

impl Data {
    /// Its size now, as far as is known.
    pub(super) fn size(&self) -> u64 {
        if self.exact { self.written } else { self.start.max(self.written) }
    }

    /// It has been there from the start after all.
    fn decide(&mut self, start: u64) {
        self.undecided = false;
        self.exact = false;
        self.start = start;
    }

    /// A call shows a size, or at least this much of it.
    fn learn(&mut self, size: u64) {
        if self.undecided && size > 0 && self.written == 0 {
            self.decide(size);
        } else if !self.exact && size > self.size() {
            self.start = size;
        }
    }
}

impl Tree {
    fn data(&mut self, id: Id) -> &mut Data {
        &mut self.nodes[id].data
    }

    /// `stat` shows a size.
    pub(super) fn sized(&mut self, id: Id, size: u64) {
        self.data(id).learn(size);
    }

    /// A read got bytes; says how many a replay will get at least.
    pub(super) fn read(&mut self, id: Id, offset: u64, got: u64) -> u64 {
        let data = self.data(id);
        data.read = true;
        if got > 0 {
            data.learn(offset.saturating_add(got));
        }
        got.min(data.size().saturating_sub(offset))
    }

    /// A write.
    pub(super) fn write(&mut self, id: Id, end: u64) {
        let data = self.data(id);
        let before = data.size();
        data.written = data.written.max(end);
        data.changed |= data.size() > before;
        self.touched(id);
    }

    /// A length is set.
    pub(super) fn cut(&mut self, id: Id, size: u64) {
        let data = self.data(id);
        (data.exact, data.written, data.changed) = (true, size, true);
        self.touched(id);
    }

    /// Permission bits that `stat` shows, if nobody has changed them before.
    pub(super) fn has_mode(&mut self, id: Id, mode: u32) {
        let node = &mut self.nodes[id];
        if node.mode.is_none() && !node.mode_changed {
            node.mode = Some(mode);
        }
    }

    /// What is written to is no longer undecided: it was not there.
    fn touched(&mut self, id: Id) {
        let node = &mut self.nodes[id];
        if node.data.undecided {
            node.data.undecided = false;
            node.origin = None;
        }
    }
}
