//! `jbodbench dbench`, and this program under the name `dbench`: the command line of dbench 3, 4 and 5,
//! run as `run` runs it. docs/dbench.md says what is as there and what is not.

mod args;
mod loadfile;
mod rate;
mod refuse;
mod request;

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

pub(super) use args::DbenchArgs;
pub(super) use request::request;

/// The name under which everything that is typed is meant for dbench. Its letters end "jbodbench", too:
/// only the whole name counts.
const NAME: &str = "dbench";

/// The words that were typed, with the command in its place when the program was called by its name.
pub(super) fn with_its_name(args: &[OsString]) -> Cow<'_, [OsString]> {
    match args.split_first() {
        Some((program, rest)) if is_its_name(Path::new(program)) => {
            let name = [OsString::from("jbodbench"), NAME.into()];
            Cow::Owned(name.into_iter().chain(rest.iter().cloned()).collect())
        }
        _ => Cow::Borrowed(args),
    }
}

fn is_its_name(program: &Path) -> bool {
    program.file_name().is_some_and(|name| name == NAME)
}

#[cfg(test)]
mod tests;
