//! Where an axis has its numbers.

/// Round numbers within a range, about `count` of them.
pub(super) fn linear(low: f64, high: f64, count: usize) -> Vec<f64> {
    let span = high - low;
    if span.is_nan() || span <= 0.0 || count == 0 {
        return vec![low];
    }
    let rough = span / count as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= rough).unwrap_or(10.0)
        * power;
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|n| n as f64 * step).collect()
}

/// 1, 2 and 5 times powers of ten within a range, or the powers alone where that would be more than
/// `count`.
pub(super) fn logarithmic(low: f64, high: f64, count: usize) -> Vec<f64> {
    let powers = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
    let within = |steps: &[f64]| -> Vec<f64> {
        let all = powers.clone().flat_map(|power| steps.iter().map(move |s| s * 10f64.powi(power)));
        all.filter(|tick| *tick >= low * 0.999 && *tick <= high * 1.001).collect()
    };
    let fine = within(&[1.0, 2.0, 5.0]);
    if fine.len() <= count { fine } else { within(&[1.0]) }
}

/// Round changes in percent within a range, `gap` or more apart in logarithms of the ratio.
pub(super) fn percent(low: f64, high: f64, gap: f64) -> Vec<f64> {
    let log = |percent: f64| (percent / 100.0).ln_1p();
    if high.max(-low) < 0.3 {
        let count = (((high - low) / gap).floor() as usize).clamp(2, 8);
        return linear(100.0 * low.exp_m1(), 100.0 * high.exp_m1(), count);
    }
    let mut ticks = vec![0.0];
    for (side, wide) in [
        (&[10.0, 20.0, 50.0, 100.0, 300.0, 900.0][..], high),
        (&[-10.0, -20.0, -30.0, -50.0, -75.0, -90.0], low),
    ] {
        let mut last = 0.0;
        for tick in side {
            let at = log(*tick);
            if (at - last).abs() >= gap && at.abs() <= wide.abs() + 1e-9 {
                ticks.push(*tick);
                last = at;
            }
        }
    }
    ticks.sort_by(f64::total_cmp);
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_numbers() {
        assert_eq!(linear(0.0, 10.0, 5), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(linear(-0.3, 0.9, 5), [0.0, 0.5]);
        assert_eq!(linear(3.0, 3.0, 5), [3.0]);
        assert_eq!(logarithmic(1.0, 100.0, 8), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(logarithmic(1.0, 1e4, 6), [1.0, 10.0, 100.0, 1000.0, 1e4]);
    }

    /// ln 1.5 = 0.405, ln 2 = 0.693, ln 4 = 1.386, ln 10 = 2.303; ln 0.5 = -0.693.
    #[test]
    fn round_changes() {
        assert_eq!(percent(-0.7, 0.7, 0.25), [-50.0, -30.0, 0.0, 50.0, 100.0]);
        assert_eq!(percent(-2.31, 2.31, 0.69), [-90.0, -75.0, -50.0, 0.0, 100.0, 300.0, 900.0]);
        assert_eq!(percent(-0.05, 0.05, 0.016), [-4.0, -2.0, 0.0, 2.0, 4.0]);
    }
}
