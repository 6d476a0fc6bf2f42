//! Lines of dbench 2 (no quotes, no status), of smbtorture, and of Samba's recorder (words that dbench never had).

use std::collections::HashMap;

use super::Session;
use super::tally::Fate;
use super::tokens::{self, Token, is_own, number};
use super::world::Kind;

/// Which path a handle was opened by.
pub(super) type Handles = HashMap<i64, Vec<u8>>;

/// What is told of how a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Well,
    /// The name was not there.
    NotFound,
    /// The name was there already.
    Exists,
    /// It failed, and may for another reason than names.
    Badly,
    /// A client of Windows was refused what a local file system does not refuse.
    Refused,
    /// It does not matter, or nobody knows.
    Unknown,
}

/// A word: how many paths it has, and its numbers, the optional ones with what stands for them.
struct Word {
    text: &'static [u8],
    paths: usize,
    numbers: usize,
    /// For numbers at the end that dbench 2 did not have.
    defaults: &'static [&'static str],
}

const fn word(
    text: &'static [u8],
    paths: usize,
    numbers: usize,
    defaults: &'static [&'static str],
) -> Word {
    Word { text, paths, numbers, defaults }
}

/// More entries than a directory has: dbench 2 read them all.
const ALL_ENTRIES: &str = "1000000";

const WORDS: &[Word] = &[
    word(b"Deltree", 1, 0, &[]),
    word(b"Mkdir", 1, 0, &[]),
    word(b"Rmdir", 1, 0, &[]),
    word(b"NTCreateX", 1, 3, &[]),
    word(b"Close", 0, 1, &[]),
    word(b"WriteX", 0, 4, &[]),
    word(b"Write", 0, 4, &[]),
    word(b"ReadX", 0, 4, &[]),
    word(b"Flush", 0, 1, &[]),
    word(b"Rename", 2, 0, &[]),
    word(b"Unlink", 1, 1, &["0"]),
    word(b"LockX", 0, 3, &[]),
    word(b"UnlockX", 0, 3, &[]),
    word(b"FIND_FIRST", 1, 3, &["0", ALL_ENTRIES, "0"]),
    word(b"QUERY_PATH_INFORMATION", 1, 1, &["0"]),
    word(b"QUERY_FILE_INFORMATION", 0, 2, &["0"]),
    word(b"QUERY_FS_INFORMATION", 0, 1, &[]),
    word(b"SET_FILE_INFORMATION", 0, 2, &["0"]),
    word(b"SET_PATH_INFORMATION", 1, 1, &["0"]),
    word(b"Chkpath", 1, 0, &[]),
    word(b"Checkdir", 1, 0, &[]),
    word(b"Sleep", 0, 1, &[]),
];

/// A line, put in order.
struct Line {
    paths: Vec<Vec<u8>>,
    numbers: Vec<Vec<u8>>,
    ended: Ended,
    /// The status as it was written; none in dbench 2.
    status: Option<Vec<u8>>,
}

pub(super) fn line(session: &mut Session, text: &[u8], args: &[Token]) -> Fate {
    if args.last().is_some_and(|last| last.text == b"HANDLED") {
        return Fate::NoWord("calls that Samba's recorder could not write (NOT HANDLED)");
    }
    let Some(word) = WORDS.iter().find(|word| word.text.eq_ignore_ascii_case(text)) else {
        return Fate::NoWord("words that neither dbench nor smbtorture has");
    };
    match take(word, args) {
        Ok(line) => play(session, word, &line),
        Err(fate) => fate,
    }
}

/// How a status says that a line ended.
fn ended(status: &[u8]) -> Option<Ended> {
    let code = status.strip_prefix(b"0x").or_else(|| status.strip_prefix(b"0X"));
    if let Some(code) = code {
        let code = u32::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok()?;
        return Some(match code {
            0 => Ended::Well,
            0xc000_000f | 0xc000_0034 | 0xc000_003a | 0x8000_0006 => Ended::NotFound,
            0xc000_0035 => Ended::Exists,
            0xc000_0101 | 0xc000_0103 | 0xc000_00ba | 0xc000_0001 => Ended::Badly,
            _ => Ended::Refused,
        });
    }
    match status {
        b"*" => return Some(Ended::Unknown),
        b"SUCCESS" => return Some(Ended::Well),
        b"ERROR" => return Some(Ended::Badly),
        _ => {}
    }
    let name = status.strip_prefix(b"NT_STATUS_")?;
    Some(match name {
        b"OK" => Ended::Well,
        b"OBJECT_NAME_NOT_FOUND"
        | b"OBJECT_PATH_NOT_FOUND"
        | b"NO_SUCH_FILE"
        | b"NO_MORE_FILES" => Ended::NotFound,
        b"OBJECT_NAME_COLLISION" => Ended::Exists,
        b"DIRECTORY_NOT_EMPTY" | b"NOT_A_DIRECTORY" | b"FILE_IS_A_DIRECTORY" | b"UNSUCCESSFUL" => {
            Ended::Badly
        }
        _ => Ended::Refused,
    })
}

fn take(word: &Word, args: &[Token]) -> Result<Line, Fate> {
    let full = word.paths + word.numbers;
    let least = full - word.defaults.len();
    let last = args.last().and_then(|last| ended(&last.text));
    // A number like 0x6 at the end is one, where there would be one too few without it.
    let is_status = last.is_some() && args.len() > least;
    let (args, status) = match args {
        [args @ .., status] if is_status => (args, Some(status.text.clone())),
        _ => (args, None),
    };
    if args.len() < least || args.len() > full {
        let column = args.last().map_or(1, |token| token.column);
        let expected = format!(
            "{} arguments; expected {} paths and {} numbers, then a status or nothing",
            args.len(),
            word.paths,
            word.numbers
        );
        return Err(Fate::Unclear(column, expected));
    }
    let paths = args[..word.paths].iter().map(|token| tokens::path(&token.text)).collect();
    let mut numbers: Vec<_> = args[word.paths..].iter().map(|token| token.text.clone()).collect();
    let missing = word.numbers - numbers.len();
    let skipped = word.defaults.len() - missing;
    numbers.extend(word.defaults[skipped..].iter().map(|text| text.as_bytes().to_vec()));
    let ended = if is_status { last.unwrap_or(Ended::Unknown) } else { Ended::Unknown };
    Ok(Line { paths, numbers, ended, status })
}

/// The line of our language: word, paths, numbers, status.
pub(super) fn spell(word: &str, paths: &[&[u8]], numbers: &[&[u8]], status: &[u8]) -> Vec<u8> {
    let mut line = word.as_bytes().to_vec();
    for path in paths {
        line.extend_from_slice(b" \"");
        line.extend_from_slice(path);
        line.push(b'"');
    }
    for part in numbers.iter().chain([&status]) {
        line.push(b' ');
        line.extend_from_slice(part);
    }
    line
}

fn play(session: &mut Session, word: &Word, line: &Line) -> Fate {
    let numbers: Vec<&[u8]> = line.numbers.iter().map(Vec::as_slice).collect();
    match (line.paths.as_slice(), word.text) {
        (_, b"NTCreateX") => create(session, line, &numbers),
        ([], b"QUERY_FS_INFORMATION" | b"Sleep") => {
            let name = std::str::from_utf8(word.text).unwrap_or_default();
            session.write(&[spell(name, &[], &numbers, b"NT_STATUS_OK")])
        }
        ([], _) => on_handle(session, word, line, &numbers),
        (paths, _) => on_path(session, word, line, paths, &numbers),
    }
}

fn on_handle(session: &mut Session, word: &Word, line: &Line, numbers: &[&[u8]]) -> Fate {
    if !matches!(line.ended, Ended::Well | Ended::Unknown) {
        return Fate::Failed;
    }
    // A handle that is computed is somebody's.
    let handle = number(numbers[0]);
    if handle.is_some_and(|handle| !session.handles.contains_key(&handle)) {
        return Fate::NoWord("handles that no line has opened");
    }
    let status = line.status.as_deref().filter(|status| *status == b"*").unwrap_or(b"NT_STATUS_OK");
    let is_empty_write = word.text == b"Write" && number(numbers[2]) == Some(0);
    if is_empty_write {
        session.tally.note("Write of 0 bytes: ftruncate, as SMB means it", 1);
        return session.write(&[spell("ftruncate", &[], &numbers[..2], status)]);
    }
    let name = match word.text {
        b"Write" => "WriteX",
        text => std::str::from_utf8(text).unwrap_or_default(),
    };
    let fate = session.write(&[spell(name, &[], numbers, status)]);
    if fate == Fate::Kept {
        if word.text == b"ReadX"
            && let Some(path) = handle.and_then(|handle| session.handles.get(&handle))
            && let (Some(at), Some(len)) =
                (tokens::largest(numbers[1]), tokens::largest(numbers[3]))
        {
            session.world.grown(path, at.saturating_add(len));
        }
        if word.text == b"Close"
            && let Some(handle) = handle
        {
            session.handles.remove(&handle);
        }
    }
    fate
}

/// What a line has to expect, when it says how it ended and what is known of the name says otherwise.
pub(super) fn status(
    session: &mut Session,
    path: &[u8],
    ended: Ended,
    changes: bool,
) -> &'static [u8] {
    let there = session.world.known(path);
    if changes && !is_own(path) && ended != Ended::Unknown {
        session.tally.note(
            "names that all clients share: the line may fail, as another client may be first",
            1,
        );
        return b"*";
    }
    match (ended, there) {
        (Ended::Well, Some(false)) | (Ended::NotFound, Some(true)) => {
            session
                .tally
                .note("contradict what the lines before have shown: may succeed or fail", 1);
            b"*"
        }
        (Ended::Well, _) | (Ended::Unknown, Some(true)) => b"NT_STATUS_OK",
        (Ended::NotFound, _) => b"ERROR",
        (Ended::Badly | Ended::Exists, _) => b"ERROR",
        (Ended::Unknown, _) => {
            session.tally.note("nothing tells whether the name was there: may succeed or fail", 1);
            b"*"
        }
        (Ended::Refused, _) => b"*",
    }
}

fn create(session: &mut Session, line: &Line, numbers: &[&[u8]]) -> Fate {
    let path = &line.paths[0];
    let (options, disposition, handle) =
        (number(numbers[0]), number(numbers[1]), number(numbers[2]));
    // In dbench 2 the handle says whether it succeeded.
    let ended = match (&line.status, handle) {
        (None, Some(-1)) => Ended::NotFound,
        (None, _) => Ended::Well,
        _ => line.ended,
    };
    let kind = if options.is_some_and(|bits| bits & 1 == 1) { Kind::Dir } else { Kind::Any };
    let creates = disposition != Some(1);
    let is_missing = ended == Ended::NotFound && creates;
    match ended {
        Ended::Refused => return Fate::Failed,
        // To make what exists is no error of dbench's, and so of ours.
        Ended::Exists => {
            let line = match kind {
                Kind::Dir => spell("mkdirat", &[path], &[b"0700"], b"EEXIST"),
                _ => spell("open", &[path], &[b"O_RDWR|O_CREAT|O_EXCL", b"0600", b"0"], b"EEXIST"),
            };
            let fate = session.write(&[line]);
            if fate == Fate::Kept {
                session.world.found(path, kind);
            }
            return fate;
        }
        // It failed for the directory above it.
        _ if is_missing
            && tokens::parent(path).and_then(|dir| session.world.known(dir)) != Some(false) =>
        {
            return Fate::Failed;
        }
        _ => {}
    }
    let expect: &[u8] = match ended {
        Ended::Well if creates => b"NT_STATUS_OK",
        Ended::Unknown => b"*",
        ended => status(session, path, ended, false),
    };
    // Where an open must fail, the number stays what it was.
    let handle_text: &[u8] = if handle == Some(-1) { b"0" } else { numbers[2] };
    let fate = session.write(&[spell(
        "NTCreateX",
        &[path],
        &[numbers[0], numbers[1], handle_text],
        expect,
    )]);
    if fate == Fate::Kept {
        match ended {
            Ended::Well if creates => session.world.made(path, kind),
            Ended::Well => _ = session.world.found(path, kind),
            Ended::NotFound => _ = session.world.missing(path),
            _ => session.world.blurred(path),
        }
        if let Some(handle) = handle.filter(|_| matches!(ended, Ended::Well | Ended::Unknown)) {
            session.handles.insert(handle, path.clone());
        }
    }
    fate
}

fn on_path(
    session: &mut Session,
    word: &Word,
    line: &Line,
    paths: &[Vec<u8>],
    numbers: &[&[u8]],
) -> Fate {
    let path = paths[0].as_slice();
    if line.ended == Ended::Refused {
        return Fate::Failed;
    }
    if word.text == b"Unlink" && is_pattern(path) {
        return Fate::NoWord("Unlink of all names of a pattern");
    }
    let (name, changes) = match word.text {
        b"Chkpath" | b"Checkdir" | b"QUERY_PATH_INFORMATION" => ("QUERY_PATH_INFORMATION", false),
        b"SET_PATH_INFORMATION" => ("utimes", false),
        b"FIND_FIRST" => ("FIND_FIRST", false),
        text => (std::str::from_utf8(text).unwrap_or_default(), true),
    };
    let expect = match name {
        "FIND_FIRST" => find(session, path),
        // No errors of theirs are looked at, but the directory above must be there.
        "Deltree" | "Mkdir" => b"NT_STATUS_OK",
        _ => status(session, path, line.ended, changes),
    };
    let numbers: &[&[u8]] = match name {
        "QUERY_PATH_INFORMATION" if numbers.is_empty() => &[b"0"],
        "utimes" => &[],
        _ => numbers,
    };
    let both: Vec<&[u8]> = paths.iter().map(Vec::as_slice).collect();
    let fate = session.write(&[spell(name, &both, numbers, expect)]);
    if fate == Fate::Kept {
        let kind = if matches!(word.text, b"Chkpath" | b"Checkdir" | b"Rmdir") {
            Kind::Dir
        } else {
            Kind::Any
        };
        learn(session, name, paths, kind, expect);
    }
    fate
}

fn is_pattern(path: &[u8]) -> bool {
    path.iter().any(|byte| matches!(byte, b'<' | b'>' | b'*' | b'?'))
}

/// A pattern's directory has to be there; nobody looks for what is in it.
fn find(session: &Session, path: &[u8]) -> &'static [u8] {
    let there = session.world.known(tokens::parent(path).unwrap_or(b"/")) != Some(false);
    if there && is_pattern(path) { b"NT_STATUS_OK" } else { b"*" }
}

/// What a line that is in the load has done to the names.
fn learn(session: &mut Session, name: &str, paths: &[Vec<u8>], kind: Kind, expect: &[u8]) {
    let world = &mut session.world;
    let path = paths[0].as_slice();
    match (name, expect) {
        ("FIND_FIRST", b"NT_STATUS_OK") => {
            _ = world.found(tokens::parent(path).unwrap_or(b"/"), Kind::Dir);
        }
        ("Deltree", _) => world.cleared(path),
        ("Mkdir", _) => world.made(path, Kind::Dir),
        ("Unlink" | "Rmdir", b"NT_STATUS_OK") => world.removed(path, kind),
        ("Rename", b"NT_STATUS_OK") => world.moved(path, &paths[1], Kind::Any),
        ("Unlink" | "Rmdir" | "Rename", b"*") => paths.iter().for_each(|path| world.blurred(path)),
        (_, b"NT_STATUS_OK") => _ = world.found(path, kind),
        (_, b"ERROR") if matches!(name, "QUERY_PATH_INFORMATION" | "utimes") => {
            _ = world.missing(path)
        }
        _ => {}
    }
}
