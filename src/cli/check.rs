//! `jbodbench check`: what a loadfile does, without doing it.

use std::io::Write;

use super::args::{CheckArgs, CheckFormat};
use super::say;
use crate::loadfile::{self, check::Report};

pub(super) fn check(args: &CheckArgs) -> u8 {
    let options = loadfile::Options { lenient: args.lenient };
    let loaded = match loadfile::load(args.loadfile.as_deref(), &options) {
        Ok(loaded) => loaded,
        Err(error) => {
            say(&error.to_string());
            return 2;
        }
    };
    if loaded.skipped_lines > 0 {
        say(&format!(
            "{} bad lines skipped (--lenient):\n{}",
            loaded.skipped_lines, loaded.skipped
        ));
    }
    let report = loadfile::check::check(&loaded.program);
    match write(&report, args.format) {
        Ok(()) => 0,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => 141,
        Err(error) => {
            say(&format!("cannot write: {error}"));
            1
        }
    }
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
                csv.write_record([count.op.to_string(), count.count.to_string()])?;
            }
            csv.flush()?;
        }
    }
    out.flush()
}
