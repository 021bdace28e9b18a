//! A simplex for few rows and many bounded variables. It ends at a vertex, keeps its basis from one
//! question to the next, and takes new columns at any time.
//!
//! Minimise Σ c_j z_j over Σ_j z_j a_j = b and lower <= z <= upper. Row i has a variable of its own whose
//! column is the unit vector of the row; those variables are the first basis. New costs, bounds and columns
//! start from the last basis, so column generation and branching cost little more than one program.

use crate::dense::inverse;
use crate::vector::dot;

/// Bounds are met, and reduced costs count as zero, to this unless another tolerance is asked for.
pub const TOLERANCE: f64 = 1e-11;

/// Smaller pivots would make the basis nearly singular.
const LEAST_PIVOT: f64 = 1e-9;

/// After this many steps the smallest-index rule takes over, which cannot cycle.
const EAGER_STEPS: usize = 500;

/// Far more steps than any problem here takes.
const MOST_STEPS: usize = 50_000;

/// How many steps are made between questions whether to stop.
const ASKED_EVERY: usize = 16;

/// The basis is inverted afresh after this many pivots unless it is asked for more often, and before an answer is
/// believed.
const REFRESH: usize = 64;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// The vertex is optimal.
    Optimal,
    /// No point satisfies all rows and bounds.
    Infeasible,
    /// The cost falls for ever; `slope` is how fast along the edge that was followed last.
    Unbounded {
        /// The reduced cost of the variable that nothing stops.
        slope: f64,
    },
    /// Too many steps, or a basis that rounding has spoilt.
    Unsettled,
}

/// The least and the largest value of a variable; the least is finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The least value.
    pub lower: f64,
    /// The largest value; may be infinite.
    pub upper: f64,
}

impl Bounds {
    /// From zero on.
    pub const NON_NEGATIVE: Self = Self { lower: 0.0, upper: f64::INFINITY };

    /// Nothing but zero.
    pub const ZERO: Self = Self { lower: 0.0, upper: 0.0 };
}

/// One equation, with the variable that is its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// The right-hand side.
    pub rhs: f64,
    /// The bounds of the row's own variable: zero for an equation, a range for an inequality.
    pub own: Bounds,
    /// What one unit of the row's own variable costs.
    pub cost: f64,
}

impl Row {
    /// Σ_j z_j a_j = rhs.
    pub fn equal(rhs: f64) -> Self {
        Self { rhs, own: Bounds::ZERO, cost: 0.0 }
    }
}

/// Where a variable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Basic,
    Lower,
    Upper,
}

/// A variable: the rows' own come first, then the columns in the order in which they were added.
#[derive(Debug, Clone, Copy)]
struct Variable {
    bounds: Bounds,
    cost: f64,
    place: Place,
}

/// A linear program and the vertex its last question ended at.
#[derive(Debug, Clone)]
pub struct Simplex {
    rhs: Vec<f64>,
    variables: Vec<Variable>,
    /// The entries of the added columns, one column after another.
    entries: Vec<f64>,
    basis: Vec<usize>,
    /// Row i belongs to the i-th basic variable.
    inverse: Vec<Vec<f64>>,
    /// The basic variables' values.
    values: Vec<f64>,
    /// Pivots since the basis was inverted, and how many there may be.
    stale: usize,
    most_stale: usize,
    tolerance: f64,
}

impl Simplex {
    /// A program without columns.
    pub fn new(rows: &[Row]) -> Self {
        let count = rows.len();
        let own = |row: &Row| Variable { bounds: row.own, cost: row.cost, place: Place::Basic };
        Self {
            rhs: rows.iter().map(|row| row.rhs).collect(),
            variables: rows.iter().map(own).collect(),
            entries: Vec::new(),
            basis: (0..count).collect(),
            inverse: (0..count).map(|i| unit(count, i)).collect(),
            values: vec![0.0; count],
            stale: 0,
            most_stale: REFRESH,
            tolerance: TOLERANCE,
        }
    }

    /// Reduced costs up to this count as zero.
    pub fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    /// Inverts the basis afresh after every pivot: with far more columns than rows that costs little, and the
    /// path to the vertex depends on the data alone.
    pub fn always_refresh(&mut self) {
        self.most_stale = 1;
    }

    /// Adds a column with one entry per row, at its lower bound; returns its number, from 0 on.
    pub fn add_column(&mut self, entries: &[f64], bounds: Bounds, cost: f64) -> usize {
        debug_assert_eq!(entries.len(), self.rhs.len(), "one entry per row");
        self.entries.extend_from_slice(entries);
        self.variables.push(Variable { bounds, cost, place: Place::Lower });
        self.variables.len() - 1 - self.rhs.len()
    }

    /// Changes the bounds of an added column.
    pub fn set_bounds(&mut self, column: usize, bounds: Bounds) {
        let at = self.rhs.len() + column;
        self.variables[at].bounds = bounds;
        // Nothing can rest on an infinite bound.
        if self.variables[at].place == Place::Upper && !bounds.upper.is_finite() {
            self.variables[at].place = Place::Lower;
        }
    }

    /// Changes the cost of an added column.
    pub fn set_cost(&mut self, column: usize, cost: f64) {
        let at = self.rhs.len() + column;
        self.variables[at].cost = cost;
    }

    /// The value of an added column at the last vertex.
    pub fn value(&self, column: usize) -> f64 {
        let at = self.rhs.len() + column;
        match self.resting(at) {
            Some(value) => value,
            None => {
                let row = self.basis.iter().position(|&basic| basic == at);
                row.map_or(0.0, |row| self.values[row])
            }
        }
    }

    /// The added columns in the basis with their values, in the order of the basis.
    pub fn basic_columns(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let rows = self.rhs.len();
        let basic = self.basis.iter().zip(&self.values);
        basic.filter_map(move |(&at, &value)| Some((at.checked_sub(rows)?, value)))
    }

    /// One price per row: how the cost changes with the row's right-hand side. No column costs less than its
    /// entries at these prices, but for what rests on its upper bound.
    pub fn prices(&self) -> Vec<f64> {
        let costs: Vec<f64> = self.basis.iter().map(|&at| self.variables[at].cost).collect();
        self.prices_of(&costs)
    }

    /// By how much the basic variables miss their bounds in total.
    pub fn violation(&self) -> f64 {
        let beyond = |(&at, &value): (&usize, &f64)| {
            let Bounds { lower, upper } = self.variables[at].bounds;
            (lower - value).max(value - upper).max(0.0)
        };
        self.basis.iter().zip(&self.values).map(beyond).sum()
    }

    /// Widens the bounds that basic variables miss until they are met: where the violation is what rounding
    /// made of the data, the program is solved for the data as they are.
    pub fn forgive(&mut self) {
        for (&at, &value) in self.basis.iter().zip(&self.values) {
            let bounds = &mut self.variables[at].bounds;
            *bounds = Bounds { lower: bounds.lower.min(value), upper: bounds.upper.max(value) };
        }
    }

    /// Minimises the cost from the last basis on.
    pub fn minimise(&mut self) -> Verdict {
        self.minimise_until(&|| false)
    }

    /// Minimises the cost from the last basis on, unless `stop`, asked every few steps, says that there is no time: then
    /// it is unsettled.
    pub fn minimise_until(&mut self, stop: &dyn Fn() -> bool) -> Verdict {
        let mut cleared = false;
        for step in 0..MOST_STEPS {
            if (step + 1) % ASKED_EVERY == 0 && stop() {
                return Verdict::Unsettled;
            }
            if self.stale >= self.most_stale && !self.refresh() {
                return Verdict::Unsettled;
            }
            self.place_values();
            let sides: Vec<f64> = (0..self.basis.len()).map(|row| self.side(row)).collect();
            let feasible = sides.iter().all(|&side| side == 0.0);
            // The total violation of bounds is what falls first, with that of variables that cannot move at all:
            // they have no business in the basis.
            let costed = feasible && cleared;
            let prices =
                if costed { self.prices() } else { self.prices_of(&self.violations(&sides)) };
            let careful = step >= EAGER_STEPS;
            let Some((entering, slope)) = self.entering(&prices, costed, careful) else {
                if feasible && !cleared {
                    cleared = true;
                    continue;
                }
                if self.stale == 0 {
                    return if feasible { Verdict::Optimal } else { Verdict::Infeasible };
                }
                // Believe the vertex only with a fresh inverse.
                if !self.refresh() {
                    return Verdict::Unsettled;
                }
                continue;
            };
            if !self.advance(entering, &sides, careful) {
                return if costed { Verdict::Unbounded { slope } } else { Verdict::Unsettled };
            }
        }
        Verdict::Unsettled
    }

    /// The slope of the total violation in every basic variable; one that cannot move counts as above its bounds.
    fn violations(&self, sides: &[f64]) -> Vec<f64> {
        let slope = |(&at, &side): (&usize, &f64)| {
            let Bounds { lower, upper } = self.variables[at].bounds;
            if side == 0.0 && lower == upper { 1.0 } else { side }
        };
        self.basis.iter().zip(sides).map(slope).collect()
    }

    /// The value of a variable that rests on a bound.
    fn resting(&self, at: usize) -> Option<f64> {
        let Variable { bounds, place, .. } = self.variables[at];
        match place {
            Place::Basic => None,
            Place::Lower => Some(bounds.lower),
            Place::Upper => Some(bounds.upper),
        }
    }

    /// The entries of a variable's column; `None` for a row's own.
    fn column(&self, at: usize) -> Option<&[f64]> {
        let rows = self.rhs.len();
        let at = at.checked_sub(rows)?;
        Some(&self.entries[at * rows..(at + 1) * rows])
    }

    /// What the resting variables leave of the right-hand side decides the basic ones.
    fn place_values(&mut self) {
        let mut left = self.rhs.clone();
        for at in 0..self.variables.len() {
            let Some(value) = self.resting(at).filter(|&value| value != 0.0) else { continue };
            match self.column(at) {
                Some(column) => left.iter_mut().zip(column).for_each(|(l, a)| *l -= a * value),
                None => left[at] -= value,
            }
        }
        self.values = self.inverse.iter().map(|row| dot(row, &left)).collect();
    }

    /// -1 where a basic variable is below its bounds, 1 above, 0 within.
    fn side(&self, row: usize) -> f64 {
        let (value, bounds) = (self.values[row], self.variables[self.basis[row]].bounds);
        let slack = TOLERANCE * (1.0 + value.abs());
        if value < bounds.lower - slack {
            -1.0
        } else if value > bounds.upper + slack {
            1.0
        } else {
            0.0
        }
    }

    /// The prices at which the basic variables are worth what they cost.
    fn prices_of(&self, costs: &[f64]) -> Vec<f64> {
        let mut prices = vec![0.0; self.rhs.len()];
        for (row, &cost) in self.inverse.iter().zip(costs) {
            if cost != 0.0 {
                prices.iter_mut().zip(row).for_each(|(price, entry)| *price += cost * entry);
            }
        }
        prices
    }

    /// A variable worth moving off its bound, with the slope of the cost along it: the steepest, or the first
    /// once `careful`. Columns are looked at before the rows' own variables.
    fn entering(&self, prices: &[f64], costed: bool, careful: bool) -> Option<(usize, f64)> {
        let rows = self.rhs.len();
        let (mut best, mut steepest) = (None, self.tolerance);
        for at in (rows..self.variables.len()).chain(0..rows) {
            let Variable { bounds, cost, place } = self.variables[at];
            if place == Place::Basic || !(bounds.upper > bounds.lower) {
                continue;
            }
            let worth = self.column(at).map_or_else(|| prices[at], |column| dot(prices, column));
            let slope = if costed { cost } else { 0.0 } - worth;
            let descent = if place == Place::Upper { slope } else { -slope };
            if descent > steepest {
                if careful {
                    return Some((at, -descent));
                }
                (best, steepest) = (Some((at, -descent)), descent);
            }
        }
        best
    }

    /// Moves the entering variable until something stops it; false if nothing does.
    fn advance(&mut self, entering: usize, sides: &[f64], careful: bool) -> bool {
        let Variable { bounds, place, .. } = self.variables[entering];
        let direction: Vec<f64> = match self.column(entering) {
            Some(column) => self.inverse.iter().map(|row| dot(row, column)).collect(),
            None => self.inverse.iter().map(|row| row[entering]).collect(),
        };
        let rising = place == Place::Lower;
        // A basic variable outside its bounds is stopped where it comes inside; one within, at its bounds.
        let stops = || {
            direction.iter().enumerate().filter_map(|(row, &entry)| {
                let rate = if rising { -entry } else { entry };
                let own = self.variables[self.basis[row]].bounds;
                let (stop, place) = match (sides[row], rate > 0.0) {
                    (-1.0, true) | (0.0, false) => (own.lower, Place::Lower),
                    (1.0, false) | (0.0, true) => (own.upper, Place::Upper),
                    _ => return None,
                };
                let gap =
                    if rate > 0.0 { stop - self.values[row] } else { self.values[row] - stop };
                let stopped = rate.abs() > LEAST_PIVOT && gap < f64::INFINITY;
                stopped.then_some((row, gap.max(0.0), rate.abs(), place))
            })
        };
        // Two passes: among those that stop it at nearly the same place, the largest pivot, or the first
        // variable once `careful`.
        let least = stops().map(|(_, gap, rate, _)| (gap + TOLERANCE) / rate);
        let least = least.fold(f64::INFINITY, f64::min);
        let near = stops().filter(|&(_, gap, rate, _)| gap / rate <= least);
        let leaving = if careful {
            near.min_by_key(|&(row, ..)| self.basis[row])
        } else {
            near.max_by(|a, b| a.2.total_cmp(&b.2))
        };
        let range = bounds.upper - bounds.lower;
        match leaving {
            Some((_, gap, rate, _)) if range < gap / rate => self.flip(entering),
            Some((row, _, _, place)) => self.pivot(row, entering, place, &direction),
            None if range < f64::INFINITY => self.flip(entering),
            None => return false,
        }
        true
    }

    /// Moves a resting variable to its other bound.
    fn flip(&mut self, at: usize) {
        let place = &mut self.variables[at].place;
        *place = if *place == Place::Lower { Place::Upper } else { Place::Lower };
    }

    /// Puts `entering` in the place of the basic variable of `row`, which comes to rest on a bound.
    fn pivot(&mut self, row: usize, entering: usize, place: Place, direction: &[f64]) {
        self.variables[self.basis[row]].place = place;
        self.variables[entering].place = Place::Basic;
        self.basis[row] = entering;
        let mut head = std::mem::take(&mut self.inverse[row]);
        head.iter_mut().for_each(|entry| *entry /= direction[row]);
        for (other, &factor) in self.inverse.iter_mut().zip(direction) {
            if factor != 0.0 {
                other.iter_mut().zip(&head).for_each(|(entry, h)| *entry -= factor * h);
            }
        }
        self.inverse[row] = head;
        self.stale += 1;
    }

    /// Inverts the basis afresh; false if it is singular.
    fn refresh(&mut self) -> bool {
        let rows = self.rhs.len();
        let entry = |row: usize, at: usize| match self.column(at) {
            Some(column) => column[row],
            None => f64::from(u8::from(row == at)),
        };
        let matrix = |row: usize| self.basis.iter().map(|&at| entry(row, at)).collect();
        let Some(fresh) = inverse((0..rows).map(matrix).collect()) else { return false };
        self.inverse = fresh;
        self.stale = 0;
        true
    }
}

fn unit(size: usize, at: usize) -> Vec<f64> {
    (0..size).map(|i| f64::from(u8::from(i == at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x + y <= 4, x in [0,3], y in [1,5].
    fn small() -> Simplex {
        let row = Row { rhs: 4.0, own: Bounds { lower: 0.0, upper: 4.0 }, cost: 0.0 };
        let mut simplex = Simplex::new(&[row]);
        simplex.add_column(&[1.0], Bounds { lower: 0.0, upper: 3.0 }, 0.0);
        simplex.add_column(&[1.0], Bounds { lower: 1.0, upper: 5.0 }, 0.0);
        simplex
    }

    fn minimised(simplex: &mut Simplex, costs: [f64; 2]) -> (Verdict, [f64; 2]) {
        costs.into_iter().enumerate().for_each(|(at, cost)| simplex.set_cost(at, cost));
        let verdict = simplex.minimise();
        (verdict, [simplex.value(0), simplex.value(1)])
    }

    #[test]
    fn corners_by_hand() {
        let mut simplex = small();
        assert_eq!(minimised(&mut simplex, [-2.0, -1.0]), (Verdict::Optimal, [3.0, 1.0]));
        assert_eq!(minimised(&mut simplex, [-1.0, -2.0]), (Verdict::Optimal, [0.0, 4.0]));
        assert_eq!(minimised(&mut simplex, [1.0, 1.0]), (Verdict::Optimal, [0.0, 1.0]));
    }

    #[test]
    fn new_bounds_are_respected_from_the_old_corner() {
        let mut simplex = small();
        minimised(&mut simplex, [-2.0, -1.0]);
        simplex.set_bounds(0, Bounds { lower: 0.0, upper: 1.5 });
        assert_eq!(minimised(&mut simplex, [-2.0, -1.0]), (Verdict::Optimal, [1.5, 2.5]));
        simplex.set_bounds(1, Bounds { lower: 4.5, upper: 5.0 });
        assert_eq!(simplex.minimise(), Verdict::Infeasible);
        assert_eq!(simplex.violation(), 0.5);
        simplex.forgive();
        // What is forgiven is the bound of y, which was basic.
        assert_eq!(minimised(&mut simplex, [-2.0, -1.0]), (Verdict::Optimal, [0.0, 4.0]));
    }

    #[test]
    fn prices_prove_the_value() {
        let mut simplex = small();
        minimised(&mut simplex, [-2.0, -3.0]);
        // y = 4 and the row is binding: its price is the cost of y.
        assert_eq!(simplex.prices(), [-3.0]);
    }

    #[test]
    fn columns_may_come_later_and_bounds_may_be_infinite() {
        let mut simplex = Simplex::new(&[Row::equal(4.0), Row::equal(6.0)]);
        assert_eq!(simplex.minimise(), Verdict::Infeasible);
        for (entries, cost) in [([1.0, 1.0], -3.0), ([1.0, 3.0], -2.0)] {
            simplex.add_column(&entries, Bounds::NON_NEGATIVE, cost);
        }
        // a = 3 and b = 1 are all there is.
        assert_eq!(simplex.minimise(), Verdict::Optimal);
        assert_eq!((simplex.value(0), simplex.value(1)), (3.0, 1.0));
        simplex.add_column(&[0.0, 1.0], Bounds::NON_NEGATIVE, 0.0);
        assert_eq!(simplex.minimise(), Verdict::Optimal);
        assert_eq!([0, 1, 2].map(|at| simplex.value(at)), [4.0, 0.0, 2.0]);
        assert_eq!(simplex.basic_columns().map(|(_, value)| value).sum::<f64>(), 6.0);
        simplex.add_column(&[0.0, -1.0], Bounds::NON_NEGATIVE, -1.0);
        assert!(matches!(simplex.minimise(), Verdict::Unbounded { slope } if slope == -1.0));
    }
}
