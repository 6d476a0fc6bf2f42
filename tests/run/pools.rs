//! Loads that draw their names from pools.

use crate::common::tool::{assert_clean, label, run_on};
use crate::common::{TmpFs, need_root, or_skip, skip};

/// By hand, from the heads of the loads: calls of one word in a pass of one client. What is drawn at
/// random depends on the seed alone, so that every engine and every user has the same.
#[test]
fn each_draws_the_same_by_every_engine() {
    or_skip!(need_root());
    for (load, op, count) in [
        ("varmail", "unlinkat", 50),
        ("fileserver", "stat", 10),
        ("webserver", "ReadX", 1000),
        ("fsstress", "", 0),
    ] {
        let mut first = None;
        for how in ["sync --as root", "sync --as nobody", "hybrid --as nobody", "uring --as root"] {
            let disk = or_skip!(TmpFs::new("300m"));
            let arguments = format!("-l {load} -c 2 --passes 1 --warmup 0 --seed 5 --engine {how}");
            let table = run_on(&arguments, &[&disk.path()]).expect(0).table();
            let all = table.summary(label(&disk.path()), "all");
            assert_eq!((all.text("status"), all.int("errors")), ("ok", 0), "{load} {how}");
            let ops = table.ops();
            if op.is_empty() {
                assert!(all.int("skipped") * 10 < all.int("ops"), "{load} {how}");
            } else {
                assert_eq!((ops[op], all.int("skipped")), (2 * count, 0), "{load} {how}");
            }
            assert_eq!(first.get_or_insert_with(|| ops.clone()), &ops, "{load} {how}");
            assert_clean(&[&disk.path()]);
        }
    }
}
