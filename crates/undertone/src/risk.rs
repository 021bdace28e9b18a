//! What an observer can learn from one answer: as numbers, and in words.

use serde::Serialize;
use undertone_core::{Context, Delta, Draft, Shape};
use undertone_design::risk::{Belief, Beliefs, REFERENCE, Risk};

use crate::answer::Answer;
use crate::{Error, number};

/// Significant digits of a percentage.
const DIGITS: i32 = 4;

/// What an observer can learn from one answer to a policy.
#[derive(Debug, Clone, Serialize)]
pub struct RiskReport {
    /// Belief in each symbol of the input, before and after; without a prior, in anything believed with one of a few
    /// probabilities.
    pub beliefs: Vec<BeliefReport>,
    /// How many symbols were left out of `beliefs`, where only those an observer learns most about are listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beliefs_left_out: Option<usize>,
    /// Whether some answer moves belief that far; otherwise these are bounds.
    pub beliefs_attained: bool,
    /// Belief in each value of the secret, where the context has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_beliefs: Option<Vec<BeliefReport>>,
    /// Whether some answer moves belief in the secret that far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_beliefs_attained: Option<bool>,
    /// The largest factor by which the odds between two values can move.
    #[serde(serialize_with = "number::as_bound")]
    pub odds: f64,
    /// What each output says, for tables small enough.
    pub readings: Vec<ReadingReport>,
    /// The worst case in plain sentences.
    pub in_words: Vec<String>,
    /// The numbers behind it.
    #[serde(skip)]
    pub risk: Risk,
}

/// Belief in one symbol, before and after one answer.
#[derive(Debug, Clone, Serialize)]
pub struct BeliefReport {
    /// What is believed; without a prior, how much it was believed before.
    pub symbol: String,
    /// The least probability the context gives it.
    pub before_least: f64,
    /// The greatest probability the context gives it.
    pub before_most: f64,
    /// The least it can become.
    pub least: f64,
    /// The most it can become.
    pub most: f64,
    /// The answer that lowers it most, where answers are listed.
    pub least_after: Option<String>,
    /// The answer that raises it most, where answers are listed.
    pub most_after: Option<String>,
}

/// What one output says.
#[derive(Debug, Clone, Serialize)]
pub struct ReadingReport {
    /// The output.
    pub output: String,
    /// How often it is seen under the prior.
    pub probability: f64,
    /// Belief in each input after it.
    pub posterior: Vec<f64>,
}

impl RiskReport {
    /// Reads the risk off a draft, verified or not.
    pub fn of(draft: &Draft) -> Result<Self, Error> {
        let risk = Risk::of(draft)?;
        let answer = |y: usize| draft.outputs().label(y);
        let input = |x: usize| match draft.context() {
            Context::Unknown => format!("{} % before", number::nats(100.0 * REFERENCE[x])),
            _ => draft.inputs().label(x),
        };
        let secret = |s: usize| match draft.context() {
            Context::Secret(secret) => format!("{} = {s}", secret.name()),
            _ => s.to_string(),
        };
        let list = |beliefs: &Beliefs, label: &dyn Fn(usize) -> String| {
            let entry = |(x, belief): (usize, &Belief)| BeliefReport {
                symbol: label(x),
                before_least: belief.before_least,
                before_most: belief.before_most,
                least: belief.least,
                most: belief.most,
                least_after: belief.least_after.map(answer),
                most_after: belief.most_after.map(answer),
            };
            beliefs.list.iter().enumerate().map(entry).collect::<Vec<_>>()
        };
        let readings = risk.outputs.iter().map(|reading| ReadingReport {
            output: answer(reading.output),
            probability: reading.probability,
            posterior: reading.posterior.clone(),
        });
        let mut report = Self {
            beliefs: list(&risk.input, &input),
            beliefs_left_out: None,
            beliefs_attained: risk.input.attained,
            secret_beliefs: risk.secret.as_ref().map(|beliefs| list(beliefs, &secret)),
            secret_beliefs_attained: risk.secret.as_ref().map(|beliefs| beliefs.attained),
            odds: risk.input.odds,
            readings: readings.collect(),
            in_words: Vec::new(),
            risk,
        };
        report.in_words = report.sentences(draft);
        Ok(report)
    }

    /// Lists at most so many symbols of the input: those an observer learns most about.
    #[must_use]
    pub fn shortened(mut self, most: usize) -> Self {
        let all = self.beliefs.len();
        if all > most {
            let worst = self.risk.input.worst(most);
            self.beliefs = worst.into_iter().map(|x| self.beliefs[x].clone()).collect();
            self.beliefs_left_out = Some(all - most);
        }
        self
    }

    /// The worst case in plain sentences.
    fn sentences(&self, draft: &Draft) -> Vec<String> {
        let mut said = Vec::new();
        if let (Some(beliefs), Some(list)) = (&self.risk.secret, &self.secret_beliefs) {
            said.extend(worst_case(draft, beliefs, "secret", |s| list[s].symbol.clone()));
        }
        if matches!(draft.context(), Context::Unknown) {
            said.push(
                "No prior is assumed, so nothing is said about any one belief before the answer."
                    .into(),
            );
        } else {
            let quoted = |x: usize| format!("{:?}", self.beliefs[x].symbol);
            said.extend(worst_case(draft, &self.risk.input, "input", quoted));
        }
        let (strength, _) = draft.strength();
        said.push(match strength.ldp.ratio.ln_up() {
            Some(level) => format!(
                "Whatever was believed before, the odds between two values move by a factor of at most {} (LDP {level}).",
                number::nats((1e3 * self.odds).ceil() / 1e3)
            ),
            None => "Some answer rules out some value: to an observer who believes otherwise than the prior, what can be learnt is not bounded (LDP is unbounded).".into(),
        });
        if draft.claims().iter().any(|claim| claim.delta != Delta::ZERO) {
            said.push("A claim with a delta lets that much probability escape its bound; the figures here are of the worst answer, however rare.".into());
        }
        said
    }
}

impl Answer for RiskReport {
    fn words(&self) -> String {
        self.in_words.join("\n")
    }
}

fn worst_case(
    draft: &Draft,
    beliefs: &Beliefs,
    of: &str,
    label: impl Fn(usize) -> String,
) -> Vec<String> {
    let list = &beliefs.list;
    let Some(up) = beliefs.steepest_rise() else {
        return vec![format!("No answer changes any belief about the {of}.")];
    };
    let belief = &list[up];
    let by = match (belief.most_after, draft.shape()) {
        (Some(y), _) => format!("Seeing {:?}", draft.outputs().label(y)),
        (None, Shape::Bits(_)) => "The most telling pattern of bits".into(),
        (None, Shape::Incidence(_)) => "The most telling block".into(),
        (None, _) => "One answer".into(),
    };
    let rises = format!(
        "{by} can raise belief in {} from {} to {} %: by the largest factor for any value of the {of}.",
        label(up),
        before(belief),
        percent(belief.most, DIGITS, f64::ceil)
    );
    let falls = beliefs.steepest_fall().map(|x| match list[x].least {
        0.0 => format!(
            "Some answer rules out {}, which was believed with {} before.",
            label(x),
            before(&list[x])
        ),
        least => format!(
            "Belief in {} can fall from {} to {} %: by the largest factor for any value of the {of}.",
            label(x),
            before(&list[x]),
            percent(least, DIGITS, f64::floor)
        ),
    });
    std::iter::once(rises).chain(falls).collect()
}

/// A belief before the answer, in percent; under several priors, from the least to the greatest.
pub fn before(belief: &Belief) -> String {
    if let Some(before) = belief.before() {
        return format!("{} %", percent(before, DIGITS, f64::round));
    }
    let (low, high) = (belief.before_least, belief.before_most);
    format!("{} to {} %", percent(low, DIGITS, f64::round), percent(high, DIGITS, f64::round))
}

/// A probability in percent with so many significant digits, rounded as asked. Noise of the
/// float arithmetic itself is not taken for a digit.
pub fn percent(p: f64, significant: i32, round: fn(f64) -> f64) -> String {
    let value = 100.0 * p;
    if value.is_nan() || value <= 0.0 {
        return "0".into();
    }
    let exponent = value.log10().floor() as i32;
    if exponent < -4 {
        return format!("{}e{exponent}", round(value * 10f64.powi(1 - exponent)) / 10.0);
    }
    let digits = (significant - 1 - exponent).max(0);
    let unit = 10f64.powi(digits);
    let scaled = value * unit;
    let rounded =
        if (scaled - scaled.round()).abs() < 1e-9 { scaled.round() } else { round(scaled) };
    let text = format!("{:.*}", digits as usize, rounded / unit);
    if digits > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{Design, DesignMethod};

    #[test]
    fn of_many_symbols_the_worst_are_listed() {
        let names = (0..40).map(|x| format!("answer {x}"));
        let mut prior = vec![0.02; 40];
        prior[7] = 0.22;
        let design = Design::new(names).prior(prior).protect("lip:1").method(DesignMethod::Krr);
        let report = RiskReport::of(design.policy().unwrap().draft()).unwrap();
        let all = report.clone().shortened(40);
        assert_eq!((all.beliefs.len(), all.beliefs_left_out), (40, None));
        let few = report.shortened(3);
        assert_eq!((few.beliefs.len(), few.beliefs_left_out), (3, Some(37)));
        assert_eq!(few.json()["beliefs_left_out"], 37);
        // Belief in what is rare rises by the largest factor.
        assert!(few.beliefs.iter().all(|belief| belief.symbol != "answer 7"));
        let rise = |belief: &BeliefReport| belief.most / belief.before_least;
        let least = few.beliefs.iter().map(rise).fold(f64::INFINITY, f64::min);
        assert!(all.beliefs.iter().all(|belief| rise(belief) <= least * (1.0 + 1e-9)));
    }

    #[test]
    fn percentages_are_rounded_the_way_they_are_meant() {
        assert_eq!(percent(0.271_828, 4, f64::ceil), "27.19");
        assert_eq!(percent(0.271_828, 4, f64::floor), "27.18");
        assert_eq!(percent(0.1 + 1e-15, 4, f64::ceil), "10");
        assert_eq!(percent(0.1 + 1e-10, 4, f64::ceil), "10.01");
        assert_eq!(percent(1.0, 4, f64::ceil), "100");
        assert_eq!(percent(0.0, 4, f64::ceil), "0");
        assert_eq!(percent(4.691e-14, 4, f64::ceil), "4.7e-12");
        assert_eq!(percent(0.999_99, 3, f64::floor), "99.9");
    }
}
