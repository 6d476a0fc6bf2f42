//! `POOL name n "path"` lines, and what paths that draw from a pool must not do.

use super::ast::{Node, Op};
use super::error::{LineResult, fault};
use super::lexer::{Line, Token};
use super::number;
use super::parser::Parser;
use super::pool::{MAX_NAMES, MAX_POOLS, Order, is_pool_name};

const USAGE: &str = "POOL <name> <how many> \"path\", then random (default) or rotate";

impl<'t> Parser<'t> {
    /// Reads a POOL line.
    pub(super) fn pool(&mut self, line: Line<'t>, word: Token, args: &[Token]) -> LineResult<()> {
        let (name, count, path, order) = match args {
            [name, count, path] => (name, count, path, None),
            [name, count, path, order] => (name, count, path, Some(order)),
            [_, _, _, _, extra, ..] => {
                let message = format!("{} is too much", extra.show(line.bytes));
                return fault(extra.at(), message, USAGE);
            }
            _ => return fault(line.bytes.len(), "something is missing at the end", USAGE),
        };
        self.stands_above(word, "POOL", "POOL above PREPARE and all operations, below SET")?;
        let text = name.text(line.bytes);
        if !is_pool_name(&text) {
            let message = format!("a pool cannot be called {}", name.show(line.bytes));
            return fault(name.at(), message, "letters, digits and _, no digit first, 32 at most");
        }
        if self.table.pools.iter().any(|pool| *pool.name == *text) {
            let message = format!("a second POOL {}", name.show(line.bytes));
            return fault(name.at(), message, "another name");
        }
        if self.table.pools.len() == MAX_POOLS {
            return fault(word.at(), format!("more than {MAX_POOLS} POOL lines"), "fewer");
        }
        let number = number::literal(&count.text(line.bytes));
        let names = match number.and_then(|number| u32::try_from(number).ok()) {
            Some(names @ 1..=MAX_NAMES) => names,
            _ => {
                let message = format!("a pool cannot have {} names", count.show(line.bytes));
                return fault(count.at(), message, format!("a number from 1 to {MAX_NAMES}"));
            }
        };
        let order = match order.map(|order| (order, order.text(line.bytes))) {
            None => Order::Random,
            Some((_, text)) if *text == *b"random" => Order::Random,
            Some((_, text)) if *text == *b"rotate" => Order::Rotate,
            Some((order, _)) => {
                let message = format!("{} is no order", order.show(line.bytes));
                return fault(order.at(), message, "random or rotate");
            }
        };
        self.table.define_pool(&text, names, order, &path.text(line.bytes), path.at())?;
        self.push(line, None, Node::Pool(self.table.pools.len() as u32 - 1));
        Ok(())
    }

    /// An operation makes one name of a pool, or removes one: what a second one came to could not
    /// be told from the outcome of the whole.
    pub(super) fn one_change_a_pool(
        &self,
        line: Line<'t>,
        op: &Op,
        args: &[Token],
    ) -> LineResult<()> {
        let [first, second] = op.paths.map(|path| self.table.names.specs[path.0 as usize].draw);
        if op.kind.row().paths.len() == 2
            && let Some(draw) = first
            && first == second
            && draw.pick.changes()
        {
            let message = format!("{} twice on a line", args[1].show(line.bytes));
            return fault(
                args[1].at(),
                message,
                "each line makes one name of a pool, or removes one",
            );
        }
        Ok(())
    }
}
