//! The names of a client's pools: which exist, and which the operation at hand draws.

use crate::engine::{Engine, PathSlot};
use crate::loadfile::Program;
use crate::loadfile::program::{Action, Draw, Expect, Inst, Order, PathId, Pick};
use crate::op::OpKind;

use super::Client;
use super::judge::Miss;
use super::ring::Ring;
use super::values::SplitMix64;

/// So that what is drawn from pools depends on nothing else that is drawn, which in turn does not
/// depend on what a file system answered. Any number but 0.
const OWN_SEQUENCE: u64 = 0x706f_6f6c;
/// In [`Pool::last`]: none yet.
const NONE: u32 = u32::MAX;

/// The pools of a client.
#[derive(Debug)]
pub(super) struct Pools {
    pools: Box<[Pool]>,
    random: SplitMix64,
    /// What the first and the second path of the operation at hand drew.
    drawn: [Drawn; 2],
}

/// Which names of a pool exist.
#[derive(Debug)]
enum Names {
    /// All numbers, those that exist first, each part in no order: a draw is an index, and a change
    /// swaps two.
    Random { numbers: Box<[u32]>, existing: u32 },
    /// Those that exist, and the others.
    Rotate { existing: Ring, free: Ring },
}

#[derive(Debug)]
struct Pool {
    names: Names,
    /// Number of the name that was drawn last, or [`NONE`].
    last: u32,
}

/// A name that was drawn.
#[derive(Clone, Copy, Debug, Default)]
struct Drawn {
    number: u32,
    /// Where it stands in the numbers of [`Names::Random`].
    index: u32,
    draw: Option<Draw>,
}

impl Pools {
    /// Pools of which no name exists yet.
    pub(super) fn new(program: &Program, seed: u64, disk: u32, client: u32) -> Self {
        let pool = |pool: &crate::loadfile::program::Pool| Pool {
            names: Names::new(pool.count, pool.order),
            last: NONE,
        };
        Self {
            pools: program.pools.iter().map(pool).collect(),
            random: SplitMix64::new(seed ^ OWN_SEQUENCE, disk, client),
            drawn: [Drawn::default(); 2],
        }
    }

    /// Number of the name that a path drew.
    #[inline]
    pub(super) fn number(&self, which: PathSlot) -> u32 {
        self.drawn[usize::from(which == PathSlot::Second)].number
    }

    /// Lets the first path stand for a name that was drawn before.
    pub(super) fn set_number(&mut self, number: u32) {
        self.drawn[0].number = number;
    }

    fn draw(&mut self, position: usize, draw: Draw) -> Result<(), Miss> {
        let pool = &mut self.pools[usize::from(draw.pool)];
        let (number, index) = match draw.pick {
            Pick::Last if pool.last == NONE => return Err(Miss::NoName),
            Pick::Last => (pool.last, 0),
            pick => pool.names.draw(pick, &mut self.random).ok_or(Miss::NoName)?,
        };
        pool.last = number;
        self.drawn[position] = Drawn { number, index, draw: Some(draw) };
        Ok(())
    }

    /// Draws the names of an operation's paths.
    fn draw_all(&mut self, draws: [Option<Draw>; 2]) -> Result<(), Miss> {
        for (position, draw) in draws.into_iter().enumerate() {
            self.drawn[position].draw = None;
            if let Some(draw) = draw {
                self.draw(position, draw)?;
            }
        }
        Ok(())
    }

    /// The operation has succeeded: what it made exists, what it removed does not.
    fn settle(&mut self, op: OpKind) {
        let [one, other] = &self.drawn;
        if let (Some(first), Some(second)) = (one.draw, other.draw)
            && (first.pool, one.number) == (second.pool, other.number)
        {
            // A name that takes its own place is still there.
            return;
        }
        // These two only point to their first path.
        let first = usize::from(matches!(op, OpKind::Link | OpKind::Symlink));
        // What is removed goes first: an index of a name to be made stays right then.
        for wanted in [Pick::Remove, Pick::Make] {
            for drawn in &self.drawn[first..] {
                if let Some(Draw { pool, pick }) = drawn.draw
                    && pick == wanted
                {
                    self.pools[usize::from(pool)].names.change(pick, *drawn);
                }
            }
        }
    }
}

impl Names {
    fn new(count: u32, order: Order) -> Self {
        match order {
            Order::Random => Self::Random { numbers: (0..count).collect(), existing: 0 },
            Order::Rotate => {
                Self::Rotate { existing: Ring::new(count, false), free: Ring::new(count, true) }
            }
        }
    }

    /// A number, and where it stands.
    fn draw(&mut self, pick: Pick, random: &mut SplitMix64) -> Option<(u32, u32)> {
        match self {
            Self::Random { numbers, existing } => {
                // There are at most a million.
                let (start, end) = if pick == Pick::Make {
                    (*existing, numbers.len() as u32)
                } else {
                    (0, *existing)
                };
                if start == end {
                    return None;
                }
                let index = start + (random.next_u64() % u64::from(end - start)) as u32;
                Some((numbers[index as usize], index))
            }
            Self::Rotate { existing, free } => {
                let ring = if pick == Pick::Make { free } else { existing };
                ring.next().map(|number| (number, 0))
            }
        }
    }

    fn change(&mut self, pick: Pick, Drawn { number, index, .. }: Drawn) {
        match self {
            Self::Random { numbers, existing } => {
                if pick == Pick::Remove {
                    *existing -= 1;
                }
                numbers.swap(index as usize, *existing as usize);
                if pick == Pick::Make {
                    *existing += 1;
                }
            }
            Self::Rotate { existing, free } => {
                let (from, to) =
                    if pick == Pick::Make { (free, existing) } else { (existing, free) };
                from.remove(number);
                to.insert(number);
            }
        }
    }
}

impl<E: Engine> Client<'_, E> {
    /// Draws the names that an operation's paths stand for, if they draw any.
    #[inline]
    pub(super) fn draw_names(&mut self, inst: &Inst) -> Result<(), Miss> {
        if self.pools.pools.is_empty() {
            return Ok(());
        }
        let draw = |path: PathId| self.setup.program.paths[path.0 as usize].draw;
        let drawn = self.pools.draw_all(inst.action.paths().map(|path| path.and_then(draw)));
        if drawn.is_err() {
            self.pass_over(inst);
        }
        drawn
    }

    /// An operation with names that were drawn has ended.
    #[inline]
    pub(super) fn settle_names(&mut self, op: OpKind, succeeded: bool) {
        if succeeded && !self.pools.pools.is_empty() && !op.row().only_looks {
            self.pools.settle(op);
        }
    }

    /// Counts an operation that was skipped in the window.
    pub(super) fn skip(&self, op: OpKind, inst: &Inst) {
        self.setup.shard.skip(op);
        if inst.expect == Expect::Any {
            self.setup.errors.allow_skip();
        }
    }

    /// Draws and remembers the numbers of an operation that is skipped for want of a name, so that
    /// what follows does not depend on it.
    #[cold]
    fn pass_over(&mut self, inst: &Inst) {
        let program = self.setup.program;
        match inst.action {
            Action::Create { options, disposition, handle, .. } => {
                let [options, disposition] =
                    [options, disposition].map(|number| self.values.get(program, number));
                let (_, handle) = self.handle_slot(handle);
                self.record(inst, &[options, disposition, handle]);
            }
            Action::Open { flags, mode, handle, .. } => {
                let (_, handle) = self.handle_slot(handle);
                self.record(inst, &[flags.into(), mode.into(), handle]);
            }
            Action::Find { max, .. } => {
                let max = self.values.get(program, max);
                self.record(inst, &[0, max, 0]);
            }
            Action::OnPath { numbers, .. } => {
                let numbers = numbers.map(|number| self.values.get(program, number));
                self.record(inst, &numbers);
            }
            Action::OnPaths { number, .. } => {
                let number = self.values.get(program, number);
                self.record(inst, &[number]);
            }
            _ => {}
        }
    }
}
