//! The second reading: each call changes what is known of tree and processes, and becomes a line of
//! the load or a count of the report.

use super::call::{Call, Fd};
use super::emit::{Names, Printer, Sink};
use super::feed::{Place, Watch};
use super::forks::{Fork, Forks};
use super::place;
use super::report::{Fate, Report};
use super::tasks::{Open, Tasks};
use super::text;
use super::tree::{Id, Kind, Lost, Tree};
use crate::errno;
use crate::loadfile::program::Expect;
use crate::op::OpKind;

/// A path argument.
pub(super) enum Named {
    /// Below the root.
    In(Vec<u8>),
    /// Elsewhere.
    Out,
    /// Empty: the descriptor is meant.
    Empty,
    /// Not to be read.
    Hidden,
}

pub(super) struct Session<'s> {
    pub(super) root: Vec<u8>,
    pub(super) forks: Forks,
    pub(super) tasks: Tasks,
    pub(super) tree: Tree,
    pub(super) names: Names,
    pub(super) printer: Printer<'s>,
    pub(super) report: Report,
}

impl Watch for Session<'_> {
    fn begin(&mut self, pid: u32, at: Place) {
        if let Some(fork) = self.forks.split.get(&at) {
            let closed = self.tasks.fork(pid, *fork);
            self.emit_closes(closed);
        }
    }

    fn call(&mut self, pid: u32, at: Place, call: &Call<'_>) {
        let restarted = call.error.is_some_and(|name| name.starts_with("ERESTART"));
        let fate = if restarted {
            self.report.note("a call that a signal interrupted, and that came again", 1);
            Fate::Failed
        } else {
            self.fate(pid, at, call)
        };
        self.report.count(call.name, fate);
    }

    fn exit(&mut self, pid: u32) {
        let closed = self.tasks.exit(pid);
        self.emit_closes(closed);
    }
}

impl<'s> Session<'s> {
    pub(super) fn new(root: &[u8], forks: Forks, hide: bool, sink: &'s mut Sink<'s>) -> Self {
        Self {
            root: root.to_vec(),
            tasks: Tasks::new(forks.cwd.as_deref().unwrap_or(root)),
            forks,
            tree: Tree::new(root),
            names: Names::new(hide),
            printer: Printer::new(sink),
            report: Report::default(),
        }
    }

    fn fate(&mut self, pid: u32, at: Place, call: &Call<'_>) -> Fate {
        if let Some(fork) = Fork::of(call) {
            if !self.forks.split.contains_key(&at) {
                let closed = self.tasks.fork(pid, fork);
                self.emit_closes(closed);
            }
            return Fate::Folded;
        }
        if let Some(fate) = self.on_task(pid, call) {
            return fate;
        }
        if let Some(fate) = self.on_path(pid, call) {
            return fate;
        }
        if let Some(fate) = self.on_fd(pid, call) {
            return fate;
        }
        self.other(pid, call)
    }

    /// A call that nothing here knows: whether it is about something below the root.
    fn other(&mut self, pid: u32, call: &Call<'_>) -> Fate {
        if matches!(call.name, "io_uring_setup" | "io_setup") && call.error.is_none() {
            return Fate::Dropped("io_uring or AIO: strace does not see what goes through it");
        }
        if PATH_FIRST.contains(&call.name) && matches!(self.named(pid, call, None, 0), Named::In(_))
        {
            return Fate::Dropped(WORDLESS);
        }
        for index in 0..call.arguments.len() {
            let below = |path: &[u8]| place::below(&self.root, path).is_some();
            if call.fd(index).is_some_and(|fd| fd.path.is_some_and(|path| below(&path))) {
                return Fate::Dropped(WORDLESS);
            }
            let absolute = text::string(call.argument(index)).filter(|path| path.starts_with(b"/"));
            if absolute.is_some_and(|path| below(&place::absolute(b"/", &path))) {
                return Fate::Dropped(WORDLESS);
            }
        }
        if let Some(fd) = call.fd(0).and_then(|fd| fd.number)
            && self.tasks.get(pid, fd).is_some_and(|open| open.node.is_some())
        {
            return Fate::Dropped(WORDLESS);
        }
        Fate::Outside
    }

    /// The path of an argument; `dir` is where a descriptor says what it starts from.
    pub(super) fn named(
        &mut self,
        pid: u32,
        call: &Call<'_>,
        dir: Option<usize>,
        at: usize,
    ) -> Named {
        let start = match dir.and_then(|index| call.fd(index)) {
            Some(Fd { number: None, path: Some(path), .. }) => {
                // What strace says of the working directory is true.
                self.tasks.set_cwd(pid, path.clone());
                Some(path)
            }
            Some(Fd { path: Some(path), .. }) => Some(path),
            Some(Fd { number: Some(fd), .. }) => self.dir_of(pid, fd),
            _ => None,
        };
        let Some(path) = text::string(call.argument(at)) else { return Named::Hidden };
        if path.is_empty() {
            return Named::Empty;
        }
        let whole = match start {
            Some(start) => place::absolute(&start, &path),
            None => place::absolute(self.tasks.cwd(pid), &path),
        };
        if let Some(path) = self.by_descriptor(pid, &whole) {
            self.report.note("paths below /proc/self/fd: the path of the file itself instead", 1);
            return Named::In(path);
        }
        self.inside(&whole).map_or(Named::Out, Named::In)
    }

    /// What a path below `/proc/self/fd` means.
    fn by_descriptor(&mut self, pid: u32, whole: &[u8]) -> Option<Vec<u8>> {
        let rest = whole.strip_prefix(b"/proc/self/fd/")?;
        let end = rest.iter().position(|b| *b == b'/').unwrap_or(rest.len());
        let fd = i32::try_from(text::number(&rest[..end])?).ok()?;
        let start = self.dir_of(pid, fd)?;
        self.inside(&[&start, &rest[end..]].concat())
    }

    fn dir_of(&mut self, pid: u32, fd: i32) -> Option<Vec<u8>> {
        let open = self.tasks.get(pid, fd)?;
        open.node?;
        let path = open.path.clone();
        Some(place::absolute(&self.root, &path))
    }

    pub(super) fn inside(&self, whole: &[u8]) -> Option<Vec<u8>> {
        place::below(&self.root, whole).map(<[u8]>::to_vec)
    }

    /// A line on one path.
    pub(super) fn emit(
        &mut self,
        kind: OpKind,
        path: &[u8],
        numbers: &[i64],
        expect: Expect,
    ) -> Fate {
        let path = self.names.path(path);
        self.played(kind, &[&path], numbers, expect)
    }

    /// A line on a handle, that has to succeed.
    pub(super) fn emit_on(&mut self, kind: OpKind, numbers: &[i64]) -> Fate {
        self.played(kind, &[], numbers, Expect::Success)
    }

    pub(super) fn played(
        &mut self,
        kind: OpKind,
        paths: &[&[u8]],
        numbers: &[i64],
        expect: Expect,
    ) -> Fate {
        if self.printer.op(kind, paths, numbers, expect) {
            Fate::Played
        } else {
            Fate::Dropped("a name or number that a loadfile cannot hold")
        }
    }

    pub(super) fn emit_closes(&mut self, closed: impl IntoIterator<Item = Open>) {
        for open in closed {
            if open.node.is_some() {
                self.emit_on(OpKind::Close, &[open.handle]);
            }
        }
    }

    /// What a call that failed has to be in the load. `kind` is what is at the path where the error
    /// says that something is.
    pub(super) fn miss(&mut self, path: &[u8], follow: bool, error: &str) -> Result<Expect, Fate> {
        let spot = self.tree.walk(path, follow).map_err(lost)?;
        let fits = match error {
            "ENOENT" => self.tree.refuse(&spot),
            "EEXIST" => self.tree.settle(&spot, Kind::Exists),
            "EISDIR" => self.tree.settle(&spot, Kind::Dir),
            "ENOTEMPTY" => self.tree.settle(&spot, Kind::Dir) && self.tree.has_entries(spot.node),
            "ENOTDIR" => self.not_a_directory(path, follow),
            _ => return Err(Fate::Failed),
        };
        if fits { Ok(expected(error)) } else { Err(Fate::Order) }
    }

    /// Something on the way is no directory, or the last one is none that should be.
    fn not_a_directory(&mut self, path: &[u8], follow: bool) -> bool {
        let Ok(spot) = self.tree.walk(path, follow) else { return false };
        if self.tree.has_no_way(&spot) {
            let file = |id: &Id| matches!(self.tree.nodes[*id].kind, Kind::File | Kind::Exists);
            return spot.above().iter().any(file)
                && spot
                    .above()
                    .iter()
                    .all(|id| self.tree.nodes[*id].kind != Kind::Absent || file(id));
        }
        self.tree.settle(&spot, Kind::File)
    }

    /// What is at a path that a call used with success.
    pub(super) fn found(&mut self, path: &[u8], follow: bool, kind: Kind) -> Result<Id, Fate> {
        let spot = self.tree.walk(path, follow).map_err(lost)?;
        if self.tree.nodes[spot.node].kind == Kind::Other || kind == Kind::Other {
            self.tree.settle(&spot, Kind::Other);
            return Err(Fate::Dropped(SPECIAL));
        }
        if self.tree.settle(&spot, kind) { Ok(spot.node) } else { Err(Fate::Order) }
    }
}

/// Calls without a word whose first argument is a path, which may be a relative one.
const PATH_FIRST: &[&str] = &[
    "getxattr",
    "lgetxattr",
    "setxattr",
    "lsetxattr",
    "listxattr",
    "llistxattr",
    "removexattr",
    "lremovexattr",
    "chroot",
    "mount",
    "umount2",
    "quotactl",
    "swapon",
    "swapoff",
    "acct",
];

/// No word in the language.
pub(super) const WORDLESS: &str = "the language has no word for the call";
/// What is neither file, directory nor link.
pub(super) const SPECIAL: &str = "on a device, pipe or socket";

/// The status of an error's name.
pub(super) fn expected(error: &str) -> Expect {
    let number = errno::from_name(error).and_then(|number| u16::try_from(number).ok());
    number.map_or(Expect::Failure, Expect::Errno)
}

pub(super) fn lost(lost: Lost) -> Fate {
    match lost {
        Lost::Outside => Fate::Outside,
        Lost::Blind => {
            Fate::Dropped("through a link of which the recording does not say where it leads")
        }
        Lost::Loop => Fate::Failed,
    }
}
