//! Between runs devices come to rest.

use std::time::Instant;

use crate::common::tool::Running;
use crate::common::{LoopFs, TmpFs, or_skip, skip};
use crate::{command, matrix, runs};

const SHORT: &str = "-l small -t 50ms --warmup 0 --interval 0 -c 1";

#[test]
fn a_device_is_waited_for_and_memory_is_not() {
    let disk = or_skip!(LoopFs::new("ext4", 64));
    let arguments = format!("--vary x=a,b --prepare true --blocks 1 --idle 700ms {SHORT}");
    let start = Instant::now();
    let table = matrix(&arguments, &[&disk.path()]).expect(0).table();
    let took = start.elapsed().as_secs_f64();
    let waits: Vec<f64> = runs(&table).iter().map(|run| run.float("idle_wait_s")).collect();
    assert!(waits.iter().all(|wait| *wait >= 0.7), "{waits:?}");
    assert!(waits.iter().sum::<f64>() < took, "{waits:?} in {took}");
    assert!(runs(&table).iter().all(|run| run.text("flags").is_empty()));
    let memory = or_skip!(TmpFs::new("16m"));
    let table = matrix(&arguments, &[&memory.path()]).expect(0).table();
    assert!(runs(&table).iter().all(|run| run.float("idle_wait_s") == 0.0));
}

/// Somebody who goes on writing is not waited for beyond the limit, and the rows say so.
#[test]
fn a_busy_device_flags_the_run() {
    let disk = or_skip!(LoopFs::new("ext4", 64));
    let arguments = format!("--vary x=a,b --blocks 1 --idle 400ms --idle-limit 900ms {SHORT}");
    let mut matrix = command(&arguments, &[&disk.path()]);
    // For 20 s at most, and not once the file is gone.
    let writer = "touch $JB_DISK/busy; (for i in $(seq 200); do [ -e $JB_DISK/busy ] || exit; \
                  dd if=/dev/zero of=$JB_DISK/busy bs=4k count=1 oflag=direct conv=notrunc; \
                  sleep 0.05; done) >/dev/null 2>&1 &";
    matrix.arg("--prepare").arg(writer);
    matrix.arg("--conclude").arg("rm -f $JB_DISK/busy; sleep 0.2");
    let table = Running::start(matrix).finish().expect(0).table();
    for run in runs(&table) {
        assert_eq!(run.text("flags"), "busy_device");
        assert!((0.9..5.0).contains(&run.float("idle_wait_s")), "{}", run.text("idle_wait_s"));
    }
}
