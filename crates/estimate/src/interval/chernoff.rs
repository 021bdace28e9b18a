//! Tail bounds by exponential tilting, for every population and every number of reports.
//!
//! S is a sum of independent scores, one for every report; M(x) is E[e^{s score}] given symbol x. For any s > 0
//! and any value a, with the law of the reports tilted by e^{s S},
//!
//!   Pr(S ≥ a) = E[e^{s S}] e^{-s a} · E_tilted[e^{-s (S - a)}; S ≥ a].
//!
//! **First factor** (Chernoff): E[e^{s S}] is the product over groups of (Σ p(x) M(x))^n. Over all populations for
//! which the mean of S is at most t it is at most the least concave and never falling function of the mean above
//! the points (mean given x, M(x)), at t ([`envelope`](super::envelope)). Of several groups each is bounded that way, and so
//! is their average, whose power is at least the product (the logarithm is concave); the smaller bound counts. For fixed
//! respondents E[e^{s S}] is Π M(x_i), and ln M takes the place of M.
//!
//! **Several reports of one person** (of different items, at most m of them) are independent given the symbol and not otherwise.
//! A person with reports i gives E[Π M_i(x)], which by Hölder's inequality is at most Π (E[M_i(x)^m])^{1/m}. So M^m takes the
//! place of M and n/m that of n: what people differ in is counted as that of n/m people, the noise of n reports as it is.
//!
//! **Last factor**: it is ∫ s e^{-s u} Pr_tilted(a ≤ S ≤ a + u) du. Given the symbols, S is a sum of independent
//! variables with a variance of at least τ² = Σ n min_x Var_tilted(score | x) and third absolute central moments
//! of at most κ times the variance, so by Berry and Esseen (with Shevtsova's constant .56, Doklady Mathematics
//! 82, 2010) the probability of a stretch of length u is at most 2Φ(u/2τ) - 1 + 2 · .56 κ/τ. Integrated, with λ = s τ,
//!
//!   2 e^{2λ²} Pr(N(0,1) > 2λ) + 1.12 κ/τ, or 1 if that is larger.
//!
//! Without the last factor ends at 95 % lie at least 2.72 standard errors away; with it 1.97 for many reports whose
//! noise outweighs the differences between people, where the normal law has 1.96.
//!
//! t is refused if the product is at most the permitted tail for *some* s. For a fixed t this is the event that S is
//! at least as large as some number, to which the bound with the best s for that number applies. So looking for s after
//! the reports are in costs nothing, and a search that stops early only makes an interval wider.

use super::envelope::Envelope;
use super::law::{Law, Tilt};
use undertone_numeric::golden_section::golden_section;
use undertone_numeric::normal::normal_upper_tail;
use undertone_numeric::root::falling_root;

/// A sum of scores whose mean is asked for. Scores are centred: what was observed is 0.
#[derive(Clone, Debug)]
pub(crate) struct Problem<'a> {
    /// The mean of the sum, in absolute terms, if everybody were at a point.
    points: Vec<f64>,
    /// The points in increasing order.
    order: Vec<usize>,
    /// The groups: how many reports, and the law of a report's score.
    parts: Vec<(f64, Law<'a>)>,
    /// The respondents are fixed, not drawn; then there is one group.
    fixed: bool,
    /// How many s are tried.
    tries: usize,
    /// How many of the reports one person can have sent.
    together: f64,
}

/// Twice the constant of Berry and Esseen for summands that need not be alike.
const STRETCH: f64 = 1.12;

/// What is known of the tail for one s.
struct Bound {
    /// One envelope for every group.
    envelopes: Vec<Envelope>,
    /// That of the groups' average, where there are several.
    average: Option<Envelope>,
    /// The logarithm of the last factor, with something for rounding.
    factor: f64,
}

impl<'a> Problem<'a> {
    /// A sum over groups of reports. All groups have the same points.
    pub(crate) fn new(points: Vec<f64>, parts: Vec<(f64, Law<'a>)>, fixed: bool) -> Self {
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&a, &b| points[a].total_cmp(&points[b]));
        let tries = if points.len() > MANY { 8 } else { 18 };
        Self { points, order, parts, fixed, tries, together: 1.0 }
    }

    /// This statistic where one person can have sent several of the reports; the respondents are drawn.
    pub(crate) fn with_together(self, together: usize) -> Self {
        Self { together: together as f64, ..self }
    }

    /// Every number the sum is made of, bit by bit: equal ones have equal limits. `None` where there is a number for every output,
    /// which hardly two sums share.
    pub(crate) fn fingerprint(&self) -> Option<Vec<u64>> {
        let mut all = vec![u64::from(self.fixed), self.together.to_bits()];
        all.extend(self.points.iter().map(|point| point.to_bits()));
        for (reports, law) in &self.parts {
            all.push(reports.to_bits());
            law.fingerprint(&mut all)?;
        }
        Some(all)
    }

    /// The least mean that is not refused for being too small; minus infinity if none is, and infinity if all
    /// are.
    pub(crate) fn least_mean(&self, tail: f64) -> f64 {
        let (first, last) = self.ends();
        let mut best = f64::NEG_INFINITY;
        self.search(tail, |s| {
            let bound = self.bound(s);
            let target = tail.ln() - bound.factor;
            let reached = self.reaches(&bound, target);
            best = best.max(reached);
            if reached > f64::NEG_INFINITY {
                reached.min(last)
            } else {
                // Nothing is refused: how much is missing points the way.
                first - (self.exponent(&bound, first) - target) * (last - first)
            }
        });
        best
    }

    /// The greatest mean that is not refused for being too large.
    pub(crate) fn most_mean(&self, tail: f64) -> f64 {
        -self.negated().least_mean(tail)
    }

    /// A bound for the probability of a sum at least as large as the one observed, if its mean is at most t.
    pub(crate) fn upper_tail(&self, t: f64) -> f64 {
        let mut least = 0.0f64;
        self.search(1e-3, |s| {
            let bound = self.bound(s);
            let tail = self.exponent(&bound, t) + bound.factor;
            least = least.min(tail);
            -tail
        });
        least.exp()
    }

    fn negated(&self) -> Self {
        let points = self.points.iter().map(|point| -point).collect();
        let parts = self.parts.iter().map(|(reports, law)| (*reports, law.negated()));
        Self { together: self.together, ..Self::new(points, parts.collect(), self.fixed) }
    }

    fn ends(&self) -> (f64, f64) {
        let at = |index: Option<&usize>| index.map_or(0.0, |&at| self.points[at]);
        (at(self.order.first()), at(self.order.last()))
    }

    /// Tries s around what would be best for a normal law, where `gain` is largest.
    fn search(&self, tail: f64, mut gain: impl FnMut(f64) -> f64) {
        let reports: f64 = self.parts.iter().map(|(reports, _)| reports).sum();
        let noise: f64 =
            self.parts.iter().map(|(reports, law)| reports * law.tilt(0.0).mean_variance).sum();
        let mean = self.points.iter().sum::<f64>() / self.points.len() as f64;
        let spread: f64 = self.points.iter().map(|point| (point - mean).powi(2)).sum();
        // Respondents who are fixed do not vary; something is left for channels without noise.
        let people = self.together * spread / (self.points.len() as f64 * reports);
        let variance = noise + if self.fixed { 1e-6 * people } else { people };
        // Far in the tail of a law that can only jump, the best s grows without end.
        let most = self.parts.iter().map(|(_, law)| law.most()).fold(0.0, f64::max);
        let start = (-2.0 * tail.ln() / variance).sqrt();
        if !(start > 0.0 && start.is_finite()) {
            return;
        }
        let most = 500.0 / (self.together * most).max(1e-300);
        golden_section(-1.5, 1.5, self.tries, |log| -gain((start * log.exp()).min(most)));
    }

    fn bound(&self, s: f64) -> Bound {
        let tilts: Vec<Tilt> = self.parts.iter().map(|(_, law)| law.tilt(s)).collect();
        let drawn = |tilt: &Tilt, at: usize| match self.together {
            1.0 => tilt.masses[at],
            together => tilt.masses[at].powf(together),
        };
        let height = |tilt: &Tilt, at: usize| {
            if self.fixed { tilt.masses[at].ln() } else { drawn(tilt, at) }
        };
        let over = |height: &dyn Fn(usize) -> f64| {
            Envelope::new(self.order.iter().map(|&at| (self.points[at], height(at))))
        };
        let (mut variance, mut roughness, mut reports) = (0.0, 0.0f64, 0.0);
        for ((count, _), tilt) in self.parts.iter().zip(&tilts) {
            variance += count * tilt.least_variance;
            roughness = roughness.max(tilt.roughness);
            reports += count;
        }
        let error = variance.sqrt();
        // Sums of logarithms of masses near one are off by some units in the last place of each.
        let factor = stretch(s, error, roughness).ln() + 1e-9 + 1e-14 * reports;
        let mean = |at: usize| {
            let each = self.parts.iter().zip(&tilts);
            each.map(|((count, _), tilt)| count * drawn(tilt, at)).sum::<f64>() / reports
        };
        Bound {
            envelopes: tilts.iter().map(|tilt| over(&|at| height(tilt, at))).collect(),
            average: (tilts.len() > 1 && !self.fixed).then(|| over(&mean)),
            factor,
        }
    }

    /// The logarithm of the first factor for means of at most t.
    fn exponent(&self, bound: &Bound, t: f64) -> f64 {
        let each = self.parts.iter().zip(&bound.envelopes);
        let apart: f64 = each
            .map(|((reports, _), envelope)| {
                let height = envelope.at(t);
                reports * if self.fixed { height } else { height.ln() / self.together }
            })
            .sum();
        let reports: f64 = self.parts.iter().map(|(reports, _)| reports).sum();
        let reports = reports / self.together;
        let average = bound.average.as_ref();
        average.map_or(apart, |average| apart.min(reports * average.at(t).ln()))
    }

    /// The first mean at which the logarithm of the first factor reaches a target.
    fn reaches(&self, bound: &Bound, target: f64) -> f64 {
        if let ([(reports, _)], [envelope]) = (&self.parts[..], &bound.envelopes[..]) {
            let level = target * self.together / reports;
            return envelope.reaches(if self.fixed { level } else { level.exp() });
        }
        let (first, last) = self.ends();
        if self.exponent(bound, first) >= target {
            return f64::NEG_INFINITY;
        }
        if self.exponent(bound, last) < target {
            return f64::INFINITY;
        }
        let exact = 1e-9 * (last - first);
        last - falling_root(0.0, last - first, exact, |by| self.exponent(bound, last - by) - target)
    }
}

/// With more points than this fewer s are tried.
const MANY: usize = 4096;

/// A bound for E_tilted[e^{-s (S - a)}; S ≥ a], where the tilted S has a standard error of at least `error` and third
/// absolute moments of at most `roughness` times its variance.
pub(super) fn stretch(s: f64, error: f64, roughness: f64) -> f64 {
    if error > 0.0 { (mills(s * error) + STRETCH * roughness / error).min(1.0) } else { 1.0 }
}

/// 2 e^{2λ²} Pr(N(0,1) > 2λ), or what is larger for large λ.
fn mills(lambda: f64) -> f64 {
    let z = 2.0 * lambda;
    if z < 20.0 {
        2.0 * (z * z / 2.0).exp() * normal_upper_tail(z)
    } else {
        2.0 / (z * std::f64::consts::TAU.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_numeric::binomial::binomial_at_least;

    /// A share under randomised response: 0 and 1 are the points, `hits` of `n` reports name the symbol.
    fn coin(hits: u64, n: u64, other: f64, own: f64, fixed: bool) -> Problem<'static> {
        let jump = 1.0 / (own - other) / n as f64;
        let observed = hits as f64 / n as f64;
        let law = Law::Coin { clear: -observed * jump, jump, chances: vec![other, own] };
        Problem::new(vec![0.0, 1.0], vec![(n as f64, law)], fixed)
    }

    /// The bound is above the exact tail of a binomial count, and not far above.
    #[test]
    fn tails_are_above_the_binomial_ones() {
        for n in [1u64, 5, 20, 100, 2000] {
            for hits in (0..=n).step_by(1 + n as usize / 20) {
                for t in [0.0, 0.1, 0.5, 0.9, 1.0] {
                    let chance = 0.2 + 0.5 * t;
                    let exact = binomial_at_least(n, chance, 1.0 - chance, hits);
                    let bound = coin(hits, n, 0.2, 0.7, false).upper_tail(t);
                    assert!(bound >= exact, "{hits} of {n} at {t}: {bound} below {exact}");
                }
            }
        }
        // About two and a half standard errors out, where the bound is used most.
        let (n, hits) = (2000, 1056);
        let exact = binomial_at_least(n, 0.5, 0.5, hits);
        let bound = coin(hits, n, 0.2, 0.7, false).upper_tail(0.6);
        assert!(bound < 1.45 * exact, "{bound} {exact}");
    }

    #[test]
    fn ends_lie_two_standard_errors_away_when_reports_are_many() {
        for (n, most) in [(100u64, 1.18), (10_000, 1.045), (100_000_000, 1.025)] {
            let problem = coin(n / 2, n, 0.3, 0.7, false);
            let error = 0.5 / (n as f64).sqrt() / 0.4;
            for away in [0.5 - problem.least_mean(0.025), problem.most_mean(0.025) - 0.5] {
                let ratio = away / (1.959_964 * error);
                assert!(ratio > 1.0 && ratio < most, "{n}: {ratio}");
            }
        }
    }

    #[test]
    fn fixed_respondents_have_less_to_doubt() {
        let (drawn, fixed) = (coin(45, 100, 0.2, 0.7, false), coin(45, 100, 0.2, 0.7, true));
        assert!(fixed.least_mean(0.025) > drawn.least_mean(0.025) + 0.01);
        assert!(fixed.most_mean(0.025) < drawn.most_mean(0.025) - 0.01);
    }

    #[test]
    fn what_no_mean_explains_is_refused_altogether() {
        // No hits of a thousand, where each has a probability of at least a fifth.
        let problem = coin(0, 1000, 0.2, 0.7, false);
        assert_eq!(problem.most_mean(0.025), f64::NEG_INFINITY);
        assert_eq!(problem.least_mean(0.025), f64::NEG_INFINITY);
        assert_eq!(coin(1000, 1000, 0.2, 0.7, false).least_mean(0.025), f64::INFINITY);
    }

    /// Two halves of the same reports are one group of all of them.
    #[test]
    fn groups_add_up() {
        let whole = coin(45, 100, 0.2, 0.7, false);
        let halves: Vec<(f64, Law<'_>)> = whole
            .parts
            .iter()
            .flat_map(|(n, law)| [(n / 2.0, law.clone()), (n / 2.0, law.clone())])
            .collect();
        let split = Problem::new(whole.points.clone(), halves, false);
        for (a, b) in [
            (whole.least_mean(0.025), split.least_mean(0.025)),
            (whole.most_mean(0.025), split.most_mean(0.025)),
            (whole.upper_tail(0.3), split.upper_tail(0.3)),
        ] {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
}
