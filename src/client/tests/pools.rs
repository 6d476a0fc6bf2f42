//! Names drawn from pools: which, and what an outcome does to them.

use std::collections::BTreeSet;

use super::{ENOENT, OK, fd, replay};
use crate::engine::Reply;
use crate::op::OpKind;
use crate::plan::Load;

const EEXIST: Reply = Reply::Now(Err(crate::engine::Errno(17)));

fn seeded(seed: u64) -> Load {
    Load { seed, ..Load::default() }
}

/// By hand, as filebench's rotors go: one over the names that exist, which a removal moves as well,
/// and one over the others.
#[test]
fn a_rotation_goes_round() {
    let text = "POOL f 4 /client1/f rotate\nLOOP 3\nmkdirat {f+} 0700 *\nENDLOOP\n\
                stat {f} *\nunlinkat {f-} 0 *\nstat {f=} *\nstat {f} *\nstat {f} *\n\
                mkdirat {f+} 0700 *\nmkdirat {f+} 0700 *\nLOOP 4\nstat {f} *\nENDLOOP\n";
    let (log, report, _) = replay(text, Load::default(), vec![]);
    let names: Vec<_> = log.iter().map(|line| line.replace("/d/client0/", "")).collect();
    let expected = [
        "mkdir f0 700",
        "mkdir f1 700",
        "mkdir f2 700", // in order
        "stat f0",
        "unlink f1",
        "stat f1",
        "stat f2",
        "stat f0", // round, f1 is left out
        "mkdir f3 700",
        "mkdir f1 700", // on from the last one made
        "stat f1",
        "stat f2",
        "stat f3",
        "stat f0",
    ];
    assert_eq!(names, expected);
    assert!(report.tallies.iter().all(|tally| tally.skipped == 0));
}

/// By hand: what fails changes nothing, what only looks neither; without a name a line is skipped
/// and its numbers move on.
#[test]
fn outcomes_decide_what_exists() {
    let text = "POOL f 1 /f\nPOOL g 2 /g rotate\nstat {f} *\nstat {f=} *\nstat {f+} ENOENT\nstat {f} *\n\
                mkdirat {f+} 0700 EEXIST\nstat {f} *\nmkdirat {f+} 0700 NT_STATUS_OK\n\
                unlinkat {f-} AT_REMOVEDIR *\nmkdirat {f+} 0700 *\nrenameat2 {f-} {g+} 0 *\n\
                stat {f} *\nstat {g} *\nlink {g} {g+} *\ntruncate {f} +5 *\ntruncate {g=} +5 *\n\
                symlink {g=} {f+} *\nunlinkat {f-} 0 *\n";
    let answers = vec![ENOENT, EEXIST, OK, ENOENT, OK, OK, OK, OK, OK];
    let (log, report, errors) = replay(text, Load::default(), answers);
    let expected = [
        "stat /d/f0",
        "mkdir /d/f0 700",
        "mkdir /d/f0 700",
        "rmdir /d/f0",
        // It exists still: no name is left to make, and this one can be moved.
        "renameat /d/f0 /d/g0 0",
        "stat /d/g0",
        "link /d/g0 /d/g1",
        "truncate /d/g1 [10, 0, 0]",
        "symlink g1 /d/f0",
        "unlink /d/f0",
    ];
    assert_eq!(log, expected);
    assert_eq!(errors.first(), []);
    let skipped = |op: OpKind| report.tallies[op.index()].skipped;
    assert_eq!((skipped(OpKind::Stat), skipped(OpKind::Mkdirat)), (5, 1));
    assert_eq!((skipped(OpKind::Truncate), report.tallies[OpKind::Truncate.index()].ops), (1, 1));
}

/// Whatever is drawn is drawn rightly: a set of the standard library follows the calls. All names
/// come up, and the seed alone decides.
#[test]
fn random_draws_keep_to_what_exists() {
    let text = "POOL f 50 /f\nLOOP 500\nmkdirat {f+} 0700 *\nmkdirat {f+} 0700 *\nstat {f} *\n\
                renameat2 {f-} {f+} 0 *\nrenameat2 {f-} {f} 0 *\nunlinkat {f-} AT_REMOVEDIR *\n\
                stat {f+} *\nENDLOOP\n";
    let (log, report, _) = replay(text, seeded(7), vec![]);
    let (mut exist, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for line in &log {
        let words: Vec<_> = line.split(' ').collect();
        if words.len() == 1 {
            continue; // it gives others a turn
        }
        seen.insert(words[1].to_owned());
        match words[0] {
            "mkdir" => assert!(exist.insert(words[1].to_owned()), "{line}"),
            "rmdir" => assert!(exist.remove(words[1]), "{line}"),
            "renameat" => {
                assert!(exist.contains(words[1]), "{line}");
                exist.remove(words[1]);
                exist.insert(words[2].to_owned());
            }
            _ => {}
        }
    }
    assert_eq!(seen.len(), 50);
    // Two are made, one or two go: it fills up, and then lines are skipped.
    assert!(report.tallies[OpKind::Mkdirat.index()].skipped < 500);
    assert!(exist.len() > 10, "{}", exist.len());
    assert_eq!(log, replay(text, seeded(7), vec![]).0);
    assert_ne!(log, replay(text, seeded(8), vec![]).0);
}

/// An error of an operation on a handle names the path as it was when the handle was opened.
#[test]
fn errors_name_what_was_opened() {
    let text = "POOL f 9 /f rotate\nopen {f+} O_RDWR|O_CREAT 0600 1 *\nmkdirat {f+} 0700 *\n\
                fdatasync 1 NT_STATUS_OK\nClose 1 *\n";
    let (log, _, errors) = replay(text, Load::default(), vec![fd(5), OK, ENOENT]);
    assert_eq!(log[1], "mkdir /d/f1 700");
    assert_eq!(errors.first()[0].path, "/d/f0");
}
