//! `--target-rate`: from megabytes to operations.

use std::path::PathBuf;

use crate::loadfile::{Options, builtin, check, load_source};

/// Operations per second of all clients that move `mb_per_s` megabytes (10^6) per second and client, by
/// what the average operation of the loadfiles moves. dbench waits after an operation for the time that
/// its bytes should have taken, without ever making up for a slow one: its mean stays below the target.
pub(super) fn ops_per_s(
    mb_per_s: f64,
    clients: u32,
    loadfiles: &[PathBuf],
    lenient: bool,
) -> Result<f64, String> {
    if !(mb_per_s > 0.0 && mb_per_s <= 1e9) {
        return Err(format!("--target-rate {mb_per_s}: expected megabytes per second, above 0"));
    }
    let (mut bytes, mut ops) = (0.0, 0.0);
    for file in loadfiles {
        let source = builtin::find(Some(file)).map_err(|error| error.to_string())?;
        let options = Options { lenient };
        let loaded = load_source(&source, &options).map_err(|error| error.to_string())?;
        let report = check::check(&loaded.program);
        bytes += report.read_bytes as f64 + report.write_bytes as f64;
        ops += report.total_ops as f64;
    }
    if bytes <= 0.0 {
        return Err(
            "--target-rate: the loadfile reads and writes nothing; use `jbodbench run --rate \
                    OPS`, which counts operations"
                .into(),
        );
    }
    let rate = mb_per_s * 1e6 * f64::from(clients) * ops / bytes;
    Ok(rate.clamp(0.001, 1e9))
}
