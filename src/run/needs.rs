//! What a run needs of the host: CPUs, descriptors, threads, memory.

use super::prepare::Assigned;
use super::request::cpus_text;
use super::{RunError, RunRequest};
use crate::host::limits;
use crate::units::format_bytes;

/// CPUs, descriptors, threads and memory, before anything is made.
pub(super) fn check_limits(
    request: &RunRequest,
    disks: usize,
    handles: u64,
    assigned: &[Assigned],
    warnings: &mut Vec<String>,
) -> Result<(), RunError> {
    /// Descriptors of a client beside its handles: a directory, /proc, one that is replaced.
    const SPARE: u64 = 8;
    refuse_missing_cpus(&request.load.cpus)?;
    let clients = u64::from(request.clients);
    let nofile = limits::raise_nofile().map_err(|error| RunError::cannot(error.to_string()))?;
    let limit = nofile.soft.unwrap_or(u64::MAX);
    let tables = if request.load.share.fd { clients } else { 1 };
    let need = tables.saturating_mul(handles) + SPARE;
    if need > limit {
        return Err(RunError::cannot(format!(
            "a client needs {need} open files, the limit is {limit}; raise it with \
             `ulimit -n {need}`"
        )));
    }
    // Two descriptors a disk, and those of the process.
    let own = 2 * disks as u64 + 64;
    if own > limit {
        return Err(RunError::cannot(format!(
            "{disks} disks need {own} open files, the limit is {limit}; raise it with \
             `ulimit -n {own}`"
        )));
    }
    let threads = disks as u64 * (clients + 1) + 8;
    if let Some(limit) = limits::max_threads().filter(|limit| limit.value < threads) {
        return Err(RunError::cannot(format!(
            "{disks} disks x {clients} clients need {threads} threads, {} allows {}",
            limit.set_by, limit.value
        )));
    }
    let buffers: u64 = assigned
        .iter()
        .filter_map(|load| load.programs.iter().map(|p| p.max_read + p.max_write).max())
        .map(|bytes| bytes.saturating_add(100_000).saturating_mul(clients))
        .fold(0, u64::saturating_add);
    if let Some(free) = limits::memory_available().filter(|free| free.value < buffers) {
        warnings.push(format!(
            "the clients' buffers need {}, but only {} are free",
            format_bytes(buffers),
            format_bytes(free.value)
        ));
    }
    Ok(())
}

/// The kernel would leave out CPUs that are not there, and the result would name them all the same.
fn refuse_missing_cpus(wanted: &[usize]) -> Result<(), RunError> {
    let Some(usable) = limits::affinity() else { return Ok(()) };
    let missing = wanted.iter().find(|cpu| !usable.contains(cpu));
    missing.map_or(Ok(()), |cpu| {
        Err(RunError::cannot(format!(
            "--cpus: CPU {cpu} is offline, or not allowed here; this process may use {}",
            cpus_text(&usable)
        )))
    })
}
