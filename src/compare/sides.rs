//! Who is compared with whom.

use std::path::PathBuf;

use super::error::CompareError;
use super::model::Run;
use crate::output::Column;

/// The runs of one side.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) name: String,
    pub(super) files: Vec<PathBuf>,
    pub(super) runs: Vec<Run>,
}

impl Side {
    /// Cells of its runs, in the order in which they came first.
    pub(super) fn cells(&self) -> Vec<&str> {
        let mut cells: Vec<&str> = Vec::new();
        for run in &self.runs {
            if !cells.contains(&run.cell.as_str()) {
                cells.push(&run.cell);
            }
        }
        cells
    }

    /// Its runs of these cells.
    pub(super) fn of_cells(&self, cells: &[&str]) -> Vec<&Run> {
        self.runs.iter().filter(|run| cells.contains(&run.cell.as_str())).collect()
    }
}

/// How runs are told apart.
pub(super) enum Split {
    /// A side per file: the first one against each other.
    Files,
    /// All files of the first group against all of the second.
    Groups(usize),
    /// By the values of a column, whatever the file.
    By(Column),
}

/// Puts runs into sides; the first is what the others are compared with. `files` are in the order
/// of the command line. `base` names another side to be the first.
///
/// # Errors
/// When there are fewer than two sides, or none is called `base`.
pub(super) fn divide(
    files: Vec<(PathBuf, Vec<Run>)>,
    split: &Split,
    base: Option<&str>,
) -> Result<Vec<Side>, CompareError> {
    let mut sides: Vec<Side> = Vec::new();
    for (index, (path, runs)) in files.into_iter().enumerate() {
        for run in runs {
            let name = match split {
                Split::Files => path.display().to_string(),
                Split::Groups(first) => if index < *first { "A" } else { "B" }.to_owned(),
                Split::By(column) => match run.text(*column) {
                    Some(text) if !text.is_empty() => text,
                    _ => format!("no {}", column.name()),
                },
            };
            let place = sides.iter().position(|side| side.name == name).unwrap_or_else(|| {
                sides.push(Side { name, files: Vec::new(), runs: Vec::new() });
                sides.len() - 1
            });
            if !sides[place].files.contains(&path) {
                sides[place].files.push(path.clone());
            }
            sides[place].runs.push(run);
        }
    }
    if let Split::By(column) = split {
        if *column == Column::Cell {
            // Which cell came first was drawn by lot.
            sides.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let name = column.name();
        if sides.len() < 2 {
            let value = sides.first().map_or("", |side| &side.name);
            let text = format!("nothing to compare: all runs have {name} = {value}");
            return Err(CompareError::Missing(text));
        }
    }
    if let Some(base) = base {
        let place = sides.iter().position(|side| side.name == base).ok_or_else(|| {
            let names: Vec<&str> = sides.iter().map(|side| side.name.as_str()).collect();
            CompareError::Missing(format!("--base {base}: there are {}", names.join(", ")))
        })?;
        let base = sides.remove(place);
        sides.insert(0, base);
    }
    Ok(sides)
}

/// What to split by when nobody says: the cells of a matrix in a single file.
///
/// # Errors
/// When a single file has one cell only.
pub(super) fn usual_split(
    files: &[(PathBuf, Vec<Run>)],
    groups: Option<usize>,
) -> Result<Split, CompareError> {
    if let Some(first) = groups {
        return Ok(Split::Groups(first));
    }
    let [(path, runs)] = files else { return Ok(Split::Files) };
    if runs.iter().any(|run| run.cell != runs[0].cell) {
        return Ok(Split::By(Column::Cell));
    }
    Err(CompareError::Missing(format!(
        "nothing to compare: {} has one cell; give another file, or say by which column its runs \
         differ, as --by run_label",
        path.display()
    )))
}
