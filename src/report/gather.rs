//! Result files as material of a page.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::model::{Effect, Figures, Group, Interval, KEPT, Material, Run};
use crate::output::{Column, Role};
use crate::results::{Line, ReadError, ResultFile};

/// Reads all files.
///
/// # Errors
/// When one cannot be read, is no result, ends in a torn line, or has no run.
pub(super) fn gather(files: &[PathBuf]) -> Result<Material, ReadError> {
    let mut material = Material::default();
    for path in files {
        let mut of_file = OfFile::new(path);
        let mut file = ResultFile::open(path)?;
        while let Some(line) = file.next_line()? {
            of_file.take(line)?;
        }
        if of_file.groups.iter().all(|group| group.figures.is_empty()) {
            return Err(file.nothing_there());
        }
        of_file.in_order();
        material.files.push(of_file.name);
        material.groups.append(&mut of_file.groups);
        material.effects.append(&mut of_file.effects);
    }
    name_groups(&mut material);
    Ok(material)
}

struct OfFile {
    name: String,
    groups: Vec<Group>,
    /// Index of the group by what makes it one, and of the run within it.
    known: HashMap<[String; 3], usize>,
    runs: HashMap<String, (usize, usize)>,
    effects: Vec<Effect>,
}

impl OfFile {
    fn new(path: &Path) -> Self {
        Self {
            name: path.display().to_string(),
            groups: Vec::new(),
            known: HashMap::new(),
            runs: HashMap::new(),
            effects: Vec::new(),
        }
    }

    fn take(&mut self, line: Line<'_>) -> Result<(), ReadError> {
        match line.text(Column::Row) {
            "summary" => self.summary(line),
            "interval" if line.text(Column::Op) == "all" => self.interval(line),
            "error" if line.text(Column::Status) == "total" => self.error(line),
            "effect" => self.effect(line),
            _ => Ok(()),
        }
    }

    /// The group and the run that a row belongs to.
    fn place(&mut self, line: Line<'_>) -> (usize, usize) {
        let id = line.text(Column::RunId);
        if let Some(place) = self.runs.get(id) {
            return *place;
        }
        let key =
            [Column::Cell, Column::RunLabel, Column::Options].map(|c| line.text(c).to_owned());
        let group = *self.known.entry(key.clone()).or_insert_with(|| {
            let [cell, run_label, _] = key;
            let file = self.name.clone();
            self.groups.push(Group { file, cell, run_label, ..Group::default() });
            self.groups.len() - 1
        });
        let run = Run { id: id.to_owned(), ..Run::default() };
        self.groups[group].runs.push(run);
        let place = (group, self.groups[group].runs.len() - 1);
        self.runs.insert(id.to_owned(), place);
        place
    }

    fn summary(&mut self, line: Line<'_>) -> Result<(), ReadError> {
        let (group, run) = self.place(line);
        let group = &mut self.groups[group];
        let (disk, op) = (line.text(Column::Disk), line.text(Column::Op));
        let mut figures: Figures = [f64::NAN; KEPT.len()];
        for (slot, column) in KEPT.iter().enumerate() {
            figures[slot] = line.number(*column)?.unwrap_or(f64::NAN);
        }
        group.figures.entry((disk.to_owned(), op.to_owned())).or_default().push((run, figures));
        if op == "all" {
            let status = line.text(Column::Status);
            if disk == "all" {
                group.runs[run].status = status.to_owned();
            } else if !group.disks.iter().any(|known| known == disk) {
                group.disks.push(disk.to_owned());
            }
            group.disk_status.entry(disk.to_owned()).or_default().insert(status.to_owned());
            group.runs[run].ended = line.text(Column::TsUtc).to_owned();
            group.runs[run].flags = line.text(Column::Flags).to_owned();
            note_values(group, disk, line);
        }
        Ok(())
    }

    fn interval(&mut self, line: Line<'_>) -> Result<(), ReadError> {
        let (group, run) = self.place(line);
        let start = line.number(Column::TStartS)?;
        let length = line.number(Column::DurationS)?;
        let rate = line.number(Column::OpsPerS)?;
        if let (Some(start_s), Some(length_s), Some(ops_per_s)) = (start, length, rate) {
            let disk = line.text(Column::Disk).to_owned();
            let interval = Interval { run, start_s, length_s, ops_per_s };
            self.groups[group].intervals.entry(disk).or_default().push(interval);
        }
        Ok(())
    }

    fn error(&mut self, line: Line<'_>) -> Result<(), ReadError> {
        let (group, _) = self.place(line);
        let key = [Column::Disk, Column::Op, Column::Errno].map(|c| line.text(c).to_owned());
        let count = line.number(Column::Errors)?.unwrap_or(0.0) as u64;
        *self.groups[group].errors.entry(key.into()).or_default() += count;
        Ok(())
    }

    fn effect(&mut self, line: Line<'_>) -> Result<(), ReadError> {
        let text = |column| line.text(column).to_owned();
        let number = |column| line.number(column);
        let effect = Effect {
            file: self.name.clone(),
            experiment: line.text(Column::ExperimentId).to_owned(),
            kind: text(Column::Effect),
            factor: text(Column::Factor),
            level_a: text(Column::LevelA),
            level_b: text(Column::LevelB),
            held: text(Column::Held),
            metric: text(Column::Metric),
            exploratory: line.text(Column::Exploratory) == "1",
            n: number(Column::N)?,
            change: number(Column::ChangePct)?,
            low: number(Column::LowPct)?,
            high: number(Column::HighPct)?,
            confidence: number(Column::Confidence)?,
            half_width: number(Column::HalfWidthPct)?,
            p_adjusted: number(Column::PAdjusted)?,
            verdict: text(Column::Verdict),
            needed: number(Column::BlocksNeeded)?,
            margin: number(Column::MarginPct)?,
            speed_up: number(Column::SpeedUp)?,
            efficiency: number(Column::Efficiency)?,
        };
        self.effects.retain(|known| !known.same_question(&effect));
        self.effects.push(effect);
        Ok(())
    }

    /// Cells of a matrix come in an order drawn by lot: they are put in that of their names.
    fn in_order(&mut self) {
        self.groups.retain(|group| !group.figures.is_empty());
        if self.groups.iter().all(|group| group.cell.contains('=')) {
            self.groups.sort_by(|a, b| natural(&a.cell, &b.cell));
        }
    }
}

/// Conditions and facts of the row of a disk, or of all.
fn note_values(group: &mut Group, disk: &str, line: Line<'_>) {
    for column in Column::ALL {
        let text = line.text(*column);
        if column.role() == Role::Measure || text.is_empty() {
            continue;
        }
        group.values.entry(*column).or_default().insert(text.to_owned());
        let of_disk = group.disk_values.entry(disk.to_owned()).or_default();
        of_disk.entry(*column).or_default().insert(text.to_owned());
    }
}

/// Labels that tell the groups apart.
fn name_groups(material: &mut Material) {
    let several_files = material.files.len() > 1;
    let mut names: HashMap<String, usize> = HashMap::new();
    for group in &mut material.groups {
        let file = Path::new(&group.file).file_name().unwrap_or_default().to_string_lossy();
        let mut parts: Vec<&str> = Vec::new();
        if several_files {
            parts.push(&file);
        }
        parts.extend(
            [group.run_label.as_str(), group.cell.as_str()].iter().filter(|p| !p.is_empty()),
        );
        let mut label = if parts.is_empty() { file.to_string() } else { parts.join(" ") };
        let again = names.entry(label.clone()).or_default();
        *again += 1;
        if *again > 1 {
            label = format!("{label} ({again})");
        }
        group.label = label;
    }
}

/// Order of texts in which numbers are numbers: d2 before d10.
pub(super) fn natural(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let (one, other) = (digits(a), digits(b));
        if one > 0 && other > 0 {
            let (x, y) = (a[..one].trim_start_matches('0'), b[..other].trim_start_matches('0'));
            match x.len().cmp(&y.len()).then(x.cmp(y)) {
                Ordering::Equal => (a, b) = (&a[one..], &b[other..]),
                order => return order,
            }
        } else {
            match (a.chars().next(), b.chars().next()) {
                (Some(x), Some(y)) if x == y => {
                    (a, b) = (&a[x.len_utf8()..], &b[y.len_utf8()..]);
                }
                (x, y) => return x.cmp(&y),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_numbers() {
        let mut names = ["d10", "d2", "d02x", "c", "d2;as=root", "d2;as=nobody"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["c", "d2", "d2;as=nobody", "d2;as=root", "d02x", "d10"]);
    }
}
