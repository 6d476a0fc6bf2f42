//! Groups of blocks: CHOOSE runs one of them, SHUFFLE all of them in a random order.

use super::ast::{Ast, Node};
use super::program::{Action, Pc};

/// Most blocks of a group.
const MAX_BLOCKS: usize = 1000;
/// Heaviest block of a CHOOSE.
pub(super) const MAX_WEIGHT: u32 = 1_000_000;
/// Most runs of all SHUFFLE blocks of a file together: each client has its own order of them.
pub(super) const MAX_RUNS: u64 = 10_000;

/// What a group does with its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One of them, drawn by weight.
    Choose,
    /// Each as often as it says, all in one random order.
    Shuffle,
}

/// Blocks of one kind that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What is done with them.
    pub kind: Kind,
    /// The blocks, at least one.
    pub blocks: Vec<Block>,
    /// Where it goes on behind all of them.
    pub end: Pc,
    /// For SHUFFLE: how many runs the groups before this one have, which is where its order stands
    /// in that of a client.
    pub first_run: u32,
}

/// A block of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its first instruction.
    pub start: Pc,
    /// Its [`Action::Leave`].
    pub end: Pc,
    /// Its weight, or how often it is run.
    pub weight: u32,
    /// Weights of this block and of those before it.
    pub up_to: u64,
}

impl Group {
    /// All weights, or all runs.
    #[inline]
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.blocks.last().map_or(0, |block| block.up_to)
    }

    /// The block of a number below [`Group::sum`].
    #[inline]
    #[must_use]
    pub fn at(&self, number: u64) -> Block {
        let index = self.blocks.partition_point(|block| block.up_to <= number);
        self.blocks[index.min(self.blocks.len() - 1)]
    }
}

/// Blocks as a compiler, or who checks limits, meets them.
#[derive(Default)]
pub(super) struct Builder {
    groups: Vec<Group>,
    /// Groups of the blocks that are open.
    open: Vec<usize>,
    /// The group whose block ended with the line before.
    last: Option<usize>,
    runs: u64,
}

impl Builder {
    /// A block starts, whose first instruction will be at `here`, or behind the one that is returned.
    pub(super) fn start(&mut self, kind: Kind, weight: u32, here: usize) -> Option<Action> {
        let before = self.last.take().filter(|last| self.groups[*last].kind == kind);
        let index = before.unwrap_or(self.groups.len());
        let mut start = here;
        if before.is_none() {
            self.groups.push(Group { kind, blocks: Vec::new(), end: Pc(0), first_run: 0 });
            start += 1;
        }
        if kind == Kind::Shuffle {
            self.runs += u64::from(weight);
        }
        let group = &mut self.groups[index];
        let up_to = group.sum() + u64::from(weight);
        let start = Pc(start as u32);
        group.blocks.push(Block { start, end: start, weight, up_to });
        self.open.push(index);
        before.is_none().then_some(Action::Enter { group: index as u32 })
    }

    /// The block that was opened last ends, with an instruction at `here`.
    pub(super) fn end(&mut self, here: usize) -> Option<Action> {
        let index = self.open.pop()?;
        let group = &mut self.groups[index];
        group.blocks.last_mut()?.end = Pc(here as u32);
        group.end = Pc(here as u32 + 1);
        self.last = Some(index);
        Some(Action::Leave { group: index as u32 })
    }

    /// A line that is neither.
    #[inline]
    pub(super) fn between(&mut self) {
        self.last = None;
    }

    /// The groups, in the order of their starts.
    pub(super) fn into_groups(mut self) -> Vec<Group> {
        // Only now, since a group goes on behind those that stand in its blocks.
        let mut runs = 0;
        for group in self.groups.iter_mut().filter(|group| group.kind == Kind::Shuffle) {
            group.first_run = runs;
            runs += group.sum() as u32;
        }
        self.groups
    }

    fn too_many(&self) -> Option<(String, &'static str)> {
        let blocks = self.open.last().map_or(0, |open| self.groups[*open].blocks.len());
        if blocks > MAX_BLOCKS {
            return Some((
                format!("more than {MAX_BLOCKS} blocks in a group"),
                "fewer, or groups within blocks",
            ));
        }
        (self.runs > MAX_RUNS).then(|| {
            (
                format!("more than {MAX_RUNS} runs of SHUFFLE blocks in the file"),
                "fewer; a LOOP runs a group several times",
            )
        })
    }
}

/// The first line, by its number, with which groups become larger than a client has room for.
pub(super) fn too_large(ast: &Ast) -> Option<(u32, String, &'static str)> {
    let mut builder = Builder::default();
    for line in &ast.lines {
        match line.node {
            Node::Choose(weight) => drop(builder.start(Kind::Choose, weight, 0)),
            Node::Shuffle(runs) => drop(builder.start(Kind::Shuffle, runs, 0)),
            Node::EndBlock => drop(builder.end(0)),
            _ => builder.between(),
        }
        if let Some((message, expected)) = builder.too_many() {
            return Some((line.number, message, expected));
        }
    }
    None
}
