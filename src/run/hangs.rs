//! Disks on which an operation does not come back, named while the run goes on.

use std::time::Duration;

use super::live::LiveDisk;
use crate::client::Underway;
use crate::units::format_duration;

/// Which disks hang, as far as it was told.
#[derive(Debug)]
pub(super) struct Hangs {
    after_ns: u64,
    hang: Vec<bool>,
}

/// The oldest operation of a disk, whose it is, and how many are as old.
struct Oldest {
    client: u32,
    underway: Underway,
    many: u32,
}

impl Hangs {
    /// Operations that take longer are told; 0 for none.
    pub(super) fn new(after: Duration, disks: usize) -> Self {
        let after_ns = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
        Self { after_ns, hang: vec![false; disks] }
    }

    /// What there is to tell of disks that hang, or do no longer.
    pub(super) fn look(&mut self, disks: &[LiveDisk], now_ns: u64) -> Vec<String> {
        let mut lines = Vec::new();
        if self.after_ns == 0 {
            return lines;
        }
        for (disk, hang) in disks.iter().zip(&mut self.hang) {
            let found = oldest(disk, now_ns.saturating_sub(self.after_ns));
            if let (Some(found), false) = (&found, *hang) {
                lines.push(found.text(disk, now_ns));
            }
            if found.is_none() && *hang && disk.running() > 0 {
                lines.push(format!("{}: answers again", disk.ready.label()));
            }
            *hang = found.is_some();
        }
        lines
    }

    /// Whether a disk, by its place, hangs.
    pub(super) fn hangs(&self, place: usize) -> bool {
        self.hang.get(place).copied().unwrap_or(false)
    }
}

/// The operation that is under way for longest on a disk whose clients did not all come back.
pub(super) fn longest(disk: &LiveDisk, now_ns: u64) -> Option<String> {
    oldest(disk, now_ns).map(|found| found.text(disk, now_ns))
}

fn oldest(disk: &LiveDisk, before_ns: u64) -> Option<Oldest> {
    let mut oldest: Option<Oldest> = None;
    let mut many = 0;
    for (client, doing) in (0_u32..).zip(&disk.state.doing) {
        let program = &disk.ready.programs[client as usize % disk.ready.programs.len()];
        let Some(underway) = doing.since(before_ns, program, client) else { continue };
        many += 1;
        if oldest.as_ref().is_none_or(|found| underway.since_ns < found.underway.since_ns) {
            oldest = Some(Oldest { client, underway, many });
        }
    }
    oldest.map(|found| Oldest { many, ..found })
}

impl Oldest {
    fn text(&self, disk: &LiveDisk, now_ns: u64) -> String {
        let Underway { op, line, path, since_ns } = &self.underway;
        let program = &disk.ready.programs[self.client as usize % disk.ready.programs.len()];
        let age = format_duration(Duration::from_nanos(now_ns.saturating_sub(*since_ns)));
        let of = path.as_ref().map_or_else(String::new, |path| format!(" of {path}"));
        let others = match self.many {
            0 | 1 => String::new(),
            n => format!(", {} more wait as well", n - 1),
        };
        format!(
            "{} hangs: client {} waits {age} for {}{of} (line {line} of {}){others}",
            disk.ready.label(),
            self.client,
            op.word(),
            program.name
        )
    }
}
