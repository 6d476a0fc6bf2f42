//! From a summary of operations to the cells of a row.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};

use super::columns::Column;
use super::row::Row;
use crate::metrics::{Histogram, OpSummary};

/// Largest value of the written histogram, in nanoseconds: that of our own.
const HIGHEST_NS: u64 = (1 << 42) - 1;

const PERCENTILES: [(Column, f64); 5] = [
    (Column::LatP50Us, 0.5),
    (Column::LatP90Us, 0.9),
    (Column::LatP95Us, 0.95),
    (Column::LatP99Us, 0.99),
    (Column::LatP999Us, 0.999),
];

/// Fills what is known of an operation, or of all (`op` is then `all`), over `window_s` seconds.
/// Rates stay empty when there is no window, latencies when there are no operations.
pub fn fill_op(row: &mut Row, op: &str, summary: &OpSummary, window_s: f64) {
    let tally = summary.tally;
    row.set(Column::Op, op)
        .set(Column::WindowS, window_s)
        .set(Column::Ops, tally.ops)
        .set(Column::Errors, tally.errors)
        .set(Column::Skipped, tally.skipped)
        .set(Column::Bytes, tally.bytes)
        .set(Column::OpsPerS, rate(tally.ops, window_s))
        .set(Column::BytesPerS, rate(tally.bytes, window_s))
        .set(Column::LatMeanUs, summary.mean_ns().map(us))
        .set(Column::StalledS, summary.stalled_ns as f64 / 1e9);
    if tally.ops > 0 && summary.min_ns <= summary.max_ns {
        row.set(Column::LatMinUs, us(summary.min_ns as f64));
        row.set(Column::LatMaxUs, us(summary.max_ns as f64));
    }
    for (column, p) in PERCENTILES {
        row.set(column, summary.percentile_ns(p).map(us));
    }
}

/// Fills `hist`; it stays empty without values.
pub fn fill_hist(row: &mut Row, summary: &OpSummary) {
    row.set(Column::Hist, encode_histogram(&summary.histogram));
}

/// A histogram as base64 of HdrHistogram's V2 format with deflate: nanoseconds, lowest value 1,
/// highest 2^42 - 1, two significant digits. Our buckets are the same, so nothing is lost.
#[must_use]
pub fn encode_histogram(histogram: &Histogram) -> Option<String> {
    if histogram.is_empty() {
        return None;
    }
    let mut hdr = hdrhistogram::Histogram::<u64>::new_with_bounds(1, HIGHEST_NS, 2).ok()?;
    for (low, _, count) in histogram.buckets() {
        hdr.record_n(low, count).ok()?;
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&hdr, &mut bytes).ok()?;
    Some(BASE64.encode(bytes))
}

fn us(ns: f64) -> f64 {
    ns / 1e3
}

fn rate(count: u64, window_s: f64) -> Option<f64> {
    (window_s > 0.0).then(|| count as f64 / window_s)
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::Deserializer;

    use super::*;
    use crate::metrics::{DiskTotals, Sample, Shard};
    use crate::op::OpKind;
    use crate::output::row::Cell;

    fn summary(latencies_ns: impl IntoIterator<Item = u64>) -> OpSummary {
        let shard = Shard::new(false);
        for latency_ns in latencies_ns {
            shard.record(Sample { op: OpKind::ReadX, latency_ns, bytes: 4096, fault: None });
        }
        DiskTotals::read(&[shard]).all()
    }

    fn text(row: &Row, column: Column) -> String {
        row.get(column).csv().into_owned()
    }

    #[test]
    fn cells_by_hand() {
        // 100 operations of 10 us and one of 2 s, in 4 s.
        let summary = summary(std::iter::repeat_n(10_000, 100).chain([2_000_000_000]));
        let mut row = Row::new();
        fill_op(&mut row, "ReadX", &summary, 4.0);
        for (column, expected) in [
            (Column::Op, "ReadX"),
            (Column::Ops, "101"),
            (Column::Errors, "0"),
            (Column::Skipped, "0"),
            (Column::Bytes, "413696"),
            (Column::OpsPerS, "25.25"),
            (Column::BytesPerS, "103424"),
            // (100 x 10 + 2,000,000) / 101
            (Column::LatMeanUs, "19811.881188"),
            (Column::LatMinUs, "10"),
            (Column::LatMaxUs, "2000000"),
            (Column::StalledS, "2"),
            (Column::LatP99Us, ""), // 101 < 10 / (1 - 0.99)
            (Column::Hist, ""),
        ] {
            assert_eq!(text(&row, column), expected, "{}", column.name());
        }
        let p50: f64 = text(&row, Column::LatP50Us).parse().unwrap();
        assert!((p50 - 10.0).abs() <= 10.0 / 128.0, "{p50}");
    }

    #[test]
    fn nothing_done_leaves_latencies_and_rates_unknown() {
        let mut row = Row::new();
        fill_op(&mut row, "all", &OpSummary::default(), 0.0);
        fill_hist(&mut row, &OpSummary::default());
        for column in
            [Column::LatMinUs, Column::LatMaxUs, Column::LatMeanUs, Column::OpsPerS, Column::Hist]
        {
            assert_eq!(*row.get(column), Cell::Empty, "{}", column.name());
        }
        assert_eq!(text(&row, Column::Ops), "0");
    }

    #[test]
    fn a_decoded_histogram_gives_the_same_percentiles() {
        // Spread over 1 ns to about 70 min, the ends included.
        let mut values: Vec<u64> = (0..5000).map(|i: u64| 1 + i.pow(3) * 31).collect();
        values.extend([0, 1, 255, 256, HIGHEST_NS, HIGHEST_NS + 5]);
        let summary = summary(values);
        let bytes = BASE64.decode(encode_histogram(&summary.histogram).unwrap()).unwrap();
        let decoded: hdrhistogram::Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
        assert_eq!(decoded.len(), summary.histogram.len());
        assert_eq!((decoded.low(), decoded.sigfig()), (1, 2));
        for p in [0.0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0] {
            let theirs = decoded.value_at_quantile(p);
            let ours = summary.histogram.quantile(p).unwrap();
            let (low, high) =
                (decoded.lowest_equivalent(theirs), decoded.highest_equivalent(theirs));
            assert!(low as f64 <= ours && ours <= high as f64, "p{p}: {ours} not in {low}..{high}");
        }
        let theirs: Vec<_> =
            decoded.iter_recorded().map(|step| step.count_since_last_iteration()).collect();
        let ours: Vec<_> = summary.histogram.buckets().map(|(_, _, count)| count).collect();
        assert_eq!(theirs, ours, "bucket by bucket");
    }
}
