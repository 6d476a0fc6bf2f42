//! Calls that name a path.

use super::call::Call;
use super::emit::link_target;
use super::place;
use super::report::Fate;
use super::session::{Named, SPECIAL, Session, WORDLESS, expected, lost};
use super::text;
use super::tree::{Id, Kind};
use crate::loadfile::program::Expect;
use crate::op::{OpKind, flags};

/// Which arguments of a call with one path say what: the directory, the path, the rest.
struct Shape {
    dir: Option<usize>,
    path: usize,
}

const PLAIN: Shape = Shape { dir: None, path: 0 };
const AT: Shape = Shape { dir: Some(0), path: 1 };

impl Session<'_> {
    pub(super) fn on_path(&mut self, pid: u32, call: &Call<'_>) -> Option<Fate> {
        let shape = match call.name {
            "open" | "creat" | "stat" | "lstat" | "stat64" | "lstat64" | "access" | "readlink"
            | "mkdir" | "rmdir" | "unlink" | "chmod" | "chown" | "lchown" | "truncate"
            | "truncate64" | "utime" | "utimes" | "statfs" | "statfs64" => PLAIN,
            "openat" | "openat2" | "newfstatat" | "fstatat64" | "statx" | "faccessat"
            | "faccessat2" | "readlinkat" | "mkdirat" | "unlinkat" | "fchmodat" | "fchmodat2"
            | "fchownat" | "futimesat" | "utimensat" => AT,
            "rename" | "renameat" | "renameat2" | "link" | "linkat" | "symlink" | "symlinkat" => {
                return Some(self.on_two(pid, call));
            }
            "mknod" | "mknodat" => return Some(self.mknod(pid, call)),
            _ => return None,
        };
        let path = match self.named(pid, call, shape.dir, shape.path) {
            Named::In(path) => path,
            Named::Out => return Some(self.named_outside(pid, call)),
            // With AT_EMPTY_PATH, or NULL, the descriptor is meant.
            Named::Empty if shape.dir.is_some() && call.mentions("AT_EMPTY_PATH") => return None,
            Named::Hidden if call.argument(shape.path) == b"NULL" => return None,
            Named::Empty => return Some(Fate::Failed),
            Named::Hidden => return Some(Fate::Dropped("a path that strace has cut")),
        };
        let takes = call.name.starts_with("unlink") || call.name == "rmdir";
        if path.is_empty() && takes && call.error.is_none() {
            return Some(Fate::Dropped(THE_ROOT));
        }
        Some(match call.name {
            "open" | "openat" | "openat2" | "creat" => self.open(pid, call, &path, shape.path),
            "mkdir" | "mkdirat" => self.mkdir(call, &path, shape.path),
            "rmdir" => self.unlink(call, &path, true),
            "unlink" => self.unlink(call, &path, false),
            "unlinkat" => self.unlink(call, &path, call.mentions("AT_REMOVEDIR")),
            _ => self.on_file(call, &path, shape.path),
        })
    }

    fn named_outside(&mut self, pid: u32, call: &Call<'_>) -> Fate {
        if matches!(call.name, "open" | "openat" | "openat2" | "creat") {
            self.open_elsewhere(pid, call, call.mentions("O_CLOEXEC"));
        }
        Fate::Outside
    }

    /// Calls that look at what is there, or change it in place.
    fn on_file(&mut self, call: &Call<'_>, path: &[u8], at: usize) -> Fate {
        let no_follow = call.mentions("AT_SYMLINK_NOFOLLOW")
            || matches!(call.name, "lstat" | "lstat64" | "lchown" | "readlink" | "readlinkat");
        // A slash at the end follows a link, too.
        let slash = text::string(call.argument(at)).is_some_and(|path| path.ends_with(b"/"));
        let no_follow = no_follow && !slash;
        let mode = call.number(at + 1).unwrap_or(0) & 0o7777;
        let kept = &[-1, -1][..];
        let (kind, numbers): (OpKind, Vec<i64>) = match call.name {
            "access" | "faccessat" | "faccessat2" => {
                let asked = flags::ACCESS.parse(call.argument(at + 1)).unwrap_or(0);
                (OpKind::Access, vec![asked.into()])
            }
            "readlink" | "readlinkat" => (OpKind::Readlink, vec![]),
            "chmod" | "fchmodat" | "fchmodat2" => (OpKind::Chmod, vec![mode]),
            "chown" | "lchown" | "fchownat" if no_follow => (OpKind::Lchown, kept.to_vec()),
            "chown" | "fchownat" => (OpKind::Chown, kept.to_vec()),
            "truncate" | "truncate64" => (OpKind::Truncate, vec![call.number(at + 1).unwrap_or(0)]),
            "utime" | "utimes" | "futimesat" | "utimensat" if no_follow => {
                (OpKind::Lutimes, vec![])
            }
            "utime" | "utimes" | "futimesat" | "utimensat" => (OpKind::Utimes, vec![]),
            "statfs" | "statfs64" => (OpKind::QueryFs, vec![1]),
            _ if no_follow => (OpKind::Lstat, vec![]),
            _ => (OpKind::Stat, vec![]),
        };
        if let Some(error) = call.error {
            return self.missed(kind, path, &numbers, !no_follow, error);
        }
        let node = match self.found(path, !no_follow, said_kind(call)) {
            Ok(node) => node,
            Err(fate) => return fate,
        };
        self.learn(kind, node, &numbers, call);
        match kind {
            OpKind::QueryFs => self.emit_on(kind, &numbers),
            OpKind::Chown | OpKind::Lchown => {
                self.report.note(OWNER, 1);
                self.emit(kind, path, &numbers, Expect::Success)
            }
            OpKind::Utimes | OpKind::Lutimes => {
                self.report.note(TIMES, 1);
                self.emit(kind, path, &numbers, Expect::Success)
            }
            _ => self.emit(kind, path, &numbers, Expect::Success),
        }
    }

    /// What a successful call tells of a node.
    fn learn(&mut self, kind: OpKind, node: Id, numbers: &[i64], call: &Call<'_>) {
        match kind {
            OpKind::Stat | OpKind::Lstat => self.looked(node, call),
            OpKind::Access if numbers[0] as i32 & libc::X_OK != 0 => {
                self.tree.has_mode(node, 0o755)
            }
            OpKind::Readlink => {
                let target = &mut self.tree.nodes[node].kind;
                let whole = text::string(call.argument(call.arguments.len().saturating_sub(2)));
                if let (Kind::Link(unknown @ None), Some(text)) = (target, whole) {
                    *unknown = Some(text);
                }
            }
            OpKind::Chmod => self.tree.nodes[node].mode_changed = true,
            OpKind::Truncate => self.tree.cut(node, numbers[0].max(0) as u64),
            _ => {}
        }
    }

    /// A call that failed: what it says of the tree, and its line.
    fn missed(
        &mut self,
        kind: OpKind,
        path: &[u8],
        numbers: &[i64],
        follow: bool,
        error: &str,
    ) -> Fate {
        let looks = kind.row().only_looks;
        if looks && matches!(error, "EACCES" | "EPERM") {
            self.report.note("refused to who recorded: may fail or not in the load", 1);
            return self.emit(kind, path, numbers, Expect::Any);
        }
        if kind == OpKind::Readlink && error == "EINVAL" {
            // It is there, and no link.
            return match self.found(path, false, Kind::Exists) {
                Ok(node) if matches!(self.tree.nodes[node].kind, Kind::Link(_)) => Fate::Order,
                Ok(_) => self.emit(kind, path, numbers, expected(error)),
                Err(fate) => fate,
            };
        }
        match self.miss(path, follow, error) {
            Ok(_) if kind == OpKind::QueryFs => Fate::Dropped("a statfs of what is not there"),
            Ok(expect) => self.emit(kind, path, numbers, expect),
            Err(fate) => fate,
        }
    }

    fn mkdir(&mut self, call: &Call<'_>, path: &[u8], at: usize) -> Fate {
        let mode = call.number(at + 1).unwrap_or(0o777) & 0o7777;
        if let Some(error) = call.error {
            if error == "ENOENT" {
                return self.missing_above(OpKind::Mkdirat, path, &[mode]);
            }
            return self.missed(OpKind::Mkdirat, path, &[mode], false, error);
        }
        match self.tree.walk(path, false).map_err(lost) {
            Ok(spot) if self.tree.make(&spot, Kind::Dir).is_some() => {
                self.emit(OpKind::Mkdirat, path, &[mode], Expect::Success)
            }
            Ok(_) => Fate::Order,
            Err(fate) => fate,
        }
    }

    /// What makes something fails with ENOENT when the directory for it is missing.
    pub(super) fn missing_above(&mut self, kind: OpKind, path: &[u8], numbers: &[i64]) -> Fate {
        let end = path.iter().rposition(|b| *b == b'/').unwrap_or(0);
        match self.miss(&path[..end], true, "ENOENT") {
            Ok(expect) => self.emit(kind, path, numbers, expect),
            Err(fate) => fate,
        }
    }

    fn unlink(&mut self, call: &Call<'_>, path: &[u8], directory: bool) -> Fate {
        let numbers = [if directory { libc::AT_REMOVEDIR.into() } else { 0 }];
        if let Some(error) = call.error {
            return self.missed(OpKind::Unlinkat, path, &numbers, false, error);
        }
        let spot = match self.tree.walk(path, false) {
            Ok(spot) => spot,
            Err(why) => return lost(why),
        };
        if self.tree.nodes[spot.node].kind == Kind::Other {
            self.tree.remove(&spot);
            return Fate::Dropped(SPECIAL);
        }
        let kind = if directory { Kind::Dir } else { Kind::Exists };
        if !self.tree.settle(&spot, kind) {
            return Fate::Order;
        }
        let is_dir = self.tree.nodes[spot.node].kind == Kind::Dir;
        if is_dir != directory || (directory && self.tree.has_entries(spot.node)) {
            return Fate::Order;
        }
        self.tree.remove(&spot);
        self.emit(OpKind::Unlinkat, path, &numbers, Expect::Success)
    }

    fn mknod(&mut self, pid: u32, call: &Call<'_>) -> Fate {
        let named = match call.name {
            "mknod" => self.named(pid, call, None, 0),
            _ => self.named(pid, call, Some(0), 1),
        };
        let Named::In(path) = named else { return Fate::Outside };
        if let (None, Ok(spot)) = (call.error, self.tree.walk(&path, false)) {
            self.tree.make(&spot, Kind::Other);
        }
        Fate::Dropped(SPECIAL)
    }

    fn on_two(&mut self, pid: u32, call: &Call<'_>) -> Fate {
        if call.name.starts_with("symlink") {
            return self.symlink(pid, call);
        }
        let (old, new) = match call.name {
            "rename" | "link" => (self.named(pid, call, None, 0), self.named(pid, call, None, 1)),
            _ => (self.named(pid, call, Some(0), 1), self.named(pid, call, Some(2), 3)),
        };
        let (old, new) = match (old, new) {
            (Named::In(old), Named::In(new)) if old.is_empty() || new.is_empty() => {
                return Fate::Dropped(THE_ROOT);
            }
            (Named::In(old), Named::In(new)) => (old, new),
            (Named::In(_), _) | (_, Named::In(_)) => {
                return Fate::Dropped("a rename or link into the root or out of it");
            }
            _ => return Fate::Outside,
        };
        if call.name.starts_with("link") && call.mentions("AT_SYMLINK_FOLLOW") {
            return Fate::Dropped(WORDLESS);
        }
        self.move_or_link(call, &old, &new)
    }

    fn symlink(&mut self, pid: u32, call: &Call<'_>) -> Fate {
        let named = match call.name {
            "symlink" => self.named(pid, call, None, 1),
            _ => self.named(pid, call, Some(1), 2),
        };
        let (path, text) = match (named, text::string(call.argument(0))) {
            (Named::In(path), Some(text)) => (path, text),
            (Named::In(_), None) => return Fate::Dropped("a path that strace has cut"),
            _ => return Fate::Outside,
        };
        let dir = place::absolute(&self.root, &[&path, &b"/.."[..]].concat());
        let whole = place::absolute(&dir, &text);
        let expect = match call.error {
            Some(error) => match self.miss(&path, false, error) {
                Ok(_) if error == "ENOENT" => return Fate::Failed,
                Ok(expect) => expect,
                Err(fate) => return fate,
            },
            None => {
                let made = self
                    .tree
                    .walk(&path, false)
                    .map(|spot| self.tree.make(&spot, Kind::Link(Some(whole.clone()))));
                match made {
                    Ok(Some(_)) => Expect::Success,
                    Ok(None) => return Fate::Order,
                    Err(why) => return lost(why),
                }
            }
        };
        let inside = self.inside(&whole);
        let target = link_target(&mut self.names, inside.as_deref());
        let path = self.names.path(&path);
        self.report.note(LINKS, 1);
        self.played(OpKind::Symlink, &[&target, &path], &[], expect)
    }
}

/// What the kind of a `stat` says.
pub(super) fn said_kind(call: &Call<'_>) -> Kind {
    let is = |text| call.mentions(text);
    match call.name {
        "readlink" | "readlinkat" => Kind::Link(None),
        "truncate" | "truncate64" => Kind::File,
        _ if is("S_IFREG") => Kind::File,
        _ if is("S_IFDIR") => Kind::Dir,
        _ if is("S_IFLNK") => Kind::Link(None),
        _ if is("S_IFIFO") || is("S_IFSOCK") || is("S_IFCHR") || is("S_IFBLK") => Kind::Other,
        _ => Kind::Exists,
    }
}

pub(super) const OWNER: &str = "owners: the call is made, and leaves them as they are";
pub(super) const TIMES: &str = "times: set to now instead of what they were set to";
const THE_ROOT: &str = "the root itself removed or renamed";
const LINKS: &str = "symbolic links: lead the same way, by a relative path";
