//! The largest coin that the kernel accepts.

use undertone_core::incidence::{Family, Incidence};
use undertone_core::{MASS_ONE, Policy, Shape};

use super::limits::Limits;
use crate::Error;
use crate::quantize::PolicySpec;

/// Families that take no more additions than this to verify are bisected down to the last unit of the coin.
const BISECTED: u64 = 1 << 18;

/// A family's policy with the largest coin for which the kernel accepts every claim. Where a verification takes long, the coin
/// is within a part in 10^9 of the largest.
pub fn with_family(spec: &PolicySpec, family: Family) -> Result<Policy, Error> {
    let symbols = spec.inputs.len();
    let limits = Limits::of(spec);
    let ratio = match &family {
        Family::Subsets(subsets) => {
            // Whether the size fits is for the kernel to say.
            let all = limits.of_subsets(symbols.max(2));
            all.get(subsets.size().wrapping_sub(1)).copied().unwrap_or(1.0)
        }
        Family::Geometry(_) | Family::Listed(_) => {
            limits.of_blocks(&incidence(symbols, 0, &family)?)
        }
    };
    at_ratio(spec, &family, ratio)
}

/// The policy with the largest coin, if blocks are to be `ratio` times as likely from inside as from outside, or hardly less.
pub(super) fn at_ratio(spec: &PolicySpec, family: &Family, ratio: f64) -> Result<Policy, Error> {
    let symbols = spec.inputs.len();
    let probe = incidence(symbols, 0, family)?;
    let share = share(&probe);
    // Blocks are taken by an index of 64 bits, which is uneven by at most this much.
    let (unevenness, work) = match family {
        Family::Subsets(subsets) => {
            let size = subsets.size();
            ((size as f64) * symbols as f64, symbols as u64 * size.ilog2().max(1) as u64)
        }
        Family::Geometry(geometry) => {
            let blocks = probe.blocks().unwrap_or(0);
            let work = u64::from(geometry.order()) * u64::from(geometry.dimension());
            (blocks as f64, (blocks as u64).saturating_mul(work))
        }
        Family::Listed(_) => {
            let (blocks, each) = (probe.blocks().unwrap_or(0), probe.replication().unwrap_or(0));
            (blocks as f64, (symbols * each) as u64)
        }
    };
    let coin = |ratio: f64| {
        let own =
            if ratio.is_infinite() { 1.0 } else { share * ratio / (share * ratio + 1.0 - share) };
        (own * MASS_ONE as f64).floor().clamp(0.0, MASS_ONE as f64) as u64
    };
    let shape = |coin: u64| incidence(symbols, coin, family).map(Shape::Incidence);
    if work <= BISECTED && ratio > 1.0 {
        // Level nought is a coin that says next to nothing.
        let least = coin(1.0).min(coin(ratio));
        let above = |level: u64| shape(least + level);
        return Ok(spec.strongest(coin(ratio) - least, MASS_ONE - least, above)?.0);
    }
    let mut slack = 4.0 * unevenness / 2f64.powi(64) + 2f64.powi(-44);
    let mut last = String::new();
    for _ in 0..TRIES {
        match spec.verify_shape(shape(coin(ratio * (1.0 - slack)))?)? {
            Ok(policy) => return Ok(policy),
            Err(refusal) => last = refusal.to_string(),
        }
        slack *= 4.0;
        if slack >= 0.5 {
            break;
        }
    }
    Err(Error::other("claims", format!("no coin of these blocks meets them: {last}")))
}

/// How often a coin is lowered before giving up.
const TRIES: usize = 12;

/// The share of blocks that contain a symbol.
pub(super) fn share(incidence: &Incidence) -> f64 {
    match (incidence.family(), incidence.replication(), incidence.blocks()) {
        (Family::Subsets(subsets), ..) => subsets.size() as f64 / incidence.symbols() as f64,
        (_, Some(each), Some(all)) => each as f64 / all as f64,
        _ => f64::NAN,
    }
}

/// The kernel's own words for a family that does not fit.
pub(super) fn incidence(symbols: usize, coin: u64, family: &Family) -> Result<Incidence, Error> {
    Incidence::new(symbols, coin, family.clone())
        .map_err(|error| Error::other("blocks", error.to_string()))
}
