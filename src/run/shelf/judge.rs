//! Which disks stand out, whether they do so again, and what that says of them. Pure.

use std::collections::BTreeSet;

use super::facts::ShelfDisk;
use super::figures::{Column, Figures, Way, standings_in, usual_writes};
use super::load::TESTS;
use crate::stats::{Blame, Standing, again_alone, again_together, keeps_up, median, shared_places};

/// Times that a disk which stands out alone is measured again, each time after a peer.
pub(super) const AGAIN_ALONE: usize = 5;
/// The same where it stood out in that test when all ran, too: two signs are better than one.
const AGAIN_BACKED: usize = 3;
/// Times that all disks run together again, at most, where one of them stood out...
pub(super) const AGAIN_TOGETHER: usize = 3;
/// ...and times that it must stand out again then.
const NEEDED_TOGETHER: usize = 2;
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
    /// Write requests an operation that are usual among its peers.
    pub(super) usual_writes: Option<f64>,
    /// How often it is measured again, at most.
    pub(super) rounds: usize,
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

/// What the second look says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Second {
    /// Nothing yet.
    Open,
    /// It was chance.
    Cleared,
    /// It stands out again.
    Confirmed,
}

impl Suspect {
    /// What is known by now.
    pub(super) fn second(&self) -> Second {
        match self.way {
            Way::Alone => self.second_alone(),
            Way::Together => self.second_together(),
        }
    }

    fn second_alone(&self) -> Second {
        let Again { mine, peers, .. } = &self.again;
        // As fast as others once, and it is well: nothing makes a slow disk fast.
        let best = peers.iter().copied().fold(self.rates.1, f64::max);
        if mine.iter().any(|rate| keeps_up(*rate, best)) {
            Second::Cleared
        } else if mine.len() < self.rounds || peers.len() < self.rounds {
            Second::Open
        } else if again_alone(self.standing, mine, peers) {
            Second::Confirmed
        } else {
            Second::Cleared
        }
    }

    fn second_together(&self) -> Second {
        let again = &self.again.standings;
        let slow = again.iter().filter(|one| again_together(self.standing, **one)).count();
        if slow >= NEEDED_TOGETHER {
            Second::Confirmed
        } else if again.len() - slow > AGAIN_TOGETHER - NEEDED_TOGETHER {
            Second::Cleared
        } else {
            Second::Open
        }
    }

    /// Whether it stood out again.
    pub(super) fn is_confirmed(&self) -> bool {
        self.second() == Second::Confirmed
    }
}

/// The disks to look at again. A disk that stood out when all ran, and is somewhat slow alone, is
/// looked at alone, too, even if it did not stand out there: else it would be taken for one that is
/// well alone.
pub(super) fn suspects(figures: &Figures, groups: &[Vec<usize>]) -> (Vec<Suspect>, Vec<Suspect>) {
    let mut together = Vec::new();
    let mut alone = Vec::new();
    for test in 0..TESTS.len() {
        for group in groups {
            let column = figures.column(test, Way::Together);
            let slow = in_group(column, group, |_, standing| standing.is_slow());
            let of_test = slow.into_iter().map(|one| Suspect { test, ..one });
            let first = together.len();
            together.extend(of_test);
            let backed: Vec<usize> = together[first..].iter().map(|one| one.disk).collect();
            let column = figures.column(test, Way::Alone);
            let slow = in_group(column, group, |disk, standing| {
                standing.is_slow() || (backed.contains(&disk) && !keeps_up(standing.ratio, 1.0))
            });
            alone.extend(slow.into_iter().map(|one| Suspect {
                test,
                way: Way::Alone,
                rounds: if backed.contains(&one.disk) { AGAIN_BACKED } else { AGAIN_ALONE },
                ..one
            }));
        }
    }
    (alone, together)
}

/// Disks of a group by their standing, as suspects of the first test when all ran.
fn in_group(
    column: &Column,
    group: &[usize],
    wanted: impl Fn(usize, &Standing) -> bool,
) -> Vec<Suspect> {
    let all = standings_in(group, column);
    let rate = |disk: usize| column[disk].map_or(0.0, |figure| figure.ops_per_s);
    let mut witnesses: Vec<_> = all.iter().filter(|(disk, one)| !wanted(*disk, one)).collect();
    let off = |one: &Standing| one.ratio.ln().abs();
    witnesses.sort_by(|a, b| off(&a.1).total_cmp(&off(&b.1)));
    let witnesses: Vec<usize> = witnesses.iter().take(WITNESSES).map(|(disk, _)| *disk).collect();
    let found = all.iter().filter(|(disk, standing)| wanted(*disk, standing));
    found
        .map(|(disk, standing)| {
            let others = all.iter().filter(|(other, _)| other != disk);
            let others: Vec<f64> = others.map(|(other, _)| rate(*other)).collect();
            Suspect {
                disk: *disk,
                test: 0,
                way: Way::Together,
                standing: *standing,
                rates: (rate(*disk), median(&others).unwrap_or(0.0)),
                peers: others.len(),
                witnesses: witnesses.clone(),
                usual_writes: usual_writes(group, column),
                rounds: AGAIN_TOGETHER,
                again: Again::default(),
            }
        })
        .collect()
}

/// What the confirmed suspects say. A disk may be named twice: for what it does alone in one test,
/// and for what it does in another one only when all run.
#[derive(Debug, PartialEq)]
pub(super) struct Verdict {
    /// Slow when nothing else runs: the disks themselves.
    pub(super) disks: Vec<usize>,
    /// Slow only when all run, with what they share and the others do not.
    pub(super) paths: Vec<Blame>,
    /// Slow only when all run, sharing nothing that would explain it.
    pub(super) astray: Vec<usize>,
    /// Slow when all run, and nobody knows whether alone, too.
    pub(super) unclear: Vec<usize>,
}

impl Verdict {
    pub(super) fn of(suspects: &[Suspect], figures: &Figures, disks: &[ShelfDisk]) -> Self {
        let confirmed =
            |way| suspects.iter().filter(move |one| one.way == way && one.is_confirmed());
        let disks_of = |well: bool| -> BTreeSet<usize> {
            let of = confirmed(Way::Together);
            of.filter(|one| well == is_well_alone(one, suspects, figures))
                .map(|one| one.disk)
                .collect()
        };
        let together: Vec<usize> = disks_of(true).into_iter().collect();
        let alone: BTreeSet<usize> = confirmed(Way::Alone).map(|one| one.disk).collect();
        let places: Vec<Vec<String>> = disks.iter().map(|disk| disk.places.clone()).collect();
        let paths = shared_places(&places, &together);
        let explained = |disk: &usize| paths.iter().any(|blame| blame.slow.contains(disk));
        let known = |disk: &usize| together.contains(disk) || alone.contains(disk);
        Self {
            unclear: disks_of(false).into_iter().filter(|disk| !known(disk)).collect(),
            astray: together.iter().copied().filter(|disk| !explained(disk)).collect(),
            disks: alone.into_iter().collect(),
            paths,
        }
    }

    /// Whether no disk is named.
    pub(super) fn is_empty(&self) -> bool {
        let Self { disks, paths, astray, unclear } = self;
        disks.is_empty() && paths.is_empty() && astray.is_empty() && unclear.is_empty()
    }
}

/// Whether a disk that is slow together keeps up with its peers alone, by the latest that is known.
fn is_well_alone(one: &Suspect, suspects: &[Suspect], figures: &Figures) -> bool {
    let same =
        |other: &&Suspect| (other.disk, other.test, other.way) == (one.disk, one.test, Way::Alone);
    if let Some(again) = suspects.iter().find(same) {
        let (mine, peers) = (median(&again.again.mine), median(&again.again.peers));
        return mine.zip(peers).is_some_and(|(mine, peers)| keeps_up(mine, peers));
    }
    // Looked at once, and no suspect: it kept up, unless it was not measured at all.
    figures.column(one.test, Way::Alone)[one.disk].is_some()
}

#[cfg(test)]
mod tests {
    use super::super::facts::{peers, plain_disk};
    use super::super::figures::Figure;
    use super::*;

    /// Eight disks; two share a backing device.
    fn shelf() -> Vec<ShelfDisk> {
        let places = |n| if n < 2 { ["device b", "c"] } else { ["device a", "c"] };
        (0..8).map(|n| plain_disk(&format!("/d{n}"), "m", &places(n))).collect()
    }

    fn set(figures: &mut Figures, test: usize, way: Way, rates: [f64; 8]) {
        for (disk, ops_per_s) in rates.into_iter().enumerate() {
            figures.set(
                test,
                way,
                disk,
                Some(Figure { ops_per_s, p99_ns: None, writes_per_op: None }),
            );
        }
    }

    fn disks(suspects: &[Suspect]) -> Vec<usize> {
        suspects.iter().map(|one| one.disk).collect()
    }

    #[test]
    fn a_slow_disk_and_a_slow_path() {
        let shelf = shelf();
        let mut figures = Figures::new(8);
        let alone = [100.0, 101.0, 99.0, 100.0, 60.0, 102.0, 98.0, 100.0];
        set(&mut figures, 1, Way::Alone, alone);
        set(&mut figures, 1, Way::Together, [50.0, 51.0, 99.0, 100.0, 60.0, 102.0, 98.0, 100.0]);
        let (mut found, mut together) = suspects(&figures, &peers(&shelf));
        assert_eq!((disks(&found), disks(&together)), (vec![4], vec![0, 1, 4]));
        assert_eq!((found[0].rates, found[0].peers, found[0].test), ((60.0, 100.0), 7, 1));
        assert_eq!(found[0].witnesses, [0, 3], "nearest to the median");
        assert_eq!((found[0].rounds, found[0].second()), (3, Second::Open));
        found[0].again.mine = vec![61.0, 60.0, 59.0];
        found[0].again.peers = vec![100.0, 101.0, 99.0];
        assert!(found[0].is_confirmed());
        together.pop(); // slow alone in the same test
        for suspect in &mut together {
            suspect.again.standings = vec![suspect.standing; 2];
        }
        found.extend(together);
        let verdict = Verdict::of(&found, &figures, &shelf);
        assert_eq!(verdict.disks, [4]);
        let blame = &verdict.paths[0];
        assert_eq!((blame.place.as_str(), &*blame.slow, blame.well), ("device b", &[0, 1][..], 0));
        assert!(verdict.astray.is_empty() && verdict.unclear.is_empty() && !verdict.is_empty());
    }

    #[test]
    fn what_is_not_confirmed_is_not_named() {
        let shelf = shelf();
        let mut figures = Figures::new(8);
        set(&mut figures, 2, Way::Alone, [100.0; 8]);
        set(&mut figures, 2, Way::Together, [50.0, 99.0, 99.5, 100.0, 100.5, 101.0, 98.0, 100.0]);
        let (alone, mut found) = suspects(&figures, &peers(&shelf));
        assert!(alone.is_empty());
        assert!(Verdict::of(&found, &figures, &shelf).is_empty());
        let (slow, fine) = (found[0].standing, Standing { ratio: 1.0, z: 0.0 });
        for (standings, second) in [
            (vec![slow, fine], Second::Open),
            (vec![fine, slow, fine], Second::Cleared),
            (vec![slow, fine, slow], Second::Confirmed),
        ] {
            found[0].again.standings = standings;
            assert_eq!(found[0].second(), second);
        }
        let verdict = Verdict::of(&found, &figures, &shelf);
        assert_eq!(verdict.astray, [0], "it shares nothing with a slow one");
    }

    #[test]
    fn one_good_moment_clears_and_half_slow_alone_is_looked_at() {
        let shelf = shelf();
        let mut figures = Figures::new(8);
        // Alone the others are so far apart that 60 does not stand out.
        set(&mut figures, 0, Way::Alone, [60.0, 140.0, 90.0, 100.0, 120.0, 80.0, 95.0, 105.0]);
        set(&mut figures, 0, Way::Together, [60.0, 99.0, 99.5, 100.0, 100.5, 101.0, 98.0, 100.0]);
        let (mut found, mut together) = suspects(&figures, &peers(&shelf));
        assert_eq!((disks(&found), disks(&together)), (vec![0], vec![0]));
        together[0].again.standings = vec![together[0].standing; 2];
        let both = [found[0].clone(), together[0].clone()];
        let verdict = Verdict::of(&both, &figures, &shelf);
        assert_eq!(verdict.unclear, [0], "not measured alone again");
        found[0].again = Again { mine: vec![59.0], peers: vec![20.0], standings: vec![] };
        assert_eq!(found[0].second(), Second::Open, "the other one had a bad moment");
        found[0].again.mine.push(95.0);
        assert_eq!(found[0].second(), Second::Cleared);
    }
}
