//! Debian's client.txt, when it is there. The figures were counted in the text with awk, and are
//! in dbench's own documentation of the load.

use super::super::check::check;
use super::super::load;
use super::*;

const PATH: &str = "/usr/share/dbench/client.txt";

#[test]
#[allow(clippy::print_stderr, reason = "a skipped test has to say so")]
fn client_txt_is_what_it_is() {
    let path = std::path::Path::new(PATH);
    if !path.exists() {
        assert!(std::env::var_os("JBODBENCH_NO_SKIP").is_none_or(|v| v != "1"), "no {PATH}");
        eprintln!("skipped: {PATH} is not there (Debian package dbench)");
        return;
    }
    let loaded = load(Some(path), &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((loaded.text.bytes, loaded.text.lines), (26_214_401, 458_344));
    let report = check(&loaded.program);
    let count = |word| report.ops.iter().find(|op| op.op == word).map_or(0, |op| op.count);
    for (word, expected) in [
        ("ReadX", 124_199),
        ("NTCreateX", 79_230),
        ("QUERY_PATH_INFORMATION", 71_814),
        ("Close", 58_200),
        ("WriteX", 39_502),
        ("FIND_FIRST", 27_765),
        ("Unlink", 16_000),
        ("QUERY_FS_INFORMATION", 13_168),
        ("QUERY_FILE_INFORMATION", 12_585),
        ("SET_FILE_INFORMATION", 6_454),
        ("Flush", 5_553),
        ("Rename", 3_355),
        ("LockX", 258),
        ("UnlockX", 258),
        ("Deltree", 2),
        ("Mkdir", 1),
        ("Rmdir", 0),
    ] {
        assert_eq!(count(word), expected, "{word}");
    }
    assert_eq!(report.total_ops, 458_344);
    let creates = report.ops.iter().find(|op| op.op == "NTCreateX").unwrap();
    assert_eq!(creates.expected_failures, 21_030);
    assert_eq!(report.dispositions, [0, 63_162, 16_067, 0, 0, 1]);
    assert_eq!(report.open_handles_max, 23);
    // By an independent simulation in Python; 24 MB, as the load is known for.
    assert_eq!(report.live_bytes_max, 23_965_486);
    assert_eq!(report.write_bytes, 1_015_974_170);
    assert_eq!(report.read_bytes, 1_472_088_767);
    assert_eq!(report.largest_file_bytes, 1_867_776);
    assert_eq!(loaded.program.max_write, 65_536);
    assert!(loaded.program.times.is_none() && loaded.program.exprs.is_empty());
}
