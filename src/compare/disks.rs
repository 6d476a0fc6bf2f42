//! Disks that stand out: on a shelf that is the broken one.

use super::metric::Metric;
use super::model::Run;
use super::sides::Side;
use crate::stats::{Better, LEAST_PEERS, Standing, far, median, percent, standings};

/// Among disks that agree to the percent anything is far away; a tenth is worth a name.
const FAR_LOG: f64 = 0.1;

/// One line per disk that changed unlike the others, or is slower than they are on a side.
pub(super) fn outliers(a: &Side, b: &Side, metric: &Metric, better: Better) -> Vec<String> {
    let labels = a.runs.iter().chain(&b.runs).map(Run::disks);
    let Some(labels) = labels.reduce(|all, set| all.intersection(&set).copied().collect()) else {
        return Vec::new();
    };
    let labels: Vec<&str> = labels.into_iter().collect();
    if labels.len() < LEAST_PEERS || metric.disk != "all" {
        return Vec::new();
    }
    let mean = |side: &Side, disk: &str| {
        let metric = metric.on(disk);
        let logs: Vec<f64> = side.runs.iter().filter_map(|run| run.log(&metric)).collect();
        logs.iter().sum::<f64>() / logs.len() as f64
    };
    let (of_a, of_b): (Vec<f64>, Vec<f64>) =
        labels.iter().map(|disk| (mean(a, disk), mean(b, disk))).unzip();
    let mut found = changed(&labels, &of_a, &of_b, metric);
    for (side, logs) in [(a, &of_a), (b, &of_b)] {
        found.extend(slow(&labels, logs, &side.name, metric, better));
    }
    found
}

fn changed(labels: &[&str], a: &[f64], b: &[f64], metric: &Metric) -> Vec<String> {
    let ratios: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
    if ratios.iter().any(|ratio| !ratio.is_finite()) {
        return Vec::new();
    }
    let center = median(&ratios).unwrap_or(0.0);
    let line = |(index, z): (usize, f64)| {
        format!(
            "disk {}: {metric} changed by {:+.1} %, the median of {} disks by {:+.1} % (robust z {z:.0})",
            labels[index],
            percent(ratios[index]),
            labels.len(),
            percent(center)
        )
    };
    far(&ratios, FAR_LOG).into_iter().map(line).collect()
}

fn slow(labels: &[&str], logs: &[f64], side: &str, metric: &Metric, better: Better) -> Vec<String> {
    // A latency is bad when it is high: its inverse is a rate.
    let sign = if better == Better::Higher { 1.0 } else { -1.0 };
    let rates: Vec<f64> = logs.iter().map(|log| (sign * log).exp()).collect();
    let line = |(label, standing): (&&str, &Standing)| {
        let ratio = if sign > 0.0 { standing.ratio } else { 1.0 / standing.ratio };
        format!(
            "disk {label} of {side}: {metric} is {ratio:.2} of the median of {} disks (robust z {:.0})",
            labels.len(),
            sign * standing.z
        )
    };
    let all = standings(&rates);
    labels.iter().zip(&all).filter(|(_, standing)| standing.is_slow()).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Column;

    #[test]
    fn a_disk_that_changed_unlike_the_others() {
        let labels = ["a", "b", "c", "d", "e"];
        let before = [10.0, 10.1, 9.9, 10.0, 10.05];
        let metric = Metric::all(Column::OpsPerS);
        // Changes of -0.01, -0.02, -0.015, -0.5, -0.012: median -0.015, deviations 0.005 0.005 0
        // 0.485 0.003 with median 0.005; z of the fourth -0.485 / 0.007413 = -65.4.
        let after = [9.99, 10.08, 9.885, 9.5, 10.038];
        let found = changed(&labels, &before, &after, &metric);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("disk d: ops_per_s changed by -39.3 %"), "{found:?}");
        assert!(found[0].contains("by -1.5 % (robust z -65)"), "{found:?}");
        assert!(changed(&labels, &before, &before, &metric).is_empty());
    }

    #[test]
    fn a_disk_that_is_slow_on_a_side() {
        let labels = ["a", "b", "c", "d", "e"];
        let logs = [10.0, 10.01, 9.99, 10.005, 9.3];
        let metric = Metric::all(Column::OpsPerS);
        let found = slow(&labels, &logs, "B", &metric, Better::Higher);
        assert!(
            found.len() == 1 && found[0].contains("disk e of B: ops_per_s is 0.50 of"),
            "{found:?}"
        );
        // The same figures as latencies: the low one is the fast one.
        assert!(slow(&labels, &logs, "B", &metric, Better::Lower).is_empty());
    }
}
