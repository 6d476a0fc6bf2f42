//! What a matrix looks at: one number of each run.

use std::borrow::Cow;
use std::fmt;

use crate::op::OpKind;
use crate::output::Column;
use crate::stats::Better;

/// Columns that can be asked for.
const CHOICE: [Column; 15] = [
    Column::OpsPerS,
    Column::BytesPerS,
    Column::LatMeanUs,
    Column::LatMinUs,
    Column::LatP50Us,
    Column::LatP90Us,
    Column::LatP95Us,
    Column::LatP99Us,
    Column::LatP999Us,
    Column::LatMaxUs,
    Column::PassMeanS,
    Column::PassMaxS,
    Column::SysUsPerOp,
    Column::DrainS,
    Column::StalledS,
];

/// What a row has in each of [`CHOICE`]; not a number where it has nothing.
pub(super) type Values = [f64; CHOICE.len()];

/// A column of the summary rows, and the operation whose row it is; or of the rows of a phase.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Metric {
    column: Column,
    /// A word of the loadfile, or `all`; in a phase [`in_phase`] of these.
    op: String,
}

/// What the row of an operation (or `all`) in a phase is called among the rows of a run.
pub(super) fn in_phase(op: &str, phase: &str) -> String {
    if op == "all" { format!("{PHASE}{phase}") } else { format!("{op}:{PHASE}{phase}") }
}

/// What stands before the name of a phase; no word of loadfiles holds it.
pub(super) const PHASE: &str = "phase=";

impl Metric {
    /// Operations per second, all of them.
    #[must_use]
    pub fn ops_per_s() -> Self {
        Self { column: Column::OpsPerS, op: "all".into() }
    }

    /// `ops_per_s`, `lat_p99_us:Flush`, `bytes_per_s:phase=read`, `lat_mean_us:ReadX:phase=read`.
    ///
    /// # Errors
    /// A sentence that names what can be asked for.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.splitn(2, ':');
        let (name, rest) = (parts.next().unwrap_or_default(), parts.next());
        let (op, phase) = match rest.map(|rest| rest.split_once(PHASE).ok_or(rest)) {
            None => ("all", None),
            Some(Err(op)) => (op, None),
            Some(Ok(("", phase))) => ("all", Some(phase)),
            Some(Ok((op, phase))) => (op.strip_suffix(':').unwrap_or(op), Some(phase)),
        };
        let Some(column) = CHOICE.iter().find(|column| column.name() == name) else {
            let names = CHOICE.map(|column| column.name());
            return Err(format!(
                "expected one of {}, and :OP for one operation, :phase=NAME for one phase",
                names.join(", ")
            ));
        };
        if op != "all" && !OpKind::ALL.iter().any(|kind| kind.word() == op) {
            return Err(format!("{op} is no word of loadfiles, such as Flush or ReadX"));
        }
        let op = phase.map_or_else(|| op.to_owned(), |phase| in_phase(op, phase));
        Ok(Self { column: *column, op })
    }

    pub(super) fn new(column: Column, op: &str) -> Self {
        Self { column, op: op.into() }
    }

    pub(super) fn op(&self) -> &str {
        &self.op
    }

    /// Whether it is so much per second.
    pub(super) const fn is_rate(&self) -> bool {
        matches!(self.column, Column::OpsPerS | Column::BytesPerS)
    }

    /// All else are times.
    pub(super) const fn better(&self) -> Better {
        if self.is_rate() { Better::Higher } else { Better::Lower }
    }

    /// Its value among those of a row.
    pub(super) fn value(&self, values: &Values) -> Option<f64> {
        let place = CHOICE.iter().position(|column| *column == self.column)?;
        Some(values[place]).filter(|value| !value.is_nan())
    }

    /// What the row with these texts has.
    pub(super) fn values<'t>(text: impl Fn(Column) -> Cow<'t, str>) -> Values {
        CHOICE.map(|column| text(column).parse().unwrap_or(f64::NAN))
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.column.name())?;
        if self.op == "all" { Ok(()) } else { write!(f, ":{}", self.op) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_columns_and_words() {
        let metric = Metric::parse("lat_p99_us:Flush").unwrap();
        assert_eq!(
            (metric.to_string().as_str(), metric.better()),
            ("lat_p99_us:Flush", Better::Lower)
        );
        assert!(!metric.is_rate());
        let metric = Metric::parse("ops_per_s").unwrap();
        assert_eq!(metric, Metric::ops_per_s());
        assert_eq!((metric.better(), metric.is_rate()), (Better::Higher, true));
        let metric = Metric::parse("bytes_per_s:phase=read").unwrap();
        assert_eq!(
            (metric.to_string(), metric.op()),
            ("bytes_per_s:phase=read".into(), "phase=read")
        );
        let metric = Metric::parse("lat_mean_us:ReadX:phase=r").unwrap();
        assert_eq!(metric.to_string(), "lat_mean_us:ReadX:phase=r");
        assert!(Metric::parse("lat_mean_us:Fly:phase=r").unwrap_err().contains("no word"));
        assert!(Metric::parse("ops").unwrap_err().contains("ops_per_s, bytes_per_s"));
        assert!(Metric::parse("ops_per_s:Fly").unwrap_err().contains("no word"));
    }
}
