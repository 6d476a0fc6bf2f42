//! NFSv3 calls as dbench 5 writes them, to the system calls that a server without a cache of open files makes of
//! them: a READ is an open, a read and a close.

use super::Session;
use super::nbench::spell;
use super::tally::Fate;
use super::tokens::{self, Token, is_own, largest, number};
use super::world::Kind;
use crate::import::place;

/// What a status says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Ok,
    Any,
    /// The same error here.
    Errno(&'static str),
    /// Only a server or its protocol fails so.
    Foreign,
}

/// NFSv3's errors (RFC 1813, 2.6) that a local call has too.
const ERRORS: &[(u32, &str)] = &[
    (1, "EPERM"),
    (2, "ENOENT"),
    (5, "EIO"),
    (6, "ENXIO"),
    (13, "EACCES"),
    (17, "EEXIST"),
    (18, "EXDEV"),
    (19, "ENODEV"),
    (20, "ENOTDIR"),
    (21, "EISDIR"),
    (22, "EINVAL"),
    (27, "EFBIG"),
    (28, "ENOSPC"),
    (30, "EROFS"),
    (31, "EMLINK"),
    (63, "ENAMETOOLONG"),
    (66, "ENOTEMPTY"),
    (69, "EDQUOT"),
    (10004, "EOPNOTSUPP"),
];

fn expect(status: &[u8]) -> Option<Expect> {
    if status == b"*" {
        return Some(Expect::Any);
    }
    let code = std::str::from_utf8(status.strip_prefix(b"0x")?).ok()?;
    let code = u32::from_str_radix(code, 16).ok()?;
    let known = ERRORS.iter().find(|(number, _)| *number == code);
    Some(match known {
        _ if code == 0 => Expect::Ok,
        Some((_, name)) => Expect::Errno(name),
        None => Expect::Foreign,
    })
}

/// Words, how many paths they have, how many numbers.
const WORDS: &[(&[u8], usize, usize)] = &[
    (b"Deltree", 1, 0),
    (b"ACCESS3", 1, 2),
    (b"COMMIT3", 1, 0),
    (b"CREATE3", 1, 0),
    (b"FSINFO3", 0, 0),
    (b"FSSTAT3", 0, 0),
    (b"GETATTR3", 1, 0),
    (b"LINK3", 2, 0),
    (b"LOOKUP3", 1, 0),
    (b"MKDIR3", 1, 0),
    (b"PATHCONF3", 1, 0),
    (b"READ3", 1, 2),
    (b"READDIRPLUS3", 1, 0),
    (b"READLINK3", 1, 0),
    (b"REMOVE3", 1, 0),
    (b"RENAME3", 2, 0),
    (b"RMDIR3", 1, 0),
    (b"SETATTR3", 1, 0),
    (b"SYMLINK3", 2, 0),
    (b"WRITE3", 1, 3),
    (b"LOCK4", 1, 2),
    (b"UNLOCK4", 1, 2),
    (b"TEST4", 1, 2),
];

/// The handle of what is opened for one call.
const BRIEF: &[u8] = b"0";

/// A line, put in order.
struct Line<'a> {
    path: Vec<u8>,
    other: Vec<u8>,
    numbers: Vec<&'a [u8]>,
    expect: Expect,
}

pub(super) fn line(session: &mut Session, text: &[u8], args: &[Token]) -> Fate {
    let Some((word, paths, numbers)) =
        WORDS.iter().find(|(word, ..)| word.eq_ignore_ascii_case(text))
    else {
        return Fate::NoWord("words that dbench's nfs backend does not have");
    };
    if args.len() != paths + numbers + 1 {
        let column = args.last().map_or(1, |token| token.column);
        let why = format!(
            "{} arguments; expected {paths} paths, {numbers} numbers, and a status",
            args.len()
        );
        return Fate::Unclear(column, why);
    }
    let last = &args[args.len() - 1];
    let Some(expect) = expect(&last.text) else {
        return Fate::Unclear(
            last.column,
            "no status of NFS; expected 0x and a number, or *".to_owned(),
        );
    };
    let path = |at: usize| if at < *paths { tokens::path(&args[at].text) } else { b"/".to_vec() };
    let numbers = args[*paths..paths + numbers].iter().map(|token| token.text.as_slice()).collect();
    let line = Line { path: path(0), other: path(1), numbers, expect };
    if *word == b"SYMLINK3" {
        return symlink(session, &line, &args[1].text);
    }
    play(session, word, &line)
}

/// The line's status as ours.
fn status(session: &mut Session, line: &Line<'_>, changes: bool) -> &'static [u8] {
    let exact = match line.expect {
        Expect::Any => return b"*",
        Expect::Ok => b"NT_STATUS_OK",
        Expect::Errno(name) => name.as_bytes(),
        Expect::Foreign => b"*",
    };
    if changes && !is_own(&line.path) {
        session.tally.note(
            "names that all clients share: the line may fail, as another client may be first",
            1,
        );
        return b"*";
    }
    let there = session.world.known(&line.path);
    match (line.expect, there) {
        (Expect::Ok, Some(false)) if !changes => {}
        (Expect::Errno("ENOENT"), Some(true)) => {}
        _ => return exact,
    }
    session.tally.note("contradict what the lines before have shown: may succeed or fail", 1);
    b"*"
}

fn play(session: &mut Session, word: &[u8], line: &Line<'_>) -> Fate {
    if line.expect == Expect::Foreign {
        return Fate::Failed;
    }
    match word {
        b"FSINFO3" | b"FSSTAT3" => {
            session.write(&[b"QUERY_FS_INFORMATION 1 NT_STATUS_OK".to_vec()])
        }
        b"Deltree" => {
            let fate = session.write(&[spell("Deltree", &[&line.path], &[], b"NT_STATUS_OK")]);
            if fate == Fate::Kept {
                session.world.cleared(&line.path);
            }
            fate
        }
        b"GETATTR3" | b"LOOKUP3" | b"PATHCONF3" | b"SETATTR3" | b"READLINK3" | b"ACCESS3" => {
            look(session, word, line)
        }
        b"CREATE3" | b"MKDIR3" => make(session, word, line),
        b"REMOVE3" | b"RMDIR3" => remove(session, word, line),
        b"RENAME3" | b"LINK3" => two_names(session, word, line),
        b"LOCK4" | b"UNLOCK4" => lock(session, word, line),
        b"TEST4" => Fate::NoWord("the language has no word for asking who holds a lock"),
        _ => with_handle(session, word, line),
    }
}

fn look(session: &mut Session, word: &[u8], line: &Line<'_>) -> Fate {
    let expect = status(session, line, false);
    let path = line.path.as_slice();
    let made = match word {
        b"SETATTR3" => spell("lutimes", &[path], &[], expect),
        b"READLINK3" => spell("readlink", &[path], &[], expect),
        b"ACCESS3" => {
            let Some(granted) = number(line.numbers[1]) else {
                return Fate::Unclear(1, "rights that are no number; expected one".to_owned());
            };
            spell("access", &[path], &[rights(granted).as_bytes()], expect)
        }
        _ => spell("lstat", &[path], &[], expect),
    };
    let kind = if word == b"READLINK3" { Kind::Link } else { Kind::Any };
    let fate = session.write(&[made]);
    if fate == Fate::Kept {
        learn(session, &line.path, kind, expect);
    }
    fate
}

/// ACCESS3's bits (RFC 1813, 3.3.4) that were granted, as access() asks for them.
fn rights(granted: i64) -> String {
    let asked = [(0x01, "R_OK"), (0x1c, "W_OK"), (0x22, "X_OK")];
    let names: Vec<_> =
        asked.iter().filter(|(bits, _)| granted & bits != 0).map(|(_, name)| *name).collect();
    if names.is_empty() { "F_OK".to_owned() } else { names.join("|") }
}

fn learn(session: &mut Session, path: &[u8], kind: Kind, expect: &[u8]) {
    match expect {
        b"NT_STATUS_OK" => _ = session.world.found(path, kind),
        b"ENOENT" => _ = session.world.missing(path),
        _ => {}
    }
}

fn make(session: &mut Session, word: &[u8], line: &Line<'_>) -> Fate {
    let path = line.path.as_slice();
    let is_dir = word == b"MKDIR3";
    let exact = status(session, line, is_dir);
    let open = |flags: &'static [u8], expect: &[u8]| {
        spell("open", &[path], &[flags, b"0666", BRIEF], expect)
    };
    let lines = match (is_dir, line.expect) {
        // Every client of a disk makes it.
        (true, Expect::Ok) if !is_own(path) => vec![spell("Mkdir", &[path], &[], b"NT_STATUS_OK")],
        (true, _) => vec![spell("mkdirat", &[path], &[b"0777"], exact)],
        (false, Expect::Errno("EEXIST")) => vec![open(b"O_WRONLY|O_CREAT|O_EXCL", b"EEXIST")],
        (false, Expect::Errno(_)) => vec![open(b"O_WRONLY|O_CREAT", exact)],
        (false, expect) => {
            let expect: &[u8] = if expect == Expect::Ok { b"NT_STATUS_OK" } else { b"*" };
            vec![open(b"O_WRONLY|O_CREAT", expect), spell("Close", &[], &[BRIEF], expect)]
        }
    };
    let fate = session.write(&lines);
    if fate == Fate::Kept {
        match line.expect {
            Expect::Ok | Expect::Any => {
                session.world.made(path, if is_dir { Kind::Dir } else { Kind::Any })
            }
            Expect::Errno("EEXIST") => _ = session.world.found(path, Kind::Any),
            _ => {}
        }
    }
    fate
}

fn remove(session: &mut Session, word: &[u8], line: &Line<'_>) -> Fate {
    let (flags, kind): (&[u8], _) =
        if word == b"RMDIR3" { (b"AT_REMOVEDIR", Kind::Dir) } else { (b"0", Kind::Any) };
    let mut expect = status(session, line, true);
    if expect == b"NT_STATUS_OK" && session.world.known(&line.path) == Some(false) {
        session.tally.note("contradict what the lines before have shown: may succeed or fail", 1);
        expect = b"*";
    }
    let fate = session.write(&[spell("unlinkat", &[&line.path], &[flags], expect)]);
    if fate == Fate::Kept {
        match expect {
            b"NT_STATUS_OK" => session.world.removed(&line.path, kind),
            b"*" => session.world.blurred(&line.path),
            other => learn(session, &line.path, kind, other),
        }
    }
    fate
}

/// RENAME3 old new; LINK3 new old.
fn two_names(session: &mut Session, word: &[u8], line: &Line<'_>) -> Fate {
    let expect = status(session, line, true);
    let is_link = word == b"LINK3";
    let (old, new) = if is_link { (&line.other, &line.path) } else { (&line.path, &line.other) };
    let (name, flags): (_, &[&[u8]]) = if is_link { ("link", &[]) } else { ("renameat2", &[b"0"]) };
    let fate = session.write(&[spell(name, &[old, new], flags, expect)]);
    if fate == Fate::Kept {
        match (expect, is_link) {
            (b"NT_STATUS_OK", true) => {
                session.world.found(old, Kind::Any);
                session.world.made(new, Kind::Any);
            }
            (b"NT_STATUS_OK", false) => session.world.moved(old, new, Kind::Any),
            (b"*", true) => session.world.blurred(new),
            (b"*", false) => [old, new].iter().for_each(|path| session.world.blurred(path)),
            _ => {}
        }
    }
    fate
}

/// The link leads to the same place; its text may be another.
fn symlink(session: &mut Session, line: &Line<'_>, target: &[u8]) -> Fate {
    if line.expect == Expect::Foreign {
        return Fate::Failed;
    }
    let expect = status(session, line, true);
    let dir = tokens::parent(&line.path).unwrap_or(b"/");
    let target = place::absolute(dir, target);
    let fate = session.write(&[spell("symlink", &[&target, &line.path], &[], expect)]);
    if fate == Fate::Kept && matches!(expect, b"NT_STATUS_OK" | b"*") {
        session.world.made(&line.path, Kind::Link);
    }
    fate
}

/// The locks of a process go with any descriptor of the file: the one it was taken by stays open until the lock
/// is given back.
fn lock(session: &mut Session, word: &[u8], line: &Line<'_>) -> Fate {
    if matches!(line.expect, Expect::Errno(_)) {
        return Fate::Failed;
    }
    let expect: &[u8] = if line.expect == Expect::Any { b"*" } else { b"NT_STATUS_OK" };
    let path = line.path.as_slice();
    let known = session
        .handles
        .iter()
        .find(|(_, opened)| opened.as_slice() == path)
        .map(|(handle, _)| *handle);
    let next = i64::try_from(session.handles.len()).unwrap_or(0) + 1;
    let handle = known.unwrap_or(next).to_string();
    let handle = handle.as_bytes();
    let mut lines = Vec::new();
    if known.is_none() {
        lines.push(spell("open", &[path], &[b"O_RDWR", b"0", handle], expect));
    }
    let name = if word == b"LOCK4" { "LockX" } else { "UnlockX" };
    lines.push(spell(name, &[], &[handle, line.numbers[0], line.numbers[1]], expect));
    let fate = session.write(&lines);
    if fate == Fate::Kept {
        session.world.found(path, Kind::Any);
        session.handles.entry(known.unwrap_or(next)).or_insert_with(|| path.to_vec());
    }
    fate
}

fn with_handle(session: &mut Session, word: &[u8], line: &Line<'_>) -> Fate {
    let expect = status(session, line, false);
    let path = line.path.as_slice();
    let number = |at: usize| line.numbers.get(at).copied().unwrap_or(b"0");
    let sync: &[u8] = match (word, number(2)) {
        (b"WRITE3", b"1") => b"O_WRONLY|O_DSYNC",
        (b"WRITE3", b"2") => b"O_WRONLY|O_SYNC",
        (b"WRITE3" | b"COMMIT3", _) => b"O_WRONLY",
        (b"READDIRPLUS3", _) => b"O_RDONLY|O_DIRECTORY",
        _ => b"O_RDONLY",
    };
    let mut lines = vec![spell("open", &[path], &[sync, b"0", BRIEF], expect)];
    if matches!(expect, b"NT_STATUS_OK" | b"*") {
        let (at, len) = (number(0), number(1));
        match word {
            b"WRITE3" => lines.push(spell("WriteX", &[], &[BRIEF, at, len, len], expect)),
            // NFS calls a short read a success.
            b"READ3" => lines.push(spell("ReadX", &[], &[BRIEF, at, len, b"0"], expect)),
            b"COMMIT3" => lines.push(spell("Flush", &[], &[BRIEF], expect)),
            _ => {
                session
                    .tally
                    .note("READDIRPLUS3: the names of at most 32 KiB, without a look at each", 1);
                lines.extend([
                    spell("getdents", &[], &[BRIEF], expect),
                    spell("getdents", &[], &[BRIEF], expect),
                ]);
            }
        }
        lines.push(spell("Close", &[], &[BRIEF], expect));
    }
    let fate = session.write(&lines);
    if fate == Fate::Kept {
        let kind = if word == b"READDIRPLUS3" { Kind::Dir } else { Kind::Any };
        learn(session, path, kind, expect);
        if word == b"READ3" {
            match (largest(number(0)), largest(number(1))) {
                (Some(at), Some(len)) => session.world.grown(path, at.saturating_add(len)),
                _ => session.tally.note(
                    "READ3 at offsets without a limit: most are behind the end of the file",
                    1,
                ),
            }
        }
    }
    fate
}
