//! What a client is at, for whoever watches it from outside: a call that does not come back can tell
//! nothing itself.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::loadfile::Program;
use crate::loadfile::program::{Action, PathId, Segment};
use crate::op::OpKind;

/// Written by the client at each operation, a few plain stores in a cache line of its own. Nobody may
/// conclude from one value to another: a reader can see an operation with the path of the one before.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Doing {
    /// Index of the instruction, plus one; 0 between operations.
    inst: AtomicU32,
    /// The path that its handle was opened by, plus one; 0 for none.
    path: AtomicU32,
    /// The number that this path had drawn from a pool.
    drawn: AtomicU32,
    since_ns: AtomicU64,
}

/// An operation that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Underway {
    /// The operation.
    pub op: OpKind,
    /// Its line in the loadfile, from 1.
    pub line: u32,
    /// The path that it is about, below the run directory; what is not known of it from outside is
    /// a `*`.
    pub path: Option<String>,
    /// Since when, in nanoseconds of the run's clock.
    pub since_ns: u64,
}

impl Doing {
    /// Nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            inst: AtomicU32::new(0),
            path: AtomicU32::new(0),
            drawn: AtomicU32::new(0),
            since_ns: AtomicU64::new(0),
        }
    }

    /// An operation begins: that of the instruction before `next`.
    #[inline]
    pub(super) fn begin(&self, next: usize, now_ns: u64) {
        self.path.store(0, Relaxed);
        self.since_ns.store(now_ns, Relaxed);
        self.inst.store(next as u32, Relaxed);
    }

    /// It is about what its handle was opened by.
    #[inline]
    pub(super) fn is_about(&self, path: PathId, drawn: u32) {
        self.drawn.store(drawn, Relaxed);
        self.path.store(path.0 + 1, Relaxed);
    }

    /// No operation is under way.
    #[inline]
    pub(super) fn rest(&self) {
        self.inst.store(0, Relaxed);
    }

    /// The operation that is under way since `before_ns` or longer.
    #[must_use]
    pub fn since(&self, before_ns: u64, program: &Program, client: u32) -> Option<Underway> {
        let (inst, since_ns) = (self.inst.load(Relaxed), self.since_ns.load(Relaxed));
        if inst == 0 || since_ns > before_ns {
            return None;
        }
        let inst = program.insts.get(inst as usize - 1)?;
        let held = self.path.load(Relaxed).checked_sub(1).map(PathId);
        let drawn = held.map(|_| self.drawn.load(Relaxed));
        let path = held.or_else(|| named(&inst.action));
        let path = path.filter(|path| (path.0 as usize) < program.paths.len());
        let path = path.map(|path| text(program, path, client, drawn));
        Some(Underway { op: inst.op?, line: inst.line, path, since_ns })
    }
}

/// The path that an instruction names, the first of two.
fn named(action: &Action) -> Option<PathId> {
    match *action {
        Action::Deltree { path }
        | Action::Mkdir { path }
        | Action::Rmdir { path }
        | Action::Create { path, .. }
        | Action::Open { path, .. }
        | Action::Rename { old: path, .. }
        | Action::Unlink { path }
        | Action::Find { path, .. }
        | Action::QueryPath { path }
        | Action::OnPath { path, .. }
        | Action::OnPaths { path, .. } => Some(path),
        _ => None,
    }
}

fn text(program: &Program, path: PathId, client: u32, drawn: Option<u32>) -> String {
    let mut out = Vec::new();
    for segment in program.path(path).0 {
        match *segment {
            Segment::Literal { start, len } => out.extend(program.literal(start, len)),
            Segment::Client => out.extend(format!("client{client}").into_bytes()),
            Segment::Drawn(_) => {
                out.extend(drawn.map_or_else(|| "*".into(), |n| n.to_string()).into_bytes());
            }
            Segment::Slot(_) => out.push(b'*'),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loadfile::{Options, parse_bytes};

    #[test]
    fn what_is_under_way_is_known_by_line_and_path() {
        let text =
            "POOL f 9 /clients/client1/f\nFlush 1 *\nMkdir \"/clients/client1\" *\nstat {f} *\n";
        let program = parse_bytes("t", text.as_bytes(), &Options::default()).unwrap().program;
        let doing = Doing::default();
        assert_eq!(doing.since(u64::MAX, &program, 3), None);
        doing.begin(2, 1000);
        assert_eq!(doing.since(999, &program, 3), None);
        let path = Some("/clients/client3".to_owned());
        let mkdir = Underway { op: OpKind::Mkdir, line: 3, path, since_ns: 1000 };
        assert_eq!(doing.since(1000, &program, 3), Some(mkdir));
        doing.begin(3, 1500);
        let path = doing.since(2000, &program, 0).unwrap().path;
        assert_eq!(path.as_deref(), Some("/clients/client0/f*"));
        doing.begin(1, 2000);
        doing.is_about(PathId(1), 7);
        let flush = doing.since(2000, &program, 0).unwrap();
        assert_eq!((flush.line, flush.path.as_deref()), (2, Some("/clients/client0/f7")));
        doing.rest();
        assert_eq!(doing.since(u64::MAX, &program, 3), None);
    }
}
