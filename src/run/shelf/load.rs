//! The four tests: what each replays, with how many clients, and what of it counts.

use std::sync::Arc;

use super::super::{RunError, RunRequest};
use crate::loadfile::{self, Options, Program};
use crate::op::OpKind;
use crate::plan::{EngineKind, Load};

/// Size of the prepared file that the loadfiles are written for, in bytes.
pub(super) const FILE_BYTES: u64 = 1 << 30;
/// The sequential tests' block, in bytes: sizes of the file are a multiple of it.
pub(super) const BLOCK: u64 = 1 << 20;
/// Clients of the test with the most of them.
pub(super) const MOST_CLIENTS: u32 = 16;

/// One test.
#[derive(Debug)]
pub(super) struct Test {
    /// Its name in sentences.
    pub(super) name: &'static str,
    /// Its name in the column `cell`, and that of its loadfile.
    pub(super) cell: &'static str,
    /// Its name above a column of a table.
    pub(super) short: &'static str,
    text: &'static str,
    clients: u32,
    engine: EngineKind,
    /// Past the page cache: little but the device counts.
    pub(super) direct: bool,
    /// The operations that are timed; the last of them is what is counted.
    pub(super) timed: &'static [OpKind],
    /// Whether its rate is told in bytes: else in operations.
    pub(super) in_bytes: bool,
}

/// All of them, in their order.
pub(super) const TESTS: [Test; 4] = [
    Test {
        name: "sequential read",
        cell: "sequential-read",
        short: "read",
        text: include_str!("../../../loadfiles/disks/sequential-read.load"),
        // A block of 1 MiB is several requests to the device; a second reader would make it seek.
        clients: 1,
        engine: EngineKind::Sync,
        direct: true,
        timed: &[OpKind::ReadX],
        in_bytes: true,
    },
    Test {
        name: "sequential write",
        cell: "sequential-write",
        short: "write",
        text: include_str!("../../../loadfiles/disks/sequential-write.load"),
        clients: 1,
        engine: EngineKind::Sync,
        direct: true,
        timed: &[OpKind::WriteX],
        in_bytes: true,
    },
    Test {
        name: "random read",
        cell: "random-read",
        short: "4k read",
        text: include_str!("../../../loadfiles/disks/random-read.load"),
        // Deep enough for a disk to sort its seeks, on few threads.
        clients: MOST_CLIENTS,
        engine: EngineKind::Hybrid,
        direct: true,
        timed: &[OpKind::ReadX],
        in_bytes: false,
    },
    Test {
        name: "append and fdatasync",
        cell: "append-sync",
        short: "append",
        text: include_str!("../../../loadfiles/disks/append-sync.load"),
        clients: 1,
        engine: EngineKind::Sync,
        direct: false,
        timed: &[OpKind::WriteX, OpKind::Flush],
        in_bytes: false,
    },
];

impl Test {
    /// What its clients replay, for a file of `bytes` bytes.
    pub(super) fn program(&self, bytes: u64) -> Result<Arc<Program>, RunError> {
        let text = self
            .text
            .replace("LOOP 1023\n", &format!("LOOP {}\n", bytes / BLOCK - 1))
            .replace(&format!("%{FILE_BYTES} "), &format!("%{bytes} "));
        let name = format!("disks/{}.load", self.cell);
        let loaded = loadfile::parse_bytes(&name, text.as_bytes(), &Options::default());
        let loaded = loaded.map_err(|error| RunError::failed(error.to_string()))?;
        Ok(Arc::new(loaded.program))
    }

    /// How its windows run; the lengths and the result are those of the command line.
    pub(super) fn request(&self, base: &RunRequest) -> RunRequest {
        let load = Load { direct: self.direct, datasync: true, ..base.load.clone() };
        RunRequest { clients: self.clients, engine: self.engine, load, ..base.clone() }
    }

    /// Clients of a disk.
    pub(super) const fn clients(&self) -> u32 {
        self.clients
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loadfile::check::check;

    #[test]
    fn the_programs_fit_their_file() {
        for (bytes, blocks) in [(FILE_BYTES, 1024), (16 << 20, 16)] {
            for test in &TESTS[..2] {
                let report = check(&test.program(bytes).unwrap());
                assert_eq!(report.read_bytes + report.write_bytes, bytes, "{}", test.cell);
                // The blocks, one open and one close.
                assert_eq!(report.ops.iter().map(|op| op.count).sum::<u64>(), blocks + 2);
            }
            let random = TESTS[2].program(bytes).unwrap();
            assert_ne!(random.sha256, TESTS[2].program(bytes / 2).unwrap().sha256);
            let append = check(&TESTS[3].program(bytes).unwrap());
            assert_eq!(append.write_bytes, 16 << 20);
        }
        // As they stand in the files, they are for 1 GiB.
        for test in &TESTS {
            let file = loadfile::parse_bytes("x", test.text.as_bytes(), &Options::default());
            assert_eq!(file.unwrap().program.sha256, test.program(FILE_BYTES).unwrap().sha256);
            assert!(test.clients() <= MOST_CLIENTS);
        }
    }
}
