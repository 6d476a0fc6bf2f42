//! Clients of one thread take turns, also those that never make a call.

use crate::common::tool::{assert_clean, loadfile, run_on, temp_disk};
use crate::common::{TmpFs, or_skip, skip};

/// Eight clients of one thread that never wait for anything else wait for each other.
#[test]
fn waits_for_the_thread_are_told_with_advice() {
    or_skip!(jbodbench::engine::rings_are_usable(8, 1).map_err(|why| why.to_string()));
    let disk = or_skip!(TmpFs::new("64m"));
    let arguments = "-c 8 -t 1s --warmup 500ms --engine hybrid --threads-per-disk";
    let finished = run_on(&format!("{arguments} 1"), &[&disk.path()]).expect(0);
    finished.says("pool wait: ");
    finished.says("--threads-per-disk");
    let finished = run_on(&format!("{arguments} 8"), &[&disk.path()]).expect(0);
    assert!(!finished.stderr.contains("pool wait"), "{finished}");
}

/// What a client does without end and without a system call, the arguments for it, and whether it
/// counts as a failure.
const ENDLESS: [(&str, &str, i32); 3] = [
    ("ReadX 7 0 4096 4096 NT_STATUS_OK", "--fake-io", 0),
    ("ReadX 99 0 4096 4096 NT_STATUS_OK", "", 1), // 99 is not open: skipped
    ("SETSP 1", "", 0),
];

#[test]
fn a_client_without_calls_lets_the_others_in() {
    or_skip!(jbodbench::engine::rings_are_usable(4, 1).map_err(|why| why.to_string()));
    let files = temp_disk();
    let other = "LOOP 4000000000\nQUERY_FS_INFORMATION 1 NT_STATUS_OK\nENDLOOP";
    let other = loadfile(files.path(), "other.load", other);
    for (line, more, code) in ENDLESS {
        let lines = format!(
            "NTCreateX \"\\clients\\client1\\a\" 0x40 2 7 NT_STATUS_OK\n\
             LOOP 4000000000\n{line}\nENDLOOP"
        );
        let load = loadfile(files.path(), "endless.load", &lines);
        for engine in ["hybrid", "uring"] {
            let disk = temp_disk();
            let arguments = format!(
                "-c 4 -t 1s --warmup 0 --interval 100ms --interval-ops -l {},{} {more} \
                 --engine {engine} --threads-per-disk 1",
                load.display(),
                other.display()
            );
            let table = run_on(&arguments, &[disk.path()]).expect(code).table();
            // The other two go on to the end. Without turns they stop within the first interval,
            // once the first two are in their loops.
            let late = table.of("interval").into_iter().filter(|row| {
                row.text("op") == "QUERY_FS_INFORMATION" && row.float("t_start_s") > 0.6
            });
            let others: u64 = late.map(|row| row.int("ops")).sum();
            assert!(others > 0, "{line} {engine}");
            assert_clean(&[disk.path()]);
        }
    }
}
