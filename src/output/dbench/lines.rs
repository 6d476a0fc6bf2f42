//! Lines before, during and after the load.

use super::DbenchFormat;
use super::general::general;

/// What the clients are at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickPhase {
    /// Running, not measured yet.
    WarmUp,
    /// Running and measured.
    Execute,
    /// Time is up.
    Cleanup,
}

/// The state of things once a second.
#[derive(Clone, Copy, Debug)]
pub struct Tick {
    /// The phase.
    pub phase: TickPhase,
    /// Clients that have not ended.
    pub clients: u32,
    /// Operations so far of the average client.
    pub lines: u64,
    /// Megabytes (10^6) per second since the phase began.
    pub mb_per_s: f64,
    /// Seconds since the phase began.
    pub seconds: f64,
    /// Slowest operation of the last second, in milliseconds.
    pub latency_ms: f64,
}

/// What the last line says.
#[derive(Clone, Copy, Debug)]
pub struct Total {
    /// Megabytes (10^6) per second of the measured time.
    pub mb_per_s: f64,
    /// Whether files were opened with `O_SYNC`.
    pub sync_open: bool,
    /// Whether directories were synced.
    pub sync_dirs: bool,
    /// Clients.
    pub clients: u32,
    /// Processes that dbench would have had.
    pub processes: u32,
    /// Slowest operation, in milliseconds.
    pub max_latency_ms: f64,
}

/// The lines that come first. `version` says whose they are.
#[must_use]
pub fn running_for(version: &str, seconds: u64, load: &str, warmup: u64) -> String {
    format!(
        "{version}\n\nRunning for {seconds} seconds with load '{load}' and minimum warmup {warmup} \
         secs\n"
    )
}

/// How many processes wait for the start.
#[must_use]
pub fn prepared(ready: u32, processes: u32, seconds: f64) -> String {
    format!("{ready} of {processes} processes prepared for launch {seconds:3.0} sec\n")
}

/// A pass of a client, by `--show-execute-time`: how long it took, and when it ended.
#[must_use]
pub fn completed(client: u32, took_ms: u64, at_ms: u64) -> String {
    format!("{client:4} completed in {took_ms} ms at time {at_ms} ms\n")
}

impl DbenchFormat {
    /// The line of a second.
    #[must_use]
    pub fn tick(self, tick: &Tick) -> String {
        let Tick { phase, clients, lines, mb_per_s, seconds, latency_ms } = *tick;
        if self.machine {
            let letter = match phase {
                TickPhase::WarmUp => 'W',
                TickPhase::Execute => 'R',
                TickPhase::Cleanup => 'C',
            };
            let seconds = seconds as u64;
            return format!(
                "@{letter}@{clients}@{lines}@{mb_per_s:.2}@{seconds}@{latency_ms:.3}@\n"
            );
        }
        let word = match phase {
            TickPhase::WarmUp => "warmup",
            TickPhase::Execute => "execute",
            TickPhase::Cleanup => return format!("{clients:4}  cleanup {seconds:3.0} sec\n"),
        };
        format!(
            "{clients:4}  {lines:8}  {mb_per_s:7.2} MB/sec  {word} {seconds:3.0} sec  latency \
             {latency_ms:.3} ms\n"
        )
    }

    /// The last line.
    #[must_use]
    pub fn total(self, total: &Total) -> String {
        let Total { mb_per_s, clients, processes, max_latency_ms, .. } = *total;
        let throughput = general(mb_per_s);
        if self.machine {
            return format!(";{throughput};{clients};{processes};{max_latency_ms:.3};\n");
        }
        let open = if total.sync_open { " (sync open)" } else { "" };
        let dirs = if total.sync_dirs { " (sync dirs)" } else { "" };
        format!(
            "Throughput {throughput} MB/sec{open}{dirs}  {clients} clients  {processes} procs  \
             max_latency={max_latency_ms:.3} ms\n"
        )
    }
}
