//! Lines of dbench 1: requests of SMB and their replies, as `SMBwrite REQUEST Handle 7 ByteCount 5 Offset 0`.
//!
//! A reply says how its request ended. As dbench 1 did, each is one system call, with names in capitals.

use std::collections::{HashMap, HashSet};

use super::Session;
use super::nbench::{Ended, spell, status};
use super::tally::Fate;
use super::tokens::{self, Token, number};
use super::world::Kind;

/// Lines within which a reply follows its request.
const NEAR: u64 = 16;

/// Which reply belongs to which request.
#[derive(Debug, Default)]
pub(super) struct Replies {
    /// What replies say, by the lines of their requests.
    of: HashMap<u64, Vec<Token>>,
    /// The lines of these replies.
    lines: HashSet<u64>,
}

/// Finds the request of each reply: the last one of the word, within a few lines, that has none yet. Requests to
/// break a lock come between others and their replies, and many requests have none.
pub(super) fn pair(text: &[u8]) -> Replies {
    let mut replies = Replies::default();
    let mut open: Vec<(u64, Vec<u8>)> = Vec::new();
    for (line, number) in text.split(|byte| *byte == b'\n').zip(1_u64..) {
        if !line.trim_ascii_start().starts_with(b"SMB") {
            continue;
        }
        let mut tokens = tokens::split(line.trim_ascii());
        open.retain(|(asked, _)| asked + NEAR >= number);
        let Some((word, args)) = tokens.split_first().filter(|(word, args)| is(&word.text, args))
        else {
            continue;
        };
        if args[0].text == b"REQUEST" {
            open.push((number, word.text.clone()));
        } else if let Some(at) = open.iter().rposition(|(_, asked)| *asked == word.text) {
            replies.of.insert(open.remove(at).0, tokens.split_off(2));
            replies.lines.insert(number);
        }
    }
    replies
}

/// Whether it is a line of these.
pub(super) fn is(word: &[u8], args: &[Token]) -> bool {
    let kind = args.first().map(|arg| arg.text.as_slice());
    matches!(kind, Some(b"REQUEST" | b"REPLY")) && (word.starts_with(b"SMB") || word == b"CREATE")
}

pub(super) fn line(session: &mut Session, word: &[u8], args: &[Token]) -> Fate {
    if args.first().is_some_and(|arg| arg.text == b"REPLY") {
        return match session.replies.lines.contains(&session.line) {
            true => Fate::Folded,
            false => Fate::NoWord("replies without a request"),
        };
    }
    let reply = session.replies.of.remove(&session.line);
    play(session, word, &Asked { args: &args[1..], reply: reply.as_deref() })
}

struct Asked<'a> {
    args: &'a [Token],
    reply: Option<&'a [Token]>,
}

fn value<'a>(tokens: &'a [Token], name: &str) -> Option<&'a [u8]> {
    let at = tokens.iter().position(|token| token.text == name.as_bytes())?;
    tokens.get(at + 1).map(|token| token.text.as_slice())
}

impl Asked<'_> {
    fn number(&self, name: &str) -> Option<i64> {
        number(value(self.args, name)?).filter(|value| *value >= 0)
    }

    fn replied(&self, name: &str) -> Option<i64> {
        number(value(self.reply?, name)?).filter(|value| *value >= 0)
    }

    /// In capitals, as dbench 1 had them, but for what is each client's own.
    fn path(&self, name: &str) -> Option<Vec<u8>> {
        let path = tokens::path(&value(self.args, name)?.to_ascii_uppercase());
        let own =
            |name: &[u8]| if name == b"CLIENT1" { b"client1".to_vec() } else { name.to_vec() };
        Some(path.split(|byte| *byte == b'/').map(own).collect::<Vec<_>>().join(&b'/'))
    }

    fn ended(&self) -> Ended {
        let error =
            self.reply.map(|reply| reply.iter().find(|token| token.text.starts_with(b"ERR")));
        match error {
            None => Ended::Unknown,
            Some(None) => Ended::Well,
            Some(Some(error)) => match error.text.as_slice() {
                b"ERRbadfile" | b"ERRbadpath" | b"ERRnofiles" => Ended::NotFound,
                b"ERRfilexists" => Ended::Exists,
                _ => Ended::Refused,
            },
        }
    }
}

fn lacking(what: &str) -> Fate {
    Fate::Unclear(1, format!("{what} is missing; expected it behind REQUEST"))
}

fn play(session: &mut Session, word: &[u8], asked: &Asked<'_>) -> Fate {
    match word {
        b"SMBwrite" | b"SMBwritebraw" | b"SMBread" | b"SMBreadbraw" | b"SMBclose" | b"SMBflush" => {
            on_handle(session, word, asked)
        }
        b"SMBlseek" | b"SMBfindclose" => Fate::Folded,
        b"SMBlockingX" => Fate::NoWord("locks without a range"),
        b"SMBdskattr" => session.write(&[b"QUERY_FS_INFORMATION 1 NT_STATUS_OK".to_vec()]),
        b"SMBopenX" => open(session, asked),
        b"CREATE" => create(session, asked),
        b"SMBtrans2" => find(session, asked),
        b"SMBmkdir" | b"SMBrmdir" | b"SMBunlink" | b"SMBgetatr" | b"SMBsetatr" | b"SMBmv" => {
            on_path(session, word, asked)
        }
        _ => Fate::NoWord("requests that dbench 1 did not play either"),
    }
}

fn on_handle(session: &mut Session, word: &[u8], asked: &Asked<'_>) -> Fate {
    let Some(handle) = asked.number("Handle") else { return lacking("Handle") };
    if !matches!(asked.ended(), Ended::Well | Ended::Unknown) {
        return Fate::Failed;
    }
    let Some(path) = session.handles.get(&handle).cloned() else {
        return Fate::NoWord("handles that no line has opened");
    };
    let len = ["ByteCount", "DataSize", "MaxCount"].iter().find_map(|name| asked.number(name));
    let text = match (word, asked.number("Offset"), len) {
        (b"SMBclose", ..) => {
            session.handles.remove(&handle);
            format!("Close {handle}")
        }
        (b"SMBflush", ..) => format!("Flush {handle}"),
        (_, None, _) => return lacking("Offset"),
        (_, _, None) => return lacking("the length"),
        (b"SMBwrite", Some(at), Some(0)) => {
            session.tally.note("SMBwrite of 0 bytes: ftruncate, as SMB means it", 1);
            format!("ftruncate {handle} {at}")
        }
        (b"SMBwrite" | b"SMBwritebraw", Some(at), Some(len)) => {
            format!("WriteX {handle} {at} {len} {len}")
        }
        (_, Some(at), Some(len)) => {
            // Of a raw read nothing says how much came.
            let got = asked.replied("Count").unwrap_or(0).min(len);
            session.world.grown(&path, u64::try_from(at.saturating_add(got)).unwrap_or(0));
            format!("ReadX {handle} {at} {len} {got}")
        }
    };
    session.write(&[format!("{text} NT_STATUS_OK").into_bytes()])
}

fn open(session: &mut Session, asked: &Asked<'_>) -> Fate {
    let Some(path) = asked.path("Path") else { return lacking("Path") };
    match asked.ended() {
        Ended::Well => {}
        Ended::NotFound => {
            let expect = missing(session, &path);
            let fate = session.write(&[spell("open", &[&path], &[b"O_RDWR", b"0", b"0"], expect)]);
            if fate == Fate::Kept && expect == b"ENOENT" {
                session.world.missing(&path);
            }
            return fate;
        }
        Ended::Unknown => return Fate::NoWord("opens without a reply"),
        _ => return Fate::Failed,
    }
    let (Some(handle), Some(size)) = (asked.replied("Handle"), asked.replied("Size")) else {
        return lacking("Handle or Size of the reply");
    };
    let number = handle.to_string();
    let fate = opened(session, &path, number.as_bytes(), size);
    if fate == Fate::Kept {
        session.handles.insert(handle, path);
    }
    fate
}

/// What a missing name's line has to expect.
fn missing(session: &mut Session, path: &[u8]) -> &'static [u8] {
    match status(session, path, Ended::NotFound, false) {
        b"ERROR" => b"ENOENT",
        other => other,
    }
}

/// An open that finds a file of a size: as dbench 1 did it, an empty one is made, a longer one made as long.
fn opened(session: &mut Session, path: &[u8], handle: &[u8], size: i64) -> Fate {
    let known = session.world.known(path);
    let flags: &[u8] = match (size, known) {
        (0, _) => b"O_RDWR|O_CREAT|O_TRUNC",
        (_, Some(false)) => b"O_RDWR|O_CREAT",
        _ => b"O_RDWR",
    };
    let mut lines = vec![spell("open", &[path], &[flags, b"0600", handle], b"NT_STATUS_OK")];
    if size > 0 && known == Some(false) {
        session
            .tally
            .note("files that no line made, but that have a size: ftruncate behind the open", 1);
        lines.push(spell(
            "ftruncate",
            &[],
            &[handle, size.to_string().as_bytes()],
            b"NT_STATUS_OK",
        ));
    }
    let fate = session.write(&lines);
    if fate == Fate::Kept {
        if size == 0 || known == Some(false) {
            session.world.made(path, Kind::Any);
        } else {
            session.world.found(path, Kind::Any);
            session.world.grown(path, u64::try_from(size).unwrap_or(0));
        }
    }
    fate
}

/// A file that dbench 1's author put in so that later lines find it.
fn create(session: &mut Session, asked: &Asked<'_>) -> Fate {
    let (Some(path), Some(size)) = (asked.path("Path"), asked.number("Size")) else {
        return lacking("Path or Size");
    };
    let lines = [
        spell("open", &[&path], &[b"O_RDWR|O_CREAT|O_TRUNC", b"0600", b"0"], b"NT_STATUS_OK"),
        spell("ftruncate", &[], &[b"0", size.to_string().as_bytes()], b"NT_STATUS_OK"),
        b"Close 0 NT_STATUS_OK".to_vec(),
    ];
    let fate = session.write(&lines);
    if fate == Fate::Kept {
        session.world.made(&path, Kind::Any);
    }
    fate
}

fn find(session: &mut Session, asked: &Asked<'_>) -> Fate {
    if !asked.args.iter().any(|token| token.text == b"TRANSACT2_FINDFIRST") {
        return Fate::NoWord("requests that dbench 1 did not play either");
    }
    let Some(path) = asked.path("File") else { return lacking("File") };
    let dir = tokens::parent(&path).unwrap_or(b"/").to_vec();
    let there = session.world.known(&dir) != Some(false);
    let expect: &[u8] = if there && asked.ended() == Ended::Well { b"NT_STATUS_OK" } else { b"*" };
    let fate = session.write(&[spell("FIND_FIRST", &[&path], &[b"0", b"1000000", b"0"], expect)]);
    if fate == Fate::Kept && expect == b"NT_STATUS_OK" {
        session.world.found(&dir, Kind::Dir);
    }
    fate
}

fn on_path(session: &mut Session, word: &[u8], asked: &Asked<'_>) -> Fate {
    let first = if word == b"SMBmv" { "OldPath" } else { "Path" };
    let Some(path) = asked.path(first) else { return lacking(first) };
    let ended = asked.ended();
    if ended == Ended::Refused || ended == Ended::Exists && word != b"SMBmkdir" {
        return Fate::Failed;
    }
    let changes = !matches!(word, b"SMBgetatr" | b"SMBsetatr");
    let expect: &[u8] = match (word, ended) {
        // One that exists is no error.
        (b"SMBmkdir", Ended::NotFound) => return Fate::Failed,
        (b"SMBmkdir", _) => b"NT_STATUS_OK",
        _ => match status(session, &path, ended, changes) {
            b"ERROR" => b"ENOENT",
            other => other,
        },
    };
    let (line, kind) = match word {
        b"SMBmkdir" => (spell("Mkdir", &[&path], &[], expect), Kind::Dir),
        b"SMBrmdir" => (spell("unlinkat", &[&path], &[b"AT_REMOVEDIR"], expect), Kind::Dir),
        b"SMBunlink" => (spell("unlinkat", &[&path], &[b"0"], expect), Kind::Any),
        b"SMBgetatr" => (spell("stat", &[&path], &[], expect), Kind::Any),
        b"SMBsetatr" => (spell("utimes", &[&path], &[], expect), Kind::Any),
        _ => {
            let Some(new) = asked.path("NewPath") else { return lacking("NewPath") };
            let fate = session.write(&[spell("renameat2", &[&path, &new], &[b"0"], expect)]);
            if fate == Fate::Kept {
                match expect {
                    b"NT_STATUS_OK" => session.world.moved(&path, &new, Kind::Any),
                    b"*" => [&path, &new].iter().for_each(|path| session.world.blurred(path)),
                    _ => {}
                }
            }
            return fate;
        }
    };
    let fate = session.write(&[line]);
    if fate == Fate::Kept {
        let world = &mut session.world;
        match (word, expect) {
            (b"SMBmkdir", _) => world.made(&path, kind),
            (_, b"*") if changes => world.blurred(&path),
            (_, b"NT_STATUS_OK") if changes => world.removed(&path, kind),
            (_, b"NT_STATUS_OK") => _ = world.found(&path, kind),
            (_, b"ENOENT") => _ = world.missing(&path),
            _ => {}
        }
    }
    fate
}
