//! Reading `perf script -F time,period,event,ip,sym,dso --ns`.
//!
//! A sample is a head (`time: weight event:`), a frame a line from the innermost function out, and an
//! empty line.

use std::collections::BTreeMap;

/// Addresses from here up are the kernel's, on all machines where it shares them with processes.
const KERNEL: u64 = 1 << 63;

/// What was sampled while a function itself had the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// Sum of the samples' weights, in the unit of the event.
    pub weight: u64,
    /// Number of samples.
    pub samples: u64,
}

/// Samples of one process over one window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// Weights by stack: the outermost function first, `;` between, `_[k]` after those of the
    /// kernel.
    pub stacks: BTreeMap<String, u64>,
    /// Samples by kernel function, those in which it was the innermost.
    pub kernel: BTreeMap<String, Own>,
    /// All samples.
    pub all: Own,
    /// Samples outside of the window, which are in none of the sums.
    pub outside: u64,
    /// The event that made samples, as perf calls it.
    pub event: String,
}

impl Recording {
    /// What weights are of: nanoseconds of the clock events, cycles of the counters.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        if self.event.contains("clock") { "ns" } else { "cycles" }
    }
}

/// Takes the lines of a recording one by one.
#[derive(Debug)]
pub struct ScriptReader {
    window: (u64, u64),
    /// Weight of the sample at hand; none outside of samples, and in those that do not count.
    weight: Option<u64>,
    /// Its frames, the innermost first.
    frames: Vec<String>,
    recording: Recording,
}

impl ScriptReader {
    /// Only samples from `from_ns` until before `to_ns`, nanoseconds of the recording's clock, count.
    #[must_use]
    pub fn new(from_ns: u64, to_ns: u64) -> Self {
        Self {
            window: (from_ns, to_ns),
            weight: None,
            frames: Vec::new(),
            recording: Recording::default(),
        }
    }

    /// Takes a line, without its end.
    pub fn line(&mut self, line: &str) {
        if line.trim().is_empty() {
            self.end_sample();
        } else if let Some(frame) = line.strip_prefix('\t') {
            if self.weight.is_some() {
                self.frames.extend(frame_name(frame));
            }
        } else {
            self.end_sample();
            self.begin_sample(line);
        }
    }

    /// What the lines held.
    #[must_use]
    pub fn finish(mut self) -> Recording {
        self.end_sample();
        self.recording
    }

    fn begin_sample(&mut self, head: &str) {
        let mut words = head.split_whitespace();
        let time = words.next().and_then(nanoseconds);
        let weight = words.next().and_then(|word| word.parse().ok());
        let (Some(time), Some(weight), Some(event)) = (time, weight, words.next()) else { return };
        if (self.window.0..self.window.1).contains(&time) {
            self.weight = Some(weight);
            if self.recording.event.is_empty() {
                event.trim_end_matches(':').clone_into(&mut self.recording.event);
            }
        } else {
            self.recording.outside += 1;
        }
    }

    fn end_sample(&mut self) {
        let frames = std::mem::take(&mut self.frames);
        let Some(weight) = self.weight.take() else { return };
        let add = |own: &mut Own| {
            own.weight += weight;
            own.samples += 1;
        };
        add(&mut self.recording.all);
        if let Some(name) = frames.first().and_then(|frame| frame.strip_suffix("_[k]")) {
            add(self.recording.kernel.entry(name.to_owned()).or_default());
        }
        let stack: Vec<&str> = frames.iter().rev().map(String::as_str).collect();
        let stack = if stack.is_empty() { "[unknown]".to_owned() } else { stack.join(";") };
        *self.recording.stacks.entry(stack).or_default() += weight;
    }
}

/// `27679.049137573:`, or with microseconds only.
fn nanoseconds(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.strip_suffix(':')?.split_once('.')?;
    let scale = 10_u64.checked_pow(9_u32.checked_sub(u32::try_from(fraction.len()).ok()?)?)?;
    seconds
        .parse::<u64>()
        .ok()?
        .checked_mul(1_000_000_000)?
        .checked_add(fraction.parse::<u64>().ok()? * scale)
}

/// The name of a frame `address symbol (object)`. Copies of a function that the compiler made
/// (`name.isra.0`) are the function, so that other builds of a kernel have the same names.
fn frame_name(frame: &str) -> Option<String> {
    let (address, rest) = frame.trim_start().split_once(' ')?;
    let in_kernel = u64::from_str_radix(address, 16).ok()? >= KERNEL;
    let symbol = rest.rsplit_once(" (").map_or(rest, |(symbol, _)| symbol).trim();
    if in_kernel {
        let plain = symbol.split_once('.').map_or(symbol, |(plain, _)| plain);
        let plain = if plain.is_empty() { symbol } else { plain };
        return Some(format!("{plain}_[k]"));
    }
    // What separates frames may stand in names of other languages.
    Some(symbol.replace(';', ":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five samples that perf 6.1 took on Linux 6.18: `perf record -e cpu-clock -F 997 -g -k
    /// CLOCK_MONOTONIC -p PID`, a pathwalk over directories with ACLs.
    const REAL: &str = include_str!("perf-script.txt");

    fn read(text: &str, from: u64, to: u64) -> Recording {
        let mut reader = ScriptReader::new(from, to);
        text.lines().for_each(|line| reader.line(line));
        reader.finish()
    }

    /// Counted by hand: `grep -c cpu-clock`, and the first frame of each sample.
    #[test]
    fn real_output() {
        let found = read(REAL, 0, u64::MAX);
        assert_eq!(found.event, "cpu-clock");
        assert_eq!(found.unit(), "ns");
        assert_eq!(found.all, Own { samples: 5, weight: 5 * 1_003_009 });
        let own = |name: &str| found.kernel.get(name).map(|own| own.samples);
        assert_eq!(own("posix_acl_permission"), Some(2));
        assert_eq!(own("getname_flags"), Some(1), "getname_flags.part.0");
        assert_eq!(own("user_path_at"), Some(1));
        assert_eq!(found.kernel.len(), 3, "one sample is of a process");
        let acl = "start_thread;syscall;entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k];\
                   __x64_sys_faccessat_[k];do_faccessat_[k];user_path_at_[k];filename_lookup_[k];\
                   path_lookupat_[k];link_path_walk_[k];inode_permission_[k];\
                   generic_permission_[k];posix_acl_permission_[k]";
        assert_eq!(found.stacks.get(acl), Some(&(2 * 1_003_009)), "{:?}", found.stacks);
        let user = "start_thread;<&core::ffi::c_str::CStr as \
                    rustix::path::arg::Arg>::into_with_c_str";
        assert_eq!(found.stacks.get(user), Some(&1_003_009));
    }

    /// From the second sample until before the fourth.
    #[test]
    fn the_window_counts() {
        let times: Vec<u64> = REAL
            .lines()
            .filter(|line| line.contains("cpu-clock"))
            .map(|line| line.split(':').next().unwrap().trim().replace('.', ""))
            // perf printed microseconds here.
            .map(|digits| digits.parse::<u64>().unwrap() * 1000)
            .collect();
        let found = read(REAL, times[1], times[3]);
        assert_eq!((found.all.samples, found.outside), (2, 3));
        let none = Recording { outside: 5, ..Recording::default() };
        assert_eq!(read(REAL, times[4] + 1, u64::MAX), none);
    }

    #[test]
    fn other_heads_and_nonsense() {
        assert_eq!(nanoseconds("12.000345:"), Some(12_000_345_000));
        assert_eq!(nanoseconds("12.0000000345:"), None);
        assert_eq!(nanoseconds("perf:"), None);
        let text = "   12.5:  77 cpu_core/cycles/: \n\tffff800000000000 [unknown] ([k])\n\n\
                    nothing of the sort\n\t10 main (/bin/true)\n\n13.5: 3 cycles:\n";
        let found = read(text, 0, u64::MAX);
        assert_eq!(found.all, Own { samples: 2, weight: 80 });
        assert_eq!((found.event.as_str(), found.unit()), ("cpu_core/cycles/", "cycles"));
        let expected = [("[unknown]", 3), ("[unknown]_[k]", 77)];
        assert!(found.stacks.iter().map(|(stack, n)| (stack.as_str(), *n)).eq(expected));
    }
}
