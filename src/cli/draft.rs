//! From the words of `matrix` to the requests of its cells: each is parsed as `run` would parse it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command, CommandFactory, Parser};

use super::args::{Cli, Command as Typed};
use super::request::run_request;
use super::vary;
use crate::matrix::{Cell, Factor};
use crate::run::RunRequest;
use crate::stats::Design;

/// The option of `run` that means something else with `matrix`.
const OWN: &str = "preset";
/// More runs than anybody waits for.
const MOST_CELLS: usize = 4096;

/// What all cells have in common, and what varies.
pub(super) struct Draft {
    run: Command,
    /// Words of options that were given, by the option's name.
    given: BTreeMap<String, Vec<OsString>>,
    pub(super) factors: Vec<Factor>,
    pub(super) remarks: Vec<String>,
}

impl Draft {
    /// Takes what was said of options of `run`.
    pub(super) fn new(matches: &ArgMatches) -> Self {
        let run = Cli::command().find_subcommand("run").cloned().unwrap_or_default();
        let mut given = BTreeMap::new();
        for arg in run.get_arguments() {
            let id = arg.get_id().as_str();
            let Some(long) = arg.get_long().filter(|long| *long != OWN) else { continue };
            // What `matrix` does not have is not there at all.
            let is_given = matches.try_contains_id(id).unwrap_or(false)
                && matches.value_source(id) == Some(ValueSource::CommandLine);
            if !is_given {
                continue;
            }
            let words = match arg.get_action() {
                ArgAction::SetTrue => vec![format!("--{long}").into()],
                _ => {
                    let each = matches.get_raw_occurrences(id).into_iter().flatten();
                    each.map(|values| with_values(long, values)).collect()
                }
            };
            given.insert(long.to_owned(), words);
        }
        Self { run, given, factors: Vec::new(), remarks: Vec::new() }
    }

    /// Adds something that varies.
    pub(super) fn add(&mut self, factor: Factor) -> Result<(), String> {
        let name = &factor.name;
        // Values for parameters add up; one that is given twice is found with the cell.
        if self.given.contains_key(name) && name != "set" {
            return Err(format!("--vary {name}: --{name} is given, too; which one shall it be?"));
        }
        if self.factors.iter().any(|known| known.name == *name) {
            return Err(format!("--vary {name}: it is given twice"));
        }
        self.factors.push(factor);
        Ok(())
    }

    /// Whether something was said of an option, or it varies.
    pub(super) fn says(&self, name: &str) -> bool {
        self.given.contains_key(name) || self.varies(name)
    }

    pub(super) fn varies(&self, name: &str) -> bool {
        self.factors.iter().any(|factor| factor.name == name)
    }

    /// The value of an option that was given.
    pub(super) fn value(&self, name: &str) -> Option<String> {
        let word = self.given.get(name)?.first()?.to_string_lossy().into_owned();
        Some(word.strip_prefix(&format!("--{name}="))?.to_owned())
    }

    /// Takes back what was said of an option.
    pub(super) fn forget(&mut self, name: &str) {
        self.given.remove(name);
    }

    /// Says something of an option, whatever was said before.
    pub(super) fn set(&mut self, name: &str, value: OsString) {
        self.given.insert(name.to_owned(), vec![with_values(name, [value.as_os_str()])]);
    }

    pub(super) fn set_flag(&mut self, name: &str) {
        self.given.insert(name.to_owned(), vec![format!("--{name}").into()]);
    }

    /// Says something of an option of which nothing was said.
    pub(super) fn propose(&mut self, name: &str, value: &str) {
        if !self.says(name) {
            self.set(name, value.into());
        }
    }

    pub(super) fn remark(&mut self, text: impl Into<String>) {
        self.remarks.push(text.into());
    }

    /// A thread per client unless something else was said: the same calls go the same way in all
    /// cells. What chooses ways by itself would choose others in other cells.
    pub(super) fn choose_engine(&mut self) -> Result<(), String> {
        self.propose("engine", "sync");
        if self.value("engine").as_deref() == Some("hybrid") && !self.says("route") {
            return Err("--engine hybrid chooses the way of calls by what it measures, so that \
                        cells may differ in that, too: pin it with --route inline or --route ring, \
                        or say --route auto to take it as part of each cell"
                .into());
        }
        Ok(())
    }

    pub(super) fn cell_count(&self) -> usize {
        self.design().cells()
    }

    fn design(&self) -> Design {
        Design::new(&self.factors.iter().map(|factor| factor.levels.len()).collect::<Vec<_>>())
    }

    /// All cells, each with its request. Where something varies that is not in them (`elsewhere`)
    /// there may be only one.
    pub(super) fn cells(&self, disks: &[OsString], elsewhere: bool) -> Result<Vec<Cell>, String> {
        if self.factors.is_empty() && !elsewhere {
            return Err("nothing varies: give --vary KEY=V1,V2 or --preset NAME".into());
        }
        let design = self.design();
        if design.cells() > MOST_CELLS {
            return Err(format!("{} cells are more than {MOST_CELLS}", design.cells()));
        }
        let cells: Vec<Cell> = (0..design.cells())
            .map(|cell| self.cell(&design.at(cell), disks))
            .collect::<Result<_, _>>()?;
        self.refuse_hidden(&cells)?;
        Ok(cells)
    }

    fn cell(&self, at: &[usize], disks: &[OsString]) -> Result<Cell, String> {
        let mut words: Vec<OsString> = vec!["jbodbench".into(), "run".into()];
        words.extend(self.given.values().flatten().cloned());
        let mut names = Vec::new();
        for (factor, level) in self.factors.iter().zip(at) {
            let value = &factor.levels[*level];
            names.push(format!("{}={value}", factor.name));
            let is_it = |arg: &&clap::Arg| arg.get_long() == Some(factor.name.as_str());
            if let Some(arg) = self.run.get_arguments().find(is_it) {
                words.extend(vary::words(arg, value)?);
            }
        }
        words.push("--".into());
        words.extend(disks.iter().cloned());
        let name = names.join(";");
        let request = parse(&words).map_err(|error| format!("cell {name}: {error}"))?;
        Ok(Cell { name, request })
    }

    /// What differs without being a factor would pass for the effect of one.
    fn refuse_hidden(&self, cells: &[Cell]) -> Result<(), String> {
        let first = &cells[0].request;
        for cell in cells {
            let request = &cell.request;
            if request.depth != first.depth && !self.varies("depth") {
                return Err(format!(
                    "cells differ in --depth, too ({} and {}): give it for all of them",
                    first.depth, request.depth
                ));
            }
            let lengths = |request: &RunRequest| (request.time, request.warmup);
            let length = self.varies("time") || self.varies("passes") || self.varies("warmup");
            if lengths(request) != lengths(first) && !length {
                return Err("cells differ in their length, too: give --time and --warmup".into());
            }
        }
        Ok(())
    }
}

fn with_values<'v>(long: &str, values: impl IntoIterator<Item = &'v OsStr>) -> OsString {
    let mut word = OsString::from(format!("--{long}="));
    for (index, value) in values.into_iter().enumerate() {
        if index > 0 {
            word.push(",");
        }
        word.push(value);
    }
    word
}

/// What `run` makes of words.
fn parse(words: &[OsString]) -> Result<RunRequest, String> {
    let cli = Cli::try_parse_from(words).map_err(|error| {
        let text = error.to_string();
        let text = text.trim_start_matches("error: ");
        let end = text.find("\n\nUsage:").or_else(|| text.find("\n\nFor more"));
        text[..end.unwrap_or(text.len())].trim_end().to_owned()
    })?;
    match cli.command {
        Typed::Run(args) => run_request(*args),
        _ => Err("not a run".into()),
    }
}
