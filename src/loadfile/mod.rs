//! The loadfile language: text in, an immutable [`Program`] out. Floor 1; reads a file, and else
//! is pure.
//!
//! ```text
//! source  bytes, plain or gzip        lexer    lines and tokens
//! parser  lines to a tree (ast)       print    a tree to its canonical text
//! compile a tree to a Program         check    what one pass of a Program does
//! ```
//!
//! `docs/loadfile.md` describes the language, and where it differs from dbench's.

mod arithmetic;
pub mod ast;
mod bounds;
pub mod build;
pub mod builtin;
pub mod check;
mod compile;
mod dialect;
mod directive;
pub mod error;
pub mod granule;
pub mod group;
mod lexer;
mod names;
mod number;
mod numbering;
mod op_line;
mod operand;
pub mod parameters;
mod parser;
mod phase;
pub mod pool;
mod pool_line;
mod pool_names;
mod print;
pub mod program;
pub mod segment;
mod source;
mod status;
mod template;
#[cfg(test)]
mod tests;
pub mod texts;

use std::path::Path;

use ast::Ast;
pub use error::{Diagnostic, Diagnostics, LoadError};
use parameters::{Applied, Parameter};
pub use program::Program;
pub use source::Source;

/// How to read a loadfile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Skip and count bad lines, rather than refuse the file.
    pub lenient: bool,
}

/// A loadfile that can be played.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// What it compiled to.
    pub program: Program,
    /// How many bad lines were skipped; 0 unless [`Options::lenient`].
    pub skipped_lines: u64,
    /// The first of them, for a warning.
    pub skipped: Diagnostics,
    /// Facts of the text.
    pub text: TextFacts,
    /// What its SET lines name, with the values that were put in.
    pub parameters: Vec<Parameter>,
}

/// Facts of a loadfile's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct TextFacts {
    /// Size in bytes, inflated.
    pub bytes: u64,
    /// Number of lines.
    pub lines: u64,
    /// How many of them are comments.
    pub comments: u64,
    /// How many of them are blank.
    pub blank: u64,
    /// Whether it was compressed.
    pub gzip: bool,
}

/// Reads, parses and compiles a loadfile: a file, a built-in load by its name, or without a path
/// the default load.
///
/// # Errors
/// When it cannot be read, or (unless lenient) has a bad line.
pub fn load(path: Option<&Path>, options: &Options) -> Result<Loaded, LoadError> {
    load_source(&builtin::find(path)?, options)
}

/// Parses and compiles bytes, plain or gzip; `name` is for messages.
///
/// # Errors
/// As [`load`].
pub fn parse_bytes(name: &str, bytes: &[u8], options: &Options) -> Result<Loaded, LoadError> {
    load_source(&Source::from_bytes(name, bytes.to_vec(), source::MAX_BYTES)?, options)
}

/// Parses and compiles a text.
///
/// # Errors
/// As [`load`].
pub fn load_source(source: &Source, options: &Options) -> Result<Loaded, LoadError> {
    load_applied(parameters::apply(source, &[])?, options)
}

/// Parses and compiles a text into which the values of its parameters have been put.
///
/// # Errors
/// As [`load`].
pub fn load_applied(applied: Applied<'_>, options: &Options) -> Result<Loaded, LoadError> {
    let parsed = parser::parse(&applied.source, applied.last_line(), options)?;
    Ok(Loaded {
        program: compile::compile(parsed.ast, &applied.source.name),
        skipped_lines: parsed.skipped.total(),
        skipped: parsed.skipped,
        text: parsed.facts,
        parameters: applied.parameters,
    })
}

/// Parses a text to its tree, which prints as canonical text.
///
/// # Errors
/// As [`load`].
pub fn parse_tree(source: &Source, options: &Options) -> Result<Ast, LoadError> {
    let applied = parameters::apply(source, &[])?;
    Ok(parser::parse(&applied.source, applied.last_line(), options)?.ast)
}
