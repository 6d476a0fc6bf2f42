//! The system calls of a pass against dbench's: scripts/compare-syscalls, whose list of differences
//! is docs/loadfile.md. Needs dbench 4, strace and python3.

mod common;

use std::path::Path;
use std::process::Command;

use common::{or_skip, run, skip};

#[test]
fn calls_differ_from_dbench_only_as_documented() {
    for tool in [["python3", "--version"], ["strace", "-V"], ["dbench", "--help"]] {
        or_skip!(run(tool[0], &tool[1..]));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/compare-syscalls");
    let output = Command::new("python3")
        .arg(script)
        .args(["--jbodbench", env!("CARGO_BIN_EXE_jbodbench")])
        .output();
    let output = or_skip!(output.map_err(|error| error.to_string()));
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (text, errors) = (said(&output.stdout), said(&output.stderr));
    if output.status.code() == Some(3) {
        skip!("{errors}");
    }
    assert!(output.status.success(), "{text}\n{errors}");
    assert!(text.contains("client.txt") && text.contains("every-op.load"), "{text}");
}
