//! Blocks that linear equations over a finite field cut out: Hadamard matrices, projective geometries, fractions of
//! them, and hashing.
//!
//! Symbols and blocks are vectors of t coordinates over the field with q elements. A block contains a symbol if the
//! inner product of the two is in a set D: nought, or some cosets of the subgroup of index m, or both. Factors of that subgroup do
//! not change a block, so blocks are vectors up to such factors and symbols are vectors up to any factor. Two different
//! symbols are independent vectors; over all block vectors their two inner products take every pair of values equally often, which
//! is why every pair of symbols shares equally many blocks.
//!
//! * q = 2, D = {0}: rows of a Hadamard matrix.
//! * m = 1, D = {0}: hyperplanes of a projective geometry, blocks of about k/q symbols.
//! * m > 1: blocks of about d k/q symbols, d the size of D.
//! * Hashing: symbols whose coordinate 0 is one, and D = {0}; a block is a linear function of the other coordinates and the
//!   bucket it sends the symbol to.

use super::field::{Field, MAX_ORDER, prime_power};
use super::{IncidenceError, MAX_BLOCKS};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The most coordinates: fields have two elements at least and families at most 2^24 blocks.
pub(super) const MAX_DIMENSION: usize = 25;

/// The most additions that summing over all blocks may take: a second or two.
const MAX_SUMS: u64 = 1 << 31;

/// A family of blocks given by linear equations: at most 2^24 blocks, at least one symbol and one that is not in every block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Geometry {
    dimension: u32,
    classes: u32,
    cosets: u32,
    zero: bool,
    hashing: bool,
    field: Box<Field>,
    /// q^0, q^1, .. q^t.
    places: Vec<u64>,
    /// ⌊2^64 / q^e⌋ + 1 for e from one on: times a number n with n q^e below 2^64, its upper half is the quotient by q^e.
    reciprocals: Box<[u64]>,
    /// 1 + q + .. + q^(e - 1) for e from nought on.
    ones: Box<[u64]>,
    blocks: u64,
    replication: u64,
}

/// The coordinates of a symbol, and the lowest that is not nought.
struct Point {
    coordinates: [u32; MAX_DIMENSION],
    pivot: usize,
}

impl Geometry {
    /// Blocks over the field with `order` elements in `dimension` coordinates. Inner products are inside if they are nought
    /// and `zero` is set, or if their logarithm leaves a rest below `cosets` when divided by `classes`.
    pub fn new(
        order: u32,
        dimension: u32,
        classes: u32,
        cosets: u32,
        zero: bool,
    ) -> Result<Self, IncidenceError> {
        Self::build(order, dimension, classes, cosets, zero, false)
    }

    /// Hashing into `buckets`, a prime power: linear functions of `dimension` coordinates, up to a factor.
    pub fn hashing(buckets: u32, dimension: u32) -> Result<Self, IncidenceError> {
        Self::build(buckets, dimension.saturating_add(1), 1, 0, true, true)
    }

    fn build(
        order: u32,
        dimension: u32,
        classes: u32,
        cosets: u32,
        zero: bool,
        hashing: bool,
    ) -> Result<Self, IncidenceError> {
        let Some(field) = Field::new(order) else {
            let next = (order.max(2)..=MAX_ORDER).find(|&q| prime_power(q).is_some());
            return Err(IncidenceError::Order { found: order, next: next.unwrap_or(MAX_ORDER) });
        };
        if classes == 0 || !(order - 1).is_multiple_of(classes) {
            return Err(IncidenceError::Classes { found: classes, order });
        }
        let nothing = cosets == 0 && !zero;
        let everything = cosets == classes && zero;
        if nothing || everything || cosets > classes {
            return Err(IncidenceError::Cosets { found: cosets, classes, zero });
        }
        let too_many = IncidenceError::Blocks { order, dimension };
        if dimension < 2 {
            return Err(IncidenceError::Dimension { found: dimension - u32::from(hashing) });
        }
        let mut places = alloc::vec![1u64];
        for _ in 0..dimension {
            let place = places.last().copied().unwrap_or(1) * u64::from(order);
            if places.len() >= MAX_DIMENSION || place / u64::from(order) > MAX_BLOCKS as u64 {
                return Err(too_many);
            }
            places.push(place);
        }
        let reciprocal = |&place: &u64| ((1u128 << 64) / u128::from(place)) as u64 + 1;
        let reciprocals = places.iter().skip(1).map(reciprocal).collect();
        let ones = places.iter().map(|place| (place - 1) / u64::from(order - 1)).collect();
        let mut geometry = Self {
            dimension,
            classes,
            cosets,
            zero,
            hashing,
            field: Box::new(field),
            places,
            reciprocals,
            ones,
            blocks: 0,
            replication: 0,
        };
        geometry.blocks = geometry.start(geometry.coordinates());
        geometry.replication = geometry.count_replication();
        let too_long = geometry.sum_steps() > MAX_SUMS;
        if too_long || geometry.blocks > MAX_BLOCKS as u64 { Err(too_many) } else { Ok(geometry) }
    }

    /// About how many additions it takes to sum over all blocks: each coordinate but two is exchanged once for q^dimension
    /// sums, and every block is given a sum for every value inside.
    pub(super) fn sum_steps(&self) -> u64 {
        let exchanged = self.place(self.coordinates()) * u64::from(self.dimension.max(3) - 2);
        let given = self.blocks.saturating_mul(1 + u64::from(self.values(true)));
        exchanged.saturating_add(given.saturating_mul(2))
    }

    pub(super) fn check(&self, symbols: usize) -> Result<(), IncidenceError> {
        let points = self.points();
        if symbols as u64 <= points {
            return Ok(());
        }
        let (mut next, mut room) = (self.dimension(), points);
        while room < symbols as u64 {
            room = room * u64::from(self.order()) + u64::from(!self.hashing);
            next += 1;
        }
        Err(IncidenceError::Points { symbols, points, next })
    }

    /// The number of elements of the field; for hashing, of buckets.
    pub fn order(&self) -> u32 {
        self.field.order()
    }

    /// The number of coordinates; for hashing, of those that functions are made of.
    pub fn dimension(&self) -> u32 {
        self.dimension - u32::from(self.hashing)
    }

    /// The index of the subgroup whose factors do not change a block.
    pub fn classes(&self) -> u32 {
        self.classes
    }

    /// How many cosets of the subgroup are inside.
    pub fn cosets(&self) -> u32 {
        self.cosets
    }

    /// Whether nought is inside.
    pub fn zero(&self) -> bool {
        self.zero
    }

    /// Whether this is hashing.
    pub fn is_hashing(&self) -> bool {
        self.hashing
    }

    pub(super) fn field(&self) -> &Field {
        &self.field
    }

    /// q^`exponent`.
    pub(super) fn place(&self, exponent: usize) -> u64 {
        self.places[exponent]
    }

    /// The number of coordinates.
    pub(super) fn coordinates(&self) -> usize {
        self.dimension as usize
    }

    /// 1 + q + .. + q^(exponent - 1).
    pub(super) fn ones(&self, exponent: usize) -> u64 {
        self.ones[exponent]
    }

    /// How many symbols there is room for.
    pub fn points(&self) -> u64 {
        let top = self.coordinates();
        if self.hashing { self.place(top - 1) } else { self.ones(top) }
    }

    /// Blocks in front of those whose highest coordinate is `exponent`.
    pub(super) fn start(&self, exponent: usize) -> u64 {
        let skipped = u64::from(self.hashing);
        u64::from(self.classes) * (self.ones(exponent) - skipped.min(exponent as u64))
    }

    /// The lowest of the highest coordinates a block can have: a function that is constant hashes nothing.
    pub(super) fn first_exponent(&self) -> usize {
        usize::from(self.hashing)
    }

    pub(super) fn block_count(&self) -> u64 {
        self.blocks
    }

    /// How many blocks contain a symbol, the same for every symbol.
    pub(super) fn replication(&self) -> u64 {
        self.replication
    }

    fn count_replication(&self) -> u64 {
        let below = self.coordinates() - 1;
        let by_zero = u64::from(self.zero) * u64::from(self.classes) * self.ones(below);
        let hidden = if self.hashing { 1 } else { 0 };
        by_zero + u64::from(self.cosets) * (self.place(below) - hidden)
    }

    /// How many blocks contain two different symbols, the same for every pair.
    pub(super) fn pairs(&self) -> u64 {
        let inside = u64::from(self.values(true));
        let subgroup = u64::from((self.order() - 1) / self.classes);
        let vectors = self.place(self.coordinates() - 2) * inside * inside;
        let hidden = if self.hashing { u64::from(self.cosets) } else { 0 };
        (vectors - u64::from(self.zero)) / subgroup - hidden
    }

    /// How many values of the inner product are inside, of as many as the field has elements.
    pub fn inside_values(&self) -> u32 {
        self.values(true)
    }

    /// How many values of the inner product are inside, or outside.
    pub(super) fn values(&self, inside: bool) -> u32 {
        let subgroup = (self.order() - 1) / self.classes;
        let values = u32::from(self.zero) + self.cosets * subgroup;
        if inside { values } else { self.order() - values }
    }

    /// The value with the given number among those inside, or outside: nought first, then by logarithm, class by class
    /// within each multiple of `classes`.
    pub(super) fn value(&self, inside: bool, number: u32) -> u32 {
        let has_zero = self.zero == inside;
        if has_zero && number == 0 {
            return 0;
        }
        let number = number - u32::from(has_zero);
        let (first, width) =
            if inside { (0, self.cosets) } else { (self.cosets, self.classes - self.cosets) };
        self.field.power(number / width * self.classes + first + number % width)
    }

    /// Whether a value of the inner product is inside.
    pub(super) fn is_inside(&self, value: u32) -> bool {
        match value {
            0 => self.zero,
            _ => self.field.logarithm(value) % self.classes < self.cosets,
        }
    }

    /// A number below 2^25 divided by q^`exponent`.
    #[inline]
    pub(super) fn quotient(&self, number: u32, exponent: usize) -> u32 {
        match exponent.checked_sub(1) {
            None => number,
            Some(at) => ((u128::from(number) * u128::from(self.reciprocals[at])) >> 64) as u32,
        }
    }

    /// The digits of a number below 2^25, the lowest first. None waits for another.
    #[inline]
    pub(super) fn digits(&self, number: u32, digits: &mut [u32]) {
        let mut above = number;
        for (digit, &reciprocal) in digits.iter_mut().zip(&self.reciprocals) {
            let quotient = ((u128::from(number) * u128::from(reciprocal)) >> 64) as u32;
            *digit = above - quotient * self.order();
            above = quotient;
        }
    }

    /// The vector of a symbol: coordinate 0 is one for hashing, else the highest that is not nought.
    #[inline]
    fn point(&self, symbol: u32) -> Point {
        let mut coordinates = [0; MAX_DIMENSION];
        let mut top = self.coordinates() - 1;
        if self.hashing {
            coordinates[0] = 1;
            self.digits(symbol, &mut coordinates[1..=top]);
            return Point { coordinates, pivot: 0 };
        }
        while self.ones[top] > u64::from(symbol) {
            top -= 1;
        }
        self.digits(symbol - self.ones[top] as u32, &mut coordinates[..top]);
        coordinates[top] = 1;
        let pivot = coordinates.iter().position(|&coordinate| coordinate > 0).unwrap_or(top);
        Point { coordinates, pivot }
    }

    /// The highest coordinate of a block, what it is, and the number that the lower ones make.
    pub(super) fn block(&self, block: u32) -> (usize, u32, u32) {
        let block = u64::from(block);
        let mut top = self.coordinates() - 1;
        while self.start(top) > block {
            top -= 1;
        }
        let within = block - self.start(top);
        let class = within / self.place(top);
        (top, self.field.power(class as u32), (within % self.place(top)) as u32)
    }

    /// Whether a block contains a symbol.
    pub(super) fn contains(&self, block: u32, symbol: u32) -> bool {
        let (top, leading, rest) = self.block(block);
        let point = self.point(symbol);
        let mut digits = [0; MAX_DIMENSION];
        self.digits(rest, &mut digits[..top]);
        digits[top] = leading;
        self.is_inside(self.field.inner(&point.coordinates[..=top], &digits))
    }

    /// The block with the given number among those that contain the symbol, or that do not.
    ///
    /// Blocks are taken by their highest coordinate e, the lowest first. With p the lowest coordinate of the symbol that is not
    /// nought: for e < p the inner product is nought, so all such blocks or none are counted, in their own order; for e = p it
    /// is the product of two coordinates, and classes are counted from the one that makes its logarithm's rest nought (or, outside,
    /// `cosets`); for e > p coordinate p is whatever makes the inner product the wanted value, and of the number, values count fastest,
    /// then the other coordinates below e, then classes.
    pub(super) fn nth(&self, symbol: u32, inside: bool, number: u32) -> u32 {
        let Point { coordinates, pivot } = self.point(symbol);
        let field = &self.field;
        let classes = u64::from(self.classes);
        let mut rest = u64::from(number);
        let silent = if self.zero == inside { classes } else { 0 };
        for top in self.first_exponent()..pivot {
            let here = silent * self.places[top];
            if rest < here {
                return (self.start(top) + rest) as u32;
            }
            rest -= here;
        }
        let (first, width) =
            if inside { (0, self.cosets) } else { (self.cosets, self.classes - self.cosets) };
        if pivot >= self.first_exponent() {
            let here = u64::from(width) * self.places[pivot];
            if rest < here {
                let (class, low) = (rest / self.places[pivot], rest % self.places[pivot]);
                let turned = field.logarithm(coordinates[pivot]) % self.classes;
                let class = (class as u32 + first + self.classes - turned) % self.classes;
                return (self.start(pivot) + u64::from(class) * self.places[pivot] + low) as u32;
            }
            rest -= here;
        }
        let values = u64::from(self.values(inside));
        // Most blocks have the highest coordinate of all.
        let before = |top: usize| classes * values * (self.ones[top - 1] - self.ones[pivot]);
        let mut top = self.coordinates() - 1;
        while rest < before(top) {
            top -= 1;
        }
        let rest = (rest - before(top)) as u32;
        let (rest, value) = (rest / values as u32, rest % values as u32);
        let class = self.quotient(rest, top - 1);
        let rest = rest - class * self.places[top - 1] as u32;
        // The digits below the pivot stay where they are, and those above it move up by one.
        let mut digits = [0; MAX_DIMENSION];
        self.digits(rest, &mut digits[..top - 1]);
        digits.copy_within(pivot..top - 1, pivot + 1);
        digits[pivot] = 0;
        digits[top] = field.power(class);
        let sum = field.inner(&coordinates[..=top], &digits);
        let wanted = field.subtract(self.value(inside, value), sum);
        let own = field.divide(wanted, coordinates[pivot]);
        let above = self.quotient(rest, pivot);
        let below = rest - above * self.places[pivot] as u32;
        let low = below + (above * self.order() + own) * self.places[pivot] as u32;
        (self.start(top) + u64::from(class) * self.places[top] + u64::from(low)) as u32
    }
}
