//! What it costs a thread that its descriptor table is shared, with a stand-in or with a kernel
//! worker: every call by descriptor takes a reference on the open file more, and gives it back.
//!
//! Rounds alternate between a private table and one that a sleeping thread shares; the result is
//! the median of the differences. Run it with `cargo bench --bench table`.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::os::unix::fs::FileExt;
use std::sync::mpsc::channel;
use std::time::Instant;

use jbodbench::host::sys::unshare_files_and_close_all;

const CALLS: u32 = 200_000;
const ROUNDS: usize = 41;

/// Nanoseconds of one read of a cached byte.
fn read_ns(file: &std::fs::File) -> f64 {
    let mut byte = [0];
    let start = Instant::now();
    for _ in 0..CALLS {
        file.read_exact_at(&mut byte, 0).unwrap();
    }
    start.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

/// A private round, then a shared one.
fn pair(file: &std::fs::File) -> (f64, f64) {
    let private = read_ns(file);
    let shared = std::thread::scope(|scope| {
        let (end, sleeps) = channel::<()>();
        scope.spawn(move || sleeps.recv());
        let shared = read_ns(file);
        drop(end);
        shared
    });
    (private, shared)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn rounds() -> Vec<(f64, f64)> {
    unshare_files_and_close_all().unwrap();
    // Descriptors 0 to 2 are free here: the file gets one of them, and nothing is printed.
    let path = std::env::temp_dir().join(format!("jbodbench-table-{}", std::process::id()));
    std::fs::write(&path, [0]).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    pair(&file);
    (0..ROUNDS).map(|_| pair(&file)).collect()
}

fn main() {
    let rounds = std::thread::spawn(rounds).join().unwrap();
    let of = |pick: fn(&(f64, f64)) -> f64| median(rounds.iter().map(pick).collect());
    println!("a read of a cached byte, {ROUNDS} pairs of {CALLS} calls");
    println!("private table  {:6.1} ns", of(|(private, _)| *private));
    println!("shared table   {:6.1} ns", of(|(_, shared)| *shared));
    println!("difference     {:6.1} ns", of(|(private, shared)| shared - private));
}
