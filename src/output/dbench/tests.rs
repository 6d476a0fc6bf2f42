//! Expected texts are what Debian's dbench 4.00 and the dbench that mmtests builds printed.

use super::*;
use crate::op::OpKind;

const V4: DbenchFormat = DbenchFormat { long_names: false, machine: false };
const V5: DbenchFormat = DbenchFormat { long_names: true, machine: false };
const MACHINE: DbenchFormat = DbenchFormat { long_names: true, machine: true };

fn tick(phase: TickPhase) -> Tick {
    Tick { phase, clients: 2, lines: 140, mb_per_s: 2.62, seconds: 1.0003, latency_ms: 45.971 }
}

#[test]
fn lines_of_a_second() {
    let line = |format: DbenchFormat, phase| format.tick(&tick(phase));
    assert_eq!(
        line(V4, TickPhase::WarmUp),
        "   2       140     2.62 MB/sec  warmup   1 sec  latency 45.971 ms\n"
    );
    assert_eq!(
        line(V5, TickPhase::Execute),
        "   2       140     2.62 MB/sec  execute   1 sec  latency 45.971 ms\n"
    );
    assert_eq!(line(V4, TickPhase::Cleanup), "   2  cleanup   1 sec\n");
    assert_eq!(line(MACHINE, TickPhase::WarmUp), "@W@2@140@2.62@1@45.971@\n");
    assert_eq!(line(MACHINE, TickPhase::Execute), "@R@2@140@2.62@1@45.971@\n");
    assert_eq!(line(MACHINE, TickPhase::Cleanup), "@C@2@140@2.62@1@45.971@\n");
}

#[test]
fn first_and_last_lines() {
    assert_eq!(
        running_for("dbench version 4.00", 5, "slow4.load", 1),
        "dbench version 4.00\n\nRunning for 5 seconds with load 'slow4.load' and minimum warmup 1 \
         secs\n"
    );
    assert_eq!(prepared(1, 2, 0.2), "1 of 2 processes prepared for launch   0 sec\n");
    assert_eq!(completed(3, 812, 1604), "   3 completed in 812 ms at time 1604 ms\n");
    let mut total = Total {
        mb_per_s: 2.621_164,
        sync_open: false,
        sync_dirs: false,
        clients: 2,
        processes: 2,
        max_latency_ms: 41.465,
    };
    assert_eq!(
        V4.total(&total),
        "Throughput 2.62116 MB/sec  2 clients  2 procs  max_latency=41.465 ms\n"
    );
    assert_eq!(MACHINE.total(&total), ";2.62116;2;2;41.465;\n");
    (total.sync_open, total.sync_dirs, total.processes) = (true, true, 1);
    assert_eq!(
        V5.total(&total),
        "Throughput 2.62116 MB/sec (sync open) (sync dirs)  2 clients  1 procs  \
         max_latency=41.465 ms\n"
    );
}

fn ops(of: &[(OpKind, u64, u64, u64)]) -> Vec<DbenchOp> {
    let mut ops = vec![DbenchOp::default(); OpKind::COUNT];
    for &(kind, count, mean_us, max_us) in of {
        let (sum_ns, max_ns) = (count * mean_us * 1000, max_us * 1000);
        ops[kind.index()] = DbenchOp { count, sum_ns, max_ns };
    }
    ops
}

#[test]
fn tables() {
    let all = ops(&[
        (OpKind::WriteX, 200, 22, 80),
        (OpKind::QueryPath, 12_345_678, 1, 2_000_000),
        (OpKind::NtCreateX, 400, 21, 4019),
        (OpKind::Chmod, 1, 3, 3),
        (OpKind::Flush, 7, 5, 9),
    ]);
    let v4 = "\
\x20Operation      Count    AvgLat    MaxLat
 ----------------------------------------
 NTCreateX        400     0.021     4.019
 Qpathinfo    12345678     0.001  2000.000
 WriteX           200     0.022     0.080
 Flush              7     0.005     0.009
 chmod              1     0.003     0.003

";
    assert_eq!(V4.table(&all, &all), v4);
    let v5 = "\
\x20Operation                Count    AvgLat    MaxLat
 --------------------------------------------------
 Flush                        7     0.005     0.009
 WriteX                     200     0.022     0.080
 QUERY_PATH_INFORMATION 12345678     0.001  2000.000
 NTCreateX                  400     0.021     4.019
 chmod                        1     0.003     0.003

";
    assert_eq!(V5.table(&all, &all), v5);
    let machine = MACHINE.table(&all, &all);
    assert!(machine.starts_with(" Operation  "), "{machine}");
    assert!(machine.contains("\n:WriteX:200:0.022:0.080:\n"), "{machine}");
    // A client without an operation that others have done has its line, too.
    let client = ops(&[(OpKind::Flush, 7, 5, 9)]);
    assert!(V4.table(&client, &all).contains(" NTCreateX          0     0.000     0.000\n"));
    assert_eq!(client_head(0, 840, 6_553_600), "Client 0 did 840 lines and 6553600 bytes\n");
}

#[test]
fn every_operation_has_one_name() {
    for long in [false, true] {
        let mut kinds: Vec<_> = names::names(long).iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds.len(), OpKind::COUNT);
        kinds.sort();
        assert_eq!(kinds, OpKind::ALL);
    }
}

/// The shell's printf is C's.
#[test]
fn numbers_are_written_as_printf_writes_them() {
    let numbers = [
        0.0,
        1.0,
        2.621_164,
        40.892_4,
        999_999.4,
        999_999.5,
        1_356_390.0,
        123_456_789.0,
        0.1,
        0.000_123_456,
        0.000_099_999_96,
        1e-5,
        1e10,
        1e100,
        100.0,
        530.25,
        1195.0,
    ];
    let mut shell = std::process::Command::new("bash");
    shell.args(["-c", "LC_ALL=C printf '%g\\n' \"$@\"", "bash"]);
    shell.args(numbers.iter().map(|number| format!("{number:e}")));
    let expected = String::from_utf8(shell.output().unwrap().stdout).unwrap();
    let ours: String = numbers.iter().map(|number| general(*number) + "\n").collect();
    assert_eq!(ours, expected);
}
