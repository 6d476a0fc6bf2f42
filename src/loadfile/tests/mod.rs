//! Tests of the language as a whole. Expected values come from dbench's documented behaviour or
//! from arithmetic by hand, never from running this code.

mod aim7;
mod cases;
mod client_txt;
mod docs;
mod groups;
mod language;
mod parameters;
mod pools;
mod posix;
mod repairs;
mod report;
mod words;

use super::program::{Action, Program, Segment};
use super::{Diagnostic, LoadError, Loaded, Options, parse_bytes};

/// Parses a good text.
fn good(text: &str) -> Program {
    match parse_bytes("t.load", text.as_bytes(), &Options::default()) {
        Ok(loaded) => loaded.program,
        Err(error) => panic!("{error}"),
    }
}

/// The faults of a bad text.
fn bad(text: &str) -> Vec<Diagnostic> {
    match parse_bytes("t.load", text.as_bytes(), &Options::default()) {
        Ok(_) => panic!("accepted: {text}"),
        Err(LoadError::Lines(faults)) => faults.kept,
        Err(error) => panic!("{error}"),
    }
}

/// Line and column of the only fault.
fn place(text: &str) -> (u32, u32) {
    let faults = bad(text);
    assert_eq!(faults.len(), 1, "{faults:?}");
    (faults[0].line, faults[0].column)
}

fn lenient(text: &str) -> Loaded {
    parse_bytes("t.load", text.as_bytes(), &Options { lenient: true }).unwrap()
}

/// The operations of a program in order, loops not followed, as words.
fn words(program: &Program) -> Vec<&'static str> {
    let word = |action: &Action, op: Option<crate::op::OpKind>| match (op, action) {
        (Some(kind), _) => kind.word(),
        (None, Action::LoopStart { .. }) => "LOOP",
        (None, Action::LoopEnd { .. }) => "ENDLOOP",
        (None, Action::Enter { .. }) => "<",
        (None, Action::Leave { .. }) => ">",
        (None, Action::Pause { .. }) => "Sleep",
        (None, Action::SetSp { .. }) => "SETSP",
        (None, Action::WaitSp { .. }) => "WAITSP",
        (None, Action::WritePattern { .. }) => "WRITEPATTERN",
        (None, Action::RandomString { .. }) => "RANDOMSTRING",
        (None, other) => panic!("{other:?} counts as no operation"),
    };
    program.insts.iter().map(|inst| word(&inst.action, inst.op)).collect()
}

/// How often each operation runs in a pass, by executing the loops one round after the other.
fn executed(program: &Program) -> Vec<&'static str> {
    let (mut out, mut pc, mut left) = (Vec::new(), 0usize, Vec::new());
    while pc < program.insts.len() {
        match program.insts[pc].action {
            Action::LoopStart { count, .. } => left.push(count),
            Action::LoopEnd { start } => {
                let rounds = left.last_mut().unwrap();
                *rounds -= 1;
                if *rounds > 0 {
                    pc = start.0 as usize;
                } else {
                    left.pop();
                }
            }
            _ => out.extend(program.insts[pc].op.map(crate::op::OpKind::word)),
        }
        pc += 1;
    }
    out
}

/// A path with `<c>` for the client's component and `<n>` for a string.
fn path(program: &Program, index: usize) -> String {
    let spec = program.paths[index];
    let mut out = String::new();
    for segment in program.segment_range(spec.first, spec.count) {
        match *segment {
            Segment::Literal { start, len } => {
                out.push_str(&String::from_utf8_lossy(program.literal(start, len)));
            }
            Segment::Client => out.push_str("<c>"),
            Segment::Slot(slot) => out.push_str(&format!("<{slot}>")),
            Segment::Drawn(_) => out.push_str("<drawn>"),
        }
    }
    out
}
