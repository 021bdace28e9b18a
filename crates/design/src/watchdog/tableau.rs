//! A dense simplex for few rows and bounded variables, made to be asked many questions about one
//! polytope.
//!
//! It keeps its basis between questions, so a new cost or a new bound starts from the last corner.

/// Bounds and reduced costs are met to this.
const TOLERANCE: f64 = 1e-11;

/// Smaller pivots are not trusted.
const LEAST_PIVOT: f64 = 1e-9;

/// After this many steps the smallest-index rule takes over, which does not cycle.
const EAGER_STEPS: usize = 400;

/// Far more steps than any problem here takes.
const MOST_STEPS: usize = 4_000;

/// Where a variable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Basic,
    Lower,
    Upper,
}

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Optimal,
    Infeasible,
    /// Too many steps: rounding has spoilt the tableau.
    Unsettled,
}

/// {z : A z = b, lower <= z <= upper}, where row i holds a variable of its own with coefficient 1,
/// numbered after the others. All bounds are finite.
#[derive(Debug, Clone)]
pub(super) struct Tableau {
    /// B⁻¹A, then B⁻¹b as the last column.
    rows: Vec<Vec<f64>>,
    basis: Vec<usize>,
    places: Vec<Place>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    values: Vec<f64>,
}

impl Tableau {
    /// `rows` without their own variables; `lower` and `upper` with them.
    pub(super) fn new(rows: &[Vec<f64>], rhs: &[f64], lower: Vec<f64>, upper: Vec<f64>) -> Self {
        let (count, variables) = (rows.len(), lower.len());
        let first = variables - count;
        let full = |(i, row): (usize, &Vec<f64>)| {
            let own = (0..count).map(|k| f64::from(u8::from(k == i)));
            row.iter().copied().chain(own).chain([rhs[i]]).collect()
        };
        let mut places = vec![Place::Lower; variables];
        places[first..].fill(Place::Basic);
        Self {
            rows: rows.iter().enumerate().map(full).collect(),
            basis: (first..variables).collect(),
            places,
            lower,
            upper,
            values: vec![0.0; variables],
        }
    }

    /// The corner found by the last question.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Minimises `cost` (of the variables that are no row's own; those cost nothing).
    pub(super) fn minimise(&mut self, cost: &[f64]) -> Verdict {
        for step in 0..MOST_STEPS {
            self.place_values();
            let gradient = self.infeasibility();
            let feasible = gradient.is_none();
            let slopes = gradient.unwrap_or_else(|| self.reduced(cost));
            let Some(entering) = self.entering(&slopes, step >= EAGER_STEPS) else {
                return if feasible { Verdict::Optimal } else { Verdict::Infeasible };
            };
            if !self.advance(entering) {
                return Verdict::Unsettled;
            }
        }
        Verdict::Unsettled
    }

    /// One price per row: the change of the cost with that row's right-hand side.
    pub(super) fn prices(&self, cost: &[f64]) -> Vec<f64> {
        let first = self.lower.len() - self.rows.len();
        let mut prices = vec![0.0; self.rows.len()];
        for (row, &basic) in self.rows.iter().zip(&self.basis) {
            let Some(&cost) = cost.get(basic) else { continue };
            for (price, entry) in prices.iter_mut().zip(&row[first..]) {
                *price += cost * entry;
            }
        }
        prices
    }

    /// Nonbasic variables sit on their bounds; the rows give the basic ones.
    fn place_values(&mut self) {
        let variables = self.lower.len();
        for j in 0..variables {
            self.values[j] = match self.places[j] {
                Place::Basic => 0.0,
                Place::Lower => self.lower[j],
                Place::Upper => self.upper[j],
            };
        }
        let basic: Vec<f64> = self
            .rows
            .iter()
            .map(|row| {
                row[variables] - row.iter().zip(&self.values).map(|(a, z)| a * z).sum::<f64>()
            })
            .collect();
        for (&j, value) in self.basis.iter().zip(basic) {
            self.values[j] = value;
        }
    }

    /// -1 below the bounds, 1 above, 0 within.
    fn side(&self, j: usize) -> f64 {
        let slack = TOLERANCE * (1.0 + self.values[j].abs());
        if self.values[j] < self.lower[j] - slack {
            -1.0
        } else if self.values[j] > self.upper[j] + slack {
            1.0
        } else {
            0.0
        }
    }

    /// The slope of the total violation of bounds in every variable, if there is any violation.
    fn infeasibility(&self) -> Option<Vec<f64>> {
        let mut slopes = vec![0.0; self.lower.len()];
        let mut violated = false;
        for (row, &basic) in self.rows.iter().zip(&self.basis) {
            let side = self.side(basic);
            if side != 0.0 {
                violated = true;
                slopes.iter_mut().zip(row).for_each(|(slope, entry)| *slope -= side * entry);
            }
        }
        violated.then_some(slopes)
    }

    /// The slope of the cost in every variable.
    fn reduced(&self, cost: &[f64]) -> Vec<f64> {
        let mut slopes = vec![0.0; self.lower.len()];
        slopes[..cost.len()].copy_from_slice(cost);
        for (row, &basic) in self.rows.iter().zip(&self.basis) {
            if let Some(&cost) = cost.get(basic)
                && cost != 0.0
            {
                slopes.iter_mut().zip(row).for_each(|(slope, entry)| *slope -= cost * entry);
            }
        }
        slopes
    }

    /// A variable worth moving off its bound: the steepest, or the first once `careful`.
    fn entering(&self, slopes: &[f64], careful: bool) -> Option<usize> {
        let mut best = None;
        let mut steepest = TOLERANCE;
        for (j, &slope) in slopes.iter().enumerate() {
            let descent = match self.places[j] {
                Place::Basic => continue,
                Place::Lower => -slope,
                Place::Upper => slope,
            };
            if descent > steepest && self.upper[j] > self.lower[j] {
                if careful {
                    return Some(j);
                }
                (best, steepest) = (Some(j), descent);
            }
        }
        best
    }

    /// Moves the entering variable until something stops it; false if nothing that can be trusted does.
    fn advance(&mut self, entering: usize) -> bool {
        let rising = self.places[entering] == Place::Lower;
        let sign = if rising { 1.0 } else { -1.0 };
        let mut reach = self.upper[entering] - self.lower[entering];
        let mut leaving: Option<(usize, Place, f64)> = None;
        for (i, row) in self.rows.iter().enumerate() {
            let rate = -sign * row[entering];
            if rate.abs() < LEAST_PIVOT {
                continue;
            }
            let j = self.basis[i];
            // A variable outside its bounds is stopped where it comes inside; one within, at its bounds.
            let (stop, place) = match (self.side(j), rate > 0.0) {
                (-1.0, true) | (0.0, false) => (self.lower[j], Place::Lower),
                (1.0, false) | (0.0, true) => (self.upper[j], Place::Upper),
                _ => continue,
            };
            let distance = ((stop - self.values[j]) / rate).max(0.0);
            // Among equals the largest pivot is the safest.
            let tie = (distance - reach).abs() <= 1e-13;
            let better = leaving.is_none_or(|(_, _, pivot)| rate.abs() > pivot);
            if distance < reach && !tie || tie && better {
                reach = distance;
                leaving = Some((i, place, rate.abs()));
            }
        }
        match leaving {
            None if reach.is_finite() => {
                self.places[entering] = if rising { Place::Upper } else { Place::Lower };
            }
            None => return false,
            Some((row, place, _)) => self.pivot(row, entering, place),
        }
        true
    }

    fn pivot(&mut self, at: usize, entering: usize, place: Place) {
        self.places[self.basis[at]] = place;
        self.places[entering] = Place::Basic;
        self.basis[at] = entering;
        let mut pivot_row = std::mem::take(&mut self.rows[at]);
        let head = pivot_row[entering];
        pivot_row.iter_mut().for_each(|entry| *entry /= head);
        for row in &mut self.rows {
            let factor = row.get(entering).copied().unwrap_or(0.0);
            if factor != 0.0 {
                row.iter_mut().zip(&pivot_row).for_each(|(entry, p)| *entry -= factor * p);
            }
        }
        self.rows[at] = pivot_row;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x + y + own = 4 with own in [0,4] (x + y <= 4), x in [0,3], y in [1,5].
    fn small() -> Tableau {
        Tableau::new(&[vec![1.0, 1.0]], &[4.0], vec![0.0, 1.0, 0.0], vec![3.0, 5.0, 4.0])
    }

    #[test]
    fn corners_by_hand() {
        let mut tableau = small();
        assert_eq!(tableau.minimise(&[-2.0, -1.0]), Verdict::Optimal);
        assert_eq!(tableau.values()[..2], [3.0, 1.0]);
        assert_eq!(tableau.minimise(&[-1.0, -2.0]), Verdict::Optimal);
        assert_eq!(tableau.values()[..2], [0.0, 4.0]);
        assert_eq!(tableau.minimise(&[1.0, 1.0]), Verdict::Optimal);
        assert_eq!(tableau.values()[..2], [0.0, 1.0]);
    }

    #[test]
    fn new_bounds_are_respected_from_the_old_corner() {
        let mut tableau = small();
        tableau.minimise(&[-2.0, -1.0]);
        tableau.upper[0] = 1.5;
        assert_eq!(tableau.minimise(&[-2.0, -1.0]), Verdict::Optimal);
        assert_eq!(tableau.values()[..2], [1.5, 2.5]);
        tableau.lower[1] = 4.5;
        assert_eq!(tableau.minimise(&[-2.0, -1.0]), Verdict::Infeasible);
    }

    #[test]
    fn prices_prove_the_value() {
        let mut tableau = small();
        let cost = [-2.0, -3.0];
        tableau.minimise(&cost);
        // y = 4 and the row is binding: its price is the cost of y.
        assert_eq!(tableau.prices(&cost), [-3.0]);
    }
}
