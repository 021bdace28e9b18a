//! Smooth convex programs with few variables, by a logarithmic barrier and Newton steps.
//!
//! A sensor's block has one variable per reading and output, so dense algebra is cheap; its
//! constraints are linear rows and one smooth convex function per private value.

use undertone_numeric::symmetric::Symmetric;
use undertone_numeric::vector::dot;

/// A smooth convex function.
pub(crate) trait Convex {
    /// The function's value at `x`.
    fn value(&self, x: &[f64]) -> f64;
    /// Writes the gradient over `gradient`, and adds `scale` times the Hessian to `hessian`.
    fn derivatives(&self, x: &[f64], gradient: &mut [f64], scale: f64, hessian: &mut Symmetric);
}

/// A sparse row Σ a_j x_j <= bound.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) cells: Vec<(usize, f64)>,
    pub(crate) bound: f64,
}

impl Row {
    fn slack(&self, x: &[f64]) -> f64 {
        self.bound - self.cells.iter().map(|&(j, a)| a * x[j]).sum::<f64>()
    }
}

/// `sign` times one variable.
pub(crate) struct Coordinate {
    pub(crate) at: usize,
    pub(crate) sign: f64,
}

impl Convex for Coordinate {
    fn value(&self, x: &[f64]) -> f64 {
        self.sign * x[self.at]
    }

    fn derivatives(&self, _: &[f64], gradient: &mut [f64], _: f64, _: &mut Symmetric) {
        gradient.fill(0.0);
        gradient[self.at] = self.sign;
    }
}

/// Minimise `objective` where every constraint is at most zero and every row holds.
pub(crate) struct Program<'a> {
    pub(crate) objective: &'a dyn Convex,
    pub(crate) constraints: Vec<&'a dyn Convex>,
    pub(crate) rows: &'a [Row],
}

/// How far the result may be above the minimum.
const GAP: f64 = 1e-7;
/// Feasibility is sought no further than this inside.
const INSIDE: f64 = 1e-5;

impl Program<'_> {
    /// The minimiser from a start that satisfies every row strictly; `None` if there is no point
    /// strictly inside all constraints.
    pub(crate) fn minimise(&self, start: &[f64]) -> Option<Vec<f64>> {
        if self.rows.iter().any(|row| !(row.slack(start) > 0.0)) {
            return None;
        }
        let mut x = start.to_vec();
        if self.excess(&x) >= 0.0 {
            x = self.inside(x)?;
        }
        self.follow(x, &|_| false)
    }

    /// The largest value of a constraint.
    fn excess(&self, x: &[f64]) -> f64 {
        self.constraints.iter().map(|f| f.value(x)).fold(f64::NEG_INFINITY, |most, value| {
            if value.is_nan() { f64::INFINITY } else { most.max(value) }
        })
    }

    /// A point strictly inside all constraints, by minimising how far the worst is violated.
    fn inside(&self, mut x: Vec<f64>) -> Option<Vec<f64>> {
        let size = x.len();
        let worst = self.excess(&x);
        if !worst.is_finite() {
            return None;
        }
        x.push(worst + 0.1 * worst.abs().max(0.1));
        let relaxed: Vec<Relaxed<'_>> = self.constraints.iter().map(|&f| Relaxed(f)).collect();
        let program = Program {
            objective: &Coordinate { at: size, sign: 1.0 },
            constraints: relaxed.iter().map(|f| f as &dyn Convex).collect(),
            rows: self.rows,
        };
        let mut found = program.follow(x, &|x| x[size] < -INSIDE)?;
        found.pop();
        (self.excess(&found) < -1e-9).then_some(found)
    }

    /// Follows the central path from a strictly feasible point until the gap is closed, or `enough`.
    fn follow(&self, mut x: Vec<f64>, enough: &dyn Fn(&[f64]) -> bool) -> Option<Vec<f64>> {
        let barriers = (self.rows.len() + self.constraints.len()) as f64;
        let mut weight = 10.0 * barriers.max(1.0);
        loop {
            self.centre(&mut x, weight);
            if enough(&x) || barriers / weight < GAP {
                return x.iter().all(|x| x.is_finite()).then_some(x);
            }
            weight *= 20.0;
        }
    }

    /// Newton's method on weight * objective + barriers.
    fn centre(&self, x: &mut Vec<f64>, weight: f64) {
        let n = x.len();
        let mut part = vec![0.0; n];
        for _ in 0..60 {
            let mut gradient = vec![0.0; n];
            let mut hessian = Symmetric::zero(n);
            self.objective.derivatives(x, &mut part, weight, &mut hessian);
            gradient.iter_mut().zip(&part).for_each(|(g, p)| *g += weight * p);
            for f in &self.constraints {
                let room = -f.value(x);
                f.derivatives(x, &mut part, 1.0 / room, &mut hessian);
                gradient.iter_mut().zip(&part).for_each(|(g, p)| *g += p / room);
                hessian.add_outer(&part, 1.0 / (room * room));
            }
            for row in self.rows {
                let inverse = 1.0 / row.slack(x);
                for &(i, a) in &row.cells {
                    gradient[i] += a * inverse;
                    for &(j, b) in &row.cells {
                        hessian.add(i, j, a * b * inverse * inverse);
                    }
                }
            }
            let ridge = 1e-12 * (0..n).map(|j| hessian.at(j, j)).fold(1.0, f64::max);
            (0..n).for_each(|j| hessian.add(j, j, ridge));
            let Some(factor) = hessian.cholesky() else { return };
            let step = factor.solve(&gradient);
            let decrement = dot(&gradient, &step);
            if !(decrement > 2e-9) {
                return;
            }
            let here = self.merit(x, weight);
            let mut length = 1.0;
            let next = loop {
                let next: Vec<f64> = x.iter().zip(&step).map(|(x, s)| x - length * s).collect();
                if self.merit(&next, weight) <= here - 0.1 * length * decrement {
                    break next;
                }
                length /= 2.0;
                if length < 1e-12 {
                    return;
                }
            };
            *x = next;
        }
    }

    /// What a Newton step must reduce; infinite outside.
    fn merit(&self, x: &[f64], weight: f64) -> f64 {
        let mut sum = weight * self.objective.value(x);
        for row in self.rows {
            let slack = row.slack(x);
            if !(slack > 0.0) {
                return f64::INFINITY;
            }
            sum -= slack.ln();
        }
        for f in &self.constraints {
            let room = -f.value(x);
            if !(room > 0.0) {
                return f64::INFINITY;
            }
            sum -= room.ln();
        }
        if sum.is_nan() { f64::INFINITY } else { sum }
    }
}

/// A constraint that one further variable relaxes.
struct Relaxed<'a>(&'a dyn Convex);

impl Convex for Relaxed<'_> {
    fn value(&self, x: &[f64]) -> f64 {
        let last = x.len() - 1;
        self.0.value(&x[..last]) - x[last]
    }

    fn derivatives(&self, x: &[f64], gradient: &mut [f64], scale: f64, hessian: &mut Symmetric) {
        let last = x.len() - 1;
        let mut inner = Symmetric::zero(last);
        self.0.derivatives(&x[..last], &mut gradient[..last], scale, &mut inner);
        gradient[last] = -1.0;
        for i in 0..last {
            for j in 0..last {
                hessian.add(i, j, inner.at(i, j));
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// |x - c|² - r.
    struct Ball(Vec<f64>, f64);

    impl Convex for Ball {
        fn value(&self, x: &[f64]) -> f64 {
            x.iter().zip(&self.0).map(|(x, c)| (x - c).powi(2)).sum::<f64>() - self.1
        }

        fn derivatives(
            &self,
            x: &[f64],
            gradient: &mut [f64],
            scale: f64,
            hessian: &mut Symmetric,
        ) {
            for (j, (x, c)) in x.iter().zip(&self.0).enumerate() {
                gradient[j] = 2.0 * (x - c);
                hessian.add(j, j, 2.0 * scale);
            }
        }
    }

    fn unit_box(n: usize) -> Vec<Row> {
        let side = |j: usize| {
            [Row { cells: vec![(j, 1.0)], bound: 1.0 }, Row { cells: vec![(j, -1.0)], bound: 0.0 }]
        };
        (0..n).flat_map(side).collect()
    }

    #[test]
    fn the_nearest_point_of_a_box_and_of_a_ball() {
        let rows = unit_box(2);
        let far = Ball(vec![2.0, 0.3], 0.0);
        let program = Program { objective: &far, constraints: vec![], rows: &rows };
        let x = program.minimise(&[0.5, 0.5]).unwrap();
        assert!((x[0] - 1.0).abs() < 1e-6 && (x[1] - 0.3).abs() < 1e-6, "{x:?}");
        // Inside a ball around the origin of radius 1/2, from a start outside it.
        let near = Ball(vec![0.0, 0.0], 0.25);
        let program = Program { objective: &far, constraints: vec![&near], rows: &rows };
        let x = program.minimise(&[0.9, 0.9]).unwrap();
        let scale = 0.5 / 2f64.hypot(0.3);
        assert!((x[0] - 2.0 * scale).abs() < 1e-6 && (x[1] - 0.3 * scale).abs() < 1e-6, "{x:?}");
    }

    #[test]
    fn nothing_inside_is_told() {
        let rows = unit_box(2);
        let aim = Coordinate { at: 0, sign: -1.0 };
        let (a, b) = (Ball(vec![0.0, 0.0], 0.04), Ball(vec![1.0, 1.0], 0.04));
        let program = Program { objective: &aim, constraints: vec![&a, &b], rows: &rows };
        assert!(program.minimise(&[0.5, 0.5]).is_none());
        let program = Program { objective: &aim, constraints: vec![], rows: &rows };
        assert!(program.minimise(&[0.5, 1.5]).is_none(), "the start is outside the rows");
        assert!((program.minimise(&[0.5, 0.5]).unwrap()[0] - 1.0).abs() < 1e-6);
    }
}
