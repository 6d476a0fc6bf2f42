//! Opens, renames and second names.

use super::call::Call;
use super::place;
use super::report::Fate;
use super::session::{SPECIAL, Session, expected, lost};
use super::tasks::Open;
use super::tree::{Id, Kind, Spot};
use crate::loadfile::program::Expect;
use crate::op::{OpKind, flags};

/// The handle that a failing open names; it stays what it is.
const NO_HANDLE: i64 = 0;

/// How a file is opened.
struct How {
    /// Bits that the language has.
    bits: i32,
    mode: i64,
    cloexec: bool,
}

impl How {
    fn has(&self, flag: i32) -> bool {
        self.bits & flag == flag
    }

    fn of(call: &Call<'_>, path_at: usize) -> (Self, bool) {
        let (words, mode) = match call.name {
            "creat" => (&b"O_WRONLY|O_CREAT|O_TRUNC"[..], call.number(path_at + 1)),
            "openat2" => (field_words(call.argument(path_at + 1)), call.field("mode=")),
            _ => (call.argument(path_at + 1), call.number(path_at + 2)),
        };
        let (mut bits, mut all) = (0, true);
        for word in words.split(|b| *b == b'|') {
            match flags::OPEN.parse(word) {
                Ok(bit) => bits |= bit,
                Err(_) => all = all && matches!(word, b"O_LARGEFILE" | b"O_NOCTTY"),
            }
        }
        let mode = if bits & libc::O_CREAT != 0 { mode.unwrap_or(0) & 0o7777 } else { 0 };
        let cloexec = bits & libc::O_CLOEXEC != 0;
        (Self { bits, mode, cloexec }, all)
    }
}

/// The flags in the structure of openat2.
fn field_words(argument: &[u8]) -> &[u8] {
    const KEY: &[u8] = b"flags=";
    let at = argument.windows(KEY.len()).position(|w| w == KEY).map_or(0, |at| at + KEY.len());
    let rest = &argument[at..];
    let end = rest.iter().position(|b| matches!(b, b',' | b'}')).unwrap_or(rest.len());
    &rest[..end]
}

impl Session<'_> {
    pub(super) fn open(&mut self, pid: u32, call: &Call<'_>, path: &[u8], path_at: usize) -> Fate {
        let (how, all) = How::of(call, path_at);
        if call.mentions("O_TMPFILE") {
            self.open_elsewhere(pid, call, how.cloexec);
            return Fate::Dropped(
                "a file without a name (O_TMPFILE), and all that is done with it",
            );
        }
        if let Some(error) = call.error {
            return self.open_missed(path, &how, error);
        }
        if !all {
            self.report.note("open flags without a word, left out", 1);
        }
        if let Some(real) = call.annotation.as_deref() {
            self.learn_link(path, real);
        }
        match self.opened(path, &how) {
            Ok(node) => self.give(pid, call, path, &how, node),
            Err(fate) => {
                self.open_elsewhere(pid, call, how.cloexec);
                fate
            }
        }
    }

    /// The node that an open found or made.
    fn opened(&mut self, path: &[u8], how: &How) -> Result<Id, Fate> {
        let makes = how.has(libc::O_CREAT);
        let alone = makes && how.has(libc::O_EXCL);
        let follow = !how.has(libc::O_NOFOLLOW) && !alone;
        let spot = self.tree.walk(path, follow).map_err(lost)?;
        let there = self.tree.nodes[spot.node].is_there();
        if alone {
            return self.tree.make(&spot, Kind::File).ok_or(Fate::Order);
        }
        let node = if makes && !there {
            self.tree.make_undecided(&spot).ok_or(Fate::Order)?
        } else {
            let writes = how.bits & libc::O_ACCMODE != libc::O_RDONLY;
            let kind = match () {
                () if how.has(libc::O_DIRECTORY) => Kind::Dir,
                () if writes || makes => Kind::File,
                () => Kind::Exists,
            };
            self.found(path, follow, kind)?
        };
        if how.has(libc::O_TRUNC) {
            self.tree.cut(node, 0);
        }
        Ok(node)
    }

    /// The new descriptor, and its line.
    fn give(&mut self, pid: u32, call: &Call<'_>, path: &[u8], how: &How, node: Id) -> Fate {
        let Some(fd) = call.value.and_then(|fd| i32::try_from(fd).ok()) else {
            return Fate::Failed;
        };
        let open = Open {
            node: Some(node),
            path: path.to_vec(),
            appends: how.has(libc::O_APPEND),
            writes: how.bits & libc::O_ACCMODE != libc::O_RDONLY,
            ..Open::default()
        };
        let (open, closed) = self.tasks.open(pid, fd, open, how.cloexec);
        let handle = open.handle;
        self.emit_closes(closed);
        let numbers = [how.bits.into(), how.mode, handle];
        let fate = self.emit(OpKind::Open, path, &numbers, Expect::Success);
        if fate != Fate::Played {
            // Nothing on it can be in the load.
            if let Some(open) = self.tasks.get(pid, fd) {
                open.node = None;
            }
        }
        fate
    }

    fn open_missed(&mut self, path: &[u8], how: &How, error: &str) -> Fate {
        let numbers = [how.bits.into(), how.mode, NO_HANDLE];
        let makes = how.has(libc::O_CREAT);
        let follow = !(how.has(libc::O_NOFOLLOW) || makes && how.has(libc::O_EXCL));
        let missed = match error {
            "ENOENT" if makes => return self.missing_above(OpKind::Open, path, &numbers),
            "ELOOP" if how.has(libc::O_NOFOLLOW) => {
                self.found(path, false, Kind::Link(None)).map(|_| expected(error))
            }
            "ENXIO" => Err(Fate::Dropped(SPECIAL)),
            _ => self.miss(path, follow, error),
        };
        match missed {
            Ok(expect) => self.emit(OpKind::Open, path, &numbers, expect),
            Err(fate) => fate,
        }
    }

    /// What a descriptor is open on, where another path led to it: there is a link on the way.
    fn learn_link(&mut self, path: &[u8], real: &[u8]) {
        let asked = place::absolute(&self.root, path);
        if asked == real || !real.starts_with(b"/") {
            return;
        }
        // What both end with lies behind the link.
        let mut tails = (asked.split(|b| *b == b'/').rev(), real.split(|b| *b == b'/').rev());
        let mut same = 0;
        while let (Some(one), Some(other)) = (tails.0.next(), tails.1.next()) {
            if one != other || one.is_empty() {
                break;
            }
            same += one.len() + 1;
        }
        let target = real[..real.len() - same].to_vec();
        let Some(link) = asked.get(..asked.len() - same).and_then(|path| self.inside(path)) else {
            return;
        };
        if link.is_empty() {
            return;
        }
        if let Ok(spot) = self.tree.walk(&link, false)
            && matches!(
                self.tree.nodes[spot.node].kind,
                Kind::Unknown | Kind::Exists | Kind::Link(None)
            )
        {
            let target = if target.is_empty() { b"/".to_vec() } else { target };
            self.tree.settle(&spot, Kind::Link(Some(target)));
        }
    }

    /// `rename` and `link` within the root.
    pub(super) fn move_or_link(&mut self, call: &Call<'_>, old: &[u8], new: &[u8]) -> Fate {
        let links = call.name.starts_with("link");
        let words = call.argument(call.arguments.len().saturating_sub(1));
        let bits = if call.name == "renameat2" { flags::RENAME.parse(words) } else { Ok(0) };
        let Ok(bits) = bits else { return Fate::Dropped(super::session::WORDLESS) };
        let (from, to) = match (self.tree.walk(old, false), self.tree.walk(new, false)) {
            (Ok(from), Ok(to)) => (from, to),
            (Err(why), _) | (_, Err(why)) => return lost(why),
        };
        let expect = match call.error {
            Some(error) => match self.two_missed(error, old, new, &from) {
                Ok(expect) => expect,
                Err(fate) => return fate,
            },
            None => {
                if let Some(fate) = self.two_done(links, bits, (&from, &to)) {
                    return fate;
                }
                Expect::Success
            }
        };
        let (old, new) = (self.names.path(old), self.names.path(new));
        match links {
            true => self.played(OpKind::Link, &[&old, &new], &[], expect),
            false => self.played(OpKind::Renameat, &[&old, &new], &[bits.into()], expect),
        }
    }

    fn two_missed(
        &mut self,
        error: &str,
        old: &[u8],
        new: &[u8],
        from: &Spot,
    ) -> Result<Expect, Fate> {
        match error {
            "ENOENT" if !self.tree.nodes[from.node].is_there() => self.miss(old, false, error),
            "EEXIST" => {
                self.found(old, false, Kind::Exists)?;
                self.miss(new, false, error)
            }
            _ => Err(Fate::Failed),
        }
    }

    /// What a rename or link does to the tree; why it cannot be in the load, if so.
    fn two_done(&mut self, links: bool, bits: i32, (from, to): (&Spot, &Spot)) -> Option<Fate> {
        if self.tree.nodes[from.node].kind == Kind::Other {
            if !links {
                self.tree.rename(from, to);
            }
            return Some(Fate::Dropped(SPECIAL));
        }
        let exchange = bits & libc::RENAME_EXCHANGE as i32 != 0;
        let alone = links || bits & libc::RENAME_NOREPLACE as i32 != 0;
        let there = self.tree.nodes[to.node].is_there();
        let good = self.tree.settle(from, Kind::Exists)
            && self.tree.settle_way(to)
            && !(alone && there)
            && (!exchange || self.tree.settle(to, Kind::Exists));
        if !good {
            return Some(Fate::Order);
        }
        if from.node == to.node && !links {
            // Two names of one file: rename does nothing.
            return None;
        }
        match (links, exchange) {
            (true, _) => self.tree.link(from.node, to),
            (_, true) => self.tree.exchange(from, to),
            _ => self.tree.rename(from, to),
        }
        None
    }
}
