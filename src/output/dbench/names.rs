//! What dbench's tables call the operations, and in which order.

use crate::op::OpKind;

/// dbench 4: some names are shortened.
const SHORT: [(OpKind, &str); 17] = [
    (OpKind::NtCreateX, "NTCreateX"),
    (OpKind::Close, "Close"),
    (OpKind::Rename, "Rename"),
    (OpKind::Unlink, "Unlink"),
    (OpKind::Deltree, "Deltree"),
    (OpKind::Rmdir, "Rmdir"),
    (OpKind::Mkdir, "Mkdir"),
    (OpKind::QueryPath, "Qpathinfo"),
    (OpKind::QueryFile, "Qfileinfo"),
    (OpKind::QueryFs, "Qfsinfo"),
    (OpKind::SetFile, "Sfileinfo"),
    (OpKind::FindFirst, "Find"),
    (OpKind::WriteX, "WriteX"),
    (OpKind::ReadX, "ReadX"),
    (OpKind::LockX, "LockX"),
    (OpKind::UnlockX, "UnlockX"),
    (OpKind::Flush, "Flush"),
];

/// dbench 5: as in the loadfile.
const LONG: [OpKind; 17] = [
    OpKind::Deltree,
    OpKind::Flush,
    OpKind::Close,
    OpKind::LockX,
    OpKind::Rmdir,
    OpKind::Mkdir,
    OpKind::Rename,
    OpKind::ReadX,
    OpKind::WriteX,
    OpKind::Unlink,
    OpKind::UnlockX,
    OpKind::FindFirst,
    OpKind::SetFile,
    OpKind::QueryFile,
    OpKind::QueryPath,
    OpKind::QueryFs,
    OpKind::NtCreateX,
];

/// All operations with their names: dbench's in its order, then those that it does not know.
pub(super) fn names(long: bool) -> Vec<(OpKind, &'static str)> {
    let mut names: Vec<_> = match long {
        false => SHORT.to_vec(),
        true => LONG.iter().map(|kind| (*kind, kind.word())).collect(),
    };
    let known: Vec<OpKind> = names.iter().map(|(kind, _)| *kind).collect();
    let others = OpKind::ALL.iter().filter(|kind| !known.contains(kind));
    names.extend(others.map(|kind| (*kind, kind.word())));
    names
}
