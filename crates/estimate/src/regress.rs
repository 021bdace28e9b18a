//! Regressions on randomised data: the outcome, predictors or both behind reports, with clear columns beside them.
//!
//! | file | holds |
//! |---|---|
//! | [`formula`] | `y ~ age + female + age:female` |
//! | `variables`, `coding`, `matrix`, `rows`, `reports` | columns, and the model matrix they become without being written out |
//! | `model`, `workspace`, `newton` | the likelihood of hidden answers, and its maximum |
//! | `least_squares` | linear models of a randomised outcome |
//! | `intercepts` | several answers of one person: an intercept for each |
//! | `errors`, `fit`, `prediction` | standard errors, intervals, tests, prevalences at given covariates |
//!
//! # What is estimated
//!
//! * **Logistic** and **multinomial**: maximum likelihood of the reports. A row's likelihood sums over the answers it may stand for.
//! * **Linear** with a clear outcome: maximum likelihood with normal errors.
//! * **Linear** with a randomised outcome: least squares on values whose mean, given the true answer, is the true number. It
//!   supposes that the mean is linear and nothing else of the outcome, so there is no likelihood and errors are robust.
//! * **Randomised predictors** need P(x|z), what they are expected to be given the clear columns: [`PredictorLaw`].
//!
//! ```
//! use undertone_core::{Alphabet, Claim, Context, Draft, Epsilon, Keep, Provenance, Shape};
//! use undertone_estimate::regress::{Formula, Regression, Variable, Variables};
//! use undertone_estimate::{Evidence, Sample};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let shape = Shape::Keep(Keep::new(vec![1 << 39; 2], vec![1 << 47; 2])?);
//! let claims = vec![Claim::ldp(Epsilon::parse("1.1")?)];
//! let (inputs, assumed) = (Alphabet::indices(2)?, Context::Unknown);
//! let policy = Draft::new(inputs, None, shape, assumed, claims, Provenance::default())?
//!     .verify()
//!     .map_err(|refusal| refusal.to_string())?;
//! let reports: Vec<u32> = (0..400).map(|person| u32::from(person % 5 < 2 + person % 2)).collect();
//! let age: Vec<f64> = (0..400).map(|person| f64::from(20 + 30 * (person % 2))).collect();
//! let evidence = Evidence::randomised(&policy, &reports)?;
//! let variables = Variables::new()
//!     .with("smokes", Variable::Randomised { evidence, values: None })?
//!     .with("age", Variable::Number(age))?;
//! let fit = Regression::new(Formula::parse("smokes ~ age")?).fit(&variables, &Sample::simple(400))?;
//! assert!((fit.coefficients[1].estimate - 0.0565).abs() < 1e-3);
//! let at_fifty = &fit.predict(&[("age", "50")])?[0];
//! assert!((at_fifty.value - 0.7).abs() < 1e-6); // (0.6 - 0.25) / 0.5
//! # Ok(())
//! # }
//! ```

mod coding;
mod errors;
pub mod fit;
pub mod formula;
mod intercepts;
mod least_squares;
mod matrix;
mod model;
mod newton;
pub mod prediction;
mod prepared;
mod reports;
mod rows;
mod variables;
mod workspace;

pub use coding::INTERCEPT;
pub use errors::Errors;
pub use fit::{Coefficient, RegressionFit, TermTest, TestKind};
pub use formula::Formula;
pub use intercepts::RandomIntercepts;
pub use prediction::Prediction;
pub use variables::{Variable, Variables};

use crate::{Error, Factor, Sample};
use prepared::Prepared;

/// What kind of outcome is explained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// One symbol against the rest: the logarithm of its odds is linear.
    Logistic,
    /// Symbols against the first: the logarithm of the odds of each is linear.
    Multinomial,
    /// A number: its mean is linear.
    Linear,
}

impl Family {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::Multinomial => "multinomial",
            Self::Linear => "linear",
        }
    }
}

/// What randomised predictors are expected to be, given the clear columns: the reports alone do not say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PredictorLaw {
    /// A multinomial logit on all clear columns of the formula and on the randomised predictors named before.
    #[default]
    Logit,
    /// Shares that have nothing to do with the clear columns or with each other. Biased where they have.
    Independent,
}

/// A regression that is asked for.
#[derive(Clone, Debug)]
pub struct Regression {
    pub(super) formula: Formula,
    pub(super) family: Option<Family>,
    pub(super) event: Option<String>,
    pub(super) errors: Option<Errors>,
    pub(super) predictors: PredictorLaw,
    pub(super) confidence: f64,
    pub(super) tests: bool,
    pub(super) clusters: Option<Factor>,
}

impl Regression {
    /// The regression of a formula; its family follows from the outcome: logistic for two symbols, multinomial for more, linear
    /// for numbers.
    pub fn new(formula: Formula) -> Self {
        Self {
            formula,
            family: None,
            event: None,
            errors: None,
            predictors: PredictorLaw::default(),
            confidence: 0.95,
            tests: false,
            clusters: None,
        }
    }

    /// A family that is named.
    pub fn family(self, family: Family) -> Self {
        Self { family: Some(family), ..self }
    }

    /// The symbol whose odds a logistic regression explains; the last one unless it is named.
    pub fn event(self, symbol: impl Into<String>) -> Self {
        Self { event: Some(symbol.into()), ..self }
    }

    /// Standard errors of one kind. Without, they are from the expected information where there is one, else from the observed
    /// one, and robust wherever the sample has weights, strata, clusters or a finite population.
    pub fn errors(self, errors: Errors) -> Self {
        Self { errors: Some(errors), ..self }
    }

    /// What randomised predictors are expected to be.
    pub fn predictors(self, predictors: PredictorLaw) -> Self {
        Self { predictors, ..self }
    }

    /// The intervals' confidence, 0.95 unless it is said.
    pub fn confidence(self, confidence: f64) -> Result<Self, Error> {
        if !(confidence > 0.0 && confidence < 1.0) {
            let range = "above 0 and below 1";
            return Err(Error::Range { what: "confidence", value: confidence, range });
        }
        Ok(Self { confidence, ..self })
    }

    /// Tests every term: by the likelihood ratio, or by Wald's statistic where the sample leaves no likelihood.
    pub fn with_tests(self) -> Self {
        Self { tests: true, ..self }
    }

    /// Gives every cluster, such as a person with several answers, an intercept of its own, drawn from a normal law: logistic
    /// regressions with clear predictors.
    pub fn random_intercepts(self, clusters: Factor) -> Self {
        Self { clusters: Some(clusters), ..self }
    }

    /// The formula.
    pub fn formula(&self) -> &Formula {
        &self.formula
    }

    /// Fits the model.
    pub fn fit(&self, variables: &Variables, sample: &Sample) -> Result<RegressionFit, Error> {
        let prepared = Prepared::new(self, variables, sample)?;
        prepared.fit(self, variables, sample)
    }
}
