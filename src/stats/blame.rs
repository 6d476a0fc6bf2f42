//! What slow disks have in common that the others have not.

/// A part of the way to the disks that explains why some of them are slow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blame {
    /// Its name, as `controller 0000:03:00.0`.
    pub place: String,
    /// The slow disks on it, by index.
    pub slow: Vec<usize>,
    /// How many disks on it are not slow.
    pub well: usize,
}

/// Shares slow disks out to the places that most of the disks on them are slow: the place with the
/// most slow disks first, then that with the fewest healthy ones, then the nearest to the disk.
/// `places` lists what each disk hangs on, the nearest first. A slow disk that is in no answer
/// shares nothing with other slow ones that healthy disks do not share as well.
#[must_use]
pub fn shared_places(places: &[Vec<String>], slow: &[usize]) -> Vec<Blame> {
    let mut rest = slow.to_vec();
    let mut found = Vec::new();
    while let Some(blame) = best_place(places, slow, &rest) {
        rest.retain(|disk| !blame.slow.contains(disk));
        found.push(blame);
    }
    found
}

fn best_place(places: &[Vec<String>], slow: &[usize], rest: &[usize]) -> Option<Blame> {
    let mut best: Option<((usize, usize, usize), Blame)> = None;
    for disk in rest {
        for (distance, place) in places.get(*disk)?.iter().enumerate() {
            let on_it = |disk: &usize| places[*disk].contains(place);
            let together: Vec<usize> = rest.iter().copied().filter(on_it).collect();
            let all = (0..places.len()).filter(on_it).count();
            let bad = slow.iter().filter(|disk| on_it(disk)).count();
            if together.len() < 2 || 2 * bad <= all {
                continue;
            }
            let order = (usize::MAX - together.len(), all - bad, distance);
            if best.as_ref().is_none_or(|(known, _)| order < *known) {
                let blame = Blame { place: place.clone(), slow: together, well: all - bad };
                best = Some((order, blame));
            }
        }
    }
    best.map(|(_, blame)| blame)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shelf(ways: &[&str]) -> Vec<Vec<String>> {
        ways.iter().map(|way| way.split_whitespace().map(str::to_owned).collect()).collect()
    }

    fn blame(place: &str, slow: &[usize], well: usize) -> Blame {
        Blame { place: place.into(), slow: slow.to_vec(), well }
    }

    #[test]
    fn the_nearest_place_that_the_healthy_do_not_share() {
        // Two expanders on one controller.
        let shelf = shelf(&["e1 c1", "e1 c1", "e2 c1", "e2 c1", "e2 c1"]);
        assert_eq!(shared_places(&shelf, &[0, 1]), [blame("e1", &[0, 1], 0)]);
        // Two of three on an expander are most; the controller has as many that are well.
        assert_eq!(shared_places(&shelf, &[2, 3]), [blame("e2", &[2, 3], 1)]);
        // All of them: the controller explains more than either expander.
        assert_eq!(shared_places(&shelf, &[0, 1, 2, 3, 4]), [blame("c1", &[0, 1, 2, 3, 4], 0)]);
    }

    #[test]
    fn what_is_not_shared_is_not_blamed() {
        let shelf = shelf(&["c1 n0", "c1 n0", "c1 n0", "c2 n0", "c3 n0", ""]);
        assert!(shared_places(&shelf, &[0]).is_empty(), "one alone shares nothing");
        assert!(shared_places(&shelf, &[0, 3]).is_empty(), "node 0 has three that are well");
        assert!(shared_places(&shelf, &[0, 5]).is_empty());
        // Two groups, and one that belongs to none.
        let shelf = self::shelf(&["a", "a", "b", "b", "c", "c"]);
        let found = shared_places(&shelf, &[0, 1, 2, 3, 4]);
        assert_eq!(found, [blame("a", &[0, 1], 0), blame("b", &[2, 3], 0)]);
    }
}
