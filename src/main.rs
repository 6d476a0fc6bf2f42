//! The `jbodbench` command: everything lives in the library.
fn main() {}
