//! Two groups of runs of one cell (or of two cells) and what is asked of them.

use super::draft::Draft;
use super::metric::Metric;
use super::model::Run;
use super::series::{Point, Unit, sample, unit};
use crate::output::Column;
use crate::stats::Better;

/// Measures of all operations together that are looked at besides the headline.
const OF_ALL: [Column; 4] =
    [Column::PassMeanS, Column::LatP50Us, Column::LatP99Us, Column::SysUsPerOp];
/// Measures of each operation.
const OF_OPS: [Column; 2] = [Column::LatP50Us, Column::LatP99Us];

/// Runs of two sides that are compared with each other.
pub(super) struct Pair<'r> {
    pub(super) a_name: &'r str,
    pub(super) b_name: &'r str,
    /// The cell, or empty where there is but one.
    pub(super) cell: String,
    pub(super) a: Vec<&'r Run>,
    pub(super) b: Vec<&'r Run>,
}

impl Pair<'_> {
    pub(super) fn unit(&self) -> Unit {
        unit(&self.a, &self.b)
    }

    /// The row of a metric; `None` where a side has no such number at all.
    pub(super) fn draft(&self, metric: &Metric, better: Better) -> Option<Draft> {
        self.draft_of(metric, &metric.disk, better, |run| run.log(metric))
    }

    fn draft_of(
        &self,
        metric: &Metric,
        disk: &str,
        better: Better,
        log: impl Fn(&Run) -> Option<f64>,
    ) -> Option<Draft> {
        let points = |runs: &[&Run]| -> Vec<Point> {
            runs.iter().filter_map(|run| Some(Point::of(run, log(run)?))).collect()
        };
        let (a, b) = (points(&self.a), points(&self.b));
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let unit = self.unit();
        Some(Draft {
            a: self.a_name.to_owned(),
            b: self.b_name.to_owned(),
            cell: self.cell.clone(),
            effect: String::new(),
            metric: metric.column_text(),
            disk: disk.to_owned(),
            op: metric.op.clone(),
            better,
            unit,
            sample: sample(unit, &a, &b),
        })
    }

    /// Everything besides the headline: disks, then all operations, then each.
    pub(super) fn exploratory(&self, headline: &[(Metric, Better)]) -> Vec<Draft> {
        let mut drafts = self.of_disks(headline);
        let mut columns: Vec<Metric> = OF_ALL.iter().map(|column| Metric::all(*column)).collect();
        for op in self.common(Run::ops) {
            columns.extend(OF_OPS.iter().map(|column| Metric::of(*column, &op, "all")));
        }
        columns.retain(|metric| headline.iter().all(|(known, _)| known != metric));
        drafts.extend(columns.iter().filter_map(|metric| self.draft(metric, metric.better())));
        drafts
    }

    /// Each disk against itself, and the mean of these ratios: one observation per run. Disks share
    /// a machine; they are no repetitions of each other.
    fn of_disks(&self, headline: &[(Metric, Better)]) -> Vec<Draft> {
        let disks = self.common(Run::disks);
        let mut drafts = Vec::new();
        if disks.len() < 2 {
            return drafts;
        }
        for (metric, better) in headline.iter().filter(|(metric, _)| metric.disk == "all") {
            let each: Vec<Metric> = disks.iter().map(|disk| metric.on(disk)).collect();
            drafts.extend(each.iter().filter_map(|metric| self.draft(metric, *better)));
            let mean = |run: &Run| {
                let logs: Option<Vec<f64>> = each.iter().map(|metric| run.log(metric)).collect();
                logs.map(|logs| logs.iter().sum::<f64>() / logs.len() as f64)
            };
            drafts.extend(self.draft_of(metric, "mean", *better, mean));
        }
        drafts
    }

    /// What all runs of both sides have.
    fn common<'s>(
        &'s self,
        of: impl Fn(&'s Run) -> std::collections::BTreeSet<&'s str>,
    ) -> Vec<String> {
        let mut sets = self.a.iter().chain(&self.b).map(|run| of(run));
        let first = sets.next().unwrap_or_default();
        let all = sets.fold(first, |all, set| all.intersection(&set).copied().collect());
        all.into_iter().map(str::to_owned).collect()
    }
}
