//! What a simulated disk knows of its files and handles.

/// A file: its size, and who still holds it.
#[derive(Default)]
pub(super) struct File {
    pub(super) size: u64,
    /// What it counts with: its size, or of a pool's names the largest they had.
    pub(super) counted: u64,
    /// How many files it stands for: as many as the pool has names.
    pub(super) copies: u64,
    /// Whether all clients of a disk mean the same file by its name.
    pub(super) shared: bool,
    /// How many names it has.
    pub(super) names: u32,
    pub(super) open: u32,
}

/// Bytes of files, now and at most.
#[derive(Default)]
pub(super) struct Live {
    pub(super) now: u64,
    pub(super) max: u64,
}

impl Live {
    pub(super) fn change(&mut self, from: u64, to: u64) {
        self.now = self.now.saturating_sub(from).saturating_add(to);
        self.max = self.max.max(self.now);
    }
}

/// How a file is opened.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) directory: bool,
    pub(super) makes: bool,
    pub(super) cuts: bool,
    pub(super) appends: bool,
}

/// What a handle refers to.
#[derive(Clone, Copy)]
pub(super) struct Held {
    /// A file, or `None` for a directory.
    pub(super) file: Option<usize>,
    /// Where `read` and `write` go on.
    pub(super) position: u64,
    /// Whether every write goes to the end.
    pub(super) appends: bool,
    /// Of how many opens it is: the same handle may be opened again.
    pub(super) opened: u64,
}
