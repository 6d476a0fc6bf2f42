//! How long it takes to read, parse, hash and compile a long loadfile: Debian's client.txt where
//! it is, and a generated text of the same length and mix of line lengths.
//!
//! The goal is 150 ms for client.txt (458,344 lines, 26 MB) on one processor.

use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use jbodbench::loadfile::{Options, Source, load, load_source};

const CLIENT_TXT: &str = "/usr/share/dbench/client.txt";
const LINES: usize = 458_344;

/// Lines like those of client.txt: 200 names, handles that rise, reads in runs.
fn generate(lines: usize) -> String {
    let mut text = String::new();
    let mut written = 0;
    let mut handle = 10_000;
    while written < lines {
        let name = handle % 200;
        let path = format!("\"\\clients\\client1\\~dmtmp\\PWRPNT\\FILE{name:04}.DOC\"");
        handle += 1;
        let _ = writeln!(text, "NTCreateX {path} 0x40 0x1 {handle} NT_STATUS_OK");
        for block in 0..6 {
            let offset = block * 4096;
            let _ = writeln!(text, "ReadX {handle} {offset} 4096 4096 NT_STATUS_OK");
        }
        let _ = writeln!(text, "QUERY_PATH_INFORMATION {path} 1004 NT_STATUS_OK");
        let _ = writeln!(text, "Close {handle} NT_STATUS_OK");
        written += 9;
    }
    text
}

fn loadfile(c: &mut Criterion) {
    let mut group = c.benchmark_group("loadfile");
    group.sample_size(20);
    let options = Options::default();
    let text = generate(LINES).into_bytes();
    group.throughput(Throughput::Bytes(text.len() as u64));
    let source = Source { name: "generated".to_owned(), bytes: text, gzip: false };
    group.bench_function("parse and compile, generated", |b| {
        b.iter(|| black_box(load_source(&source, &options)).is_ok());
    });
    let path = Path::new(CLIENT_TXT);
    if let Ok(facts) = path.metadata() {
        group.throughput(Throughput::Bytes(facts.len()));
        group.bench_function("read, parse and compile client.txt", |b| {
            b.iter(|| black_box(load(Some(path), &options)).is_ok());
        });
    }
    group.finish();
}

criterion_group!(benches, loadfile);
criterion_main!(benches);
