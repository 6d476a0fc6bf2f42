//! The operations of a loadfile, each made of engine calls. docs/loadfile.md has the table.

use crate::engine::{Call, CallResult, Engine, Errno, PathSlot, RawFd};
use crate::loadfile::program::{Action, HandleRef, Inst, Operand, PathId};

use super::Client;
use super::handles::Open;
use super::judge::{Miss, Outcome};

use PathSlot::{First, Second};

/// How dbench opens a directory for a handle.
const DIRECTORY: i32 = libc::O_RDONLY | libc::O_DIRECTORY;
/// NT create option: the path is a directory.
const FILE_DIRECTORY: i64 = 1;
/// `utime` sets the times this far back, in seconds, as dbench does.
const ATIME_BACK_S: i64 = 10;
const MTIME_BACK_S: i64 = 12;
/// Stamps are this far apart in a write buffer, in bytes: no two blocks of a file are equal.
const STAMP_EVERY: usize = 4096;

impl<E: Engine> Client<'_, E> {
    /// Executes an operation. Control instructions are not its business.
    pub(super) async fn perform(&mut self, inst: &Inst) -> Outcome {
        match inst.action {
            Action::Create { path, options, disposition, handle } => {
                self.create(inst, path, [options, disposition], handle).await
            }
            Action::Close { handle } => self.close(inst, handle).await,
            Action::Read { handle, offset, len, want } => {
                self.read(inst, handle, [offset, len, want]).await
            }
            Action::Write { handle, offset, len, want } => {
                self.write(inst, handle, [offset, len, want]).await
            }
            Action::QueryPath { path } => {
                self.render(path, First);
                done(self.resolve(First).await)
            }
            Action::Find { path, max } => self.find(inst, path, max).await,
            Action::QueryFile { handle } => self.query_file(inst, handle).await,
            Action::QueryFs => done(self.call(Call::Statfs(PathSlot::Root)).await),
            Action::Flush { handle } => {
                let open = self.opened(inst, handle)?;
                done(self.call(self.flush(open.fd)).await)
            }
            Action::SetFile { handle } => self.set_file(inst, handle).await,
            Action::Unlink { path } => self.remove(path, Call::Unlink(First)).await,
            Action::Rmdir { path } => self.remove(path, Call::Rmdir(First)).await,
            Action::Mkdir { path } => self.mkdir(path).await,
            Action::Rename { old, new } => self.rename(old, new).await,
            Action::Deltree { path } => {
                self.render(path, First);
                done(self.call(Call::Deltree(First)).await)
            }
            Action::Lock { handle, offset, len } => {
                self.lock(inst, handle, [offset, len], true).await
            }
            Action::Unlock { handle, offset, len } => {
                self.lock(inst, handle, [offset, len], false).await
            }
            Action::Open { path, flags, mode, handle } => {
                self.open_with(inst, path, (flags, mode), handle).await
            }
            Action::OnPath { path, numbers } => self.one_call(inst, path, numbers).await,
            Action::OnPaths { path, second, number } => {
                self.one_call_on_two(inst, [path, second], number).await
            }
            Action::OnHandle { handle, numbers } => {
                self.one_call_on_handle(inst, handle, numbers).await
            }
            Action::Pause { .. }
            | Action::LoopStart { .. }
            | Action::LoopEnd { .. }
            | Action::Enter { .. }
            | Action::Leave { .. }
            | Action::SetSp { .. }
            | Action::WaitSp { .. }
            | Action::WritePattern { .. }
            | Action::RandomString { .. }
            | Action::Phase { .. } => Ok(()),
        }
    }

    /// Renders a path into the slot.
    #[inline]
    pub(super) fn render(&mut self, id: PathId, which: PathSlot) -> bool {
        let mut slot = self.engine.slot(self.index);
        let buffer = if which == Second { &mut slot.second } else { &mut slot.first };
        let own = super::render::Own {
            client_name: &self.name,
            values: &self.values,
            drawn: self.pools.number(which),
        };
        super::render::render(self.setup.program, id, own, buffer)
    }

    async fn create(
        &mut self,
        inst: &Inst,
        path: PathId,
        operands: [Operand; 2],
        handle: HandleRef,
    ) -> Outcome {
        let [options, disposition] = operands.map(|o| self.values.get(self.setup.program, o));
        let (slot, number) = self.handle_slot(handle);
        self.record(inst, &[options, disposition, number]);
        self.render(path, First);
        let known = self.resolve(First).await.is_ok();
        let opened = self.open_or_make(options & FILE_DIRECTORY != 0, disposition).await;
        let open = match opened {
            Ok(fd) => self.describe(fd, path).await,
            Err(errno) => Err(errno),
        };
        self.give(inst, slot, open).await?;
        if !known && creates(disposition) {
            self.sync_parent(First).await?;
        }
        Ok(())
    }

    async fn open_or_make(&mut self, directory: bool, disposition: i64) -> Result<RawFd, Errno> {
        let mut sync = 0;
        if self.setup.load.sync_open {
            sync = libc::O_SYNC;
        }
        let mut made = Ok(0);
        let mut flags = DIRECTORY | sync;
        if directory {
            if creates(disposition) {
                made = self.call(Call::Mkdir { path: First, mode: 0o700 }).await;
            }
        } else {
            flags = libc::O_RDWR | sync | disposition_flags(disposition);
            if self.setup.load.direct {
                flags |= libc::O_DIRECT;
            }
        }
        let mut opened = self.call(Call::Open { path: First, flags, mode: 0o600 }).await;
        if opened == Err(Errno(libc::EISDIR as u16)) {
            let flags = DIRECTORY | sync;
            opened = self.call(Call::Open { path: First, flags, mode: 0o600 }).await;
        }
        match (opened, made) {
            (Ok(fd), _) => Ok(fd as RawFd),
            // The reason is why the directory could not be made, not that it is missing.
            (Err(Errno(open)), Err(made)) if i32::from(open) == libc::ENOENT => Err(made),
            (Err(errno), _) => Err(errno),
        }
    }

    async fn describe(&mut self, fd: RawFd, path: PathId) -> Result<Open, Errno> {
        self.call(Call::Fstat(fd)).await?;
        let is_dir = self.engine.slot(self.index).stat.is_dir;
        if !is_dir {
            self.write_attribute(fd).await?;
        }
        Ok(Open { fd, is_dir, path, drawn: self.pools.number(First) })
    }

    async fn close(&mut self, inst: &Inst, handle: HandleRef) -> Outcome {
        let (slot, number) = self.handle_slot(handle);
        self.record(inst, &[number]);
        let open = self.handles.take(slot).ok_or(Miss::NoHandle)?;
        self.is_about(&open);
        done(self.call(Call::Close(open.fd)).await)
    }

    async fn read(&mut self, inst: &Inst, handle: HandleRef, operands: [Operand; 3]) -> Outcome {
        let (open, [offset, len, want]) = self.handle_and(inst, handle, operands);
        let open = open?;
        if self.setup.load.fake_io {
            self.moved = len;
            return Ok(());
        }
        let len = (len as usize).min(self.max_read);
        self.moved = self.call(Call::Read { fd: open.fd, offset, len }).await?;
        if self.moved < want { Err(Miss::Short) } else { Ok(()) }
    }

    async fn write(&mut self, inst: &Inst, handle: HandleRef, operands: [Operand; 3]) -> Outcome {
        let (open, [offset, len, want]) = self.handle_and(inst, handle, operands);
        let Open { fd, .. } = open?;
        if self.setup.load.fake_io {
            self.moved = len;
            return Ok(());
        }
        let len = (len as usize).min(self.max_write);
        self.stamp(len);
        loop {
            let from = self.moved as usize;
            let offset = offset + self.moved;
            let n = self.call(Call::Write { fd, offset, from, len: len - from }).await?;
            self.moved += n;
            if n == 0 || self.moved as usize == len {
                break;
            }
        }
        if self.setup.load.fsync {
            self.call(self.flush(fd)).await?;
        }
        if self.moved < want { Err(Miss::Short) } else { Ok(()) }
    }

    /// Makes what is about to be written differ from all that was written before.
    #[inline]
    pub(super) fn stamp(&mut self, len: usize) {
        if self.stamps {
            self.stamp = self.stamp.wrapping_add(1);
            let stamp = self.stamp.to_le_bytes();
            let mut slot = self.engine.slot(self.index);
            for block in slot.write[..len].chunks_mut(STAMP_EVERY) {
                let take = block.len().min(stamp.len());
                block[..take].copy_from_slice(&stamp[..take]);
            }
        }
    }

    #[inline]
    fn flush(&self, fd: RawFd) -> Call {
        if self.setup.load.datasync { Call::Fdatasync(fd) } else { Call::Fsync(fd) }
    }

    async fn find(&mut self, inst: &Inst, path: PathId, max: Operand) -> Outcome {
        let max = self.values.get(self.setup.program, max);
        self.record(inst, &[0, max, 0]);
        let wild = self.render(path, First);
        let found = self.resolve(First).await;
        if wild {
            return done(self.list(First, max.max(0) as u64).await);
        }
        match found {
            // The directory could be read, nothing matched.
            Err(Errno(errno)) if i32::from(errno) == libc::ENOENT => Ok(()),
            other => done(other),
        }
    }

    async fn query_file(&mut self, inst: &Inst, handle: HandleRef) -> Outcome {
        let open = self.opened(inst, handle)?;
        let result = self.call(Call::Fstat(open.fd)).await;
        self.read_attribute(open.fd).await;
        done(result)
    }

    async fn set_file(&mut self, inst: &Inst, handle: HandleRef) -> Outcome {
        let Open { fd, is_dir, .. } = self.opened(inst, handle)?;
        self.read_attribute(fd).await;
        self.call(Call::Fstat(fd)).await?;
        let stat = self.engine.slot(self.index).stat;
        let (atime_s, mtime_s) = (stat.atime_s - ATIME_BACK_S, stat.mtime_s - MTIME_BACK_S);
        self.call(Call::Futimens { fd, atime_s, mtime_s }).await?;
        if !is_dir {
            self.write_attribute(fd).await?;
        }
        Ok(())
    }

    async fn remove(&mut self, path: PathId, call: Call) -> Outcome {
        self.render(path, First);
        let _ = self.resolve(First).await;
        let removed = self.call(call).await;
        let synced = self.sync_parent(First).await;
        done(removed.and(synced))
    }

    async fn mkdir(&mut self, path: PathId) -> Outcome {
        self.render(path, First);
        let _ = self.resolve(First).await;
        match self.call(Call::Mkdir { path: First, mode: 0o777 }).await {
            Err(Errno(errno)) if i32::from(errno) == libc::EEXIST => Ok(()),
            Err(errno) => Err(errno.into()),
            Ok(_) => done(self.sync_parent(First).await),
        }
    }

    async fn rename(&mut self, old: PathId, new: PathId) -> Outcome {
        self.render(old, First);
        self.render(new, Second);
        let _ = self.resolve(First).await;
        let _ = self.resolve(Second).await;
        let renamed = self.call(Call::Rename).await;
        let synced = self.sync_parent(Second).await;
        done(renamed.and(synced))
    }

    async fn lock(
        &mut self,
        inst: &Inst,
        handle: HandleRef,
        operands: [Operand; 2],
        lock: bool,
    ) -> Outcome {
        let (open, [offset, len]) = self.handle_and(inst, handle, operands);
        done(self.call(Call::Lock { fd: open?.fd, offset, len, lock }).await)
    }

    /// The file that a handle is open on, for a line whose only number that counts is the handle.
    fn opened(&mut self, inst: &Inst, handle: HandleRef) -> Result<Open, Miss> {
        self.handle_and(inst, handle, []).0
    }

    #[inline]
    pub(super) fn record(&mut self, inst: &Inst, values: &[i64]) {
        if inst.records
            && let Some(op) = inst.op
        {
            self.values.record(self.setup.program, op, values);
        }
    }
}

#[inline]
pub(super) fn done(result: CallResult) -> Outcome {
    result.map(drop).map_err(Miss::Errno)
}

/// Whether an NT disposition makes what is not there: all but 1, open. dbench leaves out 0
/// (supersede) and 3 (open or create), which makes loads fail that Samba serves.
fn creates(disposition: i64) -> bool {
    disposition != 1
}

fn disposition_flags(disposition: i64) -> i32 {
    match disposition {
        1 => 0,
        2 | 3 => libc::O_CREAT,
        _ => libc::O_CREAT | libc::O_TRUNC,
    }
}
