//! What a policy is worth, and what it tells, if people have certain shares.

use undertone_core::Policy;
use undertone_design::designer;
use undertone_design::measure::lip;
use undertone_design::mechanism::accuracy::{Accuracy, Coverage};
use undertone_design::objective::Objective;
use undertone_design::{Distribution, Symbols, to_floats};

use crate::Error;

/// The half-width of the widest of all shares' intervals, at this confidence, if so many people with these shares answer
/// through a policy. A large-sample figure, for planning: an estimate has intervals of its own.
pub fn half_width(
    policy: &Policy,
    shares: impl Into<Vec<f64>>,
    people: u64,
    level: f64,
) -> Result<f64, Error> {
    let shares = shares_of(policy, shares.into())?;
    // The half-width that is asked for does not matter to the one that is reached.
    let accuracy = Accuracy::new(0.5, level, Coverage::Each)?;
    let channel = to_floats::policy_channel(policy.draft())?;
    Ok(accuracy.half_width(&shares, &channel, people)?)
}

/// The summed variance of an efficient estimate of all shares from one report, if people have these; infinite where reports
/// cannot tell the symbols apart, nothing where the channel is too large a table to judge.
pub fn share_variance(policy: &Policy, shares: impl Into<Vec<f64>>) -> Result<Option<f64>, Error> {
    let shares = shares_of(policy, shares.into())?;
    Ok(designer::worth(&shares, &Objective::Frequency, policy.draft().shape())?)
}

/// How far one report moves the belief of an observer who expects these shares, in nats and at least what it is; nothing
/// where the channel is too large to be written out.
pub fn lip_at(policy: &Policy, shares: impl Into<Vec<f64>>) -> Result<Option<f64>, Error> {
    let shares = shares_of(policy, shares.into())?;
    let Ok(channel) = to_floats::policy_channel(policy.draft()) else { return Ok(None) };
    Ok(Some(lip::upper_bound(&shares, &channel)?.two_sided()))
}

/// Shares in the order of a policy's inputs.
fn shares_of(policy: &Policy, shares: Vec<f64>) -> Result<Distribution, Error> {
    let shares = Distribution::new("shares", shares)?;
    Ok(shares.over(&Symbols::of(policy.draft().inputs()))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{Design, DesignMethod};

    #[test]
    fn randomised_response_to_a_yes_no_question() {
        let design = Design::new(["no", "yes"]).any_prior().protect("ldp:1");
        let policy = design.method(DesignMethod::Krr).policy().unwrap();
        // A report is kept with λ and else drawn from both alike; each share has the variance of a coin over λ².
        let lambda = 0.5f64.tanh();
        let seen = 0.3 * lambda + 0.5 * (1.0 - lambda);
        let expected = 2.0 * seen * (1.0 - seen) / (lambda * lambda);
        let found = share_variance(&policy, [0.7, 0.3]).unwrap().unwrap();
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
        // LIP under a prior is at most the LDP of one nat, and more than half of it for someone.
        let lip = lip_at(&policy, [0.7, 0.3]).unwrap().unwrap();
        assert!(lip > 0.5 && lip <= 1.0 + 1e-9, "{lip}");
        assert!(share_variance(&policy, [0.7, 0.2]).is_err());
    }
}
