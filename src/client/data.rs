//! Words of one call that move data or speak of attributes, and the listing of a directory.

use crate::acl::ACCESS_XATTR;
use crate::engine::{AttributeCall, Call, Engine, RawFd, next_name};
use crate::loadfile::program::Inst;
use crate::op::argument::{Role, Text};
use crate::op::{CallKind, OpKind};

use super::Client;
use super::judge::{Miss, Outcome};
use super::ops::done;

impl<E: Engine> Client<'_, E> {
    /// `read` and `write` (length, and what shall be moved), and `mmapread` (offset and length).
    pub(super) async fn transfer(
        &mut self,
        inst: &Inst,
        fd: RawFd,
        [first, second, _]: [u64; 3],
    ) -> Outcome {
        let (len, want) = match inst.op {
            Some(OpKind::MmapRead) => (second, second),
            _ => (first, second),
        };
        if self.setup.load.fake_io {
            self.moved = len;
            return Ok(());
        }
        let call = match inst.op {
            Some(OpKind::Read) => {
                Call::of(CallKind::ReadNext, fd, [len.min(self.max_read as u64), 0, 0])
            }
            Some(OpKind::Write) => {
                let len = len.min(self.max_write as u64);
                self.stamp(len as usize);
                Call::of(CallKind::WriteNext, fd, [len, 0, 0])
            }
            _ => Call::of(CallKind::MmapRead, fd, [first, len, 0]),
        };
        self.moved = self.call(call).await?;
        if self.moved < want { Err(Miss::Short) } else { Ok(()) }
    }

    /// `copy_file_range` and `sendfile`: the other handle, the length, and what shall be moved.
    pub(super) async fn transfer_between(
        &mut self,
        inst: &Inst,
        from: RawFd,
        [to, len, want]: [u64; 3],
    ) -> Outcome {
        let slot = self.handles.computed(to as i64);
        let to = self.handles.get(slot).ok_or(Miss::NoHandle)?;
        self.is_about(&to);
        let kind = match inst.op {
            Some(OpKind::Sendfile) => CallKind::Sendfile,
            _ => CallKind::CopyRange,
        };
        if self.setup.load.fake_io {
            self.moved = len;
            return Ok(());
        }
        self.moved = self.call(Call::of(kind, from, [to.fd as u64, len, 0])).await?;
        if self.moved < want { Err(Miss::Short) } else { Ok(()) }
    }

    /// A call about an extended attribute, or about the access ACL, which is kept as one.
    pub(super) async fn attribute(
        &mut self,
        inst: &Inst,
        fd: Option<RawFd>,
        numbers: [u64; 3],
    ) -> Outcome {
        let Some((op, kind)) = inst.op.and_then(|op| Some((op, op.row().call?))) else {
            return Ok(());
        };
        let call = match op {
            OpKind::Getacl | OpKind::Setacl | OpKind::Removeacl => {
                self.acl_call(op == OpKind::Setacl, kind, numbers[0])
            }
            _ => self.attribute_call(op, kind, fd, numbers),
        };
        let moved = self.call(Call::Attribute(call)).await?;
        if !call.acl && op.row().call.is_some_and(reads_or_lists) {
            self.moved = moved;
        }
        Ok(())
    }

    fn acl_call(&self, sets: bool, kind: CallKind, text: u64) -> AttributeCall {
        let program = self.setup.program;
        let mut slot = self.engine.slot(self.index);
        slot.name.reset();
        slot.name.push(ACCESS_XATTR.as_bytes());
        let mut len = slot.dir.len();
        if sets {
            let value = &program.texts[text as usize];
            len = value.len();
            slot.value[..len].copy_from_slice(value);
        }
        AttributeCall { kind, fd: None, len: len as u32, flags: 0, acl: true }
    }

    fn attribute_call(
        &self,
        op: OpKind,
        kind: CallKind,
        fd: Option<RawFd>,
        numbers: [u64; 3],
    ) -> AttributeCall {
        let mut numbers = numbers.into_iter();
        // What stands behind the handle, if there is one.
        let roles = op.row().numbers.iter().skip(usize::from(fd.is_some()));
        let mut call = AttributeCall { kind, fd, len: 0, flags: 0, acl: false };
        for ((role, _), number) in roles.zip(&mut numbers) {
            match role {
                Role::Text(Text::AttributeName) => {
                    let mut slot = self.engine.slot(self.index);
                    slot.name.reset();
                    slot.name.push(&self.setup.program.texts[number as usize]);
                }
                Role::ValueLength => {
                    let most = if reads_or_lists(kind) { self.max_read } else { self.max_write };
                    call.len = number.min(most as u64) as u32;
                }
                _ => call.flags = number as i32,
            }
        }
        call
    }

    /// `liststat`: from the start of the directory to its end, with a look at each entry.
    pub(super) async fn list_and_stat(&mut self, fd: RawFd) -> Outcome {
        self.call(Call::of(CallKind::Lseek, fd, [0; 3])).await?;
        loop {
            let filled = self.call(Call::Getdents(fd)).await? as usize;
            if filled == 0 {
                return Ok(());
            }
            let mut from = 0;
            loop {
                let next = next_name(&self.engine.slot(self.index).dir, filled, from);
                let Some((at, behind)) = next else { break };
                from = behind;
                match self.call(Call::StatEntry { fd, at }).await {
                    // Another client has removed it meanwhile.
                    Err(errno) if i32::from(errno.0) == libc::ENOENT => {}
                    other => done(other)?,
                }
            }
        }
    }
}

/// Whether a call fills memory.
fn reads_or_lists(kind: CallKind) -> bool {
    matches!(
        kind,
        CallKind::Getxattr | CallKind::Fgetxattr | CallKind::Listxattr | CallKind::Flistxattr
    )
}
