//! Whether prior and reports agree, and whether any population could have made the reports.

use crate::channel::{Bits, Channel, Joint};
use crate::decode::Decoder;
use crate::mle;
use crate::pool::{Group, shares};
use crate::{Error, Estimator, Target};
use serde::Serialize;
use undertone_core::{Context, PolicyId, PriorBox, Ratio};
use undertone_numeric::binomial::binomial_at_least;
use undertone_numeric::gamma::{chi_squared_upper_tail, gamma_upper_tail};
use undertone_numeric::normal::normal_upper_tail;

/// How the reports compare with what the priors predict, and with what any population could give.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Drift {
    /// One comparison for every policy of the pool that has reports.
    pub policies: Vec<PolicyDrift>,
    /// Whether the policies' respondents answer alike; `None` for one policy, or with bits.
    pub groups: Option<Test>,
    /// Whether any policy's prior is contradicted by the reports.
    pub drifted: bool,
    /// Whether any policy's reports are such as no population gives.
    pub impossible: bool,
    /// Sentences to show.
    pub warnings: Vec<String>,
}

/// One policy's comparison.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PolicyDrift {
    /// The policy.
    #[serde(serialize_with = "as_text")]
    pub policy: PolicyId,
    /// How many reports.
    pub reports: u64,
    /// Reports against the prior's prediction; `None` where nothing is assumed.
    pub prior: Option<Test>,
    /// The total variation distance from the prior to the estimate; `None` without a single prior.
    pub distance: Option<f64>,
    /// Reports against the best any population can do.
    pub law: Test,
    /// The largest |ln lift| under the policy's own assumptions, in nats; `None` if nothing is assumed or
    /// it is without bound.
    pub assumed_leakage: Option<f64>,
    /// The largest |ln lift| with the estimated shares in place of the prior, in nats, rounded up;
    /// `None` if without bound.
    pub leakage: Option<f64>,
    /// The LDP level, which holds whatever the prior; `None` if without bound.
    pub ldp: Option<f64>,
}

/// A statistic and how often chance alone exceeds it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Test {
    /// The statistic.
    pub statistic: f64,
    /// Its mean when nothing is wrong.
    pub degrees: f64,
    /// The probability of one as large when nothing is wrong.
    pub p_value: f64,
}

/// Warnings are given when chance alone would do this less than once in a thousand times.
pub const ALARM: f64 = 0.001;

impl Test {
    /// Nothing was compared.
    const NOTHING: Self = Self { statistic: 0.0, degrees: 0.0, p_value: 1.0 };
}

impl Estimator {
    /// Compares the reports with the policies' priors, and with what any population could give; and says
    /// what the policies leak if the estimated shares are right and the priors are not.
    pub fn drift(&self) -> Result<Drift, Error> {
        let fits = self.own_fits()?;
        let mut policies = Vec::with_capacity(self.groups.len());
        for (group, (fit, rank)) in self.groups.iter().zip(&fits) {
            policies.push(self.compare(group, fit, *rank)?);
        }
        let groups = self.alike(&fits);
        let below = |test: &Option<Test>| test.is_some_and(|test| test.p_value < ALARM);
        let drifted = policies.iter().any(|policy| below(&policy.prior));
        let impossible = policies.iter().any(|policy| policy.law.p_value < ALARM);
        let mut warnings: Vec<String> =
            policies.iter().flat_map(|policy| self.warn(policy)).collect();
        if below(&groups) {
            warnings.push(
                "The policies' respondents do not answer alike, so one estimate for all of them is an average of different populations: estimate them apart.".into(),
            );
        }
        Ok(Drift { policies, groups, drifted, impossible, warnings })
    }

    /// The best fit to each group alone, and how many numbers its outputs determine.
    fn own_fits(&self) -> Result<Vec<(Vec<f64>, usize)>, Error> {
        if self.groups.len() == 1 {
            return Ok(vec![(self.fit().shares.clone(), self.identification().rank)]);
        }
        let one = |group: &Group| {
            let alone = std::slice::from_ref(group);
            let rank = Decoder::new(alone, &self.anchor)?.identification().rank;
            Ok((mle::fit(alone, &self.anchor, None).shares, rank))
        };
        self.groups.iter().map(one).collect()
    }

    fn compare(&self, group: &Group, fit: &[f64], rank: usize) -> Result<PolicyDrift, Error> {
        let best = |tests: &mut dyn Iterator<Item = Test>| {
            tests.reduce(|a, b| if b.p_value > a.p_value { b } else { a })
        };
        let prior = match &group.context {
            Context::Unknown => None,
            Context::Known(_) | Context::Secret(_) => {
                group.prior().map(|prior| against(group, &prior, None))
            }
            Context::Each(priors) => {
                let priors = priors.as_slice().iter();
                best(&mut priors.map(|prior| against(group, &shares(prior.weights()), None)))
            }
            Context::Within(within) => Some(self.against_box(group, within)?),
        };
        let estimated = &self.fit().shares;
        let distance = group.prior().map(|prior| {
            prior.iter().zip(estimated).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0
        });
        // Less than a thousandth of a respondent is nobody.
        let support = fit.iter().filter(|&&share| share * group.reports() > 1e-3).count();
        Ok(PolicyDrift {
            policy: group.policy,
            reports: group.tally.reports(),
            prior,
            distance,
            law: match (&group.channel, group.climbed_outputs()) {
                (Channel::Bits(bits), None) => possible_bits(group, bits),
                _ => against(group, fit, Some(support.min(rank))),
            },
            assumed_leakage: group.lip.and_then(nats),
            leakage: leakage(&group.channel, estimated),
            ldp: nats(group.ldp),
        })
    }

    /// Every symbol's share against its range in the box, all at once (Bonferroni).
    fn against_box(&self, group: &Group, within: &PriorBox) -> Result<Test, Error> {
        let alone = std::slice::from_ref(group);
        let decoder = Decoder::new(alone, &self.anchor)?;
        let readings = decoder.readings(alone, &self.fit().shares, Target::Population);
        let mut farthest = 0.0f64;
        for ((reading, low), high) in
            readings.iter().zip(shares(within.lower())).zip(shares(within.upper()))
        {
            if let Some(spread) = reading.spread {
                let nearest = reading.value.clamp(low, high);
                let error = spread.at(nearest).sqrt().max(1e-300);
                farthest = farthest.max((reading.value - nearest).abs() / error);
            }
        }
        let chances = 2.0 * self.symbols() as f64;
        let p_value =
            if farthest > 0.0 { (chances * normal_upper_tail(farthest)).min(1.0) } else { 1.0 };
        Ok(Test { statistic: farthest, degrees: 0.0, p_value })
    }

    /// Twice the log-likelihood gained by fitting every group on its own.
    fn alike(&self, fits: &[(Vec<f64>, usize)]) -> Option<Test> {
        if self.groups.len() < 2 {
            return None;
        }
        let together = &self.fit().shares;
        let mut gain = 0.0;
        for (group, (fit, _)) in self.groups.iter().zip(fits) {
            let (law, counts) = group.climbed_outputs()?;
            let terms = counts.iter().zip(law.law(fit).into_iter().zip(law.law(together)));
            let seen = terms.filter(|(count, (own, _))| **count > 0 && *own > 0.0);
            gain += seen.map(|(&count, (own, all))| count as f64 * (own / all).ln()).sum::<f64>();
        }
        let statistic = 2.0 * gain.max(0.0);
        let degrees = ((self.groups.len() - 1) * (self.symbols() - 1)) as f64;
        Some(Test { statistic, degrees, p_value: chi_squared_upper_tail(degrees, statistic) })
    }

    fn warn(&self, policy: &PolicyDrift) -> Vec<String> {
        let name = &policy.policy.to_string()[..16];
        let leaks = |level: Option<f64>| {
            level.map_or("without bound".into(), |level| format!("up to {level:.4} nats"))
        };
        let mut warnings = Vec::new();
        if let Some(test) = policy.prior.filter(|test| test.p_value < ALARM) {
            warnings.push(format!(
                "The reports contradict the prior of policy {name} (chance alone: {}). Do not read rates off the prior. With the estimated shares in its place an answer leaks {} where {} was assumed; whatever the prior, never more than its LDP level, {}.",
                rarely(test.p_value),
                leaks(policy.leakage),
                leaks(policy.assumed_leakage),
                leaks(policy.ldp),
            ));
        }
        if policy.law.p_value < ALARM {
            warnings.push(format!(
                "No population gives the reports of policy {name} (chance alone: {}): some were made under another policy, by a broken client, or invented.",
                rarely(policy.law.p_value),
            ));
        }
        warnings
    }
}

fn rarely(p_value: f64) -> String {
    if p_value >= 1e-9 {
        format!("once in {:.0} times", 1.0 / p_value)
    } else {
        "practically never".into()
    }
}

/// Counts against what a population predicts. `fitted` is the dimension of the face the population was
/// fitted on, plus one; given the face, the distance to it has the remaining dimensions.
fn against(group: &Group, p: &[f64], fitted: Option<usize>) -> Test {
    match (group.outputs(), &group.channel) {
        (Some((law, counts)), _) => against_outputs(group.reports(), counts, &law.law(p), fitted),
        (None, Channel::Bits(bits)) => against_bits(group, bits, p),
        // A table's outputs are single ones.
        (None, Channel::Table(_) | Channel::Keep(_)) => Test::NOTHING,
    }
}

/// Pearson's statistic. Its mean and variance are known exactly even where outputs are rare; a gamma
/// law with those two moments stands in for chi-squared, and is chi-squared where they are not.
fn against_outputs(n: f64, counts: &[u64], law: &[f64], fitted: Option<usize>) -> Test {
    let (mut statistic, mut used, mut inverses) = (0.0, 0.0, 0.0);
    for (&count, &law) in counts.iter().zip(law) {
        if law > 0.0 {
            statistic += (count as f64 - n * law).powi(2) / (n * law);
            used += 1.0;
            inverses += 1.0 / law;
        } else if count > 0 {
            statistic = f64::INFINITY;
        }
    }
    let degrees = match fitted {
        Some(fitted) => used - fitted as f64,
        None => used - 1.0,
    };
    if !(degrees > 0.0) {
        let exact = statistic <= 1e-6 * n.max(1.0);
        return Test { statistic, degrees: 0.0, p_value: f64::from(u8::from(exact)) };
    }
    let all = used - 1.0;
    let variance = 2.0 * all + (inverses - used * used - 2.0 * used + 2.0) / n;
    // Of the variance a fitted statistic keeps the part of its dimensions.
    let variance = (variance * degrees / all).max(1e-12);
    let p_value = gamma_upper_tail(degrees * degrees / variance, statistic * degrees / variance);
    Test { statistic, degrees, p_value }
}

/// The quadratic form of the bit shares' distance in their covariance, which is a diagonal plus U M Uᵀ, U having a column of ones and
/// the shares p: bits x and z are both set with probability third + (own - third)(p(x) + p(z)).
fn against_bits(group: &Group, bits: &Bits, p: &[f64]) -> Test {
    let (n, k) = (group.reports(), p.len() as f64);
    let (third, mine) = bits.pairs().unwrap_or_default();
    let (gap, own) = (bits.gap(), mine - third);
    // Subsets all have the same size: what varies is orthogonal to the ones, in whose direction anything can be added.
    let fixed_size = matches!(bits.joint, Joint::Subset(_));
    let added = if fixed_size { bits.other * (1.0 - bits.other) / k } else { 0.0 };
    let ones = third - bits.other * bits.other + added;
    let mixed = own - bits.other * gap;
    let (mut square, mut fixed) = (0.0, 0.0);
    let (mut along, mut gram) = ([0.0; 2], [[0.0; 2]; 2]);
    for ((&set, &p), theta) in group.tally.counts().iter().zip(p).zip(group.channel.forward(p)) {
        let away = set as f64 / n - theta;
        let variance = theta - third - 2.0 * own * p;
        if variance > 0.0 {
            square += away * away / variance;
            for (one, side) in [1.0, p].into_iter().enumerate() {
                along[one] += away * side / variance;
                gram[one][0] += side / variance;
                gram[one][1] += side * p / variance;
            }
        } else {
            fixed += away.abs();
        }
    }
    // Woodbury: the inverse takes (I + M G)^-1 M off, two by two.
    let m = [[ones, mixed], [mixed, -gap * gap]];
    let cell = |i: usize, j: usize| {
        f64::from(u8::from(i == j)) + m[i][0] * gram[0][j] + m[i][1] * gram[1][j]
    };
    let right = [m[0][0] * along[0] + m[0][1] * along[1], m[1][0] * along[0] + m[1][1] * along[1]];
    let determinant = cell(0, 0) * cell(1, 1) - cell(0, 1) * cell(1, 0);
    let determinant = determinant.max(1e-300);
    let taken = [
        (cell(1, 1) * right[0] - cell(0, 1) * right[1]) / determinant,
        (cell(0, 0) * right[1] - cell(1, 0) * right[0]) / determinant,
    ];
    let exact = n * (square - along[0] * taken[0] - along[1] * taken[1]);
    let statistic = if fixed > 0.0 { f64::INFINITY } else { exact.max(0.0) };
    let degrees = if fixed_size { k - 1.0 } else { k };
    Test { statistic, degrees, p_value: chi_squared_upper_tail(degrees, statistic) }
}

/// Whether some population could have set these bits: every bit at least as often as chance alone and
/// at most as often as if everyone had the symbol, and all of them together as often as one symbol per
/// person makes them. The worst of these 2k + 1 tests (exact for single bits), times their number.
fn possible_bits(group: &Group, bits: &Bits) -> Test {
    let (n, counts) = (group.tally.reports(), group.tally.counts());
    let (least, most) = (bits.own.min(bits.other), bits.own.max(bits.other));
    let rarest = counts.iter().map(|&set| {
        let too_few = binomial_at_least(n, 1.0 - least, least, n - set);
        too_few.min(binomial_at_least(n, most, 1.0 - most, set))
    });
    let rarest = rarest.fold(1.0, f64::min);
    let k = counts.len() as f64;
    let expected = bits.own + (k - 1.0) * bits.other;
    // How many bits are set has the same mean for every symbol; of its variances the largest counts.
    let (_, variances) = group.channel.moments(&vec![1.0; counts.len()]);
    let spread = variances.into_iter().fold(0.0, f64::max);
    let away = counts.iter().map(|&set| set as f64).sum::<f64>() / n as f64 - expected;
    let error = (spread / n as f64).sqrt();
    let statistic = if error > 1e-9 * expected { away.abs() / error } else { 0.0 };
    let tests = 2.0 * k + 1.0;
    let p_value = (tests * rarest.min(2.0 * normal_upper_tail(statistic))).min(1.0);
    Test { statistic, degrees: 0.0, p_value }
}

/// The largest |ln lift| if the population is `p`, rounded up; `None` if without bound.
fn leakage(channel: &Channel, p: &[f64]) -> Option<f64> {
    let worst = match channel {
        Channel::Table(table) => {
            let law = channel.forward(p);
            let mut worst = 1.0f64;
            for row in table.rows() {
                for (cell, law) in row.iter().zip(&law) {
                    worst = worst.max(either_way(*cell, *law));
                }
            }
            worst
        }
        Channel::Keep(keep) => {
            let law = channel.forward(p);
            // Away from the diagonal only the most and the least kept symbols matter.
            let mut order: Vec<usize> = (0..keep.symbols()).collect();
            order.sort_unstable_by(|&a, &b| keep.keep[a].total_cmp(&keep.keep[b]));
            let candidates: Vec<usize> =
                order.iter().take(2).chain(order.iter().rev().take(2)).copied().collect();
            let mut worst = 1.0f64;
            for (y, law) in law.iter().enumerate() {
                for &x in candidates.iter().chain([&y]) {
                    worst = worst.max(either_way(channel.at(x, y), *law));
                }
            }
            worst
        }
        Channel::Bits(bits) => {
            // The likelihoods of an input whose own bit speaks for it, and against it.
            let (set, clear) = bits.likelihoods();
            let (strong, weak) = (set.max(clear), set.min(clear));
            // Where sets are not any, those with the most and the least of the population are looked at.
            if !matches!(bits.joint, Joint::Independent) {
                let (least, most) = bits.ends(p);
                let lift = |held: f64| {
                    let law = clear + (set - clear) * held;
                    either_way(set, law).max(either_way(clear, law))
                };
                return bound(lift(least).max(lift(most)), p.len());
            }
            let lift = |p: &f64| {
                let (rises, falls) = (p * strong + (1.0 - p) * weak, p * weak + (1.0 - p) * strong);
                either_way(strong, rises).max(either_way(weak, falls))
            };
            if strong == weak { 1.0 } else { p.iter().map(lift).fold(1.0, f64::max) }
        }
    };
    bound(worst, p.len())
}

/// The logarithm of a ratio, rounded up; sums of k products are off by less than k units in the last place.
fn bound(worst: f64, products: usize) -> Option<f64> {
    let slack = 1.0 + (products as f64 + 16.0) * f64::EPSILON;
    let bound = (worst * slack).ln();
    worst.is_finite().then(|| (bound + 4.0 * f64::EPSILON * bound.abs()).next_up())
}

/// The larger of a/b and b/a; one if both are zero.
fn either_way(a: f64, b: f64) -> f64 {
    if a == b { 1.0 } else { (a / b).max(b / a) }
}

/// A ratio's logarithm in nats, rounded up; `None` if without bound.
fn nats(ratio: Ratio) -> Option<f64> {
    ratio.ln_up().map(|nats| nats.units() as f64 * 1e-10)
}

fn as_text<S: serde::Serializer>(id: &PolicyId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}
