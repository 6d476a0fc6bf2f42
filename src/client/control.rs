//! Control instructions: loops, pauses, synchronisation points, patterns and strings.

use crate::engine::{Call, Engine, now_ns};
use crate::loadfile::program::{Action, Inst, Operand, Pc};

use super::drive::Client;
use super::report::Waiting;

impl<E: Engine> Client<'_, E> {
    /// Executes a control instruction; returns where to go on.
    pub(super) async fn control_step(&mut self, inst: &Inst, next: usize) -> usize {
        let program = self.setup.program;
        match inst.action {
            Action::LoopStart { count, .. } => self.loops.push(count),
            Action::LoopEnd { start: Pc(start) } => {
                if let Some(left) = self.loops.last_mut() {
                    *left -= 1;
                    if *left > 0 {
                        self.now = now_ns();
                        return start as usize + 1;
                    }
                    self.loops.pop();
                }
            }
            Action::Pause { micros } => {
                let micros = self.values.bytes(program, micros);
                let until_ns = now_ns().saturating_add(micros.saturating_mul(1000));
                self.sleep(until_ns).await;
            }
            Action::Enter { group } => return self.enter_group(group),
            Action::Leave { group } => return self.leave_block(group),
            Action::SetSp { value } => {
                let value = self.values.get(program, value);
                self.setup.control.points().set(self.setup.client, value);
            }
            Action::WaitSp { child, value } => self.wait_for_client(inst, child, value).await,
            Action::Phase { phase } => self.come_to(Some(phase)).await,
            Action::WritePattern { pattern } => {
                self.fill_with(&program.patterns[pattern as usize]);
            }
            Action::RandomString { slot, template } => {
                self.values.draw_string(slot, &program.templates[template as usize]);
            }
            _ => {}
        }
        next
    }

    async fn wait_for_client(&mut self, inst: &Inst, child: Operand, value: Operand) {
        let program = self.setup.program;
        let for_client = self.values.get(program, child);
        let value = self.values.get(program, value);
        self.waiting = Some(Waiting { line: inst.line, for_client, value, since_ns: self.now });
        let exists = |client: &u32| *client < self.setup.clients;
        let client = u32::try_from(for_client).ok().filter(exists).unwrap_or(u32::MAX);
        let reached = self.call(Call::Await { client, value }).await;
        self.now = now_ns();
        // A client that does not exist is not waited for, but stays in the report.
        if reached == Ok(1) {
            self.waiting = None;
        }
    }

    fn fill_with(&mut self, pattern: &[u8]) {
        let mut slot = self.engine.slot(self.index);
        for chunk in slot.write.chunks_mut(pattern.len()) {
            chunk.copy_from_slice(&pattern[..chunk.len()]);
        }
        self.stamps = false;
    }
}
