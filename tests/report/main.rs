//! `jbodbench report` through the real binary: its page, as text and in a browser.

#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

mod browser;
mod command;
mod pages;

use std::ffi::OsStr;
use std::path::Path;

use common::tool::{Finished, Running, jbodbench};

/// `report` with these arguments, to its end.
fn report<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Finished {
    let mut command = jbodbench(["report"]);
    command.args(arguments);
    Running::start(command).finish()
}

/// A result file of a command that writes one to its standard output.
#[track_caller]
fn result(into: &Path, finished: Finished) {
    std::fs::write(into, finished.expect(0).stdout).unwrap();
}
