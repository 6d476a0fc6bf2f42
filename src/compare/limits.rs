//! Limits that no run may break: `--fail-if 'lat_p99_us{op=Flush}>10000'`.

use super::metric::Metric;
use super::model::Run;

/// A limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    metric: Metric,
    relation: Relation,
    bound: f64,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    More,
    MoreOrEqual,
    Less,
    LessOrEqual,
}

impl Limit {
    /// Reads `METRIC>NUMBER`, with `>`, `>=`, `<` or `<=`.
    ///
    /// # Errors
    /// When it is not of that form, or there is no such metric.
    pub fn parse(text: &str) -> Result<Self, String> {
        // Behind the braces: a disk may have any sign in its name.
        let from = text.rfind('}').unwrap_or(0);
        let at = text[from..]
            .find(['<', '>'])
            .map(|at| at + from)
            .ok_or_else(|| format!("\"{text}\": METRIC>NUMBER or METRIC<NUMBER is wanted"))?;
        let (metric, rest) = text.split_at(at);
        let (relation, number) = match (&rest[..1], rest[1..].strip_prefix('=')) {
            (">", None) => (Relation::More, &rest[1..]),
            (">", Some(number)) => (Relation::MoreOrEqual, number),
            (_, None) => (Relation::Less, &rest[1..]),
            (_, Some(number)) => (Relation::LessOrEqual, number),
        };
        let bound = number.trim().parse().map_err(|_| {
            format!("\"{}\" is no number; units are those of the column", number.trim())
        })?;
        Ok(Self { metric: Metric::parse(metric)?, relation, bound, text: text.trim().to_owned() })
    }

    fn is_broken_by(&self, value: f64) -> bool {
        match self.relation {
            Relation::More => value > self.bound,
            Relation::MoreOrEqual => value >= self.bound,
            Relation::Less => value < self.bound,
            Relation::LessOrEqual => value <= self.bound,
        }
    }

    /// The rows of these runs that break it, one line each; and whether any row had the number.
    pub(super) fn check(&self, runs: &[&Run]) -> (Vec<String>, bool) {
        let (mut broken, mut seen) = (Vec::new(), false);
        for run in runs {
            let disks: Vec<&str> = match self.metric.disk.as_str() {
                "*" => run.disks().into_iter().collect(),
                disk => vec![disk],
            };
            for disk in disks {
                let metric = Metric::of(self.metric.column, &self.metric.op, disk);
                let Some(value) = run.value(&metric) else { continue };
                seen = true;
                if self.is_broken_by(value) {
                    broken.push(format!("{}: {metric} is {value} ({})", run.name(), self.text));
                }
            }
        }
        (broken, seen)
    }

    /// As it was given.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Column;

    #[test]
    fn limits_by_hand() {
        let limit = Limit::parse("lat_p99_us{op=Flush}>10000").unwrap();
        assert_eq!(limit.metric, Metric::of(Column::LatP99Us, "Flush", "all"));
        assert!(limit.is_broken_by(10000.5) && !limit.is_broken_by(10000.0));
        let limit = Limit::parse("ops_per_s{disk=/mnt/a>b} <= 5e3").unwrap();
        assert_eq!(limit.metric.disk, "/mnt/a>b");
        assert!(limit.is_broken_by(5000.0) && !limit.is_broken_by(5001.0));
        for (text, said) in
            [("ops_per_s", "is wanted"), ("ops_per_s>many", "no number"), ("x>1", "no column x")]
        {
            let error = Limit::parse(text).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
