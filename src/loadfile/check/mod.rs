//! `check`: what one pass of one client over a Program does, without doing it.
//!
//! Counts come from arithmetic: an instruction counts as often as the loops around it say. Sizes
//! and handles come from a simulation that runs few rounds of each loop (module `simulate`). Random
//! numbers take their largest value, a random name counts as one name, blocks of CHOOSE and SHUFFLE
//! all run in the order of their lines: with them, sizes are estimates, and the report says so.

mod count;
mod drawn;
mod held;
mod rounds;
mod show;
mod simulate;
mod single;

use std::collections::BTreeMap;

use serde::Serialize;

use super::bounds::{self, Slots};
use super::parameters::Parameter;
use super::program::{Action, Expr, Kind, Operand, OperandKind, Program, Wild};
use crate::op::OpKind;

/// What one pass of one client does.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The loadfile's name.
    pub loadfile: String,
    /// SHA-256 of its canonical text.
    pub program_sha256: String,
    /// Operations of a pass, loops multiplied out.
    pub total_ops: u64,
    /// Whether counts and bytes are means over many passes, since CHOOSE draws.
    pub counts_are_means: bool,
    /// Fewest operations of a pass; the same as `total_ops` unless CHOOSE draws.
    pub least_ops: u64,
    /// Most operations of a pass.
    pub most_ops: u64,
    /// The same by operation, in the order of [`OpKind::ALL`], without those that do not occur.
    pub ops: Vec<OpCount>,
    /// Bytes that reads ask for.
    pub read_bytes: u64,
    /// Bytes that writes ask for.
    pub write_bytes: u64,
    /// Largest size in bytes of all files at one time, those of PREPARE included. A file counts with its size, holes
    /// included; one that is unlinked counts until its last handle is closed.
    pub live_bytes_max: u64,
    /// The same in bytes of the files that each client has its own of.
    pub own_bytes_max: u64,
    /// The same of files that all clients of a disk share: these are there once, not once a client.
    pub shared_bytes_max: u64,
    /// Size of all files at the end of the pass.
    pub live_bytes_end: u64,
    /// Largest file in bytes.
    pub largest_file_bytes: u64,
    /// Whether the sizes above are estimates, since numbers, names or blocks are random.
    pub estimated: bool,
    /// Most handles open at one time.
    pub open_handles_max: u64,
    /// Handles still open at the end of the pass; a client closes them.
    pub open_handles_end: u64,
    /// Different paths.
    pub distinct_paths: u64,
    /// Components of the deepest path, below the run directory.
    pub deepest_path: u64,
    /// Files that are opened although nothing before has made them.
    pub files_not_made: u64,
    /// Operations that are expected to fail, of those whose status counts.
    pub expected_failures: u64,
    /// Longest single read or write in bytes.
    pub longest_transfer_bytes: u64,
    /// Shortest time of a pass in seconds that timestamps and pauses allow.
    pub implied_seconds: f64,
    /// The part of it that pauses take, in seconds.
    pub pause_seconds: f64,
    /// NTCreateX by disposition 0 to 5; those with a computed one are in none.
    pub dispositions: [u64; 6],
    /// Parts of the language that it uses beyond plain operations.
    pub features: Vec<&'static str>,
    /// Operations of PREPARE, loops multiplied out.
    pub prepare_ops: u64,
    /// Bytes that reads of PREPARE ask for.
    pub prepare_read_bytes: u64,
    /// Bytes that writes of PREPARE ask for.
    pub prepare_write_bytes: u64,
    /// What its SET lines name, with their values; filled in by who put them into the text.
    pub parameters: Vec<Parameter>,
    /// What each phase does; empty without PHASE.
    pub phases: Vec<PhaseCount>,
}

/// How often an operation occurs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpCount {
    /// Its word.
    pub op: &'static str,
    /// How often, in whole numbers.
    pub count: u64,
    /// How often in the mean of many passes, where CHOOSE decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// How many of them are expected to fail; 0 where the status does not count.
    pub expected_failures: u64,
}

/// What one client does in a phase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PhaseCount {
    /// Its name; empty for what stands above the first PHASE.
    pub phase: String,
    /// Operations, loops multiplied out.
    pub ops: u64,
    /// Bytes that reads ask for.
    pub read_bytes: u64,
    /// Bytes that writes ask for.
    pub write_bytes: u64,
}

/// Looks at one pass of one client.
#[must_use]
pub fn check(program: &Program) -> Report {
    let maxima = Maxima::of(program);
    let mut report = Report {
        loadfile: program.name.clone(),
        program_sha256: program.sha256.clone(),
        distinct_paths: distinct_paths(program),
        longest_transfer_bytes: program.max_write.max(program.max_read),
        ..Report::default()
    };
    count::count(program, program.pass(), &maxima, &mut report);
    let mut before = Report::default();
    count::count(program, program.preparation(), &maxima, &mut before);
    report.prepare_ops = before.total_ops;
    report.prepare_read_bytes = before.read_bytes;
    report.prepare_write_bytes = before.write_bytes;
    report.phases = phases(program, &maxima);
    simulate::simulate(program, &maxima, &mut report);
    report.deepest_path = deepest(program);
    report.features = features(program);
    report.estimated = report
        .features
        .iter()
        .any(|f| ["random numbers", "RANDOMSTRING", "POOL", "CHOOSE", "SHUFFLE"].contains(f));
    report
}

fn phases(program: &Program, maxima: &Maxima) -> Vec<PhaseCount> {
    let Some(first) = program.phases.first() else { return Vec::new() };
    let of = |name: &str, range| {
        let mut report = Report::default();
        count::count(program, range, maxima, &mut report);
        let Report { total_ops, read_bytes, write_bytes, .. } = report;
        PhaseCount { phase: name.to_owned(), ops: total_ops, read_bytes, write_bytes }
    };
    let lead_in = of("", program.pass().start..first.insts().start);
    let named = program.phases.iter().map(|phase| of(&phase.name, phase.insts()));
    std::iter::once(lead_in).filter(|lead_in| lead_in.ops > 0).chain(named).collect()
}

/// Largest values of a program's expressions.
struct Maxima {
    exprs: Vec<i64>,
}

impl Maxima {
    fn of(program: &Program) -> Self {
        let mut slots: Slots<'_> = Default::default();
        for inst in &program.insts {
            if let Action::RandomString { slot, template } = inst.action {
                slots[usize::from(slot)].push(&program.templates[template as usize]);
            }
        }
        let largest = |expr: &Expr| match expr {
            Expr::Random { mods } => super::number::upper_random(mods).unwrap_or(i64::MAX),
            // Depends on the lines before: the simulation keeps registers.
            Expr::Previous { add, .. } => *add,
            // One client is looked at.
            Expr::Child => 0,
            Expr::Children => 1,
            Expr::Text { first, count } => {
                let segments = program.segment_range(*first, *count);
                bounds::upper_text(segments, &program.bytes, &slots).unwrap_or(0)
            }
        };
        Self { exprs: program.exprs.iter().map(largest).collect() }
    }

    /// The largest value of a number, `+n` aside.
    fn of_operand(&self, operand: Operand) -> i64 {
        match operand.kind() {
            OperandKind::Literal(value) => value,
            OperandKind::Expr(id) => self.exprs[id.0 as usize],
        }
    }
}

/// A path as text; strings are spelled `$n`.
fn render(program: &Program, index: usize) -> Vec<u8> {
    use super::program::Segment;
    let spec = program.paths[index];
    let mut out = Vec::new();
    for segment in program.segment_range(spec.first, spec.count) {
        match *segment {
            Segment::Literal { start, len } => out.extend_from_slice(program.literal(start, len)),
            Segment::Client => out.extend_from_slice(b"client0"),
            Segment::Slot(slot) => out.extend_from_slice(&[b'$', b'0' + slot]),
            // All names of a pool are one; a path cannot have this byte.
            Segment::Drawn(_) => out.push(0),
        }
    }
    out
}

/// Different paths; one that draws from a pool is as many as the pool has names.
fn distinct_paths(program: &Program) -> u64 {
    let drawn = program.paths.iter().enumerate().filter_map(|(i, path)| {
        let pool = path.draw?.pool;
        Some((render(program, i), u64::from(program.pools[usize::from(pool)].count)))
    });
    let drawn: BTreeMap<_, _> = drawn.collect();
    let plain = program.paths.iter().filter(|path| path.draw.is_none()).count() as u64;
    plain + drawn.values().sum::<u64>()
}

fn deepest(program: &Program) -> u64 {
    let depth = |i| render(program, i).iter().filter(|&&b| b == b'/').count() as u64;
    (0..program.paths.len()).map(depth).max().unwrap_or(0)
}

fn features(program: &Program) -> Vec<&'static str> {
    let has = |test: fn(&Action) -> bool| program.insts.iter().any(|inst| test(&inst.action));
    let expr = |test: fn(&Expr) -> bool| program.exprs.iter().any(test);
    let all = [
        ("PREPARE", program.start.0 > 0),
        ("PHASE", !program.phases.is_empty()),
        ("SHARED", program.shared),
        ("POOL", !program.pools.is_empty()),
        ("timestamps", program.times.is_some()),
        ("loops", program.loop_depth > 0),
        ("nested loops", program.loop_depth > 1),
        ("CHOOSE", program.groups.iter().any(|group| group.kind == Kind::Choose)),
        ("SHUFFLE", program.groups.iter().any(|group| group.kind == Kind::Shuffle)),
        ("pauses", has(|a| matches!(a, Action::Pause { .. }))),
        ("SETSP/WAITSP", has(|a| matches!(a, Action::SetSp { .. } | Action::WaitSp { .. }))),
        ("WRITEPATTERN", has(|a| matches!(a, Action::WritePattern { .. }))),
        ("RANDOMSTRING", has(|a| matches!(a, Action::RandomString { .. }))),
        ("random numbers", expr(|e| matches!(e, Expr::Random { .. }))),
        ("previous values", expr(|e| matches!(e, Expr::Previous { .. }))),
        ("client numbers", expr(|e| matches!(e, Expr::Child | Expr::Children))),
        ("wildcards", program.paths.iter().any(|path| path.wild != Wild::No)),
        ("locks", program.has(OpKind::LockX)),
        ("fsync", program.has(OpKind::Flush)),
    ];
    all.into_iter().filter_map(|(name, used)| used.then_some(name)).collect()
}
