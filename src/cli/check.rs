//! `jbodbench check`: what a loadfile does, without doing it.

use std::io::Write;

use super::args::{CheckArgs, CheckFormat};
use super::request::given;
use super::say;
use crate::loadfile::check::Report;
use crate::loadfile::{self, LoadError, Loaded, builtin, parameters};

pub(super) fn check(args: &CheckArgs) -> u8 {
    if args.list {
        return told(list());
    }
    let loaded = match load(args) {
        Ok(loaded) => loaded,
        Err(message) => {
            say(&message);
            return 2;
        }
    };
    if loaded.skipped_lines > 0 {
        say(&format!(
            "{} bad lines skipped (--lenient):\n{}",
            loaded.skipped_lines, loaded.skipped
        ));
    }
    let mut report = loadfile::check::check(&loaded.program);
    report.parameters = loaded.parameters;
    told(write(&report, args.format))
}

/// Exit code of something that was written to stdout.
fn told(written: std::io::Result<()>) -> u8 {
    match written {
        Ok(()) => 0,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => 141,
        Err(error) => {
            say(&format!("cannot write: {error}"));
            1
        }
    }
}

fn list() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let width = builtin::BUILTINS.iter().map(|load| load.name.len()).max().unwrap_or(0);
    for load in builtin::BUILTINS {
        let about = load.models().unwrap_or_default();
        writeln!(out, "{:width$}  {about}", load.name)?;
    }
    Ok(())
}

fn load(args: &CheckArgs) -> Result<Loaded, String> {
    let options = loadfile::Options { lenient: args.lenient };
    let set = given(args.set.clone())?;
    let read = || -> Result<Loaded, LoadError> {
        let source = builtin::find(args.loadfile.as_deref())?;
        loadfile::load_applied(parameters::apply(&source, &set)?, &options)
    };
    let loaded = read().map_err(|error| error.to_string())?;
    let file = (loaded.program.name.as_str(), loaded.parameters.as_slice());
    parameters::refuse_strangers(&set, std::iter::once(file))?;
    Ok(loaded)
}

fn write(report: &Report, format: CheckFormat) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    match format {
        CheckFormat::Text => write!(out, "{report}")?,
        CheckFormat::Json => {
            serde_json::to_writer_pretty(&mut out, report)?;
            writeln!(out)?;
        }
        CheckFormat::Csv => {
            let mut csv = csv::Writer::from_writer(&mut out);
            csv.write_record(["op", "ops"])?;
            for count in &report.ops {
                let ops =
                    count.mean.map_or_else(|| count.count.to_string(), |mean| mean.to_string());
                csv.write_record([count.op, ops.as_str()])?;
            }
            csv.flush()?;
        }
    }
    out.flush()
}
