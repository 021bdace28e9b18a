//! What leaks when the prior was wrong.

use serde::Serialize;
use undertone_core::Draft;
use undertone_design::extremal::LiftRange;
use undertone_design::measure::lip;
use undertone_design::to_floats;
use undertone_theory::transfer as bounds;

use crate::answer::Answer;
use crate::document::Prior;
use crate::number::Round;
use crate::{Error, number};

/// The prior a mechanism was designed for, and what is known of the true one: the truth itself, or how many
/// observations the prior was estimated from, or both.
///
/// ```
/// use undertone::transfer::{TransferRequest, transfer};
/// use undertone::{Answer, Prior};
///
/// let mut request = TransferRequest::new(Prior::new([0.3, 0.3, 0.4])?, 1.0);
/// request.to = Some(Prior::new([0.32, 0.28, 0.4])?);
/// let report = transfer(&request)?;
/// assert_eq!(report.json()["exact"], 1.04127760648);
/// # Ok::<(), undertone::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TransferRequest {
    /// The prior the mechanism was designed for.
    pub from: Prior,
    /// The true prior, of the same symbols in any order.
    pub to: Option<Prior>,
    /// The LIP level kept under `from`.
    pub epsilon: f64,
    /// A policy whose own leakage under `to` is wanted too.
    pub policy: Option<Draft>,
    /// How many observations `from` was estimated from.
    pub samples: Option<u64>,
    /// The probability that the estimate is further off than its radius.
    pub beta: f64,
}

impl TransferRequest {
    /// A mechanism that keeps `epsilon` under `from`, with nothing said about the truth yet and a beta of 0.05.
    pub fn new(from: Prior, epsilon: f64) -> Self {
        Self { from, to: None, epsilon, policy: None, samples: None, beta: 0.05 }
    }
}

/// What leaks when the prior was wrong, in nats, written rounded up.
#[derive(Debug, Clone, Serialize)]
pub struct TransferReport {
    /// Under the true prior, where that is known.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub truth: Option<TransferBounds>,
    /// Under any prior the observations leave possible, where their number is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated: Option<EstimatedTransfer>,
}

/// What leaks under the true prior.
#[derive(Debug, Clone, Serialize)]
pub struct TransferBounds {
    /// The bound of JSTL21 (12), with the smallest mass of either prior.
    #[serde(serialize_with = "number::as_bound")]
    pub published: f64,
    /// Epsilon and the largest logarithm of the priors' ratio.
    #[serde(serialize_with = "number::as_bound")]
    pub ratio: f64,
    /// A bound from the total variation distance alone; nothing where that is too large.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub prior_free: Option<f64>,
    /// The worst over all mechanisms that keep the promise, where a channel was measured to attain it.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub exact: Option<f64>,
    /// A bound on that worst where no channel was measured to attain it.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "number::as_optional_bound")]
    pub at_most: Option<f64>,
    /// How much JSTL21 Lemma 3 adds to epsilon.
    #[serde(serialize_with = "number::as_bound")]
    pub eta: f64,
    /// The largest logarithm of the priors' ratio.
    #[serde(serialize_with = "number::as_bound")]
    pub log_ratio: f64,
    /// Lifts of an output at which most leaks, in the order of the symbols of `from`.
    pub witness: Vec<f64>,
    /// What the policy's own channel leaks.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "number::as_optional_bound")]
    pub policy: Option<f64>,
}

/// What leaks under any prior that an estimate's observations leave possible.
#[derive(Debug, Clone, Serialize)]
pub struct EstimatedTransfer {
    /// How many observations there are.
    pub samples: u64,
    /// The probability that the estimate is further off than its radius.
    pub beta: f64,
    /// How far off the estimate may be, in l1 distance.
    #[serde(serialize_with = "number::as_bound")]
    pub radius: f64,
    /// The radius the paper prints.
    #[serde(serialize_with = "number::as_bound")]
    pub published_radius: f64,
    /// The least probability of a symbol within the radius.
    #[serde(serialize_with = "number::as_lower_bound")]
    pub floor: f64,
    /// How much JSTL21 Lemma 3 adds to epsilon.
    #[serde(serialize_with = "number::as_bound")]
    pub eta: f64,
    /// The LIP level that holds then.
    #[serde(serialize_with = "number::as_bound")]
    pub leakage: f64,
}

/// Bounds what a mechanism that keeps epsilon-LIP under one prior leaks under another, and computes it exactly.
pub fn transfer(request: &TransferRequest) -> Result<TransferReport, Error> {
    let range = LiftRange::symmetric(request.epsilon)
        .map_err(|error| Error::field("epsilon", format!(": {error}")))?;
    let from = request.from.law();
    if request.to.is_none() && request.samples.is_none() {
        let problem = "is missing: give the true prior, or how many samples the first one rests on";
        return Err(Error::field("to", problem));
    }
    let truth = match &request.to {
        None if request.policy.is_some() => {
            return Err(Error::field("policy", "needs the true prior: give it as well"));
        }
        None => None,
        Some(to) => {
            let to = to.law().in_order_of(to.name(), from.symbols())?;
            let found = bounds::transfer(from, &to, range)?;
            let policy = match &request.policy {
                Some(draft) => {
                    Some(lip::upper_bound(&to, &to_floats::policy_channel(draft)?)?.two_sided())
                }
                None => None,
            };
            // Only what a channel was measured to attain is called exact.
            let (exact, at_most) = match found.confirmed {
                true => (Some(found.exact), None),
                false => (None, Some(found.exact)),
            };
            Some(TransferBounds {
                published: found.published,
                ratio: request.epsilon + found.ratio,
                prior_free: found.prior_free,
                exact,
                at_most,
                eta: found.eta,
                log_ratio: found.ratio,
                witness: found.witness,
                policy,
            })
        }
    };
    let estimated = match request.samples {
        None => None,
        Some(samples) => Some(estimated(request, samples, range)?),
    };
    Ok(TransferReport { truth, estimated })
}

fn estimated(
    request: &TransferRequest,
    samples: u64,
    range: LiftRange,
) -> Result<EstimatedTransfer, Error> {
    let beta = request.beta;
    let field = if samples == 0 { "samples" } else { "beta" };
    let found = bounds::estimated(request.from.law(), samples, beta, range)
        .map_err(|error| Error::field(field, format!(": {error}")))?;
    Ok(EstimatedTransfer {
        samples,
        beta,
        radius: found.radius,
        published_radius: found.published_radius,
        floor: found.floor,
        eta: found.eta,
        leakage: found.leakage,
    })
}

impl EstimatedTransfer {
    fn words(&self) -> String {
        let up = |value: f64| number::rounded(value, Round::Up);
        format!(
            "With probability {} the truth is within l1 distance {} of an estimate from {} samples\n(the printed radius is {}), and then the LIP level is at most {} nats.",
            number::nats(1.0 - self.beta),
            up(self.radius),
            self.samples,
            up(self.published_radius),
            up(self.leakage)
        )
    }
}

impl TransferReport {
    /// What the number of observations says, in a sentence, where it is known.
    pub fn estimated_words(&self) -> Option<String> {
        self.estimated.as_ref().map(EstimatedTransfer::words)
    }
}

impl Answer for TransferReport {
    fn words(&self) -> String {
        let up = |value: f64| number::rounded(value, Round::Up);
        let truth = self.truth.as_ref().map(|truth| {
            let worst = match (truth.exact, truth.at_most) {
                (Some(exact), _) => format!("exactly {} nats", up(exact)),
                (None, most) => format!("at most {} nats", up(most.unwrap_or(f64::INFINITY))),
            };
            let policy = truth.policy.map_or(String::new(), |leakage| {
                format!(" This policy leaks at most {} nats.", up(leakage))
            });
            format!(
                "Under the true prior the worst mechanism that keeps the promise leaks {worst} (LIP).{policy}"
            )
        });
        truth.into_iter().chain(self.estimated_words()).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn no_exact_value_is_above_a_bound_of_it_whatever_the_number_of_symbols() {
        let size = 100_000;
        let weights: Vec<f64> = (0..size).map(|x| 1.0 + f64::from(x % 97)).collect();
        let total: f64 = weights.iter().sum();
        let rough: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        let even = vec![1.0 / f64::from(size); size as usize];
        for prior in [even, rough] {
            let prior = Prior::new(prior).unwrap();
            let mut request = TransferRequest::new(prior.clone(), 1.0);
            request.to = Some(prior);
            let json = transfer(&request).unwrap().json();
            // The prior was right, so the promise holds as it was made.
            for field in ["exact", "published", "ratio", "prior_free"] {
                assert_eq!(json[field], 1.0, "{field}");
            }
        }
    }

    #[test]
    fn fields_are_named() {
        let prior = || Prior::new([0.5, 0.5]).unwrap();
        let blamed = |request: TransferRequest| transfer(&request).unwrap_err();
        let request = TransferRequest::new(prior(), f64::NAN);
        assert!(blamed(request).to_string().starts_with("epsilon: "));
        let nothing = TransferRequest::new(prior(), 1.0);
        assert_eq!(blamed(nothing.clone()).blamed(), Some("to"));
        let none = TransferRequest { samples: Some(0), ..nothing.clone() };
        assert_eq!(blamed(none).blamed(), Some("samples"));
        let sure = TransferRequest { samples: Some(9), beta: 0.0, ..nothing };
        assert_eq!(blamed(sure).blamed(), Some("beta"));
    }
}
