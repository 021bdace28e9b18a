//! Whether prior and reports agree, and whether any population could have made the reports.

use crate::channel::{Bits, Channel};
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
            law: match &group.channel {
                Channel::Bits(bits) => possible_bits(group, bits),
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
        let outputs = |group: &Group| !matches!(group.channel, Channel::Bits(_));
        if self.groups.len() < 2 || !self.groups.iter().all(outputs) {
            return None;
        }
        let together = &self.fit().shares;
        let gain = |(group, (fit, _)): (&Group, &(Vec<f64>, usize))| {
            let laws = group.channel.forward(fit).into_iter().zip(group.channel.forward(together));
            let terms = group.tally.counts().iter().zip(laws);
            let seen = terms.filter(|(count, (own, _))| **count > 0 && *own > 0.0);
            seen.map(|(&count, (own, all))| count as f64 * (own / all).ln()).sum::<f64>()
        };
        let statistic = 2.0 * self.groups.iter().zip(fits).map(gain).sum::<f64>().max(0.0);
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
    match &group.channel {
        Channel::Bits(bits) => against_bits(group, bits.gap(), p),
        Channel::Table(_) | Channel::Keep(_) => against_outputs(group, p, fitted),
    }
}

/// Pearson's statistic. Its mean and variance are known exactly even where outputs are rare; a gamma
/// law with those two moments stands in for chi-squared, and is chi-squared where they are not.
fn against_outputs(group: &Group, p: &[f64], fitted: Option<usize>) -> Test {
    let (n, law) = (group.reports(), group.channel.forward(p));
    let (mut statistic, mut used, mut inverses) = (0.0, 0.0, 0.0);
    for (&count, &law) in group.tally.counts().iter().zip(&law) {
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

/// The quadratic form of the bit shares' distance in their covariance,
/// diag(θ(1-θ) + gap² p²) - gap² p pᵀ.
fn against_bits(group: &Group, gap: f64, p: &[f64]) -> Test {
    let n = group.reports();
    let (mut square, mut along, mut turn, mut fixed) = (0.0, 0.0, 0.0, 0.0);
    for ((&set, p), theta) in group.tally.counts().iter().zip(p).zip(group.channel.forward(p)) {
        let away = set as f64 / n - theta;
        let variance = theta * (1.0 - theta) + gap * gap * p * p;
        if variance > 0.0 {
            square += away * away / variance;
            along += away * gap * p / variance;
            turn += gap * gap * p * p / variance;
        } else {
            fixed += away.abs();
        }
    }
    let exact = n * (square + along * along / (1.0 - turn).max(1e-300));
    let statistic = if fixed > 0.0 { f64::INFINITY } else { exact };
    let degrees = p.len() as f64;
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
    let spread = bits.own * (1.0 - bits.own) + (k - 1.0) * bits.other * (1.0 - bits.other);
    let away = counts.iter().map(|&set| set as f64).sum::<f64>() / n as f64 - expected;
    let statistic = if spread > 0.0 { away.abs() / (spread / n as f64).sqrt() } else { 0.0 };
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
            let (set, clear) = (bits.own * (1.0 - bits.other), bits.other * (1.0 - bits.own));
            let (strong, weak) = (set.max(clear), set.min(clear));
            let lift = |p: &f64| {
                let (rises, falls) = (p * strong + (1.0 - p) * weak, p * weak + (1.0 - p) * strong);
                either_way(strong, rises).max(either_way(weak, falls))
            };
            if strong == weak { 1.0 } else { p.iter().map(lift).fold(1.0, f64::max) }
        }
    };
    // Sums of k products are off by less than k units in the last place.
    let slack = 1.0 + (p.len() as f64 + 16.0) * f64::EPSILON;
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
