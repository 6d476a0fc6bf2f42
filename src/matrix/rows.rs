//! Effects as rows of the result.

use super::effects::Effect;
use super::plan::Matrix;
use crate::output::{Column, Row};

/// Fills the row of an effect; `row` has what all rows of the experiment have.
pub(super) fn fill(mut row: Row, effect: &Effect, matrix: &Matrix) -> Row {
    let Effect { ask, metric, estimate, .. } = effect;
    let (change, low, high) = estimate.percent(effect.alpha);
    let speed_up = effect.speed_up();
    row.set(Column::Disk, "all")
        .set(Column::Op, metric.op())
        .set(Column::Effect, ask.kind.word())
        .set(Column::Factor, ask.factor.as_str())
        .set(Column::LevelA, ask.from.as_str())
        .set(Column::LevelB, ask.to.as_str())
        .set(Column::Held, ask.held.as_str())
        .set(Column::Metric, metric.to_string())
        .set(Column::Exploratory, effect.exploratory)
        .set(Column::N, estimate.n)
        .set(Column::ChangePct, change)
        .set(Column::LowPct, low)
        .set(Column::HighPct, high)
        .set(Column::Confidence, 1.0 - effect.alpha)
        .set(Column::HalfWidthPct, effect.half_width_pct())
        .set(Column::PValue, estimate.p_value())
        .set(Column::PAdjusted, effect.p_adjusted)
        .set(Column::Verdict, effect.word())
        .set(Column::BlocksNeeded, effect.needed)
        .set(Column::MarginPct, 100.0 * matrix.margin)
        .set(Column::SpeedUp, speed_up)
        .set(Column::Efficiency, speed_up.zip(ask.times).map(|(speed, times)| speed / times));
    row
}
