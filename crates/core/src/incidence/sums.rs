//! Sums over all blocks of a geometry, or over all symbols, at once.
//!
//! The sum over a hyperplane, for every hyperplane, is a discrete Radon transform. Vectors come in charts, sets in which one
//! coordinate is fixed and some are free. For one chart of sources, R(w; c) is the sum over the sources whose free coordinates have
//! inner product c with w. Scaling w and c together changes nothing, so R is worked out only for vectors w whose lowest coordinate
//! that is not nought (the pivot) is one: coordinates below the pivot are summed out, the pivot's becomes c, and each other coordinate is
//! exchanged for one of w by a sum of q terms. That is about t q^t additions for q^t pairs of vectors, where one pair at a time would
//! take q^(2t).

use super::geometry::{Geometry, MAX_DIMENSION};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::AddAssign;

/// Numbers that can be summed.
pub trait Summed: Copy + Default + AddAssign + PartialEq {}

impl<T: Copy + Default + AddAssign + PartialEq> Summed for T {}

/// Vectors with one coordinate fixed and some neighbouring ones free; the others are nought.
#[derive(Clone, Copy)]
struct Chart {
    /// The index of its first vector in the list.
    start: usize,
    fixed: usize,
    value: u32,
    /// The lowest free coordinate, and how many are free.
    lowest: usize,
    free: usize,
}

impl Geometry {
    fn symbol_charts(&self) -> Vec<Chart> {
        let top = self.coordinates();
        if self.is_hashing() {
            return vec![Chart { start: 0, fixed: 0, value: 1, lowest: 1, free: top - 1 }];
        }
        let chart = |fixed: usize| Chart {
            start: self.ones(fixed) as usize,
            fixed,
            value: 1,
            lowest: 0,
            free: fixed,
        };
        (0..top).map(chart).collect()
    }

    fn block_charts(&self) -> Vec<Chart> {
        let charts = |fixed: usize| {
            (0..self.classes()).map(move |class| Chart {
                start: (self.start(fixed) + u64::from(class) * self.place(fixed)) as usize,
                fixed,
                value: self.field().power(class),
                lowest: 0,
                free: fixed,
            })
        };
        (self.first_exponent()..self.coordinates()).flat_map(charts).collect()
    }

    /// For every block, the sum of the weights of the symbols in it.
    pub(super) fn block_sums<T: Summed>(&self, weights: &[T]) -> Vec<T> {
        let mut sums = vec![T::default(); self.block_count() as usize];
        self.transform(&self.symbol_charts(), weights, &self.block_charts(), &mut sums);
        sums
    }

    /// For every symbol, the sum of the counts of the blocks it is in.
    pub(super) fn symbol_sums<T: Summed>(&self, counts: &[T], symbols: usize) -> Vec<T> {
        let mut sums = vec![T::default(); symbols];
        self.transform(&self.block_charts(), counts, &self.symbol_charts(), &mut sums);
        sums
    }

    fn transform<T: Summed>(&self, from: &[Chart], values: &[T], to: &[Chart], sums: &mut [T]) {
        let inside = Inside::of(self);
        for chart in from {
            let end = (chart.start + self.place(chart.free) as usize).min(values.len());
            let values = values.get(chart.start..end).unwrap_or_default();
            if values.iter().any(|value| *value != T::default()) {
                Radon::new(self, &inside, *chart, values).add_to(to, sums);
            }
        }
    }
}

/// The values whose product with a factor is inside, in their order, for one factor of every class.
struct Inside {
    values: Vec<u16>,
    count: usize,
}

impl Inside {
    fn of(geometry: &Geometry) -> Self {
        let count = geometry.values(true) as usize;
        let mut values = Vec::with_capacity(count * geometry.classes() as usize);
        for class in 0..geometry.classes() {
            let factor = geometry.field().power(class);
            let inside =
                |&value: &u32| geometry.is_inside(geometry.field().multiply(value, factor));
            // Fields have at most 4,096 elements.
            values.extend((0..geometry.order()).filter(inside).map(|value| value as u16));
        }
        Self { values, count }
    }

    fn of_class(&self, class: u32) -> &[u16] {
        &self.values[class as usize * self.count..][..self.count]
    }
}

/// What one chart of sources adds to every target.
struct Radon<'a, T> {
    geometry: &'a Geometry,
    inside: &'a Inside,
    chart: Chart,
    /// For every pivot, R by the coordinates above the pivot and by c, which is fastest.
    by_pivot: Vec<Vec<T>>,
    total: T,
}

impl<'a, T: Summed> Radon<'a, T> {
    fn new(geometry: &'a Geometry, inside: &'a Inside, chart: Chart, values: &[T]) -> Self {
        let order = geometry.order() as usize;
        let mut left = values.to_vec();
        left.resize(geometry.place(chart.free) as usize, T::default());
        let mut by_pivot = Vec::with_capacity(chart.free);
        for pivot in 0..chart.free {
            by_pivot.push(exchanged(geometry, &left, chart.free - pivot));
            left = left.chunks_exact(order).map(sum).collect();
        }
        Self { geometry, inside, chart, by_pivot, total: sum(&left) }
    }

    /// What the chart adds to a target whose coordinates are `free` at the free ones and `fixed` at the fixed one.
    fn at(&self, free: u64, fixed: u32) -> T {
        let field = self.geometry.field();
        let shift = field.multiply(self.chart.value, fixed);
        if free == 0 {
            return if self.geometry.is_inside(shift) { self.total } else { T::default() };
        }
        let mut digits = [0; MAX_DIMENSION];
        self.geometry.digits(free as u32, &mut digits[..self.chart.free]);
        let pivot = digits.iter().position(|&digit| digit > 0).unwrap_or(0);
        let scale = digits[pivot];
        let above = match scale {
            1 => u64::from(self.geometry.quotient(free as u32, pivot + 1)),
            _ => (pivot + 1..self.chart.free).fold(0, |sum, at| {
                let digit = u64::from(field.divide(digits[at], scale));
                sum + digit * self.geometry.place(at - pivot - 1)
            }),
        };
        let order = self.geometry.order() as usize;
        let row = &self.by_pivot[pivot][above as usize * order..][..order];
        // A sum c has c scale + shift as its inner product.
        let moved = field.divide(shift, scale);
        let values = self.inside.of_class(field.logarithm(scale) % self.geometry.classes());
        let mut sum = T::default();
        if field.is_modular() {
            let (below, above) =
                values.split_at(values.partition_point(|&value| u32::from(value) < moved));
            let (down, up) = (moved as usize, order - moved as usize);
            above.iter().for_each(|&value| sum += row[usize::from(value) - down]);
            below.iter().for_each(|&value| sum += row[usize::from(value) + up]);
        } else {
            for &value in values {
                sum += row[field.subtract(value.into(), moved) as usize];
            }
        }
        sum
    }

    fn add_to(&self, targets: &[Chart], sums: &mut [T]) {
        let (geometry, order) = (self.geometry, u64::from(self.geometry.order()));
        // Where many targets share what they are given, it is worked out once.
        let width = geometry.place(self.chart.free);
        let shared = self.chart.lowest == 0 && width * order <= sums.len() as u64;
        let table: Vec<T> = match shared {
            true => (0..width * order).map(|at| self.at(at % width, (at / width) as u32)).collect(),
            false => Vec::new(),
        };
        for target in targets {
            let size = geometry.place(target.free) as usize;
            let end = (target.start + size).min(sums.len());
            let Some(sums) = sums.get_mut(target.start..end) else { continue };
            let leading = u64::from(target.value) * geometry.place(target.fixed);
            for (low, sum) in sums.iter_mut().enumerate() {
                let vector = leading + low as u64 * geometry.place(target.lowest);
                *sum += match shared {
                    // The fixed coordinate is the one right above the free ones.
                    true => table[(vector % (width * order)) as usize],
                    false => {
                        let fixed = vector / geometry.place(self.chart.fixed) % order;
                        let free = vector / geometry.place(self.chart.lowest) % width;
                        self.at(free, fixed as u32)
                    }
                };
            }
        }
    }
}

fn sum<T: Summed>(values: &[T]) -> T {
    let mut sum = T::default();
    for &value in values {
        sum += value;
    }
    sum
}

/// R for vectors whose lowest coordinate is one: by the other coordinates, and by c, which is fastest. `values` are by the coordinates of the
/// sources, `free` of them, the lowest fastest.
///
/// Coordinates are exchanged from the highest to the second. The one whose turn it is comes slowest and c next, so that what is
/// added up is long and in one piece.
fn exchanged<T: Summed>(geometry: &Geometry, values: &[T], free: usize) -> Vec<T> {
    let order = geometry.order() as usize;
    if free < 2 {
        return values.to_vec();
    }
    // What is still to be exchanged after the coordinate whose turn it is, and what was exchanged.
    let (mut rest, mut done) = (values.len() / (order * order), 1);
    let row = values.len() / order;
    let mut table: Vec<T> =
        values.chunks_exact(row).flat_map(|row| transposed(row, order)).collect();
    loop {
        table = exchange(geometry, &table);
        if rest == 1 {
            return transposed(&table, row / order);
        }
        rest /= order;
        // By new, c, done, next and rest; then by next, c, done, new and rest.
        let mut turned = vec![T::default(); table.len()];
        for (at, piece) in table.chunks_exact(rest).enumerate() {
            let (new, middle, next) = (at / (row / rest), at / order % (order * done), at % order);
            let to = ((next * order * done + middle) * order + new) * rest;
            turned[to..to + rest].copy_from_slice(piece);
        }
        table = turned;
        done *= order;
    }
}

/// A matrix with rows of `width`, column by column.
fn transposed<T: Summed>(matrix: &[T], width: usize) -> Vec<T> {
    let column = |at: usize| matrix.iter().skip(at).step_by(width).copied();
    (0..width).flat_map(column).collect()
}

/// Exchanges the slowest coordinate x for w: what had c has c + x w.
fn exchange<T: Summed>(geometry: &Geometry, table: &[T]) -> Vec<T> {
    let (field, order) = (geometry.field(), geometry.order() as usize);
    let row = table.len() / order;
    let piece = row / order;
    let mut next = vec![T::default(); table.len()];
    let add = |into: &mut [T], from: &[T]| {
        into.iter_mut().zip(from).for_each(|(into, from)| *into += *from);
    };
    // Where sums wrap around once, all of c is two pieces; else each has its place.
    let places: Vec<u16> = match field.is_modular() {
        true => Vec::new(),
        false => (0..geometry.order())
            .flat_map(|by| (0..geometry.order()).map(move |c| field.add(c, by) as u16))
            .collect(),
    };
    // Alphabets that leave most of a geometry empty.
    let silent: Vec<bool> =
        table.chunks_exact(row).map(|row| row.iter().all(|value| *value == T::default())).collect();
    for (new, into) in next.chunks_exact_mut(row).enumerate() {
        for (old, from) in table.chunks_exact(row).enumerate() {
            if silent[old] {
                continue;
            }
            let by = field.multiply(old as u32, new as u32) as usize;
            if field.is_modular() {
                let (wrapped, straight) = into.split_at_mut(by * piece);
                add(straight, from);
                add(wrapped, &from[straight.len()..]);
                continue;
            }
            for (from, &to) in from.chunks_exact(piece).zip(&places[by * order..]) {
                add(&mut into[to as usize * piece..][..piece], from);
            }
        }
    }
    next
}
