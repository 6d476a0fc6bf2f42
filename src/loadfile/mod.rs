//! The loadfile language: text in, an immutable [`Program`] out. Floor 1, pure.

pub mod program;

pub use program::Program;
