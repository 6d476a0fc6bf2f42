//! What a client costs beside the system calls themselves: a loadfile replayed over the engine that
//! makes none.
//!
//! The goals are 60 ns a call and 100 ns an operation, all in: one reading of the clock (about 31 ns),
//! histogram and counters. `record` and `clock` below say what two parts of that are.
//!
//! `operation` has a benchmark for each kind, with one client. `mix` has the proportions of client.txt,
//! with 1, 8 and 64 clients a thread. Throughput is in operations; the names say how many calls each
//! of them makes. Where each call waits, the executor's turn is in it.

use std::fmt::Write;
use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use jbodbench::client::{Client, ClientSetup, Doing, ErrorLog, max_path_len};
use jbodbench::engine::{
    Call, Control, Directory, Engine, NullEngine, PathSlot, SlotLayout, call, now_ns,
};
use jbodbench::loadfile::{Options, Program, Source, load_source};
use jbodbench::metrics::{Sample, Shard};
use jbodbench::op::OpKind;
use jbodbench::plan::{Data, Load};
use jbodbench::pool::run_clients;

const PREFIX: &[u8] = b"/mnt/disk01/.jbodbench-1a22ce18959-37b9";
/// Lines of a loadfile of one kind of operation: enough that start and end do not show.
const LINES: usize = 1000;

fn compile(text: String) -> Program {
    let source = Source { name: "bench".to_owned(), bytes: text.into_bytes(), gzip: false };
    match load_source(&source, &Options::default()) {
        Ok(loaded) => loaded.program,
        Err(error) => panic!("{error}"),
    }
}

fn layout(program: &Program) -> SlotLayout {
    SlotLayout {
        prefix: PREFIX.to_vec(),
        max_path: max_path_len(program),
        max_read: program.max_read as usize,
        max_write: program.max_write as usize,
        max_text: 0,
        directory: Directory::Cwd,
    }
}

/// CPU time of this thread: what else runs on the machine does not count.
fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

/// A client's whole way with a program, `passes` times; how long it took.
fn replay(program: &Program, data: Data, passes: u64) -> Duration {
    replay_by(&NullEngine::<false>::new(&layout(program), 1), program, 1, data, passes)
}

/// The same by several clients of one thread, each with passes of its own.
fn replay_by<E: Engine>(
    engine: &E,
    program: &Program,
    clients: u32,
    data: Data,
    passes: u64,
) -> Duration {
    let load = Load { passes: Some(passes), data, ..Load::default() };
    let control = Control::new(clients);
    control.set_window(0, u64::MAX);
    let (shard, errors) = (Shard::new(false), ErrorLog::default());
    let doing: Vec<Doing> = (0..clients).map(|_| Doing::new()).collect();
    let client = |client: u32| {
        let setup = ClientSetup {
            program,
            load: &load,
            control: &control,
            shard: &shard,
            errors: &errors,
            doing: &doing[client as usize],
            at_window: &|| {},
            prepared: None,
            barrier: None,
            phase_shards: None,
            disk: 0,
            client,
            clients,
            keep_passes: false,
        };
        Client::new(engine, client, setup).run()
    };
    let all: Vec<_> = (0..clients).map(client).collect();
    let start = cpu_time();
    let mut reports = Vec::with_capacity(all.len());
    run_clients(engine, all, |_, done| reports.push(done));
    let took = cpu_time() - start;
    let sums = reports.iter().flat_map(|report| report.tallies.iter());
    assert!(sums.into_iter().all(|tally| tally.errors == 0 && tally.skipped == 0));
    took
}

/// Lines of one kind. `{name}` becomes one of 200 names.
fn of_kind(before: &str, line: &str) -> String {
    let mut text = before.to_owned();
    for i in 0..LINES {
        let name = format!("\\clients\\client1\\~dmtmp\\PWRPNT\\FILE{:04}.DOC", i % 200);
        let _ = writeln!(text, "{}", line.replace("{name}", &name));
    }
    text
}

/// The proportions of client.txt in units of one open and close.
fn mix() -> String {
    let mut text = String::new();
    for i in 0..LINES / 10 {
        let name = format!("\\clients\\client1\\~dmtmp\\PWRPNT\\FILE{:04}.DOC", i % 200);
        let _ = write!(
            text,
            "QUERY_PATH_INFORMATION \"{name}\" 1004 NT_STATUS_OK\n\
             NTCreateX \"{name}\" 0x40 0x1 7 NT_STATUS_OK\n\
             ReadX 7 0 4096 4096 NT_STATUS_OK\n\
             ReadX 7 4096 4096 4096 NT_STATUS_OK\n\
             WriteX 7 0 4096 4096 NT_STATUS_OK\n\
             QUERY_FILE_INFORMATION 7 258 NT_STATUS_OK\n\
             ReadX 7 8192 61440 61440 NT_STATUS_OK\n\
             Close 7 NT_STATUS_OK\n\
             FIND_FIRST \"{name}\" 260 1366 1 NT_STATUS_OK\n\
             QUERY_FS_INFORMATION 1 NT_STATUS_OK\n"
        );
    }
    text
}

fn operations(c: &mut Criterion) {
    let open = "NTCreateX \"\\clients\\client1\\file\" 0x40 0x2 7 NT_STATUS_OK\n";
    let kinds: [(&str, String, Data); 9] = [
        ("read, 1 call", of_kind(open, "ReadX 7 0 4096 4096 NT_STATUS_OK"), Data::Random),
        ("write of zeroes, 1 call", of_kind(open, "WriteX 7 0 4096 4096 NT_STATUS_OK"), Data::Zero),
        (
            "write of 4 KiB, 1 call",
            of_kind(open, "WriteX 7 0 4096 4096 NT_STATUS_OK"),
            Data::Random,
        ),
        (
            "write of 64 KiB, 1 call",
            of_kind(open, "WriteX 7 0 65536 65536 NT_STATUS_OK"),
            Data::Random,
        ),
        (
            "query path, 1 call",
            of_kind("", "QUERY_PATH_INFORMATION \"{name}\" 1004 NT_STATUS_OK"),
            Data::Random,
        ),
        (
            "query file, 1 call",
            of_kind(open, "QUERY_FILE_INFORMATION 7 258 NT_STATUS_OK"),
            Data::Random,
        ),
        (
            "open and close, 2 operations, 4 calls",
            of_kind("", "NTCreateX \"{name}\" 0x40 0x1 7 NT_STATUS_OK\nClose 7 NT_STATUS_OK"),
            Data::Random,
        ),
        (
            "find by pattern, 5 calls",
            of_kind("", "FIND_FIRST \"{name}*\" 260 1366 1 NT_STATUS_OK"),
            Data::Random,
        ),
        ("mix, 10 operations, 12 calls", mix(), Data::Random),
    ];
    let mut group = c.benchmark_group("operation");
    group.sample_size(30).measurement_time(Duration::from_secs(2));
    for (name, text, data) in kinds {
        let program = compile(text);
        let ops = program.insts.iter().filter(|inst| inst.op.is_some()).count();
        group.throughput(Throughput::Elements(ops as u64));
        group.bench_function(name, |b| b.iter_custom(|passes| replay(&program, data, passes)));
    }
    group.finish();
}

/// Several clients a thread, on an engine that answers at once and on one that never does: there
/// every call takes a turn of the executor.
fn threads(c: &mut Criterion) {
    let program = compile(mix());
    let ops = program.insts.iter().filter(|inst| inst.op.is_some()).count() as u64;
    let mut group = c.benchmark_group("mix, 10 operations, 12 calls");
    group.sample_size(30).measurement_time(Duration::from_secs(2));
    for clients in [1, 8, 64] {
        group.throughput(Throughput::Elements(ops * u64::from(clients)));
        let at_once = NullEngine::<false>::new(&layout(&program), clients);
        group.bench_function(format!("{clients} clients, at once"), |b| {
            b.iter_custom(|n| replay_by(&at_once, &program, clients, Data::Random, n));
        });
        let late = NullEngine::<true>::new(&layout(&program), clients);
        group.bench_function(format!("{clients} clients, each call waits"), |b| {
            b.iter_custom(|n| replay_by(&late, &program, clients, Data::Random, n));
        });
    }
    group.finish();
}

/// The engine contract alone: a future per client, which makes reads and nothing else.
fn calls(c: &mut Criterion) {
    let mut group = c.benchmark_group("read");
    group.sample_size(30).measurement_time(Duration::from_secs(2));
    for clients in [1, 8, 64] {
        group.throughput(Throughput::Elements(CALLS * u64::from(clients)));
        let at_once = NullEngine::<false>::new(&SlotLayout::default(), clients);
        group.bench_function(format!("{clients} clients, at once"), |b| {
            b.iter_custom(|n| reads(&at_once, clients, n));
        });
        let late = NullEngine::<true>::new(&SlotLayout::default(), clients);
        group.bench_function(format!("{clients} clients, each waits"), |b| {
            b.iter_custom(|n| reads(&late, clients, n));
        });
    }
    group.finish();
}

const CALLS: u64 = 1000;

fn reads<E: Engine>(engine: &E, clients: u32, times: u64) -> Duration {
    let client = async |client| {
        let mut sum = 0;
        for i in 0..CALLS {
            let read = Call::Read { fd: 3, offset: i, len: black_box(4096) };
            sum += call(engine, client, read).await.unwrap_or(0);
        }
        sum
    };
    let start = cpu_time();
    for _ in 0..times {
        run_clients(engine, (0..clients).map(client), |_, done| {
            black_box(done);
        });
    }
    cpu_time() - start
}

fn parts(c: &mut Criterion) {
    let mut group = c.benchmark_group("part");
    group.sample_size(30).measurement_time(Duration::from_secs(2));
    for (name, shared) in [("record, shard of one thread", false), ("record, shared shard", true)] {
        let shard = Shard::new(shared);
        let mut latency_ns = 1000;
        group.bench_function(name, |b| {
            b.iter(|| {
                latency_ns = latency_ns % 50_000 + 77;
                shard.record(Sample {
                    op: OpKind::ReadX,
                    latency_ns: black_box(latency_ns),
                    bytes: 4096,
                    fault: None,
                });
            });
        });
    }
    group.bench_function("clock", |b| b.iter(now_ns));
    // A path of the usual length, as a client renders one.
    let layout = SlotLayout { prefix: PREFIX.to_vec(), max_path: 64, ..SlotLayout::default() };
    let engine = NullEngine::<false>::new(&layout, 1);
    group.bench_function("path of 2 literals and a client name", |b| {
        b.iter(|| {
            let mut slot = engine.slot(0);
            slot.first.reset();
            slot.first.push(black_box(b"/clients/"));
            slot.first.push(black_box(b"client0"));
            slot.first.push(black_box(b"/~dmtmp/PWRPNT/FILE0123.DOC"));
            black_box(slot.path(PathSlot::First).as_bytes().len())
        });
    });
    group.finish();
}

criterion_group!(benches, operations, threads, calls, parts);
criterion_main!(benches);
