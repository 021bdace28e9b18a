//! A design, said step by step.

use undertone_core::{Alphabet, Policy, Provenance};
use undertone_design::codebook::{self, Range};
use undertone_design::measure::delta::Convention;
use undertone_design::prior_region::PriorBox;
use undertone_design::{Joint, Symbols};

use super::{
    AccuracyGoal, DesignContext, DesignMethod, DesignReport, DesignRequest, NumberOptions,
    Objective, People, Protection, Scale, SecretLaw, Sigma,
};
use crate::Error;
use crate::document::Prior;

/// A design, said step by step. What cannot be used is remembered, and refused when the policy is asked for.
///
/// ```
/// use undertone::design::{Design, Objective};
///
/// let policy = Design::new(["bus", "car", "bike"])
///     .prior([0.5, 0.3, 0.2])
///     .protect("lip:1")
///     .protect("ldp:1.5")
///     .objective(Objective::Hamming)
///     .allow_uninformative()
///     .policy()?;
/// let refused = Design::new(["no", "yes"]).prior([0.9, 0.2]).protect("lip:1").policy();
/// assert!(refused.unwrap_err().to_string().contains("sums to 1.1"));
/// # Ok::<(), undertone::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Design {
    request: DesignRequest,
    /// What was refused first.
    refused: Option<Error>,
}

impl Design {
    /// A design over these symbols. Without a prior nothing is known of them, and protections are LDP.
    pub fn new<S: Into<String>>(symbols: impl IntoIterator<Item = S>) -> Self {
        let mut design = Self::default();
        let names = symbols.into_iter().map(Into::into).collect();
        let symbols = design.kept(Symbols::names(names));
        design.request.context.symbols = symbols;
        design
    }

    /// A design over the symbols of an alphabet.
    pub fn over(alphabet: &Alphabet) -> Self {
        Self::of(DesignContext { symbols: Some(Symbols::of(alphabet)), ..DesignContext::default() })
    }

    /// A design over so many symbols without names, 0 and up, of which nothing is known: protections hold whatever the prior.
    pub fn sized(size: usize) -> Self {
        Self::of(DesignContext { size: Some(size), ..DesignContext::default() })
    }

    /// A design over numbers, which are clipped to this range and put in so many equal bins.
    pub fn numbers(low: f64, high: f64, bins: usize) -> Self {
        let mut design = Self::default();
        let range = design.kept(ends("range", low, high));
        design.request.numbers =
            NumberOptions { range, bins: Some(bins), ..NumberOptions::default() };
        design
    }

    /// A design for a secret behind the data: protections are about it.
    pub fn secret(name: impl Into<String>, joint: Joint) -> Self {
        let secret = Some(SecretLaw { name: name.into(), joint });
        Self::of(DesignContext { secret, ..DesignContext::default() })
    }

    /// A design for what is known.
    pub fn of(context: DesignContext) -> Self {
        Self { request: DesignRequest { context, ..DesignRequest::default() }, refused: None }
    }

    /// The prior: probabilities in the order of the symbols, pairs of symbol and probability, or a [`Prior`]. Give
    /// several and every protection holds under each.
    #[must_use]
    pub fn prior<P>(mut self, prior: P) -> Self
    where
        P: TryInto<Prior>,
        Error: From<P::Error>,
    {
        let prior = self.kept(prior.try_into());
        self.request.context.priors.extend(prior);
        self
    }

    /// Protections hold whatever the prior; one given besides only weighs the objective.
    #[must_use]
    pub fn any_prior(mut self) -> Self {
        self.request.context.any_prior = true;
        self
    }

    /// Protections hold for every prior between these limits; one given besides only weighs the objective.
    #[must_use]
    pub fn prior_within(mut self, lower: impl Into<Vec<f64>>, upper: impl Into<Vec<f64>>) -> Self {
        let within = self.kept(PriorBox::new(lower.into(), upper.into()));
        self.request.context.within = within;
        self
    }

    /// Where the prior comes from.
    #[must_use]
    pub fn provenance(mut self, provenance: Provenance) -> Self {
        self.request.context.provenance = Some(provenance);
        self
    }

    /// The law of numbers, in place of a prior: `normal:50,10`, `uniform:0,1`, `beta:2,5` or a mixture.
    #[must_use]
    pub fn density(mut self, law: &str) -> Self {
        self.request.numbers.density = self.kept(law.parse());
        self
    }

    /// What must hold: `lip:1`, `ldp:2`, a claim. Give several and all hold at once.
    #[must_use]
    pub fn protect<P>(mut self, protection: P) -> Self
    where
        P: TryInto<Protection>,
        Error: From<P::Error>,
    {
        let protection = self.kept(protection.try_into());
        self.request.protect.extend(protection);
        self
    }

    /// Finds the smallest level whose shares are within `half_width` at this confidence for so many people.
    #[must_use]
    pub fn accurate_for(mut self, people: u64, half_width: f64, level: f64) -> Self {
        let people = People::Fixed(people);
        self.request.accuracy = Some(AccuracyGoal { half_width, level, people });
        self
    }

    /// Finds how many people the protection needs for shares within `half_width` at this confidence; the report has it
    /// as the parameter `needed_n`.
    #[must_use]
    pub fn people_for(mut self, half_width: f64, level: f64) -> Self {
        let people = People::Needed;
        self.request.accuracy = Some(AccuracyGoal { half_width, level, people });
        self
    }

    /// What the reports are for; without it shares, or for numbers their squared error.
    #[must_use]
    pub fn objective<O>(mut self, objective: O) -> Self
    where
        O: TryInto<Objective>,
        Error: From<O::Error>,
    {
        self.request.objective = self.kept(objective.try_into());
        self
    }

    /// The numbers the symbols stand for.
    #[must_use]
    pub fn values(mut self, values: impl Into<Vec<f64>>) -> Self {
        self.request.values = values.into();
        self
    }

    /// How to find the channel; without it the best there is.
    #[must_use]
    pub fn method<M>(mut self, method: M) -> Self
    where
        M: TryInto<DesignMethod>,
        Error: From<M::Error>,
    {
        self.request.method = self.kept(method.try_into());
        self
    }

    /// The most bits that one report may take.
    #[must_use]
    pub fn max_bits(mut self, bits: u32) -> Self {
        self.request.max_bits = Some(bits);
        self
    }

    /// How wide Laplace noise is.
    #[must_use]
    pub fn scale(mut self, scale: Scale) -> Self {
        self.request.numbers.scale = Some(scale);
        self
    }

    /// How wide Gaussian noise is.
    #[must_use]
    pub fn sigma(mut self, sigma: Sigma) -> Self {
        self.request.numbers.sigma = Some(sigma);
        self
    }

    /// How many bins released numbers are put in.
    #[must_use]
    pub fn output_bins(mut self, bins: usize) -> Self {
        self.request.numbers.output_bins = Some(bins);
        self
    }

    /// Releases numbers of this range instead of the inputs'.
    #[must_use]
    pub fn output_range(mut self, low: f64, high: f64) -> Self {
        self.request.numbers.output_range = self.kept(ends("output_range", low, high));
        self
    }

    /// What the deltas of the protections bound.
    #[must_use]
    pub fn convention(mut self, convention: Convention) -> Self {
        self.request.numbers.convention = convention;
        self
    }

    /// Ships a printed formula that misses its claim, with the level it attains as the claim.
    #[must_use]
    pub fn accept(mut self) -> Self {
        self.request.accept = true;
        self
    }

    /// Ships a policy that cannot tell its symbols apart, too.
    #[must_use]
    pub fn allow_uninformative(mut self) -> Self {
        self.request.allow_uninformative = true;
        self
    }

    /// The whole request; refuses what could not be used.
    pub fn request(self) -> Result<DesignRequest, Error> {
        match self.refused {
            Some(error) => Err(error),
            None => Ok(self.request),
        }
    }

    /// Designs, and says what an honest reader wants beside the policy.
    pub fn run(self) -> Result<DesignReport, Error> {
        super::design(&self.request()?)
    }

    /// Designs the verified policy, and no more.
    pub fn policy(self) -> Result<Policy, Error> {
        super::solve(&self.request()?)?.into_policy()
    }

    /// What was given, unless it cannot be used: the first such reason is kept.
    fn kept<T, E>(&mut self, given: Result<T, E>) -> Option<T>
    where
        Error: From<E>,
    {
        match given {
            Ok(given) => Some(given),
            Err(error) => {
                self.refused.get_or_insert(error.into());
                None
            }
        }
    }
}

/// A range of plain numbers.
fn ends(field: &str, low: f64, high: f64) -> Result<Range, Error> {
    let end = |value: f64| {
        codebook::decimal(&value.to_string())
            .ok_or_else(|| Error::field(field, format!("is {low},{high}: give finite numbers")))
    };
    Range::new(end(low)?, end(high)?).map_err(|error| match field {
        "range" => Error::of_first_word(error),
        _ => Error::field(field, format!(": {error}")),
    })
}
