//! `jbodbench run` through the real binary: what a user and a script see.

#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

mod builtin;
mod calls;
mod client_txt;
mod conditions;
mod data;
mod direct;
mod disks;
mod frozen;
mod groups;
mod hybrid;
mod limits;
mod loads;
mod options;
mod pace;
mod parameters;
mod phases;
mod pools;
mod posix;
mod preset;
mod result;
mod security;
mod signals;
mod squash;
mod steady;
mod tables;
mod threads;
mod turns;
mod walks;
mod words;
