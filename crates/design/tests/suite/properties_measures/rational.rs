//! The definitions in exact rationals, for the distributions proportional to the given floats.

use dashu::float::{FBig, round::mode::HalfEven};
use dashu::rational::RBig;
use undertone_design::{Channel, Distribution};

/// Rationals have no `Sum`.
pub(crate) fn total(values: impl Iterator<Item = RBig>) -> RBig {
    values.fold(RBig::ZERO, |sum, value| sum + value)
}

pub(crate) fn exact(value: f64) -> RBig {
    RBig::try_from(value).unwrap()
}

/// The distribution proportional to the floats, in rationals.
pub(crate) fn exact_law(p: &Distribution) -> Vec<RBig> {
    let weights: Vec<RBig> = p.as_slice().iter().map(|&v| exact(v)).collect();
    let sum = total(weights.iter().cloned());
    weights.into_iter().map(|w| w / &sum).collect()
}

/// P(x), q(y|x) and P(y) in rationals.
pub(crate) struct Exact {
    pub(crate) prior: Vec<RBig>,
    pub(crate) rows: Vec<Vec<RBig>>,
    pub(crate) law: Vec<RBig>,
}

impl Exact {
    pub(crate) fn of(prior: &Distribution, q: &Channel) -> Self {
        let prior = exact_law(prior);
        let rows: Vec<Vec<RBig>> = q.rows().iter().map(exact_law).collect();
        let law = (0..q.outputs()).map(|y| total(prior.iter().zip(&rows).map(|(p, r)| p * &r[y])));
        Self { law: law.collect(), prior, rows }
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.prior.len()).flat_map(|x| (0..self.law.len()).map(move |y| (x, y)))
    }

    /// The largest of num(c)/den(c) over cells where the ratio constrains; None is infinite.
    pub(crate) fn largest(&self, pairs: impl Iterator<Item = (RBig, RBig)>) -> Option<RBig> {
        let mut most = RBig::ONE;
        for (num, den) in pairs.filter(|(num, _)| *num > RBig::ZERO) {
            if den == RBig::ZERO {
                return None;
            }
            most = most.max(num / den);
        }
        Some(most)
    }

    pub(crate) fn max_lift(&self) -> Option<RBig> {
        self.largest(self.cells().map(|(x, y)| (self.rows[x][y].clone(), self.law[y].clone())))
    }

    pub(crate) fn min_lift(&self) -> Option<RBig> {
        self.largest(self.cells().map(|(x, y)| (self.law[y].clone(), self.rows[x][y].clone())))
    }

    pub(crate) fn odds(&self, weight: impl Fn(usize, usize) -> RBig) -> Option<RBig> {
        let inputs = self.prior.len();
        let pairs = self.cells().flat_map(|(x, y)| (0..inputs).map(move |other| (x, other, y)));
        self.largest(pairs.map(|(x, other, y)| (weight(x, y), weight(other, y))))
    }

    pub(crate) fn maximal_leakage(&self) -> RBig {
        let rows = || self.rows.iter().zip(&self.prior).filter(|(_, p)| **p > RBig::ZERO);
        total((0..self.law.len()).map(|y| rows().map(|(r, _)| r[y].clone()).max().unwrap()))
    }

    pub(crate) fn mutual_information(&self) -> Real {
        let seen = self.cells().map(|(x, y)| (&self.prior[x] * &self.rows[x][y], x, y));
        let terms = seen
            .filter(|(w, ..)| *w > RBig::ZERO)
            .map(|(w, x, y)| real(&w) * real(&(&self.rows[x][y] / &self.law[y])).ln());
        terms.fold(real(&RBig::ZERO), |sum, term| sum + term)
    }

    /// δ on the set S given as a mask: max of both one-sided sums with joint weights.
    pub(crate) fn joint(&self, set: usize, odds: &RBig) -> RBig {
        let members = || (0..self.prior.len()).filter(|x| set >> x & 1 == 1);
        let mass = total(members().map(|x| self.prior[x].clone()));
        let (mut above, mut below) = (RBig::ZERO, RBig::ZERO);
        for y in 0..self.law.len() {
            let together = total(members().map(|x| &self.prior[x] * &self.rows[x][y]));
            let apart = &mass * &self.law[y];
            above += (&together - odds * &apart).max(RBig::ZERO);
            below += (&apart - odds * &together).max(RBig::ZERO);
        }
        above.max(below)
    }
}

pub(crate) type Real = FBig<HalfEven, 2>;

/// 300 bits: far beyond anything a float comparison can notice.
pub(crate) fn real(value: &RBig) -> Real {
    value.to_float::<HalfEven, 2>(300).value()
}

pub(crate) fn to_f64(value: &RBig) -> f64 {
    value.to_f64().value()
}

pub(crate) fn ln(ratio: Option<RBig>) -> f64 {
    ratio.map_or(f64::INFINITY, |r| real(&r).ln().to_f64().value())
}
