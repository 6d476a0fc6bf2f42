//! `--vary KEY=V1,V2`: which keys there are, and what their values are as words of `run`.

use std::ffi::OsString;

use clap::{Arg, ArgAction, CommandFactory};

use super::args::Cli;
use super::request::cpu_list;
use crate::matrix::{Factor, levels};

/// Options of `run` that do not change what is measured, or belong to the matrix as a whole.
const FIXED: [&str; 16] = [
    "hang-after",
    "out",
    "append",
    "format",
    "label",
    "progress",
    "dry-run",
    "require-mounts",
    "keep",
    "seed",
    "preset",
    "together",
    "alone",
    "both",
    "file-size",
    "help",
];

/// More cells than anybody waits for.
const MOST_LEVELS: usize = 64;

/// A factor from its text. Without commands (`no_hooks`) only options have a meaning.
pub(super) fn factor(text: &str, no_hooks: bool) -> Result<Factor, String> {
    let (name, values) = text
        .split_once('=')
        .ok_or_else(|| format!("--vary {text}: expected KEY=V1,V2, such as as=root,nobody"))?;
    let wrong = |why: String| format!("--vary {text}: {why}");
    if FIXED.contains(&name) {
        return Err(wrong(format!("--{name} is the same for all runs of a matrix")));
    }
    let option = is_option(name);
    if !option {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(plain) {
            return Err(wrong(format!("{name} is no name")));
        }
        if no_hooks {
            return Err(wrong(format!(
                "run has no option --{name}, and there is no command that could make use of \
                 JB_{}: see --prepare",
                name.to_uppercase().replace('-', "_")
            )));
        }
    }
    let separator = if values.contains(';') { ';' } else { ',' };
    let levels = levels(values, separator).map_err(wrong)?;
    if !(2..=MOST_LEVELS).contains(&levels.len()) {
        return Err(wrong(format!("it takes 2 to {MOST_LEVELS} values")));
    }
    let counts = counts(name, &levels);
    Ok(Factor { name: name.into(), levels, free: !option, counts })
}

fn is_option(name: &str) -> bool {
    let command = Cli::command();
    command
        .find_subcommand("run")
        .is_some_and(|run| run.get_arguments().any(|arg| arg.get_long() == Some(name)))
}

/// How many of something each level stands for.
fn counts(name: &str, levels: &[String]) -> Option<Vec<f64>> {
    let count = |level: &String| match name {
        "clients" | "threads-per-disk" => level.parse().ok(),
        "cpus" => Some(cpu_list(level).ok()?.len() as f64),
        _ => None,
    };
    levels.iter().map(count).collect()
}

/// The words of an option with a value; none for an option that is left out.
pub(super) fn words(arg: &Arg, value: &str) -> Result<Vec<OsString>, String> {
    let long = arg.get_long().unwrap_or_default();
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return match value {
            "yes" | "on" | "true" | "1" => Ok(vec![format!("--{long}").into()]),
            "no" | "off" | "false" | "0" => Ok(Vec::new()),
            _ => Err(format!("--vary {long}: expected yes or no, not {value}")),
        };
    }
    // The load that is called so is the one without a word about it, too.
    if value == "default" {
        return Ok(Vec::new());
    }
    Ok(vec![format!("--{long}={value}").into()])
}
