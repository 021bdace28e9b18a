//! The cone that a pure premise confines one output to, by its extreme rays.

use super::super::{Guarantee, Notion, Setting};
use undertone_design::{Channel, Distribution, Error, extremal};

/// What the premise confines: lifts to an interval, likelihoods or posteriors to a ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PremiseKind {
    Lift,
    Likelihood,
    Odds,
}

/// A premise the program can treat: its kind and its budgets in nats.
#[derive(Debug, Clone, Copy)]
pub(super) struct Premise {
    pub kind: PremiseKind,
    lower: f64,
    upper: f64,
}

/// The lifts of one output, of mean one under the law, with their deviations from one.
///
/// Both are kept because small budgets need the digits of the deviation and large budgets those of
/// a lift near zero.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ray {
    lift: Vec<f64>,
    deviation: Vec<f64>,
}

impl Ray {
    fn new(pairs: impl Iterator<Item = (f64, f64)>) -> Self {
        let (lift, deviation) = pairs.unzip();
        Self { lift, deviation }
    }

    /// How many symbols.
    pub(super) fn symbols(&self) -> usize {
        self.lift.len()
    }

    pub(super) fn lifts(&self) -> &[f64] {
        &self.lift
    }

    pub(super) fn deviations(&self) -> &[f64] {
        &self.deviation
    }

    /// ln of one lift.
    pub(super) fn log(&self, x: usize) -> f64 {
        let deviation = self.deviation[x];
        if deviation.abs() < 0.5 { deviation.ln_1p() } else { self.lift[x].ln() }
    }

    /// ln of the smallest and of the largest lift.
    pub(super) fn ends(&self) -> (f64, f64) {
        let logs = (0..self.symbols()).map(|x| self.log(x));
        logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), v| {
            (v.min(least), v.max(most))
        })
    }
}

impl Premise {
    /// The premise and the law it speaks of, if the program can treat it.
    pub(super) fn of<'a>(
        from: &Guarantee,
        to: Notion,
        setting: &'a Setting,
    ) -> Option<(Self, &'a Distribution)> {
        // A secret's own channel is what is optimised, so both notions must speak of that secret.
        if !from.is_pure() || from.notion().subject() != to.subject() {
            return None;
        }
        let prior = setting.prior.as_ref();
        let (kind, law) = match from.notion() {
            Notion::Lip | Notion::Alip | Notion::Pml => (PremiseKind::Lift, prior?),
            Notion::Bplip => match setting.priors.as_slice() {
                [only] if prior.is_none_or(|prior| prior == only) => (PremiseKind::Lift, only),
                _ => return None,
            },
            // LDP does not depend on the prior, so any member of a set serves.
            Notion::Ldp | Notion::Wclip if to == Notion::Bplip => {
                (PremiseKind::Likelihood, setting.priors.first()?)
            }
            Notion::Ldp | Notion::Wclip => (PremiseKind::Likelihood, prior?),
            Notion::Di => (PremiseKind::Odds, prior.filter(|law| law.min() > 0.0)?),
            Notion::Infp => (PremiseKind::Lift, setting.hypothesis.as_ref()?),
            // With one binary secret every two values are neighbours.
            Notion::Infdp => {
                let law = setting.hypothesis.as_ref().filter(|law| law.len() == 2)?;
                (PremiseKind::Likelihood, law)
            }
            _ => return None,
        };
        let lower = if from.notion() == Notion::Pml { f64::INFINITY } else { from.lower() };
        Some((Self { kind, lower, upper: from.upper() }, law))
    }

    /// The extreme rays, and the ray of an output that says nothing.
    pub(super) fn rays(&self, law: &Distribution) -> Vec<Ray> {
        let m = law.len();
        // Lifts of one symbol average to one over outputs: no room on one side, none on the other.
        let no_room =
            m == 1 || self.upper == 0.0 || (self.kind == PremiseKind::Lift && self.lower == 0.0);
        let corners = match self.kind {
            _ if no_room => vec![],
            PremiseKind::Lift => lift_corners(law.as_slice(), self.lower, self.upper),
            PremiseKind::Likelihood => {
                (1..(1u32 << m) - 1).map(|mask| self.ratio_corner(mask, law)).collect()
            }
            PremiseKind::Odds => {
                let all = (1..(1u32 << m) - 1).map(|mask| self.odds_corner(mask, law));
                all.filter(|ray| self.usable(ray, law)).collect()
            }
        };
        corners.into_iter().chain([Ray::new((0..m).map(|_| (1.0, 0.0)))]).collect()
    }

    /// Likelihoods proportional to 1 or E.
    fn ratio_corner(&self, mask: u32, law: &Distribution) -> Ray {
        let rise = self.upper.exp_m1();
        let end = |x: usize| if mask >> x & 1 == 1 { rise } else { 0.0 };
        let mean: f64 = (0..law.len()).map(|x| law[x] * end(x)).sum();
        let scaled = |x: usize| ((1.0 + end(x)) / (1.0 + mean), (end(x) - mean) / (1.0 + mean));
        Ray::new((0..law.len()).map(scaled))
    }

    /// Posteriors proportional to 1 or E.
    fn odds_corner(&self, mask: u32, law: &Distribution) -> Ray {
        let high = self.upper.exp();
        let end = |x: usize| if mask >> x & 1 == 1 { high } else { 1.0 };
        let sum: f64 = (0..law.len()).map(end).sum();
        let scaled = |x: usize| {
            let even = law[x] * sum;
            (end(x) / even, (end(x) - even) / even)
        };
        Ray::new((0..law.len()).map(scaled))
    }

    /// Where the prior itself sits on the edge of the premise, every posterior must stay there.
    fn usable(&self, ray: &Ray, law: &Distribution) -> bool {
        let high = self.upper.exp();
        let edge = |a: f64, b: f64| (a - high * b).abs() <= 1e-12 * a;
        let posterior = |x: usize| law[x] * ray.lift[x];
        let mut pairs = (0..law.len()).flat_map(|x| (0..law.len()).map(move |z| (x, z)));
        pairs.all(|(x, z)| !edge(law[x], law[z]) || edge(posterior(x), posterior(z)))
    }

    /// A two-output channel within the premise whose first output has the lifts of `ray`.
    pub(super) fn witness(&self, ray: &Ray, law: &Distribution) -> Result<Channel, Error> {
        let lift = &ray.lift;
        if self.kind == PremiseKind::Lift {
            return extremal::witness(lift, (-self.lower).exp(), self.upper.exp());
        }
        // The second output has 1 - w·lift: the largest w, at most half of what makes it negative,
        // that keeps its ratios.
        let high = self.upper.exp();
        let scale = |x: usize| if self.kind == PremiseKind::Odds { law[x] } else { 1.0 };
        let mut weight = 0.5 / lift.iter().copied().fold(1.0, f64::max);
        for (x, a) in lift.iter().enumerate() {
            for (z, b) in lift.iter().enumerate() {
                let room = high * scale(z) - scale(x);
                let need = high * scale(z) * b - scale(x) * a;
                if x != z && need > 0.0 && room > 0.0 {
                    weight = weight.min(room / need);
                }
            }
        }
        Channel::new(lift.iter().map(|l| vec![weight * l, 1.0 - weight * l]).collect())
    }
}

/// The corners of {e^-lower <= L <= e^upper, Σ P L = 1}: every coordinate but one at an end.
///
/// Like [`extremal::lifts`], but with no lower end allowed, repeats kept (they do no harm to a
/// maximum), and a tolerance that follows the rounding error, so that budgets of 1e-7 and of 40 nats
/// stay exact.
fn lift_corners(p: &[f64], lower: f64, upper: f64) -> Vec<Ray> {
    let m = p.len();
    let least = ((-lower).exp(), (-lower).exp_m1());
    let most = (upper.exp(), upper.exp_m1());
    let mut corners = Vec::new();
    for free in (0..m).filter(|&x| p[x] > 0.0) {
        for mask in 0..1u32 << (m - 1) {
            let high = |x: usize| mask >> (if x < free { x } else { x - 1 }) & 1 == 1;
            let end = |x: usize| if high(x) { most } else { least };
            let others = || (0..m).filter(|&x| x != free);
            let lifted: f64 = others().map(|x| p[x] * end(x).0).sum();
            let deviated: f64 = others().map(|x| p[x] * end(x).1).sum();
            let size: f64 = others().map(|x| p[x] * end(x).1.abs()).sum();
            let (lift, deviation) = ((1.0 - lifted) / p[free], -deviated / p[free]);
            let slack = 4.0 * m as f64 * f64::EPSILON * size / p[free];
            if least.1 - slack <= deviation && deviation <= most.1 + slack {
                let last = (lift.clamp(least.0, most.0), deviation.clamp(least.1, most.1));
                corners.push(Ray::new((0..m).map(|x| if x == free { last } else { end(x) })));
            }
        }
    }
    corners
}
