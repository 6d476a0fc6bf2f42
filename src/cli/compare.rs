//! `jbodbench compare`: whether one result is slower than another.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::args::CheckFormat;
use super::say;
use crate::compare::{Limit, Metric, Request, compare as look, has_verdict};
use crate::output::{COMPARE_COLUMNS, Column, Comparison, compare_rows, compare_text};
use crate::stats::Better;

const EXAMPLES: &str = "\
Examples:
  jbodbench compare old.csv new.csv              each further file against the first
  jbodbench compare old-*.csv --with new-*.csv   all of these against all of those, as three boots
  jbodbench compare matrix.csv                   the cells of one matrix against the first
  jbodbench compare runs.csv --by run_label      runs of one file, told apart by a column
  jbodbench compare root.csv user.csv --by as    what is compared may differ, all else must not
  jbodbench compare old.csv new.csv --fail-on regression --fail-if 'lat_p99_us{op=Flush}>10000'";

const MORE: &str = "\
Verdicts, in this order: same (the interval is within the margin), regression or improvement (0
is outside the interval), else inconclusive, with the number of blocks, runs or boots that might
settle it. One observation is a run; a block where both sides are blocks of one experiment, run
in turn; a boot where the sides share none. docs/measuring.md: how to measure a few percent.
Exit codes: 0 compared, whatever came out; 1 --fail-if or --fail-on outlier found something;
2 usage, or a file that is no result; 3 conditions differ; 4 --fail-on regression found one;
5 with --strict, a headline row is inconclusive. 4 comes before 1, and 1 before 5.";

/// Arguments of `compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{MORE}"))]
pub(super) struct CompareArgs {
    /// Results of run or matrix, as CSV: the first is what the others are compared with
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// A second group of files: all of the first group against all of these
    #[arg(long, value_name = "FILE", num_args = 1..)]
    with: Vec<PathBuf>,
    /// What is compared, by column or option: may differ; tells the runs of a single file apart
    #[arg(long, value_name = "NAME[,NAME]", value_delimiter = ',')]
    by: Vec<String>,
    /// The side that the others are compared with: a file, or a value of --by [default: the first;
    /// of cells the first in the alphabet]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    base: Option<String>,

    #[command(flatten)]
    question: QuestionArgs,
    #[command(flatten)]
    verdict: VerdictArgs,
}

/// What is asked.
#[derive(Debug, Args)]
#[command(next_help_heading = "Question")]
struct QuestionArgs {
    /// The headline metric, to be chosen before the run, as ops_per_s, pass_mean_s,
    /// lat_p99_us:Flush or bytes_per_s:phase=read; may be given several times [default: ops_per_s]
    #[arg(long, value_name = "METRIC", value_parser = Metric::parse)]
    metric: Vec<Metric>,
    /// Which way the metric is better [default: rates up, times down]
    #[arg(long, value_enum, hide_short_help = true)]
    better: Option<BetterArg>,
    /// Changes below this many percent count as none
    #[arg(long, value_name = "PERCENT", default_value = "3", value_parser = percent)]
    margin: f64,
    /// Risk of any false alarm among all headline rows together
    #[arg(long, value_name = "P", default_value_t = 0.05, value_parser = probability,
          hide_short_help = true)]
    alpha: f64,
    /// Compare runs under different conditions all the same
    #[arg(long)]
    force: bool,
}

/// What follows from the answer.
#[derive(Debug, Args)]
#[command(next_help_heading = "Answer")]
struct VerdictArgs {
    /// End with exit code 4 on a regression, 1 on a disk that stands out
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',')]
    fail_on: Vec<FailArg>,
    /// End with exit code 1 where a run of the second side breaks this limit
    #[arg(long, value_name = "METRIC>N", value_parser = Limit::parse)]
    fail_if: Vec<Limit>,
    /// End with exit code 5 where a headline row is inconclusive
    #[arg(long)]
    strict: bool,
    /// Show rows in which nothing is found as well
    #[arg(long)]
    all: bool,
    /// Form of the report; csv and json hold all rows
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    format: CheckFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailArg {
    Regression,
    Outlier,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BetterArg {
    Higher,
    Lower,
}

/// `3` or `3%`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end().parse::<f64>();
    match number {
        Ok(value) if value > 0.0 && value < 1000.0 => Ok(value),
        _ => Err("a number of percent above 0 is wanted, as 3 or 2.5%".to_owned()),
    }
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value < 0.5 => Ok(value),
        _ => Err("a probability between 0 and 0.5 is wanted, as 0.05".to_owned()),
    }
}

pub(super) fn compare(args: CompareArgs) -> u8 {
    let CompareArgs { files, with, by, base, question, verdict } = args;
    let metrics = match question.metric {
        none if none.is_empty() => vec![Metric::all(Column::OpsPerS)],
        some => some,
    };
    let request = Request {
        files,
        with,
        by,
        base,
        metrics,
        better: question.better.map(|better| match better {
            BetterArg::Higher => Better::Higher,
            BetterArg::Lower => Better::Lower,
        }),
        margin_percent: question.margin,
        alpha: question.alpha,
        force: question.force,
        limits: verdict.fail_if.clone(),
    };
    let comparison = match look(&request) {
        Ok(comparison) => comparison,
        Err(error) => {
            say(&error.to_string());
            return error.exit_code();
        }
    };
    match write(&comparison, &verdict) {
        Ok(()) => code(&comparison, &verdict),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => 141,
        Err(error) => {
            say(&format!("cannot write: {error}"));
            1
        }
    }
}

fn code(comparison: &Comparison, verdict: &VerdictArgs) -> u8 {
    let fails = |what| verdict.fail_on.contains(&what);
    if fails(FailArg::Regression) && has_verdict(&comparison.rows, "regression") {
        return 4;
    }
    let outlier = fails(FailArg::Outlier) && !comparison.outlier_disks.is_empty();
    if outlier || !comparison.broken_limits.is_empty() {
        return 1;
    }
    if verdict.strict && has_verdict(&comparison.rows, "inconclusive") { 5 } else { 0 }
}

fn write(comparison: &Comparison, verdict: &VerdictArgs) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    match verdict.format {
        CheckFormat::Text => {
            let color = out.is_terminal() && std::env::var_os("NO_COLOR").is_none();
            out.write_all(compare_text(comparison, verdict.all, color).as_bytes())?;
        }
        CheckFormat::Json => {
            serde_json::to_writer_pretty(&mut out, comparison)?;
            writeln!(out)?;
        }
        CheckFormat::Csv => {
            let mut csv = csv::Writer::from_writer(&mut out);
            csv.write_record(COMPARE_COLUMNS)?;
            for row in compare_rows(comparison) {
                csv.write_record(row)?;
            }
            csv.flush()?;
            drop(csv);
            aside(comparison);
        }
    }
    out.flush()
}

/// What the CSV form has no place for goes to stderr.
fn aside(comparison: &Comparison) {
    let of = |word: &str, lines: &[String]| {
        lines.iter().for_each(|line| say(&format!("{word}: {line}")))
    };
    of("outlier", &comparison.outlier_disks);
    of("limit broken", &comparison.broken_limits);
    of("note", &comparison.notes);
}

#[cfg(test)]
mod tests {
    use super::{percent, probability};

    #[test]
    fn numbers_of_the_command_line() {
        assert_eq!(percent("3"), Ok(3.0));
        assert_eq!(percent("2.5 %"), Ok(2.5));
        assert!(percent("0").is_err() && percent("-1").is_err() && percent("x").is_err());
        assert_eq!(probability("0.01"), Ok(0.01));
        assert!(probability("5").is_err());
    }
}
