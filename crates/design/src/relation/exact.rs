//! The exact supremum over all mechanisms, from the extremal lift vectors, with a witness.
//!
//! One output of a mechanism is a column of likelihoods. A pure premise confines columns to a cone;
//! every quantity of one output here is quasi-convex, so its supremum sits on an extreme ray, and
//! every quantity averaged over outputs is a sum of convex functions of degree one, so its supremum
//! is a linear program over extreme rays: weights that make every row sum to one.
//!
//! A ray is scaled to lifts of mean one and kept as its deviations d = lift - 1, and the program is
//! written in them (Σ w = 1, Σ w d = 0), so that small budgets lose no digits.

mod premise;

use super::{Guarantee, Notion, Setting, simplex};
use crate::{Channel, Distribution, Error};
use premise::{Premise, Ray};

/// Above this many symbols the extreme rays are not enumerated and the closed forms answer.
pub const MAX_SYMBOLS: usize = 12;

/// The exact supremum and a channel that satisfies the premise and attains it.
#[derive(Debug, Clone, PartialEq)]
pub struct Supremum {
    /// The exact level; infinite if the premise leaves the conclusion unbounded.
    pub guarantee: Guarantee,
    /// A mechanism that attains it.
    pub witness: Channel,
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
    match quantity {
        Quantity::Output(measure) => {
            let (level, ray) = largest(&rays, |ray| measure.level(ray, law, setting));
            let guarantee = Guarantee::raw(to, level);
            Ok(Some(Supremum { guarantee, witness: premise.witness(ray, law)? }))
        }
        Quantity::Sides => {
            // One witness per side, each used half the time.
            let side =
                |measure: OutputMeasure| largest(&rays, |ray| measure.level(ray, law, setting));
            let ((lower, low), (upper, high)) =
                (side(OutputMeasure::MinLift), side(OutputMeasure::MaxLift));
            let witness = halves(&premise.witness(low, law)?, &premise.witness(high, law)?)?;
            Ok(Some(Supremum { guarantee: Guarantee::sides(lower, upper), witness }))
        }
        Quantity::Average(average) => {
            let (weights, gain) = mixture(&rays, law, |ray| average.gain(ray, law))?;
            let rows = (0..law.len()).map(|x| {
                let row = weights.iter().map(|&(j, w)| w * rays[j].lifts()[x]).collect();
                Distribution::normalised("a witness row", row)
            });
            let witness = Channel::from_rows(rows.collect::<Result<_, _>>()?)?;
            let guarantee = Guarantee::raw(to, average.finish(gain).max(0.0));
            Ok(Some(Supremum { guarantee, witness }))
        }
    }
}

/// A quantity of single outputs (both sides of the lift kept apart), or of the whole channel.
enum Quantity {
    Output(OutputMeasure),
    Sides,
    Average(AverageMeasure),
}

enum OutputMeasure {
    /// -ln of the smallest lift.
    MinLift,
    /// ln of the largest lift.
    MaxLift,
    /// The larger of both.
    BothLifts,
    /// Both, under every prior of the set.
    LiftsUnderSet,
    /// ln of the largest likelihood ratio.
    Ratio,
    /// The same between neighbouring indices.
    NeighbourRatio,
    /// ln of the largest posterior ratio.
    Odds,
    /// ln of the α-lift.
    AlphaLift(f64),
}

enum AverageMeasure {
    Information,
    Maximal,
    /// Sibson's under the law given.
    Order(f64, Vec<f64>),
}

impl Quantity {
    fn of(to: Notion, law: &Distribution, setting: &Setting) -> Option<Self> {
        use {AverageMeasure as A, OutputMeasure as M};
        Some(match to {
            Notion::Ldp | Notion::Wclip => Self::Output(M::Ratio),
            Notion::Lip | Notion::Infp => Self::Output(M::BothLifts),
            Notion::Alip => Self::Sides,
            Notion::Pml => Self::Output(M::MaxLift),
            Notion::Di if law.min() > 0.0 => Self::Output(M::Odds),
            Notion::Bplip if !setting.priors.is_empty() => Self::Output(M::LiftsUnderSet),
            Notion::Infdp if law.len().is_power_of_two() => Self::Output(M::NeighbourRatio),
            Notion::Alphalift => Self::Output(M::AlphaLift(setting.alpha?)),
            Notion::Mip | Notion::Avgleak => Self::Average(A::Information),
            Notion::Mil => Self::Average(A::Maximal),
            Notion::Sibson => Self::Average(A::Order(setting.alpha?, law.as_slice().to_vec())),
            Notion::Arimoto => Self::Average(A::Order(setting.alpha?, escort(law, setting.alpha?))),
            _ => return None,
        })
    }
}

/// The law proportional to P^α: Arimoto's information under P is Sibson's under it.
fn escort(law: &Distribution, alpha: f64) -> Vec<f64> {
    let tilted: Vec<f64> = law.as_slice().iter().map(|p| (p / law.max()).powf(alpha)).collect();
    let sum: f64 = tilted.iter().sum();
    tilted.iter().map(|p| p / sum).collect()
}

impl OutputMeasure {
    fn level(&self, ray: &Ray, law: &Distribution, setting: &Setting) -> f64 {
        let (least, most) = ray.ends();
        match self {
            Self::MinLift => -least,
            Self::MaxLift => most,
            Self::BothLifts => most.max(-least),
            Self::LiftsUnderSet => {
                // Under another prior P(y) is 1 + the mean deviation times what the ray is scaled to.
                let under = |prior: &Distribution| {
                    let centre = mean(ray.deviations(), prior.as_slice()).ln_1p();
                    (centre - least).max(most - centre)
                };
                setting.priors.iter().map(under).fold(0.0, f64::max)
            }
            Self::Ratio => most - least,
            Self::NeighbourRatio => {
                let values = || 0..ray.symbols();
                let pairs = values().flat_map(|g| values().map(move |h| (g, h)));
                let near = pairs.filter(|(g, h)| (g ^ h).count_ones() == 1);
                near.map(|(g, h)| ray.log(g) - ray.log(h)).fold(0.0, f64::max)
            }
            Self::Odds => {
                let logs = (0..ray.symbols()).map(|x| law[x].ln() + ray.log(x));
                let ends =
                    logs.fold((f64::INFINITY, f64::NEG_INFINITY), |e, v| (v.min(e.0), v.max(e.1)));
                ends.1 - ends.0
            }
            Self::AlphaLift(alpha) => log_moment(ray, law.as_slice(), *alpha) / alpha,
        }
        .max(0.0)
    }
}

impl AverageMeasure {
    /// What one output adds per weight, above an output that says nothing.
    fn gain(&self, ray: &Ray, law: &Distribution) -> f64 {
        match self {
            Self::Information => {
                // (1+d)ln(1+d) - d, never negative; the d sum to zero.
                let term = |d: f64| if d > -1.0 { (1.0 + d) * d.ln_1p() - d } else { 1.0 };
                ray.deviations().iter().zip(law.as_slice()).map(|(&d, p)| p * term(d)).sum()
            }
            Self::Maximal => ray.ends().1.exp_m1(),
            Self::Order(alpha, law) => (log_moment(ray, law, *alpha) / alpha).exp_m1(),
        }
    }

    fn finish(&self, gain: f64) -> f64 {
        match self {
            Self::Information => gain,
            Self::Maximal => gain.ln_1p(),
            Self::Order(alpha, _) => alpha / (alpha - 1.0) * gain.ln_1p(),
        }
    }
}

/// The weights that mix rays into a channel with the largest total gain, and that gain.
fn mixture(
    rays: &[Ray],
    law: &Distribution,
    gain: impl Fn(&Ray) -> f64,
) -> Result<(Vec<(usize, f64)>, f64), Error> {
    let p = law.as_slice();
    // The deviations have mean zero, so the row of one symbol with mass follows from the others.
    let spare = (0..p.len()).max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap_or(0);
    // Every row and the gains are scaled to entries of at most one.
    let size = |values: &mut dyn Iterator<Item = f64>| {
        let most = values.map(f64::abs).fold(0.0, f64::max);
        if most > 0.0 { most } else { 1.0 }
    };
    let kept: Vec<(usize, f64)> = (0..p.len())
        .filter(|&x| x != spare)
        .map(|x| (x, size(&mut rays.iter().map(|ray| ray.deviations()[x]))))
        .collect();
    let column = |ray: &Ray| {
        [1.0].into_iter().chain(kept.iter().map(|&(x, s)| ray.deviations()[x] / s)).collect()
    };
    let columns: Vec<Vec<f64>> = rays.iter().map(column).collect();
    let gains: Vec<f64> = rays.iter().map(gain).collect();
    let scale = size(&mut gains.iter().copied());
    let costs: Vec<f64> = gains.iter().map(|gain| gain / scale).collect();
    let mut rhs = vec![0.0; p.len()];
    rhs[0] = 1.0;
    let optimum = simplex::maximise(&columns, &costs, &rhs)?;
    Ok((optimum.weights, optimum.value * scale))
}

fn mean(deviations: &[f64], law: &[f64]) -> f64 {
    deviations.iter().zip(law).map(|(d, p)| d * p).sum()
}

/// ln Σ p L^α.
fn log_moment(ray: &Ray, law: &[f64], alpha: f64) -> f64 {
    let powers = || law.iter().enumerate().map(|(x, p)| (alpha * ray.log(x), p));
    let top = powers().map(|(power, _)| power).fold(0.0, f64::max);
    if top < 1.0 {
        powers().map(|(power, p)| p * power.exp_m1()).sum::<f64>().ln_1p()
    } else {
        top + powers().map(|(power, p)| p * (power - top).exp()).sum::<f64>().ln()
    }
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
