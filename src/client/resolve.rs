//! What Samba does around a name, and dbench after it: look for it in another spelling, read an
//! attribute, sync the directory.

use crate::engine::{Call, CallResult, Engine, Errno, PathSlot, RawFd, count_entries, has_entry};

use super::Client;

pub(super) const OPEN_DIR: i32 =
    libc::O_RDONLY | libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_DIRECTORY;

impl<E: Engine> Client<'_, E> {
    /// `stat` of a path, and what follows it: with `--xattr` the attribute of a file that is
    /// there, else (not with `--no-resolve`) a search of its directory for the name in another
    /// case. The search costs what it costs in Samba; its result is not used, as in dbench.
    pub(super) async fn resolve(&mut self, path: PathSlot) -> CallResult {
        let found = self.call(Call::Stat(path)).await;
        match found {
            Ok(_) if self.setup.load.xattr => {
                let _ = self.call(Call::Getxattr(path)).await;
            }
            Err(_) if self.setup.load.resolve => {
                let _ = self.search(path).await;
            }
            _ => {}
        }
        found
    }

    /// Reads the directory of `path` until a name is the path's own in any case.
    pub(super) async fn search(&mut self, path: PathSlot) -> CallResult {
        let fd = self.open_parent(path, OPEN_DIR).await?;
        let mut result = self.call(Call::Fstat(fd)).await;
        while result.is_ok() {
            result = self.call(Call::Getdents(fd)).await;
            match result {
                Ok(filled) if filled > 0 && !self.names_contain(path, filled as usize) => {}
                _ => break,
            }
        }
        let closed = self.call(Call::Close(fd)).await;
        result.and(closed)
    }

    /// Whether the entries just read hold the last component of `path`, ignoring case.
    fn names_contain(&self, path: PathSlot, filled: usize) -> bool {
        let slot = self.engine.slot(self.index);
        let whole = slot.path(path).as_bytes();
        let name = whole.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        has_entry(&slot.dir, filled, name)
    }

    /// Reads at most `max` entries of the directory that a pattern stands in.
    pub(super) async fn list(&mut self, path: PathSlot, max: u64) -> CallResult {
        let fd = self.open_parent(path, OPEN_DIR).await?;
        let mut result = self.call(Call::Fstat(fd)).await;
        let mut seen = 0;
        while result.is_ok() && seen < max {
            result = self.call(Call::Getdents(fd)).await;
            match result {
                Ok(filled) if filled > 0 => {
                    let slot = self.engine.slot(self.index);
                    seen += count_entries(&slot.dir, filled as usize);
                }
                _ => break,
            }
        }
        let closed = self.call(Call::Close(fd)).await;
        result.and(closed)
    }

    /// With `--sync-dir`: makes a change in the directory of `path` durable.
    pub(super) async fn sync_parent(&mut self, path: PathSlot) -> CallResult {
        if !self.setup.load.sync_dir {
            return Ok(0);
        }
        let fd = self.open_parent(path, libc::O_RDONLY).await?;
        let synced = self.call(Call::Fdatasync(fd)).await;
        let closed = self.call(Call::Close(fd)).await;
        synced.and(closed)
    }

    /// With `--xattr`: reads the attribute of an open file.
    pub(super) async fn read_attribute(&mut self, fd: RawFd) {
        if self.setup.load.xattr {
            // Not there until it was written: no error.
            let _ = self.call(Call::Fgetxattr(fd)).await;
        }
    }

    /// With `--xattr`: reads and writes the attribute of an open file.
    pub(super) async fn write_attribute(&mut self, fd: RawFd) -> CallResult {
        if !self.setup.load.xattr {
            return Ok(0);
        }
        self.read_attribute(fd).await;
        self.call(Call::Fsetxattr(fd)).await
    }

    async fn open_parent(&mut self, path: PathSlot, flags: i32) -> Result<RawFd, Errno> {
        {
            let mut slot = self.engine.slot(self.index);
            let slot = &mut *slot;
            let of = if path == PathSlot::Second { &slot.second } else { &slot.first };
            slot.parent.set_parent_of(of);
        }
        let fd = self.call(Call::Open { path: PathSlot::Parent, flags, mode: 0 }).await?;
        Ok(fd as RawFd)
    }
}
