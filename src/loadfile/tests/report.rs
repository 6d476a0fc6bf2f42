//! `check`, against figures worked out by hand.

use super::super::check::check;
use super::*;

#[test]
fn loops_are_multiplied_not_run() {
    let report = check(&good(
        "LOOP 1000000000\nLOOP 4\nReadX 1 0 100 100 *\nENDLOOP\nREPEAT 2\nQUERY_FS_INFORMATION 1 *\n\
         ENDLOOP\nFlush 1 *\n",
    ));
    assert_eq!(report.total_ops, 4_000_000_000 + 2_000_000_000 + 1);
    assert_eq!(report.read_bytes, 400_000_000_000);
    assert_eq!(
        report.ops.iter().map(|op| op.count).collect::<Vec<_>>(),
        [4_000_000_000, 1, 2_000_000_000]
    );
}

#[test]
fn a_file_that_grows_in_a_loop_ends_as_large_as_it_would() {
    let report = check(&good(
        "NTCreateX /a 0 2 1 *\nWriteX 1 0 4096 4096 *\nLOOP 99\nWriteX 1 +4096 4096 4096 *\n\
         ENDLOOP\nClose 1 *\n",
    ));
    assert_eq!(report.live_bytes_max, 100 * 4096);
    assert_eq!(report.write_bytes, 100 * 4096);
}

/// a 100 -> renamed to b (10 bytes, replaced), a truncated anew, b unlinked while open.
#[test]
fn data_lives_until_name_and_handles_are_gone() {
    let report = check(&good(
        "NTCreateX /a 0 2 1 *\nWriteX 1 0 100 100 *\nNTCreateX /b 0 2 2 *\nWriteX 2 0 10 10 *\n\
         Close 2 *\nRename /a /b NT_STATUS_OK\nUnlink /b 0 NT_STATUS_OK\nNTCreateX /c 0 2 3 *\n\
         WriteX 3 0 50 50 *\nClose 1 *\nNTCreateX /c 0 5 4 *\nWriteX 4 0 7 7 *\n",
    ));
    // 110 before the rename; 100 + 50 with the unlinked one; then 50; then truncated, 7.
    assert_eq!((report.live_bytes_max, report.live_bytes_end), (150, 7));
    assert_eq!((report.open_handles_max, report.open_handles_end), (2, 2));
}

#[test]
fn directories_move_and_go_with_what_is_in_them() {
    let report = check(&good(
        "Mkdir /d *\nNTCreateX /d/a 0 2 1 *\nWriteX 1 0 100 100 *\nClose 1 *\nRename /d /e *\n\
         NTCreateX /e/a 0 1 1 NT_STATUS_OK\nClose 1 *\nNTCreateX /ex 0 2 1 *\nWriteX 1 0 1 1 *\n\
         Close 1 *\nDeltree /e *\n",
    ));
    assert_eq!(report.files_not_made, 0);
    assert_eq!((report.live_bytes_max, report.live_bytes_end), (101, 1));
    assert_eq!((report.distinct_paths, report.deepest_path), (5, 2));
}

#[test]
fn failures_that_are_expected_do_nothing() {
    let report = check(&good(
        "NTCreateX /a 0 1 1 NT_STATUS_NO_SUCH_FILE\nWriteX 1 0 100 100 *\n\
         QUERY_PATH_INFORMATION /a 1 ENOENT\nFIND_FIRST /a* 1 1 1 NT_STATUS_NO_SUCH_FILE\n\
         NTCreateX /b 0x1 2 1 NT_STATUS_OK\nNTCreateX /gone 0 1 2 NT_STATUS_OK\n",
    ));
    assert_eq!((report.live_bytes_max, report.expected_failures), (0, 2));
    assert_eq!((report.open_handles_max, report.files_not_made), (2, 1));
    assert_eq!(report.dispositions, [0, 2, 1, 0, 0, 0]);
}

/// 1 s + 3 rounds of 0.5 s, the timestamp of 1.2 s lying within the first; then 9 s.
#[test]
fn time_comes_from_timestamps_and_pauses() {
    let report =
        check(&good("1 Flush 1 *\nLOOP 3\nSLEEP 500000\n1.2 Flush 1 *\nENDLOOP\nFlush 1 *\n"));
    assert!((report.implied_seconds - 2.5).abs() < 1e-9, "{}", report.implied_seconds);
    assert!((report.pause_seconds - 1.5).abs() < 1e-9);
    let report = check(&good("SLEEP 100\n9 Flush 1 *\n"));
    assert!((report.implied_seconds - 9.0).abs() < 1e-9);
}

#[test]
fn deep_nesting_stays_fast() {
    let text = format!("{}Flush 1 *\n{}", "LOOP 9\n".repeat(60), "ENDLOOP\n".repeat(60));
    let start = std::time::Instant::now();
    assert_eq!(check(&good(&text)).total_ops, u64::MAX);
    assert!(start.elapsed().as_secs() < 10);
}

#[test]
fn text_and_json_say_the_same() {
    let report =
        check(&good("RANDOMSTRING 1 \"[ab]\"\nNTCreateX /$1 0 2 1 *\nWriteX 1 *%1000 24 24 *\n"));
    assert_eq!(report.live_bytes_max, 1023);
    assert!(report.estimated);
    let text = report.to_string();
    assert!(text.contains("1023 B (1.02 kB) (estimate)"), "{text}");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["live_bytes_max"], 1023);
    assert_eq!(json["features"][0], "RANDOMSTRING");
    assert_eq!(json["ops"][0]["op"], "NTCreateX");
}
