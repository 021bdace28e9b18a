//! How a centre's rule does: what it decides, and when.

use undertone_design::Error;

use crate::objective::Costs;
use crate::walk::{self, Outputs};
use crate::{FusionRule, Maps, Model};

/// Probabilities closer than this are equal.
const SAME: f64 = 1e-9;

/// What a rule decides, and what was the case.
#[derive(Debug, Clone, PartialEq)]
pub struct Performance {
    /// P(decision d, h): a row for each decision.
    pub decided: Vec<Vec<f64>>,
}

impl Performance {
    /// What the rule of `model` under `maps` decides when `law` is the case; the two have the same sensors. The cost is
    /// (number of atoms) x (number of output vectors).
    pub fn new(rule: &FusionRule, law: &Model, maps: &Maps) -> Result<Self, Error> {
        walk::vectors(&maps.outputs())?;
        let values = law.public().size();
        let atoms = law.atoms();
        let new = || Ok(vec![vec![0.0; values]; values]);
        let parts = Outputs::new(law, maps)?.fold(
            new,
            |sums: &mut Result<Vec<Vec<f64>>, Error>, z, masses| {
                let Ok(decided) = sums else { return };
                if !(masses.iter().sum::<f64>() > 0.0) {
                    return;
                }
                let outputs: Vec<Option<usize>> = z.iter().copied().map(Some).collect();
                let decisions = rule
                    .posterior(&outputs)
                    .and_then(|posterior| rule.decisions(&posterior, &outputs));
                match decisions {
                    Ok(law) => {
                        for (row, share) in decided.iter_mut().zip(law).filter(|(_, s)| *s > 0.0) {
                            for (atom, mass) in atoms.iter().zip(masses) {
                                row[atom.public] += share * mass;
                            }
                        }
                    }
                    Err(error) => *sums = Err(error),
                }
            },
        );
        let mut decided = vec![vec![0.0; values]; values];
        for part in parts {
            for (row, part) in decided.iter_mut().zip(part?) {
                row.iter_mut().zip(part).for_each(|(sum, p)| *sum += p);
            }
        }
        Ok(Self { decided })
    }

    /// P(h).
    pub fn public(&self) -> Vec<f64> {
        let column = |h: usize| self.decided.iter().map(|row| row[h]).sum();
        (0..self.decided.len()).map(column).collect()
    }

    /// How often the decision is wrong.
    pub fn error(&self) -> f64 {
        let wrong = |(d, row): (usize, &Vec<f64>)| -> f64 {
            row.iter().enumerate().filter(|(h, _)| *h != d).map(|(_, p)| p).sum()
        };
        self.decided.iter().enumerate().map(wrong).sum()
    }

    /// What decisions cost on average.
    pub fn cost(&self, costs: &Costs) -> f64 {
        let cells = self.decided.iter().flatten().zip(costs.rows().iter().flatten());
        cells.map(|(p, cost)| p * cost).sum()
    }

    /// How often something other than the first value is decided when the first is the case.
    pub fn false_alarm(&self) -> f64 {
        let nothing: f64 = self.public()[0];
        let said: f64 = self.decided[1..].iter().map(|row| row[0]).sum();
        if nothing > 0.0 { said / nothing } else { 0.0 }
    }

    /// How often something other than the first value is decided when another is the case.
    pub fn detection(&self) -> f64 {
        let event: f64 = self.public()[1..].iter().sum();
        let said: f64 = self.decided[1..].iter().flat_map(|row| &row[1..]).sum();
        if event > 0.0 { said / event } else { 0.0 }
    }

    /// Whether what is decided has nothing to do with H: always the same, or by the coin alone.
    pub fn is_blind(&self) -> bool {
        let public = self.public();
        self.decided.iter().all(|row| {
            let often: f64 = row.iter().sum();
            row.iter().zip(&public).all(|(p, h)| (p - often * h).abs() <= SAME * h.max(SAME))
        })
    }
}
