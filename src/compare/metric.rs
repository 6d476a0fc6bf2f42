//! Which number of a run is meant: a column of which disk and operation, and which way is better.

use std::fmt;

use crate::output::{Column, Kind, Role};
use crate::stats::Better;

/// A column of the rows of a disk (or `all`) and an operation (or `all`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// A measure that is a number.
    pub column: Column,
    /// Word of the loadfile, or `all`.
    pub op: String,
    /// Label of a disk, `all`, or `*` for each of them.
    pub disk: String,
    /// A phase of the load; empty for the whole.
    pub phase: String,
}

impl Metric {
    /// A column of everything together.
    #[must_use]
    pub fn all(column: Column) -> Self {
        Self::of(column, "all", "all")
    }

    /// A column of a disk and an operation.
    #[must_use]
    pub fn of(column: Column, op: &str, disk: &str) -> Self {
        Self { column, op: op.to_owned(), disk: disk.to_owned(), phase: String::new() }
    }

    /// The same of another disk.
    #[must_use]
    pub(super) fn on(&self, disk: &str) -> Self {
        Self { disk: disk.to_owned(), ..self.clone() }
    }

    /// Its column, and the phase where it is of one: `bytes_per_s:phase=read`.
    pub(super) fn column_text(&self) -> String {
        let name = self.column.name();
        if self.phase.is_empty() { name.into() } else { format!("{name}:phase={}", self.phase) }
    }

    /// Reads `COLUMN`, `COLUMN:Flush`, `COLUMN:phase=read`, or `COLUMN{op=Flush,disk=/mnt/a}` with any of
    /// `op`, `disk` and `phase` in the braces.
    ///
    /// # Errors
    /// When there is no such column, or it is no measure, or the braces hold something else.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, inside) = match text.trim().split_once('{') {
            None => (text.trim(), ""),
            Some((name, rest)) => {
                let inside = rest.strip_suffix('}').ok_or_else(|| format!("\"{text}\": no }}"))?;
                (name.trim(), inside)
            }
        };
        let (name, op) = name.split_once(':').unwrap_or((name, "all"));
        let (op, phase) = match op.split_once("phase=") {
            None => (op, ""),
            Some(("", phase)) => ("all", phase),
            Some((op, phase)) => (op.strip_suffix(':').unwrap_or(op), phase),
        };
        let mut metric = Self::of(measure(name)?, op, "all");
        metric.phase = phase.to_owned();
        for part in inside.split(',').filter(|part| !part.trim().is_empty()) {
            match part.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
                Some(("op", op)) => metric.op = op.to_owned(),
                Some(("disk", disk)) => metric.disk = disk.to_owned(),
                Some(("phase", phase)) => metric.phase = phase.to_owned(),
                _ => {
                    let wanted = "op=WORD, disk=LABEL or phase=NAME";
                    return Err(format!("\"{part}\" in braces: {wanted} is wanted"));
                }
            }
        }
        Ok(metric)
    }

    /// The good direction: rates and counts of work up, times and everything else down.
    #[must_use]
    pub fn better(&self) -> Better {
        let name = self.column.name();
        let work = ["ops", "bytes", "passes", "walk_rcu", "repeats"];
        if name.ends_with("_per_s") || name.ends_with("_per_s_mean") || work.contains(&name) {
            Better::Higher
        } else {
            Better::Lower
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.column.name())?;
        let parts =
            [("op", &self.op, "all"), ("disk", &self.disk, "all"), ("phase", &self.phase, "")];
        let said = parts.iter().filter(|(_, value, usual)| value != usual);
        let said: Vec<String> = said.map(|(key, value, _)| format!("{key}={value}")).collect();
        if said.is_empty() { Ok(()) } else { write!(f, "{{{}}}", said.join(",")) }
    }
}

/// Whether a column holds a number that was measured.
pub(super) fn is_measure(column: Column) -> bool {
    column.role() == Role::Measure && matches!(column.kind(), Kind::Integer | Kind::Float)
}

fn measure(name: &str) -> Result<Column, String> {
    let found = Column::ALL.iter().copied().find(|column| column.name() == name);
    match found {
        Some(column) if is_measure(column) => Ok(column),
        Some(_) => Err(format!("{name} is no measured number; docs/output.md lists the measures")),
        None => Err(format!(
            "there is no column {name}; measures are ops_per_s, pass_mean_s, lat_p99_us and others \
             (docs/output.md)"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_said() {
        let metric = Metric::parse("lat_p99_us{op=Flush}").unwrap();
        assert_eq!(metric, Metric::of(Column::LatP99Us, "Flush", "all"));
        assert_eq!(metric.to_string(), "lat_p99_us{op=Flush}");
        assert_eq!(metric.better(), Better::Lower);
        let metric = Metric::parse(" ops_per_s { disk=/mnt/a , op=Close }").unwrap();
        assert_eq!(metric.to_string(), "ops_per_s{op=Close,disk=/mnt/a}");
        assert_eq!(metric.better(), Better::Higher);
        assert_eq!(Metric::parse("pass_mean_s").unwrap().to_string(), "pass_mean_s");
        let metric = Metric::parse("bytes_per_s_mean:phase=read").unwrap();
        assert_eq!(metric.to_string(), "bytes_per_s_mean{phase=read}");
        assert_eq!(metric.better(), Better::Higher);
        assert_eq!(
            Metric::parse("lat_max_us:ReadX:phase=a"),
            Metric::parse("lat_max_us{op=ReadX,phase=a}")
        );
        assert_eq!(Metric::parse("lat_p50_us:Close"), Metric::parse("lat_p50_us{op=Close}"));
    }

    #[test]
    fn what_cannot() {
        for (text, said) in [
            ("ops_per_sec", "no column ops_per_sec"),
            ("kernel", "no measured number"),
            ("status", "no measured number"),
            ("ops_per_s{op=Close", "no }"),
            ("ops_per_s{cell=a}", "op=WORD, disk=LABEL or phase=NAME"),
        ] {
            let error = Metric::parse(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
