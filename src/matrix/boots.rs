//! The kernel as a factor: nothing that a process could set, but what runs when it is started.
//!
//! Each boot of a kernel is measured by a command of its own, which goes on with the same file. A
//! block holds the cells of the kernel that runs; blocks are counted on over the boots.

use crate::run::RunError;

/// The kernels of a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernels {
    /// Releases as `uname -r` says them, or their beginnings: `6.12`.
    pub levels: Vec<String>,
    /// Boots of each that are wanted.
    pub boots: u64,
}

/// A boot of which a file has whole blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Boot {
    pub(super) id: String,
    /// Its kernel's release.
    pub(super) kernel: String,
    /// Whole blocks.
    pub(super) blocks: u64,
}

impl Kernels {
    /// The level that a release is of: the longest that is all of it, or ends where a word of it
    /// does. `6.1` is not the beginning of `6.12`.
    pub(super) fn level_of(&self, release: &str) -> Option<&str> {
        let is = |level: &&String| {
            release
                .strip_prefix(level.as_str())
                .is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
        };
        self.levels.iter().filter(is).max_by_key(|level| level.len()).map(String::as_str)
    }

    /// The level of the kernel that runs.
    pub(super) fn here(&self, release: &str) -> Result<&str, RunError> {
        self.level_of(release).ok_or_else(|| {
            RunError::cannot(format!(
                "--vary kernel={}: this is {release}, none of them; boot one of them, or name this \
                 one as `uname -r` does",
                self.levels.join(",")
            ))
        })
    }

    /// Boots of each level.
    fn counts(&self, boots: &[Boot]) -> Vec<(&str, u64)> {
        let mut counts: Vec<(&str, u64)> =
            self.levels.iter().map(|level| (level.as_str(), 0)).collect();
        for level in boots.iter().filter_map(|boot| self.level_of(&boot.kernel)) {
            counts.iter_mut().filter(|(name, _)| *name == level).for_each(|(_, n)| *n += 1);
        }
        counts
    }

    /// Refuses one more boot of a kernel that has all of its own: who goes on until the answer is
    /// welcome finds what is not there.
    pub(super) fn refuse_more(&self, level: &str, earlier: &[Boot]) -> Result<(), RunError> {
        let counts = self.counts(earlier);
        match counts.iter().find(|(name, count)| *name == level && *count >= self.boots) {
            None => Ok(()),
            Some((_, count)) => Err(RunError::usage(format!(
                "{level} has its {count} boots; {}",
                self.missing(earlier)
            ))),
        }
    }

    /// What is still to be booted.
    pub(super) fn missing(&self, boots: &[Boot]) -> String {
        let counts = self.counts(boots).into_iter();
        let missing: Vec<String> = counts
            .filter(|(_, count)| *count < self.boots)
            .map(|(level, count)| format!("{} of {level}", self.boots - count))
            .collect();
        match missing.is_empty() {
            true => "all boots are there: see `jbodbench compare FILE --by kernel`".into(),
            false => format!(
                "boots that are still to come: {}; after each, the same command with --resume FILE",
                missing.join(", ")
            ),
        }
    }

    /// In a line, for the plan's identity.
    pub(super) fn text(&self) -> String {
        format!("{} x {} boots", self.levels.join(" "), self.boots)
    }
}

/// Boots in the order in which their blocks come, from the boot and the kernel of each whole block.
pub(super) fn boots(blocks: &[(String, String)]) -> Vec<Boot> {
    let mut all: Vec<Boot> = Vec::new();
    for (id, kernel) in blocks {
        match all.iter_mut().find(|boot| boot.id == *id) {
            Some(boot) => boot.blocks += 1,
            None => all.push(Boot { id: id.clone(), kernel: kernel.clone(), blocks: 1 }),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::plan::levels;
    use super::*;

    fn boot(id: &str, kernel: &str) -> (String, String) {
        (id.to_owned(), kernel.to_owned())
    }

    #[test]
    fn a_release_is_of_the_level_it_begins_with() {
        let kernels = Kernels { levels: levels("6.1, 6.12,6.12.4", ',').unwrap(), boots: 3 };
        assert_eq!(kernels.level_of("6.1.0-13-amd64"), Some("6.1"));
        assert_eq!(kernels.level_of("6.12.48+deb13"), Some("6.12"));
        assert_eq!(kernels.level_of("6.12.4-rc1"), Some("6.12.4"));
        assert_eq!(kernels.level_of("6.13.0"), None);
        assert!(kernels.here("6.13.0").unwrap_err().message.contains("this is 6.13.0"));
        assert_eq!(levels("6.1,", ','), Err("a value is empty".into()));
        assert_eq!(levels("a,b,a", ','), Err("a is there twice".into()));
    }

    #[test]
    fn boots_are_counted() {
        let kernels = Kernels { levels: levels("6.12,6.18", ',').unwrap(), boots: 2 };
        let blocks = [boot("x", "6.12.1"), boot("x", "6.12.1"), boot("y", "6.18.0")];
        let found = boots(&blocks);
        assert_eq!(found.iter().map(|boot| boot.blocks).collect::<Vec<_>>(), [2, 1]);
        assert!(
            kernels
                .missing(&found)
                .starts_with("boots that are still to come: 1 of 6.12, 1 of 6.18")
        );
        assert!(kernels.refuse_more("6.12", &found).is_ok());
        let more = boots(&[blocks.as_slice(), &[boot("z", "6.12.1")]].concat());
        let error = kernels.refuse_more("6.12", &more).unwrap_err();
        assert_eq!(error.code, 2);
        assert!(
            error
                .message
                .starts_with("6.12 has its 2 boots; boots that are still to come: 1 of 6.18")
        );
    }
}
