//! Which blocks a client runs, and in which order.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

/// What so many passes of a loadfile of `stat` lines name, one path after the other.
fn names(text: &str, passes: u64, seed: u64) -> Vec<String> {
    let program = parse_bytes("test", text.as_bytes(), &Options::default()).unwrap().program;
    let load = Load { passes: Some(passes), seed, ..Load::default() };
    let layout = SlotLayout {
        prefix: b"/d".to_vec(),
        max_path: crate::client::max_path_len(&program),
        ..SlotLayout::default()
    };
    let engine = ScriptedEngine::new(&layout, std::iter::repeat_n(OK, 100_000));
    let (control, shard, errors) = (Control::new(1), Shard::new(false), ErrorLog::default());
    control.set_window(0, u64::MAX);
    let setup = setup(&program, &load, &control, &shard, &errors);
    to_the_end(Client::new(&engine, 0, setup).run());
    let log = engine.log();
    log.iter().filter_map(|call| call.strip_prefix("stat /d/")).map(str::to_owned).collect()
}

fn counts(names: &[String]) -> BTreeMap<&str, usize> {
    names.iter().fold(BTreeMap::new(), |mut all, name| {
        *all.entry(name.as_str()).or_insert(0) += 1;
        all
    })
}

fn block(word: &str, weight: u32, name: &str) -> String {
    format!("{word} {weight}\nstat /{name} NT_STATUS_OK\nEND\n")
}

/// 4,000 draws with shares of 1/8, 2/8 and 5/8: within five standard deviations, which are
/// sqrt(4000 x p x (1 - p)) = 20.9, 27.4 and 30.6.
#[test]
fn choose_draws_by_weight() {
    let text = block("CHOOSE", 10, "a") + &block("CHOOSE", 20, "b") + &block("CHOOSE", 50, "c");
    let drawn = names(&text, 4000, 1);
    assert_eq!(drawn.len(), 4000);
    let counts = counts(&drawn);
    for (name, mean, deviation) in [("a", 500.0, 20.9), ("b", 1000.0, 27.4), ("c", 2500.0, 30.6)] {
        let off = (counts[name] as f64 - mean).abs();
        assert!(off < 5.0 * deviation, "{name}: {}", counts[name]);
    }
    assert_eq!(drawn, names(&text, 4000, 1), "the same seed");
    assert_ne!(drawn, names(&text, 4000, 2), "another seed");
}

/// Each pass has each block as often as it says; all 4! / 2! = 12 orders come.
#[test]
fn shuffle_runs_all_blocks_in_all_orders() {
    let text = block("SHUFFLE", 2, "a") + &block("SHUFFLE", 1, "b") + &block("SHUFFLE", 1, "c");
    let drawn = names(&text, 1200, 1);
    let mut orders: BTreeMap<String, usize> = BTreeMap::new();
    for pass in drawn.chunks(4) {
        let counts = counts(pass);
        assert_eq!((counts["a"], counts["b"], counts["c"]), (2, 1, 1));
        *orders.entry(pass.concat()).or_insert(0) += 1;
    }
    assert_eq!(orders.len(), 12);
    // 100 of each in the mean, with a standard deviation of sqrt(1200 x 1/12 x 11/12) = 9.6.
    assert!(orders.values().all(|count| (52..148).contains(count)), "{orders:?}");
    assert_eq!(drawn, names(&text, 1200, 1));
}

/// A group within a block starts anew each time, and goes on behind it where it should.
#[test]
fn groups_within_groups() {
    let inner = block("SHUFFLE", 1, "x") + &block("SHUFFLE", 2, "y");
    let text = format!(
        "LOOP 3\nSHUFFLE 2\nstat /in NT_STATUS_OK\n{inner}stat /out NT_STATUS_OK\nEND\nSHUFFLE 1\nLOOP 2\n\
         CHOOSE 1\nstat /z NT_STATUS_OK\nEND\nENDLOOP\nEND\nSHUFFLE 1\nEND\nENDLOOP\nstat /end NT_STATUS_OK\n"
    );
    let drawn = names(&text, 50, 3);
    let counts = counts(&drawn);
    let expected = [("end", 50), ("in", 300), ("out", 300), ("x", 300), ("y", 600), ("z", 300)];
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), expected);
    let inside: BTreeSet<String> = drawn
        .split(|name| name == "in")
        .skip(1)
        .map(|rest| rest[..rest.iter().position(|name| name == "out").unwrap()].concat())
        .collect();
    assert_eq!(inside.into_iter().collect::<Vec<_>>(), ["xyy", "yxy", "yyx"]);
}
