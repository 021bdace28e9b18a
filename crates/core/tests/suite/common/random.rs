//! Seeded random channels, contexts and claims.

use super::level;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_core::incidence::{Family, Geometry, Incidence, Listed, Subsets};
use undertone_core::{
    Bits, Bound, Claim, Context, Decimal, Delta, Epsilon, KEEP_ONE, Keep, MASS_ONE, Prior,
    PriorBox, Priors, Secret, Shape, Subject, Table, WEIGHT_ONE,
};

/// A seeded source of channels with many coincidences: zeros, ties, point masses, coarse
/// fractions that sit exactly on simple odds, and rows one unit apart.
pub(crate) struct Random(ChaCha12Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha12Rng::seed_from_u64(seed))
    }

    pub(crate) fn rng(&mut self) -> &mut ChaCha12Rng {
        &mut self.0
    }

    /// Below `end`, with a bias too small to matter to a test.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(end)) >> 64) as u64
    }

    pub(crate) fn size(&mut self, from: usize, to: usize) -> usize {
        from + self.below((to - from + 1) as u64) as usize
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A number of any size below 2^`bits`.
    pub(crate) fn magnitude(&mut self, bits: u64) -> u64 {
        let bits = self.below(bits);
        self.below(1 << bits)
    }

    /// Of any size and sign the kernel can hold.
    pub(crate) fn decimal(&mut self) -> Decimal {
        let digits = self.magnitude(60) as i64 * if self.one_in(2) { 1 } else { -1 };
        Decimal::new(digits, self.below(19) as u8).unwrap()
    }

    /// A number up to and including `one`, often at an end or simple.
    pub(crate) fn probability(&mut self, one: u64) -> u64 {
        match self.below(8) {
            0 => 0,
            1 => one,
            2 => 1,
            3 => one - 1,
            4 => one / 16 * self.below(17),
            _ => self.below(one + 1),
        }
    }

    /// `count` numbers that sum to `one`.
    pub(crate) fn parts(&mut self, count: usize, one: u64) -> Vec<u64> {
        let style = self.below(7);
        let coarse = one / 64;
        let raw: Vec<u64> = (0..count)
            .map(|_| match style {
                0 => self.below(1 << 30),
                1 if self.one_in(2) => 0,
                1 => self.below(1 << 30),
                2 => 0,
                3 => 1 << 20,
                4 => 1 << self.below(40),
                _ => self.below(9),
            })
            .collect();
        let total: u128 = raw.iter().map(|&r| u128::from(r)).sum();
        let unit = if style >= 5 { coarse } else { 1 };
        let mut parts: Vec<u64> = if total == 0 {
            vec![0; count]
        } else {
            raw.iter()
                .map(|&r| {
                    let share = u128::from(one / unit) * u128::from(r) / total;
                    share as u64 * unit
                })
                .collect()
        };
        let left = one - parts.iter().sum::<u64>();
        let at = self.below(count as u64) as usize;
        parts[at] += left;
        parts
    }

    /// Another list with the same sum, one move away.
    fn nudged(&mut self, parts: &[u64], most: u64) -> Vec<u64> {
        let mut parts = parts.to_vec();
        let (from, to) = (self.size(0, parts.len() - 1), self.size(0, parts.len() - 1));
        let moved = (1 + self.below(most)).min(parts[from]);
        parts[from] -= moved;
        parts[to] += moved;
        parts
    }

    pub(crate) fn table(&mut self, inputs: usize, outputs: usize) -> Shape {
        let first = self.parts(outputs, MASS_ONE);
        let style = self.below(4);
        // Some columns may be empty for every input.
        let used = if self.one_in(4) { self.size(1, outputs) } else { outputs };
        let mut masses = Vec::new();
        for _ in 0..inputs {
            let row = match style {
                0 => self.nudged(&first, 2),
                1 => self.nudged(&first, MASS_ONE / 8),
                _ => {
                    let mut row = self.parts(used, MASS_ONE);
                    row.resize(outputs, 0);
                    row
                }
            };
            masses.push(row);
        }
        Shape::Table(Table::from_masses(masses).unwrap())
    }

    pub(crate) fn keep(&mut self, symbols: usize) -> Shape {
        let base = self.parts(symbols, MASS_ONE);
        let same = self.probability(KEEP_ONE);
        let style = self.below(4);
        let keep = (0..symbols)
            .map(|_| match style {
                0 => same,
                1 => same.saturating_sub(self.below(3)),
                _ => self.probability(KEEP_ONE),
            })
            .collect();
        Shape::Keep(Keep::new(keep, base).unwrap())
    }

    pub(crate) fn bits(&mut self, symbols: usize) -> Shape {
        let own = self.probability(WEIGHT_ONE);
        let other = match self.below(6) {
            0 => own,
            1 => own.saturating_sub(1),
            2 => WEIGHT_ONE - own,
            _ => self.probability(WEIGHT_ONE),
        };
        Shape::Bits(Bits::new(symbols, own, other).unwrap())
    }

    pub(crate) fn shape(&mut self, most: usize) -> Shape {
        match self.below(3) {
            0 => {
                let (inputs, outputs) = (self.size(1, most), self.size(1, most));
                self.table(inputs, outputs)
            }
            1 => {
                let symbols = self.size(1, most);
                self.keep(symbols)
            }
            _ => {
                let symbols = self.size(1, most);
                self.bits(symbols)
            }
        }
    }

    /// Blocks of any family over the symbols, at most about a hundred, with a coin at an end, simple, or near the level at which
    /// nothing is told, on either side of it.
    pub(crate) fn incidence(&mut self, symbols: usize) -> Incidence {
        let family = self.family(symbols);
        let probe = Incidence::new(symbols, 0, family.clone()).unwrap();
        let (each, all) = match &family {
            Family::Subsets(subsets) => (subsets.size(), symbols),
            _ => (probe.replication().unwrap(), probe.blocks().unwrap()),
        };
        let level = (u128::from(MASS_ONE) * each as u128 / all as u128) as u64;
        let coin = match self.below(6) {
            0 => level,
            1 => level.saturating_sub(self.below(3)),
            2 => level + self.below(3).min(MASS_ONE - level),
            3 => self.below(level + 1),
            _ => self.probability(MASS_ONE),
        };
        Incidence::new(symbols, coin, family).unwrap()
    }

    fn family(&mut self, symbols: usize) -> Family {
        loop {
            let found = match self.below(4) {
                0 => Family::Subsets(Subsets::new(self.size(1, symbols - 1))),
                1 => {
                    let order: u32 = [2, 3, 4, 5, 7, 8, 9][self.size(0, 6)];
                    let dimension = self.size(2, 4) as u32;
                    let divisors: Vec<u32> =
                        (1..order).filter(|&m| (order - 1).is_multiple_of(m)).collect();
                    let classes = divisors[self.size(0, divisors.len() - 1)];
                    let cosets = self.size(0, classes as usize) as u32;
                    match Geometry::new(order, dimension, classes, cosets, self.one_in(2)) {
                        Ok(geometry) => Family::Geometry(geometry),
                        Err(_) => continue,
                    }
                }
                2 => {
                    let buckets = [2, 3, 4, 5][self.size(0, 3)];
                    let geometry = Geometry::hashing(buckets, self.size(1, 3) as u32);
                    Family::Geometry(geometry.unwrap())
                }
                _ => self.listed(symbols),
            };
            let fits = Incidence::new(symbols, 0, found.clone());
            if fits.is_ok_and(|found| found.blocks().is_none_or(|blocks| blocks <= 100)) {
                return found;
            }
        }
    }

    /// All rotations of a few blocks, which are in every symbol equally often, and sometimes nothing or everything.
    fn listed(&mut self, symbols: usize) -> Family {
        let mut blocks: Vec<Vec<u32>> = Vec::new();
        for _ in 0..self.size(1, 2) {
            let base = 1 + self.below((1 << symbols) - 2);
            for turn in 0..symbols {
                let inside = |&x: &usize| base >> ((x + turn) % symbols) & 1 == 1;
                blocks.push((0..symbols).filter(inside).map(|x| x as u32).collect());
            }
        }
        if self.one_in(3) {
            blocks.push(Vec::new());
            blocks.push((0..symbols as u32).collect());
        }
        Family::Listed(Listed::new(symbols, &blocks).unwrap())
    }

    /// Any shape, blocks too: for what holds of all of them.
    pub(crate) fn any_shape(&mut self, most: usize) -> Shape {
        if self.one_in(3) {
            let symbols = self.size(2, most);
            return Shape::Incidence(self.incidence(symbols));
        }
        self.shape(most)
    }

    pub(crate) fn prior(&mut self, size: usize) -> Prior {
        Prior::new(self.parts(size, WEIGHT_ONE)).unwrap()
    }

    pub(crate) fn prior_box(&mut self, size: usize) -> PriorBox {
        let centre = self.parts(size, WEIGHT_ONE);
        let style = self.below(4);
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        for &p in &centre {
            let radius = match style {
                0 => 0,
                1 => self.below(3),
                2 => WEIGHT_ONE / 10,
                _ => self.probability(WEIGHT_ONE),
            };
            lower.push(p.saturating_sub(radius));
            upper.push(p + if style == 3 { self.probability(WEIGHT_ONE) } else { radius });
        }
        PriorBox::new(lower, upper).unwrap()
    }

    pub(crate) fn secret(&mut self, size: usize) -> Secret {
        let values = self.size(1, 4);
        let rows = (0..values).map(|_| self.prior(size)).collect();
        Secret::new("s".into(), self.prior(values), rows).unwrap()
    }

    /// Kinds 0 to 4 in the order of [`Context`].
    pub(crate) fn context(&mut self, size: usize, kind: u64) -> Context {
        match kind {
            0 => Context::Unknown,
            1 => Context::Known(self.prior(size)),
            2 => {
                let count = self.size(1, 3);
                Context::Each(Priors::new((0..count).map(|_| self.prior(size)).collect()).unwrap())
            }
            3 => Context::Within(self.prior_box(size)),
            _ => Context::Secret(self.secret(size)),
        }
    }

    pub(crate) fn epsilon(&mut self) -> Epsilon {
        match self.below(5) {
            0 => Epsilon::ZERO,
            1 => level(1 + self.below(20) as u32, 1),
            2 => {
                let denominator = 1 + self.below(64) as u32;
                level(denominator + self.below(64) as u32, denominator)
            }
            3 => level(u32::MAX, u32::MAX - self.below(4) as u32),
            _ => {
                let denominator = 1 + self.below(u64::from(u32::MAX / 4)) as u32;
                level(denominator + self.below(3 * u64::from(u32::MAX / 4)) as u32, denominator)
            }
        }
    }

    /// A claim that the shape and context allow.
    pub(crate) fn claim(&mut self, shape: &Shape, context: &Context) -> Claim {
        if matches!(context, Context::Known(_) | Context::Each(_)) && self.one_in(4) {
            let bound = Bound::Di(self.epsilon());
            return Claim { about: Subject::Input, bound, delta: Delta::ZERO };
        }
        let lip = !matches!(context, Context::Unknown) && !self.one_in(3);
        let bound = if lip {
            let (lower, upper) = (self.epsilon(), self.epsilon());
            Bound::Lip { lower: if self.one_in(2) { upper } else { lower }, upper }
        } else {
            Bound::Ldp(self.epsilon())
        };
        let secret = matches!(context, Context::Secret(_)) && self.one_in(2);
        let about = if secret { Subject::Secret } else { Subject::Input };
        let escape = matches!(shape, Shape::Table(_) | Shape::Keep(_)) && self.one_in(3);
        let units = if escape { 1 + self.below(MASS_ONE - 1) } else { 0 };
        Claim { about, bound, delta: Delta::from_units(units).unwrap() }
    }
}
