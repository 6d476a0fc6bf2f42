//! `jbodbench matrix` through the real binary, on real file systems, with short runs.

#![allow(clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;

mod acls;
mod commands;
mod effects;
mod idle;
mod kernels;
mod order;
mod phases;
mod plan;
mod profile;
mod resume;

use std::path::Path;
use std::process::Command;

use common::tool::{Finished, Row, Running, Table, jbodbench};

/// `matrix` with these arguments, words apart by blanks, on these disks.
fn command(arguments: &str, disks: &[&Path]) -> Command {
    let mut command = jbodbench(["matrix"]);
    command.args(arguments.split_whitespace()).args(disks);
    command
}

fn matrix(arguments: &str, disks: &[&Path]) -> Finished {
    Running::start(command(arguments, disks)).finish()
}

/// The row that ends each run, in the order of the file.
fn runs(table: &Table) -> Vec<&Row> {
    let last = |row: &&Row| {
        (row.text("row"), row.text("disk"), row.text("op")) == ("summary", "all", "all")
    };
    table.rows.iter().filter(last).collect()
}

/// Cells of each block, in the order in which they were run.
fn cells_by_block(table: &Table) -> Vec<Vec<String>> {
    let mut blocks: Vec<Vec<String>> = Vec::new();
    for run in runs(table) {
        let block = usize::try_from(run.int("block")).unwrap();
        blocks.resize_with(blocks.len().max(block), Vec::new);
        assert_eq!(run.int("order_index"), blocks[block - 1].len() as u64);
        blocks[block - 1].push(run.text("cell").to_owned());
    }
    blocks
}
