//! Tables and sentences for people.

use super::facts::ShelfDisk;
use super::figures::{Figure, Figures, Way, standings_in};
use super::judge::{Second, Suspect, Verdict};
use super::load::{BLOCK, TESTS, Test};
use crate::output::{lined_up, shorten};
use crate::stats::{Blame, LEAST_PEERS, Standing, median};
use crate::units::{format_count, format_ns, format_number};

/// Width of a label, so that a line stays within about 100 columns.
const LABEL: usize = 20;

/// All that a search has to say.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) disks: &'a [ShelfDisk],
    pub(super) groups: &'a [Vec<usize>],
    pub(super) figures: &'a Figures,
    pub(super) suspects: &'a [Suspect],
    pub(super) verdict: &'a Verdict,
    /// Whether some disk failed, or was left out.
    pub(super) failed: bool,
}

impl Found<'_> {
    /// A line a disk: rate, 99th percentile and share of the peers' median in every test.
    pub(super) fn table(&self, way: Way, color: bool) -> String {
        let mut head = vec!["disk"];
        for test in &TESTS {
            head.extend([test.short, "p99", "ratio"]);
        }
        let mut rows: Vec<Vec<String>> =
            self.disks.iter().map(|disk| vec![shorten(&disk.label, LABEL)]).collect();
        for (test, of) in TESTS.iter().enumerate() {
            let column = self.figures.column(test, way);
            let standings: Vec<(usize, Standing)> =
                self.groups.iter().flat_map(|group| standings_in(group, column)).collect();
            for (disk, row) in rows.iter_mut().enumerate() {
                let standing = standings.iter().find(|(of, _)| *of == disk).map(|(_, one)| one);
                row.extend(cells(of, column[disk], standing));
            }
        }
        let what = match way {
            Way::Together => "all together",
            Way::Alone => "one by one",
        };
        format!(
            "{what}: MB/s of sequential read and write, operations/s of 4 KiB random read and of \
             append + fdatasync;\nratio to the median of the peers, * where it stands out\n{}",
            lined_up(&head, rows, color)
        )
    }

    /// A sentence for each disk that is named, and the figures below it; what is not named, and why.
    pub(super) fn sentences(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for disk in &self.verdict.disks {
            let what = if self.only_appends(*disk) { ", or the file system on it" } else { "" };
            lines.push(format!("{} is slow alone -> the disk{what}", self.disks[*disk].named()));
            lines.extend(self.evidence(*disk, Way::Alone));
        }
        for blame in &self.verdict.paths {
            lines.push(self.path(blame));
            lines.extend(blame.slow.iter().flat_map(|disk| self.evidence(*disk, Way::Together)));
        }
        for disk in &self.verdict.astray {
            lines.push(format!(
                "{} is slow only when all run -> its path, but it shares nothing with other slow \
                 disks that healthy ones do not share: look at its own slot and link",
                self.disks[*disk].named()
            ));
            lines.extend(self.evidence(*disk, Way::Together));
        }
        for disk in &self.verdict.unclear {
            let named = self.disks[*disk].named();
            lines.push(format!("{named} is slow when all run -> the disk or its path"));
            lines.extend(self.evidence(*disk, Way::Together));
        }
        let unconfirmed = self.suspects.iter().filter(|suspect| !suspect.is_confirmed());
        lines.extend(unconfirmed.map(|suspect| self.unconfirmed(suspect)));
        lines.extend(self.too_few());
        let judged = self.groups.iter().any(|group| group.len() >= LEAST_PEERS);
        if self.verdict.is_empty() && !self.failed && judged {
            lines.push("no disk stands out".into());
        }
        lines
    }

    /// Whether a disk is slow alone in that test only in which the file system does much of the work.
    fn only_appends(&self, disk: usize) -> bool {
        let mut against = self
            .suspects
            .iter()
            .filter(|one| one.disk == disk && one.way == Way::Alone && one.is_confirmed());
        against.all(|one| !TESTS[one.test].direct)
    }

    fn path(&self, blame: &Blame) -> String {
        let names: Vec<String> = blame.slow.iter().map(|disk| self.disks[*disk].named()).collect();
        let well = match blame.well {
            0 => "which no healthy disk hangs on".into(),
            n => format!("which {n} healthy of {} disks hang on, too", n + blame.slow.len()),
        };
        format!(
            "{} are slow only when all run -> the path: they share {}, {well}",
            names.join(" and "),
            blame.place
        )
    }

    /// The confirmed figures against a disk.
    fn evidence(&self, disk: usize, way: Way) -> Vec<String> {
        let of_disk = self.suspects.iter().filter(|one| one.disk == disk && one.way == way);
        of_disk.filter(|suspect| suspect.is_confirmed()).map(|one| self.figures_of(one)).collect()
    }

    fn figures_of(&self, suspect: &Suspect) -> String {
        let test = &TESTS[suspect.test];
        let again = match suspect.way {
            Way::Alone => {
                let mine = list(test, &suspect.again.mine);
                format!("again {mine} in turn with {}", list(test, &suspect.again.peers))
            }
            Way::Together => {
                let below = suspect.again.standings.iter().map(|one| percent_below(one.ratio));
                let below = below.collect::<Vec<_>>().join(" and ");
                format!("again {below} % below{}", self.alone(suspect))
            }
        };
        format!(
            "  {}: {} {}: {} % below its {} peers, {} to their {} (z {}); {again}",
            self.disks[suspect.disk].label,
            test.name,
            suspect.way.word(),
            percent_below(suspect.rates.0 / suspect.rates.1),
            suspect.peers,
            rate(test, suspect.rates.0),
            with_unit(test, suspect.rates.1),
            z_text(suspect.standing.z),
        )
    }

    /// How a disk that is slow together stands alone in the same test, by the latest that is known.
    fn alone(&self, suspect: &Suspect) -> String {
        let Some((own, theirs)) = self.rates_alone(suspect).filter(|(_, theirs)| *theirs > 0.0)
        else {
            return String::new();
        };
        let share = format_number(100.0 * own / theirs);
        format!("; alone {}, {share} % of theirs", with_unit(&TESTS[suspect.test], own))
    }

    fn rates_alone(&self, suspect: &Suspect) -> Option<(f64, f64)> {
        let again = self.suspects.iter().find(|other| {
            (other.disk, other.test, other.way) == (suspect.disk, suspect.test, Way::Alone)
        });
        if let Some(again) = again.map(|other| &other.again).filter(|a| !a.mine.is_empty()) {
            return median(&again.mine).zip(median(&again.peers));
        }
        let column = self.figures.column(suspect.test, Way::Alone);
        let group = self.groups.iter().find(|group| group.contains(&suspect.disk))?;
        let others = group.iter().filter(|disk| **disk != suspect.disk);
        let others: Vec<f64> =
            others.filter_map(|disk| column[*disk].map(|figure| figure.ops_per_s)).collect();
        Some(column[suspect.disk]?.ops_per_s).zip(median(&others))
    }

    fn unconfirmed(&self, suspect: &Suspect) -> String {
        let why = match suspect.second() {
            Second::Open => "but could not be measured again",
            _ => "but not so when measured again",
        };
        format!(
            "{}: {} {} was {} % below its peers (z {}), {why}: does not count",
            self.disks[suspect.disk].label,
            TESTS[suspect.test].name,
            suspect.way.word(),
            percent_below(suspect.rates.0 / suspect.rates.1),
            z_text(suspect.standing.z),
        )
    }

    fn too_few(&self) -> Vec<String> {
        let few = self.groups.iter().filter(|group| group.len() < LEAST_PEERS);
        few.map(|group| {
            let names: Vec<&str> = group.iter().map(|disk| &*self.disks[*disk].label).collect();
            format!(
                "{}: too few of one model, size and file system to judge ({LEAST_PEERS} are \
                 needed): see the figures",
                names.join(", ")
            )
        })
        .collect()
    }
}

fn cells(test: &Test, figure: Option<Figure>, standing: Option<&Standing>) -> [String; 3] {
    let Some(figure) = figure else { return ["-", "-", "-"].map(str::to_owned) };
    let mark = |one: &Standing| if one.is_slow() { "*" } else { "" };
    [
        rate(test, figure.ops_per_s),
        figure.p99_ns.map_or_else(|| "-".into(), format_ns),
        standing.map_or_else(|| "-".into(), |one| format!("{}{:.2}", mark(one), one.ratio)),
    ]
}

/// Without its unit.
fn rate(test: &Test, ops_per_s: f64) -> String {
    if test.in_bytes {
        format_number(ops_per_s * BLOCK as f64 / 1e6)
    } else {
        format_count(ops_per_s)
    }
}

fn with_unit(test: &Test, ops_per_s: f64) -> String {
    format!("{} {}", rate(test, ops_per_s), if test.in_bytes { "MB/s" } else { "ops/s" })
}

fn list(test: &Test, rates: &[f64]) -> String {
    rates.iter().map(|one| rate(test, *one)).collect::<Vec<_>>().join(", ")
}

fn percent_below(ratio: f64) -> String {
    format_number(100.0 * (1.0 - ratio))
}

/// Where the others agree exactly, z has no bound.
fn z_text(z: f64) -> String {
    if z < -999.0 { "below -999".into() } else { format!("{z:.1}") }
}

#[cfg(test)]
mod tests {
    use super::super::facts::{peers, plain_disk};
    use super::super::judge::{Again, suspects};
    use super::*;

    /// Five disks of which the last one reads at half speed, alone and together.
    fn figures() -> Figures {
        let mut figures = Figures::new(6);
        for way in Way::BOTH {
            for (disk, ops_per_s) in [100.0, 101.0, 99.0, 100.0, 50.0].into_iter().enumerate() {
                let p99_ns = (disk == 0).then_some(12_000_000.0);
                figures.set(0, way, disk, Some(Figure { ops_per_s, p99_ns, writes_per_op: None }));
            }
        }
        figures
    }

    #[test]
    fn a_slow_disk_in_words_by_hand() {
        let disks: Vec<ShelfDisk> = (0..6)
            .map(|n| plain_disk(&format!("/d{n}"), if n == 5 { "other" } else { "same" }, &[]))
            .collect();
        let (groups, figures) = (peers(&disks), figures());
        let (mut suspects, _) = suspects(&figures, &groups);
        suspects[0].again =
            Again { mine: vec![51.0; 3], peers: vec![100.0; 3], ..Again::default() };
        let verdict = Verdict::of(&suspects, &figures, &disks);
        let nothing = Found {
            disks: &disks,
            groups: &groups,
            figures: &figures,
            suspects: &[],
            verdict: &verdict,
            failed: false,
        };
        // 1 MiB an operation: 100 of them are 105 MB/s. Deviations of 0, 1, 1, 0 and 70 % in
        // logarithms have a median of 1 %, so that z is -ln 2 / (1.4826 x 0.00995) or so.
        let found = Found { suspects: &suspects, ..nothing };
        let lines = found.sentences();
        assert_eq!(lines[0], "/d4 is slow alone -> the disk");
        assert_eq!(
            lines[1],
            "  /d4: sequential read alone: 50.0 % below its 4 peers, 52.4 to their 105 MB/s \
             (z -47.0); again 53.5, 53.5, 53.5 in turn with 105, 105, 105"
        );
        assert!(lines[2].starts_with("/d5: too few of one model"), "{lines:?}");
        assert_eq!(lines.len(), 3);

        let table = found.table(Way::Alone, false);
        let rows: Vec<&str> = table.lines().collect();
        assert!(rows[2].starts_with("disk  read     p99  ratio  write"), "{table}");
        assert!(rows[3].starts_with("/d0    105  12.0ms   1.00      -"), "{table}");
        assert!(rows[7].starts_with("/d4   52.4       -  *0.50      -"), "{table}");

        let mut cleared = suspects.clone();
        cleared[0].again.mine = vec![95.0];
        let verdict = Verdict::of(&cleared, &figures, &disks);
        let found = Found { suspects: &cleared, verdict: &verdict, ..nothing };
        let lines = found.sentences();
        assert!(lines[0].ends_with("but not so when measured again: does not count"), "{lines:?}");
        assert_eq!(lines.last().unwrap(), "no disk stands out");
    }
}
