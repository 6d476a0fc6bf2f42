//! What is refused or said before anything starts.

use crate::common::tool::{assert_clean, temp_disk};
use crate::matrix;

#[test]
fn nonsense_ends_it_before_anything_is_made() {
    let disk = temp_disk();
    let out = temp_disk();
    let file = out.path().join("r.csv");
    for (arguments, code, text) in [
        ("--vary colour=red,blue", 2, "no option --colour"),
        ("--vary clients=1,many", 2, "invalid value 'many'"),
        ("--vary as=root,no_such_user_here", 2, "no_such_user_here"),
        ("--vary loadfile=small,/no/such.load", 2, "/no/such.load"),
        ("--vary cpus=0;0,65000", 3, "CPU 65000"),
    ] {
        let all = format!("{arguments} -t 50ms -o {}", file.display());
        matrix(&all, &[disk.path()]).expect(code).says(text);
        assert!(!file.exists(), "{arguments}");
        assert_clean(&[disk.path()]);
    }
}

#[test]
fn a_dry_run_says_what_it_would_take() {
    let disk = temp_disk();
    let arguments = "--vary depth=0,1 --vary fsync=yes,no --dry-run -t 10s -c 1";
    let finished = matrix(arguments, &[disk.path()]).expect(0);
    finished.says("10 blocks of 4 cells: 40 runs");
    // 10 s and a fifth of it for the warm-up, 40 times.
    finished.says("40 runs x 12.0s are 8m00s");
    finished.says("would run the cell depth=1;fsync=no");
    // 0.9946 x the spread of a run, and twice that: 1 % and 3 %, as growth of the logarithm.
    finished.says("a main effect of 1.00 % (or 3.03 %), an interaction of 2.01 % (or 6.15 %)");
    assert_eq!(finished.stdout, "");
    assert_clean(&[disk.path()]);
}
