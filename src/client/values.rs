//! Numbers and strings that a loadfile computes.

use crate::loadfile::Program;
use crate::loadfile::program::{Expr, ExprId, Mod, Operand, OperandKind, Piece, Segment, Template};
use crate::op::OpKind;

/// A small generator of random numbers: Steele, Lea and Flood, "Fast splittable pseudorandom
/// number generators" (2014). Good enough to choose offsets and to fill buffers.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A sequence for each seed, disk and client.
    #[must_use]
    pub fn new(seed: u64, disk: u32, client: u32) -> Self {
        let mut mixed = Self(seed);
        let start = mixed.next_u64() ^ (u64::from(disk) << 32 | u64::from(client));
        Self(Self(start).next_u64())
    }

    /// The sequence of the published algorithm for a seed.
    #[must_use]
    pub const fn seeded(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Fills a buffer.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let bytes = self.next_u64().to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }
}

/// What a client's expressions depend on.
#[derive(Debug)]
pub(super) struct Values {
    client: u32,
    clients: u32,
    random: SplitMix64,
    registers: Box<[i64]>,
    strings: [Vec<u8>; 10],
}

impl Values {
    /// Registers 0, strings empty.
    pub(super) fn new(program: &Program, client: u32, clients: u32, random: SplitMix64) -> Self {
        let strings = std::array::from_fn(|slot| {
            let used = program.segments.contains(&Segment::Slot(slot as u8));
            Vec::with_capacity(if used { Program::MAX_STRING } else { 0 })
        });
        let registers = vec![0; program.registers.len()].into_boxed_slice();
        Self { client, clients, random, registers, strings }
    }

    /// A random number below `end`, which is not 0: the upper half of a product, as in Lemire, "Fast
    /// random integer generation in an interval" (2019); for the ends here its bias is below 2^-32.
    #[inline]
    pub(super) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.random.next_u64()) * u128::from(end)) >> 64) as u64
    }

    /// Value of a string slot.
    #[inline]
    pub(super) fn string(&self, slot: u8) -> &[u8] {
        &self.strings[usize::from(slot)]
    }

    /// Gives a string slot a new value.
    pub(super) fn draw_string(&mut self, slot: u8, template: &Template) {
        let value = &mut self.strings[usize::from(slot)];
        value.clear();
        for piece in &template.pieces {
            match piece {
                Piece::Literal(bytes) => value.extend_from_slice(bytes),
                Piece::OneOf(set) => {
                    value.push(set[(self.random.next_u64() % set.len() as u64) as usize]);
                }
            }
        }
    }

    /// Value of an operand.
    #[inline]
    pub(super) fn get(&mut self, program: &Program, operand: Operand) -> i64 {
        match operand.kind() {
            OperandKind::Literal(value) => value,
            OperandKind::Expr(id) => self.expr(program, id),
        }
    }

    /// Value of an operand that counts bytes: never negative.
    #[inline]
    pub(super) fn bytes(&mut self, program: &Program, operand: Operand) -> u64 {
        self.get(program, operand).max(0) as u64
    }

    /// Value of an expression.
    pub(super) fn expr(&mut self, program: &Program, id: ExprId) -> i64 {
        match &program.exprs[id.0 as usize] {
            Expr::Child => i64::from(self.client),
            Expr::Children => i64::from(self.clients),
            Expr::Previous { register, add } => {
                self.registers[usize::from(*register)].wrapping_add(*add)
            }
            Expr::Random { mods } => {
                let start = (self.random.next_u64() >> 2) as i64;
                mods.iter().fold(start, |value, change| match change {
                    Mod::Align(to) => value - value % to,
                    Mod::Modulo(by) => value % by,
                    Mod::Add(what) => value.wrapping_add(*what),
                })
            }
            Expr::Text { first, count } => {
                self.text(program, program.segment_range(*first, *count))
            }
        }
    }

    /// Stores operands that some `+n` refers to.
    #[cold]
    pub(super) fn record(&mut self, program: &Program, op: OpKind, values: &[i64]) {
        for (register, value) in program.registers.iter().zip(&mut self.registers) {
            if register.op == op
                && let Some(new) = values.get(usize::from(register.position))
            {
                *value = *new;
            }
        }
    }

    /// A number spelled with string slots: decimal digits with a sign, or 0.
    fn text(&self, program: &Program, segments: &[Segment]) -> i64 {
        let mut digits = Vec::new();
        for segment in segments {
            match segment {
                Segment::Literal { start, len } => {
                    digits.extend_from_slice(program.literal(*start, *len));
                }
                Segment::Slot(slot) => digits.extend_from_slice(self.string(*slot)),
                Segment::Client | Segment::Drawn(_) => {}
            }
        }
        std::str::from_utf8(&digits).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_the_published_sequence() {
        // First values for seed 1234567 in the reference implementation's documentation.
        let mut random = SplitMix64(1_234_567);
        assert_eq!(random.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(random.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn clients_and_disks_have_sequences_of_their_own() {
        let first = |disk, client| SplitMix64::new(1, disk, client).next_u64();
        assert_eq!(first(0, 0), first(0, 0));
        assert!(first(0, 1) != first(0, 0) && first(1, 0) != first(0, 0));
        assert_ne!(first(0, 1), first(1, 0));
    }

    #[test]
    fn changes_apply_from_left_to_right() {
        let expr = |mods: Vec<Mod>| Program {
            exprs: vec![Expr::Random { mods: mods.into() }].into(),
            ..Program::default()
        };
        let program = expr(vec![Mod::Modulo(100), Mod::Add(25)]);
        let mut values = Values::new(&program, 0, 1, SplitMix64::new(1, 0, 0));
        for _ in 0..1000 {
            assert!((25..125).contains(&values.expr(&program, ExprId(0))));
        }
        let program = expr(vec![Mod::Align(4096), Mod::Modulo(1_048_576)]);
        let mut values = Values::new(&program, 0, 1, SplitMix64::new(1, 0, 0));
        for _ in 0..1000 {
            let value = values.expr(&program, ExprId(0));
            assert!(value % 4096 == 0 && (0..1_048_576).contains(&value));
        }
    }
}
