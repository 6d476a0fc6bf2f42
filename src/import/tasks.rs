//! Processes, their tables of descriptors and their working directories.

use std::collections::{BTreeSet, HashMap};

use super::forks::Fork;
use super::tree::Id;

/// What one successful open made; several descriptors may share it, and its offset.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    /// The file; `None` for what lies outside, has no name, or could not be followed.
    pub(super) node: Option<Id>,
    /// Its path below the root.
    pub(super) path: Vec<u8>,
    /// The handle of the load.
    pub(super) handle: i64,
    pub(super) offset: u64,
    pub(super) appends: bool,
    /// Whether it can be locked for writing.
    pub(super) writes: bool,
    /// Descriptors that share it.
    pub(super) shares: u32,
}

/// An entry of a table.
#[derive(Clone, Copy, Debug)]
struct Entry {
    open: usize,
    cloexec: bool,
}

#[derive(Debug, Default)]
struct Table {
    entries: HashMap<i32, Entry>,
    users: u32,
}

#[derive(Debug, Default)]
struct Cwd {
    path: Vec<u8>,
    users: u32,
}

#[derive(Clone, Copy, Debug)]
struct Task {
    table: usize,
    cwd: usize,
}

/// Things by number; numbers of what is gone are used again.
#[derive(Debug)]
struct Shelf<T> {
    items: Vec<T>,
    free: BTreeSet<usize>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Self {
        Self { items: Vec::new(), free: BTreeSet::new() }
    }
}

impl<T> Shelf<T> {
    fn put(&mut self, item: T) -> usize {
        match self.free.pop_first() {
            Some(at) => {
                self.items[at] = item;
                at
            }
            None => {
                self.items.push(item);
                self.items.len() - 1
            }
        }
    }
}

/// All processes.
#[derive(Debug)]
pub(super) struct Tasks {
    tasks: HashMap<u32, Task>,
    tables: Shelf<Table>,
    cwds: Shelf<Cwd>,
    opens: Shelf<Open>,
    start: Vec<u8>,
    /// How many there were.
    pub(super) seen: u64,
}

impl Tasks {
    /// `start` is where a process is that nobody has said it of.
    pub(super) fn new(start: &[u8]) -> Self {
        Self {
            tasks: HashMap::new(),
            tables: Shelf::default(),
            cwds: Shelf::default(),
            opens: Shelf::default(),
            start: start.to_vec(),
            seen: 0,
        }
    }

    fn task(&mut self, pid: u32) -> Task {
        if let Some(task) = self.tasks.get(&pid) {
            return *task;
        }
        let table = self.tables.put(Table { users: 1, ..Table::default() });
        let cwd = self.cwds.put(Cwd { path: self.start.clone(), users: 1 });
        self.insert(pid, Task { table, cwd })
    }

    fn insert(&mut self, pid: u32, task: Task) -> Task {
        self.seen += 1;
        self.tasks.insert(pid, task);
        task
    }

    /// A fork takes effect. Returns what the end of an older process of that number closed.
    pub(super) fn fork(&mut self, parent: u32, fork: Fork) -> Vec<Open> {
        let closed = self.exit(fork.child);
        let Task { table, cwd } = self.task(parent);
        let table = if fork.shares_files { self.share(table) } else { self.copy(table) };
        let cwd = if fork.shares_cwd {
            self.cwds.items[cwd].users += 1;
            cwd
        } else {
            let path = self.cwds.items[cwd].path.clone();
            self.cwds.put(Cwd { path, users: 1 })
        };
        self.insert(fork.child, Task { table, cwd });
        closed
    }

    fn share(&mut self, table: usize) -> usize {
        self.tables.items[table].users += 1;
        table
    }

    fn copy(&mut self, table: usize) -> usize {
        let entries = self.tables.items[table].entries.clone();
        for entry in entries.values() {
            self.opens.items[entry.open].shares += 1;
        }
        self.tables.put(Table { entries, users: 1 })
    }

    /// A process ends; what it was the last one to have open.
    pub(super) fn exit(&mut self, pid: u32) -> Vec<Open> {
        let Some(task) = self.tasks.remove(&pid) else { return Vec::new() };
        let cwd = &mut self.cwds.items[task.cwd];
        cwd.users = cwd.users.saturating_sub(1);
        if cwd.users == 0 {
            cwd.path = Vec::new();
            self.cwds.free.insert(task.cwd);
        }
        let table = &mut self.tables.items[task.table];
        table.users = table.users.saturating_sub(1);
        if table.users > 0 {
            return Vec::new();
        }
        let entries = std::mem::take(&mut table.entries);
        self.tables.free.insert(task.table);
        self.close_all(entries.into_values())
    }

    fn close_all(&mut self, entries: impl Iterator<Item = Entry>) -> Vec<Open> {
        let mut opens: Vec<usize> = entries.map(|entry| entry.open).collect();
        opens.sort_unstable();
        opens.into_iter().filter_map(|open| self.drop_share(open)).collect()
    }

    fn drop_share(&mut self, open: usize) -> Option<Open> {
        let item = &mut self.opens.items[open];
        item.shares = item.shares.saturating_sub(1);
        if item.shares > 0 {
            return None;
        }
        let item = std::mem::take(item);
        self.opens.free.insert(open);
        Some(item)
    }

    /// The process has a table of its own from here on.
    pub(super) fn unshare(&mut self, pid: u32) {
        let task = self.task(pid);
        if self.tables.items[task.table].users > 1 {
            self.tables.items[task.table].users -= 1;
            let table = self.copy(task.table);
            self.tasks.insert(pid, Task { table, ..task });
        }
    }

    /// The process becomes another program.
    pub(super) fn exec(&mut self, pid: u32) -> Vec<Open> {
        self.unshare(pid);
        let table = self.task(pid).table;
        let entries = &mut self.tables.items[table].entries;
        let gone: Vec<i32> =
            entries.iter().filter(|(_, entry)| entry.cloexec).map(|(fd, _)| *fd).collect();
        let gone: Vec<Entry> = gone.iter().filter_map(|fd| entries.remove(fd)).collect();
        self.close_all(gone.into_iter())
    }

    /// A new descriptor. Returns its open file, and what it closed by taking its number; the handle
    /// is a number that is free.
    pub(super) fn open(
        &mut self,
        pid: u32,
        fd: i32,
        open: Open,
        cloexec: bool,
    ) -> (&mut Open, Option<Open>) {
        let at = self.opens.put(Open { shares: 0, ..open });
        let closed = self.set(pid, fd, at, cloexec);
        let open = &mut self.opens.items[at];
        // Handles start from 1.
        open.handle = at as i64 + 1;
        (open, closed)
    }

    fn set(&mut self, pid: u32, fd: i32, open: usize, cloexec: bool) -> Option<Open> {
        let table = self.task(pid).table;
        self.opens.items[open].shares += 1;
        let before = self.tables.items[table].entries.insert(fd, Entry { open, cloexec });
        before.and_then(|entry| self.drop_share(entry.open))
    }

    /// Another descriptor for the same; what it closed. Of one that nobody knows, the new number is
    /// unknown, too.
    pub(super) fn dup(&mut self, pid: u32, from: i32, to: i32, cloexec: bool) -> Option<Open> {
        match self.entry(pid, from) {
            Some(entry) if from != to => self.set(pid, to, entry.open, cloexec),
            Some(_) => None,
            None => self.close(pid, to),
        }
    }

    fn entry(&mut self, pid: u32, fd: i32) -> Option<Entry> {
        let table = self.task(pid).table;
        self.tables.items[table].entries.get(&fd).copied()
    }

    /// Whether a number is that of a known descriptor.
    pub(super) fn has(&mut self, pid: u32, fd: i32) -> bool {
        self.entry(pid, fd).is_some()
    }

    /// What a descriptor is open on.
    pub(super) fn get(&mut self, pid: u32, fd: i32) -> Option<&mut Open> {
        let open = self.entry(pid, fd)?.open;
        self.opens.items.get_mut(open)
    }

    /// Closes a descriptor; what that closed.
    pub(super) fn close(&mut self, pid: u32, fd: i32) -> Option<Open> {
        let table = self.task(pid).table;
        let entry = self.tables.items[table].entries.remove(&fd)?;
        self.drop_share(entry.open)
    }

    /// Closes a range of descriptors, or marks them to close with the next exec.
    pub(super) fn close_range(&mut self, pid: u32, range: (i64, i64), mark: bool) -> Vec<Open> {
        let table = self.task(pid).table;
        let entries = &mut self.tables.items[table].entries;
        let within = |fd: &i32| (range.0..=range.1).contains(&i64::from(*fd));
        let all: Vec<i32> = entries.keys().copied().filter(within).collect();
        if mark {
            for fd in all {
                self.set_cloexec(pid, fd, true);
            }
            return Vec::new();
        }
        let gone: Vec<Entry> = all.iter().filter_map(|fd| entries.remove(fd)).collect();
        self.close_all(gone.into_iter())
    }

    /// `F_SETFD`.
    pub(super) fn set_cloexec(&mut self, pid: u32, fd: i32, cloexec: bool) {
        let table = self.task(pid).table;
        if let Some(entry) = self.tables.items[table].entries.get_mut(&fd) {
            entry.cloexec = cloexec;
        }
    }

    /// Where a process is.
    pub(super) fn cwd(&mut self, pid: u32) -> &[u8] {
        let cwd = self.task(pid).cwd;
        &self.cwds.items[cwd].path
    }

    /// A process has gone elsewhere.
    pub(super) fn set_cwd(&mut self, pid: u32, path: Vec<u8>) {
        let cwd = self.task(pid).cwd;
        self.cwds.items[cwd].path = path;
    }
}
