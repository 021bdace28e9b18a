//! The lift vectors a single output may have under a promise.

use undertone_core::{Bound, Context, Epsilon, Subject};

use crate::knowledge::corners;
use crate::quantize::PolicySpec;
use crate::solve::Program;
use crate::{Distribution, Error, extremal, to_floats};
use undertone_numeric::cone::{TooManyRays, extreme_rays};
use undertone_numeric::vector::dot;

/// A region with more rays than this, at any stage of listing them, is not listed.
const MAX_RAYS: usize = 20_000;

/// Up to this many symbols the vertices of the simple forms are listed.
pub const MAX_LISTED: usize = 12;

/// A conjunction of unlike claims has its vertices listed up to this many symbols.
pub const MAX_LISTED_CONJUNCTION: usize = 8;

/// Up to this many corners a box of priors is taken as the list of them.
pub const MAX_CORNERS: usize = 64;

/// All L >= 0 with Σ P(x) L(x) = 1 that one output of a channel may have as lifts q(y|x)/P(y); the
/// constant vector 1 is always among them.
#[derive(Debug, Clone)]
pub(super) struct Region {
    pub(super) prior: Distribution,
    pub(super) form: RegionForm,
    /// No L of the region has Σ P(x) (L(x) - 1)² above this.
    pub(super) spread: f64,
}

/// How the claims describe it.
#[derive(Debug, Clone)]
pub(super) enum RegionForm {
    /// Lifts between two numbers: LIP.
    Range { low: f64, high: f64 },
    /// Weighted lifts within `odds` of each other: LDP with weights of one, DI with the prior's.
    Odds { weights: Vec<f64>, odds: f64 },
    /// a·L >= 0 for every row a.
    Cone(Vec<Vec<f64>>),
}

impl RegionForm {
    /// A bound on Σ P(x) (L(x) - 1)²; infinite if none is known.
    ///
    /// A variable of mean one between l and h has variance at most (h-1)(1-l), and for h = l·odds that
    /// is largest at l = (1 + odds)/(2 odds).
    fn spread(&self) -> f64 {
        match self {
            Self::Range { low, high } => (high - 1.0) * (1.0 - low),
            Self::Odds { weights, odds } if weights.iter().all(|w| *w == 1.0) => {
                (odds - 1.0).powi(2) / (4.0 * odds)
            }
            _ => f64::INFINITY,
        }
    }
}

impl Region {
    /// The region of `promise`, with lifts taken under `prior`. A claim with a δ is kept without it: δ
    /// bounds a sum over outputs, which no single output can be held to.
    pub(super) fn of(spec: &PolicySpec, prior: &Distribution) -> Result<Self, Error> {
        let prior = &*spec.in_order(prior)?;
        let prior = &promised(&spec.context, prior)?;
        let mut rows = Rows::default();
        for claim in &spec.claims {
            rows.add(&claim.bound, claim.about, &spec.context, prior)?;
        }
        rows.region(prior)
    }

    /// Lifts between `low` and `high` under `prior`.
    pub(super) fn range(prior: &Distribution, low: f64, high: f64) -> Self {
        let form = RegionForm::Range { low, high };
        let spread = form.spread();
        Self { prior: prior.clone(), form, spread }
    }

    /// Likelihoods within `odds` of each other.
    pub(super) fn odds(prior: &Distribution, odds: f64) -> Self {
        let form = RegionForm::Odds { weights: vec![1.0; prior.len()], odds };
        let spread = form.spread();
        Self { prior: prior.clone(), form, spread }
    }

    pub(super) fn symbols(&self) -> usize {
        self.prior.len()
    }

    /// Whether it is known by its faces alone, so that every point of it takes a linear program.
    pub(super) fn is_cone(&self) -> bool {
        matches!(self.form, RegionForm::Cone(_))
    }

    /// All vertices, where they are few enough to list.
    pub(super) fn vertices(&self) -> Result<Option<Vec<Vec<f64>>>, Error> {
        let symbols = self.symbols();
        match &self.form {
            RegionForm::Range { low, high } if symbols <= MAX_LISTED => {
                extremal::lifts(&self.prior, *low, *high).map(Some)
            }
            RegionForm::Odds { weights, odds } if symbols <= MAX_LISTED => {
                Ok(Some(self.odds_vertices(weights, *odds)))
            }
            RegionForm::Cone(rows) if symbols <= MAX_LISTED_CONJUNCTION => {
                let rays = extreme_rays(symbols, rows, MAX_RAYS).map_err(|TooManyRays(size)| {
                    Error::TooLarge {
                        what: "the list of extremal outputs".into(),
                        size,
                        limit: MAX_RAYS,
                        fix: "make fewer claims, or merge symbols".into(),
                    }
                })?;
                Ok(Some(rays.into_iter().filter_map(|ray| self.scaled(ray)).collect()))
            }
            _ => Ok(None),
        }
    }

    /// Every weighted lift is at one of two values, in every way; all at one value is said once.
    fn odds_vertices(&self, weights: &[f64], odds: f64) -> Vec<Vec<f64>> {
        let symbols = self.symbols();
        let corner = |set: u32| {
            let value = |x: usize| if set >> x & 1 == 1 { odds } else { 1.0 };
            self.scaled((0..symbols).map(|x| value(x) / weights[x]).collect())
        };
        (0..(1u32 << symbols) - 1).filter_map(corner).collect()
    }

    /// The multiple with mean one.
    fn scaled(&self, ray: Vec<f64>) -> Option<Vec<f64>> {
        let mean: f64 = dot(self.prior.as_slice(), &ray);
        (mean > 0.0).then(|| ray.iter().map(|v| v / mean).collect())
    }

    /// A point of the region where c·L is largest.
    pub(super) fn support(&self, c: &[f64]) -> Result<Vec<f64>, Error> {
        match &self.form {
            RegionForm::Range { low, high } => {
                let symbols = self.symbols();
                Ok(fill(self.prior.as_slice(), &vec![*low; symbols], &vec![*high; symbols], c).0)
            }
            RegionForm::Odds { weights, odds } => Ok(self.odds_support(weights, *odds, c)),
            RegionForm::Cone(rows) => {
                let mut program = Program::new();
                for cost in c {
                    program.non_negative(-cost);
                }
                program.equal(self.prior.as_slice().iter().copied().enumerate(), 1.0);
                for row in rows {
                    program.at_most(row.iter().map(|a| -a).enumerate(), 0.0);
                }
                Ok(program.solve()?.values.into_iter().map(|v| v.max(0.0)).collect())
            }
        }
    }

    /// c·L is a quotient of two sums over the raised set, so a best set takes the largest c(x)/P(x)
    /// first.
    fn odds_support(&self, weights: &[f64], odds: f64, c: &[f64]) -> Vec<f64> {
        let p = self.prior.as_slice();
        let order = by_density(c, p);
        let mut worth: f64 = c.iter().zip(weights).map(|(c, w)| c / w).sum();
        let mut mass: f64 = p.iter().zip(weights).map(|(p, w)| p / w).sum();
        let (mut best, mut count) = (worth / mass, 0);
        for (at, &x) in order.iter().enumerate() {
            worth += (odds - 1.0) * c[x] / weights[x];
            mass += (odds - 1.0) * p[x] / weights[x];
            if worth / mass > best {
                (best, count) = (worth / mass, at + 1);
            }
        }
        let mut ray: Vec<f64> = weights.iter().map(|w| 1.0 / w).collect();
        order[..count].iter().for_each(|&x| ray[x] *= odds);
        self.scaled(ray).unwrap_or_else(|| vec![1.0; p.len()])
    }
}

/// The point of {low <= L <= high, P·L = 1} where c·L is largest, and the one coordinate that is
/// at neither end: a fractional knapsack.
pub(super) fn fill(p: &[f64], low: &[f64], high: &[f64], c: &[f64]) -> (Vec<f64>, Option<usize>) {
    let mut lift = low.to_vec();
    let mut left = 1.0 - dot(p, low);
    let mut broken = None;
    for x in by_density(c, p) {
        if p[x] <= 0.0 {
            lift[x] = if c[x] > 0.0 { high[x] } else { low[x] };
            continue;
        }
        let room = p[x] * (high[x] - low[x]);
        if left >= room {
            lift[x] = high[x];
            left -= room;
        } else {
            lift[x] = (low[x] + left.max(0.0) / p[x]).min(high[x]);
            broken = (left > 0.0).then_some(x);
            break;
        }
    }
    (lift, broken)
}

/// Symbols by c(x)/P(x), largest first; those without mass at the end they would be at in the limit.
fn by_density(c: &[f64], p: &[f64]) -> Vec<usize> {
    let density = |x: usize| match p[x] > 0.0 {
        true => c[x] / p[x],
        false if c[x] > 0.0 => f64::INFINITY,
        false => f64::NEG_INFINITY,
    };
    let keys: Vec<f64> = (0..c.len()).map(density).collect();
    let mut order: Vec<usize> = (0..c.len()).collect();
    // Symbols without mass are settled before the knapsack stops, whatever their place.
    order.sort_by(|&a, &b| {
        let massless = |x: usize| p[x] <= 0.0 && c[x] <= 0.0;
        massless(a).cmp(&massless(b)).then(keys[b].total_cmp(&keys[a]))
    });
    order
}

/// The claims read so far.
#[derive(Default)]
struct Rows {
    cone: Vec<Vec<f64>>,
    /// The forms of the claims about the input under the prior the lifts are taken under, each kind
    /// intersected with its like; `None` for anything else.
    forms: Vec<Option<RegionForm>>,
}

impl Rows {
    fn add(
        &mut self,
        bound: &Bound,
        about: Subject,
        context: &Context,
        prior: &Distribution,
    ) -> Result<(), Error> {
        let symbols = prior.len();
        let unit = |x: usize| (0..symbols).map(|z| f64::from(u8::from(z == x))).collect();
        let subjects: Vec<Vec<f64>> = match about {
            Subject::Input => (0..symbols).map(unit).collect(),
            Subject::Secret => match to_floats::secret(context)? {
                Some(joint) => {
                    joint.given_secret().rows().iter().map(|row| row.as_slice().to_vec()).collect()
                }
                None => {
                    let problem = "a claim is about a secret, but the context has none";
                    return Err(Error::other("claims", problem));
                }
            },
        };
        let own = |priors: &[Distribution]| {
            let same = |belief: &Distribution| belief.as_slice() == prior.as_slice();
            about == Subject::Input && priors.len() == 1 && same(&priors[0])
        };
        match *bound {
            Bound::Ldp(epsilon) => {
                let odds = odds(epsilon);
                self.pairs(&subjects, odds);
                let form = RegionForm::Odds { weights: vec![1.0; symbols], odds };
                self.forms.push((about == Subject::Input).then_some(form));
            }
            Bound::Lip { lower, upper } => {
                let (low, high) = (1.0 / odds(lower), odds(upper));
                let priors = beliefs(context)?;
                for belief in &priors {
                    for subject in &subjects {
                        let pair = || subject.iter().zip(belief.as_slice());
                        self.cone.push(pair().map(|(s, p)| high * p - s).collect());
                        self.cone.push(pair().map(|(s, p)| s - low * p).collect());
                    }
                }
                self.forms.push(own(&priors).then_some(RegionForm::Range { low, high }));
            }
            Bound::Di(epsilon) => {
                let odds = odds(epsilon);
                let priors = beliefs(context)?;
                for belief in &priors {
                    check_identifiable(belief, odds)?;
                    let weigh = |(row, p): (&Vec<f64>, &f64)| row.iter().map(|v| v * p).collect();
                    let weighted: Vec<Vec<f64>> =
                        subjects.iter().zip(belief.as_slice()).map(weigh).collect();
                    self.pairs(&weighted, odds);
                }
                let form = RegionForm::Odds { weights: prior.as_slice().to_vec(), odds };
                self.forms.push(own(&priors).then_some(form));
            }
        }
        Ok(())
    }

    /// Any two of these likelihoods within `odds` of each other.
    fn pairs(&mut self, likelihoods: &[Vec<f64>], odds: f64) {
        for (i, a) in likelihoods.iter().enumerate() {
            for (_, b) in likelihoods.iter().enumerate().filter(|&(j, _)| j != i) {
                self.cone.push(a.iter().zip(b).map(|(a, b)| odds * b - a).collect());
            }
        }
    }

    fn region(self, prior: &Distribution) -> Result<Region, Error> {
        let spread =
            self.forms.iter().flatten().map(RegionForm::spread).fold(f64::INFINITY, f64::min);
        let form = match common(&self.forms) {
            Some(form) => form,
            None => {
                let mut rows = self.cone;
                rows.sort_by(|a, b| {
                    let order = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
                    order.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
                });
                rows.dedup();
                RegionForm::Cone(rows)
            }
        };
        Ok(Region { prior: prior.clone(), form, spread })
    }
}

/// The prior the claims are about, where `prior` is that one but for its rounding: under it a claim has a
/// simple form, under one a hair away it is any cone.
fn promised(context: &Context, prior: &Distribution) -> Result<Distribution, Error> {
    let rounding = 2.0 / undertone_core::WEIGHT_ONE as f64;
    if let Context::Known(known) = context {
        let known = to_floats::distribution(known)?;
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= rounding;
        if known.as_slice().iter().zip(prior.as_slice()).all(near) {
            return Ok(known);
        }
    }
    Ok(prior.clone())
}

/// One form for all claims, if they are of one kind.
fn common(forms: &[Option<RegionForm>]) -> Option<RegionForm> {
    let mut found: Option<RegionForm> = None;
    for form in forms {
        let form = form.clone()?;
        found = Some(match (found, form) {
            (None, form) => form,
            (Some(RegionForm::Range { low: a, high: b }), RegionForm::Range { low, high }) => {
                RegionForm::Range { low: low.max(a), high: high.min(b) }
            }
            (
                Some(RegionForm::Odds { weights: a, odds: b }),
                RegionForm::Odds { weights, odds },
            ) if a == weights => RegionForm::Odds { weights, odds: odds.min(b) },
            _ => return None,
        });
    }
    found
}

fn beliefs(context: &Context) -> Result<Vec<Distribution>, Error> {
    match context {
        Context::Known(prior) => Ok(vec![to_floats::distribution(prior)?]),
        Context::Each(priors) => priors.as_slice().iter().map(to_floats::distribution).collect(),
        Context::Secret(_) => Ok(to_floats::prior(context)?.into_iter().collect()),
        Context::Unknown => {
            let problem = "lip and di are about belief but no prior is given: add one or claim ldp";
            Err(Error::other("claims", problem))
        }
        // What holds at the corners of a box holds within it: the claims are linear in the prior.
        Context::Within(within) => corners(within, MAX_CORNERS).ok_or_else(|| Error::TooLarge {
            what: "the list of the prior box's corners".into(),
            size: MAX_CORNERS + 1,
            limit: MAX_CORNERS,
            fix: "claim ldp, make the box narrower, or choose an objective that is linear in the channel".into(),
        }),
    }
}

/// Even a constant output has the prior's own odds.
fn check_identifiable(prior: &Distribution, odds: f64) -> Result<(), Error> {
    if prior.max() <= odds * prior.min() {
        return Ok(());
    }
    let floor = (prior.max() / prior.min()).ln();
    let problem = match floor.is_finite() {
        true => format!(
            "epsilon {:.6} is below the prior's own odds: ask for at least {:.6}",
            odds.ln(),
            (floor * 1e6).ceil() / 1e6
        ),
        false => "a symbol without mass has unbounded posterior odds against it: leave it out, or claim lip".into(),
    };
    Err(Error::other("di", problem))
}

fn odds(epsilon: Epsilon) -> f64 {
    let (numerator, denominator) = epsilon.odds();
    f64::from(numerator) / f64::from(denominator)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// low·(P·v) <= v(x) <= high·(P·v).
    fn lip(prior: &Distribution, low: f64, high: f64) -> Vec<Vec<f64>> {
        let m = prior.len();
        let row = |x: usize, upper: bool| {
            let unit = |z: usize| f64::from(u8::from(z == x));
            let cell = |z: usize| {
                if upper { high * prior[z] - unit(z) } else { unit(z) - low * prior[z] }
            };
            (0..m).map(cell).collect::<Vec<_>>()
        };
        (0..m).flat_map(|x| [row(x, true), row(x, false)]).collect()
    }

    #[test]
    fn the_rays_of_one_lip_claim_are_the_extremal_lifts() {
        for (p, eps) in [
            (vec![0.5, 0.3, 0.2], 0.7f64),
            (vec![0.1, 0.1, 0.1, 0.7], 2.0),
            (vec![0.25; 4], 3f64.ln()),
        ] {
            let prior = Distribution::new("p", p).unwrap();
            let (low, high) = ((-eps).exp(), eps.exp());
            let rounded = |lifts: Vec<Vec<f64>>| {
                let round =
                    |v: &Vec<f64>| v.iter().map(|a| (a * 1e6).round() as i64).collect::<Vec<_>>();
                let mut rounded: Vec<Vec<i64>> = lifts.iter().map(round).collect();
                rounded.sort();
                rounded
            };
            let form = RegionForm::Cone(lip(&prior, low, high));
            let cone = Region { prior: prior.clone(), form, spread: f64::INFINITY };
            let known = extremal::lifts(&prior, low, high).unwrap();
            assert_eq!(rounded(cone.vertices().unwrap().unwrap()), rounded(known));
        }
    }
}
