//! The report for people.

use std::fmt;

use super::Report;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}  sha256 {}", self.loadfile, self.program_sha256)?;
        writeln!(f, "one pass of one client:")?;
        operations(self, f)?;
        field(f, "written", bytes(self.write_bytes))?;
        field(f, "read", bytes(self.read_bytes))?;
        sizes(self, f)?;
        field(f, "longest read or write", bytes(self.longest_transfer_bytes))?;
        field(f, "open handles, at most", self.open_handles_max)?;
        field(f, "open handles, at the end", self.open_handles_end)?;
        field(f, "different paths", self.distinct_paths)?;
        field(f, "deepest path", format!("{} components", self.deepest_path))?;
        field(f, "expected failures", self.expected_failures)?;
        if self.files_not_made > 0 {
            field(f, "files opened but not made", self.files_not_made)?;
        }
        if self.implied_seconds > 0.0 {
            let text = format!(
                "{:.3} s at least, {:.3} s of it pauses",
                self.implied_seconds, self.pause_seconds
            );
            field(f, "time by timestamps", text)?;
        }
        parts(self, f)?;
        if !self.features.is_empty() {
            field(f, "uses", self.features.join(", "))?;
        }
        table(self, f)
    }
}

fn operations(report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if report.counts_are_means {
        let text = format!(
            "{} in the mean of many passes, as all counts and bytes here; {} to {} in one",
            report.total_ops, report.least_ops, report.most_ops
        );
        field(f, "operations", text)?;
    } else {
        field(f, "operations", report.total_ops)?;
    }
    Ok(())
}

/// What is told only where there is such a thing.
fn parts(report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let used = report.dispositions.iter().enumerate().filter(|(_, count)| **count > 0);
    let used: Vec<String> = used.map(|(i, count)| format!("{i}: {count}")).collect();
    if !used.is_empty() {
        field(f, "NTCreateX dispositions", used.join(", "))?;
    }
    if report.prepare_ops > 0 {
        let text = format!(
            "{} operations, {} written, {} read",
            report.prepare_ops,
            bytes(report.prepare_write_bytes),
            bytes(report.prepare_read_bytes)
        );
        field(f, "before its first pass", text)?;
    }
    for parameter in &report.parameters {
        let name = format!("--set {}", parameter.name);
        let default = match parameter.given {
            false => "the default".to_owned(),
            true => format!("default {}", parameter.default),
        };
        field(f, &name, format!("{} ({default})", parameter.value))?;
    }
    for phase in &report.phases {
        let name = match phase.phase.as_str() {
            "" => "above the first PHASE".to_owned(),
            name => format!("in phase {name}"),
        };
        let text = format!(
            "{} operations, {} written, {} read",
            phase.ops,
            bytes(phase.write_bytes),
            bytes(phase.read_bytes)
        );
        field(f, &name, text)?;
    }
    Ok(())
}

fn table(report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(f, "\n  {:<24}{:>12}{:>8}{:>18}", "operation", "count", "share", "expected to fail")?;
    for op in &report.ops {
        let share = 100.0 * op.mean.unwrap_or(op.count as f64) / report.total_ops.max(1) as f64;
        let count = op.mean.map_or_else(|| op.count.to_string(), |mean| format!("{mean:.2}"));
        writeln!(f, "  {:<24}{count:>12}{share:>7.1}%{:>18}", op.op, op.expected_failures)?;
    }
    Ok(())
}

fn sizes(report: &Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let about = if report.estimated { " (estimate)" } else { "" };
    field(f, "live data, at most", bytes(report.live_bytes_max) + about)?;
    if report.shared_bytes_max > 0 {
        let once = bytes(report.shared_bytes_max) + about + ", once for all clients of a disk";
        field(f, "in shared files", once)?;
    }
    field(f, "live data, at the end", bytes(report.live_bytes_end) + about)?;
    field(f, "largest file", bytes(report.largest_file_bytes) + about)
}

fn field(f: &mut fmt::Formatter<'_>, name: &str, value: impl fmt::Display) -> fmt::Result {
    writeln!(f, "  {name:<26}{value}")
}

/// Bytes, and the same in the largest fitting unit of 1000.
fn bytes(count: u64) -> String {
    let mut value = count as f64;
    let mut unit = "";
    for next in ["kB", "MB", "GB", "TB", "PB", "EB"] {
        if value < 1000.0 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    if unit.is_empty() { format!("{count} B") } else { format!("{count} B ({value:.2} {unit})") }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_in_units_of_1000() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(65_536), "65536 B (65.54 kB)");
        assert_eq!(bytes(1_016_000_000), "1016000000 B (1.02 GB)");
    }
}
