//! Every measure of one channel at once.

use super::alpha_lift::AlphaLift;
use super::{
    Cell, Leakage, Pair, alpha_lift, arimoto, delta, di, ldp, lip, maximal_leakage,
    mutual_information, sibson,
};
use crate::{Channel, Distribution, Error, Joint};

/// What a channel reveals of its input under every notion; all in nats, infinite where unbounded.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// Local differential privacy, with the worst (x, x', y).
    pub ldp: Leakage<Pair>,
    /// Two-sided local information privacy, with the worst (x, y).
    pub lip: Leakage<Cell>,
    /// The largest ln lift, with its (x, y).
    pub max_lift: Leakage<Cell>,
    /// Minus the smallest ln lift, with its (x, y).
    pub min_lift: Leakage<Cell>,
    /// I(X;Y).
    pub mutual_information: f64,
    /// Maximal leakage on the prior's support.
    pub maximal_leakage: f64,
    /// Differential identifiability on singletons, with the worst (x, x', y).
    pub identifiability: Leakage<Pair>,
    /// The order of the next three.
    pub alpha: f64,
    /// Sibson's mutual information.
    pub sibson: f64,
    /// Arimoto's mutual information.
    pub arimoto: f64,
    /// The largest α-lift, its logarithm and its output.
    pub alpha_lift: AlphaLift,
    /// H(X), the entropy of the data.
    pub entropy: f64,
    /// H(S), when a secret other than the data was audited.
    pub secret_entropy: Option<f64>,
    /// The least δ at the ε asked for, if one was.
    pub delta: Option<Delta>,
}

/// The least δ of (ε,δ)-LIP in the four conventions of `measure::delta`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delta {
    /// The ε.
    pub epsilon: f64,
    /// JSTL21 Corollary 9.
    pub conditional: f64,
    /// JSTL21 Definition 5.
    pub posterior: f64,
    /// STL19 Definition 4 on single inputs.
    pub joint: f64,
    /// STL19 Definition 4 on sets; absent when there are too many symbols to try all sets.
    pub joint_sets: Option<f64>,
}

impl Audit {
    /// Audits `channel` for data with law `prior`, whose symbols the indices of inputs refer to; `alpha` is at least 1 and may be infinite.
    pub fn of(
        prior: &Distribution,
        channel: &Channel,
        epsilon: Option<f64>,
        alpha: f64,
    ) -> Result<Self, Error> {
        let channel = &*channel.under(prior)?;
        Ok(Self {
            lip: lip::leakage(prior, channel)?,
            ldp: ldp::leakage(channel),
            max_lift: lip::max_lift(prior, channel)?,
            min_lift: lip::min_lift(prior, channel)?,
            mutual_information: mutual_information::leakage(prior, channel)?,
            maximal_leakage: maximal_leakage::leakage(prior, channel)?,
            identifiability: di::leakage(prior, channel)?,
            alpha,
            sibson: sibson::leakage(prior, channel, alpha)?,
            arimoto: arimoto::leakage(prior, channel, alpha)?,
            alpha_lift: alpha_lift::leakage(prior, channel, alpha)?,
            entropy: prior.entropy(),
            secret_entropy: None,
            delta: epsilon.map(|epsilon| Delta::of(prior, channel, epsilon)).transpose()?,
        })
    }

    /// Audits what is revealed of a secret S: by the data X itself without a channel, by the
    /// channel's output with one (S - X - Y). Indices x then stand for values of S.
    pub fn of_secret(
        joint: &Joint,
        channel: Option<&Channel>,
        epsilon: Option<f64>,
        alpha: f64,
    ) -> Result<Self, Error> {
        let through = channel.map(|channel| joint.through(channel)).transpose()?;
        let seen = through.as_ref().unwrap_or(joint.given_secret());
        let audit = Self::of(joint.secret(), seen, epsilon, alpha)?;
        let secret_entropy = Some(audit.entropy);
        Ok(Self { entropy: joint.data()?.entropy(), secret_entropy, ..audit })
    }
}

impl Delta {
    /// All four conventions at ε.
    pub fn of(prior: &Distribution, channel: &Channel, epsilon: f64) -> Result<Self, Error> {
        let excess = delta::Excess::of(prior, channel, epsilon, epsilon)?;
        let joint_sets = match delta::joint_sets(prior, channel, epsilon) {
            Ok(value) => Some(value),
            Err(Error::TooLarge { .. }) => None,
            Err(other) => return Err(other),
        };
        Ok(Self {
            epsilon,
            conditional: excess.conditional(),
            posterior: excess.posterior(),
            joint: excess.joint(prior)?,
            joint_sets,
        })
    }
}
