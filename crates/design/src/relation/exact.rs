//! The exact supremum over all mechanisms, from the extremal lift vectors, with a witness.
//!
//! One output of a mechanism is a column of likelihoods. A pure premise confines columns to a cone;
//! every quantity of one output here is quasi-convex, so its supremum sits on an extreme ray, and
//! every quantity averaged over outputs is a sum of convex functions of degree one, so its supremum
//! is a linear program over extreme rays: weights that make every row sum to one.
//!
//! A ray is scaled to lifts of mean one and kept as its deviations d = lift - 1, and the program is
//! written in them (Σ w = 1, Σ w d = 0), so that small budgets lose no digits.

use super::{Guarantee, Notion, Setting, simplex};
use crate::{Channel, Distribution, Error, extremal};

/// Above this many symbols the extreme rays are not enumerated and the closed forms answer.
pub const MAX_SYMBOLS: usize = 10;

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
    let Some(quantity) = Quantity::of(to, law, setting) else { return Ok(None) };
    if law.len() > MAX_SYMBOLS || (premise.kind == Kind::Odds && law.min() <= 0.0) {
        return Ok(None);
    }
    let rays = premise.rays(law)?;
    match quantity {
        Quantity::Output(measures) => {
            // `alip` has a side per measure; one witness per side, used half the time each.
            let mut levels = Vec::new();
            let mut witness: Option<Channel> = None;
            for measure in &measures {
                let (level, ray) = largest(&rays, |ray| measure.level(ray, law, setting));
                levels.push(level);
                let next = premise.witness(ray, law)?;
                witness = Some(match witness {
                    None => next,
                    Some(one) => halves(&one, &next)?,
                });
            }
            let guarantee = match levels.as_slice() {
                [lower, upper] => Guarantee::sides(*lower, *upper),
                [one] => Guarantee::raw(to, *one),
                _ => return Ok(None),
            };
            Ok(witness.map(|witness| Supremum { guarantee, witness }))
        }
        Quantity::Average(average) => {
            let (weights, sum) = mixture(&rays, law, |ray| average.gain(ray, law))?;
            let level = average.finish(sum);
            let rows = (0..law.len())
                .map(|x| {
                    let row = weights.iter().map(|&(j, w)| w * (1.0 + rays[j][x])).collect();
                    Distribution::normalised("a witness row", row)
                })
                .collect::<Result<Vec<_>, _>>()?;
            let guarantee = Guarantee::raw(to, level.max(0.0));
            Ok(Some(Supremum { guarantee, witness: Channel::from_rows(rows)? }))
        }
    }
}

/// What the premise confines: lifts to an interval, likelihoods or posteriors to a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lift,
    Likelihood,
    Odds,
}

struct Premise {
    kind: Kind,
    lower: f64,
    upper: f64,
}

impl Premise {
    /// The premise and the law it speaks of, if the program can treat it.
    fn of<'a>(
        from: &Guarantee,
        to: Notion,
        setting: &'a Setting,
    ) -> Option<(Self, &'a Distribution)> {
        // A secret's own channel is what is optimised, so both notions must speak of that secret.
        if !from.is_pure() || from.notion().subject() != to.subject() {
            return None;
        }
        let (lower, upper) = ((-from.lower()).exp(), from.upper().exp());
        let prior = setting.prior.as_ref();
        let lift = |law: &'a Distribution| (Self { kind: Kind::Lift, lower, upper }, law);
        let ratio = |kind, law: &'a Distribution| (Self { kind, lower, upper }, law);
        match from.notion() {
            Notion::Lip | Notion::Alip => prior.map(lift),
            Notion::Pml => prior.map(|law| (Self { kind: Kind::Lift, lower: 0.0, upper }, law)),
            Notion::Bplip => match setting.priors.as_slice() {
                [only] if prior.is_none_or(|prior| prior == only) => Some(lift(only)),
                _ => None,
            },
            Notion::Ldp | Notion::Wclip => {
                // LDP does not depend on the prior, so any member of a set serves.
                let law = if to == Notion::Bplip { setting.priors.first() } else { prior };
                law.map(|law| ratio(Kind::Likelihood, law))
            }
            Notion::Di => prior.map(|law| ratio(Kind::Odds, law)),
            Notion::Infp => setting.hypothesis.as_ref().map(lift),
            // With one binary secret every two values are neighbours.
            Notion::Infdp => {
                let law = setting.hypothesis.as_ref().filter(|law| law.len() == 2);
                law.map(|law| ratio(Kind::Likelihood, law))
            }
            _ => None,
        }
    }

    /// The extreme rays, scaled to lifts (mean one under the prior).
    fn rays(&self, law: &Distribution) -> Result<Vec<Vec<f64>>, Error> {
        let m = law.len();
        // Lifts of one symbol average to one over outputs: no room on one side, none on the other.
        if m == 1 || self.upper <= 1.0 || (self.kind == Kind::Lift && self.lower >= 1.0) {
            return Ok(vec![vec![1.0; m]]);
        }
        match self.kind {
            Kind::Lift => Ok(lift_corners(law.as_slice(), self.lower, self.upper)),
            Kind::Likelihood | Kind::Odds => {
                let corner = |mask: u32| -> Vec<f64> {
                    let end = |x: usize| if mask >> x & 1 == 1 { self.upper } else { 1.0 };
                    let scale = |x: usize| if self.kind == Kind::Odds { law[x] } else { 1.0 };
                    let ray: Vec<f64> = (0..m).map(|x| end(x) / scale(x)).collect();
                    let mean = mean(&ray, law);
                    ray.into_iter().map(|v| v / mean).collect()
                };
                // The constant corners come last: they carry no information but keep a one-symbol
                // or zero-budget problem feasible.
                let all = (1..(1u32 << m) - 1).map(corner).filter(|ray| self.usable(ray, law));
                Ok(all.chain([vec![1.0; m]]).collect())
            }
        }
    }

    /// Where the prior itself sits on the edge of the premise, every posterior must stay there.
    fn usable(&self, ray: &[f64], law: &Distribution) -> bool {
        self.kind != Kind::Odds || {
            let edge = |a: f64, b: f64| (a - self.upper * b).abs() <= 1e-12 * a;
            let pairs = || (0..law.len()).flat_map(|x| (0..law.len()).map(move |z| (x, z)));
            pairs()
                .filter(|&(x, z)| edge(law[x], law[z]))
                .all(|(x, z)| edge(law[x] * ray[x], law[z] * ray[z]))
        }
    }

    /// A two-output channel within the premise whose first output has the lifts `ray`.
    fn witness(&self, ray: &[f64], law: &Distribution) -> Result<Channel, Error> {
        if self.kind == Kind::Lift {
            return extremal::witness(ray, self.lower, self.upper);
        }
        // The second output has 1 - w·ray; the largest w <= 1/2 of the peak that keeps its ratios.
        let scale = |x: usize| if self.kind == Kind::Odds { law[x] } else { 1.0 };
        let peak = ray.iter().copied().fold(0.0, f64::max);
        let mut weight = 0.5 / peak;
        for x in 0..ray.len() {
            for z in 0..ray.len() {
                let room = self.upper * scale(z) - scale(x);
                let use_up = self.upper * scale(z) * ray[z] - scale(x) * ray[x];
                if x != z && use_up > 0.0 && room > 0.0 {
                    weight = weight.min(room / use_up);
                }
            }
        }
        Channel::new(ray.iter().map(|l| vec![weight * l, 1.0 - weight * l]).collect())
    }
}

/// The corners of {lower <= L <= upper, Σ P L = 1}: every coordinate but one at an end.
///
/// Like [`extremal::lifts`], but with a lower end of zero allowed, repeats kept (they do no harm to a
/// maximum), and a tolerance that follows the rounding error, so that budgets of 20 nats stay exact.
fn lift_corners(p: &[f64], lower: f64, upper: f64) -> Vec<Vec<f64>> {
    let m = p.len();
    let mut corners = Vec::new();
    for free in (0..m).filter(|&x| p[x] > 0.0) {
        for mask in 0..1u32 << (m - 1) {
            let high = |x: usize| mask >> (if x < free { x } else { x - 1 }) & 1 == 1;
            let end = |x: usize| if x != free && high(x) { upper } else { lower };
            let mut lift: Vec<f64> = (0..m).map(end).collect();
            let rest: f64 = (0..m).filter(|&x| x != free).map(|x| p[x] * lift[x]).sum();
            let value = (1.0 - rest) / p[free];
            let slack = 4.0 * m as f64 * f64::EPSILON * (1.0 + rest) / p[free];
            if lower - slack <= value && value <= upper + slack {
                lift[free] = value.clamp(lower, upper);
                corners.push(lift);
            }
        }
    }
    corners
}

/// A quantity of single outputs (one or two sides), or of the whole channel.
enum Quantity {
    Output(Vec<OutputMeasure>),
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
        use OutputMeasure as M;
        let output = |measure| Some(Self::Output(vec![measure]));
        match to {
            Notion::Ldp | Notion::Wclip => output(M::Ratio),
            Notion::Lip | Notion::Infp => output(M::BothLifts),
            Notion::Alip => Some(Self::Output(vec![M::MinLift, M::MaxLift])),
            Notion::Pml => output(M::MaxLift),
            Notion::Di if law.min() > 0.0 => output(M::Odds),
            Notion::Bplip if !setting.priors.is_empty() => output(M::LiftsUnderSet),
            Notion::Infdp if law.len().is_power_of_two() => output(M::NeighbourRatio),
            Notion::Alphalift => output(M::AlphaLift(setting.alpha?)),
            Notion::Mip | Notion::Avgleak => Some(Self::Average(AverageMeasure::Information)),
            Notion::Mil => Some(Self::Average(AverageMeasure::Maximal)),
            Notion::Sibson => {
                let law = law.as_slice().to_vec();
                Some(Self::Average(AverageMeasure::Order(setting.alpha?, law)))
            }
            Notion::Arimoto => {
                let alpha = setting.alpha?;
                // Arimoto's under P is Sibson's under the prior proportional to P^α.
                let tilted: Vec<f64> =
                    law.as_slice().iter().map(|p| (p / law.max()).powf(alpha)).collect();
                let sum: f64 = tilted.iter().sum();
                let escort = tilted.iter().map(|p| p / sum).collect();
                Some(Self::Average(AverageMeasure::Order(alpha, escort)))
            }
            _ => None,
        }
    }
}

impl OutputMeasure {
    fn level(&self, ray: &[f64], law: &Distribution, setting: &Setting) -> f64 {
        let (least, most) = ends(ray.iter().copied());
        let centre = mean(ray, law);
        match self {
            Self::MinLift => (centre / least).ln(),
            Self::MaxLift => (most / centre).ln(),
            Self::BothLifts => (centre / least).max(most / centre).ln(),
            Self::LiftsUnderSet => {
                let under = |prior: &Distribution| {
                    let centre = mean(ray, prior);
                    (centre / least).max(most / centre).ln()
                };
                setting.priors.iter().map(under).fold(0.0, f64::max)
            }
            Self::Ratio => (most / least).ln(),
            Self::NeighbourRatio => {
                let pairs = (0..ray.len()).flat_map(|g| (0..ray.len()).map(move |h| (g, h)));
                let near = pairs.filter(|(g, h)| (g ^ h).count_ones() == 1);
                near.map(|(g, h)| (ray[g] / ray[h]).ln()).fold(0.0, f64::max)
            }
            Self::Odds => {
                let (least, most) = ends(ray.iter().zip(law.as_slice()).map(|(l, p)| l * p));
                (most / least).ln()
            }
            Self::AlphaLift(alpha) => (norm(ray, law.as_slice(), *alpha) / centre).ln(),
        }
        .max(0.0)
    }
}

impl AverageMeasure {
    fn cost(&self, ray: &[f64], law: &Distribution) -> f64 {
        match self {
            Self::Information => {
                let centre = mean(ray, law);
                let term =
                    |(&l, &p): (&f64, &f64)| if l > 0.0 { p * l * (l / centre).ln() } else { 0.0 };
                ray.iter().zip(law.as_slice()).map(term).sum()
            }
            Self::Maximal => ends(ray.iter().copied()).1,
            Self::Order(alpha, law) => norm(ray, law, *alpha),
        }
    }

    fn finish(&self, sum: f64) -> f64 {
        match self {
            Self::Information => sum,
            Self::Maximal => sum.ln(),
            Self::Order(alpha, _) => alpha / (alpha - 1.0) * sum.ln(),
        }
    }
}

fn mean(ray: &[f64], law: &Distribution) -> f64 {
    ray.iter().zip(law.as_slice()).map(|(l, p)| l * p).sum()
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(least, most), v| (v.min(least), v.max(most)))
}

/// (Σ p l^α)^(1/α), scaled by the largest entry so that large α does not overflow.
fn norm(ray: &[f64], law: &[f64], alpha: f64) -> f64 {
    let top = ends(ray.iter().copied()).1;
    let sum: f64 = ray.iter().zip(law).map(|(l, p)| p * (l / top).powf(alpha)).sum();
    top * sum.powf(1.0 / alpha)
}

/// The ray of the largest level.
fn largest(rays: &[Vec<f64>], level: impl Fn(&[f64]) -> f64) -> (f64, &[f64]) {
    let mut best: (f64, &[f64]) = (f64::NEG_INFINITY, &[]);
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
