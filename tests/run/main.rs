//! `jbodbench run` through the real binary: what a user and a script see.

#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

mod calls;
mod client_txt;
mod direct;
mod disks;
mod frozen;
mod hybrid;
mod loads;
mod options;
mod result;
mod signals;
