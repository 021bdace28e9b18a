//! δ of Gaussian noise on a finite prior.
//!
//! With one deviation for all inputs each side's excess lies within, or outside, one interval
//! (`divergence.rs`). With several, the log-ratio ln f_x/f_Y need not be convex: it is scanned, its
//! sign changes are refined, and the excess between them is a difference of distribution functions.
//! Features are never narrower than the narrowest noise, which the scan resolves 32 times.
//!
//! [`GaussianNoise::delta_upper`] does not rely on a scan: it bounds the excess of every cell by its
//! mass and a Lipschitz constant, so it is an upper bound up to the rounding of floats, whatever
//! happens between grid points.

use super::GaussianNoise;
use super::divergence::{Sides, against_wider, between};
use crate::density::{Component, Normal};
use crate::extremal::LiftRange;
use crate::measure::delta::Convention;
use crate::{Distribution, Error};
use undertone_numeric::bisection::Bracket;
use undertone_numeric::normal::normal_cdf;
use undertone_numeric::root::falling_root;
use undertone_numeric::vector::log_sum_exp;

/// How many deviations beyond the outermost inputs are scanned; what lies further weighs less than 1e-22.
const SCANNED: f64 = 10.0;
/// Scan points per narrowest deviation.
const RESOLUTION: f64 = 32.0;
/// The most scan points.
const MOST: f64 = 200_000.0;
/// How many deviations the cells of the upper bound reach; the rest is added as it is.
const CELLED: f64 = 9.0;

/// Both excess masses of every input, at one ε.
#[derive(Debug, Clone, PartialEq)]
pub struct Excess {
    /// One entry per input.
    pub sides: Vec<Sides>,
    epsilon: f64,
}

impl Excess {
    /// δ in a convention; `JointSets` is for finite outputs only and is refused.
    pub fn delta(&self, convention: Convention, prior: &Distribution) -> Result<f64, Error> {
        prior.check_len("the list of points", self.sides.len())?;
        let of = |(x, sides): (usize, &Sides)| match convention {
            Convention::Conditional => Ok(sides.conditional()),
            Convention::Posterior => Ok((sides.above / self.epsilon.exp()).max(sides.below)),
            Convention::Joint => Ok(prior[x] * sides.conditional()),
            Convention::JointSets => Err(Error::other(
                "convention",
                "joint_sets needs a finite output: audit the table, or use conditional, posterior or joint",
            )),
        };
        self.sides
            .iter()
            .enumerate()
            .map(of)
            .try_fold(0.0, |worst: f64, found| Ok(worst.max(found?)))
    }

    /// The input that needs the largest δ (conditional convention), and that δ.
    pub fn worst(&self) -> (usize, f64) {
        let each = self.sides.iter().map(Sides::conditional).enumerate();
        each.fold((0, 0.0), |worst, found| if found.1 > worst.1 { found } else { worst })
    }
}

impl GaussianNoise {
    /// Both excess masses of every input at ε under `prior`.
    pub fn excess(&self, prior: &Distribution, epsilon: f64) -> Result<Excess, Error> {
        LiftRange::symmetric(epsilon)?;
        let law = self.law(prior)?;
        let sides = if self.is_constant() {
            self.bells()
                .iter()
                .map(|bell| against_wider(bell, &law, epsilon))
                .collect::<Result<_, _>>()?
        } else {
            Scan::of(self, &law).excess(epsilon)
        };
        Ok(Excess { sides, epsilon })
    }

    /// The least δ at ε, conditional convention (JSTL21 Corollary 9).
    pub fn delta(&self, prior: &Distribution, epsilon: f64) -> Result<f64, Error> {
        self.excess(prior, epsilon).map(|excess| excess.worst().1)
    }

    /// The least ε at which δ is enough (conditional convention); `None` if not even `most` is.
    pub fn epsilon(
        &self,
        prior: &Distribution,
        delta: f64,
        most: f64,
    ) -> Result<Option<f64>, Error> {
        let law = self.law(prior)?;
        let scan = (!self.is_constant()).then(|| Scan::of(self, &law));
        let holds = |epsilon: f64| {
            let worst = match &scan {
                Some(scan) => {
                    LiftRange::symmetric(epsilon)?;
                    scan.excess(epsilon).iter().map(Sides::conditional).fold(0.0, f64::max)
                }
                None => self.delta(prior, epsilon)?,
            };
            Ok::<_, Error>(worst <= delta)
        };
        least_epsilon(most, holds)
    }

    /// The least δ of LDP at ε: the worst pair of inputs, in closed form.
    pub fn ldp_delta(&self, epsilon: f64) -> Result<f64, Error> {
        let odds = LiftRange::symmetric(epsilon)?.high();
        let mut worst = 0.0f64;
        for first in self.bells() {
            for second in self.bells() {
                worst = worst.max(between(first, second, odds)?);
            }
        }
        Ok(worst)
    }

    /// The least ε of LDP at which δ is enough; `None` if not even `most` is.
    pub fn ldp_epsilon(&self, delta: f64, most: f64) -> Result<Option<f64>, Error> {
        least_epsilon(most, |epsilon| Ok(self.ldp_delta(epsilon)? <= delta))
    }

    fn is_constant(&self) -> bool {
        self.bells().iter().all(|bell| bell.deviation() == self.bells()[0].deviation())
    }

    /// The law of the output.
    fn law(&self, prior: &Distribution) -> Result<Vec<Component>, Error> {
        prior.check_len("the list of points", self.bells().len())?;
        let parts = self.bells().iter().zip(prior.as_slice());
        Ok(parts
            .filter(|(_, p)| **p > 0.0)
            .map(|(law, &weight)| Component { weight, law: *law })
            .collect())
    }

    /// The least and greatest place `reach` deviations around the inputs.
    fn reach(&self, reach: f64) -> (f64, f64) {
        let ends =
            |side: f64| self.bells().iter().map(move |b| b.mean() + side * reach * b.deviation());
        (ends(-1.0).fold(f64::INFINITY, f64::min), ends(1.0).fold(f64::NEG_INFINITY, f64::max))
    }

    /// An upper bound on δ at ε from `cells` cells, conditional convention.
    ///
    /// In a cell of width h where g = f_x - E f_Y (or f_Y - E f_x) has Lipschitz constant L,
    /// |g(middle)| > Lh/2 fixes the sign and the excess is the cell's own difference of masses, if
    /// positive. Otherwise g has a root within reach and the excess is at most that plus Lh²/2.
    pub fn delta_upper(
        &self,
        prior: &Distribution,
        epsilon: f64,
        cells: usize,
    ) -> Result<f64, Error> {
        let odds = LiftRange::symmetric(epsilon)?.high();
        prior.check_len("the list of points", self.bells().len())?;
        if !(1..=1 << 20).contains(&cells) {
            return Err(Error::range("cells", cells as f64, "1 to a million"));
        }
        let (low, high) = self.reach(CELLED);
        let width = (high - low) / cells as f64;
        let edge = |at: usize| low + width * at as f64;
        let rows: Vec<Cells> =
            self.bells().iter().map(|bell| Cells::of(bell, cells, width, &edge)).collect();
        let mut law = Cells {
            mass: vec![0.0; cells],
            middle: vec![0.0; cells],
            slope: vec![0.0; cells],
            beyond: 0.0,
        };
        for (row, &p) in rows.iter().zip(prior.as_slice()) {
            law.add(row, p);
        }
        let excess = |top: &Cells, bottom: &Cells| {
            let cell = |at: usize| {
                let slope = top.slope[at] + odds * bottom.slope[at];
                let open = (top.middle[at] - odds * bottom.middle[at]).abs() <= slope * width / 2.0;
                let sure = (top.mass[at] - odds * bottom.mass[at]).max(0.0);
                if open { sure + slope * width * width / 2.0 } else { sure }
            };
            top.beyond + (0..cells).map(cell).sum::<f64>()
        };
        Ok(rows.iter().map(|row| excess(row, &law).max(excess(&law, row))).fold(0.0, f64::max))
    }
}

/// The least ε from 0 to `most` for which something that holds from some ε on does.
fn least_epsilon(
    most: f64,
    holds: impl Fn(f64) -> Result<bool, Error>,
) -> Result<Option<f64>, Error> {
    if !holds(most)? {
        return Ok(None);
    }
    if holds(0.0)? {
        return Ok(Some(0.0));
    }
    let bracket = Bracket { holds: most, fails: 0.0 };
    Ok(Some(bracket.try_narrow(1e-12, holds)?.holds))
}

/// One law in cells: mass, density in the middle, a bound on its slope.
struct Cells {
    mass: Vec<f64>,
    middle: Vec<f64>,
    slope: Vec<f64>,
    beyond: f64,
}

impl Cells {
    fn of(bell: &Normal, cells: usize, width: f64, edge: &dyn Fn(usize) -> f64) -> Self {
        let scores: Vec<f64> = (0..=cells).map(|at| bell.score(edge(at))).collect();
        // The smaller tail at each edge: differences of these keep their digits.
        let tails: Vec<f64> = scores.iter().map(|z| normal_cdf(-z.abs())).collect();
        let mass = |at: usize| {
            if scores[at + 1] <= 0.0 {
                tails[at + 1] - tails[at]
            } else if scores[at] > 0.0 {
                tails[at] - tails[at + 1]
            } else {
                1.0 - tails[at] - tails[at + 1]
            }
        };
        // |z| e^(-z²/2) rises up to |z| = 1 and falls beyond: its largest value in a cell is at an end or there.
        let steepness = |z: f64| z.abs() * (-z * z / 2.0).exp();
        let (at_edges, peak) = (scores.iter().map(|z| steepness(*z)), steepness(1.0));
        let at_edges: Vec<f64> = at_edges.collect();
        let unit = bell.deviation().powi(2) * std::f64::consts::TAU.sqrt();
        let slope = |at: usize| {
            let turns = |turn: f64| scores[at] < turn && turn < scores[at + 1];
            let steepest = at_edges[at].max(at_edges[at + 1]);
            (if turns(-1.0) || turns(1.0) { peak } else { steepest }) / unit
        };
        Self {
            mass: (0..cells).map(mass).collect(),
            middle: (0..cells).map(|at| bell.density(edge(at) + width / 2.0)).collect(),
            slope: (0..cells).map(slope).collect(),
            beyond: tails[0] + tails[cells],
        }
    }

    fn add(&mut self, other: &Self, weight: f64) {
        let sums = [
            (&mut self.mass, &other.mass),
            (&mut self.middle, &other.middle),
            (&mut self.slope, &other.slope),
        ];
        for (sum, part) in sums {
            sum.iter_mut().zip(part).for_each(|(s, p)| *s += weight * p);
        }
        self.beyond += weight * other.beyond;
    }
}

/// ln f_Y on a grid fine enough to see every sign change.
struct Scan<'a> {
    noise: &'a GaussianNoise,
    law: &'a [Component],
    low: f64,
    step: f64,
    ln_law: Vec<f64>,
}

impl<'a> Scan<'a> {
    fn of(noise: &'a GaussianNoise, law: &'a [Component]) -> Self {
        let (low, high) = noise.reach(SCANNED);
        let narrowest = noise.bells().iter().map(Normal::deviation).fold(f64::INFINITY, f64::min);
        let count = ((high - low) / narrowest * RESOLUTION).clamp(1000.0, MOST).ceil();
        let step = (high - low) / count;
        let ln_law =
            (0..=count as usize).map(|at| ln_mixture(law, low + step * at as f64)).collect();
        Self { noise, law, low, step, ln_law }
    }

    fn excess(&self, epsilon: f64) -> Vec<Sides> {
        let odds = epsilon.exp();
        let side = |bell: &Normal, sign: f64| {
            // Positive where the excess is.
            let gap = |y: f64, ln_law: f64| sign * (bell.ln_density(y) - ln_law) - epsilon;
            let mass = |from: f64, to: f64| {
                let own = bell.between(from, to);
                let all: f64 =
                    self.law.iter().map(|part| part.weight * part.law.between(from, to)).sum();
                if sign > 0.0 { own - odds * all } else { all - odds * own }
            };
            let at = |i: usize| self.low + self.step * i as f64;
            let mut total = 0.0;
            let mut before = gap(at(0), self.ln_law[0]);
            let mut since = f64::NEG_INFINITY;
            for (i, &ln_law) in self.ln_law.iter().enumerate().skip(1) {
                let here = gap(at(i), ln_law);
                if (here > 0.0) != (before > 0.0) {
                    let falls = if before > 0.0 { 1.0 } else { -1.0 };
                    let exact = 1e-14 * (1.0 + at(i).abs());
                    let root = falling_root(at(i - 1), at(i), exact, |y| {
                        falls * gap(y, ln_mixture(self.law, y))
                    });
                    if before > 0.0 {
                        total += mass(since, root);
                    }
                    since = root;
                }
                before = here;
            }
            if before > 0.0 {
                total += mass(since, f64::INFINITY);
            }
            total.max(0.0)
        };
        let sides = |bell: &Normal| Sides { above: side(bell, 1.0), below: side(bell, -1.0) };
        self.noise.bells().iter().map(sides).collect()
    }
}

fn ln_mixture(law: &[Component], y: f64) -> f64 {
    let ln = |part: &Component| part.weight.ln() + part.law.ln_density(y);
    log_sum_exp(law.iter().map(ln))
}
