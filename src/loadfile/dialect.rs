//! Loadfiles of dbench's other kinds: recognised, so that they can be named.

use super::lexer::Token;
use super::{number, status};
use crate::op::OpKind;

/// A kind of loadfile that is not played here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Dbench1,
    Dbench2,
    Nfs,
    Smb,
    Scsi,
    Block,
}

const NFS: &[&[u8]] = &[
    b"ACCESS3",
    b"COMMIT3",
    b"CREATE3",
    b"FSINFO3",
    b"FSSTAT3",
    b"GETATTR3",
    b"LINK3",
    b"LOOKUP3",
    b"MKDIR3",
    b"PATHCONF3",
    b"READ3",
    b"READDIRPLUS3",
    b"READLINK3",
    b"REMOVE3",
    b"RENAME3",
    b"RMDIR3",
    b"SETATTR3",
    b"SYMLINK3",
    b"WRITE3",
    b"LOCK4",
    b"UNLOCK4",
    b"TEST4",
];
const SCSI: &[&[u8]] = &[
    b"TESTUNITREADY",
    b"READ6",
    b"READ10",
    b"READ16",
    b"WRITE10",
    b"WRITE16",
    b"READCAPACITY10",
    b"SYNCHRONIZECACHE10",
    b"PROUT",
    b"PRIN",
    b"PREFETCH10",
];

/// The dialect of a line that is no line of ours; `tokens` start with the operation's word.
///
/// Meant for the first bad line of a file: one message instead of twenty.
pub(super) fn recognise(tokens: &[Token], line: &[u8], had_ops: bool) -> Option<Dialect> {
    let word = tokens.first()?.text(line);
    let word = word.as_ref();
    if word.starts_with(b"SMB") {
        return Some(Dialect::Dbench1);
    }
    if NFS.contains(&word) {
        return Some(Dialect::Nfs);
    }
    if SCSI.contains(&word) {
        return Some(Dialect::Scsi);
    }
    let number_at =
        |i: usize| tokens.get(i).is_some_and(|t| number::literal(&t.text(line)).is_some());
    match word {
        b"FDATASYNC" => Some(Dialect::Block),
        b"READ" | b"WRITE" if number_at(1) => Some(Dialect::Block),
        b"OPEN" | b"READ" | b"WRITE" | b"READDIR" => Some(Dialect::Smb),
        // dbench 2 has our words, but no quotes and no status. A file of ours that just lacks a
        // status somewhere had good lines before.
        _ if !had_ops && is_dbench2(tokens, line) => Some(Dialect::Dbench2),
        _ => None,
    }
}

fn is_dbench2(tokens: &[Token], line: &[u8]) -> bool {
    let [word, args @ .., last] = tokens else {
        return false;
    };
    let word = word.text(line);
    let known = OpKind::ALL.iter().any(|kind| kind.word().as_bytes() == word.as_ref());
    let bare = args.iter().chain([last]).all(|token| !token.is_quoted());
    let last = last.text(line);
    let is_argument = last.starts_with(b"\\") || number::literal(&last).is_some();
    known && bare && is_argument && status::parse(&last).is_none()
}

impl Dialect {
    pub(super) fn message(self) -> String {
        let (name, what) = match self {
            Self::Dbench1 => ("dbench 1", "recorded SMB requests and replies"),
            Self::Dbench2 => ("dbench 2", "lines without a status"),
            Self::Nfs => ("dbench's nfs backend", "NFS calls"),
            Self::Smb => ("dbench's smb backend", "SMB client calls"),
            Self::Scsi => ("dbench's scsi and iscsi backends", "SCSI commands"),
            Self::Block => ("dbench's block backend", "reads and writes of a device"),
        };
        format!("this is a loadfile of {name} ({what}), not of a file system load")
    }

    pub(super) fn hint(self) -> &'static str {
        match self {
            Self::Dbench1 | Self::Dbench2 => {
                "a dbench 3, 4 or 5 file-system loadfile; `jbodbench import nbench FILE -o NEW.load` \
                 makes one of it"
            }
            Self::Nfs => {
                "a dbench 3, 4 or 5 file-system loadfile; `jbodbench import nfs FILE -o NEW.load` \
                 makes one of it. To load an NFS server, mount it and give the mount point as disk"
            }
            Self::Smb => {
                "a dbench 3, 4 or 5 file-system loadfile; to load an SMB server, mount it and \
                 give the mount point as disk"
            }
            Self::Scsi | Self::Block => {
                "a dbench 3, 4 or 5 file-system loadfile; for raw devices use a block benchmark"
            }
        }
    }
}
