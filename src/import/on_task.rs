//! Calls about descriptors as such, directories and programs: they become no line, but what comes after
//! them depends on them.

use super::call::Call;
use super::report::Fate;
use super::session::{Named, Session};
use super::tasks::Open;
use super::tree::Kind;

/// Calls about no file at all.
const NO_FILE: &[&str] = &[
    "wait4",
    "waitid",
    "exit",
    "exit_group",
    "getcwd",
    "umask",
    "pipe",
    "pipe2",
    "munmap",
    "kill",
    "set_tid_address",
    "set_robust_list",
    "socket",
    "socketpair",
    "eventfd2",
    "memfd_create",
    "epoll_create1",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "pidfd_open",
    "sync",
    "brk",
    "mprotect",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "prlimit64",
    "getrandom",
    "arch_prctl",
    "futex",
];

impl Session<'_> {
    pub(super) fn on_task(&mut self, pid: u32, call: &Call<'_>) -> Option<Fate> {
        let ok = call.error.is_none();
        Some(match call.name {
            "close" => self.close(pid, call),
            "dup" | "dup2" | "dup3" => {
                let cloexec = call.has(2, "O_CLOEXEC");
                self.dup(pid, call, cloexec)
            }
            "fcntl" | "fcntl64" => return self.fcntl(pid, call),
            "close_range" => {
                if let (true, Some(first), Some(last)) = (ok, call.number(0), call.number(1)) {
                    if call.mentions("CLOSE_RANGE_UNSHARE") {
                        self.tasks.unshare(pid);
                    }
                    let last = if last < 0 { i64::MAX } else { last };
                    let mark = call.mentions("CLOSE_RANGE_CLOEXEC");
                    let closed = self.tasks.close_range(pid, (first, last), mark);
                    self.emit_closes(closed);
                }
                Fate::Folded
            }
            "unshare" => {
                if ok && call.mentions("CLONE_FILES") {
                    self.tasks.unshare(pid);
                }
                Fate::Folded
            }
            "chdir" => self.chdir(pid, call),
            "fchdir" => {
                if let (true, Some(fd)) = (ok, call.fd(0)) {
                    let known = fd.number.and_then(|n| self.tasks.get(pid, n));
                    let known = known.filter(|open| open.node.is_some()).map(|o| o.path.clone());
                    let known = known.map(|path| super::place::absolute(&self.root, &path));
                    if let Some(path) = fd.path.or(known) {
                        self.tasks.set_cwd(pid, path);
                    }
                }
                Fate::Folded
            }
            "execve" | "execveat" => self.exec(pid, call),
            name if NO_FILE.contains(&name) => Fate::Outside,
            _ => return None,
        })
    }

    fn close(&mut self, pid: u32, call: &Call<'_>) -> Fate {
        let (Some(fd), None) = (call.fd(0).and_then(|fd| fd.number), call.error) else {
            return Fate::Failed;
        };
        if !self.tasks.has(pid, fd) {
            return Fate::Outside;
        }
        let inside = self.tasks.get(pid, fd).is_some_and(|open| open.node.is_some());
        match self.tasks.close(pid, fd) {
            Some(open) if open.node.is_some() => {
                self.emit_closes([open]);
                Fate::Played
            }
            // Another descriptor has it still.
            None if inside => Fate::Folded,
            _ => Fate::Outside,
        }
    }

    fn dup(&mut self, pid: u32, call: &Call<'_>, cloexec: bool) -> Fate {
        if let (None, Some(from), Some(to)) = (call.error, call.fd(0), call.value)
            && let (Some(from), Ok(to)) = (from.number, i32::try_from(to))
        {
            let closed = self.tasks.dup(pid, from, to, cloexec);
            self.emit_closes(closed);
        }
        Fate::Folded
    }

    fn fcntl(&mut self, pid: u32, call: &Call<'_>) -> Option<Fate> {
        let fd = call.fd(0).and_then(|fd| fd.number)?;
        let ok = call.error.is_none();
        match call.argument(1) {
            b"F_DUPFD" => Some(self.dup(pid, call, false)),
            b"F_DUPFD_CLOEXEC" => Some(self.dup(pid, call, true)),
            b"F_SETFD" => {
                if ok {
                    self.tasks.set_cloexec(pid, fd, call.has(2, "FD_CLOEXEC"));
                }
                Some(Fate::Folded)
            }
            b"F_GETFD" | b"F_GETFL" => Some(Fate::Folded),
            b"F_SETFL" => {
                if let (true, Some(open)) = (ok, self.tasks.get(pid, fd))
                    && open.appends != call.has(2, "O_APPEND")
                {
                    open.appends = !open.appends;
                    return Some(Fate::Dropped("O_APPEND set or taken while open"));
                }
                Some(Fate::Folded)
            }
            _ => None,
        }
    }

    fn chdir(&mut self, pid: u32, call: &Call<'_>) -> Fate {
        let named = self.named(pid, call, None, 0);
        if call.error.is_some() {
            return match named {
                Named::In(_) => Fate::Dropped("a chdir that failed"),
                _ => Fate::Outside,
            };
        }
        if let Some(path) = super::text::string(call.argument(0)) {
            let whole = super::place::absolute(self.tasks.cwd(pid), &path);
            self.tasks.set_cwd(pid, whole);
        }
        match named {
            Named::In(path) => match self.found(&path, true, Kind::Dir) {
                Ok(_) => Fate::Folded,
                Err(fate) => fate,
            },
            _ => Fate::Outside,
        }
    }

    fn exec(&mut self, pid: u32, call: &Call<'_>) -> Fate {
        let named = match call.name {
            "execve" => self.named(pid, call, None, 0),
            _ => self.named(pid, call, Some(0), 1),
        };
        if call.error.is_none() {
            let closed = self.tasks.exec(pid);
            self.emit_closes(closed);
        }
        match named {
            Named::In(_) => Fate::Dropped("a program that was started from below the root"),
            _ => Fate::Outside,
        }
    }

    /// A descriptor of something that is not in the load.
    pub(super) fn open_elsewhere(&mut self, pid: u32, call: &Call<'_>, cloexec: bool) {
        if let (None, Some(fd)) = (call.error, call.value)
            && let Ok(fd) = i32::try_from(fd)
        {
            let (_, closed) = self.tasks.open(pid, fd, Open::default(), cloexec);
            self.emit_closes(closed);
        }
    }
}
