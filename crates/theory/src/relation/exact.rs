//! The exact supremum over all mechanisms, from the extremal lift vectors, with a witness.
//!
//! One output of a mechanism is a column of likelihoods. A pure premise confines columns to a cone;
//! every quantity of one output here is quasi-convex, so its supremum sits on an extreme ray, and
//! every quantity averaged over outputs is a sum of convex functions of degree one, so its supremum
//! is a linear program over extreme rays: weights that make every row sum to one.
//!
//! A ray is scaled to lifts of mean one and kept as its deviations d = lift - 1, and the program is
//! written in them (Σ w = 1, Σ w d = 0), so that small budgets lose no digits.
//!
//! Nothing here is called exact on the strength of this derivation alone: the witness is built as a channel
//! and audited with the measures ([`super::audited`]).

mod measure;
mod mixture;
mod premise;

use super::{Guarantee, Notion, Setting, audited};
use measure::{OutputMeasure, Quantity};
use premise::{Premise, Ray};
use undertone_design::{Channel, Distribution, Error};

/// Above this many symbols the extreme rays are not enumerated and the closed forms answer.
pub const MAX_SYMBOLS: usize = 12;

/// A level that no mechanism with the premise passes, and a channel that attains it.
#[derive(Debug, Clone, PartialEq)]
pub struct Supremum {
    /// The level; infinite if the premise leaves the conclusion unbounded. Never below what the
    /// witness was measured to leak.
    pub guarantee: Guarantee,
    /// The mechanism that should attain it.
    pub witness: Channel,
    /// Whether the witness, measured, keeps the premise and attains the level. Only then is the level
    /// exact; otherwise it is an upper bound.
    pub audited: bool,
}

/// The exact supremum, or `None` if the pair or the setting is not one it can treat.
pub fn supremum(
    from: &Guarantee,
    to: Notion,
    setting: &Setting,
) -> Result<Option<Supremum>, Error> {
    let Some((premise, law)) = Premise::of(from, to, setting) else { return Ok(None) };
    if law.len() > MAX_SYMBOLS {
        return Ok(None);
    }
    let Some(quantity) = Quantity::of(to, law, setting) else { return Ok(None) };
    let rays = premise.rays(law);
    let (guarantee, witness) = match quantity {
        Quantity::Output(measure) => {
            let (level, ray) = largest(&rays, |ray| measure.level(ray, law, setting));
            (Guarantee::raw(to, level), premise.witness(ray, law)?)
        }
        Quantity::Sides => {
            // One witness per side, each used half the time.
            let side =
                |measure: OutputMeasure| largest(&rays, |ray| measure.level(ray, law, setting));
            let ((lower, low), (upper, high)) =
                (side(OutputMeasure::MinLift), side(OutputMeasure::MaxLift));
            let witness = halves(&premise.witness(low, law)?, &premise.witness(high, law)?)?;
            (Guarantee::sides(lower, upper), witness)
        }
        Quantity::Average(average) => {
            let best = mixture::best(&rays, law, |ray| average.gain(ray, law))?;
            let level = average.finish(best.at_most).max(0.0);
            (Guarantee::raw(to, level), best.channel(&rays, law)?)
        }
    };
    let verdict = audited::verdict(from, &guarantee, law, setting, &witness)?;
    if verdict.refuted {
        let problem = "its own witness passes it; use the closed form";
        return Err(Error::other("the supremum over all mechanisms", problem));
    }
    Ok(Some(Supremum { guarantee: verdict.level, witness, audited: verdict.exact }))
}

/// The ray of the largest level.
fn largest(rays: &[Ray], level: impl Fn(&Ray) -> f64) -> (f64, &Ray) {
    let mut best = (f64::NEG_INFINITY, &rays[0]);
    for ray in rays {
        let level = level(ray);
        if level > best.0 {
            best = (level, ray);
        }
    }
    best
}

/// Each of two channels half the time, the outputs kept apart.
fn halves(one: &Channel, other: &Channel) -> Result<Channel, Error> {
    let join = |(a, b): (&Distribution, &Distribution)| {
        a.as_slice().iter().chain(b.as_slice()).map(|q| q / 2.0).collect()
    };
    Channel::new(one.rows().iter().zip(other.rows()).map(join).collect())
}
