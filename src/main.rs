//! The `jbodbench` command: everything lives in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    jbodbench::cli::main()
}
