//! Linear programs behind one small interface. The solver proposes; the kernel disposes.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettingsBuilder, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT,
};

use crate::Error;

/// Tolerances of the interior-point method. The solver's own default of 1e-8 costs a design up to
/// 3e-5 of its utility once the integers must verify.
const TOLERANCE: f64 = 1e-12;

/// Minimise a linear cost over rows of equalities and inequalities. Variables are free unless bounded.
#[derive(Debug, Clone, Default)]
pub struct Program {
    cost: Vec<f64>,
    /// For each variable, the inequality that says it is at least zero, if one does.
    sign: Vec<Option<usize>>,
    equal: Rows,
    at_most: Rows,
}

#[derive(Debug, Clone, Default)]
struct Rows {
    entries: Vec<(usize, usize, f64)>,
    bounds: Vec<f64>,
}

/// An optimum: values, and the dual prices that prove it.
#[derive(Debug, Clone)]
pub struct Solution {
    /// One value per variable.
    pub values: Vec<f64>,
    /// The cost attained.
    pub cost: f64,
    /// A lower bound on the cost of any feasible point, up to the solver's tolerance.
    pub dual_bound: f64,
    /// The price of each equality, in the order added: how fast the optimal cost rises with its bound.
    pub equal_prices: Vec<f64>,
    /// The price of each inequality; never positive.
    pub at_most_prices: Vec<f64>,
}

impl Program {
    /// Nothing to pay, nothing to satisfy.
    pub fn new() -> Self {
        Self::default()
    }

    /// A new free variable with this cost; returns its index.
    pub fn variable(&mut self, cost: f64) -> usize {
        self.cost.push(cost);
        self.sign.push(None);
        self.cost.len() - 1
    }

    /// A new variable that is at least zero.
    pub fn non_negative(&mut self, cost: f64) -> usize {
        let at = self.variable(cost);
        self.sign[at] = Some(self.at_most.bounds.len());
        self.at_most([(at, -1.0)], 0.0);
        at
    }

    /// How many variables there are.
    pub fn variables(&self) -> usize {
        self.cost.len()
    }

    /// Σ coefficient·variable = bound.
    pub fn equal(&mut self, row: impl IntoIterator<Item = (usize, f64)>, bound: f64) {
        self.equal.push(row, bound);
    }

    /// Σ coefficient·variable <= bound.
    pub fn at_most(&mut self, row: impl IntoIterator<Item = (usize, f64)>, bound: f64) {
        self.at_most.push(row, bound);
    }

    /// A lower bound on the cost of every feasible point whose variables are at most `reach` in size,
    /// whatever the solver's tolerance: weak duality with the prices of `found`, made exact by charging
    /// what they leave unexplained of each variable's cost to the most that variable can be.
    pub fn lower_bound(&self, found: &Solution, reach: f64) -> f64 {
        let at_most: Vec<f64> = found.at_most_prices.iter().map(|price| price.min(0.0)).collect();
        let mut unexplained = self.cost.clone();
        for &(row, column, value) in &self.equal.entries {
            unexplained[column] -= value * found.equal_prices[row];
        }
        for &(row, column, value) in &self.at_most.entries {
            if self.sign[column] != Some(row) {
                unexplained[column] -= value * at_most[row];
            }
        }
        let dot = |prices: &[f64], rows: &Rows| -> f64 {
            prices.iter().zip(&rows.bounds).map(|(price, bound)| price * bound).sum()
        };
        let charge = |(at, rest): (usize, &f64)| match self.sign[at] {
            Some(_) => rest.min(0.0),
            None => -rest.abs(),
        };
        let charged: f64 = unexplained.iter().enumerate().map(charge).sum();
        dot(&found.equal_prices, &self.equal) + dot(&at_most, &self.at_most) + reach * charged
    }

    /// Solves to tight tolerances. Infeasible and unbounded programs, and a solver that gives up, are errors.
    pub fn solve(&self) -> Result<Solution, Error> {
        self.solve_roughly(TOLERANCE)
    }

    /// Solves to a given tolerance, for a first look.
    pub fn solve_roughly(&self, tolerance: f64) -> Result<Solution, Error> {
        let columns = self.cost.len();
        let equalities = self.equal.bounds.len();
        let rows = equalities + self.at_most.bounds.len();
        let shifted =
            self.at_most.entries.iter().map(|&(row, column, v)| (row + equalities, column, v));
        let entries = self.equal.entries.iter().copied().chain(shifted);
        let (mut at_row, mut at_column, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (row, column, value) in entries.filter(|&(_, _, value)| value != 0.0) {
            if column >= columns || !value.is_finite() {
                return Err(Error::other(
                    "linear program",
                    format!("bad entry {value} at column {column}"),
                ));
            }
            at_row.push(row);
            at_column.push(column);
            values.push(value);
        }
        let matrix = CscMatrix::new_from_triplets(rows, columns, at_row, at_column, values);
        let bounds = [self.equal.bounds.as_slice(), self.at_most.bounds.as_slice()].concat();
        let cones = [ZeroConeT(equalities), NonnegativeConeT(rows - equalities)];
        let settings = DefaultSettingsBuilder::default()
            .verbose(false)
            .max_iter(200)
            .tol_feas(tolerance)
            .tol_gap_abs(tolerance)
            .tol_gap_rel(tolerance)
            .build()
            .map_err(|error| Error::other("linear program", error.to_string()))?;
        let quadratic = CscMatrix::zeros((columns, columns));
        let mut solver =
            DefaultSolver::new(&quadratic, &self.cost, &matrix, &bounds, &cones, settings)
                .map_err(|error| Error::other("linear program", error.to_string()))?;
        solver.solve();
        let found = &solver.solution;
        let usable = match found.status {
            SolverStatus::Solved | SolverStatus::AlmostSolved => true,
            // Tolerances of 1e-12 are sometimes out of reach by a hair; such a point is still good.
            SolverStatus::InsufficientProgress | SolverStatus::MaxIterations => {
                found.r_prim < 1e-7 && (found.obj_val - found.obj_val_dual).abs() < 1e-7
            }
            _ => false,
        };
        if !usable {
            let problem = match found.status {
                SolverStatus::PrimalInfeasible | SolverStatus::AlmostPrimalInfeasible => {
                    "no channel satisfies all requirements".to_owned()
                }
                SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => {
                    "the objective has no lower bound".to_owned()
                }
                other => format!("the solver gave up ({other:?})"),
            };
            return Err(Error::other("linear program", problem));
        }
        let (equal, at_most) = found.z.split_at(equalities);
        Ok(Solution {
            values: found.x.clone(),
            cost: found.obj_val,
            dual_bound: found.obj_val_dual,
            equal_prices: equal.iter().map(|z| -z).collect(),
            at_most_prices: at_most.iter().map(|z| -z).collect(),
        })
    }
}

impl Rows {
    fn push(&mut self, row: impl IntoIterator<Item = (usize, f64)>, bound: f64) {
        let at = self.bounds.len();
        self.entries.extend(row.into_iter().map(|(column, value)| (at, column, value)));
        self.bounds.push(bound);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_small_program_and_its_prices() {
        // min -x - 2y with x + y = 1, y <= 1/4, x >= 0, y >= 0.
        let mut program = Program::new();
        let (x, y) = (program.non_negative(-1.0), program.non_negative(-2.0));
        program.equal([(x, 1.0), (y, 1.0)], 1.0);
        program.at_most([(y, 1.0)], 0.25);
        let found = program.solve().unwrap();
        assert!((found.values[x] - 0.75).abs() < 1e-9 && (found.cost + 1.25).abs() < 1e-9);
        assert!((found.equal_prices[0] + 1.0).abs() < 1e-6);
        assert!((found.at_most_prices[2] + 1.0).abs() < 1e-6);
        assert!((found.dual_bound - found.cost).abs() < 1e-9);
        assert!((program.lower_bound(&found, 1.0) + 1.25).abs() < 1e-9);
    }

    #[test]
    fn wrong_prices_still_bound() {
        // min x + y with x + y = 1, both at least zero: every price up to one bounds it, and what is
        // above one is charged to the variables.
        let mut program = Program::new();
        let (x, y) = (program.non_negative(1.0), program.non_negative(1.0));
        program.equal([(x, 1.0), (y, 1.0)], 1.0);
        let mut found = program.solve().unwrap();
        for (price, bound) in [(0.5, 0.5), (1.0, 1.0), (1.25, 0.75)] {
            found.equal_prices = vec![price];
            assert!((program.lower_bound(&found, 1.0) - bound).abs() < 1e-15);
        }
    }

    #[test]
    fn infeasible_and_unbounded_are_errors() {
        let mut program = Program::new();
        let x = program.non_negative(1.0);
        program.at_most([(x, 1.0)], -1.0);
        assert!(program.solve().unwrap_err().to_string().contains("no channel"));
        let mut program = Program::new();
        program.non_negative(-1.0);
        assert!(program.solve().is_err());
    }
}
