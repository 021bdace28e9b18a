//! What to print first.

use crate::answer::{Answer, Shares};
use crate::drift::Drift;
use crate::identification::Identification;
use crate::mle::Fit;
use crate::settings::Method;
use crate::{Error, Estimator};
use serde::Serialize;

/// The shares to print first, and why these.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Headline {
    /// The shares.
    pub shares: Shares,
    /// Why this method, in a sentence.
    pub because: String,
}

/// Everything an honest reader wants, in the order to print it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// How many reports.
    pub reports: u64,
    /// First: maximum likelihood or unbiased.
    pub headline: Headline,
    /// The unbiased shares.
    pub unbiased: Shares,
    /// The maximum-likelihood shares.
    pub mle: Shares,
    /// How they were found.
    pub fit: Fit,
    /// Second: the shares with the prior, labelled; `None` where a policy has no single prior, or
    /// releases bits.
    pub mmse: Option<Shares>,
    /// The mean, by the headline's method, where symbols are numbers.
    pub mean: Option<Answer>,
    /// What the policies can tell apart.
    pub identification: Identification,
    /// Whether prior and reports agree.
    pub drift: Drift,
    /// What else a reader should know, in sentences: what is not determined, what did not converge.
    pub notes: Vec<String>,
}

impl Estimator {
    /// The shares to print first: maximum likelihood, or unbiased where the corners of what is possible
    /// have pulled that away from what the reports say. Never the prior's.
    pub fn headline(&self) -> Result<Headline, Error> {
        let mle = self.shares(Method::Mle)?;
        let unbiased = self.shares(Method::Unbiased)?;
        Ok(self.choose(mle, unbiased))
    }

    fn choose(&self, mle: Shares, unbiased: Shares) -> Headline {
        let pulled = self.pulled();
        let (shares, because) = if pulled > 0 {
            let because = format!(
                "unbiased: most shares are too small for these reports to tell from 0, and keeping every share positive pulls {pulled} maximum-likelihood values out of the interval that each has on its own"
            );
            (unbiased, because)
        } else {
            (mle, "maximum likelihood: every value lies in its own interval".into())
        };
        Headline { shares, because }
    }

    /// How many maximum-likelihood values the limits of their shares refuse, each at the level on its own: intervals that are
    /// asked to hold all at once are wider, and which estimate is read first must not turn on that.
    fn pulled(&self) -> usize {
        let outside = |(value, limits): &(&f64, &crate::interval::Limits)| {
            **value < limits.low || **value > limits.high
        };
        self.fit().shares.iter().zip(self.own_share_limits().iter()).filter(outside).count()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.identification().sentences(self.pool().inputs());
        let fit = self.fit();
        if !fit.converged {
            notes.push(format!(
                "The maximum-likelihood shares were stopped after {} steps; the log-likelihood can still rise by up to {:.3}.",
                fit.steps, fit.gap
            ));
        }
        notes
    }

    /// Everything that applies, for printing.
    pub fn summary(&self) -> Result<Summary, Error> {
        let (unbiased, mle) = (self.shares(Method::Unbiased)?, self.shares(Method::Mle)?);
        let headline = self.choose(mle.clone(), unbiased.clone());
        let method = headline.shares.method;
        Ok(Summary {
            reports: self.pool().reports(),
            mmse: self.shares(Method::Mmse).ok(),
            mean: self.mean(method).ok(),
            fit: self.fit().clone(),
            identification: self.identification().clone(),
            drift: self.drift()?,
            notes: self.notes(),
            headline,
            unbiased,
            mle,
        })
    }
}
