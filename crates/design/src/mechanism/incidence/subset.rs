//! Subset selection: all subsets of one size, released as one bit for every symbol.
//!
//! At LDP with odds E no channel has a smaller worst variance of shares than subsets of about k / (E + 1) of k symbols (Ye and
//! Barg 2018). With a prior, the lightest and the heaviest subset decide how much a subset may say, so other sizes can be better: all
//! are tried, in closed form.

use undertone_core::incidence::{Family, Subsets};

use super::limits::Limits;
use super::rates::Rates;
use super::search::Chosen;
use crate::{Distribution, Error};

/// The size of subsets under which the shares of a prior have the least variance.
pub(super) fn best(
    prior: &Distribution,
    limits: &Limits,
    max_bits: Option<u32>,
) -> Result<Chosen, Error> {
    let symbols = prior.len();
    if symbols < 2 {
        return Err(Error::other("symbols", "subsets tell two symbols or more apart"));
    }
    if let Some(bits) = max_bits.filter(|&bits| (bits as usize) < symbols) {
        let problem = format!(
            "{bits} bits are too few: a subset takes one bit for each of the {symbols} symbols; numbered blocks take fewer (the method blocks)"
        );
        return Err(Error::other("max_bits", problem));
    }
    let squares: f64 = prior.as_slice().iter().map(|share| share * share).sum();
    let weighed = limits.of_subsets(symbols).into_iter().enumerate().map(|(at, ratio)| {
        let variance = Rates::of_subsets(ratio, symbols, at + 1).total(symbols, squares);
        (variance, at + 1, ratio)
    });
    let best = weighed.filter(|(_, _, ratio)| *ratio > 1.0).min_by(|a, b| a.0.total_cmp(&b.0));
    let Some((variance, size, ratio)) = best else {
        return Err(Error::other("claims", "subsets of no size meet them and tell anything"));
    };
    Ok(Chosen { family: Family::Subsets(Subsets::new(size)), ratio, variance })
}
