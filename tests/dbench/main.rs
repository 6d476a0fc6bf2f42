//! `jbodbench dbench`: what scripts that call dbench see, next to what dbench itself shows them.

#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

mod command;
mod lines;
mod parsers;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::tool::{BINARY, Finished, Running};

/// A loadfile of tests/cases, which dbench 4 can replay, too. Its passes wait a moment.
fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name)
}

/// `jbodbench dbench` with these words, apart by blanks, in a directory.
fn start(words: &str, dir: &Path, load: &Path) -> Running {
    let mut command = Command::new(BINARY);
    command.arg("dbench").args(words.split_whitespace());
    Running::start(on(command, dir, load))
}

fn ours(words: &str, dir: &Path, load: &Path) -> Finished {
    start(words, dir, load).finish()
}

/// The same with Debian's dbench; the reason if it is not there.
fn debians(words: &str, dir: &Path, load: &Path) -> Result<Running, String> {
    need_dbench()?;
    let mut command = Command::new("dbench");
    command.args(words.split_whitespace());
    Ok(Running::start(on(command, dir, load)))
}

fn on(mut command: Command, dir: &Path, load: &Path) -> Command {
    command.arg("-D").arg(dir).arg("-c").arg(load);
    command
}

fn need_dbench() -> Result<(), String> {
    let there = Command::new("dbench").arg("--help").output();
    there.map(|_| ()).map_err(|error| format!("dbench: {error}; install Debian's package dbench"))
}
