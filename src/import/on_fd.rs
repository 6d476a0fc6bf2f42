//! Calls on descriptors.

use super::call::{Call, Fd};
use super::on_path::{OWNER, TIMES, said_kind};
use super::report::Fate;
use super::session::{Session, WORDLESS};
use super::tasks::Open;
use super::tree::{Id, Kind};
use crate::loadfile::program::Expect;
use crate::op::{OpKind, flags};

/// Longest read or write that becomes one line, in bytes: a client's buffer has room for the longest.
const LONGEST: u64 = 16 << 20;
/// Pieces that copies within the kernel are made of, in bytes.
const COPY: u64 = 1 << 20;

/// A descriptor of the load.
#[derive(Clone, Copy)]
struct Held {
    node: Id,
    handle: i64,
}

/// What a descriptor means.
enum Meant {
    Held(Held),
    /// Something elsewhere, or of no name.
    Elsewhere,
    /// Below the root, but not in the load.
    Untracked,
}

impl Session<'_> {
    pub(super) fn on_fd(&mut self, pid: u32, call: &Call<'_>) -> Option<Fate> {
        let at = match call.name {
            "sendfile" | "read" | "readv" | "pread64" | "preadv" | "preadv2" | "write"
            | "writev" | "pwrite64" | "pwritev" | "pwritev2" | "lseek" | "_llseek" | "fstat"
            | "fstat64" | "newfstatat" | "fstatat64" | "statx" | "fsync" | "fdatasync"
            | "ftruncate" | "ftruncate64" | "fallocate" | "getdents" | "getdents64" | "fchmod"
            | "fchown" | "fchownat" | "utimensat" | "fstatfs" | "fcntl" | "fcntl64"
            | "copy_file_range" => 0,
            "mmap" | "mmap2" => 4,
            _ => return None,
        };
        let Some(fd) = call.fd(at) else { return Some(Fate::Outside) };
        if matches!(call.name, "copy_file_range" | "sendfile") {
            return Some(self.copy(pid, call));
        }
        let held = match self.meant(pid, &fd) {
            Meant::Held(held) => held,
            Meant::Elsewhere => return Some(Fate::Outside),
            Meant::Untracked => {
                return Some(Fate::Dropped("on a descriptor whose open is not in the load"));
            }
        };
        if let Some(error) = call.error {
            let fate = match error {
                "EISDIR" if call.name == "read" => Fate::Dropped("a read of a directory"),
                _ => Fate::Failed,
            };
            return Some(fate);
        }
        let fd = fd.number.unwrap_or(-1);
        Some(match call.name {
            name if name.contains("mmap") => self.mmap(held, call),
            name if name.contains("read") || name.contains("write") => {
                self.transfer(pid, fd, held, call)
            }
            "lseek" | "_llseek" => self.seek(pid, fd, held, call),
            "fcntl" | "fcntl64" => self.lock(pid, fd, held, call),
            _ => self.on_held(held, call),
        })
    }

    /// What a descriptor is; one that was open before the recording is opened here.
    fn meant(&mut self, pid: u32, fd: &Fd) -> Meant {
        let Some(number) = fd.number else { return Meant::Elsewhere };
        let inside = fd.path.as_deref().and_then(|path| self.inside(path));
        let elsewhere = fd.path.is_some() && inside.is_none();
        if let Some(open) = self.tasks.get(pid, number) {
            let held = open.node.map(|node| Held { node, handle: open.handle });
            return match held {
                Some(_) if elsewhere => Meant::Elsewhere,
                Some(held) => Meant::Held(held),
                None if inside.is_some() => Meant::Untracked,
                None => Meant::Elsewhere,
            };
        }
        match inside {
            Some(path) if !fd.deleted => self.open_before(pid, number, &path),
            Some(_) => Meant::Untracked,
            None => Meant::Elsewhere,
        }
    }

    /// Opens what was open when the recording began.
    fn open_before(&mut self, pid: u32, fd: i32, path: &[u8]) -> Meant {
        let Ok(node) = self.found(path, true, Kind::Exists) else { return Meant::Untracked };
        let node_kind = &self.tree.nodes[node].kind;
        let bits = if *node_kind == Kind::Dir { libc::O_DIRECTORY } else { libc::O_RDWR };
        let offset = self.tree.nodes[node].data.size();
        let writes = bits == libc::O_RDWR;
        let open =
            Open { node: Some(node), path: path.to_vec(), offset, writes, ..Open::default() };
        let (open, _) = self.tasks.open(pid, fd, open, false);
        let handle = open.handle;
        self.report
            .note("a descriptor from before the recording: opened where it is first used", 1);
        match self.emit(OpKind::Open, path, &[bits.into(), 0, handle], Expect::Success) {
            Fate::Played => Meant::Held(Held { node, handle }),
            _ => Meant::Untracked,
        }
    }

    fn transfer(&mut self, pid: u32, fd: i32, held: Held, call: &Call<'_>) -> Fate {
        let Some(got) = moved(call) else { return Fate::Failed };
        let given = match call.name {
            "pread64" | "pwrite64" | "preadv" | "pwritev" => call.last_number(0),
            "preadv2" | "pwritev2" => call.last_number(1).filter(|offset| *offset >= 0),
            _ => None,
        };
        let asked = match call.name {
            "read" | "pread64" => call.number(2).and_then(|n| u64::try_from(n).ok()),
            _ => None,
        };
        let writes = call.name.contains("write");
        let offset = self.start_of(pid, fd, held, given, writes);
        if given.is_none()
            && let Some(open) = self.tasks.get(pid, fd)
        {
            open.offset = offset.saturating_add(got);
        }
        if writes {
            self.write_lines(held, offset, got, LONGEST)
        } else {
            self.read_lines(held, offset, (asked.unwrap_or(got), got), LONGEST)
        }
    }

    /// Where a read or write takes place.
    fn start_of(&mut self, pid: u32, fd: i32, held: Held, given: Option<i64>, writes: bool) -> u64 {
        let end = self.tree.nodes[held.node].data.size();
        let open = self.tasks.get(pid, fd).map(|open| (open.offset, open.appends));
        match (open, given) {
            (Some((_, true)), _) if writes => end,
            (_, Some(given)) => u64::try_from(given).unwrap_or(0),
            (Some((offset, _)), None) => offset,
            (None, None) => 0,
        }
    }

    fn write_lines(&mut self, held: Held, offset: u64, len: u64, piece: u64) -> Fate {
        let mut done = 0;
        let mut fate = Fate::Played;
        loop {
            let now = (len - done).min(piece);
            let numbers =
                [held.handle, signed(offset.saturating_add(done)), signed(now), signed(now)];
            fate = match self.emit_on(OpKind::WriteX, &numbers) {
                Fate::Played => fate,
                other => other,
            };
            done += now;
            if done >= len {
                break;
            }
        }
        if fate == Fate::Played {
            self.tree.write(held.node, offset.saturating_add(len));
        }
        fate
    }

    fn read_lines(
        &mut self,
        held: Held,
        offset: u64,
        (asked, got): (u64, u64),
        piece: u64,
    ) -> Fate {
        let sure = self.tree.read(held.node, offset, got);
        if sure < got {
            self.report.note("reads that expect less: something wrote what is not recorded", 1);
        }
        let asked = if asked > piece { got } else { asked };
        let mut done = 0;
        loop {
            let ask = (asked - done.min(asked)).min(piece);
            let want = sure.saturating_sub(done).min(ask);
            let numbers =
                [held.handle, signed(offset.saturating_add(done)), signed(ask), signed(want)];
            let fate = self.emit_on(OpKind::ReadX, &numbers);
            if fate != Fate::Played {
                return fate;
            }
            done += ask;
            if done >= asked {
                return Fate::Played;
            }
        }
    }

    /// `copy_file_range` and `sendfile`: a read and a write of what they moved.
    fn copy(&mut self, pid: u32, call: &Call<'_>) -> Fate {
        let (from, to, from_at) = match call.name {
            "sendfile" => (call.fd(1), call.fd(0), 2),
            _ => (call.fd(0), call.fd(2), 1),
        };
        let (Some(from), Some(to)) = (from, to) else { return Fate::Outside };
        let ends = (self.meant(pid, &from), self.meant(pid, &to));
        if let (Meant::Elsewhere, Meant::Elsewhere) = ends {
            return Fate::Outside;
        }
        let Some(got) = moved(call) else { return Fate::Failed };
        if got == 0 {
            // Only the kernel has looked for an end.
            return Fate::Folded;
        }
        let from_given = call.argument(from_at) != b"NULL";
        let to_given = call.name != "sendfile" && call.argument(3) != b"NULL";
        if from_given || to_given {
            return Fate::Dropped("a copy at an offset that is given by reference");
        }
        let mut fate = Fate::Dropped("on a descriptor whose open is not in the load");
        for (meant, fd, writes) in [(ends.0, from, false), (ends.1, to, true)] {
            let (Meant::Held(held), Some(number)) = (meant, fd.number) else { continue };
            let offset = self.start_of(pid, number, held, None, writes);
            if let Some(open) = self.tasks.get(pid, number) {
                open.offset = offset.saturating_add(got);
            }
            fate = match writes {
                true => self.write_lines(held, offset, got, COPY),
                false => self.read_lines(held, offset, (got, got), COPY),
            };
        }
        self.report.note("copies within the kernel: a read and a write instead", 1);
        fate
    }

    fn seek(&mut self, pid: u32, fd: i32, held: Held, call: &Call<'_>) -> Fate {
        let Some(to) = call.value.and_then(|to| u64::try_from(to).ok()) else {
            return Fate::Failed;
        };
        if self.tree.nodes[held.node].kind == Kind::Dir {
            return match to {
                0 => self.emit_on(OpKind::Lseek, &[held.handle, 0]),
                _ => Fate::Dropped("a seek within a directory"),
            };
        }
        if call.has(2, "SEEK_END") && call.number(1) == Some(0) {
            self.tree.sized(held.node, to);
        }
        if let Some(open) = self.tasks.get(pid, fd) {
            open.offset = to;
        }
        Fate::Folded
    }

    fn lock(&mut self, pid: u32, fd: i32, held: Held, call: &Call<'_>) -> Fate {
        let sets = matches!(call.argument(1), b"F_SETLK" | b"F_SETLKW");
        let kind = match () {
            () if !sets || !call.mentions("l_whence=SEEK_SET") => return Fate::Dropped(WORDLESS),
            () if call.mentions("F_UNLCK") => OpKind::UnlockX,
            () => OpKind::LockX,
        };
        let (Some(start), Some(len)) = (call.field("l_start="), call.field("l_len=")) else {
            return Fate::Dropped(WORDLESS);
        };
        let writes = self.tasks.get(pid, fd).is_some_and(|open| open.writes);
        if kind == OpKind::LockX && !writes {
            return Fate::Dropped("a read lock on a file that is open for reading only");
        }
        if call.mentions("F_RDLCK") {
            self.report.note("read locks: write locks instead", 1);
        }
        self.emit_on(kind, &[held.handle, start, len])
    }

    /// What is known of a file that `fstat` and its kind have looked at.
    pub(super) fn looked(&mut self, node: Id, call: &Call<'_>) {
        let said = said_kind(call);
        let known = &mut self.tree.nodes[node].kind;
        if *known == Kind::Exists && said != Kind::Exists {
            *known = said.clone();
        }
        let size = call.field("st_size=").or_else(|| call.field("stx_size="));
        if let (Kind::File, Some(size)) = (said, size) {
            self.tree.sized(node, u64::try_from(size).unwrap_or(0));
        }
        let mode = call.field("S_IFREG|").or_else(|| call.field("S_IFDIR|"));
        if let Some(mode) = mode {
            self.tree.has_mode(node, (mode & 0o7777) as u32);
        }
    }

    fn mmap(&mut self, held: Held, call: &Call<'_>) -> Fate {
        self.tree.nodes[held.node].data.read = true;
        if call.has(3, "MAP_SHARED") && call.has(2, "PROT_WRITE") {
            Fate::Dropped("a writable shared mapping: what goes through it is not in the load")
        } else {
            Fate::Dropped("a mapping that is read: what goes through it is not in the load")
        }
    }

    fn on_held(&mut self, held: Held, call: &Call<'_>) -> Fate {
        let Held { node, handle } = held;
        let number = |at| call.number(at).unwrap_or(0);
        match call.name {
            "fsync" => self.emit_on(OpKind::Flush, &[handle]),
            "fdatasync" => self.emit_on(OpKind::Fdatasync, &[handle]),
            "ftruncate" | "ftruncate64" => {
                self.tree.cut(node, u64::try_from(number(1)).unwrap_or(0));
                self.emit_on(OpKind::Ftruncate, &[handle, number(1)])
            }
            "fallocate" => {
                let Ok(bits) = flags::FALLOCATE.parse(call.argument(1)) else {
                    return Fate::Dropped(WORDLESS);
                };
                if bits & !libc::FALLOC_FL_ZERO_RANGE == 0 {
                    let end = number(2).saturating_add(number(3));
                    self.tree.write(node, u64::try_from(end).unwrap_or(0));
                }
                let numbers = [handle, bits.into(), number(2), number(3)];
                // Not every file system has every mode.
                let expect = if bits == 0 { Expect::Success } else { Expect::Any };
                self.played(OpKind::Fallocate, &[], &numbers, expect)
            }
            "getdents" | "getdents64" => {
                let known = &mut self.tree.nodes[node].kind;
                if *known == Kind::Exists {
                    *known = Kind::Dir;
                }
                self.emit_on(OpKind::Getdents, &[handle])
            }
            "fchmod" => {
                self.tree.nodes[node].mode_changed = true;
                self.emit_on(OpKind::Fchmod, &[handle, number(1) & 0o7777])
            }
            "fchown" | "fchownat" => {
                self.report.note(OWNER, 1);
                self.emit_on(OpKind::Fchown, &[handle, -1, -1])
            }
            "utimensat" => {
                self.report.note(TIMES, 1);
                self.emit_on(OpKind::Futimes, &[handle])
            }
            "fstatfs" => self.emit_on(OpKind::QueryFs, &[1]),
            _ => {
                self.looked(node, call);
                self.emit_on(OpKind::Fstat, &[handle])
            }
        }
    }
}

/// How many bytes a call moved; `None` if it failed, or says more than Linux moves in one call.
fn moved(call: &Call<'_>) -> Option<u64> {
    let value = call.value.filter(|_| call.error.is_none())?;
    u64::try_from(value).ok().filter(|moved| *moved < 1 << 31)
}

/// For a line, where no number is larger.
fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
