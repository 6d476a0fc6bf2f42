//! Operations that are one system call each, and what they have in common with dbench's: handles.

use crate::engine::{Call, Engine, Errno, PathSlot, RawFd};
use crate::loadfile::program::{Expect, HandleRef, Inst, Operand, PathId};
use crate::op::OpKind;

use super::Client;
use super::handles::{HandleSlot, Handles, Open};
use super::judge::{Miss, Outcome};
use super::ops::done;

impl<E: Engine> Client<'_, E> {
    /// The call that the operation is, on a path.
    pub(super) async fn one_call(
        &mut self,
        inst: &Inst,
        path: PathId,
        operands: [Operand; 3],
    ) -> Outcome {
        let numbers = operands.map(|operand| self.values.get(self.setup.program, operand));
        self.record(inst, &numbers);
        self.render(path, PathSlot::First);
        let numbers = numbers.map(|number| number as u64);
        match inst.op.map(OpKind::row) {
            Some(row) if row.speaks_of_attributes() => self.attribute(inst, None, numbers).await,
            _ => self.make(inst, NO_FD, numbers).await,
        }
    }

    /// The call that the operation is, on two paths.
    pub(super) async fn one_call_on_two(
        &mut self,
        inst: &Inst,
        [first, second]: [PathId; 2],
        operand: Operand,
    ) -> Outcome {
        let number = self.values.get(self.setup.program, operand);
        self.record(inst, &[number]);
        self.render(first, PathSlot::First);
        self.render(second, PathSlot::Second);
        if inst.op == Some(OpKind::Symlink) {
            let mut slot = self.engine.slot(self.index);
            let slot = &mut *slot;
            slot.parent.set_way(&slot.second, &slot.first);
        }
        self.make(inst, NO_FD, [number as u64, 0, 0]).await
    }

    /// The call that the operation is, on a handle.
    pub(super) async fn one_call_on_handle(
        &mut self,
        inst: &Inst,
        handle: HandleRef,
        operands: [Operand; 3],
    ) -> Outcome {
        // Owners are numbers, too: -1 leaves them as they are.
        let (open, numbers) = self.handle_and_values(inst, handle, operands, |value| value);
        let fd = open?.fd;
        match inst.op {
            Some(OpKind::Read | OpKind::Write | OpKind::MmapRead) => {
                self.transfer(inst, fd, numbers).await
            }
            Some(OpKind::CopyRange | OpKind::Sendfile) => {
                self.transfer_between(inst, fd, numbers).await
            }
            Some(OpKind::ListStat) => self.list_and_stat(fd).await,
            Some(op) if op.row().speaks_of_attributes() => {
                self.attribute(inst, Some(fd), numbers).await
            }
            _ => self.make(inst, fd, numbers).await,
        }
    }

    #[inline]
    async fn make(&self, inst: &Inst, fd: RawFd, numbers: [u64; 3]) -> Outcome {
        match inst.op.and_then(|op| op.row().call) {
            Some(kind) => done(self.call(Call::of(kind, fd, numbers)).await),
            None => Ok(()),
        }
    }

    /// `open`, and nothing else.
    pub(super) async fn open_with(
        &mut self,
        inst: &Inst,
        path: PathId,
        (flags, mode): (i32, u32),
        handle: HandleRef,
    ) -> Outcome {
        let (slot, number) = self.handle_slot(handle);
        self.record(inst, &[flags.into(), mode.into(), number]);
        self.render(path, PathSlot::First);
        let is_dir = flags & libc::O_DIRECTORY != 0;
        let mut flags = flags;
        if flags & (libc::O_DIRECTORY | libc::O_PATH) == 0 {
            let load = self.setup.load;
            flags |= if load.direct { libc::O_DIRECT } else { 0 };
            flags |= if load.sync_open { libc::O_SYNC } else { 0 };
        }
        let opened = self.call(Call::Open { path: PathSlot::First, flags, mode }).await;
        let drawn = self.pools.number(PathSlot::First);
        let open = opened.map(|fd| Open { fd: fd as RawFd, is_dir, path, drawn });
        self.give(inst, slot, open).await
    }

    /// Gives a handle what was opened. A handle number that is used again stands for the new file, or
    /// for none. But an open that fails as expected has no handle: recordings give it any number,
    /// also one in use.
    pub(super) async fn give(
        &mut self,
        inst: &Inst,
        slot: HandleSlot,
        open: Result<Open, Errno>,
    ) -> Outcome {
        let before = match open {
            Ok(open) => self.handles.put(slot, open),
            Err(_) if inst.expect == Expect::Success => self.handles.take(slot),
            Err(_) => None,
        };
        if let Some(before) = before {
            let _ = self.call(Call::Close(before.fd)).await;
        }
        open.map(drop).map_err(Miss::Errno)
    }

    /// The file that a handle is open on, and the numbers behind it, which count bytes: they are
    /// never negative.
    #[inline]
    pub(super) fn handle_and<const N: usize>(
        &mut self,
        inst: &Inst,
        handle: HandleRef,
        operands: [Operand; N],
    ) -> (Result<Open, Miss>, [u64; N]) {
        self.handle_and_values(inst, handle, operands, |value| value.max(0))
    }

    /// The file that a handle is open on, and what `taken` makes of the numbers behind it. The
    /// numbers are drawn and remembered even when the handle is not open, so that what follows does
    /// not depend on it.
    #[inline]
    fn handle_and_values<const N: usize>(
        &mut self,
        inst: &Inst,
        handle: HandleRef,
        operands: [Operand; N],
        taken: impl Fn(i64) -> i64,
    ) -> (Result<Open, Miss>, [u64; N]) {
        let (slot, number) = self.handle_slot(handle);
        let values = operands.map(|o| taken(self.values.get(self.setup.program, o)) as u64);
        if inst.records {
            let mut all = [0; 4];
            all[0] = number;
            for (to, value) in all[1..].iter_mut().zip(values) {
                *to = value as i64;
            }
            self.record(inst, &all[..=N]);
        }
        let open = self.handles.get(slot).ok_or(Miss::NoHandle);
        if let Ok(open) = &open {
            self.is_about(open);
        }
        (open, values)
    }

    #[inline]
    pub(super) fn handle_slot(&mut self, handle: HandleRef) -> (HandleSlot, i64) {
        match handle {
            HandleRef::Slot(slot) => {
                (Handles::literal(slot), self.setup.program.handles[slot as usize])
            }
            HandleRef::Dynamic(id) => {
                let number = self.values.expr(self.setup.program, id);
                (self.handles.computed(number), number)
            }
        }
    }
}

/// Of a call on a path.
const NO_FD: RawFd = -1;
