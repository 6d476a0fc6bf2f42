//! Which disks stand out, whether they do so again, and what that says of them. Pure.

use std::collections::BTreeSet;

use super::facts::ShelfDisk;
use super::figures::{Column, Figures, Way, standings_in};
use super::load::TESTS;
use crate::stats::{Blame, Standing, again_alone, again_together, median, shared_places};

/// Times that a disk which stands out alone is measured again, each time after a peer.
pub(super) const AGAIN_ALONE: usize = 3;
/// Times that all disks run together again where one of them stood out.
pub(super) const AGAIN_TOGETHER: usize = 2;
/// Healthy disks that one is measured in turn with.
const WITNESSES: usize = 2;

/// A disk that stood out in a test.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Suspect {
    pub(super) disk: usize,
    pub(super) test: usize,
    pub(super) way: Way,
    pub(super) standing: Standing,
    /// Operations per second: its own, and the median of its peers.
    pub(super) rates: (f64, f64),
    /// How many peers it was measured by.
    pub(super) peers: usize,
    /// Disks to measure it in turn with.
    pub(super) witnesses: Vec<usize>,
    pub(super) again: Again,
}

/// What came when it was measured again: empty where it could not be.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Again {
    /// Its own rates, alone.
    pub(super) mine: Vec<f64>,
    /// Those of its peers between.
    pub(super) peers: Vec<f64>,
    /// Where it stood when all ran again.
    pub(super) standings: Vec<Standing>,
}

impl Suspect {
    /// Whether it could be measured again often enough.
    pub(super) fn was_checked(&self) -> bool {
        let Again { mine, peers, standings } = &self.again;
        match self.way {
            Way::Alone => mine.len() == AGAIN_ALONE && peers.len() == AGAIN_ALONE,
            Way::Together => standings.len() == AGAIN_TOGETHER,
        }
    }

    /// Whether it stood out again.
    pub(super) fn is_confirmed(&self) -> bool {
        let Again { mine, peers, standings } = &self.again;
        self.was_checked()
            && match self.way {
                Way::Alone => again_alone(self.standing, mine, peers),
                Way::Together => again_together(self.standing, standings),
            }
    }
}

/// The disks that stand out among their peers, test by test.
pub(super) fn suspects(figures: &Figures, groups: &[Vec<usize>], way: Way) -> Vec<Suspect> {
    (0..TESTS.len())
        .flat_map(|test| groups.iter().map(move |group| (test, group)))
        .flat_map(|(test, group)| in_group(figures.column(test, way), group, test, way))
        .collect()
}

fn in_group(column: &Column, group: &[usize], test: usize, way: Way) -> Vec<Suspect> {
    let all = standings_in(group, column);
    let rate = |disk: usize| column[disk].map_or(0.0, |figure| figure.ops_per_s);
    let mut witnesses: Vec<_> = all.iter().filter(|(_, one)| !one.is_slow()).collect();
    let off = |one: &Standing| one.ratio.ln().abs();
    witnesses.sort_by(|a, b| off(&a.1).total_cmp(&off(&b.1)));
    let witnesses: Vec<usize> = witnesses.iter().take(WITNESSES).map(|(disk, _)| *disk).collect();
    let slow = all.iter().filter(|(_, standing)| standing.is_slow());
    slow.map(|(disk, standing)| {
        let others: Vec<f64> =
            all.iter().filter(|(other, _)| other != disk).map(|(other, _)| rate(*other)).collect();
        Suspect {
            disk: *disk,
            test,
            way,
            standing: *standing,
            rates: (rate(*disk), median(&others).unwrap_or(0.0)),
            peers: others.len(),
            witnesses: witnesses.clone(),
            again: Again::default(),
        }
    })
    .collect()
}

/// What the confirmed suspects say.
#[derive(Debug, PartialEq)]
pub(super) struct Verdict {
    /// Slow when nothing else runs: the disks themselves.
    pub(super) disks: Vec<usize>,
    /// Slow only when all run, with what they share and the others do not.
    pub(super) paths: Vec<Blame>,
    /// Slow only when all run, sharing nothing that would explain it.
    pub(super) astray: Vec<usize>,
}

impl Verdict {
    pub(super) fn of(suspects: &[Suspect], disks: &[ShelfDisk]) -> Self {
        let confirmed = |way| -> BTreeSet<usize> {
            let of_way = suspects.iter().filter(|suspect| suspect.way == way);
            of_way.filter(|suspect| suspect.is_confirmed()).map(|suspect| suspect.disk).collect()
        };
        let alone = confirmed(Way::Alone);
        let together: Vec<usize> = confirmed(Way::Together).difference(&alone).copied().collect();
        let places: Vec<Vec<String>> = disks.iter().map(|disk| disk.places.clone()).collect();
        let paths = shared_places(&places, &together);
        let explained = |disk: &usize| paths.iter().any(|blame| blame.slow.contains(disk));
        Self {
            disks: alone.into_iter().collect(),
            astray: together.iter().copied().filter(|disk| !explained(disk)).collect(),
            paths,
        }
    }

    /// Whether no disk is named.
    pub(super) fn is_empty(&self) -> bool {
        self.disks.is_empty() && self.paths.is_empty() && self.astray.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::facts::{peers, plain_disk};
    use super::super::figures::Figure;
    use super::*;

    /// Eight disks; two share a backing device.
    fn shelf() -> Vec<ShelfDisk> {
        let places = |n| if n < 2 { ["own", "device b", "c"] } else { ["own", "device a", "c"] };
        (0..8).map(|n| plain_disk(&format!("/d{n}"), "m", &places(n)[1..])).collect()
    }

    fn set(figures: &mut Figures, test: usize, way: Way, rates: [f64; 8]) {
        for (disk, ops_per_s) in rates.into_iter().enumerate() {
            figures.set(test, way, disk, Some(Figure { ops_per_s, p99_ns: None }));
        }
    }

    #[test]
    fn a_slow_disk_and_a_slow_path() {
        let disks = shelf();
        let mut figures = Figures::new(8);
        let alone = [100.0, 101.0, 99.0, 100.0, 60.0, 102.0, 98.0, 100.0];
        set(&mut figures, 0, Way::Alone, alone);
        set(&mut figures, 0, Way::Together, [50.0, 51.0, 99.0, 100.0, 60.0, 102.0, 98.0, 100.0]);
        let mut found = suspects(&figures, &peers(&disks), Way::Alone);
        assert_eq!(found.iter().map(|s| (s.disk, s.test)).collect::<Vec<_>>(), [(4, 0)]);
        assert_eq!((found[0].rates, found[0].peers), ((60.0, 100.0), 7));
        assert_eq!(found[0].witnesses, [0, 3], "nearest to the median");
        assert!(!found[0].is_confirmed() && !found[0].was_checked());
        found[0].again.mine = vec![61.0, 60.0, 59.0];
        found[0].again.peers = vec![100.0, 101.0, 99.0];
        assert!(found[0].is_confirmed());
        let mut together = suspects(&figures, &peers(&disks), Way::Together);
        assert_eq!(together.iter().map(|s| s.disk).collect::<Vec<_>>(), [0, 1, 4]);
        for suspect in &mut together {
            suspect.again.standings = vec![suspect.standing; 2];
        }
        found.extend(together);
        let verdict = Verdict::of(&found, &disks);
        assert_eq!(verdict.disks, [4]);
        assert_eq!(verdict.paths.len(), 1);
        assert_eq!(
            (verdict.paths[0].place.as_str(), &*verdict.paths[0].slow),
            ("device b", &[0, 1][..])
        );
        assert!(verdict.astray.is_empty() && !verdict.is_empty());
    }

    #[test]
    fn what_is_not_confirmed_is_not_named() {
        let disks = shelf();
        let mut figures = Figures::new(8);
        set(&mut figures, 2, Way::Together, [50.0, 99.0, 99.5, 100.0, 100.5, 101.0, 98.0, 100.0]);
        let mut found = suspects(&figures, &peers(&disks), Way::Together);
        assert!(Verdict::of(&found, &disks).is_empty());
        found[0].again.standings = vec![found[0].standing, Standing { ratio: 1.0, z: 0.0 }];
        assert!(found[0].was_checked() && Verdict::of(&found, &disks).is_empty());
        found[0].again.standings = vec![found[0].standing; 2];
        assert_eq!(Verdict::of(&found, &disks).astray, [0], "it shares nothing with a slow one");
    }
}
