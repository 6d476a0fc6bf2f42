//! CHOOSE and SHUFFLE in whole runs.

use std::fs;

use crate::common::tool::{run_on, temp_disk};

const LOAD: &str = "PREPARE\nSHUFFLE 1\nMkdir \"/clients\" NT_STATUS_OK\nEND\nSHUFFLE 2\nQUERY_FS_INFORMATION 1 NT_STATUS_OK\n\
                    END\nEND\nCHOOSE 3\nstat \"/clients\" NT_STATUS_OK\nEND\nCHOOSE 1\nlstat \"/clients\" NT_STATUS_OK\nEND\n\
                    SHUFFLE 2\naccess \"/clients\" F_OK NT_STATUS_OK\nEND\nSHUFFLE 3\n\
                    QUERY_FS_INFORMATION 1 NT_STATUS_OK\nEND\n";

/// The same seed draws the same on every engine, and what is shuffled is whole.
#[test]
fn engines_draw_alike() {
    let files = temp_disk();
    let load = files.path().join("g.load");
    fs::write(&load, LOAD).unwrap();
    let ops = |options: &str| {
        let disk = temp_disk();
        let arguments = format!("-l {} --passes 400 -c 3 {options}", load.display());
        run_on(&arguments, &[disk.path()]).expect(0).table().ops()
    };
    let sync = ops("--engine sync");
    assert_eq!((sync["access"], sync["QUERY_FS_INFORMATION"]), (2 * 1200, 3 * 1200));
    assert_eq!(sync["stat"] + sync["lstat"], 1200);
    // 300 of 1200, with a standard deviation of sqrt(1200 x 1/4 x 3/4) = 15.
    assert!((225..375).contains(&sync["lstat"]), "{sync:?}");
    assert_eq!(ops("--engine hybrid --threads-per-disk 1"), sync);
    assert_eq!(ops("--engine uring"), sync);
    assert_ne!(ops("--engine sync --seed 2")["lstat"], sync["lstat"], "another seed");
}
