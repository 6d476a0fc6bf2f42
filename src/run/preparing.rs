//! The wait for PREPARE: the gate stays shut for as long as it goes on somewhere.

use std::time::Duration;

use super::live::LiveDisk;
use super::patience::Patience;

/// How far each disk is.
#[derive(Debug)]
pub(super) struct Preparing(Vec<(u64, Patience)>);

impl Preparing {
    /// Starts watching; `None` when no loadfile has a PREPARE. A disk stands still when for
    /// `grace` neither one of its clients nor its device did anything.
    pub(super) fn new(disks: &[LiveDisk], grace: Duration) -> Option<Self> {
        let prepares = |disk: &LiveDisk| disk.ready.programs.iter().any(|p| p.start.0 > 0);
        let watch = |disk: &LiveDisk| (0, Patience::new(disk.ready.device.clone(), grace));
        disks.iter().any(prepares).then(|| Self(disks.iter().map(watch).collect()))
    }

    /// A line for each disk that keeps the others waiting, once only such are left. To be asked
    /// now and then.
    pub(super) fn standing(&mut self, disks: &[LiveDisk]) -> Option<Vec<String>> {
        let mut lines = Vec::new();
        for (disk, (steps, patience)) in disks.iter().zip(&mut self.0) {
            let now = disk.state.control.preparation();
            if now != *steps {
                *steps = now;
                patience.go_on();
            }
            if disk.all_at_gate() {
                continue;
            }
            if !patience.is_over() {
                return None;
            }
            lines.push(format!(
                "{}: no client goes on with its PREPARE: the run starts without them",
                disk.ready.label()
            ));
        }
        (!lines.is_empty()).then_some(lines)
    }
}
