//! How many threads serve a disk, and how their calls reach the kernel.

/// The engine that a run asks for, or got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// A thread for each client, plain system calls.
    Sync,
    /// Few threads; every call that io_uring can make goes through it.
    Uring,
    /// Few threads; each call goes the cheapest way that holds up no other client.
    Hybrid,
}

impl EngineKind {
    /// The word of the command line and of results.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sync => "sync",
            Self::Uring => "uring",
            Self::Hybrid => "hybrid",
        }
    }
}

/// Threads of a disk when nothing is said: enough to keep all CPUs busy, two at least, and so
/// many that the open files of a thread's clients fit into its descriptor table.
#[must_use]
pub fn threads_per_disk(clients: u32, cpus: u32, disks: u32, clients_per_table: u64) -> u32 {
    let busy = cpus.div_ceil(disks.max(1)).max(2);
    let fit = u64::from(clients).div_ceil(clients_per_table.max(1));
    busy.max(u32::try_from(fit).unwrap_or(u32::MAX)).min(clients)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_keep_the_cpus_busy_and_their_files_fit() {
        assert_eq!(threads_per_disk(4, 2, 1, 100), 2);
        assert_eq!(threads_per_disk(1, 64, 1, 100), 1);
        assert_eq!(threads_per_disk(85, 64, 12, 100), 6); // 64 / 12 = 5.3
        assert_eq!(threads_per_disk(85, 2, 12, 10), 9); // 85 / 10 = 8.5
        assert_eq!(threads_per_disk(85, 2, 12, 0), 85);
    }
}
