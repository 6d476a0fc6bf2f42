//! What is said of factors, against arithmetic outside of the program.

use crate::common::tool::{Row, Table, temp_disk};
use crate::common::{TmpFs, or_skip, skip};
use crate::{matrix, runs};

/// Student's t, 0.975 with 5 degrees of freedom, from a table.
const T5: f64 = 2.570_582;

/// The rate of a disk in a cell, by block.
fn rates(table: &Table, disk: &str, cell: &str) -> Vec<f64> {
    let of = |row: &&Row| row.text("cell") == cell && row.text("op") == "all";
    table.summaries(disk).filter(of).map(|row| row.float("ops_per_s")).collect()
}

/// Mean and half width of the logarithms of ratios.
fn by_hand(pairs: &[f64]) -> (f64, f64) {
    let n = pairs.len() as f64;
    let mean = pairs.iter().sum::<f64>() / n;
    let variance = pairs.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, T5 * (variance / n).sqrt())
}

fn near(row: &Row, column: &str, log: f64) {
    let (found, expected) = (row.float(column), 100.0 * log.exp_m1());
    assert!((found - expected).abs() < 1e-3, "{column}: {found}, by hand {expected}");
}

/// A slow-down is found, and its numbers are what the rows of the runs give by hand: per disk first,
/// then the mean, then the interval over blocks.
#[test]
fn a_planted_slow_down_is_found_and_its_numbers_follow_from_the_rows() {
    let (one, other) = (or_skip!(TmpFs::new("64m")), or_skip!(TmpFs::new("64m")));
    let (one, other) = (one.path(), other.path());
    let arguments =
        "--vary spin=0,200us --blocks 6 -l small -t 500ms --warmup 50ms --interval 0 -c 1";
    let table = matrix(arguments, &[&one, &other]).expect(0).table();
    let mut pairs = vec![0.0; 6];
    for disk in [&one, &other] {
        let disk = disk.to_str().unwrap();
        let (a, b) = (rates(&table, disk, "spin=0"), rates(&table, disk, "spin=200us"));
        assert_eq!((a.len(), b.len()), (6, 6));
        pairs
            .iter_mut()
            .zip(a.iter().zip(&b))
            .for_each(|(pair, (a, b))| *pair += (b / a).ln() / 2.0);
    }
    let (mean, half) = by_hand(&pairs);
    let effects = table.of("effect");
    let row = effects.iter().find(|row| row.text("exploratory") == "0").unwrap();
    assert_eq!((row.text("effect"), row.text("factor"), row.int("n")), ("main", "spin", 6));
    assert_eq!((row.text("level_a"), row.text("level_b")), ("0", "200us"));
    assert_eq!((row.text("metric"), row.float("confidence")), ("ops_per_s", 0.95));
    near(row, "change_pct", mean);
    near(row, "low_pct", mean - half);
    near(row, "high_pct", mean + half);
    near(row, "half_width_pct", half);
    assert_eq!(row.text("verdict"), "regression", "{mean} {half}");
    // Others are marked, and never have a smaller p for being among many.
    for row in &effects {
        assert!(row.float("p_adjusted") >= row.float("p_value"), "{row:?}");
    }
    assert!(effects.len() > 4);
}

/// Contrasts of two factors, by hand from one disk: simple, main and interaction.
#[test]
fn contrasts_of_two_factors_follow_from_the_rows() {
    let disk = or_skip!(TmpFs::new("64m"));
    let disk = disk.path();
    let arguments = "--vary spin=0,100us --vary clients=1,2 --blocks 6 -l small -t 500ms \
                     --warmup 20ms --interval 0";
    let table = matrix(arguments, &[&disk]).expect(0).table();
    let log = |cell: &str| -> Vec<f64> {
        rates(&table, disk.to_str().unwrap(), cell).into_iter().map(f64::ln).collect()
    };
    let y: Vec<Vec<f64>> =
        ["spin=0;clients=1", "spin=0;clients=2", "spin=100us;clients=1", "spin=100us;clients=2"]
            .map(log)
            .to_vec();
    let contrast = |weights: [f64; 4]| -> Vec<f64> {
        (0..6).map(|block| (0..4).map(|cell| weights[cell] * y[cell][block]).sum()).collect()
    };
    let check = |effect: &str, factor: &str, held: &str, weights: [f64; 4]| {
        let rows = table.of("effect");
        let is = |row: &&&Row| {
            (row.text("effect"), row.text("factor"), row.text("held"), row.text("exploratory"))
                == (effect, factor, held, "0")
        };
        let (mean, half) = by_hand(&contrast(weights));
        let row = rows.iter().find(is).unwrap();
        near(row, "change_pct", mean);
        near(row, "low_pct", mean - half);
        near(row, "high_pct", mean + half);
        (mean, (*row).clone())
    };
    check("simple", "spin", "clients=1", [-1.0, 0.0, 1.0, 0.0]);
    check("simple", "spin", "clients=2", [0.0, -1.0, 0.0, 1.0]);
    check("simple", "clients", "spin=0", [-1.0, 1.0, 0.0, 0.0]);
    check("main", "spin", "", [-0.5, -0.5, 0.5, 0.5]);
    check("interaction", "spin x clients", "", [1.0, -1.0, -1.0, 1.0]);
    // Clients are counted: twice as many of them, so much the faster.
    let (mean, row) = check("main", "clients", "", [-0.5, 0.5, -0.5, 0.5]);
    assert!((row.float("speed_up") - mean.exp()).abs() < 1e-5);
    assert!((row.float("efficiency") - mean.exp() / 2.0).abs() < 1e-5);
}

/// With too few blocks no verdict is made up.
#[test]
fn few_blocks_have_no_verdict() {
    let disk = temp_disk();
    let arguments = "--vary depth=0,1 --blocks 3 -l small -t 50ms --warmup 0 --interval 0 -c 1 --idle 0 --metric lat_p50_us";
    let finished = matrix(arguments, &[disk.path()]).expect(0);
    let table = finished.table();
    let rows = table.of("effect");
    let row = rows.iter().find(|row| row.text("exploratory") == "0").unwrap();
    assert_eq!((row.text("metric"), row.text("verdict")), ("lat_p50_us", "inconclusive"));
    finished.says("3 blocks are too few: 4 for a verdict");
    assert_eq!(runs(&table).len(), 6);
}
