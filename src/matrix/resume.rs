//! An earlier try of the same matrix: what of its result file is whole, and where to cut it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::Path;

use super::boots::{Boot, boots};
use super::figures::{Figures, is_taken};
use super::plan::Matrix;
use crate::host::facts::HostFacts;
use crate::output::Column;
use crate::run::RunError;

/// What the file of an earlier try holds.
#[derive(Debug)]
pub(super) struct Earlier {
    pub(super) experiment_id: String,
    /// What the whole blocks measured.
    pub(super) figures: Figures,
    /// Blocks that are whole: 1 to this.
    pub(super) blocks: u64,
    /// Whole blocks of other boots, which come before those of this one.
    pub(super) before: u64,
    /// The boots that have whole blocks, in their order.
    pub(super) boots: Vec<Boot>,
    /// Numbers of blocks that were planned by each try so far.
    pub(super) planned: BTreeSet<u64>,
    /// Length of what is to be kept, in bytes.
    pub(super) keep: u64,
    /// Rows that are cut off.
    pub(super) cut_rows: u64,
}

/// What the result of another try must have in common with this one.
pub(super) struct Expected<'a> {
    pub(super) matrix: &'a Matrix,
    pub(super) plan_sha256: &'a str,
    pub(super) disks: &'a [String],
    pub(super) host: &'a HostFacts,
}

/// Reads the file and decides; changes nothing.
pub(super) fn read(path: &Path, expected: &Expected<'_>) -> Result<Earlier, RunError> {
    let wrong = |why: String| RunError::usage(format!("--resume {}: {why}", path.display()));
    let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
    // What follows the last line end was torn by the end of its writer.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let rows = Rows::read(&bytes[..whole]).map_err(wrong)?;
    let experiment_id = rows.last_experiment().ok_or_else(|| {
        wrong("it holds no run of a matrix: remove it, and start again with --out".into())
    })?;
    let own: Vec<&Line> =
        rows.lines.iter().filter(|line| line.text(Column::ExperimentId) == experiment_id).collect();
    refuse_others(&own, expected).map_err(wrong)?;
    let blocks = whole_blocks(&own, expected.matrix);
    let boots = boots_of(&own, blocks);
    let here = expected.host.boot_id.as_deref().unwrap_or_default();
    let before = boots.iter().filter(|boot| boot.id != here).map(|boot| boot.blocks).sum();
    let figures = figures_of(&own, expected.matrix, before + 1..=blocks);
    let goes = |line: &&&Line| {
        let block = line.text(Column::Block).parse::<u64>();
        let of_the_end = matches!(line.text(Column::Row), "effect" | "profile");
        of_the_end || block.is_ok_and(|block| block > blocks)
    };
    let first = own.iter().find(goes).map_or(whole as u64, |line| line.at);
    let planned = own.iter().filter_map(|line| line.text(Column::BlocksPlanned).parse().ok());
    Ok(Earlier {
        planned: planned.collect(),
        cut_rows: rows.lines.iter().filter(|line| line.at >= first).count() as u64,
        keep: first,
        experiment_id,
        figures,
        blocks,
        before,
        boots,
    })
}

/// Cuts the file to what is whole.
pub(super) fn cut(path: &Path, keep: u64) -> Result<(), RunError> {
    std::fs::OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|file| file.set_len(keep))
        .map_err(|error| RunError::failed(format!("cannot cut {}: {error}", path.display())))
}

/// A line of the file, and where it begins.
struct Line {
    at: u64,
    record: csv::StringRecord,
}

impl Line {
    fn text(&self, column: Column) -> &str {
        self.record.get(column.index()).unwrap_or_default()
    }
}

struct Rows {
    lines: Vec<Line>,
}

impl Rows {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut reader = csv::Reader::from_reader(bytes);
        let header = reader.headers().map_err(|error| error.to_string())?;
        if !header.iter().eq(Column::names()) {
            return Err("its columns are not those of this version, which only writes its own; \
                        start again with --out"
                .into());
        }
        let mut lines = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| format!("it is damaged: {error}"))?;
            let at = record.position().map_or(0, csv::Position::byte);
            lines.push(Line { at, record });
        }
        Ok(Self { lines })
    }

    /// Of several experiments in a file the last one can be gone on with.
    fn last_experiment(&self) -> Option<String> {
        let last = self.lines.iter().rfind(|line| !line.text(Column::PlanSha256).is_empty())?;
        Some(last.text(Column::ExperimentId).to_owned())
    }
}

/// Refuses what was measured elsewhere, or asked for otherwise, with what differs.
fn refuse_others(own: &[&Line], expected: &Expected<'_>) -> Result<(), String> {
    let Expected { matrix, plan_sha256, host, .. } = expected;
    let values = |column: Column| -> BTreeSet<&str> {
        own.iter().map(|line| line.text(column)).filter(|text| !text.is_empty()).collect()
    };
    let here = host.hostname.as_deref().unwrap_or_default();
    if values(Column::Host).iter().any(|there| *there != here) {
        let there = values(Column::Host).into_iter().collect::<Vec<_>>().join(", ");
        return Err(format!("it was measured on the host {there}, and this is {here}"));
    }
    let release = host.kernel.release.as_deref().unwrap_or_default();
    let boot = host.boot_id.as_deref().unwrap_or_default();
    refuse_kernels(matrix, &values(Column::Kernel), release)?;
    if matrix.kernels.is_none() && values(Column::BootId).iter().any(|there| *there != boot) {
        return Err(
            "it was measured in another boot, and boots differ by themselves: write another \
                    file, or plan with --vary kernel=..., which counts boots"
                .into(),
        );
    }
    if values(Column::PlanSha256).iter().all(|there| there == plan_sha256) {
        return Ok(());
    }
    let differ = differences(own, expected);
    let what = match differ.is_empty() {
        true => format!("metric or idle rule (this is --metric {})", matrix.metric),
        false => differ.join(", "),
    };
    Err(format!("it was measured with other options; these differ: {what}"))
}

/// Refuses kernels that are no levels: of a matrix without them, all but the one that runs.
fn refuse_kernels(matrix: &Matrix, there: &BTreeSet<&str>, here: &str) -> Result<(), String> {
    let is_known = |release: &&&str| match &matrix.kernels {
        Some(kernels) => kernels.level_of(release).is_some(),
        None => **release == here,
    };
    match (there.iter().find(|release| !is_known(release)), &matrix.kernels) {
        (None, _) => Ok(()),
        (Some(other), None) => Err(format!(
            "it was measured under the kernel {other}, and this is {here}: write a file for each \
             kernel, and compare them, or plan with --vary kernel=..."
        )),
        (Some(other), Some(kernels)) => Err(format!(
            "it was measured under the kernel {other}, which is none of --vary kernel={}",
            kernels.levels.join(",")
        )),
    }
}

/// Columns whose values are not those of this try.
fn differences(own: &[&Line], expected: &Expected<'_>) -> Vec<String> {
    let Expected { matrix, disks, .. } = expected;
    let mut there: BTreeMap<Column, BTreeSet<&str>> = BTreeMap::new();
    let columns =
        [Column::Cell, Column::Disk, Column::Options, Column::Seed, Column::Hooks, Column::Engine];
    for line in own.iter().filter(|line| line.text(Column::Row) == "summary") {
        for column in columns {
            let text = line.text(column);
            if !text.is_empty() && (column, text) != (Column::Disk, "all") {
                there.entry(column).or_default().insert(text);
            }
        }
    }
    let seed = matrix.seed.to_string();
    let options: Vec<String> =
        matrix.cells.iter().map(|cell| cell.request.options_text()).collect();
    let hooks = matrix.hooks.text();
    let here = |column: Column| -> BTreeSet<&str> {
        match column {
            Column::Cell => matrix.cells.iter().map(|cell| cell.name.as_str()).collect(),
            Column::Disk => disks.iter().map(String::as_str).collect(),
            Column::Options => options.iter().map(String::as_str).collect(),
            Column::Seed => BTreeSet::from([seed.as_str()]),
            Column::Engine => matrix.cells.iter().map(|c| c.request.engine.word()).collect(),
            _ => BTreeSet::from([hooks.as_str()]).into_iter().filter(|t| !t.is_empty()).collect(),
        }
    };
    columns
        .into_iter()
        .filter(|column| there.get(column).cloned().unwrap_or_default() != here(*column))
        .map(|column| column.name().to_owned())
        .collect()
}

/// Block and cell of each row of some kinds.
fn placed<'l>(
    own: &[&'l Line],
    matrix: &Matrix,
    is_wanted: impl Fn(&str) -> bool,
) -> Vec<(&'l Line, u64, usize)> {
    let cells: BTreeMap<&str, usize> =
        matrix.cells.iter().enumerate().map(|(index, cell)| (cell.name.as_str(), index)).collect();
    let place = |line: &&'l Line| {
        let block = line.text(Column::Block).parse().ok()?;
        let cell = cells.get(line.text(Column::Cell))?;
        is_wanted(line.text(Column::Row)).then_some((*line, block, *cell))
    };
    own.iter().filter_map(place).collect()
}

/// Blocks, counted from the first, in which every cell was run to its end: the last row of a run is
/// that of all disks and operations.
fn whole_blocks(own: &[&Line], matrix: &Matrix) -> u64 {
    let is = |line: &Line, column, word| line.text(column) == word;
    let mut done: BTreeSet<(u64, usize)> = BTreeSet::new();
    for (line, block, cell) in placed(own, matrix, |kind| kind == "summary") {
        let last = is(line, Column::Disk, "all") && is(line, Column::Op, "all");
        let cut = line.text(Column::Flags).split(' ').any(|flag| flag == "interrupted")
            || is(line, Column::Status, "interrupted");
        if last && !cut {
            done.insert((block, cell));
        }
    }
    let whole = |block: u64| (0..matrix.cells.len()).all(|cell| done.contains(&(block, cell)));
    (1..).take_while(|block| whole(*block)).last().unwrap_or(0)
}

/// What these blocks measured.
fn figures_of(own: &[&Line], matrix: &Matrix, blocks: RangeInclusive<u64>) -> Figures {
    let mut figures = Figures::new(matrix.cells.len());
    for (line, block, cell) in placed(own, matrix, is_taken) {
        if blocks.contains(&block) {
            figures.take(block, cell, |column| line.text(column).into());
        }
    }
    figures
}

/// The boots of the whole blocks.
fn boots_of(own: &[&Line], blocks: u64) -> Vec<Boot> {
    let of: BTreeMap<u64, (String, String)> = own
        .iter()
        .filter_map(|line| {
            let block = line.text(Column::Block).parse().ok()?;
            let boot = line.text(Column::BootId).to_owned();
            Some((block, (boot, line.text(Column::Kernel).to_owned())))
        })
        .collect();
    boots(&of.into_iter().filter(|(n, _)| *n <= blocks).map(|(_, of)| of).collect::<Vec<_>>())
}
