//! What was there at the start: how a client makes it, and how a pass makes it again.

use std::collections::HashSet;

use super::emit::{Names, Printer, link_target};
use super::place;
use super::report::Report;
use super::tree::{Id, Kind, ROOT, Tree};
use crate::loadfile::ast::Node;
use crate::loadfile::program::Expect;
use crate::op::OpKind;

/// Pieces in which files are filled, in bytes.
const PIECE: u64 = 1 << 20;
/// Of a larger file the rest is a hole, in bytes.
const MOST_FILLED: u64 = 1 << 30;
/// Handle of a file that is being made.
const HANDLE: i64 = 1;
const FILE_MODE: u32 = 0o644;
const DIR_MODE: u32 = 0o755;

/// Writes what comes before the recording's own operations.
pub(super) struct Start<'a, 's> {
    pub(super) tree: &'a Tree,
    pub(super) names: &'a mut Names,
    pub(super) printer: &'a mut Printer<'s>,
    pub(super) report: &'a mut Report,
    /// The recording's root.
    pub(super) root: &'a [u8],
}

impl Start<'_, '_> {
    pub(super) fn write(&mut self) {
        let all = self.there();
        self.printer.node(Node::Prepare);
        self.op(OpKind::Mkdir, &[b"/clients"], &[]);
        self.op(OpKind::Mkdir, &[b"/clients/client1"], &[]);
        for (path, id) in &all {
            self.make(path, *id);
            self.count(*id);
        }
        self.printer.node(Node::EndPrepare);
        self.printer.flush();
        let before = self.printer.ops;
        self.restore(&all);
        self.report.restoring = self.printer.ops - before;
        self.printer.flush();
    }

    /// All that was there, directories before what is in them.
    fn there(&self) -> Vec<(Vec<u8>, Id)> {
        let ids = (0..self.tree.nodes.len()).filter(|id| self.tree.was_there(*id));
        let ids = ids.filter(|id| {
            let node = &self.tree.nodes[*id];
            // What was only ever looked for with success, but is special, has no word.
            node.kind != Kind::Other && node.kind != Kind::Unknown
        });
        let mut all: Vec<_> = ids.map(|id| (self.tree.start_path(id), id)).collect();
        all.sort_by(|a, b| place::components(&a.0).cmp(place::components(&b.0)));
        all
    }

    fn count(&mut self, id: Id) {
        let node = &self.tree.nodes[id];
        match node.kind {
            Kind::Dir => self.report.dirs += 1,
            Kind::Link(_) => self.report.links += 1,
            _ => {
                self.report.files += 1;
                self.report.bytes = self.report.bytes.saturating_add(node.data.start);
            }
        }
    }

    fn op(&mut self, kind: OpKind, paths: &[&[u8]], numbers: &[i64]) {
        self.printer.op(kind, paths, numbers, Expect::Any);
    }

    fn make(&mut self, path: &[u8], id: Id) {
        let node = &self.tree.nodes[id];
        let name = self.names.path(path);
        match &node.kind {
            Kind::Dir => {
                let mode = node.mode.unwrap_or(DIR_MODE);
                self.op(OpKind::Mkdirat, &[&name], &[mode.into()]);
            }
            Kind::Link(target) => {
                let dir = place::absolute(self.root, &[path, &b"/.."[..]].concat());
                let whole = target.as_ref().map(|target| place::absolute(&dir, target));
                let inside = whole.as_deref().and_then(|whole| place::below(self.root, whole));
                let target = link_target(self.names, inside);
                self.op(OpKind::Symlink, &[&target, &name], &[]);
            }
            _ => self.file(&name, id),
        }
    }

    fn file(&mut self, name: &[u8], id: Id) {
        let node = &self.tree.nodes[id];
        let mode = i64::from(node.mode.unwrap_or(FILE_MODE));
        let size = node.data.start;
        let bits = i64::from(libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC);
        let success = Expect::Success;
        self.printer.op(OpKind::Open, &[name], &[bits, mode, HANDLE], success);
        let sparse = !node.data.read || size > MOST_FILLED;
        if node.data.read {
            let mut done = 0;
            let filled = size.min(MOST_FILLED);
            while done < filled {
                let len = (filled - done).min(PIECE) as i64;
                let numbers = [HANDLE, i64::try_from(done).unwrap_or(0), len, len];
                self.printer.op(OpKind::WriteX, &[], &numbers, success);
                done += PIECE;
            }
        }
        if sparse && size > 0 {
            // Nobody reads it: its size is enough.
            let size = i64::try_from(size).unwrap_or(0);
            self.printer.op(OpKind::Ftruncate, &[], &[HANDLE, size], success);
        }
        self.printer.op(OpKind::Close, &[], &[HANDLE], success);
    }

    /// Takes back what a pass has made, and makes again what it has taken or changed. In the first
    /// pass, where all is as at the start, it does the same to no effect.
    fn restore(&mut self, all: &[(Vec<u8>, Id)]) {
        let mut kept = HashSet::new();
        let mut gone = Vec::new();
        self.compare(&mut kept, &mut gone);
        gone.sort();
        for path in &gone {
            let name = self.names.path(path);
            self.op(OpKind::Deltree, &[&name], &[]);
        }
        for (path, id) in all {
            let node = &self.tree.nodes[*id];
            if kept.contains(id) {
                if node.mode_changed && node.kind == Kind::Dir {
                    let name = self.names.path(path);
                    let mode = node.mode.unwrap_or(DIR_MODE);
                    self.op(OpKind::Chmod, &[&name], &[mode.into()]);
                }
                continue;
            }
            if node.kind != Kind::Dir {
                let name = self.names.path(path);
                self.op(OpKind::Deltree, &[&name], &[]);
            }
            self.make(path, *id);
        }
    }

    /// What of the start is still as it was, and the paths of all that is new.
    fn compare(&self, kept: &mut HashSet<Id>, gone: &mut Vec<Vec<u8>>) {
        let mut open = vec![(ROOT, Vec::new())];
        let mut seen = HashSet::new();
        while let Some((dir, path)) = open.pop() {
            if !seen.insert(dir) {
                continue;
            }
            for (name, &id) in &self.tree.nodes[dir].children {
                let node = &self.tree.nodes[id];
                let mut here: Vec<u8> = path.clone();
                if !here.is_empty() {
                    here.push(b'/');
                }
                here.extend_from_slice(name);
                let is_old = self.tree.was_there(id)
                    && node.origin.as_ref().is_some_and(|(d, n)| *d == dir && n == name);
                match node.kind {
                    Kind::Unknown | Kind::Absent | Kind::Other => {}
                    Kind::Dir if is_old => {
                        kept.insert(id);
                        open.push((id, here));
                    }
                    _ if is_old && !node.data.changed && !node.mode_changed => {
                        kept.insert(id);
                    }
                    _ => gone.push(here),
                }
            }
        }
    }
}
