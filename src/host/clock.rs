//! What reading the clock costs: it is read once for each operation, and is part of its time.

use std::time::Instant;

use super::procfs;

/// A clock that is read without the kernel (`tsc`, `kvm-clock`) takes tens of nanoseconds, 31 where
/// `engine::now_ns` was measured; one that asks a device takes far longer.
const MUCH_NS: f64 = 250.0;
const READS: u32 = 64;
const BATCHES: u32 = 8;

/// The clock source in use: `tsc`, `kvm-clock`, `hpet`.
#[must_use]
pub fn source() -> Option<String> {
    procfs::text("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

/// Nanoseconds that reading the clock takes: the least of some batches.
#[must_use]
pub fn read_ns() -> f64 {
    let batch = |_| {
        let start = Instant::now();
        for _ in 1..READS {
            std::hint::black_box(Instant::now());
        }
        start.elapsed().as_nanos() as f64 / f64::from(READS)
    };
    (0..BATCHES).map(batch).fold(f64::MAX, f64::min)
}

/// What to say of a clock that is dear to read.
#[must_use]
pub fn warning(read_ns: f64, source: Option<&str>) -> Option<String> {
    (read_ns > MUCH_NS).then(|| {
        format!(
            "reading the clock takes {read_ns:.0} ns here (clock source {}), which is part of the time of \
             each operation; where the processor allows it, boot with clocksource=tsc",
            source.unwrap_or("unknown")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dear_clock_is_named() {
        let text = warning(1234.4, Some("hpet")).unwrap();
        assert!(text.starts_with("reading the clock takes 1234 ns here (clock source hpet)"));
        assert_eq!(warning(31.0, Some("tsc")), None);
        let cost = read_ns();
        assert!(cost > 1.0 && cost < 1e6, "{cost}");
    }
}
