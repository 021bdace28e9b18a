//! All questions, asked once.

use undertone_core::{Alphabet, AlphabetView, Context, WEIGHT_ONE};
use undertone_estimate::{
    Answer, Control, Drift, Estimate, Estimator, Headline, HeavyHitters, Method, Shares,
};

use super::count::Counted;
use super::{Args, Group};
use crate::failure::Failure;
use undertone::columns::float;

/// More symbols than these are not all listed for people.
pub(super) const LISTED: usize = 24;
/// More bins than that are shown in about this many groups of neighbours.
const MERGED: usize = 20;

/// All the answers.
pub(super) struct Answers {
    pub(super) headline: Headline,
    pub(super) unbiased: Shares,
    pub(super) mle: Shares,
    pub(super) mmse: Option<Shares>,
    pub(super) numbers: Option<Numbers>,
    pub(super) heavy: Option<HeavyHitters>,
    pub(super) drift: Drift,
    /// The prior of the policies, if they share one.
    pub(super) prior: Option<Vec<f64>>,
    pub(super) labels: Vec<String>,
    /// What people see of the shares.
    pub(super) shown: Shown,
    pub(super) warnings: Vec<String>,
}

/// Shares for people: of every symbol, or of neighbouring bins together, which are known better.
pub(super) struct Shown {
    pub(super) labels: Vec<String>,
    pub(super) shares: Vec<Estimate>,
    pub(super) prior: Option<Vec<f64>>,
    /// Of bins.
    pub(super) edges: Option<Vec<f64>>,
    /// How many bins a group has.
    pub(super) together: usize,
}

/// Answers about numbers.
pub(super) struct Numbers {
    pub(super) mean: Answer,
    pub(super) unbiased: Answer,
    pub(super) mle: Answer,
    pub(super) mmse: Option<Answer>,
    pub(super) variance: Answer,
    pub(super) quantiles: Vec<(f64, Answer)>,
}

impl Answers {
    pub(super) fn new(
        args: &Args,
        groups: &[Group],
        counted: &Counted,
        estimator: &Estimator,
    ) -> Result<Self, Failure> {
        let fail = Failure::input;
        let inputs = estimator.pool().inputs();
        let summary = estimator.summary().map_err(fail)?;
        let method = summary.headline.shares.method;
        let numeric = matches!(inputs.view(), AlphabetView::Points(_) | AlphabetView::Bins { .. });
        let numbers = if numeric {
            let quantile = |&q: &f64| Ok((q, estimator.quantile(q).map_err(Failure::input)?));
            Some(Numbers {
                mean: estimator.mean(method).map_err(fail)?,
                unbiased: estimator.mean(Method::Unbiased).map_err(fail)?,
                mle: estimator.mean(Method::Mle).map_err(fail)?,
                mmse: estimator.mean(Method::Mmse).ok(),
                variance: estimator.variance(method).map_err(fail)?,
                quantiles: args.quantiles.iter().map(quantile).collect::<Result<_, Failure>>()?,
            })
        } else {
            None
        };
        let heavy = match args.above {
            Some(threshold) => Some(
                estimator
                    .heavy_hitters(threshold, Control::FamilyWise)
                    .map_err(|error| Failure::usage(format!("--above: {error}")))?,
            ),
            None => None,
        };
        let labels: Vec<String> = match inputs.view() {
            AlphabetView::Bins { edges, .. } => {
                edges.windows(2).map(|pair| format!("{} to {}", pair[0], pair[1])).collect()
            }
            _ => (0..inputs.len()).map(|x| inputs.label(x)).collect(),
        };
        let mut warnings = summary.drift.warnings.clone();
        let open = summary.identification.unidentified.len();
        if open > 0 {
            warnings.push(format!(
                "{open} of {} shares are not determined by the policy: different populations would send the same reports",
                labels.len()
            ));
        }
        warnings.extend(impossible(estimator, &summary.headline.shares, numbers.as_ref()));
        if counted.skipped() > 0 {
            warnings.push(format!(
                "{} of {} rows were skipped: {} that no policy releases, {} missing",
                counted.skipped(),
                counted.rows,
                counted.unknown,
                counted.missing
            ));
        }
        let prior = shared_prior(inputs, groups);
        let shown = Shown::new(estimator, &summary.headline, &labels, prior.as_deref())?;
        Ok(Self {
            headline: summary.headline,
            unbiased: summary.unbiased,
            mle: summary.mle,
            mmse: summary.mmse,
            drift: summary.drift,
            prior,
            numbers,
            heavy,
            labels,
            shown,
            warnings,
        })
    }
}

/// Sentences about numbers for which no possible value fits the reports at the level.
fn impossible(estimator: &Estimator, shares: &Shares, numbers: Option<&Numbers>) -> Vec<String> {
    let level = 100.0 * estimator.settings().level();
    let mut sentences = Vec::new();
    let asked = numbers.into_iter().flat_map(|numbers| {
        let quantiles = numbers.quantiles.iter().map(|(_, answer)| ("quantile", answer));
        [("mean", &numbers.mean), ("variance", &numbers.variance)].into_iter().chain(quantiles)
    });
    for (name, _) in asked.filter(|(_, answer)| answer.estimate.impossible) {
        sentences.push(format!(
            "no possible {name} fits these reports at {level} %: the nearest possible value is given, marked impossible"
        ));
    }
    let count = shares.symbols.iter().filter(|share| share.impossible).count();
    let by_chance = (1.0 - estimator.settings().level()) * shares.symbols.len() as f64;
    if count as f64 > by_chance {
        sentences.push(format!(
            "{count} of {} shares fit no possible value at {level} % and are given as the nearest one, marked impossible; chance alone does that to {by_chance:.1} at most on average",
            shares.symbols.len()
        ));
    }
    sentences
}

impl Shown {
    fn new(
        estimator: &Estimator,
        headline: &Headline,
        labels: &[String],
        prior: Option<&[f64]>,
    ) -> Result<Self, Failure> {
        let AlphabetView::Bins { edges, .. } = estimator.pool().inputs().view() else {
            return Ok(Self {
                labels: labels.to_vec(),
                shares: headline.shares.symbols.clone(),
                prior: prior.map(<[f64]>::to_vec),
                edges: None,
                together: 1,
            });
        };
        let bins = labels.len();
        let together = if bins > LISTED { bins.div_ceil(MERGED) } else { 1 };
        let group = |from: usize| from..(from + together).min(bins);
        let mut shares = headline.shares.symbols.clone();
        if together > 1 {
            shares.clear();
            for from in (0..bins).step_by(together) {
                let mut inside = vec![0.0; bins];
                inside[group(from)].fill(1.0);
                let answer = estimator.linear(headline.shares.method, &inside);
                shares.push(answer.map_err(Failure::input)?.estimate);
            }
        }
        let ends: Vec<usize> = (0..bins).step_by(together).chain([bins]).collect();
        let label = |pair: &[usize]| format!("{} to {}", edges[pair[0]], edges[pair[1]]);
        let sums = |prior: &[f64]| {
            let sum = |pair: &[usize]| prior[pair[0]..pair[1]].iter().sum();
            ends.windows(2).map(sum).collect()
        };
        Ok(Self {
            labels: ends.windows(2).map(label).collect(),
            shares,
            prior: prior.map(sums),
            edges: Some(ends.iter().map(|&end| float(edges[end])).collect()),
            together,
        })
    }
}

/// The prior all policies share, if there is one, in the order of `inputs`.
fn shared_prior(inputs: &Alphabet, groups: &[Group]) -> Option<Vec<f64>> {
    let prior = |group: &Group| match group.policy.draft().context() {
        Context::Known(prior) => {
            let order = inputs.order_in(group.policy.draft().inputs())?;
            Some(order.iter().map(|&at| prior.weights()[at]).collect::<Vec<u64>>())
        }
        _ => None,
    };
    let first = prior(groups.first()?)?;
    let same = groups.iter().all(|group| prior(group).as_ref() == Some(&first));
    same.then(|| first.iter().map(|&weight| weight as f64 / WEIGHT_ONE as f64).collect())
}
