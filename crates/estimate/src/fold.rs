//! Posteriors of bits, folded report by report.
//!
//! What the prior makes of a row of bits depends on the whole row, so it cannot be read off a tally.
//! Each row's posterior is therefore added up as it passes, in integers (units of 2^-40), so that any
//! split of the reports gives the same sums.

use crate::answer::{Estimate, Shares};
use crate::channel::Channel;
use crate::interval::posterior;
use crate::settings::{Method, Settings};
use crate::{Error, Tally};
use undertone_core::Policy;

/// The sum of the posteriors of the reports of a policy that releases bits (`Bits`, and subsets) under its prior: the estimate of least squared
/// error of how many of these respondents have each symbol. Right only if the prior is.
#[derive(Clone, PartialEq, Debug)]
pub struct BitsFold {
    tally: Tally,
    prior: Vec<f64>,
    /// Up to a common factor, the likelihood of a symbol whose bit is set, and whose bit is not.
    set: f64,
    clear: f64,
    sums: Vec<u128>,
    squares: Vec<u128>,
}

/// One in the unit of the sums.
const ONE: f64 = (1u64 << 40) as f64;

impl BitsFold {
    /// No reports yet. The policy must release bits and assume one prior.
    pub fn new(policy: &Policy) -> Result<Self, Error> {
        let draft = policy.draft();
        let channel = Channel::new(draft.shape())?;
        let Some(bits) = channel.bits().filter(|_| draft.shape().releases_bits()) else {
            let problem = "only policies that release bits need it: use a tally";
            return Err(Error::unanswerable("a fold of bits", problem));
        };
        let Some(prior) = crate::pool::single_prior(draft.context()) else {
            let problem = format!("policy {} does not assume one prior", policy.id());
            return Err(Error::unanswerable("a fold of bits", problem));
        };
        let symbols = prior.len();
        let (set, clear) = bits.likelihoods();
        Ok(Self {
            tally: Tally::new(policy),
            prior,
            set,
            clear,
            sums: vec![0; symbols],
            squares: vec![0; symbols],
        })
    }

    /// The bit counts of the same reports.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Adds packed rows of bits, in the layout of [`Tally::add_packed_bits`]. A row the prior rules out
    /// is refused, and with it all that were given.
    pub fn add_packed_bits(&mut self, rows: &[u8]) -> Result<(), Error> {
        let mut tally = self.tally.clone();
        tally.add_packed_bits(rows)?;
        let width = self.prior.len().div_ceil(8);
        let (mut sums, mut squares) = (self.sums.clone(), self.squares.clone());
        let mut weights = vec![0.0; self.prior.len()];
        for (at, row) in rows.chunks_exact(width).enumerate() {
            let mut total = 0.0;
            for (x, (weight, prior)) in weights.iter_mut().zip(&self.prior).enumerate() {
                let set = row[x / 8] & (0x80 >> (x % 8)) != 0;
                *weight = prior * if set { self.set } else { self.clear };
                total += *weight;
            }
            if !(total > 0.0) {
                return Err(Error::Token { at, found: "bits the prior rules out".into() });
            }
            for ((weight, sum), square) in weights.iter().zip(&mut sums).zip(&mut squares) {
                let posterior = weight / total;
                *sum += (posterior * ONE).round() as u128;
                *square += (posterior * posterior * ONE).round() as u128;
            }
        }
        (self.tally, self.sums, self.squares) = (tally, sums, squares);
        Ok(())
    }

    /// Adds another fold of the same policy.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.tally.merge(&other.tally)?;
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, more)| *sum += more);
        self.squares.iter_mut().zip(&other.squares).for_each(|(sum, more)| *sum += more);
        Ok(())
    }

    /// The share of these respondents with each symbol, if the prior is right.
    pub fn shares(&self, settings: Settings) -> Result<Shares, Error> {
        let reports = self.tally.reports() as f64;
        if reports == 0.0 {
            return Err(Error::NoReports);
        }
        let miss = settings.miss(self.prior.len());
        let one = |(&sum, &square): (&u128, &u128)| {
            let (sum, square) = (sum as f64 / ONE, square as f64 / ONE);
            let (value, variance) = (sum / reports, (sum - square).max(0.0) / (reports * reports));
            let limits = posterior::limits(value, variance, 1.0 / reports, miss);
            let estimate = Estimate::clamped(value, limits, (0.0, 1.0));
            Estimate { standard_error: Some(variance.sqrt()), ..estimate }
        };
        Ok(Shares {
            method: Method::Mmse,
            label: Method::Mmse.label().into(),
            settings: settings.of_respondents(),
            reports: self.tally.reports(),
            symbols: self.sums.iter().zip(&self.squares).map(one).collect(),
        })
    }
}
