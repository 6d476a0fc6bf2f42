//! Every block holds every cell once, in the documented order.

use crate::common::tool::{assert_clean, temp_disk};
use crate::{cells_by_block, matrix, runs};

/// `scripts/matrix-order 7 3 5` and `scripts/matrix-order 1 4 4`, a hand-made run of what
/// docs/matrix.md describes.
const OF_SEVEN: [[usize; 3]; 5] = [[2, 0, 1], [0, 1, 2], [2, 0, 1], [2, 0, 1], [1, 2, 0]];
const OF_ONE: [[usize; 4]; 4] = [[0, 1, 3, 2], [0, 2, 3, 1], [2, 0, 1, 3], [0, 2, 1, 3]];

#[test]
fn blocks_are_in_the_order_that_the_page_describes() {
    let disk = temp_disk();
    let short = "-l small -t 50ms --warmup 0 --interval 0 -c 1 --idle 0";
    let arguments = format!("--vary depth=0,1,2 --blocks 5 --seed 7 {short}");
    let table = matrix(&arguments, &[disk.path()]).expect(0).table();
    let names = ["depth=0", "depth=1", "depth=2"];
    let expected: Vec<Vec<&str>> =
        OF_SEVEN.iter().map(|block| block.iter().map(|cell| names[*cell]).collect()).collect();
    assert_eq!(cells_by_block(&table), expected);
    for run in runs(&table) {
        assert_eq!((run.int("seed"), run.int("blocks_planned")), (7, 5));
        assert_eq!(run.text("cell"), format!("depth={}", run.text("depth")));
    }
    let ids: Vec<_> = table.rows.iter().map(|row| row.text("experiment_id")).collect();
    assert!(ids.iter().all(|id| *id == ids[0] && !id.is_empty()));
    assert_clean(&[disk.path()]);
}

/// Of two factors the last one changes fastest: cells 0 to 3.
#[test]
fn two_factors_are_counted_like_digits() {
    let disk = temp_disk();
    let arguments = "--vary depth=0,1 --vary fsync=yes,no --blocks 4 -l small -t 50ms --warmup 0 \
                     --interval 0 -c 1 --idle 0";
    let table = matrix(arguments, &[disk.path()]).expect(0).table();
    let names = ["depth=0;fsync=yes", "depth=0;fsync=no", "depth=1;fsync=yes", "depth=1;fsync=no"];
    let expected: Vec<Vec<&str>> =
        OF_ONE.iter().map(|block| block.iter().map(|cell| names[*cell]).collect()).collect();
    assert_eq!(cells_by_block(&table), expected);
}
