//! CPUs that a run asks for.

use super::RunError;
use super::request::cpus_text;
use crate::host::limits;

/// The kernel would leave out CPUs that are not there, and the result would name them all the same.
pub(super) fn refuse_missing_cpus(wanted: &[usize]) -> Result<(), RunError> {
    let Some(usable) = limits::affinity() else { return Ok(()) };
    let missing = wanted.iter().find(|cpu| !usable.contains(cpu));
    missing.map_or(Ok(()), |cpu| {
        Err(RunError::cannot(format!(
            "--cpus: CPU {cpu} is offline, or not allowed here; this process may use {}",
            cpus_text(&usable)
        )))
    })
}
