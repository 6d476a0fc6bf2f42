//! A comparison of results: plain data, filled by whoever compared, and its rows as CSV.

use std::path::PathBuf;

use serde::Serialize;

/// What a row answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Question {
    /// The metric that was named beforehand: what the verdict and the exit code are about.
    Headline,
    /// What a change does in combination with the factors of a matrix.
    Effect,
    /// Everything else that was measured: a place to look, not a finding.
    Exploratory,
}

impl Question {
    /// The word in CSV.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Headline => "headline",
            Self::Effect => "effect",
            Self::Exploratory => "exploratory",
        }
    }
}

/// A metric on two sides.
#[derive(Clone, Debug, Serialize)]
pub struct CompareRow {
    /// What it answers.
    pub question: Question,
    /// Name of the first side.
    pub a: String,
    /// Name of the second side.
    pub b: String,
    /// Cell of the matrix, or empty.
    pub cell: String,
    /// The effect, as `kernel x as`; empty in other rows.
    pub effect: String,
    /// Column of the result file.
    pub metric: String,
    /// Label of a disk, `all`, or `mean`: the ratio averaged over disks.
    pub disk: String,
    /// Word of the loadfile, or `all`.
    pub op: String,
    /// Geometric mean of the first side, in the metric's own unit.
    pub a_value: Option<f64>,
    /// Geometric mean of the second side.
    pub b_value: Option<f64>,
    /// Change from the first to the second, in percent.
    pub change_percent: Option<f64>,
    /// Lower limit of its interval.
    pub low_percent: Option<f64>,
    /// Upper limit of its interval.
    pub high_percent: Option<f64>,
    /// Level of the interval, in percent: 95 for a single question, more where Holm's procedure
    /// asks for it.
    pub level_percent: f64,
    /// Observations of the first side.
    pub n_a: usize,
    /// Observations of the second side.
    pub n_b: usize,
    /// What an observation is: `block`, `run` or `boot`.
    pub unit: &'static str,
    /// Degrees of freedom.
    pub df: Option<f64>,
    /// Probability of such a change by chance, for this row alone.
    pub p_value: Option<f64>,
    /// The same by Holm, with all rows that answer the same question.
    pub p_holm: Option<f64>,
    /// `same`, `regression`, `improvement` or `inconclusive`; of effects `same`, `effect` or
    /// `inconclusive`.
    pub verdict: &'static str,
    /// What else is to be said of the verdict, or empty.
    pub why: String,
    /// Observations that might settle it, where it is inconclusive for noise.
    pub needs: Option<usize>,
}

/// A side of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct CompareSide {
    /// Its name in the rows.
    pub name: String,
    /// Its files.
    pub files: Vec<PathBuf>,
    /// Runs that count.
    pub runs: usize,
    /// Boots that they were in; 0 where that is unknown.
    pub boots: usize,
    /// Kernels that they ran on.
    pub kernels: Vec<String>,
}

/// The whole comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The sides: the first is what the others are compared with.
    pub sides: Vec<CompareSide>,
    /// The margin in percent.
    pub margin_percent: f64,
    /// Risk of any false alarm among the headline rows.
    pub alpha: f64,
    /// The rows.
    pub rows: Vec<CompareRow>,
    /// Disks that stand out.
    pub outlier_disks: Vec<String>,
    /// Limits (`--fail-if`) that runs broke, one line each.
    pub broken_limits: Vec<String>,
    /// Sentences about all this.
    pub notes: Vec<String>,
}

/// Columns of the CSV form.
pub const COMPARE_COLUMNS: [&str; 23] = [
    "question",
    "a",
    "b",
    "cell",
    "effect",
    "metric",
    "disk",
    "op",
    "a_value",
    "b_value",
    "change_percent",
    "low_percent",
    "high_percent",
    "level_percent",
    "n_a",
    "n_b",
    "unit",
    "df",
    "p_value",
    "p_holm",
    "verdict",
    "why",
    "needs",
];

/// The rows of the CSV form, in the order of [`COMPARE_COLUMNS`].
pub fn compare_rows(comparison: &Comparison) -> impl Iterator<Item = Vec<String>> {
    comparison.rows.iter().map(cells)
}

fn cells(row: &CompareRow) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    vec![
        row.question.word().to_owned(),
        row.a.clone(),
        row.b.clone(),
        row.cell.clone(),
        row.effect.clone(),
        row.metric.clone(),
        row.disk.clone(),
        row.op.clone(),
        number(row.a_value),
        number(row.b_value),
        number(row.change_percent),
        number(row.low_percent),
        number(row.high_percent),
        row.level_percent.to_string(),
        row.n_a.to_string(),
        row.n_b.to_string(),
        row.unit.to_owned(),
        number(row.df),
        number(row.p_value),
        number(row.p_holm),
        row.verdict.to_owned(),
        row.why.clone(),
        row.needs.map_or_else(String::new, |needs| needs.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_page_explains_every_column() {
        let page = include_str!("../../docs/output.md");
        let names = super::COMPARE_COLUMNS.map(|name| format!("| `{name}` |"));
        let missing: Vec<_> = names.iter().filter(|line| !page.contains(*line)).collect();
        assert!(missing.is_empty(), "docs/output.md does not explain {missing:?}");
    }
}
