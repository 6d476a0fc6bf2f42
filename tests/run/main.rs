//! `jbodbench run` through the real binary: what a user and a script see.

#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

mod calls;
mod client_txt;
mod disks;
mod frozen;
mod options;
mod preset;
mod result;
mod signals;
