//! The table of phases in the text at the end of a run.

use super::model::PhaseLine;
use super::table::{latency, seconds};
use super::text::{Grid, shorten};
use crate::metrics::Spread;
use crate::units::{format_count, format_number};

/// Width of a name, so that a line stays within 100 columns.
const NAME: usize = 20;

/// A line per phase, over all disks: rates with their standard deviations over the repeats, the mean
/// time of one, latencies, and the time that clients waited for the last one.
#[must_use]
pub(super) fn phase_table(phases: &[PhaseLine], color: bool) -> String {
    let head =
        ["phase", "repeats", "time", "ops/s", "sd", "MB/s", "sd", "mean", "p99", "max", "waited"];
    let mut grid = Grid::new(1, &head);
    for PhaseLine { name, totals } in phases {
        let all = totals.all();
        let each = |ns: u64| (totals.rounds > 0).then(|| ns as f64 / totals.rounds as f64 / 1e9);
        let [ops, ops_sd] = rate(totals.rates.ops_per_s, format_count);
        let [bytes, bytes_sd] = match all.tally.bytes {
            0 => ["-", "-"].map(str::to_owned),
            _ => rate(totals.rates.bytes_per_s, |rate| format_number(rate / 1e6)),
        };
        grid.push(vec![
            shorten(name, NAME),
            format_count(totals.rounds as f64),
            seconds(each(totals.time_ns)),
            ops,
            ops_sd,
            bytes,
            bytes_sd,
            latency(all.mean_ns()),
            latency(all.percentile_ns(0.99)),
            latency((all.tally.ops > 0).then_some(all.max_ns as f64)),
            seconds((totals.rounds > 0).then_some(totals.wait_ns as f64 / 1e9)),
        ]);
    }
    grid.render(color, false)
}

/// Mean and standard deviation.
fn rate(spread: Spread, text: impl Fn(f64) -> String) -> [String; 2] {
    [spread.mean(), spread.deviation()].map(|rate| rate.map_or_else(|| "-".into(), &text))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::metrics::{PhaseOps, PhaseShard, PhaseTotals, Round, Sample, Tally};
    use crate::op::OpKind;

    /// 100 writes of 1 MB in 0.5 s, and the same in 1 s: 200 and 100 a second.
    #[test]
    fn a_table_by_hand() {
        let ops = Arc::new(PhaseOps::new([OpKind::WriteX]));
        let shard = PhaseShard::new(Arc::clone(&ops), false);
        let mut totals = PhaseTotals::new(&ops);
        for time_ns in [500_000_000, 1_000_000_000] {
            for _ in 0..100 {
                let (latency_ns, bytes) = (2_000_000, 1_000_000);
                shard.record(Sample { op: OpKind::WriteX, latency_ns, bytes, fault: None });
            }
            let mut tallies = [Tally::default()];
            totals.take(&shard, &mut tallies);
            totals.add(Round { start_ns: 1, time_ns, wait_ns: 100_000_000 }, &tallies);
        }
        let never = PhaseLine { name: "never".into(), totals: PhaseTotals::new(&ops) };
        let table = phase_table(&[PhaseLine { name: "write".into(), totals }, never], false);
        let expected = "\
phase  repeats   time  ops/s    sd  MB/s    sd    mean  p99     max  waited
write        2  750ms    150  70.7   150  70.7  2.00ms    -  2.00ms   200ms
never        0      -      -     -     -     -       -    -       -       -
";
        assert_eq!(table, expected);
    }
}
