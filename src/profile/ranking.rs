//! Which functions take more, or less, of an operation.

use std::collections::BTreeSet;

use super::script::{Own, Recording};

/// Differences below this many standard deviations of the number of samples are chance.
const SURE: f64 = 3.0;

/// A recording, and what was done in its window.
#[derive(Clone, Copy, Debug)]
pub struct Profiled<'r> {
    /// The samples.
    pub recording: &'r Recording,
    /// Operations of the load.
    pub ops: u64,
}

impl Profiled<'_> {
    /// A weight's part of each operation, in the unit of the event.
    #[must_use]
    pub fn per_op(&self, weight: u64) -> f64 {
        weight as f64 / self.ops.max(1) as f64
    }

    fn part(&self, function: &str) -> Part {
        let own = self.recording.kernel.get(function).copied().unwrap_or_default();
        let all = self.recording.all.weight.max(1) as f64;
        Part { per_op: self.per_op(own.weight), share: own.weight as f64 / all, own }
    }

    /// What chance makes of a function's part of an operation, squared: samples come like rain.
    fn variance(&self, own: Own) -> f64 {
        let Own { weight, samples } = self.recording.all;
        // What is not seen may have missed its sample by little.
        let one = self.per_op(weight) / samples.max(1) as f64;
        own.samples.max(1) as f64 * one * one
    }
}

/// What a function itself took in a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Of an operation, in the unit of the event.
    pub per_op: f64,
    /// Of all samples' weight, 0 to 1.
    pub share: f64,
    /// The samples.
    pub own: Own,
}

/// A kernel function that does not take the same of an operation in all recordings.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its name.
    pub function: String,
    /// What it took, by recording.
    pub parts: Vec<Part>,
    /// The recording in which an operation has least of it.
    pub least: usize,
    /// The one in which it has most.
    pub most: usize,
}

impl Change {
    /// From the least to the most, in the unit of the event.
    #[must_use]
    pub fn difference(&self) -> f64 {
        self.parts[self.most].per_op - self.parts[self.least].per_op
    }
}

/// Kernel functions whose own part of an operation differs most between the recordings, at most
/// `count`, and none whose difference may be chance.
#[must_use]
pub fn most_changed(all: &[Profiled<'_>], count: usize) -> Vec<Change> {
    let names: BTreeSet<&String> = all.iter().flat_map(|one| one.recording.kernel.keys()).collect();
    let mut changes: Vec<Change> =
        names.into_iter().filter_map(|function| change(all, function)).collect();
    changes.sort_by(|a, b| b.difference().total_cmp(&a.difference()));
    changes.truncate(count);
    changes
}

fn change(all: &[Profiled<'_>], function: &str) -> Option<Change> {
    let parts: Vec<Part> = all.iter().map(|one| one.part(function)).collect();
    let order = |a: &usize, b: &usize| parts[*a].per_op.total_cmp(&parts[*b].per_op);
    let (least, most) = ((0..parts.len()).min_by(order)?, (0..parts.len()).max_by(order)?);
    let chance = all[least].variance(parts[least].own) + all[most].variance(parts[most].own);
    let change = Change { function: function.to_owned(), parts, least, most };
    (change.difference() > SURE * chance.sqrt()).then_some(change)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(kernel: &[(&str, u64)], samples: u64) -> Recording {
        let own = |samples| Own { samples, weight: 1000 * samples };
        Recording {
            kernel: kernel.iter().map(|(name, n)| ((*name).to_owned(), own(*n))).collect(),
            all: own(samples),
            ..Recording::default()
        }
    }

    /// By hand, with weights of 1000. Of f each operation has 100 x 1000 / 1000 = 100 in the first
    /// recording and 400 x 1000 / 2000 = 200 in the second: a difference of 100, where chance makes
    /// sqrt(100 x 1^2 + 400 x 0.5^2) = 14.1. Of g 300 against 250; chance makes sqrt(300 + 125) = 20.6,
    /// three times which is 61.8.
    #[test]
    fn the_part_of_an_operation_counts() {
        let a = recording(&[("f", 100), ("g", 300)], 1000);
        let b = recording(&[("f", 400), ("g", 500), ("h", 300)], 2000);
        let all = [Profiled { recording: &a, ops: 1000 }, Profiled { recording: &b, ops: 2000 }];
        let found = most_changed(&all, 10);
        let names: Vec<&str> = found.iter().map(|change| change.function.as_str()).collect();
        assert_eq!(names, ["h", "f"], "150, then 100; 50 may be chance");
        assert_eq!((found[0].least, found[0].most, found[0].difference()), (0, 1, 150.0));
        assert_eq!((found[1].parts[0].per_op, found[1].parts[1].per_op), (100.0, 200.0));
        assert_eq!((found[1].parts[0].share, found[1].parts[1].share), (0.1, 0.2));
        assert_eq!(most_changed(&all, 1).len(), 1);
    }
}
