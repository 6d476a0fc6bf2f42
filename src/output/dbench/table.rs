//! The table of operations.

use super::DbenchFormat;
use super::names::names;
use crate::op::OpKind;

/// What is known of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DbenchOp {
    /// How often it was tried.
    pub count: u64,
    /// Sum of the latencies in nanoseconds.
    pub sum_ns: u64,
    /// Longest latency in nanoseconds.
    pub max_ns: u64,
}

impl DbenchOp {
    /// Adds another client's.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Milliseconds; 0 where there was none, which dbench calls `-nan`.
    fn mean_ms(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum_ns as f64 / self.count as f64 / 1e6 }
    }
}

/// The line above a client's own table.
#[must_use]
pub fn client_head(client: u32, lines: u64, bytes: u64) -> String {
    format!("Client {client} did {lines} lines and {bytes} bytes\n")
}

impl DbenchFormat {
    /// A line for each operation of `ops`, by [`OpKind::index`], that occurs in `all`; an empty line
    /// behind.
    #[must_use]
    pub fn table(self, ops: &[DbenchOp], all: &[DbenchOp]) -> String {
        let mut text = String::from(match self.long_names {
            false => {
                " Operation      Count    AvgLat    MaxLat\n ----------------------------------------\n"
            }
            true => {
                " Operation                Count    AvgLat    MaxLat\n \
                 --------------------------------------------------\n"
            }
        });
        for (kind, name) in names(self.long_names) {
            if all.get(kind.index()).is_some_and(|op| op.count > 0) {
                text.push_str(&self.line(kind, name, ops));
            }
        }
        text.push('\n');
        text
    }

    fn line(self, kind: OpKind, name: &str, ops: &[DbenchOp]) -> String {
        let op = ops.get(kind.index()).copied().unwrap_or_default();
        let (count, mean, max) = (op.count, op.mean_ms(), op.max_ns as f64 / 1e6);
        if self.machine {
            return format!(":{name}:{count}:{mean:.3}:{max:.3}:\n");
        }
        let width = if self.long_names { 22 } else { 12 };
        format!(" {name:width$} {count:7} {mean:9.3} {max:9.3}\n")
    }
}
