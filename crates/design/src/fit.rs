//! A prior from counted data, and how far the truth can be from it.
//!
//! The estimate is the share of each symbol, smoothed if asked for. Two confidence regions come with
//! it, each holding the true prior with probability at least 1 - β over the sample: a box, and an l1
//! ball. A robust design takes the box; a transfer bound takes the radius.

mod radius;

pub use radius::radius;

use crate::distribution::{SUM_TOLERANCE, check_weights};
use crate::quantize::largest_remainder;
use crate::{Distribution, Error, Symbols};
use std::collections::HashMap;
use undertone_core::WEIGHT_ONE;
use undertone_numeric::binomial::binomial_interval;

/// What an unseen symbol counts for when nothing is smoothed: half an observation.
///
/// A prior of exactly zero would make every bound that divides by it infinite, and claim to know
/// what a finite sample cannot show.
pub const UNSEEN: f64 = 0.5;

/// A prior fitted to counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The estimate.
    pub p: Distribution,
    /// How often each symbol was seen.
    pub counts: Vec<u64>,
    /// How many observations there were.
    pub n: u64,
    /// What was added to every count.
    pub smoothing: f64,
    /// The symbols that were never seen and got the mass of [`UNSEEN`] observations; empty when
    /// smoothing gave them mass already.
    pub floored: Vec<usize>,
    /// The region that holds the true prior with the confidence asked for.
    pub confidence: Confidence,
}

/// A box and a ball, each of which holds the true prior with probability at least 1 - β.
#[derive(Debug, Clone, PartialEq)]
pub struct Confidence {
    /// The least probability of each symbol.
    pub lower: Vec<f64>,
    /// The greatest.
    pub upper: Vec<f64>,
    /// The l1 distance from the estimate to the truth.
    pub radius: f64,
    /// The chance that the truth is outside.
    pub beta: f64,
}

impl Fit {
    /// Fits a prior to counts: p(x) is proportional to `counts[x] + smoothing`, and to [`UNSEEN`] for
    /// symbols that would have no mass.
    ///
    /// The box is Clopper and Pearson's exact interval for each symbol with β shared out equally
    /// (Bonferroni), so that all hold at once; two symbols need one interval, because either
    /// determines the other. It speaks of the counts, so heavy smoothing can leave it (see
    /// [`Fit::outside`]). The ball is [`radius()`] around the raw shares, plus the distance
    /// from there to the estimate.
    pub fn from_counts(counts: Vec<u64>, smoothing: f64, beta: f64) -> Result<Self, Error> {
        if !(smoothing >= 0.0 && smoothing.is_finite()) {
            return Err(Error::range("smoothing", smoothing, "a finite number of at least 0"));
        }
        let n = counts
            .iter()
            .try_fold(0u64, |sum, &count| sum.checked_add(count))
            .filter(|&n| n <= 1 << 52)
            .ok_or_else(|| Error::other("counts", "they sum to more than 2^52"))?;
        let sampling = radius(n, counts.len(), beta)?;
        let shares: Vec<f64> = counts.iter().map(|&count| count as f64 / n as f64).collect();
        let unseen = |&x: &usize| counts[x] == 0 && smoothing == 0.0;
        let floored: Vec<usize> = (0..counts.len()).filter(unseen).collect();
        let mass = |&count: &u64| {
            let mass = count as f64 + smoothing;
            if mass > 0.0 { mass } else { UNSEEN }
        };
        let p = Distribution::normalised("counts", counts.iter().map(mass).collect())?;
        let moved: f64 = p.as_slice().iter().zip(&shares).map(|(p, share)| (p - share).abs()).sum();
        // Without smoothing the two differ by rounding only, which is no distance.
        let moved = if smoothing == 0.0 && floored.is_empty() { 0.0 } else { moved };
        let (lower, upper) = simultaneous_intervals(&counts, n, beta);
        let confidence = Confidence { lower, upper, radius: (sampling + moved).min(2.0), beta };
        Ok(Self { p, counts, n, smoothing, floored, confidence })
    }

    /// The symbols whose estimate lies outside the box, pushed there by smoothing.
    pub fn outside(&self) -> Vec<usize> {
        let Confidence { lower, upper, .. } = &self.confidence;
        (0..self.p.len()).filter(|&x| !(lower[x]..=upper[x]).contains(&self.p[x])).collect()
    }

    /// Whether a policy designed for one prior is the policy for the other: equal once rounded to the
    /// kernel's integers.
    pub fn same_prior(&self, other: &Self) -> bool {
        let integers = |fit: &Self| largest_remainder(fit.p.as_slice(), WEIGHT_ONE);
        self.p.len() == other.p.len() && integers(self) == integers(other)
    }

    /// One entry for two groups with the same prior: the smaller sample, and regions that hold both.
    #[must_use]
    pub fn shared_with(mut self, other: &Self) -> Self {
        let ends = self.confidence.lower.iter_mut().zip(&other.confidence.lower);
        ends.for_each(|(mine, theirs)| *mine = mine.min(*theirs));
        let ends = self.confidence.upper.iter_mut().zip(&other.confidence.upper);
        ends.for_each(|(mine, theirs)| *mine = mine.max(*theirs));
        self.confidence.radius = self.confidence.radius.max(other.confidence.radius);
        if other.n < self.n {
            (self.n, self.counts) = (other.n, other.counts.clone());
        }
        self
    }
}

/// One exact interval per symbol, all holding at once with probability at least 1 - β.
fn simultaneous_intervals(counts: &[u64], n: u64, beta: f64) -> (Vec<f64>, Vec<f64>) {
    if counts.len() == 1 {
        return (vec![1.0], vec![1.0]);
    }
    let statements = if counts.len() == 2 { 1 } else { counts.len() };
    let tail = beta / (2.0 * statements as f64);
    let mut known = HashMap::new();
    counts
        .iter()
        .map(|&count| *known.entry(count).or_insert_with(|| binomial_interval(count, n, tail)))
        .unzip()
}

impl Confidence {
    /// Checks a box read from outside: ends in order, none negative, with a distribution between them.
    pub fn new(lower: Vec<f64>, upper: Vec<f64>, radius: f64, beta: f64) -> Result<Self, Error> {
        check_weights("lower", &lower)?;
        check_weights("upper", &upper)?;
        if lower.len() != upper.len() {
            let (expected, found) = (lower.len(), upper.len());
            return Err(Error::Size { what: "upper".into(), expected, found });
        }
        if let Some(at) = (0..lower.len()).find(|&at| lower[at] > upper[at]) {
            let above = format!("at least lower[{at}] = {}", lower[at]);
            return Err(Error::range(format!("upper[{at}]"), upper[at], above));
        }
        let (least, most): (f64, f64) = (lower.iter().sum(), upper.iter().sum());
        if !(least <= 1.0 + SUM_TOLERANCE && most >= 1.0 - SUM_TOLERANCE) {
            let problem = format!(
                "no prior lies between them: lower sums to {least} and upper to {most}, and 1 must lie between"
            );
            return Err(Error::other("lower, upper", problem));
        }
        if !(0.0..=2.0).contains(&radius) {
            return Err(Error::range("radius", radius, "between 0 and 2"));
        }
        if !(0.0..1.0).contains(&beta) {
            return Err(Error::range("beta, the chance of a miss", beta, "at least 0 and below 1"));
        }
        Ok(Self { lower, upper, radius, beta })
    }
}

/// One source of a mixture; its regions list the symbols in the order of its prior.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The source's prior.
    pub p: Distribution,
    /// How well that is known, if it is.
    pub confidence: Option<Confidence>,
}

impl Source {
    /// This source with its symbols in the `wanted` order.
    fn in_order_of(&self, wanted: &Symbols) -> Result<Self, Error> {
        let what = "a prior of the mixture";
        let p = self.p.in_order_of(what, wanted)?.into_owned();
        let mut confidence = self.confidence.clone();
        if let Some(Confidence { lower, upper, .. }) = &mut confidence {
            self.p.check_len("lower", lower.len())?;
            self.p.check_len("upper", upper.len())?;
            if let Some(places) = self.p.symbols().places(what, wanted)? {
                for ends in [lower, upper] {
                    *ends = places.iter().map(|&at| ends[at]).collect();
                }
            }
        }
        Ok(Self { p, confidence })
    }
}

/// The prior of a population made of several, in known shares: Σ w_i P_i.
///
/// Symbols are matched by name, in the order of the first source. If every source says where its truth is, so does the mixture: the boxes and the radii add up with
/// the same weights, and the chances of a miss add up without.
pub fn mixture(sources: &[Source], weights: &Distribution) -> Result<Source, Error> {
    weights.check_len("the list of priors", sources.len())?;
    let symbols = sources[0].p.symbols().clone();
    let sources =
        sources.iter().map(|source| source.in_order_of(&symbols)).collect::<Result<Vec<_>, _>>()?;
    let size = symbols.len();
    let blend = |of: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        let at = |x| weights.as_slice().iter().enumerate().map(|(i, w)| w * of(i, x)).sum();
        (0..size).map(at).collect()
    };
    let p = Distribution::new("the mixture", blend(&|i, x| sources[i].p[x]))?.over(&symbols)?;
    let known: Option<Vec<&Confidence>> = sources.iter().map(|s| s.confidence.as_ref()).collect();
    let confidence = known.and_then(|known| {
        let beta: f64 = known.iter().map(|c| c.beta).sum();
        let radius = weights.as_slice().iter().zip(&known).map(|(w, c)| w * c.radius).sum();
        let lower = blend(&|i, x| known[i].lower[x]);
        let upper = blend(&|i, x| known[i].upper[x]).iter().map(|u| u.min(1.0)).collect();
        // Sources so poor that the chances of a miss reach one say nothing together.
        (beta < 1.0).then_some(Confidence { lower, upper, radius, beta })
    });
    Ok(Source { p, confidence })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn shares_without_smoothing_are_the_counts() {
        let fit = Fit::from_counts(vec![900, 100], 0.0, 0.05).unwrap();
        assert_eq!(fit.p.as_slice(), [0.9, 0.1]);
        assert!(fit.floored.is_empty() && fit.outside().is_empty());
        assert_eq!(fit.confidence.radius, radius(1000, 2, 0.05).unwrap());
        // Two symbols: one interval, whose ends mirror each other.
        let Confidence { lower, upper, .. } = &fit.confidence;
        assert!((lower[0] + upper[1] - 1.0).abs() < 1e-9);
        // SciPy 1.17: beta.ppf(.025, 100, 901) and beta.isf(.025, 101, 900).
        assert!((lower[1] - 0.082_105_334_355_580_01).abs() < 1e-10, "{}", lower[1]);
        assert!((upper[1] - 0.120_287_936_518_692_64).abs() < 1e-10, "{}", upper[1]);
    }

    #[test]
    fn unseen_symbols_are_floored_and_named() {
        let fit = Fit::from_counts(vec![9, 0, 1, 0], 0.0, 0.1).unwrap();
        assert_eq!(fit.floored, [1, 3]);
        assert!((fit.p[1] - 0.5 / 11.0).abs() < 1e-15);
        let plain = radius(10, 4, 0.1).unwrap();
        assert!(fit.confidence.radius > plain.min(1.99), "flooring moves the centre");
        let smoothed = Fit::from_counts(vec![9, 0, 1, 0], 1.0, 0.1).unwrap();
        assert!(smoothed.floored.is_empty());
        assert!((smoothed.p[1] - 1.0 / 14.0).abs() < 1e-15);
        let heavy = Fit::from_counts(vec![9000, 0, 1000, 0], 1e6, 0.1).unwrap();
        assert_eq!(heavy.outside(), [0, 1, 2, 3]);
    }

    #[test]
    fn bad_counts_are_refused() {
        for (counts, smoothing, beta) in [
            (vec![], 0.0, 0.05),
            (vec![0, 0], 0.0, 0.05),
            (vec![1, 2], -1.0, 0.05),
            (vec![1, 2], f64::NAN, 0.05),
            (vec![1, 2], 0.0, 0.0),
            (vec![1, 2], 0.0, f64::NAN),
            (vec![u64::MAX, 2], 0.0, 0.05),
        ] {
            assert!(Fit::from_counts(counts.clone(), smoothing, beta).is_err(), "{counts:?}");
        }
    }

    #[test]
    fn a_mixture_adds_boxes_and_chances() {
        let fit = |counts| Fit::from_counts(counts, 0.0, 0.02).unwrap();
        let (a, b) = (fit(vec![30, 70]), fit(vec![50, 50]));
        let source = |f: &Fit| Source { p: f.p.clone(), confidence: Some(f.confidence.clone()) };
        let weights = Distribution::new("weights", vec![0.25, 0.75]).unwrap();
        let mixed = mixture(&[source(&a), source(&b)], &weights).unwrap();
        assert!((mixed.p[0] - 0.45).abs() < 1e-15);
        let known = mixed.confidence.unwrap();
        assert!((known.beta - 0.04).abs() < 1e-15);
        let expected = 0.25 * a.confidence.lower[0] + 0.75 * b.confidence.lower[0];
        assert!((known.lower[0] - expected).abs() < 1e-15);
        let bare = Source { p: a.p, confidence: None };
        assert_eq!(mixture(&[bare, source(&b)], &weights).unwrap().confidence, None);
        assert!(mixture(&[source(&b)], &weights).is_err());
    }

    #[test]
    fn a_mixture_matches_symbols_and_their_boxes() {
        let names =
            |text: &str| Symbols::names(text.split(' ').map(String::from).collect()).unwrap();
        let source = |counts: Vec<u64>, symbols: &str| {
            let fit = Fit::from_counts(counts, 0.0, 0.02).unwrap();
            let p = fit.p.over(&names(symbols)).unwrap();
            Source { p, confidence: Some(fit.confidence) }
        };
        let weights = Distribution::new("weights", vec![0.25, 0.75]).unwrap();
        let first = source(vec![30, 60, 10], "a b c");
        let plain = mixture(&[first.clone(), source(vec![50, 10, 40], "a b c")], &weights).unwrap();
        let turned =
            mixture(&[first.clone(), source(vec![40, 50, 10], "c a b")], &weights).unwrap();
        assert_eq!(turned, plain);
        for other in ["a b d", "a b"] {
            let counts = vec![1; other.split(' ').count()];
            assert!(mixture(&[first.clone(), source(counts, other)], &weights).is_err());
        }
        let bare = Source { p: Distribution::uniform(3), confidence: None };
        assert!(mixture(&[first, bare], &weights).is_err());
    }

    /// The exact chance, over all samples of size n, that the truth is in the box and in the ball.
    fn coverage(truth: [f64; 3], n: u64, smoothing: f64, beta: f64) -> (f64, f64) {
        let factorial = |m: u64| (1..=m).map(|v| v as f64).product::<f64>();
        let (mut boxed, mut near) = (0.0, 0.0);
        for a in 0..=n {
            for b in 0..=n - a {
                let counts = [a, b, n - a - b];
                let mut chance = factorial(n);
                for (count, p) in counts.iter().zip(truth) {
                    chance *= p.powi(*count as i32) / factorial(*count);
                }
                let fit = Fit::from_counts(counts.to_vec(), smoothing, beta).unwrap();
                let Confidence { lower, upper, radius, .. } = &fit.confidence;
                let inside = (0..3).all(|x| (lower[x]..=upper[x]).contains(&truth[x]));
                let distance: f64 = (0..3).map(|x| (fit.p[x] - truth[x]).abs()).sum();
                boxed += if inside { chance } else { 0.0 };
                near += if distance <= radius + 1e-12 { chance } else { 0.0 };
            }
        }
        (boxed, near)
    }

    #[test]
    fn box_and_ball_hold_the_truth_as_often_as_they_say() {
        let even = [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0];
        for truth in [[0.5, 0.3, 0.2], [0.9, 0.09, 0.01], even, [0.997, 0.002, 0.001]] {
            for (beta, smoothing) in [(0.1, 0.0), (0.3, 0.0), (0.3, 0.5), (0.001, 0.0)] {
                for n in [1, 2, 7, 24] {
                    let (boxed, near) = coverage(truth, n, smoothing, beta);
                    assert!(boxed >= 1.0 - beta - 1e-12, "{truth:?} {beta} {n}: box {boxed}");
                    assert!(near >= 1.0 - beta - 1e-12, "{truth:?} {beta} {n}: ball {near}");
                }
            }
        }
        // A box that always holds would test nothing.
        assert!(coverage(even, 24, 0.0, 0.1).0 < 1.0);
    }

    #[test]
    fn equal_priors_share_regions_that_hold_both() {
        let fit = |counts| Fit::from_counts(counts, 0.0, 0.05).unwrap();
        let (small, large) = (fit(vec![10, 30]), fit(vec![100, 300]));
        assert!(small.same_prior(&large) && !small.same_prior(&fit(vec![11, 29])));
        let both = large.clone().shared_with(&small);
        assert_eq!(both.n, 40);
        assert_eq!(both.confidence, small.confidence);
    }
}
