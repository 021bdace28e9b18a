//! How a channel is found, as a request says it.

use std::str::FromStr;

use undertone_design::designer;
use undertone_design::mechanism::gaussian::Sigma;
use undertone_design::mechanism::laplace::Scale;

use crate::Error;
use crate::error::mention;

/// How the channel of a policy is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DesignMethod {
    /// The best channel there is.
    Optimal,
    /// The papers' printed formula for this context, valid or not.
    Published,
    /// The smallest flip probability for a yes/no question.
    Symmetric,
    /// k-ary randomised response that keeps as much as the claims allow.
    Krr,
    /// Unary bits, optimised for rare symbols.
    Oue,
    /// Unary bits, both probabilities alike.
    Sue,
    /// Keep the input with one probability, else draw from the prior.
    Sampling,
    /// The staircase optimum under the LDP claims.
    ExtremalLdp,
    /// For shares: the best of bits, keep, randomised response, subsets and blocks, which are not written out and found in no
    /// time for any number of symbols.
    Compact,
    /// A subset of the symbols, all of one size alike.
    Subset,
    /// Rows of a Hadamard matrix, by number.
    Hadamard,
    /// Hyperplanes of a projective geometry, by number.
    Projective,
    /// Linear hashing: a function and a bucket, by number.
    Hashing,
    /// Blocks of the best geometry there is, by number.
    Blocks,
    /// Listed blocks of nearly equal mass under the prior.
    Balanced,
    /// A table that names frequent symbols and releases blocks of the others.
    HeadTail,
    /// Laplace noise on numbers, confined to their range.
    Laplace,
    /// Gaussian noise on numbers.
    Gaussian,
}

impl DesignMethod {
    /// Every method.
    pub const ALL: [Self; 18] = [
        Self::Optimal,
        Self::Published,
        Self::Symmetric,
        Self::Krr,
        Self::Oue,
        Self::Sue,
        Self::Sampling,
        Self::ExtremalLdp,
        Self::Compact,
        Self::Subset,
        Self::Hadamard,
        Self::Projective,
        Self::Hashing,
        Self::Blocks,
        Self::Balanced,
        Self::HeadTail,
        Self::Laplace,
        Self::Gaussian,
    ];

    /// The name people write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Laplace => "laplace",
            Self::Gaussian => "gaussian",
            _ => self.of_symbols().map_or("", designer::Method::name),
        }
    }

    /// The designer's method for symbols; nothing for noise on numbers.
    pub(crate) fn of_symbols(self) -> Option<designer::Method> {
        Some(match self {
            Self::Optimal => designer::Method::Optimal,
            Self::Published => designer::Method::Published,
            Self::Symmetric => designer::Method::Symmetric,
            Self::Krr => designer::Method::Krr,
            Self::Oue => designer::Method::Oue,
            Self::Sue => designer::Method::Sue,
            Self::Sampling => designer::Method::Sampling,
            Self::ExtremalLdp => designer::Method::ExtremalLdp,
            Self::Compact => designer::Method::Compact,
            Self::Subset => designer::Method::Subset,
            Self::Hadamard => designer::Method::Hadamard,
            Self::Projective => designer::Method::Projective,
            Self::Hashing => designer::Method::Hashing,
            Self::Blocks => designer::Method::Blocks,
            Self::Balanced => designer::Method::Balanced,
            Self::HeadTail => designer::Method::HeadTail,
            Self::Laplace | Self::Gaussian => return None,
        })
    }
}

impl FromStr for DesignMethod {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            let all: Vec<&str> = Self::ALL.iter().map(|method| method.name()).collect();
            Error::field("method", format!("{name:?} is unknown: use {}", all.join(", ")))
        })
    }
}

impl TryFrom<&str> for DesignMethod {
    type Error = Error;

    fn try_from(name: &str) -> Result<Self, Error> {
        name.parse()
    }
}

/// Reads the scale of Laplace noise, and the alpha that belongs to the scale `instance`.
pub fn laplace_scale(text: Option<&str>, alpha: Option<f64>) -> Result<Option<Scale>, Error> {
    Ok(Some(match (text, alpha) {
        (Some("instance"), alpha) => Scale::Instance(alpha),
        (_, Some(_)) => {
            let problem = format!("belongs to {} instance", mention("scale"));
            return Err(Error::field("alpha", problem));
        }
        (None, None) => return Ok(None),
        (Some("exact"), _) => Scale::Exact,
        (Some("table"), _) => Scale::Table,
        (Some("closed"), _) => Scale::Closed,
        (Some("published"), _) => Scale::Published,
        (Some(text), _) => {
            Scale::Given(number("scale", text, "exact, table, closed, published, instance")?)
        }
    }))
}

/// Reads the deviation of Gaussian noise.
pub fn gaussian_sigma(text: &str) -> Result<Sigma, Error> {
    Ok(match text {
        "constant" => Sigma::Constant,
        "floor" => Sigma::Floor,
        "published" => Sigma::Published,
        "analytic" => Sigma::Analytic,
        "vanilla" => Sigma::Vanilla,
        _ => Sigma::Given(number("sigma", text, "constant, floor, published, analytic, vanilla")?),
    })
}

fn number(field: &str, text: &str, words: &str) -> Result<f64, Error> {
    let unknown = |_| Error::field(field, format!("{text:?} is unknown: use {words} or a number"));
    text.parse().map_err(unknown)
}
