//! What a matrix looks at: one number of each run.

use std::fmt;

use crate::op::OpKind;
use crate::output::Column;
use crate::stats::Better;

/// Columns that can be asked for, and which way is better.
const CHOICE: [(Column, Better); 15] = [
    (Column::OpsPerS, Better::Higher),
    (Column::BytesPerS, Better::Higher),
    (Column::LatMeanUs, Better::Lower),
    (Column::LatMinUs, Better::Lower),
    (Column::LatP50Us, Better::Lower),
    (Column::LatP90Us, Better::Lower),
    (Column::LatP95Us, Better::Lower),
    (Column::LatP99Us, Better::Lower),
    (Column::LatP999Us, Better::Lower),
    (Column::LatMaxUs, Better::Lower),
    (Column::PassMeanS, Better::Lower),
    (Column::PassMaxS, Better::Lower),
    (Column::SysUsPerOp, Better::Lower),
    (Column::DrainS, Better::Lower),
    (Column::StalledS, Better::Lower),
];

/// A column of the summary rows, and the operation whose row it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Metric {
    column: Column,
    /// A word of the loadfile, or `all`.
    op: String,
}

impl Metric {
    /// Operations per second, all of them.
    #[must_use]
    pub fn ops_per_s() -> Self {
        Self { column: Column::OpsPerS, op: "all".into() }
    }

    /// `ops_per_s`, `lat_p99_us:Flush`.
    ///
    /// # Errors
    /// A sentence that names what can be asked for.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, op) = text.split_once(':').unwrap_or((text, "all"));
        let Some((column, _)) = CHOICE.iter().find(|(column, _)| column.name() == name) else {
            let names: Vec<_> = CHOICE.iter().map(|(column, _)| column.name()).collect();
            return Err(format!("expected one of {}, and :OP for one operation", names.join(", ")));
        };
        if op != "all" && !OpKind::ALL.iter().any(|kind| kind.word() == op) {
            return Err(format!("{op} is no word of loadfiles, such as Flush or ReadX"));
        }
        Ok(Self { column: *column, op: op.into() })
    }

    pub(super) fn new(column: Column, op: &str) -> Self {
        Self { column, op: op.into() }
    }

    pub(super) const fn column(&self) -> Column {
        self.column
    }

    pub(super) fn op(&self) -> &str {
        &self.op
    }

    /// Whether it is so much per second.
    pub(super) const fn is_rate(&self) -> bool {
        matches!(self.column, Column::OpsPerS | Column::BytesPerS)
    }

    pub(super) fn better(&self) -> Better {
        let found = CHOICE.iter().find(|(column, _)| *column == self.column);
        found.map_or(Better::Higher, |(_, better)| *better)
    }

    /// All columns that can be asked for.
    pub(super) fn columns() -> impl Iterator<Item = Column> {
        CHOICE.iter().map(|(column, _)| *column)
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
        assert!(Metric::parse("ops").unwrap_err().contains("ops_per_s, bytes_per_s"));
        assert!(Metric::parse("ops_per_s:Fly").unwrap_err().contains("no word"));
    }
}
